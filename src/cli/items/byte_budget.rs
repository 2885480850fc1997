//! How many bytes a command may keep of what it has seen.

/// The most bytes of what is kept of a table's items: values and their guards, or keys.
const MAX_BYTES: usize = 256 * 1024 * 1024;

/// A bound in bytes, and what is taken of it.
#[derive(Debug, Default)]
pub struct ByteBudget {
    taken: usize,
}

impl ByteBudget {
    /// Takes so many bytes. Whether they are there.
    pub fn take(&mut self, bytes: usize) -> bool {
        self.taken += bytes;
        !self.is_over()
    }

    /// Whether more was asked for than there is.
    pub fn is_over(&self) -> bool {
        self.taken > MAX_BYTES
    }
}
