//! Query and Scan: a range in; one page of its items and its cost out. Must not know what a request is.

use super::call_means::CallMeans;
use super::known_partition::{KnownPartition, asked_attributes};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::attribute::AttributeName;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::{Expressions, text};
use crate::table::data_store::Metered;
use crate::table::embedded::engine::SHORT_ITEMS;
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::sdk::convert::{self, arc_from_sdk, item_from_sdk, item_to_sdk, strong, unknown_type, values};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{ReturnConsumedCapacity, Select};
use dynoxide::DynoxideError;
use dynoxide::actions::query::QueryRequest;
use dynoxide::actions::scan::ScanRequest;
use tokio::time::Instant;

/// Reads one page. Gives it and the capacity units consumed.
pub(in crate::table) async fn read_page(
    caller: CallMeans<'_>,
    query: &Query,
    deadline: Instant,
) -> Result<Metered<Page>, TableError> {
    if query.partition.is_none() && query.sort.is_some() {
        let detail = format!("a Scan of {} with a condition on its sort key", query.table);
        return Err(TableError { kind: TableErrorKind::Invalid, detail });
    }
    if is_after_all(query) {
        return Ok((Page::default(), 0.0));
    }
    let call = ReadPage { query };
    caller.attempts(call.operation(), &query.table, deadline).send(|| caller.make(&call)).await
}

/// Whether nothing can follow: a partition of a table without a sort key has one item, after which this page starts.
/// The embedded engine would give the item again (dynoxide 3.2.0).
fn is_after_all(query: &Query) -> bool {
    let Query { index, partition, start, .. } = query;
    index.is_none() && partition.is_some() && start.as_ref().is_some_and(|start| start.len() == 1)
}

/// A Query, or a Scan where it names no partition.
struct ReadPage<'a> {
    query: &'a Query,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer<'a> {
    /// The attributes that were asked for.
    projection: &'a [AttributeName],
    /// The partition key, if it was not.
    known: Option<KnownPartition<'a>>,
    page: Page,
    units: f64,
}

impl AnswerJson for Answer<'_> {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "Items" => self.page.items = answer.items(self.projection, self.known.map(KnownPartition::attribute))?,
            "Count" => self.page.count = answer.value()?,
            "ScannedCount" => self.page.scanned = answer.value()?,
            "LastEvaluatedKey" => self.page.last_key = answer.present()?,
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

impl<'a> ReadPage<'a> {
    /// The expressions, with these attributes to read.
    fn expressions<'q>(&'q self, attributes: impl Iterator<Item = &'q str>) -> Expressions<'q> {
        let Query { filter, partition, equal, sort, .. } = self.query;
        let built = Expressions::with_filter(filter.as_ref()).project(attributes);
        match partition {
            Some(partition) => {
                let sort = sort.as_ref().map(|(name, condition)| (name.as_str(), condition));
                built.key_condition(partition, equal, sort)
            }
            None => built,
        }
    }

    /// The attributes to read; none are all, or a count.
    fn projection(&self) -> &'a [AttributeName] {
        self.query.projection.as_deref().unwrap_or_default()
    }

    /// The partition key that a server need not send back.
    fn known(&self) -> Option<KnownPartition<'a>> {
        let (name, value) = self.query.partition.as_ref()?;
        KnownPartition::new(self.projection(), (name, value))
    }

    /// The expressions of a request to a server.
    fn server_expressions(&self) -> Expressions<'_> {
        self.expressions(asked_attributes(self.projection(), self.known()))
    }

    fn engine_request(&self) -> Result<EngineRead, DynoxideError> {
        let (query, built) = (self.query, self.expressions([].into_iter()));
        // The requests of Query and Scan have their members in common, but no trait.
        macro_rules! request {
            ($request:ident { $($member:ident: $value:expr),* }) => {
                $request {
                    table_name: query.table.to_string(),
                    index_name: query.index.as_deref().map(Into::into),
                    filter_expression: text(&built.filter),
                    expression_attribute_names: built.names_map(),
                    select: query.projection.is_none().then(|| "COUNT".to_owned()),
                    limit: usize::try_from(self.limit()).ok(),
                    exclusive_start_key: query.start.as_ref().map(engine::item).transpose()?,
                    consistent_read: strong(query.consistent),
                    return_consumed_capacity: engine::total(),
                    $($member: $value,)*
                    ..$request::default()
                }
            };
        }
        Ok(match &built.key_condition {
            None => {
                EngineRead::Scan(request!(ScanRequest { expression_attribute_values: engine::named_values(&built)? }))
            }
            Some(condition) => EngineRead::Query(request!(QueryRequest {
                key_condition_expression: Some(condition.to_string()),
                expression_attribute_values: engine::values(&built)?,
                scan_index_forward: query.forward
            })),
        })
    }

    /// The `Limit`: it may not be zero, and has 31 bits.
    fn limit(&self) -> i32 {
        i32::try_from(self.query.limit).unwrap_or(i32::MAX).max(1)
    }
}

impl<'a> Call for ReadPage<'a> {
    type Answer = Page;
    type Json = Answer<'a>;

    fn operation(&self) -> &'static str {
        if self.query.partition.is_some() { "Query" } else { "Scan" }
    }

    fn body(&self, body: &mut BodyWriter) {
        let query = self.query;
        body.text("TableName", &query.table);
        if let Some(index) = &query.index {
            body.text("IndexName", index);
        }
        body.expressions(&self.server_expressions());
        if query.projection.is_none() {
            body.text("Select", "COUNT");
        }
        if query.partition.is_some() && !query.forward {
            body.flag("ScanIndexForward", false);
        }
        body.number("Limit", self.limit());
        if let Some(start) = &query.start {
            body.item("ExclusiveStartKey", start);
        }
        body.consistent(query.consistent);
    }

    fn unread(&self) -> Answer<'a> {
        Answer { projection: self.projection(), known: self.known(), ..Answer::default() }
    }

    fn answer(&self, Answer { page, units, .. }: Answer<'a>) -> Result<Metered<Page>, AttemptFailure> {
        Ok((page, units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<Page>, AttemptFailure> {
        let (query, built) = (self.query, self.server_expressions());
        // The builders and the outputs of Query and Scan have their members in common, but no trait.
        macro_rules! read {
            ($builder:expr) => {{
                let request = $builder
                    .table_name(&*query.table)
                    .set_index_name(query.index.as_deref().map(Into::into))
                    .set_filter_expression(text(&built.filter))
                    .set_projection_expression(text(&built.projection))
                    .set_expression_attribute_names(built.names_map())
                    .set_expression_attribute_values(values(&built))
                    .set_select(query.projection.is_none().then_some(Select::Count))
                    .limit(self.limit())
                    .set_exclusive_start_key(query.start.clone().map(item_to_sdk))
                    .set_consistent_read(strong(query.consistent))
                    .return_consumed_capacity(ReturnConsumedCapacity::Total);
                let output = request.send().await?;
                let mut items =
                    output.items.unwrap_or_default().into_iter().map(arc_from_sdk).collect::<Result<Vec<_>, _>>()?;
                KnownPartition::add_to(self.known(), &mut items);
                let page = Page {
                    items,
                    count: u32::try_from(output.count).unwrap_or(0),
                    scanned: u32::try_from(output.scanned_count).unwrap_or(0),
                    // Some compatible servers send an empty map at the end of the data.
                    last_key: output
                        .last_evaluated_key
                        .filter(|key| !key.is_empty())
                        .map(|key| item_from_sdk(key).ok_or_else(unknown_type))
                        .transpose()?,
                };
                Ok((page, convert::units(output.consumed_capacity.as_slice())))
            }};
        }
        match &built.key_condition {
            None => read!(client.scan()),
            Some(condition) => {
                read!(
                    client
                        .query()
                        .key_condition_expression(&**condition)
                        .set_scan_index_forward((!query.forward).then_some(false))
                )
            }
        }
    }

    fn length(&self) -> Length {
        Length::short_if(usize::try_from(self.query.limit).is_ok_and(|limit| limit <= SHORT_ITEMS))
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Page> + Send + 'static {
        let request = self.engine_request();
        let projection = self.query.projection.clone().unwrap_or_default();
        macro_rules! page {
            ($answer:expr) => {{
                let answer = $answer;
                let page = Page {
                    items: engine::items(answer.items.unwrap_or_default(), projection).collect(),
                    count: u32::try_from(answer.count).unwrap_or(u32::MAX),
                    scanned: u32::try_from(answer.scanned_count).unwrap_or(u32::MAX),
                    last_key: engine::present(answer.last_evaluated_key),
                };
                Ok((page, engine::units(&answer.consumed_capacity)))
            }};
        }
        move |run| match request? {
            EngineRead::Query(query) => page!(run.database.query(query)?),
            EngineRead::Scan(scan) => page!(run.database.scan(scan)?),
        }
    }
}

/// The request of a page on the embedded engine.
enum EngineRead {
    Query(QueryRequest),
    Scan(ScanRequest),
}
