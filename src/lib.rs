//! Keyfold: a GraphQL gateway for DynamoDB single-table designs.
//!
//! The modules are named in the order in which data travels: [`schema`] reads `schema.graphql` into a checked model,
//! [`plan`] turns an operation into waves of batched calls, [`table`] sends them to DynamoDB or the embedded store,
//! [`execute`] runs a plan and writes the response, [`serve`] speaks HTTP, [`cli`] holds the commands. For who has a
//! table and no schema, [`sources`] reads what they have and [`infer`] makes a schema of it. ARCHITECTURE.md says the
//! rest.

pub mod cli;
pub mod execute;
pub mod infer;
#[cfg(test)]
mod log_for_tests;
pub mod plan;
pub mod schema;
pub mod serve;
pub mod sources;
pub mod table;
