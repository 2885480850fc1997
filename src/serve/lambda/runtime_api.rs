//! Lambda's runtime API: found in the environment, and notified if the function cannot start.

use axum::body::Body;
use axum::http::uri::Authority;
use axum::http::{Method, Request, header};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::json;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// The variable with the address of the API, which Lambda sets for every function (Lambda developer guide, "Defined
/// runtime environment variables").
pub const VARIABLE: &str = "AWS_LAMBDA_RUNTIME_API";

/// How long Lambda may take to receive why the function cannot start.
const REPORT_BOUND: Duration = Duration::from_secs(2);

/// The runtime API of this function.
#[derive(Debug, Clone)]
pub struct RuntimeApi {
    address: Authority,
    /// The name of the function.
    pub function: String,
}

/// The environment is not that of a Lambda function, although it has a runtime API.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum NotLambda {
    /// A variable that Lambda sets is missing.
    #[error("{VARIABLE} is set, but not {0}: Lambda sets both")]
    Missing(&'static str),
    /// A variable has an unusable value.
    #[error("{0} cannot be read: {1:?} is no {2}")]
    Unreadable(&'static str, String, &'static str),
}

impl RuntimeApi {
    /// The API that the environment names; none outside of Lambda.
    pub fn from_environment() -> Result<Option<Self>, NotLambda> {
        Self::new(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// The library that asks for invocations panics unless these variables are there.
    fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>, NotLambda> {
        let Some(address) = variable(VARIABLE) else { return Ok(None) };
        let needed = |name| variable(name).ok_or(NotLambda::Missing(name));
        let (function, memory) = (needed("AWS_LAMBDA_FUNCTION_NAME")?, needed("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")?);
        needed("AWS_LAMBDA_FUNCTION_VERSION")?;
        if memory.parse::<i32>().is_err() {
            return Err(NotLambda::Unreadable("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", memory, "number of megabytes"));
        }
        match address.parse() {
            Ok(address) => Ok(Some(Self { address, function })),
            Err(_) => Err(NotLambda::Unreadable(VARIABLE, address, "host with a port")),
        }
    }

    /// Tells Lambda why the function cannot start (Lambda developer guide, "Runtime API", "Initialization error"). The
    /// log of the function has the same. If Lambda does not take the message, the end of the process shows it.
    pub async fn report(&self, message: &str) {
        let body = json!({ "errorMessage": message, "errorType": "Keyfold.InitError" }).to_string();
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://{}/2018-06-01/runtime/init/error", self.address))
            .header(header::CONTENT_TYPE, "application/json")
            .header("lambda-runtime-function-error-type", "Keyfold.InitError")
            .body(Body::from(body));
        let Ok(request) = request else { return };
        let client = Client::builder(TokioExecutor::new()).build_http::<Body>();
        match timeout(REPORT_BOUND, client.request(request)).await {
            Ok(Ok(response)) if response.status().is_success() => {}
            Ok(Ok(response)) => {
                tracing::warn!(status = response.status().as_u16(), "Lambda did not take the initialization error")
            }
            Ok(Err(error)) => tracing::warn!(%error, "Lambda did not take the initialization error"),
            Err(_) => tracing::warn!("Lambda did not take the initialization error in time"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const ALL: [(&str, &str); 4] = [
        (VARIABLE, "127.0.0.1:9001"),
        ("AWS_LAMBDA_FUNCTION_NAME", "api"),
        ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128"),
        ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ];

    fn found(changed: (&str, &str)) -> Result<Option<String>, NotLambda> {
        let value = |name: &str| {
            let (_, value) = *ALL.iter().find(|(known, _)| *known == name)?;
            Some(if name == changed.0 { changed.1 } else { value }).filter(|value| !value.is_empty()).map(str::to_owned)
        };
        Ok(RuntimeApi::new(value)?.map(|api| api.function))
    }

    #[test]
    fn the_environment_is_that_of_a_function_or_not() {
        assert_eq!(found(("", "")), Ok(Some("api".to_owned())));
        assert_eq!(found((VARIABLE, "")), Ok(None));
    }

    #[test]
    fn a_part_of_the_environment_is_a_mistake() {
        for (name, _) in &ALL[1..] {
            assert_eq!(found((name, "")), Err(NotLambda::Missing(name)));
        }
        let message = found(("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "much")).unwrap_err().to_string();
        assert_eq!(message, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE cannot be read: \"much\" is no number of megabytes");
        assert!(matches!(found((VARIABLE, "http://a b")), Err(NotLambda::Unreadable(VARIABLE, ..))));
    }
}
