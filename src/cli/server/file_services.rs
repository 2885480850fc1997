//! The services of `keyfold dev`: a service without an address, or with a file of answers, answers from that file.
//!
//! `services/pricing.json` beside the schema holds the answers of the service `pricing`, by field. The first whose
//! `when` is part of the item is the item's answer:
//!
//! ```json
//! { "Order.total": [{ "when": { "id": "1" }, "data": "12.50" }, { "error": { "code": "NO_PRICE", "message": "…" } }] }
//! ```

use crate::execute::service::call::{
    RefusedItem, ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest,
    ServiceResult,
};
use crate::schema::model::service::Service;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The folder beside the schema.
const FOLDER: &str = "services";
/// The most bytes of a file.
const MAX_BYTES: u64 = 8 << 20;

/// Finds files of answers; what has none is found by others.
pub struct FileServices {
    folder: PathBuf,
    others: Arc<dyn ServiceConnector>,
}

impl FileServices {
    /// The files beside a schema.
    pub fn beside(schema: &Path, others: Arc<dyn ServiceConnector>) -> Arc<dyn ServiceConnector> {
        Arc::new(Self { folder: schema.with_file_name(FOLDER), others })
    }
}

impl ServiceConnector for FileServices {
    fn connect(&self, service: &Service) -> Option<Arc<dyn ServiceCaller>> {
        let path = self.folder.join(format!("{}.json", service.name));
        let found = if path.is_file() { None } else { self.others.connect(service) };
        match found {
            Some(other) => Some(other),
            None => {
                if !path.is_file() {
                    tracing::warn!(service = service.name, file = %path.display(), "the service has no address, and no file of answers");
                }
                Some(Arc::new(FileService { path }))
            }
        }
    }
}

/// A service that answers from a file, which it reads for each call.
struct FileService {
    path: PathBuf,
}

impl ServiceCaller for FileService {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        self.answer(request).boxed()
    }
}

/// An answer of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAnswer {
    #[serde(default)]
    when: Value,
    #[serde(default)]
    data: Value,
    error: Option<FileError>,
}

/// An error of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileError {
    code: String,
    message: String,
}

impl FileService {
    async fn answer(&self, request: &ServiceRequest) -> Result<ServiceAnswer, ServiceError> {
        let trouble = |error: &dyn std::fmt::Display| {
            ServiceError::new(ServiceErrorKind::Unavailable, format!("{}: {error}", self.path.display()))
        };
        let length = tokio::fs::metadata(&self.path).await.map_err(|error| trouble(&error))?.len();
        if length > MAX_BYTES {
            return Err(trouble(&format!("the file has more than {} MiB", MAX_BYTES >> 20)));
        }
        let text = tokio::fs::read(&self.path).await.map_err(|error| trouble(&error))?;
        let mut answers: HashMap<String, Vec<FileAnswer>> =
            serde_json::from_slice(&text).map_err(|error| trouble(&error))?;
        let answers = answers.remove(&request.field).unwrap_or_default();
        let item = |item: Value| {
            let answer = answers.iter().find(|answer| is_part(&answer.when, &item));
            answer.map_or_else(|| Err(self.none(&request.field)), result)
        };
        Ok(ServiceAnswer { results: request.values().into_iter().map(item).collect(), bytes: 0 })
    }

    /// What says that the file has no answer for an item.
    fn none(&self, field: &str) -> RefusedItem {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("services/{file} has no answer of {field} for this object.");
        RefusedItem { code: "NO_ANSWER".to_owned(), message }
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
