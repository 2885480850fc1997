//! A subscription that a client asks for in; the same out with the values that it is bound to, if its caller may have
//! it. It makes the event of a change. Must not know who else has the same operation.

use super::bounds::DeliveryBounds;
use super::delivery::{Images, deliver, watched};
use super::event::Event;
use super::history::event_id::EventPosition;
use super::interest::{ImageMatcher, Interest};
use crate::execute::error::{ErrorCode, Failure, FieldError, GraphqlError};
use crate::execute::gateway::{Gateway, PreparedOperation};
use crate::execute::read::state::ReadState;
use crate::plan::tree::{PlannedWatch, WriteLookup};
use crate::schema::model::watch::AFTER;
use crate::table::change_source::ChangeRecord;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the check of a subscription may take, which reads nothing.
const CHECK_LIMIT: Duration = Duration::from_secs(1);

/// An operation that watches, on the gateway that planned it.
pub struct WatchedOperation {
    /// The gateway.
    pub gateway: Gateway,
    /// The operation.
    pub prepared: PreparedOperation,
    /// The items that it watches.
    pub interest: Interest,
    /// What it shares with all others.
    pub bounds: Arc<DeliveryBounds>,
}

impl WatchedOperation {
    /// Checks who subscribes to what. Gives the operation, and the position after which it goes on: that of the event
    /// `after`, or else of the argument.
    pub fn bind(
        gateway: &Gateway,
        prepared: PreparedOperation,
        (bounds, after): (&Arc<DeliveryBounds>, Option<&str>),
    ) -> Result<(Arc<Self>, Option<EventPosition>), Vec<GraphqlError>> {
        let (interest, position) = {
            let run = gateway.begin(None, Instant::now() + CHECK_LIMIT);
            let context = gateway.context(&run, &prepared);
            let missing = || vec![GraphqlError::new(ErrorCode::Internal, "The operation watches nothing.")];
            let (step, watch) = watched(&prepared).ok_or_else(missing)?;
            let state = ReadState::new(&step.plan, &context);
            let of = |code, message: &str| vec![error(watch, &prepared, FieldError::new(code, message))];
            let of_failure = |failure: Arc<Failure>| of(failure.code, &failure.message);
            if let Some(code) = state.refusal(watch.node.guard) {
                let refused = state.refusal_errors(watch.node.guard, code).into_iter();
                return Err(refused.map(|refused| error(watch, &prepared, refused)).collect());
            }
            let interest = Interest::new(&state, watch).map_err(of_failure)?;
            ImageMatcher::new(&context, &state, watch, &interest).map_err(of_failure)?;
            let argument =
                state.arguments().values(watch.arguments).map_err(of_failure)?.get(AFTER).and_then(|id| id.as_str());
            let parse = |id: &str| {
                let what = if after.is_some() { "last event" } else { "argument \"after\"" };
                let message = format!("The {what} is not the id of an event.");
                EventPosition::parse(id).ok_or_else(|| of(ErrorCode::BadUserInput, &message))
            };
            (interest, after.or(argument).map(parse).transpose()?)
        };
        Ok((Arc::new(Self { gateway: gateway.clone(), prepared, interest, bounds: bounds.clone() }), position))
    }

    /// The name of the table that it watches.
    pub fn table(&self) -> Arc<str> {
        let table = watched(&self.prepared).map(|(_, watch)| self.gateway.model().tables[watch.table].name.as_str());
        table.unwrap_or_default().into()
    }

    /// How it reads the item as it is, if it begins with that.
    pub fn initial(&self) -> Option<&WriteLookup> {
        watched(&self.prepared)?.1.initial.as_ref()
    }

    /// The event of a change; `None` if it does not concern the operation. Fails if what decides that could not be
    /// read.
    pub async fn event(&self, record: Arc<ChangeRecord>) -> Result<Option<Event>, Arc<Failure>> {
        let id: Arc<str> = EventPosition::new(&record).id().into();
        let images = Images { old: record.old.as_ref(), new: record.new.as_ref(), changed: Some(record.created) };
        let body = deliver(&self.gateway, &self.prepared, &self.interest, images, &id).await?;
        Ok(body.map(|body| Event { id, body: body.into(), record: Some(record) }))
    }
}

/// An error of the subscription's field.
fn error(watch: &PlannedWatch, prepared: &PreparedOperation, refused: FieldError) -> GraphqlError {
    let FieldError { code, message, details } = refused;
    let locations = watched(prepared).and_then(|(step, _)| step.plan.root.fields.first()).map(|output| output.location);
    tracing::debug!(field = watch.field, code = code.as_str(), "a subscription was refused");
    GraphqlError { locations: locations.into_iter().collect(), details, ..GraphqlError::new(code, message) }
}
