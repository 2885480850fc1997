//! What a plan's reads found → the bytes of the response, in the order of the selection. Must not know calls or HTTP.

pub mod body;
mod computed;
pub mod explain;
mod list;
pub mod misfit;
mod node;
mod object;
pub mod required;
mod scalar;
pub mod writer;
