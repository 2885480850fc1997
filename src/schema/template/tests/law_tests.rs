//! The laws of templates, tested on random templates.

use super::*;
use proptest::prelude::*;

const FIELDS: [&str; 30] = [
    "id",
    "name",
    "n",
    "score:06",
    "big",
    "float",
    "price",
    "flag",
    "at",
    "date",
    "status",
    SHARD,
    "auth.tenant",
    "sec:%Y-%m-%dT%H:%M:%SZ",
    "micro:%Y-%m-%dT%H:%M:%S.%6f+02:00",
    "stamp:%s",
    "millis:%s%3f",
    "local:%Y%m%dT%H%M%S",
    "day:%d/%m/%Y",
    "week:%G-W%V",
    "word:lower",
    "code:upper",
    "ulid",
    "abc",
    "digits",
    "small",
    "pair",
    "wide",
    "hex",
    "tiny:upper",
];
const SHARD: &str = "shard:12";

/// The values of a field, with characters that may surround them in a key.
fn value_of(field: &str) -> BoxedStrategy<Value> {
    match field {
        "id" | "name" | "auth.tenant" => "[a#%_T0-]{0,5}|(%25|%23|%61|%5F|#a|\\PC){0,3}".prop_map(Value::from).boxed(),
        "ulid" => "[0-9A-FZ]{26}".prop_map(Value::from).boxed(),
        "abc" => "[a-c]{3}".prop_map(Value::from).boxed(),
        "digits" => "[0-9]{0,3}".prop_map(Value::from).boxed(),
        "small" | "tiny:upper" => "[a_T]{1,3}".prop_map(|text| Value::from(text.to_lowercase())).boxed(),
        "pair" => "[a#%é20]{2}".prop_map(Value::from).boxed(),
        "wide" => "[à-ü]{2}".prop_map(Value::from).boxed(),
        "hex" => "[0-9A-F%]{0,3}".prop_map(Value::from).boxed(),
        "n" => any::<i32>().prop_map(Value::from).boxed(),
        "score:06" => (0..1_000_000).prop_map(Value::from).boxed(),
        "big" => any::<i64>().prop_map(Value::from).boxed(),
        "float" => (-1e9..1e9).prop_map(|float: f64| ValueType::Float.coerce(&json!(float)).unwrap()).boxed(),
        "price" => {
            "-?[0-9]{1,9}(\\.[0-9]{1,9})?".prop_map(|text| ValueType::Decimal.coerce(&json!(text)).unwrap()).boxed()
        }
        SHARD => (0..12).prop_map(Value::from).boxed(),
        "flag" => any::<bool>().prop_map(Value::from).boxed(),
        "at" => (0..4_000_000_000_000_i64)
            .prop_map(|millis| json!(crate::schema::scalar::date_time::instant_text(millis)))
            .boxed(),
        "word:lower" | "code:upper" => {
            "[aZ#%_T0-]{0,4}|(%25|%23|#A|ß|İ|ﬁ|ΑΣ|Σ|ſ|K|\\PC){0,3}".prop_map(Value::from).boxed()
        }
        field if field.contains(":%") => {
            let Some(Part::Placeholder { value, .. }) = template(&format!("{{{field}}}")).parts.pop() else { panic!() };
            // All that every form can say.
            let times = (1_000_000_000_000_000_i64..4_000_000_000_000_000).prop_map(move |micros| {
                let clock =
                    clock_text(time::macros::datetime!(1970-01-01 0:00) + time::Duration::microseconds(micros), 6)
                        .unwrap();
                value.cut(&match value.in_api() {
                    ValueType::DateTime(_) => json!(clock + "Z"),
                    ValueType::Date => json!(clock[..10]),
                    _ => json!(clock),
                })
            });
            times.prop_map(|time| time.unwrap()).boxed()
        }
        "date" => (1000..9999, 1..13, 1..29)
            .prop_map(|(year, month, day)| json!(format!("{year}-{month:02}-{day:02}")))
            .boxed(),
        _ => prop::sample::select(vec![json!("OPEN"), json!("IN"), json!("IN_PROGRESS")]).boxed(),
    }
}

type Values = Vec<(&'static str, Value)>;

fn values() -> impl Strategy<Value = Values> {
    FIELDS
        .map(|field| {
            value_of(field)
                .prop_map(move |value| (if field == SHARD { SHARD } else { field.split(':').next().unwrap() }, value))
        })
        .to_vec()
}

/// Random templates that the checker accepts, with all limits or with those that they rely on.
fn templates() -> impl Strategy<Value = Template> {
    let literal =
        prop::sample::select(vec!["#", "_", "-", "##", "#a#", "a", "T", "_PROGRESS_", "é", "aa", ".", "5", "IN"])
            .prop_map(str::to_owned);
    let placeholder = prop::sample::select(FIELDS.to_vec()).prop_map(|field| format!("{{{field}}}"));
    let parts = prop::collection::vec(prop_oneof![literal, placeholder], 1..7);
    (parts, any::<bool>()).prop_filter_map("a template that cannot be inverted", |(parts, is_limited)| {
        let template = Template::parse(&parts.concat(), &resolve, &limits_of, true).ok()?;
        Some(if is_limited { template } else { template.relied_on() })
    })
}

/// Finds the value of a name.
fn values_by_name(values: &Values) -> impl Fn(&str) -> Option<Value> + '_ {
    |name| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone())
}

/// A text in the case that keys have it in.
fn fold(kind: &ValueType, text: &str) -> String {
    kind.case().map_or(text.to_owned(), |case| case.fold(text).into_owned())
}

fn key(template: &Template, values: &Values) -> String {
    template.render(&values_by_name(values)).unwrap().unwrap()
}

/// The values that a key has of its fields: in one case, where it has them in one.
fn folded(template: &Template, values: &Values) -> Fields {
    let of = |name: &str| match (template.case_of(name), values_by_name(values)(name).unwrap()) {
        (Some(case), value) => Value::from(case.fold(value.as_str().unwrap())),
        (None, value) => value,
    };
    let names = template.parts.iter().filter_map(|part| match part {
        Part::Placeholder { value: ValueType::Spread(_), .. } | Part::Literal(_) => None,
        Part::Placeholder { field, .. } => Some(field.as_str()),
    });
    let names: indexmap::IndexSet<&str> = names.collect();
    names.into_iter().map(|name| (name.to_owned(), of(name))).collect()
}

/// The values that a key gives back.
fn bound(template: &Template, values: &Values) -> Fields {
    folded(template, values).into_iter().filter(|(field, _)| template.case_of(field).is_none()).collect()
}

/// The values of which some are kept, and the others come from elsewhere.
fn mixed(values: &Values, others: &Values, is_kept: impl Fn(usize, &str) -> bool) -> Values {
    let both = values.iter().zip(others).enumerate();
    both.map(|(position, (value, other))| if is_kept(position, value.0) { value } else { other }.clone()).collect()
}

/// The shard's number, if the template has one.
fn shard(template: &Template, values: &Values) -> Option<Value> {
    template.spread().and_then(|_| values_by_name(values)(SHARD))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        max_global_rejects: 100_000,
        max_local_rejects: 1_000_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_written_is_read(template in templates(), values in values()) {
        prop_assert_eq!(template.read(&key(&template, &values)), Some(bound(&template, &values)));
    }

    #[test]
    fn the_parts_of_a_key_joined_give_the_key(template in templates(), values in values()) {
        let key = key(&template, &values);
        let parts = template.split(&key).unwrap();
        prop_assert_eq!((parts.len(), parts.concat()), (template.parts.len(), key.clone()));
        let alone = |(part, text): (&Part, &str)| match part {
            Part::Literal(literal) => literal == text,
            Part::Placeholder { .. } => true,
        };
        prop_assert!(template.parts.iter().zip(parts).all(alone));
    }

    #[test]
    fn different_values_make_different_keys(template in templates(), one in values(), other in values()) {
        let same_shard = shard(&template, &one) == shard(&template, &other);
        let same = folded(&template, &one) == folded(&template, &other) && same_shard;
        prop_assert_eq!(key(&template, &one) == key(&template, &other), same);
    }

    #[test]
    fn no_text_panics_and_what_is_read_writes_the_same_text(template in templates(), text in "[a#_IN0-9T.:Z-]{0,12}|\\PC{0,12}|[0-9]{4}-0[1-9]-0[1-9]T00:00(:00(.0{1,6})?)?(Z|[+]00:00)|-?[0-9]{1,3}(.[0-9]{1,3})?(e[0-9]{1,2})?") {
        let any = template.read_any_spelling(&text);
        if let Some(fields) = &any {
            let folded = template.read_folded(&text).unwrap();
            prop_assert!(fields.iter().all(|field| folded.contains(field)));
            let field = |name: &str| folded.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
            // The number of the shard is no field, so it is taken from the text.
            let mut parts = template.parts.iter().zip(template.split(&text).unwrap());
            let number = parts.find(|(part, _)| spread_of(part).is_some());
            let shard = || number.map(|(_, text)| json!(text.parse::<u64>().unwrap()));
            let of = |name: &str| if name == SHARD { shard() } else { field(name) };
            // Reading returns no negative padded number, so writing cannot fail.
            let written = template.render(&of).unwrap().unwrap();
            let read = template.read(&text);
            prop_assert_eq!(read.is_some(), written == text);
            prop_assert_eq!(template.read(&written), any.clone());
            prop_assert!(read.is_none() || read == any);
        } else {
            prop_assert_eq!(template.read(&text), None);
        }
    }

    #[test]
    fn templates_that_do_not_overlap_share_no_key(one in templates(), other in templates(), values in values()) {
        if other.read(&key(&one, &values)).is_some() {
            prop_assert!(one.overlaps(&other) && other.overlaps(&one));
        }
    }

    #[test]
    fn limited_templates_that_do_not_overlap_share_no_key(one in templates(), other in templates(), values in values(), pattern in prop::sample::select(vec!["[^#]*", "[a-z0-9]{0,3}", "[^_T]+", "[^%]*", "[#_-]*", ".{2}"]), is_both in any::<bool>()) {
        let limits = text_limits(&Constraint { pattern: Some(pattern.to_owned()), ..Constraint::default() });
        let is_limited = |field: &str| field == "id" || is_both && ["name", "word", "code"].contains(&field);
        let of = |field: &str| if is_limited(field) { limits.clone() } else { None };
        let limited = |template: Template| {
            let case = |field| Some((field, template.case_of(field)?.clone()));
            let cases: Vec<(&str, Form)> = ["word", "code"].into_iter().filter_map(case).collect();
            template.limited(&|field, own| match (own, cases.iter().find(|(name, _)| *name == field)) {
                (Some(own), _) => Some(own.clone()),
                (None, Some((_, case))) => of(field).map(|limits| limits.folded(case)),
                (None, None) => of(field),
            })
        };
        let (one, other) = (limited(one), limited(other));
        let allows = |limits: &Limits, value: &Value| value.as_str().is_none_or(|text| limits.allow(text));
        let is_allowed = values.iter().all(|(field, value)| of(field).is_none_or(|limits| allows(&limits, value)));
        let key = key(&one, &values);
        if one.read(&key).is_some() && other.read(&key).is_some() {
            prop_assert!(one.overlaps(&other) && other.overlaps(&one));
        }
        if is_allowed {
            prop_assert_eq!(one.read(&key), Some(bound(&one, &values)));
        }
    }

    #[test]
    fn a_template_within_another_has_no_other_keys(one in templates(), other in templates(), values in values()) {
        // Numbers may be too large for the type of the other template.
        let is_number = |part: &Part| matches!(part, Part::Placeholder { value, .. } if form::is_number(value));
        let is_bounded = |template: &Template| !template.parts.iter().any(is_number);
        if is_bounded(&other) && one.is_within(std::slice::from_ref(&other)) {
            prop_assert!(other.read(&key(&one, &values)).is_some());
        }
    }

    #[test]
    fn texts_of_one_length_sort_in_keys_as_they_do(template in templates(), values in values(), others in values()) {
        let mut template = template;
        for position in 0..template.parts.len() {
            template.need_length(position);
            let part = &template.parts[position];
            let Part::Placeholder { field, value, .. } = part else { continue };
            if !part.has_one_length(template.parts.get(position + 1)) {
                continue;
            }
            let changed = mixed(&values, &others, |_, name| name != field);
            let text = |values: &Values| fold(value, values_by_name(values)(field).unwrap().as_str().unwrap());
            prop_assert_eq!(key(&template, &values).cmp(&key(&template, &changed)), text(&values).cmp(&text(&changed)));
        }
    }

    #[test]
    fn the_beginning_of_a_key_has_one_value_of_each_field(
        template in templates(), values in values(), others in values(), parts in 1_usize..7, kept in any::<u64>()
    ) {
        let mixed = mixed(&values, &others, |bit, _| kept >> bit & 1 == 1);
        let ends = match template.parts.get(parts - 1) {
            Some(part) => part.literal().is_some() || matches!(part.end(), Some(TextEnd::After(_))),
            None => false,
        };
        if !ends || template.runs_on(parts) {
            return Ok(());
        }
        let beginning = |values: &Values| template.render_parts(parts, &values_by_name(values)).unwrap().unwrap();
        let text = beginning(&values);
        if key(&template, &mixed).starts_with(&text) {
            prop_assert_eq!(beginning(&mixed), text);
        }
    }

    #[test]
    fn a_prefix_of_any_text_finds_what_begins_with_it(
        template in templates(), values in values(), others in values(), parts in 0_usize..7,
        (from, length) in (0_usize..30, 0_usize..5)
    ) {
        let Some(Part::Placeholder { field, value: kind, .. }) = template.parts.get(parts) else { return Ok(()) };
        let Some(text) = others[from].1.as_str().filter(|_| form::is_free_text(kind)) else { return Ok(()) };
        let of = values_by_name(&values);
        let prefix: String = text.chars().take(length).collect();
        let begins = fold(kind, of(field).unwrap().as_str().unwrap()).starts_with(&fold(kind, &prefix));
        let (text, exact) = template.render_begins_with(parts, &prefix, &of).unwrap().unwrap();
        let is_found = key(&template, &values).starts_with(&text);
        prop_assert!(is_found || !begins, "{} misses a key", text);
        prop_assert!(!is_found || begins || !exact, "{} is not exact", text);
    }

    #[test]
    fn prefixes_miss_no_key(
        template in templates(), values in values(), others in values(), parts in 0_usize..7, length in 0_usize..4
    ) {
        let of = values_by_name(&values);
        let key = key(&template, &values);
        prop_assert!(key.starts_with(&template.render_parts(parts, &of).unwrap().unwrap()));
        let Some(Part::Placeholder { field, value: kind, .. }) = template.parts.get(parts) else { return Ok(()) };
        if !form::is_free_text(kind) && !matches!(kind, ValueType::Date) {
            return Ok(());
        }
        let prefix: String = of(field).unwrap().as_str().unwrap().chars().take(length).collect();
        let (text, exact) = template.render_begins_with(parts, &prefix, &of).unwrap().unwrap();
        prop_assert!(key.starts_with(&text));
        // An exact text finds another value in the same place iff that value begins with the prefix.
        let changed = mixed(&values, &others, |_, name| name != field);
        let is_of_field = |part: &&Part| matches!(part, Part::Placeholder { field: other, .. } if other == field);
        let once = template.parts.iter().filter(is_of_field).count() == 1;
        if exact && once {
            let has_prefix = |value: &Value| fold(kind, value.as_str().unwrap()).starts_with(&fold(kind, &prefix));
            let begins = changed.iter().any(|(name, value)| name == field && has_prefix(value));
            prop_assert_eq!(self::key(&template, &changed).starts_with(&text), begins);
        }
    }
}
