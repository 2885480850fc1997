//! The number of rows that want a page and the page's size in; whether the response has room for the pages out: they
//! are refused before they are read. Must not know reads.

use crate::execute::error::{ErrorCode, Failure};
use std::sync::Arc;

/// The number of objects that the pages of a wave may have.
#[derive(Debug)]
pub struct PageBound {
    most: usize,
    left: usize,
}

impl PageBound {
    /// The bound before a wave: the response may have `most` objects, and has some already.
    pub fn new(most: usize, there: usize) -> Self {
        Self { most, left: most.saturating_sub(there) }
    }

    /// Reserves room for the pages of a field, if there is any.
    pub fn admit(&mut self, field: &str, rows: usize, size: u32) -> Result<(), Arc<Failure>> {
        let asked = rows.saturating_mul(size as usize);
        if asked <= self.left {
            self.left -= asked;
            return Ok(());
        }
        let Self { most, .. } = self;
        let pages = if rows == 1 { "a page".to_owned() } else { format!("{rows} pages") };
        let message = format!(
            "The response might have more than {most} objects: {pages} of {field} with {size} objects. Ask for smaller pages."
        );
        Err(Failure::new(ErrorCode::LimitExceeded, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_take_room_together() {
        let mut bound = PageBound::new(100, 10);
        assert!(bound.admit("User.posts", 3, 20).is_ok());
        assert!(bound.admit("User.posts", 1, 31).is_err());
        assert!(bound.admit("User.posts", 2, 15).is_ok());
        assert!(bound.admit("User.posts", 1, 0).is_ok());
        let message = bound.admit("Post.comments", 2, 7).err().map(|why| why.message.clone()).unwrap_or_default();
        assert!(message.contains("2 pages of Post.comments with 7 objects"), "{message}");
        assert!(bound.admit("User.posts", usize::MAX, u32::MAX).is_err());
    }
}
