//! TransactWriteItems: several writes in; their cost, or the conditions that failed, out. Must not know what a request
//! is.
//!
//! Every attempt carries the same token, so that the server makes the transaction once (DynamoDB developer guide,
//! "Amazon DynamoDB transactions: how it works", idempotency). So an attempt is repeated even if it may have been
//! carried out.

use super::call_means::CallMeans;
use super::write::{expressions, write_members};
use crate::table::attempt::attempts::{Ended, Next, Retry};
use crate::table::attempt::failure::{AttemptFailure, CancelReason, Refusal};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::text;
use crate::table::data::limits::TOKEN_BYTES;
use crate::table::data::transaction::{tables_of, too_many_bytes, write_size};
use crate::table::data::write::{ConditionFailure, Unfit, WriteAction, WriteCall, WriteError};
use crate::table::data_store::Metered;
use crate::table::embedded::engine::{SHORT_BYTES, SHORT_ITEMS};
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::sdk::convert::{self, conditioned, item_to_sdk, key_to_sdk};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::{BuildError, SdkError};
use aws_sdk_dynamodb::operation::transact_write_items::TransactWriteItemsError;
use aws_sdk_dynamodb::types::{
    CancellationReason, ConditionCheck, Delete, Put, ReturnConsumedCapacity, TransactWriteItem, Update,
};
use dynoxide::DynoxideError;
use dynoxide::actions::transact_write_items as typed;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;
use tokio::time::Instant;

/// The shortest wait while an earlier attempt is still being carried out.
const IN_PROGRESS_WAIT: Duration = Duration::from_secs(1);

/// Writes all or nothing. Gives the capacity units consumed.
pub(in crate::table) async fn write_all(
    caller: CallMeans<'_>,
    calls: &[WriteCall],
    token: &str,
    deadline: Instant,
) -> Result<Metered<()>, WriteError> {
    let tables = tables_of(calls);
    let call = Transaction { calls, token };
    let attempts = caller.attempts(call.operation(), &tables, deadline);
    let invalid =
        |detail: String| Err(WriteError::Failed(attempts.named(TableError { kind: TableErrorKind::Invalid, detail })));
    if !(1..=TOKEN_BYTES).contains(&token.len()) {
        return invalid(format!("a token of {} bytes; it has 1 to {TOKEN_BYTES}", token.len()));
    }
    if let Some(call) = calls.iter().find(|call| matches!(Part::new(call), Part::Check(_)) && call.condition.is_none())
    {
        return invalid(format!("a check of an item of {} has no condition", call.table));
    }
    // Whether an attempt so far may have been carried out.
    let mut uncertain = false;
    let classify = |failure: AttemptFailure| {
        let at_least = match failure.refusal {
            Refusal::Canceled(reasons) => {
                // Had an earlier attempt been carried out, its answer would have come again. So none was.
                uncertain = false;
                return match classify_reasons(reasons) {
                    Next::Stop(WriteError::Failed(error)) => Next::Stop(WriteError::refused(attempts.named(error))),
                    next => next,
                };
            }
            Refusal::InProgress => IN_PROGRESS_WAIT,
            _ => Duration::ZERO,
        };
        uncertain |= failure.uncertain;
        let mismatch = matches!(failure.refusal, Refusal::TokenMismatch);
        let error = failure.error;
        match (failure.again, uncertain && !mismatch) {
            (true, _) => Next::Again(Retry { error, at_least, patient: uncertain }),
            (false, true) => Next::Stop(WriteError::Uncertain(attempts.named(error))),
            // Only the server knows the size of an updated item.
            (false, false) if error.detail.contains("4MB") || error.detail.contains("4 MB") => {
                Next::Stop(too_many_bytes())
            }
            (false, false) => Next::Stop(WriteError::refused(attempts.named(error))),
        }
    };
    match attempts.until_stopped(|| caller.make(&call), classify).await {
        Ok(made) => Ok(made),
        Err(Ended::Stopped(error)) => Err(error),
        Err(Ended::Deadline(error)) if uncertain => Err(WriteError::Uncertain(error)),
        Err(Ended::Deadline(error)) => Err(WriteError::Failed(error)),
    }
}

/// Codes of reasons that pass: the server was too busy for a write.
const THROTTLED: [&str; 3] = ["ProvisionedThroughputExceeded", "ThrottlingError", "RequestLimitExceeded"];
/// The code of a write that met another transaction at work on its item.
const CONFLICT: &str = "TransactionConflict";
/// The code of a write whose condition does not hold.
const UNMET: &str = "ConditionalCheckFailed";

/// What the reasons of a cancellation, one for each write, mean.
///
/// A reason that passes hides whether the condition of its write holds, which may be the one that counts. So all are
/// asked for again.
fn classify_reasons(reasons: Vec<CancelReason>) -> Next<WriteError> {
    let has = |codes: &[&str]| reasons.iter().any(|reason| codes.contains(&&*reason.code));
    let are = |codes: &[&str]| reasons.iter().all(|reason| reason.code == "None" || codes.contains(&&*reason.code));
    let passing = [THROTTLED.as_slice(), &[CONFLICT]].concat();
    // Of conditions that do not hold, the reason that counts is known once all are.
    let passes = has(&passing) && (has(&[UNMET]) || are(&passing));
    if has(&[UNMET]) && !passes {
        let failed = reasons.into_iter().enumerate().filter(|(_, reason)| reason.code == UNMET);
        return Next::Stop(WriteError::Conditions(
            failed.map(|(position, CancelReason { item, .. })| ConditionFailure { position, item }).collect(),
        ));
    }
    let said: Vec<String> = reasons
        .iter()
        .enumerate()
        .filter(|(_, reason)| reason.code != "None")
        .map(|(position, reason)| {
            format!("write {position}: {}: {}", reason.code, reason.message.as_deref().unwrap_or("no message"))
        })
        .collect();
    let detail = if said.is_empty() { "canceled without a reason".to_owned() } else { said.join("; ") };
    if passes {
        let kind = if has(&THROTTLED) { TableErrorKind::Throttled } else { TableErrorKind::Condition };
        return Next::Again(TableError { kind, detail }.into());
    }
    let unfit = |(position, reason): (usize, &CancelReason)| Some((position, Unfit::new(reason.message.as_deref()?)?));
    if let Some((position, unfit)) = reasons.iter().enumerate().find_map(unfit) {
        return Next::Stop(WriteError::Unfit(Some(position), unfit));
    }
    Next::Stop(WriteError::Failed(TableError { kind: TableErrorKind::Invalid, detail }))
}

/// A TransactWriteItems.
struct Transaction<'a> {
    calls: &'a [WriteCall],
    token: &'a str,
}

/// What one write of a transaction is.
enum Part<'a> {
    Put(&'a Item),
    Update(&'a Key),
    Delete(&'a Key),
    Check(&'a Key),
}

impl<'a> Part<'a> {
    fn new(call: &'a WriteCall) -> Self {
        match &call.action {
            WriteAction::Put(item) => Self::Put(item),
            WriteAction::Update(key, Some(_)) => Self::Update(key),
            WriteAction::Delete(key) => Self::Delete(key),
            // A transaction has no update without an expression. A check of its condition is the same.
            WriteAction::Check(key) | WriteAction::Update(key, None) => Self::Check(key),
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Put(_) => "Put",
            Self::Update(_) => "Update",
            Self::Delete(_) => "Delete",
            Self::Check(_) => "ConditionCheck",
        }
    }
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer {
    units: f64,
}

impl AnswerJson for Answer {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

impl Call for Transaction<'_> {
    type Answer = ();
    type Json = Answer;

    fn operation(&self) -> &'static str {
        "TransactWriteItems"
    }

    fn body(&self, body: &mut BodyWriter) {
        body.list("TransactItems", self.calls, |body, call| {
            body.object(Part::new(call).name(), |body| write_members(body, call))
        });
        body.text("ClientRequestToken", self.token);
    }

    fn answer(&self, answer: Answer) -> Result<Metered<()>, AttemptFailure> {
        Ok(((), answer.units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<()>, AttemptFailure> {
        let items: Vec<TransactWriteItem> = self.calls.iter().map(transact_item).collect::<Result<_, _>>()?;
        let request = client.transact_write_items().set_transact_items(Some(items)).client_request_token(self.token);
        let output = request.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await.map_err(failure)?;
        Ok(((), convert::units(output.consumed_capacity())))
    }

    fn length(&self) -> Length {
        Length::short_if(
            self.calls.iter().map(write_size).sum::<usize>() <= SHORT_BYTES && self.calls.len() <= SHORT_ITEMS,
        )
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Self::Answer> + Send + 'static {
        let mut hasher = DefaultHasher::new();
        self.calls.iter().for_each(|call| call.hash(&mut hasher));
        let (token, hash) = (self.token.to_owned(), hasher.finish());
        let items: Result<Vec<_>, DynoxideError> = self.calls.iter().map(engine_item).collect();
        move |run| {
            let answer = run.once(&token, hash, |database| {
                database.transact_write_items(typed::TransactWriteItemsRequest {
                    transact_items: items?,
                    return_consumed_capacity: engine::total(),
                    ..typed::TransactWriteItemsRequest::default()
                })
            })?;
            Ok(((), engine::units(answer.consumed_capacity.iter().flatten())))
        }
    }
}

fn transact_item(call: &WriteCall) -> Result<TransactWriteItem, BuildError> {
    let (table, built, item) = (&*call.table, expressions(call), TransactWriteItem::builder());
    let item = match Part::new(call) {
        Part::Put(new) => {
            let put = Put::builder().set_item(Some(item_to_sdk(new.clone())));
            item.put(conditioned!(put.table_name(table), built).build()?)
        }
        Part::Update(key) => {
            let update = Update::builder().set_key(Some(key_to_sdk(key))).set_update_expression(text(&built.update));
            item.update(conditioned!(update.table_name(table), built).build()?)
        }
        Part::Delete(key) => {
            let delete = Delete::builder().set_key(Some(key_to_sdk(key)));
            item.delete(conditioned!(delete.table_name(table), built).build()?)
        }
        Part::Check(key) => {
            let check = ConditionCheck::builder().set_key(Some(key_to_sdk(key)));
            item.condition_check(conditioned!(check.table_name(table), built).build()?)
        }
    };
    Ok(item.build())
}

fn failure(error: SdkError<TransactWriteItemsError, HttpResponse>) -> AttemptFailure {
    let canceled = match error.as_service_error() {
        Some(TransactWriteItemsError::TransactionCanceledException(canceled)) => {
            Some(canceled.cancellation_reasons().to_vec())
        }
        _ => None,
    };
    let mut failure = AttemptFailure::from(error);
    if let Some(reasons) = canceled {
        failure.refusal = Refusal::Canceled(reasons.into_iter().map(reason).collect());
    }
    failure
}

fn reason(reason: CancellationReason) -> CancelReason {
    let CancellationReason { code, message, item, .. } = reason;
    CancelReason { code: code.unwrap_or_else(|| "None".to_owned()), message, item: convert::present(item) }
}

/// One write of a transaction on the embedded engine.
fn engine_item(call: &WriteCall) -> Result<typed::TransactWriteItem, DynoxideError> {
    let built = expressions(call);
    // The four actions have their members in common, but no trait.
    macro_rules! action {
        ($action:ident { $($member:ident: $value:expr),* }) => {
            Some(typed::$action {
                table_name: call.table.to_string(),
                expression_attribute_names: built.names_map(),
                expression_attribute_values: engine::named_values(&built)?,
                return_values_on_condition_check_failure: Some("ALL_OLD".to_owned()),
                $($member: $value,)*
            })
        };
    }
    let (condition, mut item) = (text(&built.condition), typed::TransactWriteItem::default());
    match Part::new(call) {
        Part::Put(new) => item.put = action!(TransactPut { item: engine::item(new)?, condition_expression: condition }),
        Part::Update(key) => {
            let update = text(&built.update).unwrap_or_default();
            item.update = action!(TransactUpdate {
                key: engine::key(key)?,
                update_expression: update,
                condition_expression: condition
            });
        }
        Part::Delete(key) => {
            item.delete = action!(TransactDelete { key: engine::key(key)?, condition_expression: condition })
        }
        Part::Check(key) => {
            let condition = condition.unwrap_or_default();
            item.condition_check =
                action!(TransactConditionCheck { key: engine::key(key)?, condition_expression: condition });
        }
    }
    Ok(item)
}
