//! Combinations that no key or index serves in, findings out that say why and list the candidates. Must not choose
//! paths.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::alternatives::PassedOver;
use crate::schema::finds::best::{Miss, PathInputs, best, best_candidate};
use crate::schema::finds::candidates::{Candidate, tells_expiry};
use crate::schema::finds::diagnosis::new_index::sorted_index;
use crate::schema::finds::diagnosis::sorted::unsorted;
use crate::schema::finds::diagnosis::{expiring, left_out};
use crate::schema::finds::scope::prefixed;
use crate::schema::finds::wanted::{FindContext, Need};
use crate::schema::model::find::Returns;
use crate::schema::table::{KeyAttribute, KeyType};
use crate::schema::template::Template;
use crate::schema::types::draft::{Declared, GLOBAL_ID, Kind};
use crate::schema::types::values;

/// Says what is missing: an order, an attribute for the filter, a key, or a key for some combinations.
pub fn report(given: &PathInputs, optional: &[String], misses: &[Miss], findings: &mut Findings) {
    let (orders, keys): (Vec<&Miss>, Vec<&Miss>) =
        misses.iter().partition(|miss| miss.order.field.is_some() && best(given, &miss.when, None).is_some());
    for miss in orders {
        no_order(given, miss, findings);
    }
    let Some(first) = keys.first() else { return };
    let sifted = PathInputs { undiscriminated: true, ..*given };
    if let Some(path) = best(&sifted, &first.when, first.order.field.as_deref()) {
        return undiscriminated(given.wanted, path.index, findings);
    }
    let some = PathInputs { some_alternatives: true, ..*given };
    if let Some(candidate) = best_candidate(&some, &first.when, first.order.field.as_deref()) {
        return alternatives(given.wanted, &candidate, findings);
    }
    let unfiltered = PathInputs { filter: None, ..*given };
    if given.filter.is_some()
        && keys.iter().all(|miss| best(&unfiltered, &miss.when, miss.order.field.as_deref()).is_some())
    {
        return not_projected(given, &unfiltered, first, findings);
    }
    let mut whens: Vec<&Vec<String>> = Vec::new();
    for miss in &keys {
        // The same combination may be missing once for each order.
        if !whens.contains(&&miss.when) {
            whens.push(&miss.when);
        }
    }
    let whole = whens.len() >= 1 << optional.len();
    let partly = keys.iter().find(|miss| whole || left_out::by_names(given, miss));
    if partly.and_then(|miss| left_out::report(given, miss, findings)).is_some() {
        return;
    }
    if whole {
        no_key(given, findings);
    } else {
        no_combination(given, optional, &whens, findings);
    }
}

fn no_order(given: &PathInputs, miss: &Miss, findings: &mut Findings) {
    let wanted = given.wanted;
    let field = miss.order.field.as_deref().unwrap_or_default();
    let unfiltered = PathInputs { filter: None, ..*given };
    if given.filter.is_some() && best(&unfiltered, &miss.when, Some(field)).is_some() {
        return not_projected(given, &unfiltered, miss, findings);
    }
    let when = if miss.when.is_empty() { String::new() } else { format!(" with {}", named(&miss.when)) };
    let message = format!(
        "no key or index of `{}` that `{}` can read{when} sorts by `{field}`",
        wanted.target.item,
        wanted.coordinate()
    );
    let help = unsorted(given.wanted, field).unwrap_or_else(|| {
        let sorted = format!(
            "{}; a sort key with `{{{field}}}` after what is bound sorts by it{}",
            keys_of(given.wanted),
            sorted_index(wanted, given.bindings, field).map(|index| format!(": {index}")).unwrap_or_default()
        );
        sorted.into()
    });
    findings.error(rules::KF0413, &miss.order.span, message, Some(help));
}

/// Reports that an index holds too little to tell which of its items are there and of the type.
pub fn undiscriminated(wanted: &FindContext, index: Option<usize>, findings: &mut Findings) {
    let (name, item) = (wanted.place_name(index), &wanted.target.item);
    if !tells_expiry(wanted, index) {
        return expiring::refuse(wanted, index, findings);
    }
    let message =
        format!("the index `{name}` does not hold the constants that distinguish items of `{item}` from others");
    let constants: Vec<&str> = wanted.keys.constants.iter().map(|(attribute, _)| attribute.as_str()).collect();
    let instead = match wanted.target.returns {
        Returns::Connection => "leave `totalCount` out of the connection: a page",
        _ => "return a list: a list",
    };
    let help =
        format!("include {} in the index's projection, or {instead} leaves out items of other types", list(&constants));
    findings.error(rules::KF0430, &wanted.directive.span, message, Some(help.into()));
}

/// Reports that items that are meant may stand under another alternative than the one that is read.
fn alternatives(wanted: &FindContext, candidate: &Candidate, findings: &mut Findings) {
    let Some(PassedOver { is_sort, read, other }) = candidate.passed_over else { return };
    let of_path = candidate.path.keys(wanted.table);
    let key = of_path.sort.filter(|_| is_sort).unwrap_or(of_path.partition);
    let templates = wanted.keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
    let written = |at: usize| templates.get(at).map(|template| template.as_written(template.parts.len()));
    let (read, other) = (written(read).unwrap_or_default(), written(other).unwrap_or_default());
    let message = format!(
        "`{}` would find only the items whose `{}` is \"{read}\", and not those under \"{other}\"",
        wanted.coordinate(),
        key.name
    );
    let help = format!(
        "bind all fields of the alternative that is meant, or read by another key or index; {}",
        keys_of(wanted)
    );
    findings.error(rules::KF0440, &wanted.directive.span, message, Some(help.into()));
}

fn not_projected(given: &PathInputs, unfiltered: &PathInputs, miss: &Miss, findings: &mut Findings) {
    let wanted = given.wanted;
    let place = best(unfiltered, &miss.when, miss.order.field.as_deref()).and_then(|path| path.index);
    let keys = wanted.table.keys_of(place);
    let attributes = given.filter.map(|filter| filter.attributes()).unwrap_or_default();
    let is_key = |name: &str| keys.contains(name);
    let bad: Vec<&str> =
        attributes.into_iter().filter(|name| is_key(name) || !wanted.table.holds(place, name)).collect();
    let keyed = bad.iter().any(|name| is_key(name));
    let message = match keyed {
        true => {
            format!(
                "the filter reads {}, a key attribute of `{}`, which DynamoDB does not allow",
                list(&bad),
                wanted.place_name(place)
            )
        }
        false => {
            format!("the filter reads {}, but the index `{}` does not hold it", list(&bad), wanted.place_name(place))
        }
    };
    let help = match keyed {
        true if miss.order.field.is_some() => {
            "bind it by an argument or in `where:`, or let another attribute be the key: in `keys:`, a template of the \
             same field"
        }
        true => "bind it by an argument or in `where:`",
        false => "include it in the index's projection, or filter by attributes that the index holds",
    };
    let place =
        wanted.directive.filter.as_ref().map_or_else(|| wanted.directive.span.clone(), |filter| filter.span.clone());
    findings.error(rules::KF0426, &place, message, Some(help.into()));
}

/// No combination is served at all.
fn no_key(given: &PathInputs, findings: &mut Findings) {
    let wanted = given.wanted;
    let bound: Vec<&str> = given
        .bindings
        .equal
        .iter()
        .filter(|(_, bound)| bound.need == Need::Always)
        .map(|(name, _)| name.as_str())
        .collect();
    let ranged = given.bindings.ranges.keys().map(String::as_str);
    let asked: Vec<&str> = bound.iter().copied().chain(ranged).collect();
    let strange: Vec<&str> = asked.iter().copied().filter(|field| !wanted.in_keys(field)).collect();
    let item = &wanted.target.item;
    let message = if !strange.is_empty() {
        format!("no key or index of `{item}` starts with {}", list(&strange))
    } else if asked.is_empty() {
        format!("nothing binds a key of `{item}` in `{}`", wanted.coordinate())
    } else {
        format!(
            "no key or index of `{item}` can be read by {}",
            list(&asked.iter().filter_map(|field| field.split(':').next()).collect::<Vec<_>>())
        )
    };
    let argument = wanted.field.arguments.iter().find(|argument| {
        strange.iter().any(|field| {
            given
                .bindings
                .equal
                .get(*field)
                .is_some_and(|bound| bound.arguments.iter().any(|name| argument.name == name.as_str()))
        })
    });
    let place = argument
        .map_or_else(|| wanted.directive.span.clone(), |argument| span::from_location(argument.name.location()));
    let mut own = wanted.table.primary_key().filter_map(|key| wanted.keys.keys.get(&key.name)).flatten();
    let is_constant = own.all(|template| template.fields().is_empty());
    let remedy = match (strange.as_slice(), asked.is_empty()) {
        ([field, ..], _) if is_constant => format!("; name the field in the type's key: `…#{{{field}}}`"),
        ([field, ..], _) => index_help(wanted, field),
        ([], true) => unbound_help(wanted),
        ([], false) => String::new(),
    };
    let other = type_help(wanted).or_else(|| swapped(wanted)).unwrap_or_else(|| id_help(given));
    let help = format!("{other}{}{remedy}", keys_of(given.wanted));
    findings.error_by_type(rules::KF0414, &place, (message, Some(help.into())), mistyped_id(wanted));
}

/// A field of the parent that would bind a key by its name, but is of another type.
fn type_help(wanted: &FindContext) -> Option<String> {
    let (item, parent) = (&wanted.target.item, wanted.parent);
    wanted.record.iter().filter(|(name, _)| wanted.in_keys(name)).find_map(|(name, declared)| {
        let names = |own: &&String| *own == name || prefixed(parent, own) == *name;
        let (own, other) = wanted
            .parent_record?
            .iter()
            .find(|(own, _)| names(own) && own.as_str() != "id")
            .or_else(|| wanted.parent_record?.iter().find(|(own, _)| prefixed(parent, own) == *name))?;
        (!values::fits(&other.value, &declared.value)).then(|| {
            format!(
                "`{parent}.{own}` of type `{}` cannot bind `{item}.{name}` of type `{}`: give both one type; ",
                other.ty, declared.ty
            )
        })
    })
}

/// The field, `Card.teamId`, that has the id of the parent or of the item by its name, and is of another type.
fn mistyped_id(wanted: &FindContext) -> Option<String> {
    let (item, parent, record) = (&wanted.target.item, wanted.parent, wanted.parent_record?);
    let (there, here) = (prefixed(parent, GLOBAL_ID), prefixed(item, GLOBAL_ID));
    let differs = |one: Option<&Declared>, other: Option<&Declared>| match (one, other) {
        (Some(one), Some(other)) => !values::fits(&one.value, &other.value),
        _ => false,
    };
    if differs(record.get(GLOBAL_ID), wanted.record.get(&there)) {
        return Some(format!("{item}.{there}"));
    }
    differs(record.get(&here), wanted.record.get(GLOBAL_ID)).then(|| format!("{parent}.{here}"))
}

/// A table whose keys have each other's usual names.
fn swapped(wanted: &FindContext) -> Option<String> {
    let mut keys = wanted.table.primary_key();
    let (partition, sort) = (keys.next()?, keys.next()?);
    let ends = |key: &KeyAttribute, end: &str| key.name.to_lowercase().ends_with(end);
    (ends(partition, "sk") && ends(sort, "pk")).then(|| {
        format!("the partition key is `{}` and the sort key `{}`: are they swapped?; ", partition.name, sort.name)
    })
}

/// How to find by a field that is in no key: an index of its own attribute needs no template.
fn index_help(wanted: &FindContext, field: &str) -> String {
    let Some(declared) = wanted.record.get(field).filter(|declared| !declared.ty.is_list()) else {
        return String::new();
    };
    let kind = match values::stored_key_type(&declared.value) {
        Some(KeyType::S) => "",
        Some(KeyType::N) => ", partitionKeyType: N",
        _ => return String::new(),
    };
    let mut name = format!("by{field}");
    name.get_mut(2..3).into_iter().for_each(str::make_ascii_uppercase);
    let attribute = &declared.attribute;
    format!(
        "; to find by `{field}`, add an index to `@table`: `indexes: [{{ name: \"{name}\", partitionKey: \"{attribute}\"{kind} }}]`"
    )
}

/// How to find items of which nothing is bound: by arguments for the fields of the table's partition key, or by a scan.
fn unbound_help(wanted: &FindContext) -> String {
    let partition = wanted.table.primary_key().next().and_then(|key| wanted.keys.keys.get(&key.name)?.first());
    let fields = partition.map(Template::fields).unwrap_or_default();
    let arguments = fields.iter().filter_map(|field| Some(format!("{field}: {}", wanted.record.get(*field)?.ty)));
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    if !matches!(wanted.draft.kind(wanted.parent), Some(Kind::Root(_))) || arguments.is_empty() {
        return String::new();
    }
    format!("; add an argument, `{}({arguments})`, or read the whole table: `@find(scan: true)`", wanted.field.name)
}

/// How to bind the target's `id` to the parent's, if two types share one id.
fn id_help(given: &PathInputs) -> String {
    let wanted = given.wanted;
    let there = wanted.parent_record.is_some_and(|record| record.contains_key("id")) && wanted.in_keys("id");
    if !there || given.bindings.equal.contains_key("id") || given.bindings.uses_parent("id") {
        return String::new();
    }
    format!(
        "`{}.id` binds `{}.id` only if you write `where: {{ id: \"{{id}}\" }}`; ",
        wanted.parent, wanted.target.item
    )
}

/// Some combinations are served, and others are not.
fn no_combination(given: &PathInputs, optional: &[String], whens: &[&Vec<String>], findings: &mut Findings) {
    let wanted = given.wanted;
    // If everything is served with an argument and nothing without it, it is not optional after all.
    let needed = optional
        .iter()
        .find(|name| whens.iter().all(|when| !when.contains(name)) && whens.len() == 1 << (optional.len() - 1));
    let describe = |when: &[String]| {
        if when.is_empty() { "without its optional arguments".to_owned() } else { format!("with {}", named(when)) }
    };
    let (place, message, help) = match needed {
        Some(name) => {
            let place =
                wanted.argument(name).map(|argument| span::from_location(argument.name.location())).unwrap_or_default();
            let message = format!(
                "no key or index of `{}` serves `{}` without `{name}`",
                wanted.target.item,
                wanted.coordinate()
            );
            let help = format!("make `{name}` non-null; {}", keys_of(given.wanted));
            let end = wanted.argument(name).map(|argument| span::from_type(&argument.ty).end);
            let is_plain = wanted.argument(name).is_some_and(|argument| argument.ty.is_named());
            let help = match end.filter(|_| is_plain) {
                Some(end) => Help::edit(help, end..end, "!"),
                None => Help::from(help),
            };
            (place, message, help)
        }
        None => {
            let first = whens.first().map(|when| describe(when)).unwrap_or_default();
            let message =
                format!("no key or index of `{}` serves `{}` {first}", wanted.target.item, wanted.coordinate());
            (wanted.directive.span.clone(), message, keys_of(given.wanted).into())
        }
    };
    findings.error(rules::KF0415, &place, message, Some(help));
}

/// The table and each index that the item is in, with the fields that it is read by.
pub fn keys_of(wanted: &FindContext) -> String {
    let fields = |key: &str| {
        let templates = wanted.keys.keys.get(key)?;
        let named = |template: &Template| match template.beginning() {
            fields if fields.is_empty() => {
                template.spread().map_or_else(|| "nothing".to_owned(), |spread| format!("its {}s", spread.kind.word()))
            }
            fields => fields.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(", "),
        };
        Some(templates.iter().map(named).collect::<Vec<_>>().join(" or "))
    };
    let places = std::iter::once(None).chain((0..wanted.table.indexes.len()).map(Some));
    let described: Vec<String> = places
        .filter_map(|place| {
            let keys = wanted.table.keys_of(place);
            let name = place.map_or_else(|| "the table".to_owned(), |_| format!("`{}`", wanted.place_name(place)));
            let is_unread = |key: &KeyAttribute| {
                let templates = wanted.keys.keys.get(&key.name)?;
                Some(templates.iter().all(|template| !template.is_read_back()))
            };
            if keys.partition.iter().map(is_unread).collect::<Option<Vec<_>>>()?.contains(&true) {
                return Some(format!("{name} serves no find, because its keys are not read back"));
            }
            let by = keys.partition.iter().map(|key| fields(&key.name)).collect::<Option<Vec<_>>>()?;
            let then = keys.sort.iter().map(|key| fields(&key.name)).collect::<Option<Vec<_>>>()?;
            let steps = std::iter::once(by.join(", ")).chain(then.into_iter().take_while(|then| then != "nothing"));
            let steps = steps.collect::<Vec<_>>().join(", then ");
            match steps == "nothing" {
                true => Some(format!("{name} has one key for all, without a field")),
                false => Some(format!("{name} needs {steps}")),
            }
        })
        .collect();
    described.join("; ")
}

fn named(names: &[String]) -> String {
    list(&names.iter().map(String::as_str).collect::<Vec<_>>())
}
