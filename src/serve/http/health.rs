//! `/health/live` and `/health/ready`: a probe in; whether the process lives and can run operations out. Must not tell
//! internals.

use crate::serve::backend::Backend;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long a result is reused, so that probes put no load on the tables.
const FRESH: Duration = Duration::from_secs(1);
/// The longest time of the check: longer than the limit of the store, whose error says what is wrong, and short enough
/// to answer a probe within a second.
const BOUND: Duration = Duration::from_millis(900);

/// Whether the tables can be used, checked at most once a second whatever the number of probes.
pub struct Readiness {
    backend: Arc<dyn Backend>,
    last: Mutex<Option<(Instant, Result<(), String>)>>,
}

impl Readiness {
    /// The readiness of this backend.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, last: Mutex::new(None) }
    }

    /// The current result; the error is the kind of trouble.
    async fn check(&self, now: Instant) -> Result<(), String> {
        // The lock is held during the check, so that concurrent probes share the result.
        let mut last = self.last.lock().await;
        if let Some((at, answer)) = &*last
            && now.saturating_duration_since(*at) < FRESH
        {
            return answer.clone();
        }
        let answer = timeout(BOUND, self.backend.ready()).await.unwrap_or_else(|_| Err("Timeout".into()));
        *last = Some((now, answer.clone()));
        answer
    }
}

/// Always 200: the process answers.
pub async fn live() -> Response {
    reply(StatusCode::OK, json!({"status": "ok"}))
}

/// 200 if every table can be used, otherwise 503 with the kind of trouble.
pub async fn ready(State(readiness): State<Arc<Readiness>>) -> Response {
    match readiness.check(Instant::now()).await {
        Ok(()) => reply(StatusCode::OK, json!({"status": "ok"})),
        Err(reason) => reply(StatusCode::SERVICE_UNAVAILABLE, json!({"status": "unavailable", "reason": reason})),
    }
}

fn reply(status: StatusCode, body: Value) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::backend::{Execution, Invocation, MayNotWrite};
    use futures_util::future::{BoxFuture, FutureExt};
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[derive(Default)]
    struct Counting {
        asked: AtomicUsize,
        silent: bool,
    }

    impl Backend for Counting {
        fn begin(&self, _: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
            async { Err(MayNotWrite) }.boxed()
        }

        fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
            let asked = self.asked.fetch_add(1, Ordering::Relaxed);
            match (self.silent, asked) {
                (true, _) => std::future::pending().boxed(),
                (false, 0) => async { Ok(()) }.boxed(),
                (false, _) => async { Err("Unavailable".into()) }.boxed(),
            }
        }
    }

    #[tokio::test]
    async fn the_tables_are_asked_once_a_second() {
        let backend = Arc::new(Counting::default());
        let readiness = Readiness::new(backend.clone());
        let start = Instant::now();
        assert_eq!((readiness.check(start).await, readiness.check(start + FRESH / 2).await), (Ok(()), Ok(())));
        assert_eq!(backend.asked.load(Ordering::Relaxed), 1);
        assert_eq!(readiness.check(start + FRESH).await, Err("Unavailable".into()));
        assert_eq!(backend.asked.load(Ordering::Relaxed), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn tables_that_never_answer_are_not_waited_for() {
        let readiness = Readiness::new(Arc::new(Counting { silent: true, ..Counting::default() }));
        let begin = Instant::now();
        // The second probe comes while the first one waits.
        let probes = tokio::join!(readiness.check(begin), readiness.check(begin));
        assert_eq!(probes, (Err("Timeout".into()), Err("Timeout".into())));
        assert!(begin.elapsed() < Duration::from_secs(1));
    }
}
