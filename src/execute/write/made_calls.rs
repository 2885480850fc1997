//! What a write's services were given, and what came of each call. Plain data; must not know how calls are made.

/// What services were given before a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeCalls {
    /// SHA-256 of what the calls depend on, in hexadecimal: calls of the same request with the same are the same.
    pub basis: String,
    /// What came of each call, in the order of the schema.
    pub states: Vec<CallState>,
}

/// What came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallState {
    /// The service has not made it.
    NotMade,
    /// The service has made it.
    Made,
    /// There is no answer that says so.
    Unknown,
}
