//! The services of `keyfold dev`: a service without an address, or with a file of answers, answers from that file.
//!
//! `services/pricing.json` beside the schema holds the answers of the service `pricing`.

use crate::cli::service_answers::{WrittenAnswers, unreadable};
use crate::execute::service::call::{
    ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest,
};
use crate::schema::model::service::Service;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
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
        let name = format!("services/{}", self.path.file_name().unwrap_or_default().to_string_lossy());
        Ok(match WrittenAnswers::parse(&text) {
            Ok(answers) => answers.answer(&name, request),
            Err(error) => {
                tracing::warn!(file = name, %error, field = request.field, "a file of answers is wrong");
                unreadable(&name, request, &error)
            }
        })
    }
}
