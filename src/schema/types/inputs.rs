//! A field's arguments, and the fields of their input objects under dotted names (`input.name`), in; their types out.
//! Also says whether an input object can be written as an embedded object. Must not know what they are used for.

use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use crate::schema::types::values;
use apollo_compiler::Schema;
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, Type};
use apollo_compiler::schema::{ExtendedType, InputObjectType};

/// How many levels of nested input objects are checked.
const MAX_DEPTH: usize = 8;

/// An argument, or a field of an argument's input object.
#[derive(Debug, Clone)]
pub struct Input<'a> {
    /// Its name, dotted within an input object.
    pub name: String,
    /// Its declared type.
    pub ty: &'a Type,
    /// Whether it, or an input object that holds it, may be null or missing.
    pub nullable: bool,
    /// The place of the argument's name, also for a field of its input object.
    pub span: Span,
}

impl Input<'_> {
    /// How its value is stored; an input object counts as an embedded object of its name.
    pub fn value(&self, schema: &Schema) -> Option<ValueType> {
        let name = self.ty.inner_named_type();
        match object_of(schema, name) {
            Some(_) => Some(ValueType::Embedded(name.to_string())),
            None => values::value_type(schema, name),
        }
    }
}

/// Finds an argument by its name, or a field of one by its dotted name.
pub fn input<'a>(schema: &'a Schema, field: &'a FieldDefinition, name: &str) -> Option<Input<'a>> {
    let mut segments = name.split('.');
    let first = segments.next()?;
    let argument = field.arguments.iter().find(|argument| argument.name == first)?;
    let mut found = input_of(first.to_owned(), argument, span::from_location(argument.name.location()));
    for segment in segments {
        let object = object_of(schema, found.ty.inner_named_type()).filter(|_| found.ty.is_named())?;
        found = within(&found, object.fields.get(segment)?);
    }
    Some(found)
}

/// The arguments of a field.
pub fn arguments(field: &FieldDefinition) -> impl Iterator<Item = Input<'_>> {
    field
        .arguments
        .iter()
        .map(|argument| input_of(argument.name.to_string(), argument, span::from_location(argument.name.location())))
}

/// The fields of an input object that is not in a list, under their dotted names; empty for anything else.
pub fn members<'a>(schema: &'a Schema, input: &Input<'a>) -> Vec<Input<'a>> {
    if input.ty.is_named() { element_members(schema, input) } else { Vec::new() }
}

/// The fields of an input object, or of the input objects in a list, under their dotted names.
pub fn element_members<'a>(schema: &'a Schema, input: &Input<'a>) -> Vec<Input<'a>> {
    let object = object_of(schema, input.ty.inner_named_type());
    object.map(|object| object.fields.values().map(|field| within(input, field)).collect()).unwrap_or_default()
}

fn input_of<'a>(name: String, definition: &'a InputValueDefinition, span: Span) -> Input<'a> {
    Input { name, ty: &definition.ty, nullable: !definition.ty.is_non_null(), span }
}

fn within<'a>(outer: &Input, field: &'a InputValueDefinition) -> Input<'a> {
    let inner = input_of(format!("{}.{}", outer.name, field.name), field, outer.span.clone());
    Input { nullable: inner.nullable || outer.nullable, ..inner }
}

fn object_of<'a>(schema: &'a Schema, name: &str) -> Option<&'a InputObjectType> {
    match schema.types.get(name)? {
        ExtendedType::InputObject(object) => Some(object),
        _ => None,
    }
}

/// Whether a value of type `from` can be written to a field of type `to`; if not, why.
pub fn writable(draft: &SchemaDraft, from: &ValueType, to: &ValueType) -> Result<(), String> {
    if let (Some(from), Some(to)) = (from.embedded(), to.embedded())
        && from == to
    {
        return Ok(());
    }
    match (from, to) {
        (ValueType::Embedded(from), to) if let Some(to) = to.embedded() => {
            let unlike = || format!("`{from}` is not `{to}`");
            let object = object_of(draft.schema, from).ok_or_else(unlike)?;
            object_fits(draft, object, draft.records.get(to).ok_or_else(unlike)?, MAX_DEPTH)
        }
        (_, ValueType::Json) => Ok(()),
        (from, ValueType::Set(to)) if values::fits(from, to) => Ok(()),
        (ValueType::Set(from), ValueType::Set(to)) if values::fits(from, to) => Ok(()),
        (ValueType::Set(from), to) if values::fits(from, to) => Ok(()),
        _ if values::fits(from, to) => Ok(()),
        _ => Err(format!("{} is not {}", from.name(), to.name())),
    }
}

/// Each field of the input object must fit a field of the embedded object. Each field of the embedded object that is
/// never null must be non-null in the input object or have a default.
fn object_fits(
    draft: &SchemaDraft,
    object: &InputObjectType,
    record: &StoredFields,
    depth: usize,
) -> Result<(), String> {
    for (name, field) in &object.fields {
        let Some(declared) = record.get(name.as_str()) else {
            return Err(format!("no field matches `{}.{name}`", object.name));
        };
        let inner = field.ty.inner_named_type();
        let to = &declared.value;
        let sound = match (object_of(draft.schema, inner), to.embedded()) {
            (Some(input), Some(to)) if depth > 0 => {
                draft.records.get(to).map_or(Ok(()), |record| object_fits(draft, input, record, depth - 1))
            }
            // Objects nested deeper than anybody writes are left for the run to refuse.
            (Some(_), Some(_)) => Ok(()),
            (Some(_), None) if matches!(to, ValueType::Json) => Ok(()),
            (Some(_), None) => Err(String::new()),
            (None, _) => values::value_type(draft.schema, inner).map_or(Ok(()), |from| writable(draft, &from, to)),
        };
        if sound.is_err() || depth_of(&field.ty) != depth_of(&declared.ty) {
            return Err(format!("`{}.{name}` of type `{}` does not fit `{}`", object.name, field.ty, declared.ty));
        }
    }
    for (name, declared) in record {
        let brought = object.fields.get(name.as_str()).is_some_and(|field| field.ty.is_non_null());
        if declared.ty.is_non_null() && declared.rules.default.is_none() && !brought {
            return Err(format!("`{}` may omit `{name}`, which is never null", object.name));
        }
    }
    Ok(())
}

/// How many lists a type is wrapped in.
pub fn depth_of(ty: &Type) -> usize {
    match ty {
        Type::List(item) | Type::NonNullList(item) => 1 + depth_of(item),
        Type::Named(_) | Type::NonNullNamed(_) => 0,
    }
}
