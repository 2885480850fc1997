//! An error of the SDK or of its HTTP client in; the failure of the attempt out.

use super::failure::{AttemptFailure, Refusal, is_cut_off};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::table_health::Verdict;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, ConnectorError, ProvideErrorMetadata, SdkError};
use std::error::Error;

impl<E> From<SdkError<E, HttpResponse>> for AttemptFailure
where
    E: ProvideErrorMetadata + Error + 'static,
{
    fn from(error: SdkError<E, HttpResponse>) -> Self {
        let failure = |kind, again, uncertain, verdict| {
            let error = TableError { kind, detail: with_causes(&error) };
            Self { error, again, uncertain, never_connected: false, verdict, refusal: Refusal::Plain }
        };
        match &error {
            // An incomplete answer of DynamoDB: the SDK found no code in it.
            SdkError::ServiceError(refusal) if refusal.err().code().is_none() && is_cut_short(refusal.raw()) => {
                let refused = (400..500).contains(&refusal.raw().status().as_u16());
                failure(TableErrorKind::Unavailable, true, !refused, Verdict::Answered)
            }
            SdkError::ServiceError(refusal) => {
                Self::refused(refusal.err().code(), refusal.err().message(), refusal.raw().status().as_u16())
            }
            SdkError::TimeoutError(_) => failure(TableErrorKind::Timeout, true, true, Verdict::Silent),
            SdkError::ResponseError(_) => failure(TableErrorKind::Unavailable, true, true, Verdict::Silent),
            SdkError::DispatchFailure(trouble) => match trouble.as_connector_error() {
                Some(connector) => connector_failure(connector, &error),
                None => failure(TableErrorKind::Unavailable, true, true, Verdict::Unknown),
            },
            // The call could not be built.
            SdkError::ConstructionFailure(_) => failure(TableErrorKind::Invalid, false, false, Verdict::Unknown),
            _ => failure(TableErrorKind::Invalid, false, true, Verdict::Unknown),
        }
    }
}

impl From<BuildError> for AttemptFailure {
    /// What cannot be built is not sent.
    fn from(error: BuildError) -> Self {
        Self { uncertain: false, ..Self::unusable(TableErrorKind::Invalid, error.to_string()) }
    }
}

/// The failure of a request that was not sent, or whose answer did not come. `error` says why.
pub(in crate::table) fn connector_failure(connector: &ConnectorError, error: &(dyn Error + 'static)) -> AttemptFailure {
    let never_connected = never_connected(error);
    let (kind, again, uncertain) = if connector.is_timeout() {
        (TableErrorKind::Timeout, true, !never_connected)
    } else if connector.is_user() {
        (TableErrorKind::Invalid, false, false)
    } else if connector.is_other() && mentions(error, "credential") {
        // Missing credentials stay missing; a slow or failing source of credentials may recover.
        (
            TableErrorKind::Denied,
            mentions(error, "timed out") || mentions(error, "an error occurred while loading"),
            false,
        )
    } else {
        // No connection, or a broken one.
        (TableErrorKind::Unavailable, true, !never_connected)
    };
    let verdict = if connector.is_io() || connector.is_timeout() { Verdict::Silent } else { Verdict::Unknown };
    let error = TableError { kind, detail: with_causes(error) };
    AttemptFailure { error, again, uncertain, never_connected, verdict, refusal: Refusal::Plain }
}

/// Whether no connection was made, so that nothing was sent. The HTTP client's error types are private, so their texts
/// decide.
fn never_connected(error: &(dyn Error + 'static)) -> bool {
    let refused = |error: &(dyn Error + 'static)| {
        error
            .downcast_ref::<std::io::Error>()
            .is_some_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
    };
    causes(error).any(refused)
        || ["client error (Connect)", "HTTP connect timeout"].iter().any(|words| mentions(error, words))
}

/// Whether an answer without an error code is what is left of one of DynamoDB rather than the page of some other
/// server.
fn is_cut_short(response: &HttpResponse) -> bool {
    response.status().is_success() || response.body().bytes().is_some_and(is_cut_off)
}

/// The texts of an error and its causes, each once: some errors repeat their cause.
pub(in crate::table) fn with_causes(error: &(dyn Error + 'static)) -> String {
    causes(error).map(ToString::to_string).fold(String::new(), |said, text| match said.as_str() {
        "" => text,
        _ if said.ends_with(&text) => said,
        _ => format!("{said}: {text}"),
    })
}

/// Whether the text of an error or of one of its causes contains these words. Some error types of the SDK are private.
fn mentions(error: &(dyn Error + 'static), words: &str) -> bool {
    causes(error).any(|error| error.to_string().contains(words))
}

/// An error and its causes.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'e (dyn Error + 'static)| (**error).source())
}
