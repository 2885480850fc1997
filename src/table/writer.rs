//! Sends writes until they are done, refused, or the request's deadline passes. To be written.

use super::attribute::{Item, Key};
use super::loaders::Loaders;
use super::write::{WriteCall, WriteError};

impl Loaders {
    /// One write as PutItem, UpdateItem or DeleteItem. Gives the item as it is after an update (ALL_NEW), and as it was before a put or
    /// a delete (ALL_OLD); `None` if there was none.
    pub async fn write(&self, _call: &WriteCall) -> Result<Option<Item>, WriteError> {
        todo!()
    }

    /// Several writes as one TransactWriteItems with an idempotency token: all or none. The token is the same in every attempt.
    pub async fn transact(&self, _calls: &[WriteCall], _token: &str) -> Result<(), WriteError> {
        todo!()
    }

    /// Deletes items by BatchWriteItem, 25 a call; safe to repeat.
    pub async fn delete_batch(&self, _table: &str, _keys: Vec<Key>) -> Result<(), WriteError> {
        todo!()
    }
}
