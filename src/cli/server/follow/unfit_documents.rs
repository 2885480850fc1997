//! The trusted documents of a server and a schema in, a line of the log for each document that does not fit it out. The
//! server runs nevertheless: the documents of an old client may stay when a field is gone.

use crate::execute::error::GraphqlError;
use crate::execute::gateway::mistakes;
use crate::execute::request::Settings;
use crate::schema::model::Model;
use crate::serve::documents::trusted::{TrustedDocument, TrustedDocuments};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::spawn_blocking;

/// How many documents have a line.
const MAX_LINES: usize = 20;

/// Compares documents with schemas on threads of their own, while requests are served: one comparison at a time, which
/// ends when the next one begins, and when nobody needs it.
#[derive(Default)]
pub struct DocumentCheck {
    begun: Arc<AtomicU64>,
}

impl DocumentCheck {
    /// Warns of the documents that do not fit a schema.
    pub fn begin(&self, documents: Option<Arc<TrustedDocuments>>, model: Arc<Model>, settings: Settings) {
        let own = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let Some(documents) = documents else { return };
        let begun = self.begun.clone();
        let is_needed = move || begun.load(Ordering::Relaxed) == own;
        // Nobody waits for it.
        drop(spawn_blocking(move || {
            let needed = documents.list().iter().take_while(|_| is_needed());
            let unfit = needed.filter_map(|document| {
                let first = mistakes(&model, &document.text, &settings).into_iter().next()?;
                Some((document, first))
            });
            let mut others = 0;
            for (number, (document, mistake)) in unfit.enumerate() {
                if number < MAX_LINES { warn(document, &mistake) } else { others += 1 }
            }
            if others > 0 {
                tracing::warn!(documents = others, "more trusted documents do not fit the schema");
            }
        }));
    }
}

impl Drop for DocumentCheck {
    fn drop(&mut self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }
}

fn warn(document: &TrustedDocument, mistake: &GraphqlError) {
    let (file, id, reason) = (document.file.display(), document.id.as_deref(), &mistake.message);
    let (line, column) = mistake.locations.first().copied().unwrap_or((1, 1));
    tracing::warn!(%file, id, line, column, reason, "a trusted document does not fit the schema");
}
