//! An action's bindings in; out: what is written to each field. Must not know how the item is found.

use super::acting::{Acting, FieldBinding, MadeBinding, with_argument};
use super::binding::by_name::{Purpose, Wish, by_argument, by_item, other_id, report_other_id};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::diagnostics::suggestion::{list, near, suggest};
use crate::schema::finds::scope::prefixed;
use crate::schema::model::rules::{DefaultPart, DefaultValue};
use crate::schema::model::write::{GivenValue, WrittenValue};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{Declared, StoredFields};
use indexmap::IndexMap;

/// What is written, by field.
pub type WrittenValues = IndexMap<String, WrittenValue>;

/// What is written to: the item, or the element of its list.
pub struct WriteTargetType<'a> {
    /// The type's name.
    pub owner: &'a str,
    /// Its stored fields.
    pub record: &'a StoredFields,
    /// The arguments that find the item or the element, dotted.
    pub finding: &'a [String],
}

/// What gives a field its value.
struct WrittenBinding {
    given: GivenValue,
    /// The first argument that the value is made of, dotted.
    argument: Option<String>,
    nullable: bool,
    span: Span,
}

impl From<FieldBinding> for WrittenBinding {
    fn from(FieldBinding { source, arguments, nullable, span }: FieldBinding) -> Self {
        Self { given: GivenValue::Source(source), argument: arguments.into_iter().next(), nullable, span }
    }
}

/// The values of a put: every stored field that is bound or has a default. Any other field must be nullable.
pub fn put_values(acting: &Acting, written: &WriteTargetType, findings: &mut Findings) -> Option<WrittenValues> {
    let mut values = WrittenValues::new();
    let mut sound = check_constants(acting, written, findings);
    for (name, declared) in written.record.iter().filter(|(_, declared)| !declared.rules.only_keyfold_writes()) {
        let bound = match bind(acting, written, name, true, findings) {
            Ok(bound) => bound,
            Err(()) => {
                sound = false;
                continue;
            }
        };
        let default = declared.rules.default.clone().or_else(|| empty_list(declared));
        let never_null = declared.ty.is_non_null();
        match (&bound, &default) {
            (None, None) if never_null => {
                sound = false;
                missing(acting, written, (name, declared), findings);
            }
            (None, None) => continue,
            (Some(bound), None) if never_null && bound.nullable => {
                let message = format!("`{}.{name}` is never null, but its new value may be", written.owner);
                let help = match &bound.argument {
                    Some(argument) => required(acting, argument, ", or give the field a `@default`"),
                    None => "give the field a `@default`".into(),
                };
                findings.error(rules::KF0719, &bound.span, message, Some(help));
                sound = false;
            }
            _ => {}
        }
        values.insert(name.clone(), WrittenValue { given: bound.map(|bound| bound.given), default });
    }
    sound.then_some(values)
}

/// The values of an update: fields that `set:` or arguments bind, and fields with a default on every write. With an
/// expression, arguments bind none.
pub fn update_values(acting: &Acting, written: &WriteTargetType, findings: &mut Findings) -> Option<WrittenValues> {
    let primary = if acting.directive.at.is_none() { acting.primary_fields() } else { Vec::new() };
    let brings = acting.directive.expression.is_none();
    let mut values = WrittenValues::new();
    let mut sound = check_constants(acting, written, findings);
    for (name, declared) in written.record.iter().filter(|(_, declared)| !declared.rules.only_keyfold_writes()) {
        let bound = match if brings { bind(acting, written, name, false, findings) } else { Ok(set_of(acting, name)) } {
            Ok(bound) => bound,
            Err(()) => {
                sound = false;
                continue;
            }
        };
        let said = acting.sets.says(name);
        let moves = acting.directive.moves && said;
        if let Some(bound) = bound.as_ref().filter(|_| !moves && primary.contains(&name.as_str())) {
            let message =
                format!("`{}.{name}` is part of the table's key, which an update cannot change", written.owner);
            let help = match said {
                true => "add `move: true`: the item moves to its new key with all that it has".to_owned(),
                false => format!("use the argument to find the item, or {}", move_help(name, None)),
            };
            findings.error(rules::KF0709, &bound.span, message, Some(help.into()));
            sound = false;
        }
        let default = declared.rules.default.clone().filter(|default| default.every_write);
        if bound.is_some() || default.is_some() {
            values.insert(name.clone(), WrittenValue { given: bound.map(|bound| bound.given), default });
        }
    }
    sound &= check_move(acting, &primary, &values, findings);
    if sound && brings && values.is_empty() {
        let message =
            format!("`@update` of `{}` changes nothing: no argument gives a value for a field", written.owner);
        let help = "add an argument or an input field named after a stored field, `set:`, or an `expression:`";
        let (place, help) = misspelt(acting, written).unwrap_or_else(|| (acting.directive.span.clone(), help.into()));
        findings.error(rules::KF0718, &place, message, Some(help));
        return None;
    }
    sound.then_some(values)
}

/// A move gives a field of the key another value.
fn check_move(acting: &Acting, primary: &[&str], values: &WrittenValues, findings: &mut Findings) -> bool {
    if !acting.directive.moves || primary.iter().any(|field| values.contains_key(*field)) {
        return true;
    }
    let message = format!("`move:` does nothing here: `set:` gives no field of the key of `{}` a value", acting.item);
    let help = match primary {
        [] => "leave `move:` out: all items of the type have one key".to_owned(),
        fields => format!("the key consists of {}: give a part of it in `set:`, or leave `move:` out", list(fields)),
    };
    findings.error(rules::KF0720, &acting.directive.span, message, Some(help.into()));
    false
}

/// How to give an item another key; `value` is the argument that has it, if one does.
pub fn move_help(field: &str, value: Option<&str>) -> String {
    let value = value.map_or_else(|| "…".to_owned(), |name| format!("\"{{{name}}}\""));
    format!("move the item: `@update(move: true, set: {{ {field}: {value} }})`")
}

/// The version that the caller has seen, under the `@version` field's name. `where:` or an argument gives it. It is not
/// written.
pub fn expected_version(acting: &Acting, findings: &mut Findings) -> Option<WrittenValues> {
    let Some((name, declared)) = acting.record.iter().find(|(_, declared)| declared.rules.version) else {
        return Some(WrittenValues::new());
    };
    // Of an item with an alias, it is `fromVersion`.
    let long = acting.alias().map(|alias| prefixed(alias, name));
    let of_alias = long.as_ref().map(|long| StoredFields::from_iter([(long.clone(), declared.clone())]));
    let wish = Wish {
        owner: &acting.item,
        record: of_alias.as_ref().unwrap_or(acting.record),
        name: long.as_ref().unwrap_or(name),
        purpose: Purpose::Value,
    };
    let bound = match acting.finds.bound.get(name) {
        Some(bound) => Some(bound.clone()),
        None if acting.finds.hidden.contains(name) => None,
        None => by_argument(&acting.writing, &wish, findings).ok()?.filter(|bound| is_own_version(acting, bound)),
    };
    Some(bound.map(|bound| (name.clone(), WrittenValue::from_source(bound.source))).into_iter().collect())
}

/// Whether an argument that a version could come from is meant for the action's item: of an action for each element of
/// a list, it is the element's.
fn is_own_version(acting: &Acting, bound: &FieldBinding) -> bool {
    match acting.writing.list {
        Some(list) => bound.arguments.iter().all(|argument| list.whole_name(argument).is_some()),
        None => true,
    }
}

/// Nothing gives a constant of the type a value, and `set:` gives none to its version. A null in `set:` gives none.
fn check_constants(acting: &Acting, written: &WriteTargetType, findings: &mut Findings) -> bool {
    let mut sound = true;
    for (name, _) in written.record.iter().filter(|(name, declared)| declared.rules.version && acting.sets.binds(name))
    {
        let message = format!("`{}.{name}` is a `@version` field, which only Keyfold changes", written.owner);
        let help =
            format!("leave it out; `where: {{ {name}: \"{{{name}}}\" }}` is the version that the caller has seen");
        findings.error(rules::KF0709, &acting.directive.span, message, Some(help.into()));
        sound = false;
    }
    let named = acting.directive.expression.is_none();
    for (name, _) in written.record.iter().filter(|(_, declared)| declared.rules.constant) {
        match if named { bind(acting, written, name, false, findings) } else { Ok(set_of(acting, name)) } {
            Ok(None) => {}
            Ok(Some(bound)) => {
                let message = format!("`{}.{name}` is a constant of the type, which no write changes", written.owner);
                let help = "leave it out: every new item gets it";
                findings.error(rules::KF0709, &bound.span, message, Some(help.into()));
                sound = false;
            }
            Err(()) => sound = false,
        }
    }
    sound
}

fn bind(
    acting: &Acting,
    written: &WriteTargetType,
    name: &str,
    items: bool,
    findings: &mut Findings,
) -> Result<Option<WrittenBinding>, ()> {
    if acting.sets.says(name) {
        return Ok(set_of(acting, name));
    }
    let wish = Wish { owner: written.owner, record: written.record, name, purpose: Purpose::Value };
    let finds = |bound: &FieldBinding| bound.arguments.iter().any(|argument| written.finding.contains(argument));
    // An argument that finds the item may have another type than the field of its name, so skip it before types are
    // checked.
    if written.finding.iter().any(|argument| argument == name) {
        return Ok(None);
    }
    match by_argument(&acting.writing, &wish, findings)?.filter(|bound| !finds(bound)) {
        Some(bound) => Ok(Some(bound.into())),
        None if items => Ok(by_item(acting, &wish, findings)?.map(WrittenBinding::from)),
        None => Ok(None),
    }
}

/// What `set:` binds a field to.
fn set_of(acting: &Acting, name: &str) -> Option<WrittenBinding> {
    let made = acting.sets.made.get(name).cloned();
    let made = made.map(|MadeBinding { value, nullable, span }| WrittenBinding {
        given: value,
        argument: None,
        nullable,
        span,
    });
    made.or_else(|| acting.sets.bound.get(name).cloned().map(WrittenBinding::from))
}

/// A list that is never null starts empty if nothing binds it. A set cannot: DynamoDB has no empty set.
fn empty_list(declared: &Declared) -> Option<DefaultValue> {
    let list = declared.ty.is_list() && declared.ty.is_non_null() && !matches!(declared.value, ValueType::Set(_));
    list.then(|| DefaultValue { parts: vec![DefaultPart::Literal("[]".to_owned())], hash: None, every_write: false })
}

fn missing(acting: &Acting, written: &WriteTargetType, (name, declared): (&str, &Declared), findings: &mut Findings) {
    if let Some(id) = other_id(&acting.writing, written.owner).filter(|_| name == "id") {
        let clause = acting.directive.clause();
        return report_other_id(
            &acting.writing,
            (written.owner, clause, false),
            (&id, &acting.directive.span),
            findings,
        );
    }
    // A default with a mistake has been reported.
    let owner = acting.writing.draft.schema.get_object(written.owner);
    let field = owner.and_then(|owner| owner.fields.get(name));
    if field.is_some_and(|field| field.directives.has("default")) {
        return;
    }
    let message = format!("no value for `{}.{name}` of type `{}`", written.owner, declared.ty);
    findings.error(rules::KF0705, &acting.directive.span, message, Some(value_help(acting, name, declared)));
}

/// How to see to it that an argument has a value.
fn required(acting: &Acting, argument: &str, otherwise: &str) -> Help {
    let help = format!("make `{argument}` non-null{otherwise}");
    match acting.writing.field.argument_by_name(argument) {
        Some(declared) => {
            let end = span::after_type(acting.writing.draft.text, &declared.ty);
            Help::edit(help, end..end, "!")
        }
        None => help.into(),
    }
}

/// How to give a field of a new item a value: by an argument, or by a field of the element that the item is made for.
fn value_help(acting: &Acting, name: &str, declared: &Declared) -> Help {
    let otherwise = "bind it in `set:`, or give the field a `@default`";
    let inner = declared.ty.inner_named_type();
    if matches!(declared.value, ValueType::Embedded(_) | ValueType::Map(_)) {
        return format!("add an argument `{name}` of an input type with the fields of `{inner}`, or {otherwise}")
            .into();
    }
    if let Some(each) = &acting.directive.each {
        return format!("add a field `{name}: {}` to the elements of `{}`, {otherwise}", declared.ty, each.value)
            .into();
    }
    let help = format!("add an argument `{name}: {}`, {otherwise}", declared.ty);
    with_argument(acting, &format!("{name}: {}", declared.ty), help)
}

/// An argument that gives no field a value, but whose name is near that of a field.
fn misspelt(acting: &Acting, written: &WriteTargetType) -> Option<(Span, Help)> {
    let names: Vec<&str> = written.record.keys().map(String::as_str).collect();
    let idle = |name: &str| !written.finding.iter().any(|finding| finding == name) && !names.contains(&name);
    let argument = acting
        .writing
        .field
        .arguments
        .iter()
        .find(|argument| idle(&argument.name) && near(&argument.name, &names).is_some())?;
    Some((span::from_location(argument.name.location()), suggest(&argument.name, names)?))
}
