//! The responses to a request in; what its log line says of its operations out.

use crate::execute::error::ErrorCode;
use crate::execute::gateway::Response;
use crate::execute::report::OperationReport;
use std::sync::{Arc, Mutex, PoisonError};

/// The most operations of a list that a log line names.
const MAX_NAMES: usize = 8;
/// The longest name of an operation in a log line, in bytes.
const MAX_NAME_LENGTH: usize = 128;

/// Collects what the log line of a request says; copies collect together.
#[derive(Debug, Clone, Default)]
pub struct RequestSummary(Arc<Mutex<Operations>>);

/// The operations of a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operations {
    /// How many have run.
    pub count: usize,
    names: Vec<Arc<str>>,
    kinds: Vec<&'static str>,
    codes: Vec<ErrorCode>,
    /// The most rounds of calls that one of them made.
    pub waves: usize,
    /// The calls of all.
    pub calls: usize,
    /// The capacity units that their reads consumed.
    pub read_units: f64,
    /// The capacity units that their writes consumed.
    pub write_units: f64,
}

impl RequestSummary {
    /// Adds an operation that begins.
    pub fn begins(&self, name: Option<&Arc<str>>, kind: &'static str) {
        let mut operations = self.operations();
        if let Some(name) = name.filter(|name| operations.names.len() < MAX_NAMES && !operations.names.contains(name)) {
            // Subscriptions are many and long, and have one name.
            operations.names.reserve_exact(1);
            operations.names.push(name.clone());
        }
        if !operations.kinds.contains(&kind) {
            operations.kinds.reserve_exact(1);
            operations.kinds.push(kind);
        }
    }

    /// Adds an operation's response.
    pub fn add(&self, response: &Response) {
        let mut operations = self.operations();
        if let Some(report) = &response.report {
            operations.add(report);
        }
        operations.add_codes(response.refused);
    }

    /// Adds why a request was refused.
    pub fn refused(&self, code: ErrorCode) {
        self.operations().add_codes([code]);
    }

    /// What was collected.
    pub fn taken(&self) -> Operations {
        std::mem::take(&mut *self.operations())
    }

    fn operations(&self) -> std::sync::MutexGuard<'_, Operations> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Operations {
    fn add(&mut self, report: &OperationReport) {
        self.count += 1;
        self.add_codes(report.errors.iter().map(|(code, _)| *code));
        self.waves = self.waves.max(report.waves());
        self.calls += report.sent().count();
        self.read_units += report.capacity(false);
        self.write_units += report.capacity(true);
    }

    fn add_codes(&mut self, codes: impl IntoIterator<Item = ErrorCode>) {
        for code in codes {
            if !self.codes.contains(&code) {
                self.codes.push(code);
            }
        }
    }

    /// The names of the operations, with commas between them.
    pub fn names(&self) -> Option<String> {
        let shortened = |name: &Arc<str>| name[..name.floor_char_boundary(MAX_NAME_LENGTH)].to_owned();
        (!self.names.is_empty()).then(|| self.names.iter().map(shortened).collect::<Vec<_>>().join(","))
    }

    /// The kinds of the operations, with commas between them.
    pub fn kinds(&self) -> Option<String> {
        (!self.kinds.is_empty()).then(|| self.kinds.join(","))
    }

    /// The codes of the errors, with commas between them.
    pub fn codes(&self) -> Option<String> {
        (!self.codes.is_empty()).then(|| self.codes.iter().map(|code| code.as_str()).collect::<Vec<_>>().join(","))
    }

    /// A figure that only a request with operations has.
    pub fn figure<T>(&self, figure: T) -> Option<T> {
        (self.count > 0).then_some(figure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::error::GraphqlError;

    #[test]
    fn a_request_without_operations_has_no_figures() {
        let summary = RequestSummary::default();
        summary.add(&Response::refused(&[GraphqlError::new(ErrorCode::BadUserInput, "No.")]));
        summary.refused(ErrorCode::Timeout);
        summary.refused(ErrorCode::BadUserInput);
        let taken = summary.taken();
        assert_eq!(
            (taken.codes().as_deref(), taken.names(), taken.figure(taken.waves)),
            (Some("BAD_USER_INPUT,TIMEOUT"), None, None)
        );
    }
}
