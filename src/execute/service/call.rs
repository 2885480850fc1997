//! A call of a service as plain data, and the trait of whatever makes it.

use crate::schema::model::service::{Secret, Service};
use futures_util::future::BoxFuture;
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::{Debug, Display, Formatter};
use std::sync::Arc;

/// A service gets this, as JSON in the body of a request.
#[derive(Debug, Clone, Serialize)]
pub struct ServiceRequest {
    /// The coordinate of the field: `Order.total`.
    pub field: String,
    /// The claims of the caller that the service gets; `None` if there are none.
    pub caller: Option<Map<String, Value>>,
    /// The field's arguments, if it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<String, Value>>,
    /// The key of a mutation's call: the same in every attempt, and when the client sends its request again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What is asked for instead of the call of this key, because the write was not made: `refund`. It may have been
    /// asked for before, and the call may never have arrived: then none of this key is made any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What the field requires of each object, as JSON, in the order of the results.
    #[serde(skip)]
    pub items: Vec<Arc<str>>,
    /// The W3C trace context (`traceparent`) of the request, if it is traced.
    #[serde(skip)]
    pub trace: Option<String>,
    /// The token of the caller, if the service gets it (`forwardToken: true`) and the caller has one. No log shows it.
    #[serde(skip)]
    pub token: Option<Arc<Secret>>,
}

impl ServiceRequest {
    /// The items as values.
    pub fn values(&self) -> Vec<Value> {
        self.items.iter().map(|item| serde_json::from_str(item).unwrap_or_default()).collect()
    }

    /// The call as JSON, whose items are the texts that they are.
    pub fn to_json(&self) -> serde_json::Result<String> {
        let mut text = serde_json::to_string(self)?;
        // It has the name of its field at least, so a comma follows.
        text.pop();
        text.push_str(",\"items\":[");
        text.push_str(&self.items.join(","));
        text.push_str("]}");
        Ok(text)
    }
}

/// What a service answers.
#[derive(Debug, Clone, Default)]
pub struct ServiceAnswer {
    /// A result for each item, in the items' order.
    pub results: Vec<ServiceResult>,
    /// How many bytes the answer has, about.
    pub bytes: usize,
}

/// The value for an item, or why there is none.
pub type ServiceResult = Result<Value, RefusedItem>;

/// Why a service has no value for an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedItem {
    /// The service's own code, for programs: `DECLINED`.
    pub code: String,
    /// One sentence for the caller.
    pub message: String,
}

/// Why a call failed as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceError {
    /// What failed.
    pub kind: ServiceErrorKind,
    /// The cause, for the log.
    pub detail: String,
}

/// Kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServiceErrorKind {
    /// It cannot be reached, or says that it failed.
    Unavailable,
    /// It does not answer in time.
    Timeout,
    /// It refuses the call.
    Refused,
    /// Its answer has too many bytes.
    TooLarge,
    /// Its answer is not what it should be.
    Unreadable,
}

impl ServiceErrorKind {
    /// The kind in a word, for metrics and the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unavailable => "unavailable",
            Self::Timeout => "timeout",
            Self::Refused => "refused",
            Self::TooLarge => "too_large",
            Self::Unreadable => "unreadable",
        }
    }
}

impl Display for ServiceErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Makes the calls of a service: over HTTP, or by code of the program. It has no bounds of its own: time, calls in
/// flight and attempts are the caller's.
pub trait ServiceCaller: Send + Sync {
    /// Makes a call once.
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>>;
}

/// Finds what makes the calls of a service.
pub trait ServiceConnector: Send + Sync {
    /// What makes the calls of this service; `None` if nothing does.
    fn connect(&self, service: &Service) -> Option<Arc<dyn ServiceCaller>>;
}

impl Debug for dyn ServiceConnector {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceConnector")
    }
}

impl Debug for dyn ServiceCaller {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServiceCaller")
    }
}

impl ServiceError {
    /// An error of a kind.
    pub fn new(kind: ServiceErrorKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}
