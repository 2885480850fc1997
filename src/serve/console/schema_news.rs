//! What becomes of the schema's file in; events for the pages of `keyfold dev` out, and while there is no API yet, a
//! page with the mistakes in its place. `keyfold serve` has none.

use super::document::anchor;
use super::files::VERSION;
use super::page::html;
use crate::execute::gateway::Response as Answer;
use crate::schema::diagnostics::diagnostic::{Diagnostics, Severity};
use crate::schema::diagnostics::render::ShownFinding;
use crate::schema::diagnostics::rules;
use crate::serve::backend::{Backend, Execution, Invocation, MayNotWrite};
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::{MediaType, negotiate, wants_html};
use crate::serve::http::sse::{COMMENT, HEARTBEAT, streamed};
use crate::serve::http::status::HttpRefusal;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::{BoxFuture, FutureExt, ready};
use futures_util::stream::{self, StreamExt};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use tokio::sync::watch;
use tokio::time::timeout;

/// The page that stands in place of the API.
const PAGE: &str = include_str!("../../../console/mistakes.html");
/// What the page may load, and where it may send: its own files, and its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";
/// After how many milliseconds a page asks again when the stream has ended: the server may have become another one.
const RETRY: &[u8] = b"retry: 300\n\n";

/// What is known of the schema's file, for everybody who listens.
pub struct SchemaNews {
    state: watch::Sender<NewsState>,
    /// Tells the schemas of this process from those of the one before.
    began: u128,
}

#[derive(Debug, Clone, Default)]
struct NewsState {
    /// How many schemas were served so far.
    served: u64,
    /// What is wrong with the text of the file.
    wrong: Option<Arc<SchemaTrouble>>,
    /// Why the file cannot be read.
    gone: Option<Arc<SchemaTrouble>>,
    ended: bool,
}

/// Why the text of the file is not served.
#[derive(Debug)]
struct SchemaTrouble {
    /// The first mistake, or the reason.
    sentence: String,
    /// All of it, for a terminal.
    text: String,
    /// All of it, for the page.
    json: Value,
}

impl SchemaNews {
    /// The first schema is served.
    pub fn served() -> Arc<Self> {
        Self::new(NewsState { served: 1, ..NewsState::default() })
    }

    /// No schema is served yet, because of these mistakes.
    pub fn mistaken(mistakes: &Diagnostics) -> Arc<Self> {
        Self::new(NewsState { wrong: Some(Arc::new(SchemaTrouble::mistakes(mistakes))), ..NewsState::default() })
    }

    fn new(state: NewsState) -> Arc<Self> {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        Arc::new(Self { state: watch::Sender::new(state), began })
    }

    /// Another schema is served from now on.
    pub fn serves_another(&self) {
        self.state.send_modify(|state| {
            *state = NewsState { served: state.served + 1, ended: state.ended, ..NewsState::default() }
        });
    }

    /// The text of the file has these mistakes.
    pub fn has_mistakes(&self, mistakes: &Diagnostics) {
        let trouble = Arc::new(SchemaTrouble::mistakes(mistakes));
        self.state.send_modify(|state| (state.wrong, state.gone) = (Some(trouble), None));
    }

    /// The text of the file is not served, for another reason.
    pub fn is_not_served(&self, file: &Path, reason: &str) {
        let trouble = Arc::new(SchemaTrouble::reason(file, reason));
        self.state.send_modify(|state| (state.wrong, state.gone) = (Some(trouble), None));
    }

    /// The file cannot be read, for this reason; without one, it has the text that it had before.
    pub fn tell_gone(&self, file: &Path, reason: Option<&str>) {
        self.state.send_if_modified(|state| {
            let trouble = reason.map(|reason| Arc::new(SchemaTrouble::reason(file, reason)));
            let sentence = |trouble: &Option<Arc<SchemaTrouble>>| trouble.as_ref().map(|one| one.sentence.clone());
            let is_news = sentence(&state.gone) != sentence(&trouble);
            if is_news {
                state.gone = trouble;
            }
            is_news
        });
    }

    /// Ends the streams of events: the server stops.
    pub fn end(&self) {
        self.state.send_modify(|state| state.ended = true);
    }

    fn trouble(&self) -> Option<Arc<SchemaTrouble>> {
        self.state.borrow().trouble()
    }

    /// The refusal of an operation while there is no API yet.
    fn refusal(&self) -> HttpRefusal {
        let first = self.trouble().map_or_else(String::new, |trouble| format!(" {}", trouble.sentence));
        HttpRefusal::NoSchema(format!("The schema has mistakes, so there is no API yet.{first}"))
    }

    fn event(&self, state: &NewsState) -> Bytes {
        let served = (state.served > 0).then(|| format!("{}-{}", self.began, state.served));
        let trouble = state.trouble();
        let trouble = trouble.as_deref().map(|trouble| &trouble.json);
        format!("data: {}\n\n", json!({ "served": served, "trouble": trouble })).into()
    }
}

impl NewsState {
    fn trouble(&self) -> Option<Arc<SchemaTrouble>> {
        self.gone.clone().or_else(|| self.wrong.clone())
    }
}

impl SchemaTrouble {
    fn mistakes(mistakes: &Diagnostics) -> Self {
        let first = mistakes.shown().find(|finding| finding.severity == Severity::Error);
        let first = first.map_or_else(String::new, |ShownFinding { code, message, line, .. }| {
            format!("{}, line {line}: {message} ({code}).", mistakes.file)
        });
        let findings: Vec<Value> = mistakes.shown().map(|finding| shown(&finding)).collect();
        Self {
            sentence: first,
            text: mistakes.render(false),
            json: json!({ "file": mistakes.file, "findings": findings, "more": mistakes.not_shown() }),
        }
    }

    fn reason(file: &Path, reason: &str) -> Self {
        let file = file.display().to_string();
        Self {
            sentence: format!("{file}: {reason}."),
            text: format!("{file}: {reason}\n"),
            json: json!({ "file": file, "findings": [], "more": 0, "reason": reason }),
        }
    }
}

/// A finding for the page, with the section of the documentation that explains it.
fn shown(finding: &ShownFinding) -> Value {
    let severity = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let page = rules::rule_of(finding.code)
        .map(|rule| format!("docs/errors.md#{}", anchor(&format!("{}: {}", rule.code, rule.title))));
    json!({
        "code": finding.code, "severity": severity, "message": finding.message, "help": finding.help, "page": page,
        "line": finding.line, "column": finding.column,
        "before": finding.before, "marked": finding.marked, "after": finding.after,
    })
}

/// What runs operations while there is no API yet: nothing.
impl Backend for SchemaNews {
    fn begin(&self, _: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
        let refused = Answer::refused(&[self.refusal().error()]);
        ready(Ok(Execution::single(false, ready(refused)))).boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        ready(Err("the schema has mistakes".to_owned())).boxed()
    }

    fn close(&self) {
        self.end();
    }
}

/// The response to GET `/dev/schema`: an event with what is known, and one with each change.
pub async fn events(State(news): State<Arc<SchemaNews>>) -> Response {
    let mut changes = news.state.subscribe();
    changes.mark_changed();
    let next = move |(news, mut changes): (Arc<SchemaNews>, watch::Receiver<NewsState>)| async move {
        let event = match timeout(HEARTBEAT, changes.changed()).await {
            Err(_) => Bytes::from_static(COMMENT),
            Ok(Err(_)) => return None,
            Ok(Ok(())) => {
                let state = changes.borrow_and_update().clone();
                (!state.ended).then(|| news.event(&state))?
            }
        };
        Some((event, (news, changes)))
    };
    let begin = stream::once(ready(Bytes::from_static(RETRY)));
    streamed(begin.chain(stream::unfold((news, changes), next)).boxed())
}

/// The response to any request for the API while there is none yet.
pub async fn no_api(State(news): State<Arc<SchemaNews>>, headers: HeaderMap) -> Response {
    refuse(negotiate(&headers).unwrap_or(MediaType::Json), &news.refusal())
}

/// The response to any other request while there is no API yet: for browsers the page, for others the mistakes.
pub async fn page(State(news): State<Arc<SchemaNews>>, uri: Uri, headers: HeaderMap) -> Response {
    if wants_html(&headers) {
        let root = "../".repeat(uri.path().matches('/').count().saturating_sub(1));
        let page = PAGE.replace("{root}", &root).replace("{console}", &format!("{root}console/{}", *VERSION));
        return (StatusCode::SERVICE_UNAVAILABLE, html(HeaderValue::from_static(POLICY), page)).into_response();
    }
    let text = news.trouble().map(|trouble| trouble.text.clone()).unwrap_or_default();
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (StatusCode::SERVICE_UNAVAILABLE, headers, text).into_response()
}
