//! Runs the write of a mutation's field: drafts it, sends it, and where somebody else was faster, drafts it anew.
//!
//! One call is a PutItem, UpdateItem or DeleteItem; several are one TransactWriteItems, whose token is the same as long as it says the
//! same. What was read for a draft is among its conditions, so that a lost race is seen and never overwrites anything.

use super::actions::{self, Again};
use super::ahead::{self, Setback};
use super::draft::{Draft, Generated, Gone, Outcome};
use super::judge::{Verdict, judge};
use super::lanes::{Lanes, Turn};
use super::told::{absent, copies_behind, crowded, half_way, in_doubt, made, of_table, open_end, refusal, unfit, unseen, unswept};
use super::{checks, copies, identity};
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Refusal};
use crate::execute::expression::scope::Scope;
use crate::plan::tree::PlannedWrite;
use crate::schema::model::write::{Write, WriteReturns};
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::table::attribute::{Item, Key};
use crate::table::call::Get;
use crate::table::error::TableError;
use crate::table::write::{WriteCall, WriteError};
use futures_util::FutureExt;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Lost races after which a write is given up: at 64 writers of one item, each wins long before.
const MOST_RACES: u32 = 200;
/// The upper bound of the first wait after a lost race; each further one doubles it.
const FIRST_WAIT: Duration = Duration::from_millis(2);
/// No wait is longer.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// What the writes of one request share.
pub struct Engine<'a> {
    /// The request's reads.
    pub run: &'a ExecutionContext<'a>,
    /// The time of the request, in milliseconds since 1970.
    pub now: i64,
    /// When the request ends.
    pub deadline: Instant,
    /// Where the writers of this process wait for each other.
    pub lanes: &'a Lanes,
}

/// The write of one field, over all its attempts.
pub(super) struct Job<'a> {
    pub engine: &'a Engine<'a>,
    pub planned: &'a PlannedWrite,
    pub write: &'a Write,
    pub arguments: &'a Map<String, Value>,
    /// 32 characters that no other write has: what its idempotency tokens begin with.
    pub token: String,
}

/// Why a draft, or a write, came to nothing.
pub(super) type Refusals = Vec<Refusal>;

impl Engine<'_> {
    /// Writes, and gives the items that the field gives back: none where it gives none, or where there is nothing to give.
    pub async fn write(&self, planned: &PlannedWrite, arguments: &Map<String, Value>) -> Result<Vec<Arc<Item>>, Vec<Refusal>> {
        let Some(write) = self.run.model.mutation(&planned.field) else {
            return Err(vec![Refusal::new(ErrorCode::Internal, "The field writes nothing.")]);
        };
        let token = Uuid::new_v4().simple().to_string();
        let job = Job { engine: self, planned, write, arguments, token };
        checks::check(&job)?;
        // Boxed, so that the future of a request is of a type that the compiler can look through.
        job.run().boxed().await
    }
}

impl Job<'_> {
    async fn run(&self) -> Result<Vec<Arc<Item>>, Refusals> {
        let mut generated = Generated::new();
        // The trouble after which it is not known whether the write was made.
        let mut doubt: Option<TableError> = None;
        // What an attempt without an answer may have deleted. Later drafts do not find it, and it is swept after the last of them.
        let mut perhaps_deleted: Vec<Gone> = Vec::new();
        let (mut races, mut unanswered) = (0, self.engine.run.loaders.backoff());
        let mut turn: Option<Turn<'_>> = None;
        for attempt in 0.. {
            let doubtful = doubt.is_some();
            let again = Again { raced: races > 0, uncertain: doubtful };
            let drafted = actions::draft(self, &mut generated, again).await;
            let mut draft = drafted.map_err(|refusals| in_doubt(doubt.as_ref(), refusals))?;
            draft.settle(|write| ahead::key_of(self, write)).map_err(|refusal| vec![refusal])?;
            // Who needs an item for which others wait waits behind them, and then reads it anew.
            let (lanes, relied_on) = (self.engine.lanes, draft.relied_on());
            if turn.is_none()
                && let Some(place) = lanes.busy(&relied_on)
            {
                turn = lanes.turn(place.clone(), self.engine.deadline).await;
                if turn.is_none() {
                    break;
                }
                continue;
            }
            let sent = match ahead::clear(self, &draft, attempt).boxed().await {
                Ok(()) => self.send(&draft, attempt).await,
                Err(Setback::Before(error)) => Err(error),
                Err(Setback::HalfWay(error)) => return Err(in_doubt(doubt.as_ref(), vec![half_way(error)])),
            };
            match sent {
                Ok(answer) => return self.finish(&draft, &perhaps_deleted, answer, doubtful).await,
                Err(WriteError::Conditions(failures)) => match (judge(self, &draft, &failures, doubtful), &doubt) {
                    (Verdict::Race(place), _) => {
                        copies::mend(self, &draft, &failures).await.map_err(|error| vec![refusal(error)])?;
                        races += 1;
                        // The turn is the wait.
                        if let (None, Some(place)) = (&turn, place) {
                            turn = lanes.turn(place, self.engine.deadline).await;
                            match turn {
                                Some(_) => continue,
                                None => break,
                            }
                        }
                    }
                    (Verdict::Applied(item), _) => return self.finish(&draft, &perhaps_deleted, item, true).await,
                    (Verdict::Nothing, _) => return self.finish(&draft, &perhaps_deleted, None, doubtful).await,
                    (Verdict::Open, Some(error)) => return Err(vec![open_end(error)]),
                    (Verdict::Open, None) => return Err(vec![crowded()]),
                    (Verdict::Refused(refusals), _) => {
                        // What is asked for again may have broken off; that it is done already is true only of all copies.
                        let _ = copies::align(self, &draft.behind).await;
                        return Err(refusals);
                    }
                },
                Err(WriteError::Uncertain(error)) if draft.repeatable() => {
                    doubt = Some(error);
                    perhaps_deleted.append(&mut draft.cascades);
                    if unanswered.wait(self.engine.deadline).await {
                        continue;
                    }
                    break;
                }
                Err(WriteError::Failed(error)) if doubt.is_none() && !draft.first.is_empty() => {
                    return Err(vec![half_way(of_table(&error).code)]);
                }
                Err(WriteError::Unfit(at, why)) => return Err(in_doubt(doubt.as_ref(), vec![unfit(&draft, at, why)])),
                Err(error) => return Err(vec![doubt.as_ref().map_or_else(|| refusal(error), open_end)]),
            }
            if races >= MOST_RACES || !self.wait(races).await {
                break;
            }
        }
        Err(vec![doubt.as_ref().map_or_else(crowded, open_end)])
    }

    /// Sends a draft; a single update answers with the item as it is, a single put or delete with the item as it was.
    async fn send(&self, draft: &Draft, attempt: u32) -> Result<Option<Arc<Item>>, WriteError> {
        let loaders = self.engine.run.loaders;
        match draft.calls.as_slice() {
            [] => Ok(None),
            [call] if !matches!(call.write.action, crate::table::write::WriteAction::Check(_)) => {
                Ok(loaders.write(&call.write).await?.map(Arc::new))
            }
            calls => {
                let calls: Vec<WriteCall> = calls.iter().map(|call| call.write.clone()).collect();
                // A draft that was made anew says something else, and must not pass for the one before.
                let token = format!("{}{attempt:04}", self.token);
                loaders.transact(&calls, &token).await?;
                Ok(None)
            }
        }
    }

    /// Sweeps what came in during a cascade, of this draft or of an earlier attempt without an answer, and gathers the items that the field
    /// gives back. `doubtful`: an earlier attempt may have made the write.
    async fn finish(
        &self,
        draft: &Draft,
        perhaps_deleted: &[Gone],
        answer: Option<Arc<Item>>,
        doubtful: bool,
    ) -> Result<Vec<Arc<Item>>, Refusals> {
        ahead::sweep(self, perhaps_deleted.iter().chain(&draft.cascades)).boxed().await.map_err(unswept)?;
        copies::align(self, &draft.behind).await.map_err(|error| vec![copies_behind(&error)])?;
        let outcomes: &[Outcome] = match self.write.returns {
            WriteReturns::Done => return Ok(Vec::new()),
            WriteReturns::Found => return Ok(draft.found.iter().cloned().collect()),
            WriteReturns::Item(action) | WriteReturns::Items(action) => draft.results.get(action).map_or(&[], Vec::as_slice),
        };
        let single = draft.calls.len() == 1;
        let mut items = Vec::new();
        for outcome in outcomes {
            match outcome {
                Outcome::Nothing => {}
                Outcome::Known(item) => items.push(item.clone()),
                Outcome::Answer(..) if single => items.extend(answer.clone()),
                Outcome::Answer(ty, key) => items.extend(self.read(ty, key).await.map_err(made)?),
            }
        }
        match self.write.returns {
            WriteReturns::Item(action) if items.is_empty() && self.must_give() => {
                Err(vec![self.nothing(action, doubtful || draft.calls.len() > 1)])
            }
            _ => Ok(items),
        }
    }

    /// Whether the field may not be null.
    fn must_give(&self) -> bool {
        let model = self.engine.run.model;
        let root = model.api.root_operation(apollo_compiler::ast::OperationType::Mutation);
        let field = root.and_then(|root| model.types.get(root.as_str())?.fields.get(&self.planned.field));
        field.is_some_and(|field| field.ty.is_non_null())
    }

    /// Why there is nothing to give: nothing was deleted, or the item is gone without having been seen.
    fn nothing(&self, action: usize, written: bool) -> Refusal {
        if written {
            return unseen(ErrorCode::Unavailable);
        }
        match self.write.actions.get(action) {
            Some(action) => absent(&action.item, action.condition.as_ref(), action.message.as_deref()),
            None => unseen(ErrorCode::Internal),
        }
    }

    /// The values of the request that conditions and expressions may use.
    pub fn scope(&self) -> Scope<'_> {
        Scope { arguments: self.arguments, now: self.engine.run.now }
    }

    /// The type of that name.
    pub fn type_named(&self, name: &str) -> Result<&ObjectType, Refusals> {
        self.engine.run.model.types.get(name).ok_or_else(|| vec![Refusal::new(ErrorCode::Internal, format!("There is no type {name}."))])
    }

    /// The name of the table in which a type's items are.
    pub fn table_of(&self, ty: &ObjectType) -> Arc<str> {
        let model = self.engine.run.model;
        let position = model.item(&ty.name).map(|(_, keys)| keys.table);
        position.and_then(|position| model.tables.get(position)).map_or_else(|| "".into(), |table| table.name.as_str().into())
    }

    /// Reads a whole item strongly; one of another type under the key is not there.
    pub async fn read(&self, ty: &str, key: &Key) -> Result<Option<Arc<Item>>, Refusals> {
        let ty = self.type_named(ty)?;
        let found = self.engine.run.loaders.get(&[self.get(ty, key)]).await.into_iter().next();
        let found = found.unwrap_or(Ok(None)).map_err(|error| vec![of_table(&error)])?;
        Ok(found.filter(|item| identity::is_of(ty, item)))
    }

    /// The strong read of a whole item.
    pub fn get(&self, ty: &ObjectType, key: &Key) -> Get {
        let projection = attributes(self.engine.run.model, ty).into();
        Get { table: self.table_of(ty), key: key.clone(), projection, consistent: true }
    }

    /// Waits after a lost race, with full jitter; `false` where the deadline is too near.
    async fn wait(&self, races: u32) -> bool {
        let bound = FIRST_WAIT.saturating_mul(1 << races.min(10)).min(LONGEST_WAIT);
        let wait = bound.mul_f64(fastrand::f64());
        if Instant::now() + wait >= self.engine.deadline {
            return false;
        }
        tokio::time::sleep(wait).await;
        true
    }
}

/// Every attribute that items of a type can have, sorted.
fn attributes(model: &Model, ty: &ObjectType) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if let Some((_, keys)) = model.item(&ty.name) {
        names.extend(keys.keys.keys().chain(keys.constants.iter().map(|(name, _)| name)).cloned());
    }
    for field in ty.fields.values() {
        if let FieldKind::Stored(stored) = &field.kind {
            names.extend(stored.attribute.clone());
        }
    }
    names.sort();
    names.dedup();
    names
}
