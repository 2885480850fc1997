//! A change and a subscription in; the response to its subscribers out, if the change concerns them and they may see
//! it.

use super::interest::{ImageMatcher, Interest};
use crate::execute::context::{ExecutionContext, GRACE};
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::gateway::{Gateway, PreparedOperation};
use crate::execute::item::identity;
use crate::execute::read::admit;
use crate::execute::read::apply::seed;
use crate::execute::read::state::ReadState;
use crate::execute::read::state::access::GuardOutcome;
use crate::execute::report::Preparation;
use crate::execute::response::body::ResponseBody;
use crate::execute::response::writer::Writer;
use crate::execute::values::expiry::PassedTimes;
use crate::execute::wave::executor::run_waves;
use crate::plan::tree::{PlanStep, PlannedWatch, SpaceId, WatchedImage};
use crate::schema::model::ObjectType;
use crate::schema::model::watch::ChangeKind;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::error::TableError;
use serde_json::{Map, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long the reads for a change may take.
const READ_LIMIT: Duration = Duration::from_secs(10);

/// An item before and after a change.
#[derive(Debug, Clone, Copy)]
pub struct Images<'a> {
    /// Before.
    pub old: Option<&'a Arc<Item>>,
    /// After.
    pub new: Option<&'a Arc<Item>>,
    /// The second of the change, since 1970; `None` if it is no change, but the item as it is when the subscription
    /// begins.
    pub changed: Option<i64>,
}

impl<'a> Images<'a> {
    /// The item of a type before the change. What had expired was not there when another one took its place. Its end
    /// shows when DynamoDB deletes it.
    fn before(&self, ty: &ObjectType) -> Option<&'a Arc<Item>> {
        let passed = PassedTimes::at(self.changed.unwrap_or_default());
        let is_overwritten = |old: &&Arc<Item>| self.new.is_some() && identity::has_expired(ty, old, passed);
        self.old.filter(|old| !is_overwritten(old))
    }
}

/// A change for the subscribers of an operation.
struct WatchedChange<'a> {
    prepared: &'a PreparedOperation,
    interest: &'a Interest,
    images: Images<'a>,
    /// The id of its event.
    id: &'a str,
}

/// The subscription's step and what it watches.
pub fn watched(prepared: &PreparedOperation) -> Option<(&PlanStep, &PlannedWatch)> {
    let step = prepared.plan().steps.first()?;
    Some((step, step.watch.as_ref()?))
}

/// The response map to a change, as JSON; `None` if the change does not concern the caller. `id` is the id of the
/// event. Fails if what decides that could not be read.
pub async fn deliver(
    gateway: &Gateway,
    prepared: &PreparedOperation,
    interest: &Interest,
    images: Images<'_>,
    id: &str,
) -> Result<Option<Vec<u8>>, Arc<Failure>> {
    let arrived = Preparation::begin();
    let deadline = Instant::now() + READ_LIMIT;
    let run = gateway.begin(None, deadline);
    let context = gateway.context(&run, prepared);
    let mut body = ResponseBody::new(gateway.limits());
    let extensions = || Some(json!({ "keyfold": { "id": id } }));
    let work = respond(&context, WatchedChange { prepared, interest, images, id }, &mut body);
    let written = timeout_at(deadline + GRACE, gateway.share(prepared, &run, work)).await;
    gateway.end(prepared, run, &body, &arrived);
    let Ok(written) = written else {
        return Err(Failure::new(ErrorCode::Timeout, "The reads for a change took too long."));
    };
    Ok(written?.map(|has_data| body.finish(has_data, extensions())))
}

/// Writes the response. `None` if there is none, and false if `data` is null.
async fn respond(
    context: &ExecutionContext<'_>,
    WatchedChange { prepared, interest, images, id }: WatchedChange<'_>,
    body: &mut ResponseBody,
) -> Result<Option<bool>, Arc<Failure>> {
    let Some((step, watch)) = watched(prepared) else { return Ok(None) };
    let (Some(ty), Some(of)) = (context.model.types.get(&watch.item), context.model.subscription(&watch.field)) else {
        return Ok(None);
    };
    let mut state = ReadState::new(&step.plan, context);
    let (before, after) = {
        let matcher = ImageMatcher::new(context, &state, watch, interest)?;
        (matcher.wanted(images.before(ty)), matcher.wanted(images.new))
    };
    let unread = |error: TableError| Failure::from_table(&error);
    let before = admit::visible_written(context, ty, before).await.map_err(unread)?;
    let after = admit::visible_written(context, ty, after).await.map_err(unread)?;
    // A field that begins with the item as it is, begins with null if there is none.
    let is_initial = images.changed.is_none();
    let is_null = is_initial && watch.change.is_none();
    if change_kind(!before.is_empty(), !after.is_empty()).is_none() && !is_null {
        return Ok(None);
    }
    context.loaders.bound_reads(Some(context.max_read_bytes));
    seed_images(&mut state, watch, (&before, &after));
    if !is_initial && of.kinds.len() < ChangeKind::ALL.len() {
        let arrives = match arrives(&state, watch, &of.kinds) {
            // A service is not asked for a change that does not arrive.
            None if !step.plan.calls.is_empty() => {
                let silent = ExecutionContext { services: None, ..*context };
                let mut decided = ReadState::new(&step.plan, &silent);
                seed_images(&mut decided, watch, (&before, &after));
                run_waves(&silent, &mut decided, false).await;
                let kind = change_kind(is_seen(&decided, &watch.previous)?, is_seen(&decided, &watch.node)?);
                kind.is_some_and(|kind| of.kinds.contains(&kind))
            }
            certain => certain.unwrap_or(true),
        };
        if !arrives {
            return Ok(None);
        }
    }
    run_waves(context, &mut state, false).await;
    let (before, after) = (is_seen(&state, &watch.previous)?, is_seen(&state, &watch.node)?);
    let kind = match change_kind(before, after) {
        Some(kind) => kind,
        None if is_null => ChangeKind::Insert,
        None => return Ok(None),
    };
    if !is_initial && !of.kinds.contains(&kind) {
        return Ok(None);
    }
    hide(&mut state, watch.previous.space, before);
    hide(&mut state, watch.node.space, after);
    if let Some(space) = watch.change {
        let text = |part: &str, value: &str| (part.to_owned(), Attribute::S(value.into()));
        seed(&mut state, space, vec![Arc::new([text("change", kind.name()), text("id", id)].into_iter().collect())]);
    }
    Ok(Some(Writer::new(&state, &Map::new(), body).write().is_ok()))
}

/// Seeds both images of a change.
fn seed_images(state: &mut ReadState<'_>, watch: &PlannedWatch, (before, after): (&[Arc<Item>], &[Arc<Item>])) {
    if let Some(space) = watch.change {
        seed(state, space, vec![Arc::new(Item::new())]);
    }
    seed(state, watch.previous.space, before.to_vec());
    seed(state, watch.node.space, after.to_vec());
}

/// Whether a change is of one of these kinds, before anything is read. `None` if what a rule looks up decides it.
fn arrives(state: &ReadState<'_>, watch: &PlannedWatch, kinds: &[ChangeKind]) -> Option<bool> {
    let possible = |image: &WatchedImage| match state.access(image.guard, (image.space, 0)) {
        _ if state.len(image.space) == 0 => vec![false],
        GuardOutcome::Granted => vec![true],
        GuardOutcome::Refused(_) => vec![false],
        GuardOutcome::Failed(_) | GuardOutcome::Undecided => vec![true, false],
    };
    let (before, after) = (possible(&watch.previous), possible(&watch.node));
    let changes = before.iter().flat_map(|before| after.iter().map(|after| change_kind(*before, *after)));
    let mut wanted = changes.map(|kind| kind.is_some_and(|kind| kinds.contains(&kind)));
    let first = wanted.next()?;
    wanted.all(|other| other == first).then_some(first)
}

/// The kind of a change for a caller: `before` says whether the caller may see the item before it, `after` whether
/// after it. `None` if neither.
fn change_kind(before: bool, after: bool) -> Option<ChangeKind> {
    match (before, after) {
        (false, false) => None,
        (false, true) => Some(ChangeKind::Insert),
        (true, true) => Some(ChangeKind::Modify),
        (true, false) => Some(ChangeKind::Remove),
    }
}

/// Whether the caller may see an image. Fails if what decides that could not be read.
fn is_seen(state: &ReadState<'_>, image: &WatchedImage) -> Result<bool, Arc<Failure>> {
    if state.len(image.space) == 0 {
        return Ok(false);
    }
    match state.access(image.guard, (image.space, 0)) {
        GuardOutcome::Granted => Ok(true),
        GuardOutcome::Refused(_) => Ok(false),
        GuardOutcome::Failed(failure) => Err(failure),
        GuardOutcome::Undecided => Err(Failure::new(ErrorCode::Internal, "A rule could not be decided.")),
    }
}

/// Takes an image away that the caller may not see.
fn hide(state: &mut ReadState<'_>, space: SpaceId, is_seen: bool) {
    if !is_seen && state.len(space) > 0 {
        seed(state, space, Vec::new());
    }
}
