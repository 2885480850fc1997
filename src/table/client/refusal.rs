//! An answer that is none of success in; the failure of the attempt out.

use crate::table::attempt::failure::{AttemptFailure, CancelReason, Refusal, is_cut_off};
use crate::table::attempt::sdk_failure::with_causes;
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::json::decode::JsonItem;
use crate::table::json::reader::Unreadable;
use crate::table::retry::table_health::Verdict;
use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use hyper::Response;
use hyper::header::{DATE, HeaderMap, HeaderName};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::error::Error;

const AMZ_ERROR_TYPE: HeaderName = HeaderName::from_static("x-amzn-errortype");

/// An answer that is none of success, read whole.
pub(super) struct Answer {
    /// The HTTP status.
    pub(super) status: u16,
    /// The header `x-amzn-errortype`.
    pub(super) error_type: Option<String>,
    /// The header `date`: the server's time.
    pub(super) date: Option<String>,
    /// The body.
    pub(super) body: Bytes,
}

/// The body of a refusal: its code, why a transaction was canceled, and the item of a failed condition.
#[derive(Deserialize, Default)]
pub(super) struct RefusalBody {
    #[serde(rename = "__type")]
    kind: Option<String>,
    #[serde(alias = "Message")]
    message: Option<String>,
    #[serde(rename = "CancellationReasons", default)]
    reasons: Vec<ReasonBody>,
    #[serde(rename = "Item")]
    item: Option<JsonItem>,
}

/// Why one write of a transaction was refused.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReasonBody {
    code: Option<String>,
    message: Option<String>,
    item: Option<JsonItem>,
}

impl Answer {
    /// What an HTTP response says.
    pub(super) fn new(response: Response<Bytes>) -> Self {
        let header = |name| text(response.headers(), &name).map(str::to_owned);
        let (error_type, date) = (header(AMZ_ERROR_TYPE), header(DATE));
        Self { status: response.status().as_u16(), error_type, date, body: response.into_body() }
    }

    /// The error code. The header comes first, as a body may be lost. Either may have a name space before `#` and an
    /// address after `:`.
    pub(super) fn code(&self, body: Option<&RefusalBody>) -> Option<String> {
        let text = self.error_type.as_deref().or_else(|| body?.kind.as_deref())?;
        let name = text.split(':').next().unwrap_or_default();
        let name = name.rsplit('#').next().unwrap_or_default();
        (!name.is_empty()).then(|| name.to_owned())
    }

    /// The body of a refusal; `None` if it is not one.
    pub(super) fn refusal(&self) -> Option<RefusalBody> {
        serde_json::from_slice(&self.body).ok()
    }
}

impl RefusalBody {
    /// The item of a failed condition.
    fn item(self) -> Option<Item> {
        present(self.item)
    }

    /// Why the writes of a transaction were refused, in their order.
    fn reasons(self) -> Vec<CancelReason> {
        let reason = |ReasonBody { code, message, item }: ReasonBody| CancelReason {
            code: code.unwrap_or_else(|| "None".to_owned()),
            message,
            item: present(item),
        };
        self.reasons.into_iter().map(reason).collect()
    }
}

/// A header, if it is a text.
pub(super) fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// The failure that an answer reports.
pub(super) fn refused(answer: &Answer) -> AttemptFailure {
    let body = answer.refusal();
    let Some(code) = answer.code(body.as_ref()) else {
        return match is_cut_off(&answer.body) {
            true => {
                let is_refusal = (400..500).contains(&answer.status);
                AttemptFailure {
                    uncertain: !is_refusal,
                    verdict: Verdict::Answered,
                    ..broken("the answer was cut off".to_owned())
                }
            }
            false => AttemptFailure::refused(None, None, answer.status),
        };
    };
    let message = body.as_ref().and_then(|body| body.message.as_deref());
    let mut failure = AttemptFailure::refused(Some(&code), message, answer.status);
    match (code.as_str(), body) {
        ("ConditionalCheckFailedException", body) => {
            failure.refusal = Refusal::Condition(body.and_then(RefusalBody::item))
        }
        ("TransactionCanceledException", body) => {
            failure.refusal = Refusal::Canceled(body.map(RefusalBody::reasons).unwrap_or_default())
        }
        _ => {}
    }
    failure
}

/// The failure of an attempt whose answer broke off or is damaged.
pub(in crate::table) fn broken(detail: String) -> AttemptFailure {
    AttemptFailure::unusable(TableErrorKind::Unavailable, detail)
}

/// The failure of an attempt whose answer has too many bytes. The next one would have as many.
pub(super) fn too_long(detail: String) -> AttemptFailure {
    AttemptFailure {
        again: false,
        verdict: Verdict::Answered,
        ..AttemptFailure::unusable(TableErrorKind::TooMuch, detail)
    }
}

/// The item of a refusal; `None` if there is none. Some compatible servers send an empty map instead of nothing.
fn present(item: Option<JsonItem>) -> Option<Item> {
    item.map(|JsonItem(item)| item).filter(|item| !item.is_empty())
}

/// The failure of an attempt whose answer is none that DynamoDB gives: another text than JSON was cut off or damaged on
/// its way.
pub(in crate::table) fn unreadable(text: &str, error: &Unreadable) -> AttemptFailure {
    let detail = format!("the answer cannot be read: {} at byte {}", error.what, error.at);
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let kind = if is_json { TableErrorKind::Invalid } else { TableErrorKind::Unavailable };
    AttemptFailure { verdict: Verdict::Answered, ..AttemptFailure::unusable(kind, detail) }
}

/// The failure of an attempt that was not made, because there are no credentials. Missing credentials stay missing; a
/// slow or failing source of them may recover.
pub(super) fn no_credentials(error: &CredentialsError) -> AttemptFailure {
    let again = !matches!(error, CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_));
    unsent(TableErrorKind::Denied, with_causes(error), again)
}

/// The failure of an attempt whose request cannot be built.
pub(super) fn unbuilt(error: &(dyn Error + 'static)) -> AttemptFailure {
    unsent(TableErrorKind::Invalid, format!("the request cannot be built: {error}"), false)
}

/// The failure of an attempt without a connection.
pub(super) fn not_connected(kind: TableErrorKind, detail: String) -> AttemptFailure {
    AttemptFailure { never_connected: true, verdict: Verdict::Silent, ..unsent(kind, detail, true) }
}

fn unsent(kind: TableErrorKind, detail: String, again: bool) -> AttemptFailure {
    let error = TableError { kind, detail };
    AttemptFailure {
        error,
        again,
        uncertain: false,
        never_connected: false,
        verdict: Verdict::Unknown,
        refusal: Refusal::Plain,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::attribute::Attribute;

    fn answer(status: u16, error_type: Option<&str>, body: &'static str) -> Answer {
        Answer {
            status,
            error_type: error_type.map(str::to_owned),
            date: None,
            body: Bytes::from_static(body.as_bytes()),
        }
    }

    #[test]
    fn the_code_is_in_the_header_or_in_the_body() {
        for (header, body) in [
            (Some("ThrottlingException"), ""),
            (Some("ThrottlingException:http://internal.amazon.com/coral/com.amazon.coral.availability/"), "{}"),
            (
                Some("com.amazon.coral.availability#ThrottlingException:http://internal.amazon.com/"),
                r#"{"__type":"x#Other"}"#,
            ),
            // The body was lost on the way.
            (Some("ThrottlingException"), r#"{"__type":"com.amaz"#),
            (None, r#"{"__type":"com.amazon.coral.availability#ThrottlingException","message":"Rate exceeded"}"#),
            (None, r#"{"message":"Rate exceeded","__type":"ThrottlingException"}"#),
        ] {
            let failure = refused(&answer(400, header, body));
            assert_eq!(
                (failure.error.kind, failure.again, failure.uncertain),
                (TableErrorKind::Throttled, true, false),
                "{header:?} {body}"
            );
        }
    }

    #[test]
    fn an_answer_without_a_code_is_cut_off_or_not_dynamodb_s() {
        let classified = |status, body| {
            let failure = refused(&answer(status, None, body));
            (failure.error.kind, failure.again, failure.uncertain)
        };
        assert_eq!(classified(400, r#"{"__type":"com.amaz"#), (TableErrorKind::Unavailable, true, false));
        assert_eq!(classified(500, "{"), (TableErrorKind::Unavailable, true, true));
        assert_eq!(classified(502, "<html>"), (TableErrorKind::Unavailable, true, true));
        assert_eq!(classified(403, r#"{"message":"Forbidden"}"#), (TableErrorKind::Denied, false, false));
        assert_eq!(
            classified(429, r#"{"message":"API rate limit exceeded"}"#),
            (TableErrorKind::Throttled, true, false)
        );
        assert_eq!(classified(404, "{}"), (TableErrorKind::Unavailable, false, false));
        assert_eq!(classified(404, "<html>"), (TableErrorKind::Unavailable, false, false));
        assert_eq!(classified(307, ""), (TableErrorKind::Unavailable, false, true));
    }

    #[test]
    fn the_message_is_found_in_either_spelling() {
        for body in [
            r#"{"__type":"x#ValidationException","message":"said so"}"#,
            r#"{"__type":"ValidationException","Message":"said so"}"#,
        ] {
            assert_eq!(refused(&answer(400, None, body)).error.detail, "ValidationException: said so");
        }
    }

    #[test]
    fn a_failed_condition_gives_the_item() {
        let refusal =
            refused(&answer(400, None, r#"{"__type":"x#ConditionalCheckFailedException","Item":{"n":{"N":"1"}}}"#))
                .refusal;
        assert!(
            matches!(refusal, Refusal::Condition(Some(item)) if item == Item::from([("n", Attribute::N("1".into()))]))
        );
        let refusal = refused(&answer(400, Some("ConditionalCheckFailedException"), "")).refusal;
        assert!(matches!(refusal, Refusal::Condition(None)));
    }

    #[test]
    fn a_canceled_transaction_gives_its_reasons_in_order() {
        let body = r#"{"__type":"x#TransactionCanceledException","Message":"cancelled","CancellationReasons":[
            {"Code":"None"},
            {"Code":"ConditionalCheckFailed","Message":"failed","Item":{"n":{"N":"1"}}},
            {"Code":"ItemCollectionSizeLimitExceeded","Message":"too large"},
            {"Code":"TransactionConflict","Item":{}},
            {"Code":"ProvisionedThroughputExceeded"},
            {"Code":"ThrottlingError"},
            {"Code":"ValidationError","Message":null},
            {}]}"#;
        let Refusal::Canceled(reasons) = refused(&answer(400, None, body)).refusal else { unreachable!() };
        let found: Vec<_> = reasons
            .iter()
            .map(|reason| (reason.code.as_str(), reason.message.as_deref(), reason.item.is_some()))
            .collect();
        assert_eq!(
            found,
            [
                ("None", None, false),
                ("ConditionalCheckFailed", Some("failed"), true),
                ("ItemCollectionSizeLimitExceeded", Some("too large"), false),
                ("TransactionConflict", None, false),
                ("ProvisionedThroughputExceeded", None, false),
                ("ThrottlingError", None, false),
                ("ValidationError", None, false),
                ("None", None, false),
            ]
        );
    }
}
