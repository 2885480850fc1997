//! Computed fields of random types. They are chosen beside everything else, so that the rest of a seed's schema stays
//! what it is without them.

use super::values::AWS_TEXTS;
use super::{Field, ItemType, Kind, Rng, Schema, chance, pick};

/// Numbers that stand in expressions.
const NUMBERS: [&str; 5] = ["1", "-2", "0.5", "0.1", "1234567890123456789.25"];

/// A computed field of a type, as text.
#[derive(Debug, Clone)]
pub struct AddedField {
    pub owner: String,
    pub field: String,
}

/// Computed fields of all types.
pub fn fields(rng: &mut Rng, schema: &Schema) -> Vec<AddedField> {
    let mut all = Vec::new();
    for ty in &schema.types {
        for number in 0..rng.usize(1..=2) {
            all.push(AddedField { owner: ty.name.clone(), field: text(rng, ty, number) });
        }
        for position in 0..rng.usize(..=2) {
            all.extend(number(rng, ty, position).map(|field| AddedField { owner: ty.name.clone(), field }));
        }
        if ty.fields.iter().any(|field| matches!(field.kind, Kind::Parts | Kind::Tally)) {
            let owner = ty.part();
            let title = "  title: String @computed(value: \"{text:upper} of {id}\")".to_owned();
            all.push(AddedField { owner: owner.clone(), field: title });
            let half = "  half: Int @computed(expression: \"count * 0.5\")".to_owned();
            all.push(AddedField { owner, field: half });
        }
    }
    all
}

/// The text of a schema with these fields.
pub fn with(sdl: &str, fields: &[AddedField]) -> String {
    let mut text = sdl.to_owned();
    for AddedField { owner, field } in fields {
        let at = text.find(&format!("type {owner} ")).unwrap();
        let open = at + text[at..].find("{\n").unwrap() + 2;
        text.insert_str(open, &format!("{field}\n"));
    }
    text
}

/// A text of some fields.
fn text(rng: &mut Rng, ty: &ItemType, number: usize) -> String {
    let single: Vec<&Field> = ty.fields.iter().filter(|field| is_single(field.kind)).collect();
    let (mut template, mut is_sure) = (format!("{}: ", ty.name), true);
    for position in 0..rng.usize(1..=3) {
        let field = *pick(rng, &single);
        let form = match field.kind {
            Kind::Id | Kind::Text => *pick(rng, &["", "", ":lower", ":upper"]),
            // No number of a random item has more digits.
            Kind::Int if field.non_null => *pick(rng, &["", "", ":020"]),
            _ => "",
        };
        template += if position > 0 { ", " } else { "" };
        template += &format!("{{{}{form}}}", field.name);
        is_sure &= field.non_null;
    }
    template += if chance(rng, 20) { " {{}}" } else { "" };
    let ty = *pick(rng, &["String", "ID"]);
    let bang = if is_sure && chance(rng, 70) { "!" } else { "" };
    format!("  text{number}: {ty}{bang} @computed(value: {template:?})")
}

/// A number of some fields; `None` if the type has no number.
fn number(rng: &mut Rng, ty: &ItemType, position: usize) -> Option<String> {
    let is_number = |field: &&Field| matches!(field.kind, Kind::Int | Kind::TextInt | Kind::Stamp);
    let numbers: Vec<&Field> = ty.fields.iter().filter(is_number).collect();
    if numbers.is_empty() {
        return None;
    }
    let (mut expression, mut is_sure) = (String::new(), true);
    let first = *pick(rng, &numbers);
    for place in 0..rng.usize(1..=4) {
        let field = if place == 0 { first } else { *pick(rng, &numbers) };
        let is_field = place == 0 || rng.bool();
        let operand = if is_field { field.name.as_str() } else { *pick(rng, &NUMBERS) };
        is_sure &= field.non_null || !is_field;
        expression = match (place, rng.u8(..4)) {
            (0, _) => operand.to_owned(),
            (_, 0) => format!("({expression}) * {operand}"),
            (_, 1) => format!("{expression} * {operand}"),
            (_, 2) => format!("{operand} - ({expression})"),
            _ => format!("{expression} + {operand}"),
        };
    }
    let ty = *pick(rng, &["Int", "Long", "Float", "Decimal", "Decimal"]);
    let bang = if is_sure && ty == "Decimal" && chance(rng, 50) { "!" } else { "" };
    Some(format!("  number{position}: {ty}{bang} @computed(expression: {expression:?})"))
}

fn is_single(kind: Kind) -> bool {
    match kind {
        Kind::AwsText(position) => AWS_TEXTS[position].0 != "AWSJSON",
        kind => !matches!(
            kind,
            Kind::Set | Kind::Log | Kind::Parts | Kind::Part | Kind::Tally | Kind::Counts | Kind::Number
        ),
    }
}
