//! `@item` directives in, key templates and constants out. Must not know finds.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::{list, near, suggest};
use crate::schema::keys::claims;
use crate::schema::keys::conditions::{ConditionedType, read_condition};
use crate::schema::keys::constants::read_constants;
use crate::schema::keys::entries::{check_words, entries, in_quotes, named_keys, undeclared_index};
use crate::schema::keys::order::padded;
use crate::schema::keys::text_limits::{ONE_LENGTH, text_limits};
use crate::schema::model::keys::ItemKeys;
use crate::schema::rules::constraint::{ConstraintTarget, read_constraint};
use crate::schema::scalar::spread::SpreadKind;
use crate::schema::syntax::directives::{argument, items, member, named, string};
use crate::schema::table::{Index, KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::limits::Limits;
use crate::schema::template::part::{Part, TemplateMistake, TemplateMistakeKind};
use crate::schema::types::bare_text::warn_in_template;
use crate::schema::types::computed;
use crate::schema::types::draft::{GLOBAL_ID, StoredFields, is_find};
use crate::schema::types::values;
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;
use apollo_compiler::schema::ObjectType;
use indexmap::IndexMap;

/// An item type whose keys are being read.
pub struct ItemType<'a> {
    /// The author's text.
    pub text: &'a str,
    /// The type.
    pub object: &'a ObjectType,
    /// Its `@item`.
    pub directive: &'a Node<Directive>,
    /// Its table, and the table's position.
    pub table: (&'a Table, usize),
    /// Its stored fields.
    pub record: &'a StoredFields,
    /// Whether its field `id` is the global id, which no key holds.
    pub is_node: bool,
}

/// The keys of an item type. `None` if they have a mistake, so that nothing that builds on them is reported too.
pub fn read_item_keys(item: &ItemType, findings: &mut Findings) -> Option<ItemKeys> {
    let mut keys: IndexMap<String, Vec<Template>> = IndexMap::new();
    let mut sound = true;
    for (attribute, written) in key_entries(item, findings)? {
        let Some(key) = key_attribute(item, &attribute, findings) else {
            sound = false;
            continue;
        };
        let templates = templates(item, key, &written, findings);
        sound &= templates.is_some();
        if let Some(templates) = templates {
            keys.insert(attribute.value, templates);
        }
    }
    sound &= check_time_to_live(item, &keys, findings);
    keys.extend(natural_keys(item, &keys));
    let constants = read_constants(item.table.0, item.directive, findings)?;
    let keys = ItemKeys {
        table: item.table.1,
        keys,
        constants,
        shares_keys: false,
        narrower: Vec::new(),
        limited: None,
        expires: None,
    };
    let sound = sound && check_complete(item, &keys.keys, findings) && check_spread(item, &keys, findings);
    (sound && claims::check(item.table.0, (&item.object.name, item.directive), &keys, findings)).then_some(keys)
}

/// A time to live that is also a key of an index is an attribute of a field: a template would write a time that no
/// field is stored in, so that nothing would know when the item expires.
fn check_time_to_live(item: &ItemType, keys: &IndexMap<String, Vec<Template>>, findings: &mut Findings) -> bool {
    let (table, _) = item.table;
    let Some(ttl) = table.time_to_live.as_ref().filter(|ttl| !table.shows_expired && keys.contains_key(*ttl)) else {
        return true;
    };
    if item.record.values().any(|declared| declared.attribute == *ttl) {
        return true;
    }
    let message = format!(
        "`{}` has a template for `{ttl}`, the time to live of its table, which no field is stored in",
        item.object.name
    );
    let help = format!("leave the template out, and store the field in it: `@attribute(name: \"{ttl}\")`");
    findings.error(rules::KF0111, &named(item.directive), message, Some(help.into()));
    false
}

/// The keys of indexes that are attributes of the type's own fields: an item that has them is in the index, whether
/// somebody wants that or not (DynamoDB developer guide, "Take advantage of sparse indexes").
fn natural_keys(item: &ItemType, keys: &IndexMap<String, Vec<Template>>) -> IndexMap<String, Vec<Template>> {
    let own = |key: &KeyAttribute| {
        let mut fields = item.record.iter().filter(|(_, declared)| declared.attribute == key.name);
        let (field, declared) = fields.find(|(_, declared)| {
            !declared.ty.is_list() && values::stored_key_type(&declared.value) == Some(key.kind)
        })?;
        let value = declared.in_template(key.kind);
        let part = Part::Placeholder { field: field.clone(), value, width: None, limits: None };
        Some((key.name.clone(), vec![Template::made_of(vec![part])]))
    };
    let mut natural = IndexMap::new();
    for index in &item.table.0.indexes {
        let lacking: Vec<&KeyAttribute> = index.keys().all().filter(|key| !keys.contains_key(&key.name)).collect();
        let found: Option<Vec<_>> = lacking.iter().map(|key| own(key)).collect();
        natural.extend(found.into_iter().flatten());
    }
    natural
}

/// A type is spread in only one way. If it has replicas, the partition keys of the table and of every index hold the
/// replica's number, so that no read finds an item twice.
fn check_spread(item: &ItemType, keys: &ItemKeys, findings: &mut Findings) -> bool {
    let Some(spread) = keys.spread() else { return true };
    let (name, place) = (&item.object.name, named(item.directive));
    if let Some(other) = keys.keys.values().flatten().flat_map(Template::spreads).find(|other| *other != spread) {
        let message =
            format!("`{name}` is spread by `{{{}}}` and by `{{{}}}`", spread.placeholder(), other.placeholder());
        let help = "a type has one number of shards or one number of replicas, and it is the same in all keys";
        findings.error(rules::KF0218, &place, message, Some(help.into()));
        return false;
    }
    if spread.kind == SpreadKind::Shard {
        return true;
    }
    // One attribute of each partition key is enough, and all of them say which one has it.
    let places = std::iter::once(None).chain((0..item.table.0.indexes.len()).map(Some));
    let without = |partition: &&[KeyAttribute]| {
        let lacks = |key: &KeyAttribute| {
            let mut templates = keys.keys.get(&key.name).into_iter().flatten();
            templates.any(|template| template.spread().is_none())
        };
        partition.iter().all(lacks)
    };
    let Some(key) = places.map(|place| item.table.0.keys_of(place).partition).find(without) else { return true };
    let message = format!(
        "`{}` has no `{{{}}}`, so a read by it would find every replica of `{name}`",
        key.iter().map(|key| key.name.as_str()).collect::<Vec<_>>().join("` with `"),
        spread.placeholder()
    );
    let help = format!(
        "put `{{{}}}` into the partition key of the table and of every index that `{name}` is in",
        spread.placeholder()
    );
    findings.error(rules::KF0219, &place, message, Some(help.into()));
    false
}

type Entries = Vec<(At<String>, Vec<WrittenTemplate>)>;

/// A template as the schema writes it, with the condition of its entry.
#[derive(Clone)]
struct WrittenTemplate {
    text: At<String>,
    when: Option<At<String>>,
}

/// The entries of `keys:` in either form, each attribute with its templates.
fn key_entries(item: &ItemType, findings: &mut Findings) -> Option<Entries> {
    let written = argument(item.directive, "keys")?;
    let malformed = |findings: &mut Findings, place: &Span, help: Option<Help>| {
        let usual = "write `{ PK: \"{id}\", SK: \"User\" }` or `[{ attribute: \"PK\", template: \"{id}\" }]`; a template may be a list";
        findings.error(
            rules::KF0204,
            place,
            format!("the keys of `{}` must be attributes with templates", item.object.name),
            help.or_else(|| Some(usual.into())),
        );
    };
    let Some(pairs) = entries(written, "template") else {
        malformed(findings, &span::from_location(written.location()), named_keys(item.table.0, written));
        return None;
    };
    check_words((written, "keys"), &["template", "when"], rules::KF0204, findings)?;
    let mut all: Entries = Vec::new();
    for (position, (attribute, value)) in pairs.into_iter().enumerate() {
        let entry = written.as_list().and_then(|entries| entries.get(position));
        let when = entry.and_then(|entry| member(entry, "when"));
        if let Some(place) = when.filter(|when| string(when).is_none()) {
            let message = "`when:` is the text of a condition".to_owned();
            let help = "write `when: \"status = 'OPEN'\"`".to_owned();
            findings.error(rules::KF0227, &span::from_location(place.location()), message, Some(help.into()));
            return None;
        }
        let when = when.and_then(string);
        let text = |value| Some(WrittenTemplate { text: string(value)?, when: when.clone() });
        let templates: Option<Vec<WrittenTemplate>> = items(value).iter().map(text).collect();
        let known = all.iter_mut().find(|(known, _)| known.value == attribute.value);
        match templates.filter(|templates| !templates.is_empty()) {
            None => {
                malformed(findings, &span::from_location(value.location()), in_quotes(item.record, value));
                return None;
            }
            // Several conditions of one key are alternatives.
            Some(templates) if when.is_some() && known.is_some() => {
                known.into_iter().for_each(|(_, all)| all.extend(templates.clone()));
            }
            Some(_) if known.is_some() => {
                findings.error(
                    rules::KF0204,
                    &attribute.span,
                    format!("the key `{}` occurs twice", attribute.value),
                    None,
                );
                return None;
            }
            Some(templates) => all.push((attribute, templates)),
        }
    }
    Some(all)
}

fn key_attribute<'a>(item: &ItemType<'a>, attribute: &At<String>, findings: &mut Findings) -> Option<&'a KeyAttribute> {
    let (table, known) = (item.table.0, item.table.0.key_attributes());
    if let Some(found) = known.iter().find(|key| key.name == attribute.value) {
        return Some(found);
    }
    if table.repeats_key() {
        return None;
    }
    let names: Vec<&str> = known.iter().map(|key| key.name.as_str()).collect();
    if table.sort.is_some() && near(&attribute.value, &names).is_none() {
        let (index, keys) = undeclared_index(item.directive, &names);
        let help = format!("declare it in `@table`: `indexes: [{index}]`; the table's keys are {}", list(&names));
        let message = format!("the table `{}` has no index with the keys {keys}", table.name);
        findings.error_once(rules::KF0205, &attribute.span, message, Some(help.into()));
        return None;
    }
    let message = format!("`{}` is not a key attribute of the table `{}` or its indexes", attribute.value, table.name);
    let mut help = suggest(&attribute.value, names.iter().copied());
    if table.sort.is_none() {
        let add = format!("to add one, write `sortKey: \"{}\"` in its `@table`", attribute.value);
        let said = help.map_or_else(String::new, |help| format!("{} Otherwise: ", help.text));
        help = Some(format!("{said}the table has no sort key; {add}").into());
    }
    findings.error(rules::KF0205, &attribute.span, message, help);
    None
}

fn templates(
    item: &ItemType,
    key: &KeyAttribute,
    all: &[WrittenTemplate],
    findings: &mut Findings,
) -> Option<Vec<Template>> {
    let written: Vec<At<String>> = all.iter().map(|written| written.text.clone()).collect();
    let resolve = |field: &str| item.record.get(field).map(|declared| declared.in_template(key.kind));
    let is_identity = item.table.0.is_primary_key(&key.name);
    let ItemType { text, object, record, table: (table, _), .. } = *item;
    let conditioned = ConditionedType { text, object, record, table };
    let mut parsed: Vec<Template> = Vec::new();
    for WrittenTemplate { text, when } in all {
        match Template::parse(&text.value, &resolve, &|field| limits(item, field), is_identity) {
            Ok(template) => {
                check_kind(item, key, &template, text, findings).then_some(())?;
                let fields = item.record.keys().map(String::as_str);
                warn_in_template(item.text, text, fields, |field| template.fields().contains(&field), findings);
                let when = match when {
                    Some(when) => Some(read_condition(&conditioned, key, when, findings)?),
                    None => None,
                };
                parsed.push(Template { when, ..template });
            }
            Err(mistakes) => {
                for mistake in &mistakes {
                    report(item, text, mistake, findings);
                }
            }
        }
    }
    Template::end_early(&mut parsed);
    if let Some(second) = written.get(1).filter(|_| is_of_several(item.table.0, key)) {
        let message = format!("`{}` has several templates, but it is in a key of several attributes", key.name);
        let help = "write one template, or an index with one attribute in each key";
        findings.error(rules::KF0226, &second.span, message, Some(help.into()));
        return None;
    }
    if parsed.len() < written.len() || !check_apart((&written, &parsed), findings) {
        return None;
    }
    check_alternatives(item, key, (&written, &parsed), findings).then_some(parsed)
}

/// Whether an attribute is in an index of which a key has several attributes.
fn is_of_several(table: &Table, key: &KeyAttribute) -> bool {
    let has_several = |index: &&Index| index.partition.len() > 1 || index.sort.len() > 1;
    table.indexes.iter().filter(has_several).any(|index| index.keys().contains(&key.name))
}

/// No key is one of two alternatives.
fn check_apart((written, parsed): (&[At<String>], &[Template]), findings: &mut Findings) -> bool {
    let overlapping = parsed.iter().enumerate().find_map(|(position, template)| {
        Some((position, parsed[..position].iter().position(|other| other.overlaps(template))?))
    });
    let Some((position, earlier)) = overlapping else { return true };
    let message = format!("this template and \"{}\" could give the same key", written[earlier].value);
    let help = "begin each alternative with a different text";
    findings.error(rules::KF0209, &written[position].span, message, Some(help.into()));
    false
}

/// A write uses the first alternative whose fields all have a value, and a Get the first whose fields are bound. So an
/// alternative of the table's key that has all fields of an earlier one is never used.
fn check_alternatives(
    item: &ItemType,
    key: &KeyAttribute,
    (written, parsed): (&[At<String>], &[Template]),
    findings: &mut Findings,
) -> bool {
    if !item.table.0.is_primary_key(&key.name) {
        return true;
    }
    let mut sound = true;
    for (position, (text, template)) in written.iter().zip(parsed).enumerate() {
        let fields = template.fields();
        let covers = |earlier: &&Template| earlier.fields().iter().all(|field| fields.contains(field));
        let Some(first) = parsed.iter().take(position).position(|earlier| covers(&earlier)) else { continue };
        let message = format!(
            "no write and no read uses this alternative: \"{}\" comes first whenever its fields have values",
            written[first].value
        );
        let help = "leave it out, or put it first if it has a field that may be null";
        findings.error(rules::KF0224, &text.span, message, Some(help.into()));
        sound = false;
    }
    sound
}

/// Which texts the values of a field can be. A mistake in its constraint is reported with the field's rules.
fn limits(item: &ItemType, field: &str) -> Option<Limits> {
    let (definition, declared) = (item.object.fields.get(field)?, item.record.get(field)?);
    let what = ConstraintTarget { coordinate: format!("{}.{field}", item.object.name), ty: &definition.ty };
    let directive = definition.directives.get("constraint")?;
    text_limits(&read_constraint(&what, Some(&declared.value), directive, &mut Findings::default())?)
}

fn report(item: &ItemType, text: &At<String>, mistake: &TemplateMistake, findings: &mut Findings) {
    let place = span::within(item.text, &text.span, &mistake.span);
    let type_name = &item.object.name;
    match &mistake.kind {
        TemplateMistakeKind::Spread(why) => {
            findings.error(
                rules::KF0217,
                &place,
                why.clone(),
                Some("write `{shard:10}`, `{shard:01..10}` or `{replica:5}`".into()),
            );
        }
        TemplateMistakeKind::Malformed(why) => findings.error(
            rules::KF0206,
            &place,
            why.clone(),
            Some("a placeholder is `{field}`, `{field:08}` for a number, or `{field:%Y-%m-%d}` for a time".into()),
        ),
        TemplateMistakeKind::UnknownField(field) if item.is_node && field == GLOBAL_ID => {
            let mut own = format!("{type_name}Id");
            own.get_mut(..1).into_iter().for_each(str::make_ascii_lowercase);
            let message = format!("`{type_name}.id` is a global id, which is made of the key and no part of it");
            let help = format!("give the key a field of its own: `{own}: ID!` and `{{{own}}}`");
            findings.error(rules::KF0220, &place, message, Some(help.into()));
        }
        TemplateMistakeKind::UnknownField(field) => {
            let computed = computed::help(item.object, field);
            let declared = item.object.fields.get(field.as_str());
            let help = match declared.is_some() {
                _ if computed.is_some() => computed,
                _ if SpreadKind::named(field).is_some() => Some(format!("write how many: `{{{field}:10}}`").into()),
                true if declared.is_some_and(|field| !is_find(field)) => {
                    Some(format!("`{field}` is computed; a key holds stored fields").into())
                }
                true => Some(format!("`{field}` is a relation; a key holds stored fields").into()),
                false => suggest(field, item.record.keys().map(String::as_str)),
            };
            findings.error(rules::KF0207, &place, format!("`{field}` is not a stored field of `{type_name}`"), help);
        }
        TemplateMistakeKind::NotAKeyType(field) => {
            let ty = item.record.get(field).map(|declared| declared.ty.to_string()).unwrap_or_default();
            let help = "a key holds IDs, texts, numbers, booleans, enums, dates and times";
            findings.error(
                rules::KF0208,
                &place,
                format!("`{type_name}.{field}` of type `{ty}` cannot be part of a key"),
                Some(help.into()),
            );
        }
        TemplateMistakeKind::NotInvertible { why, lengths } => {
            let mut help = "put a text between the placeholders to separate them: `{a}#{b}`".to_owned();
            if !lengths.is_empty() {
                let fields = lengths.iter().map(|field| format!("`{field}`")).collect::<Vec<_>>().join(" or ");
                help.push_str(&format!("; or give {fields} one length: {ONE_LENGTH}"));
            }
            findings.error(rules::KF0209, &place, why.clone(), Some(help.into()));
        }
    }
}

/// A number or binary key is one field of that kind. A number without padding in a text sort key gets a warning.
fn check_kind(
    item: &ItemType,
    key: &KeyAttribute,
    template: &Template,
    text: &At<String>,
    findings: &mut Findings,
) -> bool {
    if key.kind != KeyType::S {
        let fits = match template.parts.as_slice() {
            [Part::Placeholder { value, width: None, .. }] => values::stored_key_type(value) == Some(key.kind),
            _ => false,
        };
        if !fits {
            let (what, help) = match key.kind {
                KeyType::N => (
                    "a number",
                    "write one field of type Int, Long, Float or Decimal, or a DateTime that is stored as an epoch: `\"{score}\"`",
                ),
                _ => ("binary", "write one field of type Binary: `\"{digest}\"`"),
            };
            findings.error(
                rules::KF0210,
                &text.span,
                format!("the key attribute `{}` is {what}", key.name),
                Some(help.into()),
            );
        }
        return fits;
    }
    let sorts = |table: &Table| {
        (0..table.indexes.len())
            .map(Some)
            .chain([None])
            .any(|index| table.keys_of(index).sort.iter().any(|sort| sort.name == key.name))
    };
    if let Some((field, _)) = template.bare_number().filter(|_| sorts(item.table.0)) {
        let placeholder = format!("{{{field}}}");
        let place =
            text.value.find(&placeholder).map(|at| span::within(item.text, &text.span, &(at..at + placeholder.len())));
        let message = format!("the number `{field}` is not padded in a sort key, so 350 sorts before 87");
        findings.warning(
            rules::KF0213,
            &place.unwrap_or(text.span.clone()),
            message,
            Some(padded(item.record, &field, &placeholder)),
        );
    }
    true
}

/// Every item has the table's keys. Of an index, a type has all keys or none.
fn check_complete(item: &ItemType, keys: &IndexMap<String, Vec<Template>>, findings: &mut Findings) -> bool {
    let table = item.table.0;
    let place = named(item.directive);
    let mut complete = true;
    for key in table.primary_key() {
        let Some(templates) = keys.get(&key.name) else {
            let message = format!(
                "`{}` has no template for `{}`, a key of the table `{}`",
                item.object.name, key.name, table.name
            );
            let constant = format!("{}: \"{}\"", key.name, item.object.name.to_uppercase());
            let help =
                format!("add it to its keys, such as `{constant}` if the type has one item for each of the other key");
            findings.error(rules::KF0211, &place, message, Some(help.into()));
            complete = false;
            continue;
        };
        let nullable = |field: &&str| item.record.get(*field).is_some_and(|declared| !declared.ty.is_non_null());
        if templates.iter().all(|template| template.fields().iter().any(nullable)) {
            let fields: Vec<&str> = templates.iter().flat_map(Template::fields).filter(nullable).collect();
            let message = format!("`{}` may be null, but every item needs its key `{}`", fields.join("`, `"), key.name);
            findings.error(rules::KF0212, &place, message, Some(format!("make {} non-null", list(&fields)).into()));
            complete = false;
        }
    }
    for name in keys.keys().filter(|name| !table.is_primary_key(name)) {
        let mut with_it = table.indexes.iter().filter(|index| index.keys().contains(name));
        let missing =
            |index: &Index| index.keys().all().map(|key| key.name.clone()).find(|key| !keys.contains_key(key));
        let Some(first) = with_it.clone().next() else { continue };
        if with_it.all(|index| missing(index).is_some()) {
            let message = format!(
                "`{}` has the key `{name}` of the index `{}`, but not `{}`",
                item.object.name,
                first.name,
                missing(first).unwrap_or_default()
            );
            let help = if first.keys().all().count() > 2 { "add all of them, or none" } else { "add both, or neither" };
            findings.error(rules::KF0214, &place, message, Some(help.into()));
            complete = false;
        }
    }
    complete
}
