//! An answer that is none of success in; the failure of the attempt out.

use super::decode::{JsonItem, present};
use crate::table::attempt::failure::{AttemptFailure, CancelReason, Refusal};
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::retry::table_health::Verdict;
use crate::table::sdk::attempt_error::with_causes;
use aws_credential_types::provider::error::CredentialsError;
use bytes::Bytes;
use serde::Deserialize;
use std::error::Error;

/// An answer, read whole.
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
    /// Whether the call was carried out.
    pub(super) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The error code. The header comes first, as a body may be lost. Either may have a name space before `#` and an address after `:`.
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

/// The failure that an answer tells.
pub(super) fn refused(answer: &Answer) -> AttemptFailure {
    let body = answer.refusal();
    let Some(code) = answer.code(body.as_ref()) else {
        // What begins as JSON is what is left of an answer of DynamoDB. Anything else is the page of another server.
        return match answer.body.starts_with(b"{") {
            true => {
                let is_refusal = (400..500).contains(&answer.status);
                AttemptFailure { uncertain: !is_refusal, verdict: Verdict::Answered, ..broken("the answer was cut off".to_owned()) }
            }
            false => AttemptFailure::refused(None, None, answer.status),
        };
    };
    let message = body.as_ref().and_then(|body| body.message.as_deref());
    let mut failure = AttemptFailure::refused(Some(&code), message, answer.status);
    match (code.as_str(), body) {
        ("ConditionalCheckFailedException", body) => failure.refusal = Refusal::Condition(body.and_then(RefusalBody::item)),
        ("TransactionCanceledException", body) => failure.refusal = Refusal::Canceled(body.map(RefusalBody::reasons).unwrap_or_default()),
        _ => {}
    }
    failure
}

/// The failure of an attempt whose answer broke off or is damaged.
pub(super) fn broken(detail: String) -> AttemptFailure {
    AttemptFailure::unusable(TableErrorKind::Unavailable, detail)
}

/// The failure of an attempt whose answer is none that DynamoDB gives.
pub(super) fn unreadable(error: &serde_json::Error) -> AttemptFailure {
    let detail = format!("the answer cannot be read: {error}");
    let kind = if error.is_data() { TableErrorKind::Invalid } else { TableErrorKind::Unavailable };
    AttemptFailure { verdict: Verdict::Answered, ..AttemptFailure::unusable(kind, detail) }
}

/// The failure of an attempt that was not made, because there are no credentials. Missing credentials stay missing; a slow or failing
/// source of them may recover.
pub(super) fn no_credentials(error: &CredentialsError) -> AttemptFailure {
    let again = !matches!(error, CredentialsError::CredentialsNotLoaded(_) | CredentialsError::InvalidConfiguration(_));
    unsent(TableErrorKind::Denied, with_causes(error), again)
}

/// The failure of an attempt whose request cannot be built.
pub(super) fn unbuilt(error: &(dyn Error + 'static)) -> AttemptFailure {
    unsent(TableErrorKind::Invalid, format!("the request cannot be built: {error}"), false)
}

fn unsent(kind: TableErrorKind, detail: String, again: bool) -> AttemptFailure {
    let error = TableError { kind, detail };
    AttemptFailure { error, again, uncertain: false, never_connected: false, verdict: Verdict::Unknown, refusal: Refusal::Plain }
}
