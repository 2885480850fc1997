//! Clients that write the same items at once in, whether some order explains what they got out.
//!
//! [`history`] looks for the order. [`cells`] and [`people`] say what operations do. [`clients`] runs them on two
//! gateways whose answers get lost.

pub mod cells;
pub mod clients;
pub mod history;
pub mod people;
