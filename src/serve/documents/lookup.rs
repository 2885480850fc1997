//! What a request says of its document in: a text, a hash, an id; the document out. Must not know schemas.

use super::hash::{DocumentHash, parse_hash};
use super::parameters::RequestParameters;
use super::persisted::PersistedDocuments;
use super::trusted::TrustedDocuments;
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::execute::request::Request;
use sha2::{Digest, Sha256};
use std::sync::{Arc, PoisonError, RwLock};

/// The documents of a server. Copies share them.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    trusted: Option<Arc<RwLock<Arc<TrustedDocuments>>>>,
    only_trusted: bool,
    persisted: Option<Arc<PersistedDocuments>>,
}

impl Documents {
    /// Knows these trusted documents, and runs no other if `only_trusted`; remembers those of clients if `persisted`.
    pub fn new(trusted: Option<TrustedDocuments>, only_trusted: bool, persisted: Option<PersistedDocuments>) -> Self {
        Self {
            trusted: trusted.map(|trusted| Arc::new(RwLock::new(Arc::new(trusted)))),
            only_trusted,
            persisted: persisted.map(Arc::new),
        }
    }

    /// Trusts these documents from now on, if the server trusts any, and those before no longer. All copies do.
    pub fn replace_trusted(&self, documents: TrustedDocuments) {
        if let Some(trusted) = &self.trusted {
            *trusted.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(documents);
        }
    }

    /// The documents that the server trusts, if it trusts any.
    pub fn trusted(&self) -> Option<Arc<TrustedDocuments>> {
        self.trusted.as_ref().map(|trusted| trusted.read().unwrap_or_else(PoisonError::into_inner).clone())
    }

    /// How many documents there are, if no other runs.
    pub fn only_trusted(&self) -> Option<usize> {
        self.trusted().filter(|_| self.only_trusted).map(|trusted| trusted.count())
    }

    /// The request for the document that a client means.
    pub fn request(&self, asked: RequestParameters) -> Result<Request, GraphqlError> {
        let RequestParameters { query, document_id, hash, operation_name, variables } = asked;
        let query = match (query, document_id.or(hash.clone())) {
            (Some(text), None) => self.sent(text, None)?,
            (Some(text), Some(_)) => self.sent(text, hash)?,
            (None, Some(id)) => self.named(&id)?.to_string(),
            (None, None) => return Err(GraphqlError::new(ErrorCode::BadUserInput, "The request has no document.")),
        };
        Ok(Request { query, operation_name, variables, ..Request::default() })
    }

    /// A document that the request brings along, with the hash that the client gives it.
    fn sent(&self, text: String, hash: Option<String>) -> Result<String, GraphqlError> {
        if hash.is_none() && !self.only_trusted {
            return Ok(text);
        }
        let computed: DocumentHash = Sha256::digest(&text).into();
        if hash.is_some_and(|given| parse_hash(&given) != Some(computed)) {
            return Err(GraphqlError::new(
                ErrorCode::BadUserInput,
                "The hash of the document is another than \"sha256Hash\" says.",
            ));
        }
        if self.only_trusted {
            let known = self.trusted().is_some_and(|trusted| trusted.has(&computed));
            let refusal = || GraphqlError::new(ErrorCode::Forbidden, "This server runs its own documents only.");
            return if known { Ok(text) } else { Err(refusal()) };
        }
        if let Some(persisted) = &self.persisted {
            persisted.keep(computed, &text);
        }
        Ok(text)
    }

    /// A document that the request names by its hash, or by the id that a list of trusted documents gives it.
    fn named(&self, id: &str) -> Result<Arc<str>, GraphqlError> {
        if let Some(text) = self.trusted().and_then(|trusted| trusted.get(id)) {
            return Ok(text);
        }
        let not_found = || GraphqlError::new(ErrorCode::PersistedQueryNotFound, "PersistedQueryNotFound");
        match &self.persisted {
            _ if self.only_trusted => Err(not_found()),
            Some(persisted) => parse_hash(id).and_then(|hash| persisted.get(&hash)).ok_or_else(not_found),
            None if self.trusted.is_some() => Err(not_found()),
            None => Err(GraphqlError::new(ErrorCode::PersistedQueryNotSupported, "PersistedQueryNotSupported")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = "{ a }";

    fn hash_of(text: &str) -> String {
        Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn asked(query: Option<&str>, id: Option<&str>, hash: Option<&str>) -> RequestParameters {
        let own = |text: Option<&str>| text.map(str::to_owned);
        RequestParameters { query: own(query), document_id: own(id), hash: own(hash), ..RequestParameters::default() }
    }

    fn outcome(documents: &Documents, asked: RequestParameters) -> Result<String, ErrorCode> {
        documents.request(asked).map(|request| request.query).map_err(|error| error.code)
    }

    fn trusted() -> TrustedDocuments {
        TrustedDocuments::new([("list-foods".to_owned(), TEXT.to_owned())])
    }

    #[test]
    fn a_client_sends_a_document_once() {
        let documents = Documents::new(None, false, Some(PersistedDocuments::new(1 << 20)));
        let hash = hash_of(TEXT);
        assert_eq!(outcome(&documents, asked(None, None, Some(&hash))), Err(ErrorCode::PersistedQueryNotFound));
        assert_eq!(outcome(&documents, asked(Some("{ b }"), None, Some(&hash))), Err(ErrorCode::BadUserInput));
        assert_eq!(
            outcome(&documents, asked(None, None, Some(&hash))),
            Err(ErrorCode::PersistedQueryNotFound),
            "a wrong hash keeps nothing"
        );
        assert_eq!(outcome(&documents, asked(Some(TEXT), None, Some(&hash))), Ok(TEXT.into()));
        for (id, hash) in [(None, Some(&*hash)), (Some(&*format!("sha256:{hash}")), None)] {
            assert_eq!(outcome(&documents, asked(None, id, hash)), Ok(TEXT.into()));
        }
        assert_eq!(outcome(&documents, asked(Some("{ c }"), None, None)), Ok("{ c }".into()));
        assert_eq!(
            outcome(&documents, asked(None, None, Some(&hash_of("{ c }")))),
            Err(ErrorCode::PersistedQueryNotFound)
        );
    }

    #[test]
    fn without_memory_for_them_no_document_is_kept() {
        let documents = Documents::default();
        let hash = hash_of(TEXT);
        assert_eq!(outcome(&documents, asked(Some(TEXT), None, Some(&hash))), Ok(TEXT.into()));
        assert_eq!(outcome(&documents, asked(None, None, Some(&hash))), Err(ErrorCode::PersistedQueryNotSupported));
    }

    #[test]
    fn a_trusted_document_is_named_by_its_id_or_its_hash() {
        let documents = Documents::new(Some(trusted()), false, None);
        let hash = hash_of(TEXT);
        for id in ["list-foods", &hash, &format!("sha256:{hash}")] {
            assert_eq!(outcome(&documents, asked(None, Some(id), None)), Ok(TEXT.into()), "{id}");
            assert_eq!(outcome(&documents, asked(None, None, Some(id))), Ok(TEXT.into()), "{id}");
        }
        assert_eq!(outcome(&documents, asked(None, Some("other"), None)), Err(ErrorCode::PersistedQueryNotFound));
        assert_eq!(outcome(&documents, asked(Some("{ b }"), None, None)), Ok("{ b }".into()));
    }

    #[test]
    fn replaced_documents_are_those_of_all_copies() {
        let documents = Documents::new(Some(trusted()), true, None);
        let copy = documents.clone();
        documents.replace_trusted(TrustedDocuments::new([("list-drinks".to_owned(), "{ b }".to_owned())]));
        assert_eq!(outcome(&copy, asked(None, Some("list-drinks"), None)), Ok("{ b }".into()));
        assert_eq!(outcome(&copy, asked(None, Some("list-foods"), None)), Err(ErrorCode::PersistedQueryNotFound));
        assert_eq!(outcome(&copy, asked(Some(TEXT), None, None)), Err(ErrorCode::Forbidden));
        let none = Documents::default();
        none.replace_trusted(trusted());
        assert_eq!(outcome(&none, asked(None, None, Some(&hash_of(TEXT)))), Err(ErrorCode::PersistedQueryNotSupported));
    }

    #[test]
    fn only_trusted_documents_run_where_a_server_says_so() {
        let documents = Documents::new(Some(trusted()), true, Some(PersistedDocuments::new(1 << 20)));
        let (ours, other) = (hash_of(TEXT), hash_of("{ b }"));
        assert_eq!(outcome(&documents, asked(Some(TEXT), None, None)), Ok(TEXT.into()));
        assert_eq!(outcome(&documents, asked(Some(TEXT), None, Some(&ours))), Ok(TEXT.into()));
        assert_eq!(outcome(&documents, asked(None, None, Some(&ours))), Ok(TEXT.into()));
        assert_eq!(outcome(&documents, asked(Some("{ b }"), None, None)), Err(ErrorCode::Forbidden));
        assert_eq!(outcome(&documents, asked(Some("{ b }"), None, Some(&other))), Err(ErrorCode::Forbidden));
        assert_eq!(outcome(&documents, asked(None, None, Some(&other))), Err(ErrorCode::PersistedQueryNotFound));
        assert_eq!(
            outcome(&documents, asked(Some("{ a } "), None, None)),
            Err(ErrorCode::Forbidden),
            "every byte counts"
        );
    }
}
