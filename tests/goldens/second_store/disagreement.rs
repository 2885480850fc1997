//! The known differences between the two stores: the case, the reason, and the form in which they must still agree.

use crate::support::golden::Case;
use libtest_mimic::Failed;
use serde_json::Value;

/// A case whose response is not the golden's.
pub struct Disagreement {
    pub system: &'static str,
    pub case: &'static str,
    /// Fields whose lists hold the same elements in another order.
    pub in_any_order: &'static [&'static str],
}

/// DynamoDB does not keep the order of a set's elements. The embedded store sorts them ascending, the second store
/// descending.
const ORDER_OF_A_SET: &[&str] = &["tags"];

pub const DISAGREEMENTS: [Disagreement; 2] = [
    Disagreement { system: "workshop", case: "every_scalar", in_any_order: ORDER_OF_A_SET },
    Disagreement { system: "workshop", case: "write_game", in_any_order: ORDER_OF_A_SET },
];

/// Compares a response with its golden, in the form of the disagreement if one is listed. A listed case that agrees
/// without it fails, too.
pub fn compare(case: &Case, expected: Value, is: Value) -> Result<(), Failed> {
    let listed = DISAGREEMENTS.iter().find(|one| one.system == case.system && one.case == case.name);
    let Some(listed) = listed else { return equal(&expected, &is) };
    if expected == is {
        return Err("The stores agree on this case: take it out of the disagreements.".into());
    }
    equal(&sorted(expected, listed.in_any_order), &sorted(is, listed.in_any_order))
}

fn equal(expected: &Value, is: &Value) -> Result<(), Failed> {
    let (expected, is) = (format!("{expected:#}\n"), format!("{is:#}\n"));
    if expected == is {
        return Ok(());
    }
    let diff = similar::TextDiff::from_lines(&expected, &is);
    Err(format!("The second store's response differs from the golden:\n{}", diff.unified_diff().context_radius(3))
        .into())
}

/// The value with the lists of these fields sorted.
fn sorted(value: Value, fields: &[&str]) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let mut value = sorted(value, fields);
                if let (true, Value::Array(values)) = (fields.contains(&name.as_str()), &mut value) {
                    values.sort_by_key(Value::to_string);
                }
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::Array(values) => values.into_iter().map(|value| sorted(value, fields)).collect(),
        other => other,
    }
}
