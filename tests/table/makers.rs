//! Law: the AWS SDK and the direct client send the same requests, as JSON, and make the same of every answer.

use crate::fixture::deadline;
use crate::scripted::{Reply, Server};
use base64::Engine;
use keyfold::table::data::attribute::{Attribute, AttributeName, Item, Key, KeyValue};
use keyfold::table::data::call::{Expression, Query, SortCondition};
use keyfold::table::data::error::TableError;
use keyfold::table::data::write::{BatchWrite, WriteAction, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, ItemRequest};
use keyfold::table::store::{ClientKind, TableStore};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use std::ops::Range;
use std::sync::{Arc, Mutex};

const CASES: u64 = 10_000;
const TEXTS: [&str; 9] = ["", "a", "tag#17", "\"\\/", "\u{1}\u{1f}\n\t", "ü€", "🍲", "\u{2028}", "long long long text"];
const NUMBERS: [&str; 5] = ["0", "-1.5", "12345678901234567890123456789012345678", "1E+20", "0.1"];
const CODES: [(u16, &str); 26] = [
    (400, "ConditionalCheckFailedException"),
    (400, "TransactionCanceledException"),
    (400, "TransactionConflictException"),
    (400, "TransactionInProgressException"),
    (400, "IdempotentParameterMismatchException"),
    (400, "ProvisionedThroughputExceededException"),
    (400, "ThrottlingException"),
    (400, "ValidationException"),
    (400, "ResourceNotFoundException"),
    (400, "ItemCollectionSizeLimitExceededException"),
    (400, "AccessDeniedException"),
    (500, "InternalServerError"),
    (503, "ServiceUnavailable"),
    (400, "SomethingNew"),
    (400, "RequestLimitExceeded"),
    (400, "LimitExceededException"),
    (400, "SerializationException"),
    (400, "ReplicatedWriteConflictException"),
    (400, "UnrecognizedClientException"),
    (400, "ExpiredTokenException"),
    (400, "InvalidSignatureException"),
    (403, "MissingAuthenticationTokenException"),
    (408, "RequestTimeout"),
    (429, "TooManyRequestsException"),
    (503, "ThrottlingException"),
    (500, "InternalFailure"),
];
const MESSAGES: [&str; 5] = [
    "said so",
    "Item size has exceeded the maximum allowed size",
    "The document path provided in the update expression is invalid for update",
    "The table does not have the specified index: x",
    "Transaction request cannot include multiple operations on one item",
];
const REASONS: [&str; 9] = [
    "None",
    "ConditionalCheckFailed",
    "TransactionConflict",
    "ThrottlingError",
    "ProvisionedThroughputExceeded",
    "ItemCollectionSizeLimitExceeded",
    "ValidationError",
    "DuplicateItem",
    "SomethingNew",
];

/// The first answer of a server.
#[derive(Debug, Clone)]
enum First {
    /// Status and body.
    Body(u16, String),
    /// Status, the code in the header, and the body.
    Code(u16, String, String),
    /// None: the attempt ends by its time limit.
    None,
}

/// Random values from a seed.
pub struct Dice(pub fastrand::Rng);

/// One random call.
#[derive(Debug, Clone)]
pub enum Call {
    Gets(Vec<Key>, Vec<AttributeName>, bool),
    Page(Box<Query>),
    Write(Box<WriteCall>),
    Transact(Vec<WriteCall>),
    Batch(Vec<BatchWrite>),
}

impl Dice {
    pub fn below(&mut self, most: usize) -> usize {
        self.0.usize(..most)
    }

    pub fn half(&mut self) -> bool {
        self.0.bool()
    }

    pub fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn text(&mut self) -> String {
        format!("{}{}", self.of(&TEXTS), self.of(&TEXTS))
    }

    fn bytes(&mut self) -> Vec<u8> {
        (0..self.below(5)).map(|_| self.0.u8(..)).collect()
    }

    fn attribute(&mut self, depth: usize) -> Attribute {
        match self.below(if depth == 0 { 8 } else { 10 }) {
            0 => Attribute::S(self.text().into()),
            1 => Attribute::N(self.of(&NUMBERS).into()),
            2 => Attribute::B(self.bytes()),
            3 => Attribute::Bool(self.half()),
            4 => Attribute::Null,
            5 => Attribute::Ss((0..2).map(|_| self.text().into()).collect()),
            6 => Attribute::Ns((0..2).map(|_| self.of(&NUMBERS).into()).collect()),
            7 => Attribute::Bs((0..2).map(|_| self.bytes()).collect()),
            8 => Attribute::L((0..self.below(3)).map(|_| self.attribute(depth - 1)).collect()),
            _ => Attribute::M((0..self.below(3)).map(|_| (self.text(), self.attribute(depth - 1))).collect()),
        }
    }

    fn key_value(&mut self) -> KeyValue {
        match self.below(3) {
            0 => KeyValue::N(self.of(&NUMBERS).into()),
            1 => KeyValue::B(self.bytes()),
            _ => KeyValue::S(self.text()),
        }
    }

    fn key(&mut self) -> Key {
        Key { partition: ("PK".into(), KeyValue::S(self.text())), sort: Some(("SK".into(), self.key_value())) }
    }

    fn item(&mut self) -> Item {
        let mut item: Item = (0..self.below(4)).map(|_| (self.text(), self.attribute(3))).collect();
        item.extend(attributes(&self.key()));
        item
    }

    fn expression(&mut self, letter: &str, text: &str) -> Expression {
        let names = (0..self.below(3)).map(|i| (format!("#{letter}{i}"), self.text())).collect();
        let values = (0..self.below(3)).map(|i| (format!(":{letter}{i}"), self.attribute(2))).collect();
        Expression { text: text.into(), names, values }
    }

    fn write(&mut self, in_transaction: bool) -> WriteCall {
        let action = match self.below(if in_transaction { 5 } else { 4 }) {
            0 => WriteAction::Put(self.item()),
            1 => WriteAction::Update(self.key(), Some(self.expression("f", "SET #f0 = :f0, #f1 = :f1"))),
            2 => WriteAction::Update(self.key(), None),
            3 => WriteAction::Delete(self.key()),
            _ => WriteAction::Check(self.key()),
        };
        let letter = self.of(&["f", "c"]);
        let condition = (in_transaction || self.half()).then(|| self.expression(letter, "#f0 = :f0 AND #c0 = :c0"));
        WriteCall { table: "t".into(), action, condition }
    }

    fn sort_condition(&mut self) -> SortCondition {
        use SortCondition::*;
        let value = self.key_value();
        match self.below(7) {
            0 => Equal(value),
            1 => Less(value),
            2 => LessOrEqual(value),
            3 => Greater(value),
            4 => GreaterOrEqual(value),
            5 => Between(value, self.key_value()),
            _ => BeginsWith(value),
        }
    }

    /// Values of further attributes of an index's key.
    fn equal(&mut self) -> Vec<(String, KeyValue)> {
        ["region", "SK2", "SK3"]
            .iter()
            .take(1 + self.below(3))
            .map(|name| ((*name).to_owned(), self.key_value()))
            .collect()
    }

    fn query(&mut self) -> Query {
        let partition = (self.below(5) > 0).then(|| ("PK".to_owned(), self.key_value()));
        Query {
            table: "t".into(),
            index: self.half().then(|| "i".into()),
            equal: if partition.is_some() && self.below(4) == 0 { self.equal() } else { Vec::new() },
            sort: if partition.is_some() && self.half() { Some(("SK".into(), self.sort_condition())) } else { None },
            partition,
            filter: self.half().then(|| self.expression("p", "#p0 = :p0 OR #p1 = :p1")),
            projection: self.half().then(|| self.projection().into()),
            forward: self.half(),
            limit: self.of(&[0, 1, 100, u32::MAX]),
            start: self.half().then(|| attributes(&self.key())),
            consistent: self.half(),
            max_age: None,
        }
    }

    /// Attributes to read, sorted; the partition key among them, or not.
    fn projection(&mut self) -> Vec<AttributeName> {
        let mut names: Vec<AttributeName> = (0..self.below(3)).map(|i| format!("{i}{}", self.text()).into()).collect();
        names.extend(self.half().then(|| "PK".into()));
        names
    }

    fn call(&mut self) -> Call {
        match self.below(5) {
            0 => {
                let mut seen = HashSet::new();
                let keys: Vec<Key> =
                    (0..=self.below(4)).map(|_| self.key()).filter(|key| seen.insert(format!("{key:?}"))).collect();
                Call::Gets(keys, self.projection(), self.half())
            }
            1 => Call::Page(Box::new(self.query())),
            2 => Call::Write(Box::new(self.write(false))),
            3 => Call::Transact((0..=self.below(3)).map(|_| self.write(true)).collect()),
            _ => Call::Batch(
                (0..=self.below(3))
                    .map(|_| if self.half() { BatchWrite::Put(self.item()) } else { BatchWrite::Delete(self.key()) })
                    .collect(),
            ),
        }
    }

    /// A well-formed answer to a call, whole or in part.
    fn good(&mut self, call: &Call) -> Value {
        let capacity = json!({ "TableName": "t", "CapacityUnits": 1.5 });
        match call {
            Call::Gets(keys, ..) if keys.len() == 1 => {
                let mut answer = json!({ "ConsumedCapacity": capacity });
                if self.half() {
                    answer["Item"] = written(&self.item());
                }
                answer
            }
            Call::Gets(keys, ..) => {
                let found: Vec<Value> =
                    keys.iter().filter(|_| self.half()).map(|key| written(&attributes(key))).collect();
                json!({ "Responses": { "t": found }, "UnprocessedKeys": {}, "ConsumedCapacity": [capacity] })
            }
            Call::Page(_) => {
                let items: Vec<Value> = (0..self.below(4)).map(|_| written(&self.item())).collect();
                let mut answer =
                    json!({ "Count": items.len(), "ScannedCount": 9, "Items": items, "ConsumedCapacity": capacity });
                match self.below(3) {
                    0 => answer["LastEvaluatedKey"] = written(&attributes(&self.key())),
                    1 => answer["LastEvaluatedKey"] = json!({}),
                    _ => {}
                }
                answer
            }
            Call::Write(_) => match self.below(3) {
                0 => json!({ "Attributes": {} }),
                1 => json!({ "ConsumedCapacity": capacity }),
                _ => json!({ "Attributes": written(&self.item()), "ConsumedCapacity": capacity }),
            },
            Call::Transact(_) => json!({ "ConsumedCapacity": [capacity, capacity] }),
            Call::Batch(_) => json!({ "UnprocessedItems": {}, "ConsumedCapacity": [capacity] }),
        }
    }

    /// Any answer: a good one, a refusal, one that is cut off, none.
    fn answer(&mut self, call: &Call) -> First {
        let good = self.good(call).to_string();
        match self.below(8) {
            0..=2 => First::Body(200, good),
            3 => First::Body(200, good.chars().take(good.chars().count() / 2).collect()),
            4 => First::Body(self.of(&[502, 404, 200]), "<html>".to_owned()),
            5 if self.half() => First::None,
            _ => {
                let (status, code) = self.of(&CODES);
                let reason = |dice: &mut Self| match dice.of(&REASONS) {
                    code @ "ConditionalCheckFailed" => {
                        json!({ "Code": code, "Message": "m", "Item": written(&dice.item()) })
                    }
                    code => json!({ "Code": code, "Message": dice.of(&MESSAGES) }),
                };
                let name = format!("com.amazonaws.dynamodb.v20120810#{code}");
                let mut body = json!({ "__type": name, "message": self.of(&MESSAGES) });
                match code {
                    "ConditionalCheckFailedException" if self.half() => body["Item"] = written(&self.item()),
                    "TransactionCanceledException" => {
                        body["CancellationReasons"] = (0..2).map(|_| reason(self)).collect()
                    }
                    _ => {}
                }
                // The header may have an address after the code, and the body may be lost.
                match self.below(4) {
                    0 => First::Code(status, format!("{code}:http://internal.amazon.com/"), body.to_string()),
                    1 => First::Code(status, code.to_owned(), String::new()),
                    _ => First::Body(status, body.to_string()),
                }
            }
        }
    }
}

pub fn attributes(key: &Key) -> Item {
    std::iter::once(&key.partition).chain(&key.sort).map(|(name, value)| (name.clone(), value.clone().into())).collect()
}

/// An item as DynamoDB writes it. The elements of sets are sorted, because they have no order.
pub fn written(item: &Item) -> Value {
    fn sorted<T: Ord>(mut elements: Vec<T>) -> Vec<T> {
        elements.sort_unstable();
        elements
    }
    fn one(value: &Attribute) -> Value {
        let base64 = |bytes: &Vec<u8>| base64::engine::general_purpose::STANDARD.encode(bytes);
        match value {
            Attribute::S(text) => json!({ "S": text }),
            Attribute::N(number) => json!({ "N": number }),
            Attribute::B(bytes) => json!({ "B": base64(bytes) }),
            Attribute::Bool(truth) => json!({ "BOOL": truth }),
            Attribute::Null => json!({ "NULL": true }),
            Attribute::Ss(texts) => json!({ "SS": sorted(texts.clone()) }),
            Attribute::Ns(numbers) => json!({ "NS": sorted(numbers.clone()) }),
            Attribute::Bs(all) => json!({ "BS": sorted(all.iter().map(base64).collect::<Vec<_>>()) }),
            Attribute::L(values) => json!({ "L": values.iter().map(one).collect::<Vec<_>>() }),
            Attribute::M(item) => json!({ "M": written(item) }),
        }
    }
    item.iter().map(|(name, value)| (name.to_string(), one(value))).collect::<Map<_, _>>().into()
}

/// What a store made of a call: all that it sent, and the result.
async fn result_of(kind: ClientKind, call: &Call, first: First, then: &str) -> (Vec<(String, Value)>, String) {
    let sent: Arc<Mutex<Vec<(String, Value)>>> = Arc::default();
    let (seen, then) = (sent.clone(), then.to_owned());
    let server = Server::new(move |before, operation, body| {
        seen.lock().unwrap().push((operation.to_owned(), body));
        match (before, &first) {
            (0, First::None) => Reply::Never,
            (0, First::Body(status, body)) => Reply::Body(*status, body.clone()),
            (0, First::Code(status, code, body)) => Reply::Code(*status, code.clone(), body.clone()),
            _ => Reply::Body(200, then.clone()),
        }
    });
    let store = TableStore::over(server).with_client(kind);
    // Texts of errors are the makers' own; their kinds are not.
    let result = describe_result(&store, call, ("t", "token"), |error| format!("{:?}", error.kind)).await;
    let sent = std::mem::take(&mut *sent.lock().unwrap());
    (sent, result)
}

/// What a store makes of a call to a table, with errors in these words; a transaction has this token.
pub async fn describe_result(
    store: &TableStore,
    call: &Call,
    (table, token): (&str, &str),
    words: fn(&TableError) -> String,
) -> String {
    let refused = |error: WriteError| match error {
        WriteError::Conditions(failures) => {
            format!(
                "{:?}",
                failures.iter().map(|one| (one.position, one.item.as_ref().map(written))).collect::<Vec<_>>()
            )
        }
        WriteError::Uncertain(error) => format!("uncertain {}", words(&error)),
        WriteError::Failed(error) => format!("failed {}", words(&error)),
        other => format!("{other:?}"),
    };
    match call {
        Call::Gets(keys, projection, consistent) => {
            let request = |key| ItemRequest { table, key, projection, consistent: *consistent };
            let requests: Vec<ItemRequest<'_>> = keys.iter().map(request).collect();
            let (items, units) = store.get_items(&requests, deadline().into()).await;
            let items = items
                .into_iter()
                .map(|item| item.map(|item| item.map(|item| written(&item))).map_err(|error| words(&error)));
            format!("{:?} {units}", items.collect::<Vec<_>>())
        }
        Call::Page(query) => match store.read_page(query, deadline().into()).await {
            Ok((page, units)) => {
                let items: Vec<Value> = page.items.iter().map(|item| written(item)).collect();
                format!("{items:?} {} {} {:?} {units}", page.count, page.scanned, page.last_key.as_ref().map(written))
            }
            Err(error) => words(&error),
        },
        Call::Write(call) => match store.write(call, deadline().into()).await {
            Ok((item, units)) => format!("{:?} {units}", item.as_ref().map(written)),
            Err(error) => refused(error),
        },
        Call::Transact(calls) => {
            store.transact(calls, token, deadline().into()).await.map_or_else(refused, |((), units)| units.to_string())
        }
        Call::Batch(writes) => {
            let made = store.write_batch(table, writes.clone(), deadline().into()).await;
            made.map_or_else(refused, |((), units)| units.to_string())
        }
    }
}

/// The seeds of a law's cases.
pub fn seeds(cases: u64) -> Range<u64> {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let first = number("KEYFOLD_LAW_SEED", 0);
    first..first + number("KEYFOLD_LAW_CASES", cases)
}

#[tokio::test(start_paused = true)]
async fn both_makers_send_the_same_and_make_the_same_of_every_answer() {
    for seed in seeds(CASES) {
        let mut dice = Dice(fastrand::Rng::with_seed(seed));
        let call = dice.call();
        let (answer, then) = (dice.answer(&call), dice.good(&call).to_string());
        let sdk = result_of(ClientKind::Sdk, &call, answer.clone(), &then).await;
        let direct = result_of(ClientKind::Direct, &call, answer.clone(), &then).await;
        assert_eq!(sdk, direct, "seed {seed}, answer {answer:?}");
    }
}
