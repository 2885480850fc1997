//! Keyfold answers GraphQL from DynamoDB single-table designs. One schema says what the API looks like and where each
//! item lives; Keyfold works out the calls. It is a server, the `keyfold` command, and it is this library, for a
//! program that brings its own server, its own sign-in or its own store.
//!
//! # A gateway
//!
//! A [`Gateway`] is a schema on a store. The schema is a text or a file. The store is in memory, in a directory, in
//! DynamoDB, or the program's own:
//!
//! ```
//! use keyfold::{BuildError, Gateway, Request};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BuildError> {
//! let gateway = Gateway::builder()
//!     .schema(
//!         r#"
//!         extend schema @table(name: "notes", partitionKey: "PK")
//!         type Note @item(keys: { PK: "NOTE#{id}" }) {
//!           id: ID!
//!           text: String!
//!           title: String! @computed(value: "Note {id}")
//!         }
//!         type Query { note(id: ID!): Note @find }
//!         type Mutation { write(id: ID!, text: String!): Note! @put }
//!         "#,
//!     )
//!     .in_memory()
//!     .build()
//!     .await?;
//!
//! let written = gateway.execute(Request::new(r#"mutation { write(id: 1, text: "Hello") { title } }"#)).await;
//! assert_eq!(written.json()["data"]["write"]["title"], "Note 1");
//! # Ok(())
//! # }
//! ```
//!
//! [`build`](GatewayBuilder::build) finds every mistake of the schema at once, and [`BuildError::Schema`] shows each
//! with its place and its remedy, as `keyfold check` does. Once there is a gateway, [`execute`](Gateway::execute) never
//! fails: what goes wrong is among the errors of the [`Response`].
//!
//! # Callers
//!
//! The rules of the schema (`@auth`) decide by the claims of a [`Caller`], which each [`Request`] has. The program says
//! who calls:
//!
//! ```
//! # use keyfold::{Caller, Request};
//! # use serde_json::json;
//! let claims = json!({ "sub": "ann", "role": "editor" });
//! let caller = Caller::signed_in(claims.as_object().cloned().unwrap_or_default());
//! let request = Request { caller, ..Request::new("{ me { name } }") };
//! assert_eq!(request.caller.sub(), Some("ann"));
//! ```
//!
//! # Routes and subscriptions
//!
//! [`router`](Gateway::router) gives `/graphql` for the program's own [`axum::Router`]: GraphQL over HTTP, with
//! subscriptions as `text/event-stream`. A middleware of the program that knows who calls puts a [`Caller`] among the
//! extensions of the request. Otherwise, [`sign_in`](GatewayBuilder::sign_in) says whose tokens are believed.
//! [`subscribe`](Gateway::subscribe) is the stream of responses without HTTP.
//!
//! `examples/embedded/` is a whole program.
//!
//! # Services
//!
//! A field with `@resolve` is computed by a service. Its code may be the program's:
//!
//! ```
//! use keyfold::service::{RefusedItem, ServiceRequest};
//! use keyfold::{BuildError, Gateway, Request};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), BuildError> {
//! let lengths = async |request: ServiceRequest| {
//!     let length = |item: serde_json::Value| match item["text"].as_str() {
//!         Some(text) => Ok(text.len().into()),
//!         None => Err(RefusedItem { code: "NO_TEXT".to_owned(), message: "There is no text.".to_owned() }),
//!     };
//!     request.values().into_iter().map(length).collect()
//! };
//! let gateway = Gateway::builder()
//!     .schema(
//!         r#"
//!         extend schema @table(name: "notes", partitionKey: "PK") @service(name: "lengths")
//!         type Note @item(keys: { PK: "NOTE#{id}" }) {
//!           id: ID!
//!           text: String!
//!           length: Int @resolve(service: "lengths", requires: "text")
//!         }
//!         type Query { note(id: ID!): Note @find }
//!         type Mutation { write(id: ID!, text: String!): Note! @put }
//!         "#,
//!     )
//!     .in_memory()
//!     .service("lengths", lengths)
//!     .build()
//!     .await?;
//! let written = gateway.execute(Request::new(r#"mutation { write(id: 1, text: "Hello") { length } }"#)).await;
//! assert_eq!(written.json()["data"]["write"]["length"], 5);
//! # Ok(())
//! # }
//! ```
//!
//! # A store of one's own
//!
//! A [`store::DataStore`] reads and writes items by plain calls. The module [`store`] has all that one needs.
//!
//! # What is stable
//!
//! What this page shows. The other modules are public for the project's own tests and hidden from the documentation.
//! ARCHITECTURE.md describes them.

pub use embed::builder::{BuildError, GatewayBuilder};
pub use embed::gateway::EmbeddedGateway as Gateway;
pub use execute::caller::Caller;
pub use execute::gateway::Response;
pub use execute::request::{Request, Settings};
pub use serve::sign_in::settings::SignInSettings as SignIn;

pub mod service {
    //! What the code of a service gets and answers.

    pub use crate::execute::service::call::{RefusedItem, ServiceRequest, ServiceResult};
    pub use crate::schema::model::service::Secret;
}

pub mod store {
    //! What a store of a program's own is made of: the trait, its calls and its items.

    pub use crate::schema::table::Table;
    pub use crate::table::call_scope::CallScope;
    pub use crate::table::data::attribute::{Attribute, Item, KeyValue};
    pub use crate::table::data::call::{Page, Query, SortCondition};
    pub use crate::table::data::error::{TableError, TableErrorKind};
    pub use crate::table::data::write::{BatchWrite, WriteAction, WriteCall, WriteError};
    pub use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
    pub use crate::table::retry::budget::RetryBudget;
}

// The docs of its arguments are the texts of `--help`.
#[doc(hidden)]
#[allow(rustdoc::bare_urls, rustdoc::invalid_html_tags)]
pub mod cli;
#[doc(hidden)]
pub mod embed;
#[doc(hidden)]
pub mod execute;
#[doc(hidden)]
pub mod infer;
#[cfg(test)]
mod log_for_tests;
#[doc(hidden)]
pub mod plan;
#[doc(hidden)]
pub mod schema;
#[doc(hidden)]
pub mod serve;
#[doc(hidden)]
pub mod sources;
#[doc(hidden)]
pub mod table;
