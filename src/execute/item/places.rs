//! The objects inside an item that an update writes into: `address` of `SET address.city = :city`, an entry of a map.
//! An update, the values of a request and the known part of the item in; what makes the missing objects, and what the
//! update takes for granted, out. Must not know calls.

use crate::execute::expression::compute;
use crate::execute::expression::evaluate::at;
use crate::execute::expression::scope::Scope;
use crate::execute::expression::update::MadeObject;
use crate::execute::values::invalid_value::InvalidValue;
use crate::execute::values::stored_values;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Operand, Path, Segment};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, Stored};
use crate::schema::scalar::form::MapForm;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value};

/// What an update does about the objects that it writes into.
#[derive(Debug, Default)]
pub struct UpdatePlaces {
    /// The objects that it makes.
    pub made: Vec<MadeObject>,
    granted: Vec<Condition>,
}

impl UpdatePlaces {
    /// Whether a path is one of an object that the update makes, or within one.
    pub fn makes(&self, path: &[Segment]) -> bool {
        self.made.iter().any(|(made, _)| path.starts_with(made))
    }

    /// What is taken for granted of the item.
    pub fn granted(&self) -> Option<Condition> {
        match self.granted.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            all => Some(Condition::And(all.to_vec())),
        }
    }

    /// Takes for granted that there is an object or a map at a path, unless this item is known to have something else
    /// there: DynamoDB then refuses the update.
    pub fn grant(&mut self, path: &[Segment], item: Option<&Item>) {
        if item.is_none_or(|item| matches!(at(item, path), Some(Attribute::M(_)))) {
            self.granted_once(Condition::AttributeType(path_of(path), "M".to_owned()));
        }
    }

    /// Takes for granted that there is anything at a path.
    pub fn grant_any(&mut self, path: &[Segment]) {
        self.granted_once(Condition::Exists(path_of(path)));
    }

    /// Makes what is at a path that this item lacks: missing there, or null. Not within what is no object: DynamoDB
    /// then refuses the update.
    pub fn make(&mut self, item: &Item, path: &[Segment], made: Option<Attribute>) {
        if let Some((_, parent)) = path.split_last().filter(|(_, parent)| !parent.is_empty()) {
            if !matches!(at(item, parent), Some(Attribute::M(_))) {
                return;
            }
            self.grant(parent, Some(item));
        }
        self.granted_once(match at(item, path) {
            None => Condition::NotExists(path_of(path)),
            Some(_) => Condition::AttributeType(path_of(path), "NULL".to_owned()),
        });
        self.made.push((path.to_vec(), made));
    }

    fn granted_once(&mut self, condition: Condition) {
        if !self.granted.contains(&condition) {
            self.granted.push(condition);
        }
    }
}

/// What an object has. The outer `None`: it cannot be made, because a field that is never null has no value, or only
/// DynamoDB knows one. The inner: it has no fields.
type Made = Option<Option<Attribute>>;

/// An update of an item of a type, by the values of a request.
pub struct PlacedUpdate<'a> {
    /// The schema.
    pub model: &'a Model,
    /// The item's type.
    pub ty: &'a ObjectType,
    /// The update.
    pub update: &'a Update,
    /// The values.
    pub scope: &'a Scope<'a>,
    /// Gives an object of a type its defaults. False if a field that is never null has none.
    pub fill: &'a dyn Fn(&ObjectType, &mut Map<String, Value>) -> bool,
}

/// What a path leads to.
enum Inside<'m> {
    /// An embedded object, or an entry of a map.
    Object(&'m ObjectType, Option<&'m MapForm>),
    /// A map.
    Map(&'m MapForm),
    /// A field with another value, or an entry that is one.
    Value(&'m Field),
}

impl PlacedUpdate<'_> {
    /// What the update does about all objects that its `SET` writes into.
    pub fn place_all(&self, item: Option<&Item>, places: &mut UpdatePlaces) -> Result<(), InvalidValue> {
        self.update.set.iter().try_for_each(|(path, _)| {
            let parent = path.segments.split_last().map_or(&[][..], |(_, parent)| parent);
            self.place(parent, item, places)
        })
    }

    /// What it does about the object at a path.
    pub fn place(&self, path: &[Segment], item: Option<&Item>, places: &mut UpdatePlaces) -> Result<(), InvalidValue> {
        let is_plain = path.iter().all(|segment| matches!(segment, Segment::Attribute(_)));
        if path.is_empty() || !is_plain || places.makes(path) {
            return Ok(());
        }
        let is_missing =
            |path: &&[Segment]| item.is_some_and(|item| matches!(at(item, path), None | Some(Attribute::Null)));
        let missing = (1..=path.len()).filter_map(|length| path.get(..length)).find(is_missing);
        let (Some(item), Some(missing)) = (item, missing) else {
            // A value that does not fit a new object may fit the one that there is.
            if self.can_make(path).unwrap_or(false) {
                places.grant(path, item);
            }
            return Ok(());
        };
        if let Some(made) = self.make(missing, path)? {
            places.make(item, missing, made);
        }
        Ok(())
    }

    /// Whether the object at a path can be made of what the request gives.
    pub fn can_make(&self, path: &[Segment]) -> Result<bool, InvalidValue> {
        self.make(path, path).map(|made| made.is_some())
    }

    /// The new object at a path. It has the object in it that is wanted.
    fn make(&self, path: &[Segment], wanted: &[Segment]) -> Result<Made, InvalidValue> {
        match self.inside(path) {
            Some(Inside::Object(of, form)) => self.object(path, of, form),
            Some(Inside::Map(_)) => self.map(path, wanted),
            Some(Inside::Value(field)) => {
                let of_path = self.update.set.iter().find(|(target, _)| target.segments == path);
                let Some((_, value)) = of_path else { return Ok(None) };
                let value = self.value(field, value, path)?.flatten().filter(|value| !value.is_null());
                let stored = value.map(|value| stored(self.model, field, &value)).transpose()?;
                Ok(stored.flatten().map(Some))
            }
            None => Ok(None),
        }
    }

    /// A map of the entries that the update writes, and of this one.
    fn map(&self, path: &[Segment], wanted: &[Segment]) -> Result<Made, InvalidValue> {
        let mut entries = Item::new();
        let written = self.update.set.iter().map(|(target, _)| target.segments.as_slice());
        for target in written.chain([wanted]).filter(|target| target.starts_with(path)) {
            let Some((whole, Some(Segment::Attribute(key)))) =
                target.get(..=path.len()).map(|whole| (whole, whole.last()))
            else {
                continue;
            };
            if !entries.contains_key(key) {
                let Some(entry) = self.make(whole, whole)? else { return Ok(None) };
                entries.insert(key.as_str(), entry.unwrap_or_else(|| Attribute::M(Item::new())));
            }
        }
        Ok(Some(Some(Attribute::M(entries))))
    }

    /// An object of the fields that the update sets, and of defaults.
    fn object(&self, path: &[Segment], of: &ObjectType, form: Option<&MapForm>) -> Result<Made, InvalidValue> {
        let (mut values, mut nested) = (Map::new(), Item::new());
        for (target, value) in self.update.set.iter().filter(|(target, _)| target.segments.starts_with(path)) {
            let Some((Segment::Attribute(name), rest)) = target.segments.get(path.len()..).and_then(<[_]>::split_first)
            else {
                return Ok(None);
            };
            let Some(field) = of.fields.values().find(|field| is_kept_in(field, name)) else { return Ok(None) };
            if rest.is_empty() {
                let Some(value) = self.value(field, value, path)? else { return Ok(None) };
                values.extend(value.filter(|value| !value.is_null()).map(|value| (field.name.clone(), value)));
            } else if !nested.contains_key(name) {
                let whole: Vec<Segment> = target.segments.iter().take(path.len() + 1).cloned().collect();
                let Some(inner) = self.make(&whole, &whole)? else { return Ok(None) };
                nested.extend(inner.map(|inner| (name.as_str(), inner)));
            }
        }
        if form.is_none() && values.is_empty() && nested.is_empty() {
            return Ok(Some(None));
        }
        let is_filled = (self.fill)(of, &mut values);
        let lacks = |field: &Field| {
            let is_key = form.is_some_and(|form| form.by.field == field.name);
            let is_nested = stored_of(field).and_then(|stored| stored.attribute.as_ref());
            let is_nested = is_nested.is_none_or(|name| nested.contains_key(name));
            field.ty.is_non_null() && !field.ty.is_list() && !is_key && !is_nested && !values.contains_key(&field.name)
        };
        if !is_filled || of.fields.values().any(lacks) {
            return Ok(None);
        }
        let mut object = stored_values::stored_object(self.model, &of.name, &values)?;
        // The key of an entry says it.
        form.into_iter().for_each(|form| _ = object.remove(&form.by.attribute));
        object.extend(nested);
        Ok(Some(Some(Attribute::M(object))))
    }

    /// What a field of a new object gets. The outer `None` means that only DynamoDB knows it.
    fn value(
        &self,
        field: &Field,
        value: &SetValue,
        within: &[Segment],
    ) -> Result<Option<Option<Value>>, InvalidValue> {
        let Some(value) = without(value, within) else { return Ok(None) };
        let unfit = |message| InvalidValue { field: field.name.clone(), message: format!("It {message}.") };
        compute::value(&value, field, self.scope).map(Some).map_err(unfit)
    }

    /// What a path leads to.
    fn inside(&self, path: &[Segment]) -> Option<Inside<'_>> {
        let mut inside = Inside::Object(self.ty, None);
        for segment in path {
            let Segment::Attribute(name) = segment else { return None };
            inside = match inside {
                Inside::Object(of, _) => {
                    let field = of.fields.values().find(|field| is_kept_in(field, name))?;
                    match &stored_of(field)?.value {
                        ValueType::Embedded(inner) if !field.ty.is_list() => {
                            Inside::Object(self.model.types.get(inner)?, None)
                        }
                        ValueType::Map(form) => Inside::Map(form),
                        _ => Inside::Value(field),
                    }
                }
                Inside::Map(form) => {
                    let of = self.model.types.get(&form.element)?;
                    match &form.value {
                        Some(value) => Inside::Value(of.fields.get(&value.field)?),
                        None => Inside::Object(of, Some(form)),
                    }
                }
                Inside::Value(_) => return None,
            };
        }
        Some(inside)
    }
}

/// A value in an object that has none yet; `None` if it reads something else of the item.
fn without(value: &SetValue, within: &[Segment]) -> Option<SetValue> {
    let both =
        |one: &SetValue, other: &SetValue| Some((Box::new(without(one, within)?), Box::new(without(other, within)?)));
    Some(match value {
        SetValue::Operand(Operand::Path(_) | Operand::Size(_)) => return None,
        SetValue::Operand(operand) => SetValue::Operand(operand.clone()),
        SetValue::IfNotExists(path, otherwise) if path.segments.starts_with(within) => without(otherwise, within)?,
        SetValue::IfNotExists(..) => return None,
        SetValue::Plus(one, other) => both(one, other).map(|(one, other)| SetValue::Plus(one, other))?,
        SetValue::Minus(one, other) => both(one, other).map(|(one, other)| SetValue::Minus(one, other))?,
        SetValue::ListAppend(one, other) => both(one, other).map(|(one, other)| SetValue::ListAppend(one, other))?,
    })
}

fn stored(model: &Model, field: &Field, value: &Value) -> Result<Option<Attribute>, InvalidValue> {
    let Some(kept) = stored_of(field) else { return Ok(None) };
    stored_values::stored_field(model, &field.ty, &kept.value, value).map_err(|invalid| invalid.within(&field.name))
}

fn stored_of(field: &Field) -> Option<&Stored> {
    if let FieldKind::Stored(stored) = &field.kind { Some(stored) } else { None }
}

fn is_kept_in(field: &Field, attribute: &str) -> bool {
    stored_of(field).is_some_and(|stored| stored.attribute.as_deref() == Some(attribute))
}

fn path_of(segments: &[Segment]) -> Path {
    Path { segments: segments.to_vec() }
}
