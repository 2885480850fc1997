//! Runs the write of a mutation's field: drafts it, sends it, and drafts it again after a lost race.
//!
//! One call is a PutItem, UpdateItem or DeleteItem. Several are one TransactWriteItems; its token changes with every draft. What was read
//! for a draft is part of its conditions, so a lost race is noticed and never overwrites anything. A call whose answer is lost is not sent
//! again: whatever it would find, it could not tell its own work from that of others.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::read::admit::of_write;
use crate::execute::write::dispatch::cascade::{self, CascadeError};
use crate::execute::write::dispatch::classify::{FailureClass, classify_failure, unfit};
use crate::execute::write::dispatch::{replicas, unanswered};
use crate::execute::write::draft::actions;
use crate::execute::write::draft::call::{DraftCall, Earlier, Generated, ResultItem, WriteDraft};
use crate::execute::write::job::WriteJob;
use crate::execute::write::lanes::Turn;
use crate::execute::write::messages::{
    FieldErrors, absent, contention, field_error, half_way, made, of_table, open_end, replicas_behind, unseen, unswept,
};
use crate::execute::write::rules::arguments::check_arguments;
use crate::execute::write::rules::claims::check_claims;
use crate::execute::write::rules::lookups;
use crate::plan::tree::PlannedWrite;
use crate::schema::model::write::WriteReturns;
use crate::table::data::attribute::Item;
use crate::table::data::write::{Unfit, WriteAction, WriteCall, WriteError};
use crate::table::retry::backoff::{Backoff, Pace};
use futures_util::FutureExt;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use uuid::Uuid;

/// The number of lost races after which a write gives up. Of 64 writers of one item, each wins much earlier.
const MOST_RACES: u32 = 200;

/// The waits after lost races, in which the writers that were faster finish.
const LOST_RACE: Pace = Pace { first: Duration::from_millis(4), longest: Duration::from_millis(200) };

/// Writes a field. Gives the items that the field returns and its caller may see; none if it returns none or if nothing was deleted.
pub async fn write(
    context: &ExecutionContext<'_>,
    planned: &PlannedWrite,
    arguments: &Map<String, Value>,
) -> Result<Vec<Arc<Item>>, Vec<FieldError>> {
    let Some(write) = context.model.mutation(&planned.field) else {
        return Err(vec![FieldError::new(ErrorCode::Internal, "The field writes nothing.")]);
    };
    let token = Uuid::new_v4().simple().to_string();
    let job = WriteJob { context, planned, write, arguments, token };
    check_claims(&job)?;
    check_arguments(&job)?;
    // Boxed, so that the compiler can resolve the type of a request's future.
    let items = job.run().boxed().await?;
    match context.model.returned_by(&planned.field) {
        Some(ty) => of_write(context, ty, items).await.map_err(|error| made(vec![of_table(&error)])),
        None => Ok(items),
    }
}

impl WriteJob<'_> {
    async fn run(&self) -> Result<Vec<Arc<Item>>, FieldErrors> {
        let (mut generated, mut earlier) = (Generated::new(), Earlier::default());
        let (mut races, mut lost_races) = (0, Backoff::unbounded(LOST_RACE));
        let mut turn: Option<Turn<'_>> = None;
        // The error if the form of the item is not why DynamoDB cannot calculate with it.
        let mut unfit_as_stored: Option<FieldErrors> = None;
        for attempt in 0.. {
            earlier.raced = races > 0;
            let mut draft = actions::draft(self, &mut generated, &earlier).await?;
            if let Some(field_errors) = unfit_as_stored.take().filter(|_| !draft.relies_on_null()) {
                return Err(field_errors);
            }
            lookups::place(self, &mut draft, |write| cascade::key_of(self, write)).await?;
            draft.check_distinct(|write| cascade::key_of(self, write)).map_err(|field_error| vec![field_error])?;
            // If others wait for an item that this writer needs, it queues behind them and then reads the item again.
            let (lanes, relied_on) = (self.context.lanes, draft.relied_on());
            if turn.is_none()
                && let Some(place) = lanes.busy(&relied_on)
            {
                turn = lanes.turn(place.clone(), self.context.deadline).await;
                if turn.is_none() {
                    break;
                }
                continue;
            }
            let sent = match cascade::clear(self, &draft, attempt).boxed().await {
                Ok(()) => self.send(&draft, attempt).await,
                Err(CascadeError::Before(error)) => Err(error),
                Err(CascadeError::HalfWay(error)) => return Err(vec![half_way(error)]),
            };
            match sent {
                Ok(answer) => return self.finish(&draft, Some(answer)).await,
                Err(WriteError::Conditions(failures)) => match classify_failure(self, &draft, &failures).await {
                    FailureClass::Race(place) => {
                        earlier.foreign_guards.extend(draft.failed_guards(&failures));
                        replicas::repair(self, &draft, &failures).await.map_err(|error| vec![field_error(error)])?;
                        races += 1;
                        self.context.lost_races.fetch_add(1, Ordering::Relaxed);
                        // The wait for the turn replaces the random wait.
                        if let (None, Some(place)) = (&turn, place) {
                            turn = lanes.turn(place, self.context.deadline).await;
                            match turn {
                                Some(_) => continue,
                                None => break,
                            }
                        }
                    }
                    FailureClass::Otherwise if !earlier.as_stored => {
                        earlier.as_stored = true;
                        continue;
                    }
                    // It has changed again since it was read.
                    FailureClass::Otherwise => races += 1,
                    FailureClass::Nothing => return self.finish(&draft, None).await,
                    FailureClass::Refused(field_errors) => {
                        // An earlier request for the same write may have stopped before all replicas were equal.
                        let _ = replicas::sync(self, &draft.behind).await;
                        return Err(field_errors);
                    }
                },
                // Another attempt could undo what others have done since.
                Err(WriteError::Uncertain(error)) => {
                    return match unanswered::made(self, &draft, &generated).boxed().await {
                        Some(item) => self.finish(&draft, Some(Some(item))).await,
                        None => Err(vec![open_end(&error)]),
                    };
                }
                Err(WriteError::Failed(error)) if !draft.first.is_empty() => return Err(vec![half_way(of_table(&error).code)]),
                Err(WriteError::Unfit(at, why)) => {
                    let refused = lookups::decide(self, &mut draft.rules).await.err();
                    let field_errors = refused.unwrap_or_else(|| vec![unfit(&draft, at, why)]);
                    if earlier.as_stored || why != Unfit::NoOperand || !draft.tells_null() {
                        return Err(field_errors);
                    }
                    // DynamoDB calculates with a missing value, but not with a null.
                    (earlier.as_stored, unfit_as_stored) = (true, Some(field_errors));
                    continue;
                }
                Err(error) => return Err(vec![field_error(error)]),
            }
            if races >= MOST_RACES || !lost_races.wait(self.context.deadline).await {
                break;
            }
        }
        Err(vec![contention()])
    }

    /// Sends a draft. A single update returns the new item, a single put or delete the old one.
    async fn send(&self, draft: &WriteDraft, attempt: u32) -> Result<Option<Arc<Item>>, WriteError> {
        let loaders = self.context.loaders;
        if let Some(call) = draft.as_call(self.context.single_writes) {
            return Ok(loaders.write(call).await?.map(Arc::new));
        }
        let calls: Vec<WriteCall> = draft.calls.iter().map(|call| call.write.clone()).collect();
        // Each draft is a new request and needs its own token.
        let token = format!("{}{attempt:04}", self.token);
        loaders.transact(&calls, &token).await?;
        Ok(None)
    }

    /// Deletes dependents that came in during a cascade. Then gathers the items that the field returns. `answer` is what the calls gave, or
    /// none if they were not made.
    async fn finish(&self, draft: &WriteDraft, answer: Option<Option<Arc<Item>>>) -> Result<Vec<Arc<Item>>, FieldErrors> {
        cascade::sweep(self, draft.cascades.iter()).boxed().await.map_err(unswept)?;
        replicas::sync(self, &draft.behind).await.map_err(|error| vec![replicas_behind(&error)])?;
        let outcomes: &[ResultItem] = match self.write.returns {
            WriteReturns::Done => return Ok(Vec::new()),
            WriteReturns::Found => return Ok(draft.found.iter().cloned().collect()),
            WriteReturns::Item(action) | WriteReturns::Items(action) => draft.results.get(action).map_or(&[], Vec::as_slice),
        };
        let single = draft.as_call(self.context.single_writes).is_some();
        let writes = |call: &DraftCall| !matches!(call.write.action, WriteAction::Check(_));
        let is_made = answer.is_some() && draft.calls.iter().any(writes);
        let mut items = Vec::new();
        for outcome in outcomes {
            match outcome {
                ResultItem::Nothing => {}
                ResultItem::Known(item) => items.push(item.clone()),
                ResultItem::Answer(..) if single => items.extend(answer.clone().flatten()),
                ResultItem::Answer(ty, key) => items.extend(self.read(ty, key).await.map_err(made)?),
            }
        }
        match self.write.returns {
            WriteReturns::Item(action) if items.is_empty() && self.must_give() => Err(vec![self.nothing(action, is_made && !single)]),
            _ => Ok(items),
        }
    }

    /// Whether the field may not be null.
    fn must_give(&self) -> bool {
        self.field().is_some_and(|field| field.ty.is_non_null())
    }

    /// The error of a never-null field without an item: nothing was deleted, or the item was gone before it could be read.
    fn nothing(&self, action: usize, written: bool) -> FieldError {
        if written {
            return unseen(ErrorCode::Unavailable);
        }
        match self.write.actions.get(action) {
            Some(action) => absent(&action.item, action.condition.as_ref(), action.message.as_deref()),
            None => unseen(ErrorCode::Internal),
        }
    }
}
