//! A gate that the copies of a world do without: their calls in, the calls that they would make without it out. So a
//! check that nothing breaks without is no check.

use serde_json::{Map, Value};

/// Something that keeps data right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenGate {
    /// A write of one item is not sent again if its answer is lost.
    LostAnswers,
    /// The condition of a single write.
    Conditions,
    /// The condition of an action in a transaction.
    TransactionConditions,
    /// The check of an item that a transaction does not write.
    Checks,
    /// One token for all attempts of a transaction.
    Tokens,
    /// A guard is put only if there is none of another item.
    Guards,
    /// What is read to be written, or read consistently, is read as it is now.
    ConsistentReads,
    /// What was deleted with its dependents has no dependents that came in meanwhile.
    Sweeps,
    /// Changes are followed from a position on. Without it, a copy that begins leaves out what is older by the clock of
    /// the stream.
    StreamPositions,
    /// What rules hide is not shown. Without it, a copy serves the schema without its rules.
    Rules,
    /// All replicas of an item are written together.
    Replicas,
    /// What is written together is written together: without it, the last action of a transaction is left out.
    Atomicity,
}

/// Every gate, with its name.
pub const GATES: [(&str, TakenGate); 12] = [
    ("lost-answers", TakenGate::LostAnswers),
    ("conditions", TakenGate::Conditions),
    ("transaction-conditions", TakenGate::TransactionConditions),
    ("checks", TakenGate::Checks),
    ("tokens", TakenGate::Tokens),
    ("guards", TakenGate::Guards),
    ("consistent-reads", TakenGate::ConsistentReads),
    ("sweeps", TakenGate::Sweeps),
    ("stream-positions", TakenGate::StreamPositions),
    ("rules", TakenGate::Rules),
    ("replicas", TakenGate::Replicas),
    ("atomicity", TakenGate::Atomicity),
];

impl TakenGate {
    /// The body of a call without the gate.
    pub fn without(self, target: &str, body: &Value) -> Value {
        let operation = target.rsplit('.').next().unwrap_or_default();
        let mut body = body.clone();
        match (self, operation) {
            (Self::Conditions, "PutItem" | "UpdateItem" | "DeleteItem") => {
                body.as_object_mut().into_iter().for_each(drop_condition);
            }
            (Self::Tokens, "TransactWriteItems") => {
                body.as_object_mut().into_iter().for_each(|members| _ = members.remove("ClientRequestToken"));
            }
            (Self::TransactionConditions, "TransactWriteItems") => {
                actions(&mut body)
                    .filter(|(kind, action)| *kind != "ConditionCheck" && !is_guard(action))
                    .for_each(|(_, action)| drop_condition(action));
            }
            (Self::Guards, "TransactWriteItems") => {
                actions(&mut body)
                    .filter(|(_, action)| is_guard(action))
                    .for_each(|(_, action)| drop_condition(action));
            }
            (Self::Checks, "TransactWriteItems") => {
                let list = body["TransactItems"].as_array_mut();
                list.into_iter().for_each(|actions| actions.retain(|action| action.get("ConditionCheck").is_none()));
            }
            (Self::Replicas, "TransactWriteItems") => {
                let list = body["TransactItems"].as_array_mut();
                list.into_iter().for_each(|actions| actions.retain(|action| !is_second_replica(action)));
            }
            (Self::Atomicity, "TransactWriteItems") => {
                let list = body["TransactItems"].as_array_mut().filter(|actions| actions.len() > 1);
                list.into_iter().for_each(|actions| _ = actions.pop());
            }
            (Self::ConsistentReads, "GetItem" | "Query") => {
                body.as_object_mut().into_iter().for_each(|members| _ = members.remove("ConsistentRead"));
            }
            (Self::ConsistentReads, "BatchGetItem") => {
                let tables = body["RequestItems"].as_object_mut().into_iter().flat_map(Map::values_mut);
                tables.filter_map(Value::as_object_mut).for_each(|table| _ = table.remove("ConsistentRead"));
            }
            _ => {}
        }
        body
    }

    /// What the copy, which began at this time in milliseconds since 1970, sees of an answer.
    pub fn changed(self, target: &str, begun: u64, mut answer: Value) -> Value {
        if self == Self::StreamPositions
            && let Some(records) = answer["Records"].as_array_mut()
        {
            let made = |record: &Value| record["dynamodb"]["ApproximateCreationDateTime"].as_f64();
            records.retain(|record| made(record).is_none_or(|made| made * 1000.0 >= begun as f64));
        }
        // Who looks for dependents finds none.
        if self == Self::Sweeps && target.ends_with(".Query") {
            answer["Items"] = Value::Array(Vec::new());
            answer["Count"] = 0.into();
        }
        answer
    }
}

/// The actions of a transaction, each with its kind.
fn actions(body: &mut Value) -> impl Iterator<Item = (&str, &mut Map<String, Value>)> {
    let list = body["TransactItems"].as_array_mut().into_iter().flatten();
    let members = list.filter_map(Value::as_object_mut).flatten();
    members.filter_map(|(kind, action)| Some((kind.as_str(), action.as_object_mut()?)))
}

/// Whether an action of a transaction is on the second replica of a poster.
fn is_second_replica(action: &Value) -> bool {
    let members = action.as_object().into_iter().flat_map(Map::values);
    members
        .filter_map(|action| action.get("Item").or_else(|| action.get("Key")))
        .any(|key| key["PK"]["S"] == "POSTER#w#1")
}

fn is_guard(action: &Map<String, Value>) -> bool {
    let key = action.get("Item").or_else(|| action.get("Key"));
    key.and_then(|key| key["PK"]["S"].as_str()).is_some_and(|partition| partition.starts_with("Unique#"))
}

/// Removes the condition, and the names and values that only it uses.
fn drop_condition(action: &mut Map<String, Value>) {
    if action.remove("ConditionExpression").is_none() {
        return;
    }
    let expressions = ["UpdateExpression", "ProjectionExpression", "KeyConditionExpression"];
    let used: String = expressions.iter().filter_map(|name| action.get(*name)?.as_str()).collect::<Vec<_>>().join(" ");
    for list in ["ExpressionAttributeNames", "ExpressionAttributeValues"] {
        let Some(placeholders) = action.get_mut(list).and_then(Value::as_object_mut) else { continue };
        placeholders.retain(|name, _| is_used(&used, name));
        if placeholders.is_empty() {
            action.remove(list);
        }
    }
}

/// Whether an expression has the placeholder as a whole word.
fn is_used(expressions: &str, placeholder: &str) -> bool {
    expressions.match_indices(placeholder).any(|(at, _)| {
        !expressions[at + placeholder.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_')
    })
}
