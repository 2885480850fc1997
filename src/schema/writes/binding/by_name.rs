//! Arguments, fields of input objects and items in scope in; out: what each field of the target is bound to by name.
//! Must not know which key uses it.
//!
//! For each field of the target, the first of these that exists binds it:
//!
//! 1. its entry in `set:` or `where:`;
//! 2. an argument of its name;
//! 3. an argument named `<target><Field>`: `containerId` for `Container.id`;
//! 4. a field of its name in an argument that is an input object;
//! 5. a field of an item in scope as `<type><Field>`: after a put of a Group, `id` is `groupId`;
//! 6. a field of the same name of an item in scope, unless 5 uses that item's field under its longer name. `id`
//!    identifies an item, so it binds only items of the same type. A written value is copied this way only if the field
//!    has no default and is an ID or never null: two types may have a field of the same name by chance.
//!
//! An `id` is the id of one type, so 2 and 4 bind `id` only to items of the field's own type. A field whose type is no
//! item has the only item type that its directives name.
//!
//! An argument that is null at run time binds nothing, but it still hides the items in scope (5 and 6).

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::scope::prefixed;
use crate::schema::model::source::Source;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{Declared, Kind, StoredFields};
use crate::schema::types::inputs::{Input, depth_of, writable};
use crate::schema::types::{inputs, values};
use crate::schema::writes::acting::{Acting, FieldBinding, InScope, Writing, is_word};

/// What a binding is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The value finds an item.
    Key {
        /// Whether several may be found.
        many: bool,
    },
    /// The value is written.
    Value,
}

/// A field to bind.
pub struct Wish<'a> {
    /// The type that it belongs to: the item, or the element of its list.
    pub owner: &'a str,
    /// The stored fields of that type.
    pub record: &'a StoredFields,
    /// Its name.
    pub name: &'a str,
    /// What the binding is for.
    pub purpose: Purpose,
}

/// Binds by an argument or a field of one (rules 2 to 4); `Err` on a mistake.
pub fn by_argument(writing: &Writing, wish: &Wish, findings: &mut Findings) -> Result<Option<FieldBinding>, ()> {
    let Some(declared) = wish.record.get(wish.name) else { return Ok(None) };
    let schema = writing.draft.schema;
    let long = prefixed(wish.owner, wish.name);
    let foreign = is_foreign_id(writing, wish.owner, wish.name);
    let argument = inputs::input(schema, writing.field, wish.name)
        .filter(|_| !(foreign || writing.list.is_some() && is_word(wish.name)))
        .or_else(|| inputs::input(schema, writing.field, &long).filter(|_| !wish.record.contains_key(&long)))
        .filter(|input| !writing.is_result(&input.name));
    if let Some(input) = argument {
        return checked(writing, wish, declared, &input, findings).map(Some);
    }
    let members: Vec<Input> = inputs::arguments(writing.field)
        .flat_map(|argument| inputs::members(schema, &argument))
        .filter(|member| !foreign && member.name.rsplit('.').next() == Some(wish.name))
        .filter(|member| !writing.is_result(&member.name))
        .collect();
    match members.as_slice() {
        [] => Ok(None),
        [input] => checked(writing, wish, declared, input, findings).map(Some),
        [first, ..] => {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            let message = format!("`{}.{}` could come from any of {}", wish.owner, wish.name, list(&names));
            findings.error(
                rules::KF0713,
                &first.span,
                message,
                Some("choose one in `set:` or `where:`, or rename the others".into()),
            );
            Err(())
        }
    }
}

/// Whether a field is the id of an item of another type than the mutation's own.
fn is_foreign_id(writing: &Writing, owner: &str, name: &str) -> bool {
    name == "id" && writing.draft.kind(owner) == Some(&Kind::Item) && writing.own_item() != Some(owner)
}

/// The argument, or the field of one, that is an `id` but not that of this item type.
pub fn other_id<'a>(writing: &Writing<'a>, owner: &str) -> Option<Input<'a>> {
    let schema = writing.draft.schema;
    let arguments = || inputs::arguments(writing.field).filter(|argument| !writing.is_result(&argument.name));
    let members = || arguments().flat_map(|argument| inputs::members(schema, &argument));
    let bare =
        || inputs::input(schema, writing.field, "id").or_else(|| members().find(|member| member.name.ends_with(".id")));
    is_foreign_id(writing, owner, "id").then(bare)?
}

/// Reports that nothing binds the id of an item although there is an `id`. `less` says whether the item could be found
/// without it.
pub fn report_other_id(
    writing: &Writing,
    (owner, clause, less): (&str, &str, bool),
    (id, span): (&Input, &Span),
    findings: &mut Findings,
) {
    let whose = match writing.own_item() {
        Some(own) => format!("is the id of the `{own}`"),
        None => format!("belongs to no type, because `{}` writes items of several", writing.coordinate()),
    };
    let message = format!("`{}` {whose}, so it does not bind `{owner}.id`", id.name);
    let otherwise = if less { format!(", `{clause}: {{ id: null }}` if it is not") } else { String::new() };
    let help = format!(
        "write `{clause}: {{ id: \"{{{}}}\" }}` if it is the id of the `{owner}` as well{otherwise}, or add an argument `{}`",
        id.name,
        prefixed(owner, "id")
    );
    findings.error(rules::KF0721, span, message, Some(help.into()));
}

/// Binds the argument if the field can hold its values; `Err` if not.
fn checked(
    writing: &Writing,
    wish: &Wish,
    declared: &Declared,
    input: &Input,
    findings: &mut Findings,
) -> Result<FieldBinding, ()> {
    let from = input.value(writing.draft.schema);
    let (depth, wanted) = (depth_of(input.ty), depth_of(&declared.ty));
    let list = wish.purpose == Purpose::Key { many: true } && depth == wanted + 1;
    let sound = match &from {
        Some(from) if depth == wanted || list => writable(writing.draft, from, &declared.value),
        Some(_) => Err("only one of them is a list".to_owned()),
        // A type that does not exist has been reported.
        None => return Err(()),
    };
    if let Err(why) = sound {
        let coordinate = format!("{}.{}", wish.owner, wish.name);
        let message = format!(
            "the argument `{}` of type `{}` does not fit `{coordinate}` of type `{}`: {why}",
            input.name, input.ty, declared.ty
        );
        let is_element = depth == wanted + 1 && writing.list.is_none();
        let help = match is_element {
            true => Some(format!("`each: \"{0}\"` does this for each element of `{0}`", input.name).into()),
            false => right_type(input, declared, depth == wanted),
        };
        findings.error_by_type(rules::KF0704, &input.span, (message, help), Some(coordinate));
        return Err(());
    }
    let source = Source::Argument(input.name.clone());
    Ok(FieldBinding { source, arguments: vec![input.name.clone()], nullable: input.nullable, span: input.span.clone() })
}

/// The type that an argument or an input field needs for a stored field. An embedded object needs an input object, of
/// which the reason says what is wrong.
fn right_type(input: &Input, declared: &Declared, is_as_deep: bool) -> Option<Help> {
    let right = declared.ty.inner_named_type();
    if matches!(declared.value, ValueType::Embedded(_) | ValueType::Map(_)) {
        return Some(format!("give it an input type with the fields of `{right}`").into());
    }
    let wanted = declared.ty.clone().nullable();
    let wanted = if input.ty.is_non_null() { wanted.non_null() } else { wanted };
    let help = format!("make it `{wanted}`");
    Some(if is_as_deep { Help::edit(help, span::from_type(input.ty), right.as_str()) } else { help.into() })
}

/// Binds by an item in scope whose type is in the field's name (rule 5); `Err` on a mistake.
pub fn by_long_name(acting: &Acting, wish: &Wish, findings: &mut Findings) -> Result<Option<FieldBinding>, ()> {
    let Some(declared) = wish.record.get(wish.name) else { return Ok(None) };
    one_of(acting, wish, &all_long(acting, wish, declared), findings)
}

/// The fields of items in scope whose long name `<type><Field>` is the wished name.
fn all_long<'s>(acting: &'s Acting, wish: &Wish, declared: &Declared) -> Vec<(&'s InScope<'s>, &'s str)> {
    all_named(acting.scope, declared, &|item, field| prefixed(&item.name, field) == wish.name)
}

/// Binds by an item in scope (rules 5 and 6); `Err` on a mistake.
pub fn by_item(acting: &Acting, wish: &Wish, findings: &mut Findings) -> Result<Option<FieldBinding>, ()> {
    let Some(declared) = wish.record.get(wish.name) else { return Ok(None) };
    let long = all_long(acting, wish, declared);
    let short = || {
        let used =
            |item: &InScope| wish.record.contains_key(&prefixed(&item.name, wish.name)) && item.item != wish.owner;
        let copied = wish.purpose != Purpose::Value
            || declared.rules.default.is_none()
                && (matches!(declared.value, ValueType::Id) || declared.ty.is_non_null());
        let same = |item: &InScope, field: &str| {
            field == wish.name && !used(item) && (field != "id" || item.item == wish.owner)
        };
        if copied { all_named(acting.scope, declared, &same) } else { Vec::new() }
    };
    one_of(acting, wish, &if long.is_empty() { short() } else { long }, findings)
}

/// The only field found; `Err` if there are several.
fn one_of(
    acting: &Acting,
    wish: &Wish,
    found: &[(&InScope, &str)],
    findings: &mut Findings,
) -> Result<Option<FieldBinding>, ()> {
    let span = &acting.directive.span;
    let bound = |item: &InScope, field: &str| {
        let nullable = item.record.get(field).is_none_or(|field| !field.ty.is_non_null());
        let source = Source::Item(item.name.clone(), field.to_owned());
        FieldBinding { source, arguments: Vec::new(), nullable, span: span.clone() }
    };
    match found {
        [] => Ok(None),
        [(item, field)] => Ok(Some(bound(item, field))),
        several => {
            let names: Vec<String> = several.iter().map(|(item, field)| format!("{}.{field}", item.name)).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let message = format!("`{}.{}` could come from any of {}", wish.owner, wish.name, list(&names));
            let help = format!("choose one in `{}:`", acting.directive.clause());
            findings.error(rules::KF0713, span, message, Some(help.into()));
            Err(())
        }
    }
}

/// The fields of items in scope that fit by type, and whose name `named` accepts.
fn all_named<'s>(
    scope: &'s [InScope<'s>],
    declared: &Declared,
    named: &dyn Fn(&InScope, &str) -> bool,
) -> Vec<(&'s InScope<'s>, &'s str)> {
    let fits =
        |own: &Declared| depth_of(&own.ty) == depth_of(&declared.ty) && values::fits(&own.value, &declared.value);
    let fields = scope.iter().flat_map(|item| item.record.iter().map(move |(field, own)| (item, field.as_str(), own)));
    fields.filter(|(item, field, own)| fits(own) && named(item, field)).map(|(item, field, _)| (item, field)).collect()
}
