//! Values → keys and ranges of keys: bound, combined, resumed after a cursor, spread over shards. Must not know reads
//! or calls.

pub mod bind_range;
pub mod bound;
pub mod bounds;
pub mod combinations;
pub mod encoding;
pub mod marks;
pub mod range;
pub mod resume;
pub mod sharding;
pub mod shown;
pub mod span;

pub mod values;
