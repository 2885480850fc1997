//! What tables hold in, a page that shows it out. `keyfold dev` has it; `keyfold serve` does not.
//!
//! Whoever reaches these addresses reads the whole store, so [`super::development`] refuses pages of other origins.

use super::files::VERSION;
use super::page::html;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// The page.
const PAGE: &str = include_str!("../../../console/data.html");
/// What the page may load, and where it may send: its own files, and its own server.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'";

/// Shows what tables hold. The answers are JSON for the page's own module, `console/data.js`.
pub trait TableData: Send + Sync + 'static {
    /// The tables with their indexes, and the item types in each.
    fn tables(&self) -> Value;

    /// A page of items in the order of their keys.
    fn items(&self, wanted: ItemsQuery) -> BoxFuture<'_, Result<Value, DataTrouble>>;

    /// The fields of the API that read and write an item; null if there is no such item.
    fn uses(&self, wanted: ItemKey) -> BoxFuture<'_, Result<Value, DataTrouble>>;
}

/// The items of a table or an index to show: all, those of a partition, or those that a type's fields lead to.
#[derive(Debug, Default, Deserialize)]
pub struct ItemsQuery {
    /// The table's name.
    pub table: String,
    /// The index's name.
    pub index: Option<String>,
    /// The text of the partition key.
    #[serde(rename = "pk")]
    pub partition: Option<String>,
    /// The text that the sort key begins with.
    pub begins: Option<String>,
    /// Of an index whose keys have several attributes: the texts of the others, as a JSON object. Of the sort key, the
    /// last one that is given is a beginning.
    pub equal: Option<String>,
    /// The item type whose key fields are given, in place of the keys.
    #[serde(rename = "type")]
    pub of_type: Option<String>,
    /// The key fields that are known: a JSON object of texts.
    pub fields: Option<String>,
    /// A text that a value of the item holds, in upper or lower case.
    pub contains: Option<String>,
    /// The item type of the items; the empty text means those of no type.
    pub only: Option<String>,
    /// The `after` of the page before.
    pub after: Option<String>,
}

/// An item by its primary key.
#[derive(Debug, Deserialize)]
pub struct ItemKey {
    /// The table's name.
    pub table: String,
    /// The key in JSON of DynamoDB.
    pub key: String,
}

/// Why nothing is shown, in a sentence for the developer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataTrouble {
    /// The request names something that does not exist, or has a value that does not fit.
    Wrong(String),
    /// The store fails.
    Failed(String),
}

/// The routes of what the page shows. The [`page`] itself shows nothing.
pub fn routes(data: Arc<dyn TableData>) -> Router {
    let routes = Router::new()
        .route("/data/tables", get(tables))
        .route("/data/items", get(items))
        .route("/data/uses", get(uses));
    routes.with_state(data)
}

/// The page.
pub async fn page() -> Response {
    html(HeaderValue::from_static(POLICY), PAGE.replace("{console}", &format!("console/{}", *VERSION)))
}

async fn tables(State(data): State<Arc<dyn TableData>>) -> Response {
    json(Ok(data.tables()))
}

async fn items(State(data): State<Arc<dyn TableData>>, Query(wanted): Query<ItemsQuery>) -> Response {
    json(data.items(wanted).await)
}

async fn uses(State(data): State<Arc<dyn TableData>>, Query(wanted): Query<ItemKey>) -> Response {
    json(data.uses(wanted).await)
}

fn json(answer: Result<Value, DataTrouble>) -> Response {
    let (status, media_type, body) = match answer {
        Ok(body) => (StatusCode::OK, "application/json", body.to_string()),
        Err(DataTrouble::Wrong(text)) => (StatusCode::BAD_REQUEST, "text/plain; charset=utf-8", text),
        Err(DataTrouble::Failed(text)) => (StatusCode::SERVICE_UNAVAILABLE, "text/plain; charset=utf-8", text),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (status, headers, body).into_response()
}
