//! A draft and how DynamoDB answered it → what follows. Deletes what a transaction does not take, tells why a condition failed, and keeps
//! replicas alike.

pub mod cascade;
pub mod classify;
pub mod replicas;
