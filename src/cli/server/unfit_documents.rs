//! The trusted documents of a server and a schema in, a line of the log for each document that does not fit it out. The
//! server runs nevertheless: the documents of an old client may stay when a field is gone.

use crate::execute::error::GraphqlError;
use crate::execute::gateway::mistakes;
use crate::execute::request::Settings;
use crate::schema::model::Model;
use crate::serve::documents::trusted::{TrustedDocument, TrustedDocuments};
use std::sync::Arc;
use tokio::task::spawn_blocking;

/// How many documents have a line.
const MAX_LINES: usize = 20;

/// Compares documents with a schema on a thread of its own, while requests are served.
pub fn warn_of_unfit(documents: Option<Arc<TrustedDocuments>>, model: Arc<Model>, settings: Settings) {
    let Some(documents) = documents else { return };
    // Nobody waits for it.
    drop(spawn_blocking(move || {
        let unfit = documents.list().iter().filter_map(|document| {
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

fn warn(document: &TrustedDocument, mistake: &GraphqlError) {
    let (file, id, reason) = (document.file.display(), document.id.as_deref(), &mistake.message);
    let (line, column) = mistake.locations.first().copied().unwrap_or((1, 1));
    tracing::warn!(%file, id, line, column, reason, "a trusted document does not fit the schema");
}
