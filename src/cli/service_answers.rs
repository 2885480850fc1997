//! The text of `services/<name>.json` in; the answers that it has for the items of calls out. Must not know files.
//!
//! It holds the answers of a service by field. The first whose `when` is part of the item is the item's answer:
//!
//! ```json
//! { "Order.total": [{ "when": { "id": "1" }, "data": "12.50" }, { "error": { "code": "NO_PRICE", "message": "…" } }] }
//! ```

use crate::execute::service::call::{
    RefusedItem, ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceRequest, ServiceResult,
};
use crate::schema::diagnostics::suggestion::near;
use crate::schema::model::service::Service;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// The answers of a service.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct WrittenAnswers {
    fields: HashMap<String, Vec<FileAnswer>>,
}

/// An answer of the text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAnswer {
    #[serde(default)]
    when: Value,
    #[serde(default)]
    data: Value,
    error: Option<FileError>,
}

/// An error of the text.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileError {
    code: String,
    message: String,
}

impl WrittenAnswers {
    /// Reads a text.
    pub fn parse(text: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(text)
    }

    /// The answer to a call. `name` is that of the text, for what it has no answer for.
    pub fn answer(&self, name: &str, request: &ServiceRequest) -> ServiceAnswer {
        let answers = self.fields.get(&request.field).map(Vec::as_slice).unwrap_or_default();
        let known: Vec<&str> = self.fields.keys().map(String::as_str).collect();
        let near = near(&request.field, &known).filter(|near| *near != request.field);
        let meant = near.map(|near| format!(" Is it {near}?")).unwrap_or_default();
        let none = || RefusedItem {
            code: "NO_ANSWER".to_owned(),
            message: format!("{name} has no answer of {} for this object.{meant}", request.field),
        };
        let of_item = |item: Value| {
            let answer = answers.iter().find(|answer| is_part(&answer.when, &item));
            answer.map_or_else(|| Err(none()), result)
        };
        ServiceAnswer { results: request.values().into_iter().map(of_item).collect(), bytes: 0 }
    }
}

/// What a call gets of a text that has no answers: each object, what is wrong with the text.
pub fn unreadable(name: &str, request: &ServiceRequest, error: &serde_json::Error) -> ServiceAnswer {
    let refused = || RefusedItem {
        code: "WRONG_FILE".to_owned(),
        message: format!("{name} is wrong: {error}. Write {{ \"{}\": [{{ \"data\": null }}] }}.", request.field),
    };
    ServiceAnswer { results: request.values().into_iter().map(|_| Err(refused())).collect(), bytes: 0 }
}

/// Services whose answers are all written down.
#[derive(Default)]
pub struct WrittenServices {
    services: HashMap<String, Arc<WrittenService>>,
}

struct WrittenService {
    name: String,
    answers: WrittenAnswers,
}

impl WrittenServices {
    /// Adds a service by its text.
    pub fn add(&mut self, name: &str, text: &str) -> serde_json::Result<()> {
        let answers = WrittenAnswers::parse(text.as_bytes())?;
        let service = WrittenService { name: format!("services/{name}.json"), answers };
        self.services.insert(name.to_owned(), Arc::new(service));
        Ok(())
    }
}

impl ServiceConnector for WrittenServices {
    fn connect(&self, service: &Service) -> Option<Arc<dyn ServiceCaller>> {
        let written = self.services.get(&service.name)?.clone();
        Some(written)
    }
}

impl ServiceCaller for WrittenService {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        async move { Ok(self.answers.answer(&self.name, request)) }.boxed()
    }
}

fn result(answer: &FileAnswer) -> ServiceResult {
    match &answer.error {
        None => Ok(answer.data.clone()),
        Some(FileError { code, message }) => Err(RefusedItem { code: code.clone(), message: message.clone() }),
    }
}

/// Whether all members of the first are members of the second.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Null, _) => true,
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|whole| is_part(value, whole)))
        }
        _ => part == whole,
    }
}
