//! ListStreams, DescribeStream, GetShardIterator and GetRecords (Streams API reference).

use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use crate::store::stream::{Shard, Stream, parse_sequence, sequence_text};
use serde_json::{Value, json};

/// How long an iterator is good for.
const ITERATOR_KEPT: u64 = 15 * 60 * 1000;
/// The most records of an answer.
const MOST_RECORDS: usize = 1000;
const MOST_SHARDS: usize = 100;
/// The most bytes of an answer's records.
const MOST_BYTES: u64 = 1024 * 1024;

pub fn list_streams(state: &State, request: Request<'_>) -> Answer<Value> {
    let (name, after) = (request.text("TableName")?, request.text("ExclusiveStartStreamArn")?);
    let limit = request.count("Limit")?.unwrap_or(100);
    let mut streams = Vec::new();
    for (table, stream) in state.tables.iter().filter_map(|(name, table)| Some((name, table.stream.as_ref()?))) {
        if name.is_none_or(|name| name == table) && after.is_none_or(|after| stream.arn.as_str() > after) {
            streams.push(json!({ "TableName": table, "StreamArn": stream.arn, "StreamLabel": stream.label }));
        }
    }
    let more = streams.len() > limit;
    streams.truncate(limit);
    let mut answer = json!({ "Streams": streams });
    if more {
        answer["LastEvaluatedStreamArn"] = streams.last().map_or(Value::Null, |stream| stream["StreamArn"].clone());
    }
    Ok(answer)
}

pub fn describe_stream(state: &mut State, request: Request<'_>, moment: &Moment<'_>) -> Answer<Value> {
    let after = request.text("ExclusiveStartShardId")?.map(str::to_owned);
    let limit = request.count("Limit")?.unwrap_or(MOST_SHARDS).min(MOST_SHARDS);
    let arn = request.need("StreamArn")?.as_str().unwrap_or_default();
    let table = state.tables.values_mut().find(|table| table.stream.as_ref().is_some_and(|stream| stream.arn == arn));
    let table = table.ok_or_else(|| missing_stream(arn))?;
    let schema = table.definition.input["KeySchema"].clone();
    let name = table.definition.name.clone();
    let stream = table.stream.as_mut().ok_or_else(|| missing_stream(arn))?;
    stream.trim(moment.now);
    let shards: Vec<&Shard> =
        stream.shards.iter().filter(|shard| after.as_ref().is_none_or(|after| shard.id > *after)).collect();
    let page = &shards[..shards.len().min(limit)];
    let mut description = json!({
        "StreamArn": stream.arn,
        "StreamLabel": stream.label,
        "StreamStatus": "ENABLED",
        "StreamViewType": "NEW_AND_OLD_IMAGES",
        "TableName": name,
        "KeySchema": schema,
        "Shards": page.iter().map(|shard| shard_json(shard)).collect::<Vec<_>>(),
    });
    if let Some(last) = page.last().filter(|_| page.len() < shards.len()) {
        description["LastEvaluatedShardId"] = json!(last.id);
    }
    Ok(json!({ "StreamDescription": description }))
}

fn shard_json(shard: &Shard) -> Value {
    let mut range = json!({ "StartingSequenceNumber": sequence_text(shard.first) });
    if let Some((last, _)) = shard.closed {
        range["EndingSequenceNumber"] = json!(sequence_text(last));
    }
    let mut json = json!({ "ShardId": shard.id, "SequenceNumberRange": range });
    if let Some(parent) = &shard.parent {
        json["ParentShardId"] = json!(parent);
    }
    json
}

pub fn get_shard_iterator(state: &mut State, request: Request<'_>, moment: &Moment<'_>) -> Answer<Value> {
    let arn = request.need("StreamArn")?.as_str().unwrap_or_default();
    let id = request.need("ShardId")?.as_str().unwrap_or_default();
    let kinds = ["TRIM_HORIZON", "LATEST", "AT_SEQUENCE_NUMBER", "AFTER_SEQUENCE_NUMBER"];
    request.need("ShardIteratorType")?;
    let kind = request.word("ShardIteratorType", &kinds)?;
    let sequence = request.text("SequenceNumber")?;
    if sequence.is_some() != kind.ends_with("SEQUENCE_NUMBER") {
        return Err(ModelError::invalid("SequenceNumber does not go with the ShardIteratorType"));
    }
    let stream = stream_mut(state, arn)?;
    stream.trim(moment.now);
    let shard = find_shard(stream, id)?;
    let next = shard.closed.map_or(stream.next(), |(last, _)| last);
    let at = match sequence {
        None if kind == "LATEST" => next,
        None => shard.records.first().map_or(next, |record| record.sequence),
        Some(text) => {
            let given = parse_sequence(text).filter(|given| (shard.first..=next).contains(given));
            let given = given.ok_or_else(|| ModelError::invalid("Invalid SequenceNumber: it is not in the shard"))?;
            if given <= shard.trimmed {
                return Err(trimmed());
            }
            if kind == "AFTER_SEQUENCE_NUMBER" { given + 1 } else { given }
        }
    };
    Ok(json!({ "ShardIterator": Iterator { arn, shard: id, at, issued: moment.now }.text() }))
}

pub fn get_records(state: &mut State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let limit = request.count("Limit")?.unwrap_or(MOST_RECORDS);
    if limit > MOST_RECORDS {
        return Err(ModelError::invalid("Limit must be at most 1000"));
    }
    let text = request.need("ShardIterator")?.as_str().unwrap_or_default();
    let iterator = Iterator::parse(text).ok_or_else(|| ModelError::invalid("Invalid ShardIterator"))?;
    if moment.now > iterator.issued + ITERATOR_KEPT {
        return Err(ModelError::new("ExpiredIteratorException", "Iterator expired"));
    }
    let clock = state.clock;
    let stream = stream_mut(state, iterator.arn)?;
    stream.trim(moment.now);
    let shard = find_shard(stream, iterator.shard)?;
    if iterator.at <= shard.trimmed {
        return Err(trimmed());
    }
    let there: Vec<_> = shard.records.iter().filter(|record| record.sequence >= iterator.at).collect();
    let most = there.len().min(limit);
    let delivered = moment.chance.delivered(most).min(most);
    let (mut records, mut at, mut bytes) = (Vec::new(), iterator.at, 0);
    for record in &there[..delivered] {
        let json = record.json(clock.created(record.made));
        bytes += json["dynamodb"]["SizeBytes"].as_u64().unwrap_or(0);
        if !records.is_empty() && bytes > MOST_BYTES {
            break;
        }
        at = record.sequence + 1;
        records.push(json);
    }
    let has_ended = shard.closed.is_some() && records.len() == there.len();
    let mut answer = json!({ "Records": records });
    if !has_ended {
        answer["NextShardIterator"] = json!(Iterator { at, issued: moment.now, ..iterator }.text());
    }
    Ok(answer)
}

/// A place in a shard, and when it was given.
struct Iterator<'a> {
    arn: &'a str,
    shard: &'a str,
    /// The first sequence number that it reads.
    at: u64,
    issued: u64,
}

impl<'a> Iterator<'a> {
    fn text(&self) -> String {
        format!("{}|{}|{}|{}", self.arn, self.shard, self.at, self.issued)
    }

    fn parse(text: &'a str) -> Option<Self> {
        let parts: Vec<&str> = text.split('|').collect();
        let [arn, shard, at, issued] = parts.as_slice() else { return None };
        Some(Self { arn, shard, at: at.parse().ok()?, issued: issued.parse().ok()? })
    }
}

fn stream_mut<'a>(state: &'a mut State, arn: &str) -> Answer<&'a mut Stream> {
    let mut streams = state.tables.values_mut().filter_map(|table| table.stream.as_mut());
    streams.find(|stream| stream.arn == arn).ok_or_else(|| missing_stream(arn))
}

fn find_shard<'a>(stream: &'a Stream, id: &str) -> Answer<&'a Shard> {
    let shard = stream.shards.iter().find(|shard| shard.id == id);
    shard.ok_or_else(|| ModelError::missing(format!("Requested resource not found: Shard: {id} not found")))
}

fn missing_stream(arn: &str) -> ModelError {
    ModelError::missing(format!("Requested resource not found: Stream: {arn} not found"))
}

fn trimmed() -> ModelError {
    let message = "The operation attempted to read past the oldest stream record in a shard";
    ModelError::new("TrimmedDataAccessException", message)
}
