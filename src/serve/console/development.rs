//! What `keyfold dev` shows besides the API in, its routes out. `keyfold serve` has none of them.
//!
//! They show the schema's design, the whole store, and tokens of the callers of the samples. So pages of other origins
//! are refused, whatever the cross-origin rules of the API are.

use super::data::{self, TableData};
use super::design::{self, DesignDocument};
use super::docs;
use super::files;
use super::sample_callers::{self, SampleCallers};
use super::schema_news::{self, SchemaNews};
use super::starting_text::StartingTexts;
use super::writes::{self, WriteConditions};
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;

/// What `keyfold dev` shows besides the API.
pub struct Development {
    /// The callers of the samples, whose tokens the page may have.
    pub sample_callers: Option<SampleCallers>,
    /// The design document of the schema.
    pub design: Arc<dyn DesignDocument>,
    /// What the tables hold.
    pub data: Arc<dyn TableData>,
    /// What the writes of the API demand.
    pub writes: Arc<dyn WriteConditions>,
    /// What the editor starts with.
    pub starting_texts: Arc<dyn StartingTexts>,
    /// What becomes of the schema's file.
    pub news: Arc<SchemaNews>,
}

impl Development {
    /// The routes.
    pub fn routes(self) -> Router {
        let Self { sample_callers, design, data, writes, news, .. } = self;
        let mut routes = Router::new()
            .route("/design", get(design::page).with_state(design.clone()))
            .route("/design.md", get(design::file).with_state(design))
            .route("/dev/writes", get(writes::list).with_state(writes))
            .route("/dev/schema", get(schema_news::events).with_state(news))
            .merge(data::routes(data));
        if let Some(callers) = sample_callers {
            routes = routes.route("/dev/callers", get(sample_callers::list).with_state(Arc::new(callers)));
        }
        routes.layer(from_fn(for_own_pages)).route("/data", get(data::page)).merge(documentation())
    }
}

/// The routes of a server that has no schema yet, besides the API: the mistakes at every path, and the documentation.
pub fn without_schema(news: &Arc<SchemaNews>) -> Router {
    let pages = Router::new()
        .route("/{*path}", get(schema_news::page).with_state(news.clone()))
        .route("/", get(schema_news::page).with_state(news.clone()));
    let routes = Router::new().route("/dev/schema", get(schema_news::events).with_state(news.clone()));
    let routes = routes.layer(from_fn(for_own_pages)).merge(pages.layer(from_fn(for_own_pages_and_links)));
    routes.merge(documentation()).route("/console/{version}/{file}", get(files::file))
}

fn documentation() -> Router {
    Router::new().route("/docs", get(docs::contents)).route("/docs/{*path}", get(docs::page))
}

/// Refuses what `for_own_pages` refuses, but for a link of another page: who follows it sees the page, and the other
/// page does not.
async fn for_own_pages_and_links(request: Request, next: Next) -> Response {
    match is_link(request.headers()) {
        true => next.run(request).await,
        false => for_own_pages(request, next).await,
    }
}

/// Whether a browser shows the answer as a page of its own.
fn is_link(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|found| found == value);
    is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document")
}

/// Refuses a request if its browser says that a page of another origin makes it (Fetch Metadata Request Headers,
/// section 2.4).
async fn for_own_pages(request: Request, next: Next) -> Response {
    let site = request.headers().get("sec-fetch-site");
    match site.is_some_and(|site| site != "same-origin" && site != "none") {
        true => (StatusCode::FORBIDDEN, "Only the server's own pages show this.\n").into_response(),
        false => next.run(request).await,
    }
}
