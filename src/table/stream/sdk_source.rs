//! The AWS SDK in, what a table's stream answers out: DynamoDB Streams, a compatible server, or the embedded engine.

use crate::table::change_source::{ChangeRecord, StreamPosition};
use crate::table::change_source::{ChangeSource, RecordPage, Shard, ShardStart, StreamError};
use crate::table::data::attribute::{Attribute, Item};
use crate::table::embedded::engine::EmbeddedEngine;
use aws_sdk_dynamodb::Client as Tables;
use aws_sdk_dynamodb::error::{DisplayErrorContext, ProvideErrorMetadata};
use aws_sdk_dynamodbstreams::Client;
use aws_sdk_dynamodbstreams::types::{AttributeValue, Record, ShardIteratorType, StreamStatus};
use futures_util::future::{BoxFuture, FutureExt};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The streams of the tables that a client sees.
pub(in crate::table) struct SdkChangeSource {
    /// Names the streams.
    pub(in crate::table) tables: Tables,
    /// Reads them.
    pub(in crate::table) streams: Client,
    /// The embedded engine, if it is what answers.
    pub(in crate::table) engine: Option<Arc<EmbeddedEngine>>,
}

/// How long to wait after an answer without records. A shard answers 5 calls a second (DynamoDB developer guide,
/// "Service, account, and table quotas"), of two readers together.
const PAUSE: Duration = Duration::from_millis(400);
/// The same for the embedded engine, which reports writes. Items that expire, and a write between an answer and the
/// wait, are seen then.
const PAUSE_EMBEDDED: Duration = Duration::from_millis(250);

impl SdkChangeSource {
    /// The ARN of a table's newest stream.
    async fn stream(&self, table: &str) -> Result<String, StreamError> {
        let described =
            self.tables.describe_table().table_name(table).send().await.map_err(|error| error_of(&error))?;
        let arn = described.table.and_then(|table| table.latest_stream_arn);
        arn.ok_or_else(|| StreamError::Missing(format!("the table {table} has no stream")))
    }
}

impl ChangeSource for SdkChangeSource {
    fn shards<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>> {
        async move {
            let (arn, mut all, mut last) = (self.stream(table).await?, Vec::new(), None);
            loop {
                let call = self.streams.describe_stream().stream_arn(&arn).set_exclusive_start_shard_id(last.take());
                let answer = call.send().await.map_err(|error| error_of(&error))?;
                let Some(description) = answer.stream_description else { return Ok(all) };
                // The table's last stream is kept for a day after it was switched off, and new changes are in none.
                if let Some(StreamStatus::Disabled | StreamStatus::Disabling) = description.stream_status {
                    return Err(StreamError::Missing(format!("the stream of the table {table} is switched off")));
                }
                let shards = description.shards.unwrap_or_default().into_iter();
                all.extend(shards.filter_map(|shard| {
                    Some(Shard { id: shard.shard_id?.into(), parent: shard.parent_shard_id.map(Arc::from) })
                }));
                last = description.last_evaluated_shard_id;
                if last.is_none() {
                    return Ok(all);
                }
            }
        }
        .boxed()
    }

    fn iterator<'a>(
        &'a self,
        table: &'a str,
        shard: &'a str,
        start: &'a ShardStart,
    ) -> BoxFuture<'a, Result<String, StreamError>> {
        async move {
            let (kind, sequence) = match start {
                ShardStart::TrimHorizon => (ShardIteratorType::TrimHorizon, None),
                ShardStart::Latest => (ShardIteratorType::Latest, None),
                ShardStart::After(position) => {
                    (ShardIteratorType::AfterSequenceNumber, Some(position.sequence.to_string()))
                }
            };
            let call = self.streams.get_shard_iterator().stream_arn(self.stream(table).await?).shard_id(shard);
            let answer = call.shard_iterator_type(kind).set_sequence_number(sequence).send().await.map_err(
                |error| match error.code() {
                    // The number is of no record of the shard.
                    Some("ValidationException") => StreamError::Trimmed,
                    _ => error_of(&error),
                },
            )?;
            answer.shard_iterator.ok_or_else(|| StreamError::Missing(format!("the shard {shard} has no iterator")))
        }
        .boxed()
    }

    fn records<'a>(
        &'a self,
        (table, shard): (&'a Arc<str>, &'a Arc<str>),
        iterator: &'a str,
    ) -> BoxFuture<'a, Result<RecordPage, StreamError>> {
        async move {
            let answer =
                self.streams.get_records().shard_iterator(iterator).send().await.map_err(|error| error_of(&error))?;
            let records = answer.records.unwrap_or_default().into_iter().map(|record| {
                read(record, table, shard)
                    .ok_or_else(|| StreamError::Unavailable("a record has a value of an unknown type".into()))
            });
            let mut records = records.collect::<Result<Vec<_>, _>>()?;
            records.retain(changes_something);
            Ok((records, answer.next_shard_iterator))
        }
        .boxed()
    }

    fn pause(&self) -> BoxFuture<'_, ()> {
        async move {
            match &self.engine {
                Some(engine) => drop(timeout(PAUSE_EMBEDDED, engine.written().notified()).await),
                None => sleep(PAUSE).await,
            }
        }
        .boxed()
    }
}

/// Whether the record is of a change. DynamoDB writes none of a write that changes nothing; the embedded engine does.
fn changes_something(record: &ChangeRecord) -> bool {
    record.old.is_none() || record.old != record.new
}

fn read(record: Record, table: &Arc<str>, shard: &Arc<str>) -> Option<ChangeRecord> {
    let record = record.dynamodb?;
    let image = |image: Option<HashMap<String, AttributeValue>>| match image.filter(|image| !image.is_empty()) {
        Some(image) => item(image).map(|item| Some(Arc::new(item))),
        None => Some(None),
    };
    Some(ChangeRecord {
        table: table.clone(),
        position: StreamPosition { shard: shard.clone(), sequence: record.sequence_number?.into() },
        created: record.approximate_creation_date_time.map_or(0, |time| time.secs()),
        old: image(record.old_image)?,
        new: image(record.new_image)?,
    })
}

fn item(image: HashMap<String, AttributeValue>) -> Option<Item> {
    image.into_iter().map(|(name, value)| Some((name, attribute(value)?))).collect()
}

fn attribute(value: AttributeValue) -> Option<Attribute> {
    Some(match value {
        AttributeValue::S(text) => Attribute::S(text.into()),
        AttributeValue::N(text) => Attribute::N(text.into()),
        AttributeValue::B(bytes) => Attribute::B(bytes.into_inner()),
        AttributeValue::Bool(truth) => Attribute::Bool(truth),
        AttributeValue::Null(_) => Attribute::Null,
        AttributeValue::Ss(texts) => Attribute::Ss(texts.into_iter().map(Into::into).collect()),
        AttributeValue::Ns(texts) => Attribute::Ns(texts.into_iter().map(Into::into).collect()),
        AttributeValue::Bs(all) => Attribute::Bs(all.into_iter().map(|bytes| bytes.into_inner()).collect()),
        AttributeValue::L(values) => Attribute::L(values.into_iter().map(attribute).collect::<Option<_>>()?),
        AttributeValue::M(members) => Attribute::M(item(members)?),
        _ => return None,
    })
}

/// The kind of an error, by its code.
fn error_of<E: ProvideErrorMetadata + Error + Send + Sync + 'static>(error: &E) -> StreamError {
    let said = || DisplayErrorContext(error).to_string();
    match error.code() {
        Some("ExpiredIteratorException") => StreamError::Expired,
        Some("TrimmedDataAccessException") => StreamError::Trimmed,
        Some("ResourceNotFoundException") => StreamError::Missing(said()),
        _ => StreamError::Unavailable(said()),
    }
}
