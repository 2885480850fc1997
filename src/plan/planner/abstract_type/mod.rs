//! Fields whose objects can have several types in, reads and one planned object for each type out.

mod find;
mod node;
