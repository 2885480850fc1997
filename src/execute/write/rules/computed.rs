//! The fields that an update computes of the item, because keys are made of them → their values, of the item that was
//! read. Must not know calls.

use crate::execute::expression::compute;
use crate::execute::expression::scope::Scope;
use crate::execute::item::assemble::ItemValues;
use crate::execute::write::messages::{FieldErrors, bad_input, unfit_item, unreadable};
use crate::schema::expression::operand::{ArgumentType, Operand, Path};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::ObjectType;
use crate::table::data::write::Unfit;
use serde_json::{Map, Value};

/// The fields of which an update computes others.
pub fn sources(ty: &ObjectType, update: &Update) -> Vec<String> {
    let mut sources = Vec::new();
    for value in update.computed.values() {
        value.paths(&mut |path| sources.extend(field_of(ty, path).cloned()));
    }
    sources
}

/// The computed values of an item with these values.
pub fn values(
    ty: &ObjectType,
    update: &Update,
    item: &ItemValues,
    scope: &Scope<'_>,
) -> Result<Map<String, Value>, FieldErrors> {
    let mut values = Map::new();
    for (name, computed) in &update.computed {
        let Some(field) = ty.fields.get(name) else { continue };
        // An argument that is not given changes nothing.
        if let SetValue::Operand(Operand::Argument(argument, _)) = computed
            && scope.argument(argument).is_none()
        {
            continue;
        }
        let known = known(ty, computed, item)?;
        let value = compute::value(&known, field, scope)
            .map_err(|why| bad_input(format!("{}.{name} {}.", ty.name, why.trim_end_matches('.'))))?;
        let Some(value) = value else { continue };
        if value.is_null() && field.ty.is_non_null() {
            return Err(bad_input(format!("{}.{name} must not be null.", ty.name)));
        }
        values.insert(name.clone(), value);
    }
    Ok(values)
}

/// A value with what the item has in place of its fields.
fn known(ty: &ObjectType, value: &SetValue, item: &ItemValues) -> Result<SetValue, FieldErrors> {
    let both = |one: &SetValue, other: &SetValue| -> Result<_, FieldErrors> {
        Ok((Box::new(known(ty, one, item)?), Box::new(known(ty, other, item)?)))
    };
    Ok(match value {
        SetValue::Operand(Operand::Path(path)) => match at(ty, path, item)? {
            Some(operand) => SetValue::Operand(operand),
            None => return Err(vec![unfit_item(&ty.name, Unfit::NoOperand)]),
        },
        SetValue::Operand(operand) => SetValue::Operand(operand.clone()),
        SetValue::IfNotExists(path, otherwise) => match at(ty, path, item)? {
            Some(operand) => SetValue::Operand(operand),
            None => known(ty, otherwise, item)?,
        },
        SetValue::Plus(one, other) => both(one, other).map(|(one, other)| SetValue::Plus(one, other))?,
        SetValue::Minus(one, other) => both(one, other).map(|(one, other)| SetValue::Minus(one, other))?,
        SetValue::ListAppend(one, other) => both(one, other).map(|(one, other)| SetValue::ListAppend(one, other))?,
    })
}

/// What the item has in the field of a path.
fn at(ty: &ObjectType, path: &Path, item: &ItemValues) -> Result<Option<Operand>, FieldErrors> {
    let field = field_of(ty, path).filter(|field| !item.is_unreadable(field));
    let Some((field, stored)) = field.and_then(|field| Some((field, ty.stored(field)?))) else {
        return Err(unreadable(ty, field_of(ty, path).map_or("", String::as_str)));
    };
    let value = item.known.get(field).cloned();
    Ok(value.map(|value| Operand::Literal(value, ArgumentType(stored.value.clone()))))
}

/// The field that is stored in the attribute of a path.
fn field_of<'t>(ty: &'t ObjectType, path: &Path) -> Option<&'t String> {
    let attribute = path.attribute()?;
    ty.fields.keys().find(|field| ty.stored(field).is_some_and(|own| own.attribute.as_deref() == Some(attribute)))
}
