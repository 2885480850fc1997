//! The response to a change in; the same out for all subscribers of a group, who share its bytes.

use super::bounds::{DeliveryBounds, HeldChange};
use crate::table::change_source::ChangeRecord;
use bytes::Bytes;
use std::sync::Arc;

/// A change that waits for groups to deliver it.
pub type WaitingChange = Arc<HeldChange<Arc<ChangeRecord>>>;

/// A response to a change.
#[derive(Debug)]
pub struct Event {
    /// What the subscriber gives as `after` to go on.
    pub id: Arc<str>,
    /// The response map, as JSON.
    pub body: Bytes,
    /// The change; `None` for the item as it was when the subscription began.
    pub record: Option<Arc<ChangeRecord>>,
}

impl Event {
    /// Counts the event as waiting until the last subscriber has taken it.
    pub fn held(self, bounds: &Arc<DeliveryBounds>) -> Arc<HeldChange<Self>> {
        let bytes = self.body.len() + self.record.as_ref().map_or(0, |record| record.bytes());
        HeldChange::new(self, bytes, bounds)
    }
}
