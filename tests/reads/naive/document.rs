//! A parsed operation in, its fields in the order of the response and their arguments out (GraphQL specification,
//! sections 6.3.2 "Collecting Fields" and 6.4.1 "Coercing Field Arguments"). Must not know items.

use super::rows::World;
use apollo_compiler::ast::{Type, Value as Literal};
use apollo_compiler::executable::{Field, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Node, Schema, validation::Valid};
use keyfold::schema::model::FieldKind;
use keyfold::schema::model::find::Via;
use serde_json::{Map, Value};

/// An operation with its variables.
pub struct Document {
    pub schema: Valid<Schema>,
    parsed: Valid<ExecutableDocument>,
    variables: Map<String, Value>,
}

/// The arguments of a field: all values, defaults included, and the names that are written in the document.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    pub values: Map<String, Value>,
    pub given: Vec<String>,
}

/// A field of the response: its key, and its places in the document; merged selections give several places.
pub struct Selected<'d> {
    pub key: String,
    pub fields: Vec<&'d Node<Field>>,
}

impl Selected<'_> {
    pub fn name(&self) -> &str {
        self.fields[0].name.as_str()
    }

    /// The whole selection of the field.
    pub fn sets(&self) -> Vec<&SelectionSet> {
        self.fields.iter().map(|field| &field.selection_set).collect()
    }
}

impl Document {
    /// Parses an operation, which must be valid.
    pub fn parse(schema: &Valid<Schema>, text: &str, variables: Map<String, Value>) -> Result<Self, String> {
        let parsed = ExecutableDocument::parse_and_validate(schema, text, "operation")
            .map_err(|mistakes| mistakes.to_string())?;
        let defined = &parsed.operations.iter().next().ok_or("there is no operation")?.variables;
        let mut all = Map::new();
        for variable in defined {
            let default = || variable.default_value.as_deref().and_then(|literal| resolve(literal, &Map::new()));
            if let Some(value) = variables.get(variable.name.as_str()).cloned().or_else(default) {
                all.insert(variable.name.to_string(), value);
            }
        }
        Ok(Self { schema: schema.clone(), parsed, variables: all })
    }

    /// The selection of the root.
    pub fn root(&self) -> Vec<&SelectionSet> {
        self.parsed.operations.iter().map(|operation| &operation.selection_set).collect()
    }

    /// The fields that the operation selects on an object of a type, in order.
    pub fn collect<'d>(&'d self, sets: &[&'d SelectionSet], type_name: &str) -> Vec<Selected<'d>> {
        let mut found = Vec::new();
        sets.iter().for_each(|set| self.collect_set(set, type_name, &mut found));
        found
    }

    fn collect_set<'d>(&'d self, set: &'d SelectionSet, type_name: &str, found: &mut Vec<Selected<'d>>) {
        for selection in &set.selections {
            if !self.is_meant(selection) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().to_string();
                    match found.iter_mut().find(|known| known.key == key) {
                        Some(known) => known.fields.push(field),
                        None => found.push(Selected { key, fields: vec![field] }),
                    }
                }
                Selection::InlineFragment(fragment) => {
                    if fragment.type_condition.as_ref().is_none_or(|on| self.is_of(type_name, on)) {
                        self.collect_set(&fragment.selection_set, type_name, found);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    let fragment = &self.parsed.fragments[&spread.fragment_name];
                    if self.is_of(type_name, fragment.type_condition()) {
                        self.collect_set(&fragment.selection_set, type_name, found);
                    }
                }
            }
        }
    }

    fn is_of(&self, type_name: &str, on: &str) -> bool {
        type_name == on || self.schema.is_subtype(on, type_name)
    }

    fn is_meant(&self, selection: &Selection) -> bool {
        let flag = |directive: &str| {
            let value = selection.directives().get(directive)?.specified_argument_by_name("if")?;
            resolve(value, &self.variables)?.as_bool()
        };
        flag("skip") != Some(true) && flag("include") != Some(false)
    }

    /// The code with which the whole operation is refused, if arguments leave a gap in a key.
    pub fn refusal(&self, world: &World<'_>) -> Option<&'static str> {
        let query = self.schema.schema_definition.query.as_ref()?;
        self.refusal_of(&self.root(), query, world)
    }

    fn refusal_of(&self, sets: &[&SelectionSet], ty: &str, world: &World<'_>) -> Option<&'static str> {
        let members: Vec<&str> =
            self.schema.types.keys().map(|name| name.as_str()).filter(|name| self.is_of(name, ty)).collect();
        members.into_iter().filter(|name| matches!(self.schema.types[*name], ExtendedType::Object(_))).find_map(|ty| {
            self.collect(sets, ty).into_iter().find_map(|selected| {
                let arguments = self.arguments(selected.fields[0]);
                let field = world.model.types.get(ty).and_then(|ty| ty.fields.get(selected.name()));
                if let Some(FieldKind::Find(find)) = field.map(|field| &field.kind)
                    && !matches!(find.via, Via::Through(_))
                    && let Err(code) = world.path(find, &arguments)
                {
                    return Some(code);
                }
                let inner = selected.fields[0].definition.ty.inner_named_type();
                self.refusal_of(&selected.sets(), inner, world)
            })
        })
    }

    /// Line and column of a field, from 1.
    pub fn location(&self, field: &Node<Field>) -> (usize, usize) {
        let start = field.line_column_range(&self.parsed.sources).map(|range| range.start);
        start.map_or((0, 0), |place| (place.line, place.column))
    }

    /// The values of a field's arguments.
    pub fn arguments(&self, field: &Field) -> Arguments {
        let mut arguments = Arguments::default();
        for definition in &field.definition.arguments {
            let written = field.arguments.iter().find(|argument| argument.name == definition.name);
            let given = written.and_then(|argument| resolve(&argument.value, &self.variables));
            if given.is_some() {
                arguments.given.push(definition.name.to_string());
            }
            let default = || definition.default_value.as_deref().and_then(|literal| resolve(literal, &Map::new()));
            if let Some(value) = given.or_else(default) {
                arguments.values.insert(definition.name.to_string(), self.fit(&definition.ty, value));
            }
        }
        arguments
    }

    /// A value in the form that its type needs: a single value as a list, numbers as IDs, defaults of input fields.
    fn fit(&self, ty: &Type, value: Value) -> Value {
        match (ty, value) {
            (_, Value::Null) => Value::Null,
            (Type::List(item) | Type::NonNullList(item), Value::Array(values)) => {
                values.into_iter().map(|value| self.fit(item, value)).collect()
            }
            (Type::List(item) | Type::NonNullList(item), value) => Value::Array(vec![self.fit(item, value)]),
            (Type::Named(name) | Type::NonNullNamed(name), value) => match (&self.schema.types[name], value) {
                (ExtendedType::InputObject(input), Value::Object(mut members)) => {
                    let mut fitted = Map::new();
                    for field in input.fields.values() {
                        let default =
                            || field.default_value.as_deref().and_then(|literal| resolve(literal, &Map::new()));
                        if let Some(value) = members.remove(field.name.as_str()).or_else(default) {
                            fitted.insert(field.name.to_string(), self.fit(&field.ty, value));
                        }
                    }
                    Value::Object(fitted)
                }
                (_, Value::Number(number)) if name == "ID" => Value::String(number.to_string()),
                (_, value) => value,
            },
        }
    }
}

/// The value of a literal; `None` for a variable without a value.
fn resolve(literal: &Literal, variables: &Map<String, Value>) -> Option<Value> {
    Some(match literal {
        Literal::Null => Value::Null,
        Literal::Enum(name) => Value::String(name.to_string()),
        Literal::Variable(name) => return variables.get(name.as_str()).cloned(),
        Literal::String(text) => Value::String(text.clone()),
        Literal::Float(number) => serde_json::from_str(number.as_str()).unwrap_or(Value::Null),
        Literal::Int(number) => serde_json::from_str(number.as_str()).unwrap_or(Value::Null),
        Literal::Boolean(value) => Value::Bool(*value),
        Literal::List(values) => values.iter().map(|value| resolve(value, variables).unwrap_or(Value::Null)).collect(),
        Literal::Object(members) => Value::Object(
            members.iter().filter_map(|(name, value)| Some((name.to_string(), resolve(value, variables)?))).collect(),
        ),
    })
}
