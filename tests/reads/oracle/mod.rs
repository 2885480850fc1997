//! The fewest calls that answer a query: what its fields must read, and the best way to read that, found by trying all.
//! It knows the schema's model and the naive executor's rules, and nothing of `plan` or `execute`.
//!
//! | file | from → to |
//! |---|---|
//! | `walk` | a query and all items → what must be read, and for which values each read waits |
//! | `bind` | a find for one parent → its keys and ranges |
//! | `needs` | a read's place among the others: its key or its range |
//! | `least` | what must be read → the fewest round trips, calls and read units |
//! | `seen` | what a store is really asked for |
//!
//! **What it may do.** A read waits only for the values in its key, for the list whose rows it belongs to, and, on a
//! path of relations, for the item before it. Nothing that an earlier call of the table has brought is read again. The
//! Gets of a round trip are one BatchGetItem for 100 keys. Reads of one partition of a table or an index, with equal
//! consistency and no filter, may be one Query if each but the last reads its range to the end, and no type of the
//! schema has many items between two of them. A read is made as soon as it can be. What Gets would save by waiting for
//! those of a later round trip is found, too, and counts for nothing: whether those are made is not known before.
//!
//! **What it knows besides.** It sees the items, so it takes the best way for exactly these: every list and every page
//! with a filter takes one call. A count and a long page may end before what another read wants: what is behind them
//! joins them only if nothing waits for it, and a Get only if no batch is made. Reads are of one partition if its
//! values come from one place: the same literal, variable or field. What is equal by chance counts for nothing, so a
//! run is below the oracle where chance makes two Queries one. What an earlier call has brought counts if its key comes
//! from the same place, or if the later read waits for that call.
//!
//! **What it leaves out.** Responses with errors. Pages that begin at a cursor. Pages through relations of which a link
//! leads nowhere, and their `totalCount`. Ranges that a page of 1 MB cuts. More than [`least::MOST`] reads of one
//! partition in a round trip.

pub mod bind;
pub mod least;
pub mod needs;
pub mod seen;
pub mod walk;
