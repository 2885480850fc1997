//! An operation in; the values of its `__schema` and `__type` fields out. apollo-compiler answers them from the schema,
//! except `__Type.isOneOf`, which its version 1 does not know. In place of that field, the operation asks for the
//! type's name, and the name is then replaced by the answer.

use crate::schema::scalar::coerce::is_one_of;
use crate::schema::syntax::one_of::IS_ONE_OF;
use apollo_compiler::executable::{Selection, SelectionSet};
use apollo_compiler::introspection::partial_execute;
use apollo_compiler::request::RequestError;
use apollo_compiler::response::{JsonMap, JsonValue};
use apollo_compiler::validation::Valid;
use apollo_compiler::{ExecutableDocument, Name, Schema};
use serde_json::{Map, Value};

/// The values, by response key.
pub fn introspect(
    api: &Valid<Schema>,
    document: &Valid<ExecutableDocument>,
    name: Option<&str>,
    variables: &Map<String, Value>,
) -> Result<Map<String, Value>, RequestError> {
    // Introspection takes no arguments of other kinds.
    let variables = variables.iter().filter_map(|(name, value)| {
        let value = match value {
            Value::Null => JsonValue::Null,
            Value::Bool(value) => JsonValue::Bool(*value),
            Value::String(text) => text.as_str().into(),
            _ => return None,
        };
        Some((name.as_str().into(), value))
    });
    let variables = Valid::assume_valid(variables.collect::<JsonMap>());
    let asked = by_name(api, document);
    let operation = asked.operations.get(name)?;
    let answer = partial_execute(api, &api.implementers_map(), &asked, operation, &variables)?;
    let Ok(Value::Object(mut values)) = serde_json::to_value(answer.data) else { return Ok(Map::new()) };
    tell(api, document, &document.operations.get(name)?.selection_set, &mut values);
    Ok(values)
}

/// The document with `name` in the place of every `isOneOf`.
fn by_name(api: &Schema, document: &Valid<ExecutableDocument>) -> Valid<ExecutableDocument> {
    let mut asked = document.clone().into_inner();
    let sets = asked.fragments.values_mut().map(|fragment| &mut fragment.make_mut().selection_set);
    sets.for_each(|set| rename(api, set));
    let operations = asked.operations.anonymous.iter_mut().chain(asked.operations.named.values_mut());
    operations.for_each(|operation| rename(api, &mut operation.make_mut().selection_set));
    Valid::assume_valid(asked)
}

fn rename(api: &Schema, set: &mut SelectionSet) {
    let in_type = set.ty == "__Type";
    for selection in &mut set.selections {
        match selection {
            Selection::Field(field) if in_type && field.name == IS_ONE_OF => {
                let field = field.make_mut();
                field.alias = Some(field.response_key().clone());
                field.name = Name::new_static_unchecked("name");
                if let Ok(definition) = api.type_field("__Type", "name") {
                    field.definition = definition.node.clone();
                }
            }
            Selection::Field(field) => rename(api, &mut field.make_mut().selection_set),
            Selection::InlineFragment(fragment) => rename(api, &mut fragment.make_mut().selection_set),
            Selection::FragmentSpread(_) => {}
        }
    }
}

/// Replaces each name that stands for `isOneOf` by its answer: whether an input object is a OneOf, else null.
fn tell(api: &Schema, document: &ExecutableDocument, set: &SelectionSet, values: &mut Map<String, Value>) {
    for selection in &set.selections {
        match selection {
            Selection::Field(field) => {
                let Some(value) = values.get_mut(field.response_key().as_str()) else { continue };
                if field.name == IS_ONE_OF && set.ty == "__Type" {
                    // A key that is selected twice already has its answer.
                    if let Value::String(name) = value {
                        let input = api.get_input_object(name);
                        *value = input.map_or(Value::Null, |input| Value::Bool(is_one_of(input)));
                    }
                } else {
                    tell_each(api, document, &field.selection_set, value);
                }
            }
            Selection::InlineFragment(fragment) => tell(api, document, &fragment.selection_set, values),
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = spread.fragment_def(document) {
                    tell(api, document, &fragment.selection_set, values);
                }
            }
        }
    }
}

fn tell_each(api: &Schema, document: &ExecutableDocument, set: &SelectionSet, value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| tell_each(api, document, set, element)),
        Value::Object(values) => tell(api, document, set, values),
        _ => {}
    }
}
