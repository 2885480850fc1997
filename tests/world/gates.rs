//! A gate that the copies of a world do without: their calls in, the calls that they would make without it out. So a
//! check that nothing breaks without is no check.

use crate::clauses;
use crate::sent::is_code;
use bytes::Bytes;
use serde_json::{Map, Value, json};

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
    /// An update of an item that is there writes the index keys of the fields that it changes.
    IndexKeys,
    /// An upsert writes the index keys of the item that it may make.
    NewIndexKeys,
    /// An upsert makes the defaults that an item lacks.
    MissingDefaults,
    /// What an upsert leaves as it is, because the item had it when it was read, is still there.
    KeptFields,
    /// An upsert makes a default only if the item still lacks it.
    FilledFields,
    /// All items of `many: true` are written together: without it, only the first half is.
    Many,
    /// A generated value is the same in all attempts of a write.
    Generated,
    /// Root fields are written one after another. Without it, a copy writes them all at once.
    RootFields,
    /// A mutation goes on when its client leaves.
    Leaving,
    /// A busy table is asked until the deadline. Without it, a request has 50 ms.
    Retries,
    /// Retries are bounded for all requests together. Without it, each request has a store of its own.
    Budget,
    /// What is kept is not served once it is too old. Without it, a copy has a schema that lets it be.
    CacheAge,
    /// A write drops what is kept of what it touches. Without it, mutations go another way than queries.
    CacheDrops,
    /// A message on the bus says which record it follows. Without it, each follows whatever its hearer has had.
    MessagePlaces,
    /// The lease of a copy that is gone lapses. Without it, no other copy takes it.
    LeaseLapse,
    /// What an update makes in an item, because it was missing when it was read, still is.
    MadePlaces,
    /// A request with a key is written only if it has no record.
    Records,
    /// The record of a request is its caller's.
    RecordOwners,
}

/// Every gate, with its name.
pub const GATES: [(&str, TakenGate); 30] = [
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
    ("index-keys", TakenGate::IndexKeys),
    ("new-index-keys", TakenGate::NewIndexKeys),
    ("missing-defaults", TakenGate::MissingDefaults),
    ("kept-fields", TakenGate::KeptFields),
    ("filled-fields", TakenGate::FilledFields),
    ("many", TakenGate::Many),
    ("generated", TakenGate::Generated),
    ("root-fields", TakenGate::RootFields),
    ("leaving", TakenGate::Leaving),
    ("retries", TakenGate::Retries),
    ("budget", TakenGate::Budget),
    ("cache-age", TakenGate::CacheAge),
    ("cache-drops", TakenGate::CacheDrops),
    ("message-places", TakenGate::MessagePlaces),
    ("lease-lapse", TakenGate::LeaseLapse),
    ("made-places", TakenGate::MadePlaces),
    ("records", TakenGate::Records),
    ("record-owners", TakenGate::RecordOwners),
];

impl TakenGate {
    /// The seed where the search for a world that misses the gate begins. Few worlds miss these gates, so it begins a
    /// little before the first one that does. If worlds change, the search goes on from there.
    pub fn first_seed(self) -> u64 {
        match self {
            Self::Tokens => 155,
            Self::MissingDefaults | Self::KeptFields => 260,
            Self::Budget => 175,
            Self::CacheAge => 350,
            Self::CacheDrops => 220,
            Self::MessagePlaces => 228,
            Self::MadePlaces => 75,
            _ => 0,
        }
    }

    /// The body of a call without the gate. Its step has made so many calls of this kind before.
    pub fn without(self, target: &str, body: &Value, calls: u64) -> Value {
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
            (Self::Many, "TransactWriteItems") => {
                let list = body["TransactItems"].as_array_mut().filter(|actions| actions.iter().all(is_page));
                list.into_iter().for_each(|actions| actions.truncate(actions.len().div_ceil(2)));
            }
            (Self::IndexKeys | Self::NewIndexKeys, "UpdateItem") => {
                let is_upsert = !body["ConditionExpression"].as_str().is_some_and(demands_item);
                if is_upsert == (self == Self::NewIndexKeys) {
                    body.as_object_mut().into_iter().for_each(drop_index_keys);
                }
            }
            (Self::MissingDefaults, "UpdateItem") => {
                let is_present = body["ConditionExpression"].as_str().is_some_and(demands_item);
                let members = body.as_object_mut().filter(|members| is_present && is_on(members, "BOOK#"));
                members.into_iter().for_each(|members| change_defaults(members, false));
            }
            (Self::FilledFields, "UpdateItem") => {
                let members = body.as_object_mut().filter(|members| is_on(members, "TICKET#"));
                members.into_iter().for_each(|members| change_defaults(members, true));
            }
            (Self::Generated, "PutItem" | "UpdateItem") => change_codes(&mut body, calls),
            (Self::Generated, "TransactWriteItems") => {
                // A token ends with the number of the draft, whose attempts are one to the table.
                let token = body["ClientRequestToken"].as_str().unwrap_or_default();
                let draft = token.get(token.len().saturating_sub(4)..).and_then(|digits| digits.parse().ok());
                change_codes(&mut body, draft.unwrap_or_default());
            }
            (Self::MadePlaces, "UpdateItem") => {
                let members = body.as_object_mut().filter(|members| is_on(members, "POLL#"));
                members.into_iter().for_each(drop_absences);
            }
            (Self::Records, "TransactWriteItems") => {
                actions(&mut body)
                    .filter(|(_, action)| is_record(action))
                    .for_each(|(_, action)| drop_condition(action));
            }
            (Self::RecordOwners, "TransactWriteItems") => share_record(&mut body),
            (Self::KeptFields, "UpdateItem") => body.as_object_mut().into_iter().for_each(drop_kept_fields),
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

    /// What a copy says on the bus without the gate.
    pub fn said(self, message: Bytes) -> Bytes {
        let Some(end) = message.iter().position(|byte| *byte == b'\n').filter(|_| self == Self::MessagePlaces) else {
            return message;
        };
        let mut head: Value = serde_json::from_slice(&message[..end]).unwrap();
        head["after"] = "0".into();
        [head.to_string().as_bytes(), &message[end..]].concat().into()
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
    partition_of(action).is_some_and(|partition| partition.starts_with("Unique#"))
}

fn is_record(action: &Map<String, Value>) -> bool {
    partition_of(action).is_some_and(|partition| partition.starts_with("Idempotent#"))
}

fn partition_of(action: &Map<String, Value>) -> Option<&str> {
    action.get("Item").or_else(|| action.get("Key"))?["PK"]["S"].as_str()
}

/// Gives the record of a transaction that puts a receipt the key that the receipt names, whoever calls.
fn share_record(body: &mut Value) {
    let receipt =
        |(_, action): (&str, &mut Map<String, Value>)| action.get("Item")?["key"]["S"].as_str().map(str::to_owned);
    let Some(key) = actions(body).find_map(receipt) else { return };
    for (_, record) in actions(body).filter(|(_, action)| is_record(action)) {
        record["Item"]["PK"] = json!({ "S": format!("Idempotent#Mutation.buy#{key}") });
    }
}

/// Demands nothing where the condition demands that something is missing.
fn drop_absences(members: &mut Map<String, Value>) {
    const ABSENCE: &str = "attribute_not_exists(";
    let Some(condition) = members.get("ConditionExpression").and_then(Value::as_str) else { return };
    let names = members.get("ExpressionAttributeNames").and_then(Value::as_object).into_iter().flatten();
    let Some((partition, _)) = names.into_iter().find(|(_, name)| *name == "PK") else { return };
    let mut parts = condition.split(ABSENCE);
    let mut left = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let after = part.split_once(')').map_or("", |(_, after)| after);
        left.push_str(&format!("attribute_exists({partition}){after}"));
    }
    members.insert("ConditionExpression".to_owned(), left.into());
    drop_unused(members);
}

/// Removes the condition, and the names and values that only it uses.
fn drop_condition(action: &mut Map<String, Value>) {
    if action.remove("ConditionExpression").is_none() {
        return;
    }
    drop_unused(action);
}

/// Removes the names and values that no expression uses.
fn drop_unused(action: &mut Map<String, Value>) {
    let expressions = ["UpdateExpression", "ProjectionExpression", "KeyConditionExpression", "ConditionExpression"];
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

/// The attributes that are keys of indexes.
const INDEX_KEYS: [&str; 2] = ["ShelfKey", "WornKey"];

/// Whether an action of a transaction is on a page of an album.
fn is_page(action: &Value) -> bool {
    let mut members = action.as_object().into_iter().flat_map(Map::values);
    members.any(|action| action["Key"]["PK"]["S"].as_str().is_some_and(|partition| partition.starts_with("ALBUM#")))
}

/// Whether a call is on an item in such a partition.
fn is_on(members: &Map<String, Value>, prefix: &str) -> bool {
    let partition = members.get("Key").and_then(|key| key["PK"]["S"].as_str());
    partition.is_some_and(|partition| partition.starts_with(prefix))
}

/// Makes the generated values of a call those of this attempt; the first one has those that it has.
fn change_codes(value: &mut Value, attempt: u64) {
    match value {
        Value::String(text) if attempt > 0 && is_code(text) => {
            text.replace_range(24.., &format!("{attempt:012}"));
        }
        Value::Object(members) => members.values_mut().for_each(|member| change_codes(member, attempt)),
        Value::Array(elements) => elements.iter_mut().for_each(|element| change_codes(element, attempt)),
        _ => {}
    }
}

/// Whether the condition of an update holds only of an item that is there.
fn demands_item(condition: &str) -> bool {
    condition.contains("attribute_exists")
}

/// Leaves index keys out of an update.
fn drop_index_keys(members: &mut Map<String, Value>) {
    let names = members.get("ExpressionAttributeNames").cloned().unwrap_or_default();
    change_actions(members, |action| {
        let path = action.split([' ', '=']).next().unwrap_or_default();
        let name = names[path].as_str().unwrap_or(path);
        (!INDEX_KEYS.contains(&name)).then(|| action.to_owned())
    });
}

/// Leaves out what an update sets only if it is not there, or sets it whatever is there.
fn change_defaults(members: &mut Map<String, Value>, overwrites: bool) {
    change_actions(members, |action| {
        let default = action.split_once("if_not_exists(").and_then(|(path, rest)| {
            let (_, value) = rest.split_once(',')?;
            Some(format!("{path}{}", value.trim().strip_suffix(')')?))
        });
        match default {
            Some(set) => overwrites.then_some(set),
            None => Some(action.to_owned()),
        }
    });
}

/// Leaves out of the condition of an update that other attributes than the key are there.
fn drop_kept_fields(members: &mut Map<String, Value>) {
    let Some(condition) = members.get("ConditionExpression").and_then(Value::as_str) else { return };
    let names = members.get("ExpressionAttributeNames").cloned().unwrap_or_default();
    let is_kept = |part: &&str| {
        let path = part.strip_prefix("attribute_exists(").and_then(|rest| rest.strip_suffix(')'));
        path.is_some_and(|path| names[path] != "PK")
    };
    let left: Vec<&str> = condition.split(" AND ").filter(|part| !is_kept(part)).collect();
    members.insert("ConditionExpression".to_owned(), left.join(" AND ").into());
    drop_unused(members);
}

/// Changes the actions of an update. One that is left without any is left as it is, because it would be no update.
fn change_actions(members: &mut Map<String, Value>, change: impl Fn(&str) -> Option<String>) {
    let Some(expression) = members.get("UpdateExpression").and_then(Value::as_str) else { return };
    let changed = clauses::changed(expression, change);
    if !changed.is_empty() {
        members.insert("UpdateExpression".to_owned(), changed.into());
        drop_unused(members);
    }
}
