//! Random values of fields, and random items of types. The pools are small, so that values collide.

use super::forms::FORMS;
use super::keys::{ASSIGNED, NUMBER, Values, is_assigned};
use super::{Constraint, Field, ItemType, Kind, Rng, Schema, chance, pick};
use serde_json::{Value, json};

/// The ids of items.
pub const IDS: [&str; 3] = ["a", "b", "c"];

/// Texts of fields.
pub const TEXTS: [&str; 6] = ["x", "y", "zed", "Zed", "ü", "a b"];

/// Texts of AppSync's scalars. Some are equal but for their spelling, and stay as they are.
pub const AWS_TEXTS: [(&str, [&str; 3]); 5] = [
    ("AWSDateTime", ["2026-02-01T10:00:00+01:00", "2026-02-01T09:00:00Z", "2026-02-01T09:00Z"]),
    ("AWSDate", ["2026-02-01", "2026-02-01Z", "2026-02-02"]),
    ("AWSEmail", ["ann@example.com", "Ann@example.com", "bob@example.com"]),
    ("AWSURL", ["https://example.com", "https://example.com/", "mailto:ann@example.com"]),
    ("AWSIPAddress", ["192.0.2.1", "::1", "0:0::1"]),
];

/// A value of a kind, never null.
pub fn value(rng: &mut Rng, kind: Kind) -> Value {
    let texts = |rng: &mut Rng| (0..rng.usize(1..=3)).map(|_| *pick(rng, &TEXTS)).collect::<Vec<_>>();
    match kind {
        Kind::Id => json!(pick(rng, &IDS)),
        Kind::Text => json!(pick(rng, &TEXTS)),
        Kind::Int => json!(rng.i64(0..12)),
        Kind::Flag | Kind::NumberFlag => json!(rng.bool()),
        Kind::Time(form) => json!(pick(rng, &FORMS[form].times).0),
        Kind::TextInt => json!(rng.i64(-3..12)),
        Kind::NumberId => json!(rng.u8(0..4).to_string()),
        Kind::AwsText(scalar) => json!(pick(rng, &AWS_TEXTS[scalar].1)),
        Kind::Stamp => json!(rng.i64(1_790_000_000..1_790_000_004)),
        Kind::Status => json!(pick(rng, &["OPEN", "DONE"])),
        Kind::Set => {
            let mut elements = texts(rng);
            elements.sort_unstable();
            elements.dedup();
            json!(elements)
        }
        Kind::Log => json!(texts(rng)),
        Kind::Part => part(rng, 3),
        Kind::Number => json!(rng.u64(ASSIGNED)),
        Kind::Tally => (0..rng.usize(0..4)).map(|number| part(rng, number)).collect(),
        Kind::Counts => {
            (0..rng.usize(0..4)).map(|number| json!({ "day": format!("p{number}"), "n": rng.i64(0..9) })).collect()
        }
        Kind::Parts => (0..rng.usize(0..3)).map(|number| part(rng, number)).collect(),
    }
}

fn part(rng: &mut Rng, number: usize) -> Value {
    json!({ "id": format!("p{number}"), "text": pick(rng, &TEXTS), "count": rng.i64(0..5) })
}

/// A value that breaks a constraint.
pub fn breaking(constraint: Constraint) -> Value {
    match constraint {
        Constraint::Max(most) => json!(most + 49),
        Constraint::MaxLength(most) => json!("n".repeat(most + 1)),
    }
}

/// A value of a field. A nullable field is sometimes null.
pub fn of_field(rng: &mut Rng, field: &Field) -> Option<Value> {
    // What maps take is chosen beside the rest.
    let mut beside = rng.clone();
    let rng = if field.kind.is_map() { &mut beside } else { rng };
    (field.non_null || !chance(rng, 25)).then(|| if field.version { json!(1) } else { value(rng, field.kind) })
}

/// The values of a random item.
pub fn item(rng: &mut Rng, ty: &ItemType) -> Values {
    let of_fields = ty.fields.iter().filter_map(|field| Some((field.name.clone(), of_field(rng, field)?)));
    let mut values: Values = of_fields.collect();
    if is_assigned(ty) {
        values.insert(NUMBER.to_owned(), value(rng, Kind::Number));
    }
    values
}

/// Random items: at most this many of each type, no two with one key or one unique value. Each is its type's position
/// and its values.
pub fn items(rng: &mut Rng, schema: &Schema, most: usize) -> Vec<(usize, Values)> {
    let mut made: Vec<(usize, Values)> = Vec::new();
    let mut keys = std::collections::HashSet::new();
    for (position, ty) in schema.types.iter().enumerate() {
        for _ in 0..rng.usize(..=most) {
            let mut values = item(rng, ty);
            let taken = |field: &Field, values: &Values| {
                let value = values.get(&field.name);
                value.is_some() && made.iter().any(|(of, other)| *of == position && other.get(&field.name) == value)
            };
            if ty.fields.iter().any(|field| field.unique && field.non_null && taken(field, &values)) {
                continue;
            }
            for field in ty.fields.iter().filter(|field| field.unique) {
                if taken(field, &values) {
                    values.remove(&field.name);
                }
            }
            let key = (ty.table, super::keys::name(schema.table_of(ty), ty, &values));
            if keys.insert(key) {
                made.push((position, values));
            }
        }
    }
    made
}
