//! The greatest cost of one field of an operation, as plain data.

/// The greatest cost of a field of an operation.
#[derive(Debug, Clone)]
pub struct FieldCost {
    /// Its coordinate, `User.posts`; for a path of relations, the relation.
    pub coordinate: String,
    /// The response keys that lead to it, without the positions in lists.
    pub path: Vec<String>,
    /// Line and column of the field in the document, from 1; (0, 0) if they are not known.
    pub location: (usize, usize),
    /// The number of times that it is read or written: once for each object that has it.
    pub times: u64,
    /// The number of items that it finds or writes each time.
    pub items: u64,
    /// Whether a paging argument sets that number.
    pub is_page: bool,
    /// The number of its calls. Gets that share a batch cost less.
    pub calls: u64,
    /// Its capacity units.
    pub units: f64,
    /// Whether it writes.
    pub writes: bool,
}
