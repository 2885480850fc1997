//! An operation without its variables in; what it costs at most, whatever they are, out.
//!
//! A plan depends on some of its variables: on whether they are given, or on their values. Each choice is tried, within
//! a bound, and of each number the greatest counts. Other values are the greatest there are: the largest page, the most
//! keys.

use crate::plan::cost::assumed::ANY_ID;
use crate::plan::cost::operation::cost_of_operation;
use crate::plan::cost::rows::MAX_KEYS;
use crate::plan::error::PlanError;
use crate::plan::operation::document::Document;
use crate::plan::operation::specialise::Sensitivity;
use crate::plan::passes::Passes;
use crate::plan::plan;
use crate::plan::tree::SingleWrites;
use crate::schema::model::Model;
use crate::schema::scalar::coerce::{coerce, is_one_of, json_of};
use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::executable::{Operation, VariableDefinition};
use apollo_compiler::schema::ExtendedType;
use serde_json::{Map, Value, json};

/// The most choices of an operation that are tried.
const MAX_CHOICES: usize = 256;
/// The most input objects that hold each other in a value.
const MAX_DEPTH: usize = 3;

/// What an operation costs at most.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct WorstCase {
    /// Calls of DynamoDB.
    pub calls: u64,
    /// Waves of calls that follow each other.
    pub waves: u64,
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units.
    pub write_units: f64,
    /// Objects of the response.
    pub objects: u64,
    /// How many choices were not tried, because there are so many.
    pub untried: usize,
}

/// The greatest cost of an operation. An error is why none of its choices can be planned.
pub fn worst_case(model: &Model, document: &Document, operation: &Operation) -> Result<WorstCase, PlanError> {
    let mut all = Map::new();
    let mut choices: Vec<(&str, Vec<Option<Value>>)> = Vec::new();
    let name = operation.name.as_ref().map(|name| name.as_str()).unwrap_or_default();
    let sensitivities = document.sensitivities.get(name).map(Vec::as_slice).unwrap_or_default();
    for variable in &operation.variables {
        let sensitivity = sensitivities.iter().find(|(name, _)| *name == variable.name.as_str());
        match sensitivity.map(|(_, sensitivity)| *sensitivity) {
            Some(sensitivity) => choices.push((variable.name.as_str(), values(&model.api, variable, sensitivity))),
            None => {
                let value = greatest(&model.api, &variable.ty, Whole::NONE);
                all.extend(value.map(|value| (variable.name.to_string(), value)));
            }
        }
    }
    if count(&choices) > MAX_CHOICES {
        // A null is mostly as no value.
        choices.iter_mut().for_each(|(_, values)| values.retain(|value| *value != Some(Value::Null)));
    }
    let (mut worst, mut refused) = (None, None);
    let all_choices = count(&choices);
    let last = (all_choices > MAX_CHOICES).then(|| all_choices - 1);
    for number in (0..all_choices.min(MAX_CHOICES)).chain(last) {
        let mut variables = all.clone();
        variables.extend(chosen(&choices, number));
        match plan(model, document, operation, &variables, Passes::default()) {
            Ok(plan) => {
                let cost = cost_of_operation(model, &plan, &variables, SingleWrites::Call);
                let so_far: WorstCase = worst.unwrap_or_default();
                worst = Some(WorstCase {
                    calls: so_far.calls.max(cost.calls),
                    waves: so_far.waves.max(cost.waves),
                    read_units: so_far.read_units.max(cost.read_units),
                    write_units: so_far.write_units.max(cost.write_units),
                    objects: so_far.objects.max(cost.objects),
                    untried: all_choices.saturating_sub(MAX_CHOICES + 1),
                });
            }
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    match (worst, refused) {
        (None, Some(error)) => Err(error),
        (worst, _) => Ok(worst.unwrap_or_default()),
    }
}

/// How many choices there are.
fn count(choices: &[(&str, Vec<Option<Value>>)]) -> usize {
    choices.iter().map(|(_, values)| values.len().max(1)).fold(1, usize::saturating_mul)
}

/// The values of a choice: its number has a digit for each variable.
fn chosen(choices: &[(&str, Vec<Option<Value>>)], mut number: usize) -> Map<String, Value> {
    let mut variables = Map::new();
    for (name, values) in choices.iter().filter(|(_, values)| !values.is_empty()) {
        let value = values[number % values.len()].clone();
        number /= values.len();
        variables.extend(value.map(|value| ((*name).to_owned(), value)));
    }
    variables
}

/// What a variable may be, as far as a plan depends on it. `None` is a variable without a value.
fn values(api: &Schema, variable: &VariableDefinition, sensitivity: Sensitivity) -> Vec<Option<Value>> {
    let default = variable.default_value.as_ref().map(|literal| json_of(literal, &Map::new()));
    let mut values: Vec<Option<Value>> = match (sensitivity, api.types.get(variable.ty.inner_named_type())) {
        (Sensitivity::Value, Some(ExtendedType::Enum(definition))) if !variable.ty.is_list() => {
            definition.values.keys().map(|name| Some(json!(name.as_str()))).collect()
        }
        (Sensitivity::Value, _) if variable.ty.inner_named_type() == "Boolean" => {
            vec![Some(json!(true)), Some(json!(false))]
        }
        _ => greatest(api, &variable.ty, Whole::NONE).map(Some).into_iter().collect(),
    };
    let is_without = variable.default_value.is_none() && !variable.ty.is_non_null();
    let null = (!variable.ty.is_non_null()).then_some(Some(Value::Null));
    for value in [default.map(Some), is_without.then_some(None), null].into_iter().flatten() {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// What a value is a part of.
#[derive(Clone, Copy)]
struct Whole<'w> {
    /// The input object that holds it, and what that is a part of.
    within: Option<(&'w str, &'w Whole<'w>)>,
    /// Whether it is in a list.
    in_list: bool,
}

impl Whole<'_> {
    /// A value that is a part of nothing.
    const NONE: Whole<'static> = Whole { within: None, in_list: false };

    /// Whether it is a part of an input object of this type.
    fn holds(&self, name: &str) -> bool {
        self.within.is_some_and(|(ty, outer)| ty == name || outer.holds(name))
    }

    /// How many input objects it is a part of.
    fn depth(&self) -> usize {
        self.within.map_or(0, |(_, outer)| outer.depth() + 1)
    }
}

/// The greatest value of a type: of numbers the largest, of lists the longest that counts, of objects all fields. An
/// input object has none of its own type in it, and few that hold each other. `None` if no value is known that the type
/// accepts.
fn greatest(api: &Schema, ty: &Type, whole: Whole<'_>) -> Option<Value> {
    if let Type::List(element) | Type::NonNullList(element) = ty {
        // Only the outermost list is counted.
        let length = if whole.in_list { 1 } else { MAX_KEYS as usize };
        let element = greatest(api, element, Whole { in_list: true, ..whole })?;
        return Some(Value::Array(vec![element; length]));
    }
    let name = ty.inner_named_type().as_str();
    match api.types.get(name)? {
        ExtendedType::Enum(definition) => definition.values.keys().next().map(|name| json!(name.as_str())),
        ExtendedType::InputObject(_) if whole.holds(name) || whole.depth() == MAX_DEPTH => None,
        ExtendedType::InputObject(input) => {
            let part = Whole { within: Some((name, &whole)), in_list: whole.in_list };
            let fields = input
                .fields
                .iter()
                .filter_map(|(name, field)| greatest(api, &field.ty, part).map(|value| (name.to_string(), value)));
            let most = if is_one_of(input) { 1 } else { usize::MAX };
            Some(Value::Object(fields.take(most).collect()))
        }
        _ if name == "ID" => Some(json!(ANY_ID)),
        _ => scalars().find(|value| coerce(api, ty, value).is_ok()),
    }
}

/// A value for each form of scalar.
fn scalars() -> impl Iterator<Item = Value> {
    let texts = [
        "2026-01-01T00:00:00.000Z",
        "2026-01-01T00:00:00",
        "2026-01-01",
        "2026-01-01Z",
        "00:00:00",
        "00:00:00Z",
        "1",
        "AA==",
        "a@example.com",
        "https://example.com/",
        "+15555550100",
        "192.0.2.1",
        "{}",
        "a",
    ];
    [json!(i32::MAX), json!(true)].into_iter().chain(texts.map(Value::from))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TYPES: &str = "
        scalar Any
        enum Kind { A B }
        input Line { sku: ID! count: Int tags: [String] }
        input Order { lines: [Line!]! kind: Kind not: Order any: [Order] }
        input One @oneOf { id: ID order: Order }
        directive @oneOf on INPUT_OBJECT
        type Query { a(order: Order, one: One, rows: [[Int!]], any: Any): Int }";

    #[test]
    fn the_greatest_value_has_long_lists_and_ends() {
        let api = Schema::parse_and_validate(TYPES, "types").unwrap();
        let field = api.type_field("Query", "a").unwrap();
        let value = |name: &str| {
            let argument = field.argument_by_name(name).unwrap();
            let value = greatest(&api, &argument.ty, Whole::NONE).unwrap();
            assert!(coerce(&api, &argument.ty, &value).is_ok(), "{value}");
            value
        };
        let order = value("order");
        assert_eq!((order["lines"].as_array().unwrap().len(), order["kind"].as_str()), (100, Some("A")));
        assert_eq!(order["lines"][99]["count"], json!(i32::MAX));
        assert_eq!(order["lines"][99]["tags"].as_array().unwrap().len(), 1, "a list within a list");
        assert!(order.get("not").is_none() && order.get("any").is_none(), "{order}");
        assert_eq!(value("one"), json!({ "id": "*" }));
        let rows = value("rows");
        assert_eq!((rows.as_array().unwrap().len(), &rows[0]), (100, &json!([i32::MAX])));
        value("any");
    }

    #[test]
    fn input_types_that_all_hold_each_other_have_an_end() {
        let fields: String = (0..12).map(|number| format!("f{number}: [T{number}] ")).collect();
        let types: String = (0..12).map(|number| format!("input T{number} {{ id: ID {fields} }}\n")).collect();
        let text = format!("{types} type Query {{ a(of: T0): Int }}");
        let api = Schema::parse_and_validate(text, "types").unwrap();
        let field = api.type_field("Query", "a").unwrap();
        let value = greatest(&api, &field.argument_by_name("of").unwrap().ty, Whole::NONE).unwrap();
        assert!(value["f1"][0]["f2"][0]["id"] == json!("*") && value["f1"][0]["f2"][0].get("f3").is_none(), "{value}");
    }

    #[test]
    fn each_number_is_a_choice_of_its_own() {
        let choices =
            vec![("a", vec![Some(json!(1)), None]), ("b", Vec::new()), ("c", vec![Some(json!(2)), Some(json!(3))])];
        assert_eq!(count(&choices), 4);
        let all: Vec<Value> = (0..4).map(|number| Value::Object(chosen(&choices, number))).collect();
        let expected = [json!({ "a": 1, "c": 2 }), json!({ "c": 2 }), json!({ "a": 1, "c": 3 }), json!({ "c": 3 })];
        assert_eq!(all, expected);
    }
}
