//! `keyfold dev` and `keyfold serve`: a schema and a store in, a server that runs until it is asked to stop out.

mod bind;
mod bus;
mod data;
mod design;
pub mod dev;
mod dev_store;
pub mod file_services;
mod follow;
mod run;
pub mod serve;
pub mod signals;
