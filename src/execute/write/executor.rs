//! Runs the write of a mutation's field: drafts it, sends it, and drafts it again after a lost race.
//!
//! One call is a PutItem, UpdateItem or DeleteItem. Several are one TransactWriteItems; its token changes with every
//! draft. What was read for a draft is part of its conditions, so a lost race is noticed and never overwrites anything.
//! A call whose answer is lost is not sent again: whatever it would find, it could not tell its own work from that of
//! others.

use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::keyed_locks::{ItemPlace, Turn};
use crate::execute::read::admit::visible_written;
use crate::execute::write::calls::draft::{Earlier, Generated, WriteDraft};
use crate::execute::write::dispatch::cascade::{self, CascadeError};
use crate::execute::write::dispatch::classify::{Following, classify, unfit, unmet};
use crate::execute::write::dispatch::record;
use crate::execute::write::dispatch::repeated;
use crate::execute::write::dispatch::replicas::{self, SyncCause};
use crate::execute::write::dispatch::results::{self, Ending};
use crate::execute::write::dispatch::unanswered;
use crate::execute::write::draft::actions::{UnfinishedDraft, draft};
use crate::execute::write::elements::Directives;
use crate::execute::write::idempotency::{KnownRequest, known_request};
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{
    FieldErrors, contention, field_error, half_way, made, open_end, repeatable, table_error,
};
use crate::execute::write::rules::arguments::{check_arguments, check_inputs};
use crate::execute::write::rules::claims::check_claims;
use crate::execute::write::rules::lookups;
use crate::execute::write::services::before::{self, BeforeWrite, RefusedWrite};
use crate::execute::write::services::{self, refusal};
use crate::plan::tree::{PlannedResult, PlannedWrite};
use crate::table::data::attribute::Item;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{ConditionFailure, Unfit, WriteCall, WriteError};
use crate::table::retry::backoff::{Backoff, Pace};
use futures_util::FutureExt;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use uuid::Uuid;

/// The number of lost races after which a write gives up. Of 64 writers of one item, each wins much earlier.
const MAX_RACES: u32 = 200;

/// The waits after lost races, in which the writers that were faster finish.
const LOST_RACE: Pace = Pace { first: Duration::from_millis(4), longest: Duration::from_millis(200) };

/// Writes a field. Gives, for each planned result, the items that the field returns and its caller may see; none if
/// nothing was deleted.
pub async fn write(
    context: &ExecutionContext<'_>,
    planned: &PlannedWrite,
    arguments: &Map<String, Value>,
) -> Result<Vec<Vec<Arc<Item>>>, Vec<FieldError>> {
    let Some(write) = context.model.mutation(&planned.field) else {
        return Err(vec![FieldError::new(ErrorCode::Internal, "The field writes nothing.")]);
    };
    let token = Uuid::new_v4().simple().to_string();
    let (arguments, request) = known_request(context, (planned, write), arguments)?;
    let arguments = &*arguments;
    // A list that breaks its own bound is not called too long for a transaction.
    let directives = Directives::new(write, arguments)
        .map_err(|too_long| check_inputs(context.model, &planned.field, arguments).err().unwrap_or(too_long))?;
    let job = WriteJob { context, planned, write, directives, request: request.as_ref(), calls: None, token };
    let checked = check_claims(&job).and_then(|()| check_arguments(&job));
    // Boxed, so that the compiler can resolve the type of a request's future.
    let returned = match checked {
        Ok(()) if write.calls.is_empty() => Attempts::new(&job).run().boxed().await?,
        Ok(()) => after_calls(&job, arguments).boxed().await?,
        Err(field_errors) if write.calls.is_empty() => return Err(field_errors),
        Err(field_errors) => refusal::answer(&job, RefusedWrite::early(field_errors)).boxed().await?,
    };
    let mut visible = Vec::with_capacity(returned.len());
    for (result, items) in planned.results.iter().zip(returned) {
        visible.push(visible_items(&job, result, items).await?);
    }
    Ok(visible)
}

/// Calls the services of a field, and writes with their results.
async fn after_calls(job: &WriteJob<'_>, arguments: &Map<String, Value>) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
    let (arguments, calls) = match before::make_calls(job, arguments).await {
        BeforeWrite::Made(arguments, calls) => (arguments, calls),
        BeforeWrite::Answered(record) => match job.request {
            Some(request) => return refusal::recorded(job, request, &record).await,
            None => return Err(vec![contention()]),
        },
        BeforeWrite::Refused(refused) => return refusal::answer(job, refused).await,
    };
    let WriteJob { context, planned, write, request, .. } = *job;
    let directives = Directives::new(write, &arguments)?;
    let token = job.token.clone();
    let job = WriteJob { context, planned, write, directives, request, calls: Some(&calls), token };
    let attempts = Attempts::new(&job);
    match check_arguments(&job) {
        Ok(()) => attempts.run().await,
        // The request's own values are checked before, so this is about a result.
        Err(_) => attempts.refuse(vec![before::misfits(&planned.field)], false).await,
    }
}

/// Those of the items of a result that the caller may see.
async fn visible_items(
    job: &WriteJob<'_>,
    result: &PlannedResult,
    items: Vec<Arc<Item>>,
) -> Result<Vec<Arc<Item>>, FieldErrors> {
    let names = job.write.types_returned(result.returned);
    let type_of = |item: &Item| match &result.types {
        Some(types) => names.get(types.type_of(item)?),
        None => names.first(),
    };
    let mut visible = Vec::with_capacity(items.len());
    for item in items {
        let Some(name) = type_of(&item) else { continue };
        let seen = visible_written(job.context, job.type_named(name)?, vec![item]).await;
        visible.extend(seen.map_err(|error| made(vec![table_error(&error)]))?);
    }
    Ok(visible)
}

/// What came of an attempt, if no error did.
enum Outcome {
    /// The write is made, or there is nothing to do. The items that the field returns, or why that is
    /// not known.
    Done(Result<Vec<Vec<Arc<Item>>>, FieldErrors>),
    /// Others wait for an item that this write needs: it queues behind them and reads the item again.
    Queue(ItemPlace),
    /// Others were faster. The item of the race, if one call tells which.
    Raced(Option<ItemPlace>),
    /// An item is in another form than Keyfold writes, so that it is read. The error if that is not why its change was
    /// refused.
    OtherForm(Option<FieldErrors>),
    /// Items lack what the write changes a part of. As they came back, they tell what makes it.
    Unplaced(Vec<(ItemPlace, Arc<Item>)>),
}

/// The attempts of a write.
struct Attempts<'a, 'j> {
    job: &'a WriteJob<'j>,
    /// How many there were.
    number: u32,
    /// Generated values of all attempts.
    generated: Generated,
    /// What they found.
    earlier: Earlier,
    races: u32,
    waits: Backoff<'static>,
    /// This writer's turn at an item.
    turn: Option<Turn<'j>>,
    /// The error if the form of an item is not why DynamoDB cannot calculate with it.
    unfit: Option<FieldErrors>,
    /// Whether one of them deleted items ahead of its calls.
    has_deleted: bool,
    /// Whether the last one found that the request has no record.
    is_new: bool,
    /// Why the answer to one of them, which may have been made, is missing.
    unanswered: Option<TableError>,
}

impl<'a, 'j> Attempts<'a, 'j> {
    fn new(job: &'a WriteJob<'j>) -> Self {
        let (generated, earlier, waits) = (Generated::new(), Earlier::default(), Backoff::unbounded(LOST_RACE));
        let (turn, unfit, unanswered) = (None, None, None);
        let (has_deleted, is_new) = (false, false);
        Self { job, number: 0, generated, earlier, races: 0, waits, turn, unfit, has_deleted, is_new, unanswered }
    }

    /// Makes attempts until one is decided. Too many races, and the deadline, end them.
    async fn run(mut self) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
        loop {
            let goes_on = match self.attempt().await {
                Ok(Outcome::Done(result)) => return result,
                Ok(Outcome::Queue(place)) => self.queue(place).await,
                Ok(Outcome::Raced(place)) => self.race(place).await,
                Ok(Outcome::OtherForm(unfit)) => self.read_form(unfit).await,
                Ok(Outcome::Unplaced(items)) => self.take_form(items).await,
                Err(field_errors) => return self.refuse(field_errors, self.has_deleted).await,
            };
            if !goes_on {
                let field_error = self.unanswered.as_ref().map_or_else(contention, repeatable);
                let is_open = self.unanswered.is_some() || self.has_deleted;
                return self.refuse(vec![field_error], is_open).await;
            }
            self.number += 1;
        }
    }

    /// The answer to a write that is refused: the errors, or the items of a request that was made before. If it
    /// `is_open` whether the write is made, its calls stand.
    async fn refuse(&self, field_errors: FieldErrors, is_open: bool) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
        if let Some(calls) = self.job.calls {
            let (field_errors, states) = (self.unmade(field_errors), Some(calls.states.clone()));
            return refusal::answer(self.job, RefusedWrite { field_errors, states, is_open }).await;
        }
        match self.job.request.filter(|_| !self.is_new) {
            Some(request) => match (record::read(self.job, request).await, &self.unanswered) {
                (Ok(Some(record)), _) => repeated::answer(self.job, request, &record).await,
                (Ok(None), _) => Err(field_errors),
                (Err(_), Some(error)) => Err(vec![repeatable(error)]),
                // Whether a request before this one was made is not known. That its key is in use says so.
                (Err(_), None) if record::are_in_use(&field_errors) => Err(field_errors),
                (Err(unread), None) => Err(unread),
            },
            None => Err(self.unmade(field_errors)),
        }
    }

    /// Errors, with the calls of services that stand.
    fn with_calls(&self, field_errors: FieldErrors) -> FieldErrors {
        refusal::tell(self.job, field_errors, self.job.calls.map(|calls| calls.states.as_slice()))
    }

    /// The errors of a write that is not made, of which a part may be.
    fn unmade(&self, field_errors: FieldErrors) -> FieldErrors {
        match field_errors.first() {
            Some(first) if self.has_deleted => vec![half_way(first.code)],
            _ => field_errors,
        }
    }

    /// Drafts the write, and sends it unless others wait for what it relies on.
    async fn attempt(&mut self) -> Result<Outcome, FieldErrors> {
        self.is_new = false;
        let mut draft = self.draft().await?;
        if let Some(calls) = self.job.calls
            && calls.basis != services::basis(self.job, &draft)?
        {
            return Err(vec![before::changed()]);
        }
        if let Some(field_errors) = self.unfit.take().filter(|_| !draft.relies_on_null()) {
            return Err(field_errors);
        }
        // What another call writes is left out before rules are placed, so that no check goes with it. A refusal by a
        // rule comes first.
        let distinct = draft.check_distinct(self.job);
        draft.check_rules(self.job).await?;
        distinct.map_err(|field_error| vec![field_error])?;
        if self.turn.is_none()
            && let Some(place) = self.job.context.keyed_locks.busy(&draft.relied_on())
        {
            return Ok(Outcome::Queue(place.clone()));
        }
        if self.job.calls.is_some() && !draft.writes() {
            return Err(vec![before::nothing_to_do()]);
        }
        if let Some(request) = self.job.request {
            if !draft.writes() {
                // That there is nothing to do may be a refusal, which is not recorded.
                if let Err(error) = cascade::hold(self.job, &draft, self.number).await {
                    return self.unsent(draft, error).await;
                }
                results::finish(self.job, &draft, Ending::NothingToDo).await?;
            }
            record::add(self.job, request, &mut draft);
        }
        let sent = match cascade::clear(self.job, &draft, self.number).boxed().await {
            Ok(()) => {
                self.has_deleted |= !draft.first.is_empty();
                self.send(&draft).await
            }
            Err(CascadeError::Before(error)) => Err(error),
            Err(CascadeError::Changed) => {
                self.has_deleted = true;
                Err(WriteError::Conditions(Vec::new()))
            }
            Err(CascadeError::HalfWay(error)) => {
                self.has_deleted = true;
                return Err(vec![half_way(error)]);
            }
        };
        match sent {
            Ok(answer) => Ok(Outcome::Done(results::finish(self.job, &draft, Ending::Made(answer)).await)),
            Err(error) => self.unsent(draft, error).await,
        }
    }

    /// The draft of this attempt. Of an action that cannot be drafted, a caller learns nothing if a rule or a condition
    /// before it fails.
    async fn draft(&mut self) -> Result<WriteDraft, FieldErrors> {
        self.earlier.raced = self.races > 0;
        match draft(self.job, &mut self.generated, &self.earlier).await {
            Ok(draft) => Ok(draft),
            Err(UnfinishedDraft { mut draft, field_errors }) => {
                lookups::decide(self.job, &mut draft.rules).await?;
                Err(unmet(self.job, &draft).await?.map_or(field_errors, |unmet| vec![unmet]))
            }
        }
    }

    /// Sends a draft. A single update returns the new item, a single put or delete the old one.
    async fn send(&self, draft: &WriteDraft) -> Result<Option<Arc<Item>>, WriteError> {
        let WriteJob { context, token, .. } = self.job;
        if let Some(call) = draft.as_call(self.job.single_writes()) {
            return Ok(context.loaders.write(call).await?.map(Arc::new));
        }
        let calls: Vec<WriteCall> = draft.calls.iter().map(|call| call.write.clone()).collect();
        // Each draft is a new request and needs its own token.
        context.loaders.transact(&calls, &format!("{token}{:04}", self.number)).await?;
        Ok(None)
    }

    /// What follows from the error of a draft that was sent.
    async fn unsent(&mut self, mut draft: WriteDraft, error: WriteError) -> Result<Outcome, FieldErrors> {
        match error {
            WriteError::Conditions(failures) => self.refused(&draft, &failures).await,
            // The record decides whether it was made: another attempt finds it, or writes it.
            WriteError::Uncertain(error) if self.job.request.is_some() => {
                self.unanswered = Some(error);
                Ok(Outcome::Raced(None))
            }
            // Another attempt could undo what others have done since.
            WriteError::Uncertain(error) => match unanswered::made(self.job, &draft, &self.generated).boxed().await {
                Some(item) => Ok(Outcome::Done(results::finish(self.job, &draft, Ending::Made(Some(item))).await)),
                None => Ok(Outcome::Done(Err(self.with_calls(vec![open_end(&error)])))),
            },
            WriteError::Unfit(at, why) => {
                let refused = lookups::decide(self.job, &mut draft.rules).await.err();
                let field_errors = refused.unwrap_or_else(|| vec![unfit(&draft, at, why)]);
                // DynamoDB calculates with a missing value, but not with a null.
                match self.earlier.as_stored || why != Unfit::NoOperand || !draft.takes_null() {
                    true => Err(field_errors),
                    false => Ok(Outcome::OtherForm(Some(field_errors))),
                }
            }
            WriteError::Failed(error) if self.job.request.is_some() && error.kind == TableErrorKind::Condition => {
                Err(vec![record::in_use()])
            }
            error => Err(vec![field_error(error)]),
        }
    }

    /// What follows from failed conditions.
    async fn refused(&mut self, draft: &WriteDraft, failures: &[ConditionFailure]) -> Result<Outcome, FieldErrors> {
        if let Some(request) = self.job.request {
            match record::among(draft, failures) {
                Some(Some(record)) => return Ok(Outcome::Done(self.recorded(request, record).await)),
                Some(None) => return self.repeat(request).await,
                None => self.is_new = true,
            }
        }
        match classify(self.job, draft, failures).await {
            Ok(Following::Race(place)) => {
                let guards: Vec<ItemPlace> = draft.failed_guards(failures).collect();
                // What fails beside a guard may change whose it is: that is found out again.
                match guards.len() == failures.len() {
                    true => self.earlier.foreign_guards.extend(guards),
                    false => self.earlier.foreign_guards.clear(),
                }
                replicas::repair(self.job, draft, failures).await.map_err(|error| vec![field_error(error)])?;
                Ok(Outcome::Raced(place))
            }
            Ok(Following::OtherForm) => Ok(Outcome::OtherForm(None)),
            Ok(Following::Unplaced(items)) => Ok(Outcome::Unplaced(items)),
            Ok(Following::Expired(items)) => {
                cascade::clear_expired(self.job, &items).await.map_err(|error| vec![field_error(error)])?;
                Ok(Outcome::Raced(None))
            }
            Ok(Following::Nothing) if self.job.calls.is_some() => Err(vec![before::nothing_to_do()]),
            // That there is nothing to do is recorded, too.
            Ok(Following::Nothing) if self.job.request.is_some() => Ok(Outcome::Raced(None)),
            Ok(Following::Nothing) => Ok(Outcome::Done(results::finish(self.job, draft, Ending::NothingToDo).await)),
            Err(field_errors) => {
                // An earlier request for the same write may have stopped before all replicas were equal.
                let _ = replicas::sync(self.job, &draft.behind, SyncCause::Found).await;
                Err(field_errors)
            }
        }
    }

    /// Answers a request whose record is there. If it has ended in this moment, the write is tried again.
    async fn repeat(&self, request: &KnownRequest) -> Result<Outcome, FieldErrors> {
        match record::read(self.job, request).await? {
            Some(record) => Ok(Outcome::Done(self.recorded(request, &record).await)),
            None => Ok(Outcome::Raced(None)),
        }
    }

    /// The answer of a record.
    async fn recorded(&self, request: &KnownRequest, record: &Item) -> Result<Vec<Vec<Arc<Item>>>, FieldErrors> {
        match self.job.calls {
            Some(_) => refusal::recorded(self.job, request, record).await,
            None => repeated::answer(self.job, request, record).await,
        }
    }

    /// Waits for the turn at an item. False if it does not come before the deadline.
    async fn queue(&mut self, place: ItemPlace) -> bool {
        let context = self.job.context;
        self.turn = context.keyed_locks.turn(place, context.deadline).await;
        self.turn.is_some()
    }

    /// Waits after a lost race: for the turn at its item, or else for a moment.
    async fn race(&mut self, place: Option<ItemPlace>) -> bool {
        self.races += 1;
        self.job.context.lost_races.fetch_add(1, Ordering::Relaxed);
        match place.filter(|_| self.turn.is_none()) {
            Some(place) => self.queue(place).await,
            None => self.pause().await,
        }
    }

    /// The next attempt reads the form of the items. An item that has changed since it was read is waited for.
    async fn read_form(&mut self, unfit: Option<FieldErrors>) -> bool {
        self.unfit = unfit;
        if !std::mem::replace(&mut self.earlier.as_stored, true) {
            return true;
        }
        self.races += 1;
        self.pause().await
    }

    /// The next attempt takes the items as they came back. One that has changed since then is waited for.
    async fn take_form(&mut self, items: Vec<(ItemPlace, Arc<Item>)>) -> bool {
        let is_first = self.earlier.came_back.is_empty();
        self.earlier.came_back.extend(items);
        if is_first {
            return true;
        }
        self.races += 1;
        self.pause().await
    }

    async fn pause(&mut self) -> bool {
        self.races < MAX_RACES && self.waits.wait(self.job.context.deadline).await
    }
}
