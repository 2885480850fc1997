//! Keyfold inside a program: the query of the README, on the samples of this repository.
//!
//! `cargo run --example embedded` prints the answer. `cargo run --example embedded -- serve` answers at
//! <http://127.0.0.1:4001/graphql>, as whom the header `X-User` names.

use axum::extract::Request as HttpRequest;
use axum::middleware::{Next, from_fn};
use keyfold::{BuildError, Caller, Gateway, Request};
use serde_json::{Map, Value};
use std::error::Error;

const AIKO: &str = "11111111-1111-4111-8111-111111111111";
const QUERY: &str = r#"{
  group(id: "22222222-2222-4222-8222-222222222222") {
    name
    users { nodes { name } }
    containers { nodes { name foods { name quantity } } }
  }
}"#;

/// The schema of this repository, with tables in memory.
async fn gateway() -> Result<Gateway, BuildError> {
    let pantry = include_str!("../../samples/nishiki-table-dev-db.jsonl");
    Gateway::builder()
        .schema(include_str!("../../schema.graphql"))
        .in_memory()
        .items("nishiki-table-dev-db", pantry)
        .build()
        .await
}

/// The caller whose id this is. A real program has checked it.
fn user(id: &str) -> Caller {
    Caller::signed_in(Map::from_iter([("sub".to_owned(), Value::from(id))]))
}

/// The answer to the query, as Aiko.
pub async fn answer() -> Result<Value, BuildError> {
    let request = Request { caller: user(AIKO), ..Request::new(QUERY) };
    Ok(gateway().await?.execute(request).await.json())
}

/// The routes of the program, whose middleware knows who calls.
pub async fn routes() -> Result<axum::Router, BuildError> {
    let sign_in = async |mut request: HttpRequest, next: Next| {
        let id = request.headers().get("x-user").and_then(|id| id.to_str().ok()).map(user);
        request.extensions_mut().insert(id.unwrap_or_default());
        next.run(request).await
    };
    Ok(gateway().await?.router().layer(from_fn(sign_in)))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:4001").await?;
        return Ok(axum::serve(listener, routes().await?).await?);
    }
    println!("{:#}", answer().await?);
    Ok(())
}
