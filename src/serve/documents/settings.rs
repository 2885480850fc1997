//! Options and environment variables in, the documents of a server out.

use super::lookup::Documents;
use super::persisted::PersistedDocuments;
use super::trusted::{TrustedDocuments, TrustedDocumentsError};
use clap::Args;
use std::path::PathBuf;

/// Documents that requests may name instead of sending them.
#[derive(Debug, Clone, Args)]
pub struct DocumentSettings {
    /// Directory of trusted documents: *.graphql files, or lists of ids and documents as Relay, Apollo and GraphQL Code
    /// Generator write them
    #[arg(long, env = "KEYFOLD_DOCUMENTS", value_name = "DIR")]
    pub documents: Option<PathBuf>,

    /// Run the documents of --documents only
    #[arg(long, env = "KEYFOLD_ONLY_DOCUMENTS", requires = "documents")]
    pub only_documents: bool,

    /// Memory for the documents of clients that send a document once and its hash from then on (Automatic Persisted
    /// Queries); 0 for none
    #[arg(long, env = "KEYFOLD_PERSISTED_QUERY_BYTES", value_name = "BYTES", default_value_t = 16 << 20)]
    pub persisted_query_bytes: u64,
}

impl DocumentSettings {
    /// The documents by these settings. Reads the directory.
    pub fn open(&self) -> Result<Documents, TrustedDocumentsError> {
        let trusted = self.read()?;
        if let (Some(trusted), Some(directory)) = (&trusted, &self.documents) {
            tracing::info!(documents = trusted.count(), directory = %directory.display(), only = self.only_documents, "trusted documents");
        }
        let persisted = (self.persisted_query_bytes > 0).then(|| PersistedDocuments::new(self.persisted_query_bytes));
        Ok(Documents::new(trusted, self.only_documents, persisted))
    }

    /// The trusted documents as they are in the directory now, if there is one.
    pub fn read(&self) -> Result<Option<TrustedDocuments>, TrustedDocumentsError> {
        self.documents.as_deref().map(TrustedDocuments::read).transpose()
    }
}
