//! Laws that hold for every operation and all data, each tried on random ones. A list of numbers (`choices`) makes the
//! data and the operations, so that a failing case shrinks to a small one. The files beside this folder test the
//! results of queries themselves.
//!
//! | file | proves |
//! |---|---|
//! | `pages` | pages put together are the whole list, forward and backward |
//! | `abstract_types` | a read of several types returns the same as item-by-item reads |
//! | `replicas` | the replicas of an item never differ |
//! | `collection_reads` | one Query of an item and its neighbours returns the same as separate reads |
//! | `shared_queries` | reads of one partition that share a Query change no response and make no more calls |
//! | `operations` | any valid operation gets a well-formed response by few batches |
//! | `cached_reads` | a cached answer is the uncached one, whatever is written in between |
//! | `known_items` | what a request knows changes no answer, and what a list brings costs rules no call |
//! | `least_calls` | queries take the fewest round trips, calls and read units |
//! | `conditions` | the gateway evaluates conditions as DynamoDB does |
//! | `several_attributes` | each prefix of a key of several attributes reads what a filter gives |
//! | `odd_keys` | whatever keys other programs write, what a scan of a type shows is found by its fields |
//! | `spellings` | whatever the spelling of a key, what a list shows is found by its fields |

mod abstract_types;
mod cached_reads;
mod choices;
mod collection_reads;
mod conditions;
mod known_items;
mod least_calls;
mod odd_keys;
mod operations;
mod pages;
mod replicas;
mod selection;
mod several_attributes;
mod shared_queries;
mod spellings;
mod world;
