//! Lambda's runtime API, as the Lambda developer guide describes it ("Runtime API"): invocations in, what a function
//! says to them out. The function is a `keyfold serve` of its own.

use crate::process::{Process, keyfold, repository};
use axum::Router;
use axum::body::{Bytes, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::process::Command;
use std::sync::{Arc, Mutex as Locked};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::timeout;

/// The most bytes of an answer that is not streamed.
const MOST: usize = 6 << 20;
/// Longer than anything that a test waits for, on a machine that does other things too.
const BOUND: Duration = Duration::from_secs(60);

/// The runtime API of one function.
pub struct Lambda {
    pub address: String,
    invocations: mpsc::UnboundedSender<Invocation>,
    said: Arc<Said>,
    init_errors: Mutex<mpsc::UnboundedReceiver<Value>>,
    count: Locked<u64>,
    asked: watch::Receiver<Vec<Instant>>,
}

struct Invocation {
    id: String,
    event: String,
    deadline: u128,
}

#[derive(Clone)]
struct Api {
    invocations: Arc<Mutex<mpsc::UnboundedReceiver<Invocation>>>,
    said: Arc<Said>,
    init_errors: mpsc::UnboundedSender<Value>,
    asked: watch::Sender<Vec<Instant>>,
}

#[derive(Default)]
struct Said {
    waiting: Locked<HashMap<String, oneshot::Sender<Answer>>>,
}

/// What a function says to an invocation.
#[derive(Debug)]
pub struct Answer {
    /// Whether it says that it failed.
    pub failed: bool,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Lambda {
    /// The API on a free port, before its function asks for an invocation.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (invocations, to_do) = mpsc::unbounded_channel();
        let (errors, init_errors) = mpsc::unbounded_channel();
        let said = Arc::<Said>::default();
        let (asks, asked) = watch::channel(Vec::new());
        let invocations_to_do = Arc::new(Mutex::new(to_do));
        let api = Api { invocations: invocations_to_do, said: said.clone(), init_errors: errors, asked: asks };
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(response))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(error))
            .route("/2018-06-01/runtime/init/error", post(init_error))
            .with_state(api);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Self { address, invocations, said, init_errors: Mutex::new(init_errors), count: Locked::new(0), asked }
    }

    /// The command of a function: `keyfold` with these arguments in the environment that Lambda makes.
    pub fn command(&self, directory: &TempDir, arguments: &[&str]) -> Command {
        let mut command = keyfold(directory.path(), arguments);
        command
            .env("AWS_LAMBDA_RUNTIME_API", &self.address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "pantry")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST")
            .env("KEYFOLD_SCHEMA", repository("schema.graphql"))
            .env("KEYFOLD_LOG_FORMAT", "json")
            .env("KEYFOLD_CACHE_SIZE", "0");
        command
    }

    /// A function on the tables at this URL, with these options of `serve`.
    pub fn function(&self, url: &str, options: &[&str]) -> (Process, TempDir) {
        let directory = tempfile::tempdir().unwrap();
        crate::callers::write(directory.path());
        let mut command = self.command(&directory, &[&["serve", "--endpoint-url", url], options].concat());
        command.env("KEYFOLD_API_KEYS_FILE", directory.path().join(crate::callers::FILE));
        (Process::start(command), directory)
    }

    /// Invokes the function, which has 30 seconds.
    pub async fn invoke(&self, event: &Value) -> Answer {
        self.invoke_within(event, Duration::from_secs(30)).await
    }

    /// Invokes the function, which has this time.
    pub async fn invoke_within(&self, event: &Value, time: Duration) -> Answer {
        let answer = self.begin(event, time);
        timeout(BOUND, answer).await.expect("an answer").expect("the function is there")
    }

    /// Invokes the function. Gives what will get its answer.
    pub fn begin(&self, event: &Value, time: Duration) -> oneshot::Receiver<Answer> {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        let id = format!("8476a536-e9f4-11e8-9739-{count:012}");
        let (sender, answer) = oneshot::channel();
        self.said.waiting.lock().unwrap().insert(id.clone(), sender);
        let deadline = (SystemTime::now() + time).duration_since(UNIX_EPOCH).unwrap().as_millis();
        self.invocations.send(Invocation { id, event: event.to_string(), deadline }).unwrap();
        answer
    }

    /// When the function first asked for an invocation: the end of its init phase.
    pub fn first_asked(&self) -> Option<Instant> {
        self.asked.borrow().first().copied()
    }

    /// Waits until the function has asked for so many invocations: when it waits for another one, Lambda may stop it.
    pub async fn wait_until_asked(&self, times: usize) {
        timeout(BOUND, self.asked.clone().wait_for(|asked| asked.len() >= times)).await.expect("it asks").unwrap();
    }

    /// The next error of a function that cannot start.
    pub async fn init_error(&self) -> Value {
        timeout(BOUND, self.init_errors.lock().await.recv()).await.expect("an error").unwrap()
    }
}

async fn next(State(api): State<Api>) -> Response {
    api.asked.send_modify(|asked| asked.push(Instant::now()));
    let Some(Invocation { id, event, deadline }) = api.invocations.lock().await.recv().await else {
        return StatusCode::GONE.into_response();
    };
    let headers = [
        ("content-type", "application/json".to_owned()),
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:eu-west-1:123456789012:function:pantry".to_owned()),
        (
            "lambda-runtime-trace-id",
            "Root=1-5bef4de7-ad49b0e87f6ef6c87fc2e700;Parent=9a9197af755a6419;Sampled=1".to_owned(),
        ),
    ];
    (headers, event).into_response()
}

/// Takes an answer. One that is too large is refused, as Lambda does.
async fn response(State(api): State<Api>, Path(id): Path<String>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let streams = parts.headers.get("lambda-runtime-function-response-mode").is_some_and(|mode| mode == "streaming");
    let body = to_bytes(body, usize::MAX).await.unwrap();
    if !streams && body.len() > MOST {
        let error = json!({ "errorType": "Function.ResponseSizeTooLarge" });
        return (StatusCode::PAYLOAD_TOO_LARGE, error.to_string()).into_response();
    }
    take(&api, &id, Answer { failed: false, headers: parts.headers, body })
}

async fn error(State(api): State<Api>, Path(id): Path<String>, headers: HeaderMap, body: Bytes) -> Response {
    take(&api, &id, Answer { failed: true, headers, body })
}

fn take(api: &Api, id: &str, answer: Answer) -> Response {
    let Some(waiting) = api.said.waiting.lock().unwrap().remove(id) else {
        return (StatusCode::BAD_REQUEST, json!({ "errorType": "InvalidRequestID" }).to_string()).into_response();
    };
    let _ = waiting.send(answer);
    (StatusCode::ACCEPTED, json!({ "status": "OK" }).to_string()).into_response()
}

async fn init_error(State(api): State<Api>, headers: HeaderMap, body: Bytes) -> Response {
    assert_eq!(headers["lambda-runtime-function-error-type"], "Keyfold.InitError");
    api.init_errors.send(serde_json::from_slice(&body).unwrap()).unwrap();
    (StatusCode::ACCEPTED, json!({ "status": "OK" }).to_string()).into_response()
}
