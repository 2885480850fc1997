//! What DynamoDB refuses in; the HTTP status and the JSON body of the refusal out (developer guide, "Error handling
//! with DynamoDB").

use serde_json::{Map, Value, json};

/// The result of a call, or of a part of one.
pub type Answer<T> = Result<T, ModelError>;

/// A refusal.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelError {
    /// The name of the exception.
    pub code: &'static str,
    pub message: String,
    /// The item of a failed condition, if the request wants it.
    pub item: Option<Box<Value>>,
    /// Of a canceled transaction: one for each of its actions, in their order.
    pub cancellation_reasons: Vec<Reason>,
}

/// Why an action of a transaction was refused; its code is `None` if it was not.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    pub code: &'static str,
    pub message: Option<String>,
    pub item: Option<Value>,
}

impl Reason {
    /// The action is not why the transaction was canceled.
    pub fn none() -> Self {
        Self { code: "None", message: None, item: None }
    }

    /// Another transaction is at work on the item.
    pub fn conflict() -> Self {
        let message = Some("Transaction is ongoing for the item".to_owned());
        Self { code: "TransactionConflict", message, item: None }
    }

    fn body(&self) -> Value {
        let mut body = Map::from_iter([("Code".to_owned(), json!(self.code))]);
        body.extend(self.message.iter().map(|message| ("Message".to_owned(), json!(message))));
        body.extend(self.item.iter().map(|item| ("Item".to_owned(), item.clone())));
        Value::Object(body)
    }
}

impl From<ModelError> for Reason {
    /// A transaction names some refusals otherwise (API reference, `TransactWriteItems`).
    fn from(refused: ModelError) -> Self {
        let code = match refused.code {
            "ConditionalCheckFailedException" => "ConditionalCheckFailed",
            "ValidationException" => "ValidationError",
            other => other,
        };
        Self { code, message: Some(refused.message), item: refused.item.map(|item| *item) }
    }
}

impl ModelError {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), item: None, cancellation_reasons: Vec::new() }
    }

    /// The request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new("ValidationException", message)
    }

    /// A parameter of the request is wrong.
    pub fn parameters(message: &str) -> Self {
        Self::invalid(format!("One or more parameter values were invalid: {message}"))
    }

    /// The request has the wrong form.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new("SerializationException", message)
    }

    /// A table, a stream or a shard is not there.
    pub fn missing(message: impl Into<String>) -> Self {
        Self::new("ResourceNotFoundException", message)
    }

    /// A condition does not hold of the item, which is given if the request wants it.
    pub fn condition(item: Option<Value>) -> Self {
        Self {
            item: item.map(Box::new),
            ..Self::new("ConditionalCheckFailedException", "The conditional request failed")
        }
    }

    /// The actions of a transaction are refused for these reasons.
    pub fn canceled(reasons: Vec<Reason>) -> Self {
        let codes: Vec<&str> = reasons.iter().map(|reason| reason.code).collect();
        let message = "Transaction cancelled, please refer cancellation reasons for specific reasons";
        let message = format!("{message} [{}]", codes.join(", "));
        Self { cancellation_reasons: reasons, ..Self::new("TransactionCanceledException", message) }
    }

    /// The table is busy: what a world may answer in place of the store.
    pub fn throttled() -> Self {
        let message = "The level of configured provisioned throughput for the table was exceeded.";
        Self::new("ProvisionedThroughputExceededException", message)
    }

    /// The server failed: what a world may answer in place of the store, or after it.
    pub fn failed() -> Self {
        Self::new("InternalServerError", "Internal server error")
    }

    /// The status and the body of the HTTP answer.
    pub fn http(&self) -> (u16, Value) {
        let space = match self.code {
            "ValidationException" | "ThrottlingException" => "com.amazon.coral.validate",
            "SerializationException" | "UnknownOperationException" => "com.amazon.coral.service",
            _ => "com.amazonaws.dynamodb.v20120810",
        };
        let mut body = Map::from_iter([("__type".to_owned(), json!(format!("{space}#{}", self.code)))]);
        // The message of a canceled transaction has a capital letter.
        let is_canceled = self.code == "TransactionCanceledException";
        body.insert(if is_canceled { "Message" } else { "message" }.to_owned(), json!(self.message));
        if is_canceled {
            body.insert("CancellationReasons".to_owned(), self.cancellation_reasons.iter().map(Reason::body).collect());
        }
        body.extend(self.item.iter().map(|item| ("Item".to_owned(), Value::clone(item))));
        (if self.code == "InternalServerError" { 500 } else { 400 }, Value::Object(body))
    }
}
