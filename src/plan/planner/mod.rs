//! The selections of an operation in, reads and the shape of the response out. Must not know waves or the values of
//! variables.
//!
//! | module | in → out |
//! |---|---|
//! | `query`, `mutation`, `subscription` | an operation → its steps |
//! | `builder` | an object's selection → its fields: stored, embedded or found |
//! | `find` | a find field → the relations on its path, and what it gives |
//! | `relation` | one relation → its reads |
//! | `resolved` | a field that a service computes → the call of the service |
//! | `abstract_type` | a find of an interface or a union → one read for all its types; global ids → a Get for each type |
//! | `connection` | the selection on a connection → its parts |
//! | `binding` | what a find is bound to → the sources of a read's key |
//! | `key_condition` | a key condition → whether it lets in items of other types |
//! | `guard` | the rules of a field and of the types behind it → its guard |
//! | `cache` | the hints of a field and its type → how old its reads may be |
//! | `entity` | what is known of an object before it is read |

mod abstract_type;
mod binding;
mod builder;
mod cache;
mod connection;
mod entity;
mod find;
mod guard;
mod key_condition;
pub mod mutation;
pub mod query;
mod relation;
mod resolved;
pub mod subscription;
