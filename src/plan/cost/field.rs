//! What one field of an operation costs at most, as plain data.

/// What a field of an operation costs at most.
#[derive(Debug, Clone)]
pub struct FieldCost {
    /// Its coordinate, `User.posts`; of a path of relations, the relation.
    pub coordinate: String,
    /// The response keys that lead to it, without the positions in lists.
    pub path: Vec<String>,
    /// Line and column of the field in the document, from 1; (0, 0) if they are not known.
    pub location: (usize, usize),
    /// How many times it is read or written: once for each object that has it.
    pub times: u64,
    /// How many items it finds or writes each time.
    pub items: u64,
    /// Whether a paging argument says how many.
    pub is_page: bool,
    /// Its calls. Gets that share a batch with others cost less.
    pub calls: u64,
    /// Its capacity units.
    pub units: f64,
    /// Whether it writes.
    pub writes: bool,
}
