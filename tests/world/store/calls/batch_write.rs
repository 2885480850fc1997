//! BatchWriteItem (API reference).

use crate::store::calls::capacity::{Units, Wanted, by_table};
use crate::store::calls::write::{Kind, Write, units};
use crate::store::data::table::Writer;
use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MOST_WRITES: usize = 25;

pub fn batch_write(state: &mut State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let wanted = Wanted::parse(request)?;
    let writes = parse(state, request)?;
    let done = moment.chance.processed(writes.len()).clamp(1, writes.len());
    let (mut consumed, mut unprocessed): (BTreeMap<String, Units>, Map<String, Value>) = Default::default();
    for (at, (write, body)) in writes.iter().enumerate() {
        if at >= done {
            let rest = unprocessed.entry(write.table.clone()).or_insert_with(|| json!([]));
            rest.as_array_mut().into_iter().for_each(|rest| rest.push((*body).clone()));
            continue;
        }
        let table = state.table_mut(&write.table)?;
        let old = table.item(&write.key).cloned();
        let new = write.outcome(old.as_ref(), &table.definition)?;
        let units = units(old.as_ref(), new.as_ref(), &table.definition);
        consumed.entry(write.table.clone()).or_default().add(&units);
        table.set(&write.key, new, moment.now, Writer::Client);
    }
    let mut answer = Map::from_iter([("UnprocessedItems".to_owned(), Value::Object(unprocessed))]);
    answer.extend(by_table(&consumed, wanted).map(|units| ("ConsumedCapacity".to_owned(), units)));
    Ok(Value::Object(answer))
}

/// The writes with their bodies, if the request is valid.
fn parse<'a>(state: &State, request: Request<'a>) -> Answer<Vec<(Write, &'a Value)>> {
    let mut writes = Vec::new();
    for (table, bodies) in request.object("RequestItems")?.into_iter().flatten() {
        let bodies = bodies.as_array().ok_or_else(|| ModelError::malformed("a list of writes is expected"))?;
        if bodies.is_empty() {
            return Err(ModelError::invalid("The list of writes must have 1 to 25 writes"));
        }
        for body in bodies {
            let one = Request::new(body)?;
            let (kind, member) = match (one.object("PutRequest")?, one.object("DeleteRequest")?) {
                (Some(put), None) => (Kind::Put, put),
                (None, Some(delete)) => (Kind::Delete, delete),
                _ => return Err(ModelError::invalid("A write is either a PutRequest or a DeleteRequest")),
            };
            let mut member = member.clone();
            member.insert("TableName".to_owned(), json!(table));
            writes.push((Write::parse(kind, Request::new(&Value::Object(member))?, state)??, body));
        }
    }
    if !(1..=MOST_WRITES).contains(&writes.len()) {
        return Err(ModelError::invalid("Too many items requested for the BatchWriteItem call, or none"));
    }
    let items: BTreeSet<_> = writes.iter().map(|(write, _)| (&write.table, &write.key)).collect();
    match items.len() < writes.len() {
        true => Err(ModelError::invalid("Provided list of item keys contains duplicates")),
        false => Ok(writes),
    }
}
