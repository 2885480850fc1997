//! The known differences between the model and other implementations, each with its reason.

use crate::laws::random_items::BEGIN;
use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::number::Number;
use crate::store::data::table::Table;
use serde_json::Value;

/// A call with the essence of the model's answer and of another implementation's.
pub struct Answers<'a> {
    pub operation: &'a str,
    pub body: &'a Value,
    pub ours: &'a Value,
    pub theirs: &'a Value,
    /// The message of the model's refusal.
    pub message: &'a str,
}

/// A difference: who differs, why, and in which answers.
struct Difference {
    peer: &'static str,
    /// What DynamoDB does, and what the other implementation does.
    reason: &'static str,
    shows: fn(&Answers<'_>) -> bool,
}

const DIFFERENCES: &[Difference] = &[
    Difference {
        peer: "the engine",
        reason: "A request that is wrong and has a token of another one: DynamoDB does not say which it says first.",
        shows: |answers| {
            is_invalid(answers.ours) && answers.theirs["refused"] == "IdempotentParameterMismatchException"
        },
    },
    Difference {
        peer: "the engine",
        reason: "A request that is wrong and names no table that is there: either may be said first.",
        shows: |answers| {
            answers.body["TableName"] == "missing" && !is_answered(answers.ours) && !is_answered(answers.theirs)
        },
    },
    Difference {
        peer: "the engine",
        reason: "A transaction that was made before costs the reading of its items: as they are now, in the model, or \
                 as they were, in the engine.",
        shows: |answers| {
            answers.operation == "TransactWriteItems"
                && answers.body["ClientRequestToken"].is_string()
                && without(answers.ours, "ConsumedCapacity") == without(answers.theirs, "ConsumedCapacity")
        },
    },
    Difference {
        peer: "the engine",
        reason: "UPDATED_NEW gives the updated elements of a list. The engine may give the whole list.",
        shows: |answers| {
            let is_of_element = answers.body["UpdateExpression"].as_str().is_some_and(|text| text.contains('['));
            let returns = answers.body["ReturnValues"].as_str().unwrap_or_default();
            is_of_element && returns.starts_with("UPDATED") && is_answered(answers.ours) && is_answered(answers.theirs)
        },
    },
    Difference {
        peer: "the engine",
        reason: "Keys with equal numbers are one key. The engine compares their texts, such as 100 and 1E2, in a \
                 batch.",
        shows: |answers| answers.operation == "BatchGetItem" && answers.message.contains("contains duplicates"),
    },
    Difference {
        peer: "moto",
        reason: "moto checks less of a request.",
        shows: |answers| is_invalid(answers.ours) || answers.ours.to_string().contains("ValidationError"),
    },
    Difference {
        peer: "moto",
        reason: "moto fails, with a status of 500, at many calls that are unusual.",
        shows: |answers| {
            let is_failure = answers.theirs["refused"] == "none" || answers.theirs.to_string().contains("ValueError");
            is_failure || answers.operation == "Scan" && answers.body.to_string().contains("size(")
        },
    },
    Difference {
        peer: "moto",
        reason: "Items with one key of an index are in no order that DynamoDB promises. moto has another one.",
        shows: |answers| {
            let is_of_index = answers.operation == "Query" && answers.body["IndexName"].is_string();
            let is_later = answers.body["ExclusiveStartKey"].is_object();
            is_of_index && (is_later || answers.ours["Count"] == answers.theirs["Count"])
        },
    },
    Difference {
        peer: "moto",
        reason: "An attribute that is not there equals nothing. moto takes it for a null, and finds two of them equal.",
        shows: |answers| {
            let compares = |text: &str| [" = #n", " <> #n", " <= #n", " >= #n"].iter().any(|sign| text.contains(sign));
            let text = answers.body.to_string();
            text.contains(r#"{"NULL":true}"#) || compares(&text)
        },
    },
    Difference {
        peer: "moto",
        reason: "Binaries are in the order of their bytes. moto takes that of their texts in Base64.",
        shows: |answers| answers.body.to_string().contains(r#"{"B":"#),
    },
    Difference {
        peer: "moto",
        reason: "Types have no order among each other. moto orders truths and numbers, and an empty text is nothing.",
        shows: |answers| {
            let expressions = ["ConditionExpression", "FilterExpression"].map(|name| answers.body[name].to_string());
            let has_order = |text: &String| [" < ", " <= ", " > ", " >= "].iter().any(|sign| text.contains(sign));
            expressions.iter().any(has_order) || answers.body.to_string().contains(r#"{"S":""}"#)
        },
    },
    Difference {
        peer: "moto",
        reason: "UPDATED_OLD and UPDATED_NEW give the updated attributes. moto guesses which these are.",
        shows: |answers| {
            let returns = answers.body["ReturnValues"].as_str().unwrap_or_default();
            returns.starts_with("UPDATED") && is_answered(answers.ours) && is_answered(answers.theirs)
        },
    },
    Difference {
        peer: "moto",
        reason: "A page that ends at its limit has a last key. moto has none if nothing follows.",
        shows: |answers| {
            let (ours, theirs) =
                (without(answers.ours, "LastEvaluatedKey"), without(answers.theirs, "LastEvaluatedKey"));
            let is_last = answers.theirs.get("LastEvaluatedKey").is_none();
            is_last && without(&ours, "ConsumedCapacity") == without(&theirs, "ConsumedCapacity")
        },
    },
    Difference {
        peer: "moto",
        reason: "A token belongs to one transaction for ten minutes. moto knows no tokens.",
        shows: |answers| answers.body["ClientRequestToken"].is_string() && answers.operation == "TransactWriteItems",
    },
    Difference {
        peer: "moto",
        reason: "moto takes the name before an index for unused.",
        shows: |answers| is_invalid(answers.theirs) && answers.body.to_string().contains('['),
    },
    Difference {
        peer: "moto",
        reason: "What is wrong with one action of a transaction is among its reasons. moto refuses the request for it.",
        shows: |answers| {
            let is_transaction = answers.operation == "TransactWriteItems";
            is_transaction && !is_answered(answers.ours) && !is_answered(answers.theirs)
        },
    },
    Difference {
        peer: "moto",
        reason: "moto does not count units as DynamoDB does.",
        shows: |answers| without(answers.ours, "ConsumedCapacity") == without(answers.theirs, "ConsumedCapacity"),
    },
    Difference {
        peer: "the engine",
        reason: "An update of a missing item has no old attributes. The engine gives the key for ALL_OLD.",
        shows: |answers| {
            answers.operation == "UpdateItem"
                && answers.body["ReturnValues"] == "ALL_OLD"
                && answers.ours.get("Attributes").is_none()
                && without(answers.theirs, "Attributes") == *answers.ours
        },
    },
    Difference {
        peer: "the engine",
        reason: "The bounds of a BETWEEN are in order in any expression. The engine looks only at those of single \
                 writes.",
        shows: |answers| answers.message.contains("The BETWEEN operator requires") && !is_invalid(answers.theirs),
    },
    Difference {
        peer: "the engine",
        reason: "A value that is compared by its order is a text, a number or a binary. The engine takes any.",
        shows: |answers| {
            let is_said = answers.message.contains("Incorrect operand type for operator or function; operator: ");
            is_said && !is_invalid(answers.theirs)
        },
    },
    Difference {
        peer: "the engine",
        reason: "No update changes the key, whatever its condition. The engine looks at the condition first, and not \
                 at all in a transaction.",
        shows: |answers| answers.message.contains("This attribute is part of the key") && !is_invalid(answers.theirs),
    },
    Difference {
        peer: "the engine",
        reason: "A page begins after the starting key. In a table without a sort key, the engine begins with it again.",
        shows: |answers| {
            answers.operation == "Query"
                && answers.body["TableName"] == "counters"
                && answers.body["ExclusiveStartKey"].is_object()
        },
    },
];

/// What is wrong with requests that the engine takes: DynamoDB refuses a type that does not exist, a comparison of a
/// path with itself, an empty key, and attributes that a global index does not have.
pub const TAKEN_BY_THE_ENGINE: [&str; 4] =
    ["an unknown type", "a path with itself", "an empty partition", "what the index has not"];

/// Whether a record of a stream is none: "If you perform a PutItem or UpdateItem operation that does not change any
/// data in an item, DynamoDB Streams does not write a stream record" (developer guide). The engine and moto do.
pub fn is_no_change(record: &Value) -> bool {
    record["old"] == record["new"]
}

/// Whether a sweep has left an item that expired before the first call. The model leaves those that expired five years
/// ago: they "are not deleted" (developer guide, "Using time to live (TTL) in DynamoDB"). The engine deletes them.
pub fn has_expired_long_ago(table: &Table) -> bool {
    let begin = Number::parse(&BEGIN.to_string()).unwrap();
    let is_old = |item: &Item| matches!(item.get("expires"), Some(Attribute::N(time)) if *time < begin);
    table.keys().filter_map(|key| table.item(key)).any(is_old)
}

/// Whether the two answers to a call may differ.
pub fn is_known(peer: &str, answers: &Answers<'_>) -> bool {
    DIFFERENCES.iter().any(|known| known.peer == peer && !known.reason.is_empty() && (known.shows)(answers))
}

fn is_answered(answer: &Value) -> bool {
    answer.get("refused").is_none()
}

fn is_invalid(answer: &Value) -> bool {
    answer["refused"] == "ValidationException"
}

fn without(answer: &Value, member: &str) -> Value {
    let mut answer = answer.clone();
    if let Some(members) = answer.as_object_mut() {
        members.shift_remove(member);
    }
    answer
}
