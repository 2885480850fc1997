//! What a find cannot read, or reads in an unintended way, in; findings that say so out. Must not choose paths.

pub mod counted;
pub mod expiring;
pub mod gaps;
pub mod left_out;
pub mod linked;
pub mod missing;
pub mod new_index;
pub mod single;
pub mod sorted;
pub mod undecided;
