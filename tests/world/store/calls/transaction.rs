//! TransactWriteItems (API reference; developer guide, "Amazon DynamoDB Transactions: How it works").

use crate::store::calls::capacity::{Units, Wanted, by_table};
use crate::store::calls::write::{Kind, Write, units};
use crate::store::chance::{TransactionFate, in_progress};
use crate::store::data::attribute::{self, Item};
use crate::store::data::key::Key;
use crate::store::data::size::item_bytes;
use crate::store::data::table::Writer;
use crate::store::error::{Answer, ModelError, Reason};
use crate::store::request::Request;
use crate::store::state::{Moment, State, Token};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How long a token is known.
const TOKEN_KEPT: u64 = 10 * 60 * 1000;
const MOST_ACTIONS: usize = 100;
const MOST_BYTES: usize = 4 * 1024 * 1024;
const TOKEN_BYTES: usize = 36;

const KINDS: [(&str, Kind); 4] =
    [("Put", Kind::Put), ("Update", Kind::Update), ("Delete", Kind::Delete), ("ConditionCheck", Kind::Check)];

pub fn transact(state: &mut State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let wanted = Wanted::parse(request)?;
    let actions = request.need("TransactItems")?;
    let token = request.text("ClientRequestToken")?;
    if token.is_some_and(|token| token.is_empty() || token.len() > TOKEN_BYTES) {
        return Err(ModelError::invalid("ClientRequestToken must have 1 to 36 characters"));
    }
    let writes = parse(state, request)?;
    state.tokens.retain(|_, token| token.made + TOKEN_KEPT > moment.now);
    match token.and_then(|token| state.tokens.get(token)) {
        Some(made) if made.actions == *actions => return answer(&repeated(state, &writes)?, wanted),
        Some(_) => {
            let code = "IdempotentParameterMismatchException";
            return Err(ModelError::new(code, "The token was used with other parameters"));
        }
        None => {}
    }
    let fate = moment.chance.transaction(writes.len());
    if fate == TransactionFate::InProgress {
        return Err(in_progress());
    }
    let outcomes = outcomes(state, &writes, fate)?;
    let mut consumed: BTreeMap<String, Units> = BTreeMap::new();
    for (write, new) in writes.iter().flatten().zip(outcomes) {
        let table = state.table_mut(&write.table)?;
        let old = table.item(&write.key).cloned();
        let units = units(old.as_ref(), new.as_ref(), &table.definition).doubled();
        consumed.entry(write.table.clone()).or_default().add(&units);
        if !write.is_check() {
            table.set(&write.key, new, moment.now, Writer::Client);
        }
    }
    if let Some(token) = token {
        state.tokens.insert(token.to_owned(), Token { made: moment.now, actions: actions.clone() });
    }
    answer(&consumed, wanted)
}

/// The actions, if the request is valid.
fn parse(state: &State, request: Request<'_>) -> Answer<Vec<Answer<Write>>> {
    let actions = request.list("TransactItems")?.map_or(&[][..], Vec::as_slice);
    if !(1..=MOST_ACTIONS).contains(&actions.len()) {
        return Err(ModelError::invalid("A transaction has 1 to 100 actions"));
    }
    let (mut writes, mut places, mut has_twice) = (Vec::new(), BTreeSet::new(), false);
    for action in actions {
        let action = Request::new(action)?;
        let mut kinds = KINDS.iter().filter_map(|(name, kind)| Some((action.get(name)?, *kind)));
        let (Some((body, kind)), None) = (kinds.next(), kinds.next()) else {
            return Err(ModelError::invalid("TransactItems can only contain one of Check, Put, Update or Delete"));
        };
        let body = Request::new(body)?;
        if kind == Kind::Update {
            body.need("UpdateExpression")?;
        }
        writes.push(Write::parse(kind, body, state)?);
        let place = place(body, state)?;
        has_twice |= place.is_some_and(|place| !places.insert(place));
    }
    match has_twice {
        true => Err(ModelError::invalid("Transaction request cannot include multiple operations on one item")),
        false => Ok(writes),
    }
}

/// The table and the key of an action's item, even if the rest of it is wrong; `None` if the key itself is.
fn place(body: Request<'_>, state: &State) -> Answer<Option<(String, Key)>> {
    let table = body.need("TableName")?.as_str().unwrap_or_default();
    let given = attribute::item(body.get("Item").map_or_else(|| body.need("Key"), Ok)?)?;
    let key = Key::in_item(&given, &state.table(table)?.definition.keys);
    Ok(key.ok().map(|key| (table.to_owned(), key)))
}

/// What the items become, or why the transaction is canceled.
fn outcomes(state: &State, writes: &[Answer<Write>], fate: TransactionFate) -> Answer<Vec<Option<Item>>> {
    let (mut outcomes, mut reasons, mut bytes) = (Vec::new(), Vec::new(), 0);
    for (at, write) in writes.iter().enumerate() {
        let outcome = write.as_ref().map_err(Clone::clone).and_then(|write| {
            let table = state.table(&write.table)?;
            write.outcome(table.item(&write.key), &table.definition)
        });
        let is_in_conflict = matches!(fate, TransactionFate::Conflict(place) if place == at);
        reasons.push(match outcome {
            _ if is_in_conflict => Reason::conflict(),
            Err(refused) => refused.into(),
            Ok(outcome) => {
                bytes += outcome.as_ref().map_or(0, item_bytes);
                outcomes.push(outcome);
                Reason::none()
            }
        });
    }
    if reasons.iter().any(|reason| reason.code != "None") {
        return Err(ModelError::canceled(reasons));
    }
    match bytes > MOST_BYTES {
        true => Err(ModelError::invalid("The items of a transaction have more than 4 MB")),
        false => Ok(outcomes),
    }
}

/// The units of a transaction that was made before: those of reading its items.
fn repeated(state: &State, writes: &[Answer<Write>]) -> Answer<BTreeMap<String, Units>> {
    let mut consumed: BTreeMap<String, Units> = BTreeMap::new();
    for write in writes.iter().flatten() {
        let bytes = state.table(&write.table)?.item(&write.key).map_or(0, item_bytes);
        let units = crate::store::data::size::read_units(bytes, true);
        consumed.entry(write.table.clone()).or_default().add(&Units { table: units, ..Units::default() }.doubled());
    }
    Ok(consumed)
}

fn answer(consumed: &BTreeMap<String, Units>, wanted: Wanted) -> Answer<Value> {
    let units = by_table(consumed, wanted).map(|units| ("ConsumedCapacity".to_owned(), units));
    Ok(Value::Object(Map::from_iter(units)))
}
