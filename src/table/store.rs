//! A DynamoDB client, or the embedded store under the same client. To be written.

/// A store of tables; cheap to clone.
#[derive(Clone)]
pub struct Store {}
