//! An error in, its HTTP status out. Only this file knows both.

use super::media_type::MediaType;
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::serve::quota::QuotaExceeded;
use crate::serve::sign_in::fault::RefusedCaller;
use crate::serve::sign_in::rate_limit::TooFast;
use axum::http::StatusCode;

/// Why a request was turned away before it was a GraphQL operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpRefusal {
    /// The request is not well-formed: a sentence that says how.
    Malformed(String),
    /// The request has more operations than this.
    LongList(usize),
    /// There is nothing at this path.
    NoSuchPath,
    /// The method is none that the API has.
    Method,
    /// The method is none that this other path has.
    MethodOfPath,
    /// A request of a WebSocket's path that does not ask for one as RFC 6455 says.
    NoWebSocket,
    /// A mutation or subscription by GET.
    NotByGet,
    /// The client accepts none of our media types.
    NotAcceptable,
    /// The body did not arrive in time.
    SlowBody,
    /// The body is larger than this many bytes.
    TooLarge(usize),
    /// The body has a coding that the server does not know.
    UnknownCoding,
    /// The client accepts none of our codings, and no body without one.
    CodingNotAcceptable,
    /// The body is not JSON in UTF-8.
    NotJson,
    /// A page of an origin that is not allowed asks for a WebSocket.
    ForeignOrigin,
    /// The request is for this host, which is not the server's.
    ForeignHost(String),
    /// The client shows a token or a key that is not accepted. `keyfold dev` says why.
    NotSignedIn(Option<String>),
    /// Nobody's token can be checked now, because the keys of its issuer could not be read.
    SignInUnavailable,
    /// The server runs as many requests as its settings allow, or is stopping.
    Busy,
    /// The client has as many concurrent requests as the settings allow.
    ClientBusy,
    /// The caller has begun as many operations as the settings allow for a time.
    TooFast(TooFast),
    /// So many operations of the WebSocket wait that no other can.
    SocketBusy,
    /// The WebSocket has as many subscriptions as the settings allow.
    TooManySubscriptions,
    /// The request needs more memory than the settings allow for all requests.
    TooMuchMemory,
    /// WebSockets do not reach the server.
    NoWebSockets,
    /// A response cannot be streamed to the client.
    NoEvents,
    /// The time of the request was over before its operation gave a response.
    OutOfTime,
    /// The operation ran, but its response is larger than this many bytes, which is what the transport takes.
    ResponseTooLarge(usize),
    /// The operation ran, but there is no memory to keep its response until the client takes it.
    ResponseDropped(QuotaExceeded),
    /// The schema has mistakes, so there is no API yet: a sentence with the first of them.
    NoSchema(String),
    /// The handler failed because of a bug.
    Failed,
}

/// The status of an error code, for media types whose status reports errors.
pub fn code_status(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::GraphqlParseFailed
        | ErrorCode::GraphqlValidationFailed
        | ErrorCode::PersistedQueryNotFound
        | ErrorCode::PersistedQueryNotSupported
        | ErrorCode::BadUserInput
        | ErrorCode::LimitExceeded => StatusCode::BAD_REQUEST,
        ErrorCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ErrorCode::Forbidden => StatusCode::FORBIDDEN,
        ErrorCode::NotFound => StatusCode::NOT_FOUND,
        ErrorCode::Conflict | ErrorCode::IdempotencyKeyInUse => StatusCode::CONFLICT,
        ErrorCode::IdempotencyKeyReused => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Throttled => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::Timeout => StatusCode::GATEWAY_TIMEOUT,
        ErrorCode::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::ServiceRefused => StatusCode::UNPROCESSABLE_ENTITY,
        ErrorCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The status of a GraphQL response: `refused` is the code of a request that failed before execution.
///
/// GraphQL over HTTP: with `application/json` every well-formed request is answered with 200, "independent of any
/// GraphQL request error or field error", since clients of that type may not look into the body of another; with
/// `application/graphql-response+json` the status says it.
pub fn response_status(media: MediaType, refused: Option<ErrorCode>) -> StatusCode {
    match (media, refused) {
        (MediaType::GraphqlResponse, Some(code)) => code_status(code),
        _ => StatusCode::OK,
    }
}

impl HttpRefusal {
    /// The status.
    pub fn status(&self) -> StatusCode {
        match self {
            Self::Malformed(_) | Self::LongList(_) | Self::ResponseTooLarge(_) => StatusCode::BAD_REQUEST,
            Self::NoSuchPath | Self::NoWebSockets => StatusCode::NOT_FOUND,
            Self::Method | Self::MethodOfPath | Self::NotByGet => StatusCode::METHOD_NOT_ALLOWED,
            Self::NoWebSocket => StatusCode::UPGRADE_REQUIRED,
            Self::NotAcceptable | Self::CodingNotAcceptable | Self::NoEvents => StatusCode::NOT_ACCEPTABLE,
            Self::SlowBody => StatusCode::REQUEST_TIMEOUT,
            Self::TooLarge(_) | Self::TooMuchMemory => StatusCode::PAYLOAD_TOO_LARGE,
            Self::NotJson | Self::UnknownCoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::ForeignOrigin => StatusCode::FORBIDDEN,
            Self::ForeignHost(_) => StatusCode::MISDIRECTED_REQUEST,
            Self::NotSignedIn(_) => StatusCode::UNAUTHORIZED,
            Self::ClientBusy
            | Self::TooFast(_)
            | Self::SocketBusy
            | Self::TooManySubscriptions
            | Self::ResponseDropped(QuotaExceeded::Part) => StatusCode::TOO_MANY_REQUESTS,
            Self::SignInUnavailable
            | Self::Busy
            | Self::NoSchema(_)
            | Self::ResponseDropped(QuotaExceeded::Total | QuotaExceeded::TooLarge) => StatusCode::SERVICE_UNAVAILABLE,
            Self::OutOfTime => StatusCode::GATEWAY_TIMEOUT,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The methods that are allowed, for the header `Allow`.
    pub fn allow(&self) -> Option<&'static str> {
        match self {
            Self::Method => Some("GET, HEAD, POST"),
            Self::NotByGet => Some("POST"),
            _ => None,
        }
    }

    /// The codings that a body may have, for the header `Accept-Encoding` (RFC 9110 section 12.5.3).
    pub fn codings(&self) -> Option<&'static str> {
        matches!(self, Self::UnknownCoding).then_some("gzip")
    }

    /// The version of WebSockets, for the header `Sec-WebSocket-Version` (RFC 6455 section 4.4).
    pub fn websocket_version(&self) -> Option<&'static str> {
        matches!(self, Self::NoWebSocket).then_some("13")
    }

    /// How a client may sign in, for the header `WWW-Authenticate` (RFC 9110 section 11.6.1). It does not say what was
    /// wrong.
    pub fn challenge(&self) -> Option<&'static str> {
        matches!(self, Self::NotSignedIn(_)).then_some("Bearer")
    }

    /// After how many seconds the client may try again, for the header `Retry-After`.
    pub fn retry_after(&self) -> Option<u64> {
        match self {
            // A second that has begun counts as a whole one.
            Self::TooFast(TooFast(wait)) => Some(wait.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX)),
            _ => matches!(self.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS).then_some(1),
        }
    }

    /// The refusal as an error in the body.
    pub fn error(&self) -> GraphqlError {
        GraphqlError::new(self.code(), self.message())
    }

    fn code(&self) -> ErrorCode {
        match self {
            Self::Malformed(_)
            | Self::Method
            | Self::MethodOfPath
            | Self::NoWebSocket
            | Self::NotByGet
            | Self::NotAcceptable
            | Self::CodingNotAcceptable
            | Self::UnknownCoding
            | Self::NotJson
            | Self::NoEvents => ErrorCode::BadUserInput,
            Self::LongList(_)
            | Self::TooLarge(_)
            | Self::ClientBusy
            | Self::TooFast(_)
            | Self::SocketBusy
            | Self::TooManySubscriptions
            | Self::TooMuchMemory
            | Self::ResponseTooLarge(_)
            | Self::ResponseDropped(QuotaExceeded::Part) => ErrorCode::LimitExceeded,
            Self::NoSuchPath | Self::NoWebSockets => ErrorCode::NotFound,
            Self::ForeignOrigin | Self::ForeignHost(_) => ErrorCode::Forbidden,
            Self::NotSignedIn(_) => ErrorCode::Unauthenticated,
            Self::SignInUnavailable
            | Self::Busy
            | Self::NoSchema(_)
            | Self::ResponseDropped(QuotaExceeded::Total | QuotaExceeded::TooLarge) => ErrorCode::Unavailable,
            Self::SlowBody | Self::OutOfTime => ErrorCode::Timeout,
            Self::Failed => ErrorCode::Internal,
        }
    }

    /// What is wrong, and what the client can do.
    fn message(&self) -> String {
        let sentence = match self {
            Self::Malformed(sentence) | Self::NoSchema(sentence) => return sentence.clone(),
            Self::LongList(most @ 2..) => return format!("A list may have {most} operations."),
            Self::TooLarge(limit) => return format!("The body is larger than {limit} bytes."),
            Self::ForeignHost(host) => {
                return format!(
                    "This server does not serve the host \"{host}\". Its option --allow-host can allow it."
                );
            }
            Self::ResponseTooLarge(most) => {
                return format!(
                    "The operation ran, but its response is larger than the {most} bytes that Lambda takes. Ask for less at once."
                );
            }
            Self::LongList(_) => "The body is a list. Send one operation in each request.",
            Self::NoSuchPath => "Nothing is at this path. The API is at /graphql.",
            Self::Method => "Send operations by POST. Queries may also be sent by GET.",
            Self::MethodOfPath => "This path does not have this method. The API is at /graphql.",
            Self::NoWebSocket => "This path is for WebSockets of version 13.",
            Self::NoWebSockets => "WebSockets do not reach this server. Subscribe by text/event-stream.",
            Self::NotByGet => "Only queries can be sent by GET. Send this operation by POST.",
            Self::NotAcceptable => "Accept application/graphql-response+json, application/json or text/event-stream.",
            Self::CodingNotAcceptable => "Accept a body without a coding, or zstd, gzip or br.",
            Self::UnknownCoding => "The body may have no coding but gzip, once.",
            Self::SlowBody => "The body did not arrive in time.",
            Self::NotJson => "The body must be JSON in UTF-8, with the header content-type: application/json.",
            Self::ForeignOrigin => "Pages of this origin may not call the API.",
            Self::NotSignedIn(Some(advice)) => return advice.clone(),
            Self::NotSignedIn(None) => "The token or key is not accepted. Sign in again.",
            Self::SignInUnavailable => "Tokens cannot be checked now. Try again later.",
            Self::Busy => "The server is busy. Try again later.",
            Self::ClientBusy => "This client has too many requests at once. Try again later.",
            Self::TooFast(_) => "This caller has sent too many requests. Try again later.",
            Self::SocketBusy => "This WebSocket has too many operations that wait. Wait until one is answered.",
            Self::TooManySubscriptions => "This WebSocket has too many subscriptions. End one of them first.",
            Self::TooMuchMemory => "The request needs more memory than the server has for requests.",
            Self::NoEvents => {
                "This server is a Lambda function that streams no responses, so it has no subscriptions. Its option --lambda-streaming can allow them."
            }
            Self::OutOfTime => "The request took too long.",
            Self::ResponseDropped(QuotaExceeded::Part) => {
                "The operation ran, but its response is dropped: the client has not taken earlier ones."
            }
            Self::ResponseDropped(QuotaExceeded::Total | QuotaExceeded::TooLarge) => {
                "The operation ran, but its response is dropped: too many wait for their clients."
            }
            Self::Failed => "Something went wrong on the server.",
        };
        sentence.to_owned()
    }
}

impl From<QuotaExceeded> for HttpRefusal {
    fn from(exhausted: QuotaExceeded) -> Self {
        match exhausted {
            QuotaExceeded::Total => Self::Busy,
            QuotaExceeded::Part => Self::ClientBusy,
            QuotaExceeded::TooLarge => Self::TooMuchMemory,
        }
    }
}

impl From<TooFast> for HttpRefusal {
    fn from(too_fast: TooFast) -> Self {
        Self::TooFast(too_fast)
    }
}

impl From<RefusedCaller> for HttpRefusal {
    fn from(refused: RefusedCaller) -> Self {
        if refused.fault.passes() { Self::SignInUnavailable } else { Self::NotSignedIn(refused.advice) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_only_with_the_newer_media_type() {
        let refused = Some(ErrorCode::GraphqlValidationFailed);
        assert_eq!(response_status(MediaType::GraphqlResponse, refused), StatusCode::BAD_REQUEST);
        assert_eq!(response_status(MediaType::Json, refused), StatusCode::OK);
        assert_eq!(response_status(MediaType::Json, Some(ErrorCode::Internal)), StatusCode::OK);
        assert_eq!(response_status(MediaType::GraphqlResponse, Some(ErrorCode::Timeout)), StatusCode::GATEWAY_TIMEOUT);
        assert_eq!(response_status(MediaType::GraphqlResponse, None), StatusCode::OK);
    }

    #[test]
    fn a_caller_s_mistake_is_4xx_and_ours_is_5xx() {
        for code in [
            ErrorCode::BadUserInput,
            ErrorCode::LimitExceeded,
            ErrorCode::Forbidden,
            ErrorCode::Conflict,
            ErrorCode::Throttled,
        ] {
            assert!(code_status(code).is_client_error(), "{code:?}");
        }
        for code in [ErrorCode::Timeout, ErrorCode::Unavailable, ErrorCode::Internal] {
            assert!(code_status(code).is_server_error(), "{code:?}");
        }
    }
}
