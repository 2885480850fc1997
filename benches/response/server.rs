//! A server's prepared answers under the AWS SDK: a shop of 1,000 items, 1,000 links to them and 20 shelves of 50
//! items.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const ITEMS: usize = 1000;
const SHELVES: usize = 20;
/// Keys of a BatchGetItem.
const BATCH: usize = 100;

/// The server.
#[derive(Debug, Clone)]
pub struct Server {
    answers: Arc<Answers>,
    heard: Arc<Mutex<Option<Calls>>>,
}

/// The calls since recording began: operation and body.
pub type Calls = Vec<(String, Value)>;

#[derive(Debug)]
struct Answers {
    shop: Bytes,
    items: Bytes,
    /// The same, together with the shop, by one Query.
    shop_and_items: Bytes,
    links: Bytes,
    shelves: Bytes,
    /// The items of any shelf: which one makes no difference to the work.
    shelf: Bytes,
    batches: Vec<Bytes>,
}

impl Default for Server {
    fn default() -> Self {
        let query = |items: Vec<Value>| {
            body(json!({
                "Count": items.len(), "ScannedCount": items.len(), "Items": items, "ConsumedCapacity": cost(),
            }))
        };
        let batch = |first: usize| {
            let items: Vec<Value> = (first..first + BATCH).map(item).collect();
            body(json!({ "Responses": { "shop": items }, "UnprocessedKeys": {}, "ConsumedCapacity": [cost()] }))
        };
        let link = |number: usize| json!({ "PK": text("SHOP#s"), "SK": text(&format!("LINK#{number:04}")) });
        let shelf = |number: usize| json!({ "PK": text("SHOP#s"), "SK": text(&format!("SHELF#{number:04}")) });
        let shop = json!({ "PK": text("SHOP#s"), "SK": text("#METADATA") });
        let answers = Answers {
            shop: body(json!({ "Item": shop, "ConsumedCapacity": cost() })),
            items: query((0..ITEMS).map(item).collect()),
            shop_and_items: query(std::iter::once(shop).chain((0..ITEMS).map(item)).collect()),
            links: query((0..ITEMS).map(link).collect()),
            shelves: query((0..SHELVES).map(shelf).collect()),
            shelf: query((0..ITEMS / SHELVES).map(item).collect()),
            batches: (0..ITEMS).step_by(BATCH).map(batch).collect(),
        };
        Self { answers: Arc::new(answers), heard: Arc::default() }
    }
}

fn body(json: Value) -> Bytes {
    json.to_string().into()
}

fn text(text: &str) -> Value {
    json!({ "S": text })
}

fn cost() -> Value {
    json!({ "TableName": "shop", "CapacityUnits": 12.5 })
}

fn item(number: usize) -> Value {
    json!({
        "PK": text("SHOP#s"),
        "SK": text(&format!("ITEM#{number:04}")),
        "title": text(&format!("Thing no. {number} of the shop")),
        "stock": { "N": (number % 97).to_string() },
        "price": { "N": format!("{}.5", number % 89) },
        "madeAt": text(&format!("2026-11-20T09:{:02}:00.000Z", number % 60)),
    })
}

impl Server {
    /// Records the calls from now on.
    pub fn listen(&self) {
        *self.heard.lock().unwrap() = Some(Vec::new());
    }

    /// The recorded calls. Ends the recording.
    pub fn heard(&self) -> Calls {
        self.heard.lock().unwrap().take().unwrap_or_default()
    }

    fn answer(&self, operation: &str, request: &[u8]) -> Bytes {
        let request = std::str::from_utf8(request).unwrap();
        let answers = &self.answers;
        match operation {
            "GetItem" => answers.shop.clone(),
            "BatchGetItem" => {
                let at = request.find("ITEM#").unwrap() + "ITEM#".len();
                answers.batches[request[at..at + 4].parse::<usize>().unwrap() / BATCH].clone()
            }
            _ if request.contains("LINK#") => answers.links.clone(),
            _ if request.contains("SHELF#") => answers.shelves.clone(),
            _ if request.contains("#METADATA") => answers.shop_and_items.clone(),
            _ if request.contains("SHOP#s-") => answers.shelf.clone(),
            _ => answers.items.clone(),
        }
    }
}

impl HttpClient for Server {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Server {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").unwrap().rsplit('.').next().unwrap();
        let body = request.body().bytes().unwrap();
        if let Some(heard) = &mut *self.heard.lock().unwrap() {
            heard.push((operation.to_owned(), serde_json::from_slice(body).unwrap()));
        }
        let mut response = HttpResponse::new(200.try_into().unwrap(), SdkBody::from(self.answer(operation, body)));
        response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
        HttpConnectorFuture::ready(Ok(response))
    }
}
