//! The response map under construction: fields and errors in, its bytes out. Bounds both. Must not know plans or items.
//!
//! A response beyond its bounds has `data: null` and one error, at the place where it exceeded them. With a null at
//! that place only, each of a thousand siblings could fill the response again. Bytes that no longer fit are never
//! written.

use super::misfit::Misfit;
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::table::data::limits::ITEM_BYTES;
use serde_json::Value;
use std::time::Duration;

/// The first bytes of the body.
const BEGINNING: &[u8] = b"{\"data\":{";
/// The length of `{"data":`.
const DATA: usize = BEGINNING.len() - 1;
/// A response of more bytes moves into a block of its own.
const LARGE: usize = 1 << 20;
/// The least size of such a block. The GNU C library keeps a freed block of up to 32 MiB for the thread that had it,
/// and returns a larger one to the system (mallopt(3), `M_MMAP_THRESHOLD`). A page of it that nothing is written to
/// takes no memory.
const BLOCK: usize = 33 << 20;
/// In place of extensions that do not fit.
const OMITTED: &[u8] =
    br#","extensions":{"keyfold":{"omitted":"The explanation does not fit into the bytes of a response."}}"#;

/// The bytes of a small response. glibc keeps blocks of up to 1032 bytes for their thread (malloc(3),
/// `glibc.malloc.tcache_max`).
const SMALL: usize = 1 << 10;

/// The bounds of a response.
#[derive(Debug, Clone, Copy)]
pub struct ResponseLimits {
    /// Bytes of `data` and `errors` together. One value may exceed it before the writing ends; an item has 400 KB at
    /// most.
    pub bytes: usize,
    /// Objects, embedded ones included.
    pub objects: usize,
}

/// A response while it is written.
#[derive(Debug)]
pub struct ResponseBody {
    /// `{"data":{` and the fields so far.
    pub(super) data: Vec<u8>,
    /// The errors so far, as JSON, separated by commas.
    errors: Vec<u8>,
    /// The code of each of them, and where its JSON ends.
    codes: Vec<(usize, ErrorCode)>,
    /// The time that writing took.
    writing: Duration,
    refused: bool,
    /// What does not fit the schema, for the log.
    pub(super) misfit: Option<Box<Misfit>>,
    /// The number of written objects, including those that a null has replaced.
    objects: usize,
    limits: ResponseLimits,
}

impl ResponseBody {
    /// A response without fields.
    pub fn new(limits: ResponseLimits) -> Self {
        let mut data = Vec::with_capacity(SMALL);
        data.extend_from_slice(BEGINNING);
        Self {
            data,
            errors: Vec::new(),
            codes: Vec::new(),
            writing: Duration::ZERO,
            refused: false,
            misfit: None,
            objects: 0,
            limits,
        }
    }

    /// A value alone, without `data` around it.
    pub(super) fn bare(limits: ResponseLimits) -> Self {
        let mut body = Self::new(limits);
        body.data.clear();
        body
    }

    /// The bytes of a value alone.
    pub(super) fn into_data(self) -> Vec<u8> {
        self.data
    }

    /// Begins the first field of another step.
    pub(super) fn separate(&mut self) {
        if self.data.len() > BEGINNING.len() {
            self.data.push(b',');
        }
    }

    /// Counts one more object. False if the response has too many.
    pub(super) fn has_room_for_object(&mut self) -> bool {
        self.objects += 1;
        self.objects <= self.limits.objects
    }

    /// Whether the response is within its bytes. Asked after every value.
    #[inline]
    pub(super) fn fits(&mut self) -> bool {
        if self.data.len() > LARGE {
            self.move_into_block();
        }
        self.data.len() + self.errors.len() <= self.limits.bytes
    }

    /// Moves a large response into a block of its own.
    fn move_into_block(&mut self) {
        let block = self.limits.bytes.saturating_add(ITEM_BYTES).max(BLOCK);
        if self.data.capacity() < block {
            // Without it, the vector doubles as it always does.
            let _ = self.data.try_reserve_exact(block - self.data.len());
        }
    }

    /// The bounds.
    pub(super) fn limits(&self) -> ResponseLimits {
        self.limits
    }

    /// The end of the errors so far.
    pub(super) fn mark_errors(&self) -> usize {
        self.errors.len()
    }

    /// Drops the errors after a mark.
    pub(super) fn drop_errors(&mut self, mark: usize) {
        self.errors.truncate(mark);
        while self.codes.pop_if(|(end, _)| *end > mark).is_some() {}
    }

    /// Adds an error.
    pub fn error(&mut self, error: &GraphqlError) {
        self.refused |= matches!(error.code, ErrorCode::Forbidden | ErrorCode::Unauthenticated);
        if !self.errors.is_empty() {
            self.errors.push(b',');
        }
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(&mut self.errors, &error.to_json());
        self.codes.push((self.errors.len(), error.code));
    }

    /// The codes of the errors.
    pub fn codes(&self) -> impl Iterator<Item = ErrorCode> {
        self.codes.iter().map(|(_, code)| *code)
    }

    /// Counts time that writing took.
    pub fn took(&mut self, time: Duration) {
        self.writing += time;
    }

    /// What does not fit the schema of what was written last.
    pub fn take_misfit(&mut self) -> Option<Box<Misfit>> {
        self.misfit.take()
    }

    /// The time that writing took.
    pub fn writing(&self) -> Duration {
        self.writing
    }

    /// Its bytes so far.
    pub fn bytes(&self) -> usize {
        self.data.len() + self.errors.len()
    }

    /// Whether it has errors.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Whether a rule has refused something, even where its error was dropped.
    pub fn refused(&self) -> bool {
        self.refused
    }

    /// The bytes of the response. Without `data`, it is null. Extensions that do not fit are omitted.
    pub fn finish(self, has_data: bool, extensions: Option<Value>) -> Vec<u8> {
        let Self { data: mut body, errors, limits, .. } = self;
        if has_data {
            body.push(b'}');
        } else {
            body.truncate(DATA);
            body.extend_from_slice(b"null");
        }
        if let Some(extensions) = extensions {
            let written = body.len();
            body.extend_from_slice(b",\"extensions\":");
            let _ = serde_json::to_writer(&mut body, &extensions);
            if body.len() + errors.len() > limits.bytes {
                body.truncate(written);
                body.extend_from_slice(OMITTED);
            }
        }
        body.push(b'}');
        // The specification recommends that errors come first (section 7.1, "Response Format").
        if !errors.is_empty() {
            let list = b"\"errors\":[".iter().copied().chain(errors).chain(*b"],");
            body.splice(1..1, list);
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body() -> ResponseBody {
        ResponseBody::new(ResponseLimits { bytes: 100, objects: 2 })
    }

    #[test]
    fn errors_come_before_data() {
        let mut body = body();
        body.data.extend_from_slice(b"\"a\":1");
        body.separate();
        body.data.extend_from_slice(b"\"b\":2");
        assert!(body.fits());
        body.error(&GraphqlError::new(ErrorCode::Timeout, "Late."));
        body.error(&GraphqlError::new(ErrorCode::Timeout, "Later."));
        assert!(!body.fits(), "errors count");
        let mark = body.mark_errors();
        body.error(&GraphqlError::new(ErrorCode::Internal, "Dropped."));
        body.drop_errors(mark);
        assert_eq!(body.codes().collect::<Vec<_>>(), [ErrorCode::Timeout; 2]);
        let error = |message: &str| format!(r#"{{"message":"{message}","extensions":{{"code":"TIMEOUT"}}}}"#);
        let text = String::from_utf8(body.finish(true, None)).unwrap_or_default();
        assert_eq!(text, format!(r#"{{"errors":[{},{}],"data":{{"a":1,"b":2}}}}"#, error("Late."), error("Later.")));
    }

    #[test]
    fn extensions_that_do_not_fit_are_omitted() {
        let text = |extensions: Value| String::from_utf8(body().finish(true, Some(extensions))).unwrap_or_default();
        assert_eq!(text(Value::from(7)), r#"{"data":{},"extensions":7}"#);
        assert!(text("x".repeat(100).into()).contains(r#"{"data":{},"extensions":{"keyfold":{"omitted":"#));
    }

    #[test]
    fn a_response_without_data_has_null() {
        let mut body = body();
        body.data.extend_from_slice(b"\"a\":1");
        assert_eq!(body.finish(false, None), b"{\"data\":null}");
        assert_eq!(super::tests::body().finish(true, None), b"{\"data\":{}}");
    }

    #[test]
    fn objects_are_counted() {
        let mut body = body();
        assert_eq!([(); 3].map(|()| body.has_room_for_object()), [true, true, false]);
    }
}
