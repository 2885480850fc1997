//! A request in; what comes of it on a gateway, as a golden has it, out: its plan or why it is refused, its calls, its
//! response.

use super::golden_file::{GoldenFile, Section};
use super::made::GeneratedNames;
use crate::execute::gateway::{Gateway, Response, plan};
use crate::execute::request::{Request, Settings};
use crate::execute::service::call::ServiceConnector;
use crate::execute::watch::hub::Hub;
use crate::table::embedded::observer::Recorder;
use anyhow::{Context, Result};
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// The key of the cursors that goldens have.
const CURSOR_KEY: &[u8] = b"a key for tests";

/// What comes of a request.
pub struct OperationOutcome {
    plan: String,
    calls: Vec<(String, Value)>,
    response: Value,
}

/// The settings by which the same request leads to the same things each time: cursors have one key, and what a page
/// reads does not depend on the pages before it.
pub fn settings(services: Option<Arc<dyn ServiceConnector>>) -> Settings {
    Settings { cursor_key: CURSOR_KEY.to_vec(), learned_pages: false, services, ..Settings::default() }
}

/// The response to a request, as JSON. A refusal before it runs is a response, too. A subscription gives its first one.
pub async fn respond(gateway: &Gateway, request: &Request, deadline: Instant, explain: bool) -> Result<Value> {
    let response = match gateway.prepare(request).await {
        Ok(prepared) if prepared.watches() => {
            let mut responses = Hub::new(gateway).subscribe(gateway, prepared, request.clone());
            let first = timeout_at(deadline, responses.next()).await.ok().flatten();
            first.context("the subscription has no first response: only one with `initial: true` has")?
        }
        Ok(prepared) => gateway.run(&prepared, deadline, explain).await,
        Err(errors) => Response::refused(&errors),
    };
    let text = || format!("the response is not JSON: {}", String::from_utf8_lossy(&response.body));
    serde_json::from_slice(&response.body).with_context(text)
}

impl OperationOutcome {
    /// Plans and runs a request. `recorder` is that of the gateway's store.
    pub async fn observe(gateway: &Gateway, recorder: &Recorder, request: &Request, deadline: Instant) -> Result<Self> {
        let plan = match plan(gateway.model(), request, &settings(None)).map(|(plan, _)| plan) {
            Ok(plan) => plan.to_text(gateway.model()),
            Err(errors) => errors.iter().map(|error| format!("refused: {}\n", error.message)).collect(),
        };
        recorder.take();
        let response = respond(gateway, request, deadline, false).await?;
        Ok(Self { plan, calls: recorder.take(), response })
    }

    /// The calls: operation and body.
    pub fn calls(&self) -> &[(String, Value)] {
        &self.calls
    }

    /// The response.
    pub fn response(&self) -> &Value {
        &self.response
    }

    /// A golden with these results, in which generated values have names.
    pub fn written_into(&self, golden: &GoldenFile, names: &mut GeneratedNames) -> Result<GoldenFile, String> {
        let call = |(operation, body): &(String, Value)| json!({ "operation": operation, "body": body });
        let calls: Value = self.calls.iter().map(call).collect();
        let pretty = |value: &Value| format!("{value:#}\n");
        let mut is = golden.clone();
        for (section, text) in
            Section::RESULTS.into_iter().zip([self.plan.clone(), pretty(&calls), pretty(&self.response)])
        {
            is.set(section, &names.replace(&text))?;
        }
        Ok(is)
    }
}
