//! What reads found in, kept for later reads; dropped at once by the changes that touch it. Must not know requests or
//! GraphQL.
//!
//! | file | holds |
//! |---|---|
//! | [`table_cache`] | the cache: an answer, a call of another to wait for, or the right to make the call |
//! | `key` | under which key an item or a page is kept |
//! | `entry` | what is kept of an answer, and its weight in bytes |
//! | `flight` | a call that others wait for |
//! | [`change`] | a change of an item, and what it touches |
//! | `touched` | the tags that a page or an item hangs on, and those that a change drops |
//! | `watches` | which tags were dropped: since when an answer is no longer right |
//! | `pending_write` | a write that is being made, and what it drops when it ends |

pub mod change;
pub mod counts;
pub mod entry;
pub(in crate::table) mod flight;
pub(in crate::table) mod key;
pub(in crate::table) mod pending_write;
pub mod table_cache;
mod touched;
mod watches;
