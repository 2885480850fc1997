//! Calls to the embedded store in, a list of them out, which golden tests compare. Must not know what they mean.

use serde_json::{Map, Value};
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};

/// Observes every call to the embedded store.
pub trait CallObserver: Debug + Send + Sync {
    /// A call begins: the operation (`GetItem` …) and its JSON, as it is sent to a server.
    fn begun(&self, operation: &str, body: &[u8]);

    /// A call of a client was answered: the operation, its JSON and the JSON of the answer, also of a refusal. The
    /// engine itself answers without JSON.
    fn answered(&self, _operation: &str, _body: &[u8], _answer: &[u8]) {}
}

/// Keeps every call, in the order in which they began. It grows without bound: for tests.
#[derive(Debug, Default)]
pub struct Recorder {
    calls: Mutex<Vec<(String, Value)>>,
}

impl Recorder {
    /// Takes the calls kept so far: operation and body, with the body's names sorted, because the SDK writes them in no
    /// fixed order.
    pub fn take(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *self.calls.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl CallObserver for Recorder {
    fn begun(&self, operation: &str, body: &[u8]) {
        let body = sorted(body);
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push((operation.to_owned(), body));
    }
}

/// A body with its names sorted, because the SDK and the engine write them in no fixed order; null if it is not JSON.
pub fn sorted(body: &[u8]) -> Value {
    serde_json::from_slice(body).map_or(Value::Null, in_order)
}

fn in_order(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(in_order).collect(),
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.into_iter().map(|(name, value)| (name, in_order(value))).collect();
            members.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(members.into_iter().collect::<Map<_, _>>())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_and_lists_are_not() {
        let recorder = Recorder::default();
        recorder.begun("Query", br#"{"b": [{"z": 1, "a": 2}, 3, 1], "a": null}"#);
        recorder.begun("Scan", b"no JSON");
        let calls: Vec<String> =
            recorder.take().iter().map(|(operation, body)| format!("{operation} {body}")).collect();
        assert_eq!(calls, [r#"Query {"a":null,"b":[{"a":2,"z":1},3,1]}"#, "Scan null"]);
        assert!(recorder.take().is_empty());
    }
}
