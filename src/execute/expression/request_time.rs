//! The time of a request, which all its expressions share: in milliseconds, and as a text that is made when the first
//! one needs it.

use crate::execute::values::expiry::PassedTimes;
use crate::schema::scalar::date_time::instant_text;
use std::sync::OnceLock;
use std::time::{SystemTime, UNIX_EPOCH};

/// When a request began.
#[derive(Debug, Clone, Default)]
pub struct RequestTime {
    millis: i64,
    text: OnceLock<String>,
}

impl RequestTime {
    /// A request that begins now.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::at(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// A request that began these milliseconds after 1970.
    pub fn at(millis: i64) -> Self {
        Self { millis, text: OnceLock::new() }
    }

    /// Milliseconds since 1970.
    pub fn millis(&self) -> i64 {
        self.millis
    }

    /// The times to live that have passed: those of items that are not there for the request.
    pub fn passed(&self) -> PassedTimes {
        PassedTimes::at(self.millis.div_euclid(1_000))
    }

    /// The canonical DateTime; empty beyond the year 9999.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| instant_text(self.millis).unwrap_or_default())
    }
}
