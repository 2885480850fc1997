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
    /// One document is made at a time.
    kept: Mutex<KeptDesign>,
}

struct KeptDesign {
    /// The last text of the file that has no mistakes.
    right: String,
    /// Its document, if it was made.
    document: Option<Arc<str>>,
}

impl SchemaDesign {
    /// The document of a schema file, whose text is `right` now, and of a directory of samples, if there is one.
    pub fn new(schema: PathBuf, right: String, samples: Option<PathBuf>) -> Self {
        Self { schema, samples, kept: Mutex::new(KeptDesign { right, document: None }) }
    }

    async fn current(&self) -> Result<Arc<str>> {
        let mut kept = self.kept.lock().await;
        // While the file has mistakes, the schema before goes on.
        if let Ok(text) = schema_file::read(&self.schema)
            && text != kept.right
            && schema_file::parse(&self.schema, &text).is_ok()
        {
            *kept = KeptDesign { right: text, document: None };
        }
        if let Some(document) = &kept.document {
            return Ok(document.clone());
        }
        let text = kept.right.clone();
        let (model, warnings) =
            schema_file::parse(&self.schema, &text).map_err(|mistakes| anyhow!(mistakes.render(false)))?;
        let loaded = LoadedSchema { text, model, warnings };
        let document: Arc<str> = timeout(BOUND, docs::sample_document(loaded, self.samples.as_deref())).await??.into();
        kept.document = Some(document.clone());
        Ok(document)
    }
}

impl DesignDocument for SchemaDesign {
    fn markdown(&self) -> BoxFuture<'_, Result<Arc<str>, String>> {
        async move { self.current().await.map_err(|error| format!("{error:#}\n")) }.boxed()
    }
}
