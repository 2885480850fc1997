//! The gateway's response and the naive executor's in; the first difference out.

use super::executor::Fault;
use super::pages::Cursors;
use serde_json::Value;

/// The first difference between a response and the expected one. Records the place of each cursor.
pub fn difference(response: &Value, expected: &(Value, Vec<Fault>), cursors: &mut Cursors) -> Option<String> {
    let faults = faults(response);
    let data = response.get("data").unwrap_or(&Value::Null);
    let of_data = data_differs(&expected.0, data, cursors, "data")
        .map(|at| format!("{at}\nexpected {:#}\ngot {data:#}", expected.0));
    let of_errors = (faults != expected.1).then(|| {
        let only = |these: &[Fault], those: &[Fault]| {
            these.iter().filter(|one| !those.contains(one)).map(|one| format!("{one:?}\n")).collect::<String>()
        };
        format!(
            "errors\nexpected, but missing: {}\ngot, but not expected: {}",
            only(&expected.1, &faults),
            only(&faults, &expected.1)
        )
    });
    of_data.into_iter().chain(of_errors).reduce(|data, errors| format!("{data}\n{errors}"))
}

/// The errors of a response, sorted.
pub fn faults(response: &Value) -> Vec<Fault> {
    let fault = |error: &Value| {
        let place = |name: &str| error["locations"][0][name].as_u64().unwrap_or(0) as usize;
        let code = error["extensions"]["code"].as_str().unwrap_or_default().to_owned();
        Fault { path: error["path"].to_string(), code, line: place("line"), column: place("column") }
    };
    let mut faults: Vec<Fault> = response["errors"].as_array().into_iter().flatten().map(fault).collect();
    faults.sort();
    faults
}

fn data_differs(expected: &Value, is: &Value, cursors: &mut Cursors, at: &str) -> Option<String> {
    match (expected, is) {
        (Value::Object(place), Value::String(cursor)) if place.len() == 1 && place.contains_key("cursor") => {
            let noted = cursors.note(cursor, place["cursor"].as_str()?);
            noted.err().map(|message| format!("{at}: {message}"))
        }
        (Value::Object(expected), Value::Object(is)) => {
            if expected.keys().ne(is.keys()) {
                return Some(format!("{at}: other fields, or in another order"));
            }
            expected.iter().find_map(|(name, value)| data_differs(value, &is[name], cursors, &format!("{at}.{name}")))
        }
        (Value::Array(expected), Value::Array(is)) => {
            let mut pairs = expected.iter().zip(is).enumerate();
            let first = pairs.find_map(|(position, (expected, is))| {
                data_differs(expected, is, cursors, &format!("{at}[{position}]"))
            });
            first.or_else(|| {
                (expected.len() != is.len()).then(|| format!("{at}: {} elements, not {}", is.len(), expected.len()))
            })
        }
        _ => (expected != is).then(|| format!("{at}: {is}, not {expected}")),
    }
}
