//! The files of a schema and of its samples in, the design document for the pages of `keyfold dev` out. The document is
//! made again when the schema has changed.

use crate::cli::docs;
use crate::cli::schema_file;
use crate::cli::schema_file::LoadedSchema;
use crate::serve::console::design::DesignDocument;
use anyhow::{Result, anyhow};
use futures_util::future::{BoxFuture, FutureExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// How long the document may take. It records the calls of every access pattern.
const BOUND: Duration = Duration::from_secs(60);

/// The design document of a schema file.
pub struct SchemaDesign {
    schema: PathBuf,
    samples: Option<PathBuf>,
    /// The last document and the text of its schema. One is made at a time.
    last: Mutex<Option<(String, Arc<str>)>>,
}

impl SchemaDesign {
    /// The document of a schema file and of a directory of samples, if there is one.
    pub fn new(schema: PathBuf, samples: Option<PathBuf>) -> Self {
        Self { schema, samples, last: Mutex::default() }
    }

    async fn current(&self) -> Result<Arc<str>> {
        let mut last = self.last.lock().await;
        let text = schema_file::read(&self.schema)?;
        if let Some((known, document)) = &*last
            && *known == text
        {
            return Ok(document.clone());
        }
        let (model, warnings) =
            schema_file::parse(&self.schema, &text).map_err(|mistakes| anyhow!(mistakes.render(false)))?;
        let loaded = LoadedSchema { text: text.clone(), model, warnings };
        let document: Arc<str> = timeout(BOUND, docs::sample_document(loaded, self.samples.as_deref())).await??.into();
        *last = Some((text, document.clone()));
        Ok(document)
    }
}

impl DesignDocument for SchemaDesign {
    fn markdown(&self) -> BoxFuture<'_, Result<Arc<str>, String>> {
        async move { self.current().await.map_err(|error| format!("{error:#}\n")) }.boxed()
    }
}
