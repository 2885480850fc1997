//! The mutations of the API in, what each of their actions demands of its item out: for the plan of a write on the
//! page. `keyfold dev` has it; `keyfold serve` does not.

use crate::schema::model::Model;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::{Action, ActionKind, WriteTarget};
use crate::serve::backend::current_gateway::CurrentGateway;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Knows what writes demand.
pub trait WriteConditions: Send + Sync + 'static {
    /// Each mutation with the conditions of its actions, in their order.
    fn conditions(&self) -> Value;
}

/// Those of the API that is served now.
impl WriteConditions for CurrentGateway {
    fn conditions(&self) -> Value {
        conditions(self.get().model())
    }
}

/// The response to GET `/dev/writes`.
pub async fn list(State(writes): State<Arc<dyn WriteConditions>>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, writes.conditions().to_string()).into_response()
}

fn conditions(model: &Model) -> Value {
    let root = model.api.schema_definition.mutation.as_ref().and_then(|name| model.api.get_object(name));
    let fields = root.iter().flat_map(|root| root.fields.keys());
    let mutations = fields.filter_map(|name| {
        let write = model.mutation(name.as_str())?;
        Some((name.to_string(), write.actions.iter().map(|action| demand(model, action)).collect()))
    });
    Value::Object(mutations.collect::<Map<String, Value>>())
}

/// What an action demands: that its item is there or is not, its own condition, and the message if that does not hold.
/// And what gives the fields of the item's key, in the form in which a plan has it.
fn demand(model: &Model, action: &Action) -> Value {
    let table = model.item(&action.item).map(|(_, keys)| &model.tables[keys.table]);
    let key = table.map_or("PK", |table| table.partition.name.as_str());
    let presence = match (&action.kind, &action.at) {
        (ActionKind::Put { replace: false }, None) => Some(format!("attribute_not_exists({key})")),
        (ActionKind::Put { .. }, None) | (ActionKind::Update { upsert: true, .. } | ActionKind::Check, _) => None,
        _ => Some(format!("attribute_exists({key})")),
    };
    let own = action.condition.as_ref().map(ToString::to_string);
    let kind = match &action.kind {
        ActionKind::Put { .. } if action.at.is_none() => "put",
        ActionKind::Delete { .. } => "delete",
        ActionKind::Check => "check",
        _ => "update",
    };
    let mut bound: Map<String, Value> = Map::new();
    let written = action.values.iter().filter_map(|(field, value)| Some((field, value.source()?)));
    let keyed = match &action.target {
        WriteTarget::Key(key) => Some(key.iter()),
        _ => None,
    };
    for (field, source) in written.chain(keyed.into_iter().flatten()) {
        bound.insert(field.clone(), source_text(source).into());
    }
    json!({
        "kind": kind, "type": action.item, "bound": bound,
        "presence": presence, "condition": own, "message": action.message,
    })
}

/// A source as a plan has it: `{$id}` is an argument, `{auth.sub}` a claim, `{from.name}` a field of a found item.
fn source_text(source: &Source) -> String {
    match source {
        Source::Argument(name) => format!("{{${name}}}"),
        Source::Parent(field) => format!("{{{field}}}"),
        Source::Claim(claim) => format!("{{{claim}}}"),
        Source::Item(item, field) => format!("{{{item}.{field}}}"),
        Source::Text(parts) => parts.iter().fold(String::new(), |text, part| match part {
            TextPart::Literal(literal) => text + literal,
            TextPart::Value(source) => text + &source_text(source),
        }),
    }
}
