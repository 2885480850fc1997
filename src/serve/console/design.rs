//! The design document of a schema in, a page that shows it out. `keyfold dev` has it; `keyfold serve` does not.

use super::document::to_html;
use super::files::VERSION;
use super::page::html;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use std::sync::Arc;

/// The page around the document.
const PAGE: &str = include_str!("../../../console/design.html");
/// What the page may load: its own style sheets and modules, and what the tables hold of which types.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Writes the design document.
pub trait DesignDocument: Send + Sync + 'static {
    /// The document in Markdown; the error is a text for the developer.
    fn markdown(&self) -> BoxFuture<'_, Result<Arc<str>, String>>;
}

/// The response to GET `/design`: the document as a page.
pub async fn page(State(document): State<Arc<dyn DesignDocument>>) -> Response {
    let text = match document.markdown().await {
        Ok(text) => text,
        Err(trouble) => return failed(trouble),
    };
    let page =
        PAGE.replace("{console}", &format!("console/{}", *VERSION)).replace("{document}", &to_html(&text, &|_| false));
    html(HeaderValue::from_static(POLICY), page)
}

/// The response to GET `/design.md`: the document itself.
pub async fn file(State(document): State<Arc<dyn DesignDocument>>) -> Response {
    match document.markdown().await {
        Ok(text) => as_it_is(StatusCode::OK, "text/markdown; charset=utf-8", text.to_string()),
        Err(trouble) => failed(trouble),
    }
}

fn failed(trouble: String) -> Response {
    as_it_is(StatusCode::INTERNAL_SERVER_ERROR, "text/plain; charset=utf-8", trouble)
}

/// A text that no browser may take for anything else.
fn as_it_is(status: StatusCode, content_type: &'static str, text: String) -> Response {
    (status, [(header::CONTENT_TYPE, content_type), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")], text).into_response()
}
