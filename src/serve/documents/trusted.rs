//! A directory in; the documents in it, by their ids and hashes, out. Must not know schemas.
//!
//! A file `*.graphql` or `*.gql` is one document. A file `*.json` is a list as tools write them: an object of ids and
//! documents (Relay, GraphQL Code Generator, gql.tada), or the manifest of Apollo. Other files do not count.

use super::hash::{DocumentHash, parse_hash};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The documents that a server trusts.
#[derive(Debug, Default)]
pub struct TrustedDocuments {
    by_id: HashMap<String, Arc<str>>,
    by_hash: HashMap<DocumentHash, Arc<str>>,
    list: Vec<TrustedDocument>,
}

/// A document with its origin.
#[derive(Debug, Clone)]
pub struct TrustedDocument {
    /// The file that has it.
    pub file: PathBuf,
    /// Its id, if the file is a list.
    pub id: Option<String>,
    /// Its text.
    pub text: Arc<str>,
}

/// Why a directory has no trusted documents.
#[derive(Debug, Error)]
pub enum TrustedDocumentsError {
    /// A file or the directory cannot be read.
    #[error("cannot read {0}")]
    File(PathBuf, #[source] std::io::Error),
    /// A file is not text in UTF-8.
    #[error("{0} is not text in UTF-8")]
    Text(PathBuf),
    /// A list has another form.
    #[error(
        "{0} is neither an object of ids and documents, {{ \"team\": \"{{ team {{ name }} }}\" }}, nor an Apollo manifest of \
         persisted queries"
    )]
    List(PathBuf),
    /// An id has two documents.
    #[error("{0} has another document for the id {1:?} than a file before it")]
    Twice(PathBuf, String),
    /// There is no document.
    #[error("{0} has no documents: no *.graphql, *.gql or *.json file with one")]
    None(PathBuf),
}

/// A list of documents.
#[derive(Deserialize)]
#[serde(untagged)]
enum List {
    Apollo { operations: Vec<ApolloOperation> },
    Plain(HashMap<String, String>),
}

/// An operation of Apollo's manifest
/// (<https://www.apollographql.com/docs/graphos/platform/security/persisted-queries#manifest-format>).
#[derive(Deserialize)]
struct ApolloOperation {
    id: String,
    body: String,
}

impl TrustedDocuments {
    /// These documents with their ids.
    pub fn new(documents: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut all = Self::default();
        for (id, text) in documents {
            all.add(Path::new(""), Some(id), text);
        }
        all
    }

    /// The documents of a directory and the directories in it.
    pub fn read(directory: &Path) -> Result<Self, TrustedDocumentsError> {
        let mut all = Self::default();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            let unreadable = |error| TrustedDocumentsError::File(directory.clone(), error);
            for entry in std::fs::read_dir(&directory).map_err(unreadable)? {
                let path = entry.map_err(unreadable)?.path();
                if path.is_dir() {
                    directories.push(path);
                } else {
                    all.read_file(&path)?;
                }
            }
        }
        if all.by_hash.is_empty() { Err(TrustedDocumentsError::None(directory.to_owned())) } else { Ok(all) }
    }

    fn read_file(&mut self, path: &Path) -> Result<(), TrustedDocumentsError> {
        let text = || {
            let bytes = std::fs::read(path).map_err(|error| TrustedDocumentsError::File(path.to_owned(), error))?;
            String::from_utf8(bytes).map_err(|_| TrustedDocumentsError::Text(path.to_owned()))
        };
        let listed: Vec<(Option<String>, String)> = match path.extension().and_then(|extension| extension.to_str()) {
            Some("graphql" | "gql") => vec![(None, text()?)],
            Some("json") => {
                let list = serde_json::from_str(&text()?).map_err(|_| TrustedDocumentsError::List(path.to_owned()))?;
                match list {
                    List::Apollo { operations } => {
                        operations.into_iter().map(|operation| (Some(operation.id), operation.body)).collect()
                    }
                    List::Plain(documents) => documents.into_iter().map(|(id, text)| (Some(id), text)).collect(),
                }
            }
            _ => return Ok(()),
        };
        for (id, text) in listed {
            if id.as_ref().and_then(|id| self.by_id.get(id)).is_some_and(|known| **known != *text) {
                return Err(TrustedDocumentsError::Twice(path.to_owned(), id.unwrap_or_default()));
            }
            self.add(path, id, text);
        }
        Ok(())
    }

    fn add(&mut self, file: &Path, id: Option<String>, text: String) {
        let text: Arc<str> = text.into();
        if self.by_hash.insert(Sha256::digest(text.as_bytes()).into(), text.clone()).is_none() {
            self.list.push(TrustedDocument { file: file.to_owned(), id: id.clone(), text: text.clone() });
        }
        if let Some(id) = id {
            self.by_id.insert(id, text);
        }
    }

    /// The documents, each with the first file that has it.
    pub fn list(&self) -> &[TrustedDocument] {
        &self.list
    }

    /// How many documents there are.
    pub fn count(&self) -> usize {
        self.by_hash.len()
    }

    /// The document with this id or hash.
    pub fn get(&self, id: &str) -> Option<Arc<str>> {
        self.by_id.get(id).or_else(|| self.by_hash.get(&parse_hash(id)?)).cloned()
    }

    /// Whether one of the documents has this hash.
    pub fn has(&self, hash: &DocumentHash) -> bool {
        self.by_hash.contains_key(hash)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = directory.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        directory
    }

    #[test]
    fn every_form_of_a_list_is_read() {
        let files = directory(&[
            ("a.graphql", "{ a }\n"),
            ("more/b.gql", "{ b }"),
            ("relay.json", r#"{"1": "{ c }", "2": "{ d }"}"#),
            (
                "apollo.json",
                r#"{"format": "apollo-persisted-query-manifest", "version": 1, "operations": [{"id": "x", "name": "E", "type": "query", "body": "{ e }"}]}"#,
            ),
            ("README.md", "no document"),
        ]);
        let documents = TrustedDocuments::read(files.path()).unwrap();
        assert_eq!(documents.count(), 5);
        for (id, text) in [("1", "{ c }"), ("2", "{ d }"), ("x", "{ e }")] {
            assert_eq!(documents.get(id).as_deref(), Some(text));
        }
        for text in ["{ a }\n", "{ b }", "{ c }", "{ e }"] {
            assert!(documents.has(&Sha256::digest(text).into()), "{text}");
        }
        assert!(documents.get("a").is_none() && !documents.has(&Sha256::digest("{ a }").into()));
    }

    #[test]
    fn mistakes_name_their_file() {
        let trouble = |files: &[(&str, &str)]| TrustedDocuments::read(directory(files).path()).unwrap_err().to_string();
        assert!(trouble(&[]).contains("has no documents"));
        assert!(trouble(&[("notes.txt", "{ a }")]).contains("has no documents"));
        assert!(trouble(&[("a.json", "[1]")]).contains("a.json is neither"));
        assert!(trouble(&[("a.json", r#"{"1": 2}"#)]).contains("a.json is neither"));
        assert!(
            trouble(&[("a.json", r#"{"1": "{ a }"}"#), ("b.json", r#"{"1": "{ b }"}"#)])
                .contains("another document for the id \"1\"")
        );
        let same = directory(&[("a.json", r#"{"1": "{ a }"}"#), ("b.json", r#"{"1": "{ a }"}"#)]);
        assert_eq!(TrustedDocuments::read(same.path()).unwrap().count(), 1);
        assert!(
            TrustedDocuments::read(Path::new("/no/such/directory")).unwrap_err().to_string().contains("cannot read")
        );
    }
}
