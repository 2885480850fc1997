//! A case, which is some steps, in; the first difference between the model and another implementation out.

use crate::laws::compare::{essence, in_order, sorted};
use crate::laws::differences::{Answers, has_expired_long_ago, is_known, is_no_change};
use crate::laws::peer::Peer;
use crate::laws::random_calls::{Step, step};
use crate::laws::random_items::{BEGIN, Rng, tables};
use crate::store::chance::Calm;
use crate::store::{ModelStore, http};
use serde_json::{Value, json};

/// The steps of a case.
const STEPS: usize = 60;
/// The most pages of a reading. Each has an item, and a table has fewer items.
const MOST_PAGES: usize = 100;

pub fn random_steps(seed: u64) -> Vec<Step> {
    let (mut rng, mut steps) = (Rng::with_seed(seed), Vec::new());
    for _ in 0..STEPS {
        let next = step(&mut rng, &steps);
        steps.push(next);
    }
    steps
}

/// The model and another implementation, which get the same calls.
pub struct Pair<'a> {
    model: ModelStore,
    peer: &'a mut dyn Peer,
    now: u64,
    /// The calls so far.
    pub calls: usize,
    /// Those of them that the model did not refuse.
    pub answered: usize,
    /// Whether a known difference has left the two with other items.
    has_parted: bool,
}

impl<'a> Pair<'a> {
    pub fn new(peer: &'a mut dyn Peer) -> Self {
        let model = ModelStore::new(&tables(), BEGIN * 1000);
        let mut pair = Self { model, peer, now: BEGIN, calls: 0, answered: 0, has_parted: false };
        for table in tables() {
            pair.peer.call("CreateTable", &table, BEGIN);
        }
        let specification = json!({ "Enabled": true, "AttributeName": "expires" });
        let on = json!({ "TableName": "notes", "TimeToLiveSpecification": specification });
        assert_eq!(pair.both("UpdateTimeToLive", &on).0.0, 200);
        pair
    }

    /// Takes the steps up to a difference, which is given.
    pub fn difference(&mut self, steps: &[Step]) -> Option<String> {
        steps.iter().find_map(|step| if self.has_parted { None } else { self.take(step) })
    }

    fn take(&mut self, step: &Step) -> Option<String> {
        match step {
            Step::Call(operation, body) => self.compared(operation, body).err(),
            Step::Pages(operation, body) => self.pages(operation, body),
            // moto begins an update with an item that has only a key, and gives it a record.
            Step::Stream if self.peer.has_a_stream() => self.stream(),
            Step::Stream => None,
            Step::Wait(seconds) => {
                self.now += seconds;
                None
            }
            Step::Sweep => {
                if self.peer.sweep(self.now) {
                    self.model.sweep(self.now * 1000);
                    self.has_parted |= self.model.table("notes").is_some_and(has_expired_long_ago);
                }
                None
            }
        }
    }

    pub fn both(&mut self, operation: &str, body: &Value) -> ((u16, Value), (u16, Value)) {
        self.calls += 1;
        let model = http(self.model.call(operation, body, self.now * 1000, &mut Calm));
        self.answered += usize::from(model.0 == 200);
        (model, self.peer.call(operation, body, self.now))
    }

    /// The model's answer, unless the other one differs.
    fn compared(&mut self, operation: &str, body: &Value) -> Result<(u16, Value), String> {
        let (model, peer) = self.both(operation, body);
        let (ours, theirs) = (essence(operation, &model), essence(operation, &peer));
        let message = model.1["message"].as_str().unwrap_or_default();
        let answers = Answers { operation, body, ours: &ours, theirs: &theirs, message };
        match ours == theirs || is_known(self.peer.name(), &answers) {
            true => {
                let is_otherwise = ours.get("refused") != theirs.get("refused");
                self.has_parted |= is_otherwise && !operation.contains("Get") && operation != "Query";
                // moto makes the first writes of a batch that it then refuses.
                let is_half_made = operation == "BatchWriteItem" && ours.get("refused").is_some();
                self.has_parted |= is_half_made && !self.peer.has_a_stream();
                Ok(model)
            }
            false => {
                let (said, name) = (|answer: &(u16, Value)| answer.1.to_string(), self.peer.name());
                let detail = format!("model {}\n{name} {}", said(&model), said(&peer));
                Err(format!("{operation} {body:#}\nmodel: {ours:#}\n{name}: {theirs:#}\n{detail}"))
            }
        }
    }

    fn pages(&mut self, operation: &'static str, body: &Value) -> Option<String> {
        if operation == "Scan" {
            return self.scans(body);
        }
        let mut body = body.clone();
        for _ in 0..MOST_PAGES {
            match self.compared(operation, &body) {
                Err(difference) => return Some(difference),
                Ok((200, answer)) if answer["LastEvaluatedKey"].is_object() => {
                    body["ExclusiveStartKey"] = answer["LastEvaluatedKey"].clone();
                }
                Ok(_) => return None,
            }
        }
        Some(format!("{operation} {body} does not end"))
    }

    /// A Scan has no order, so all its pages together are compared.
    fn scans(&mut self, body: &Value) -> Option<String> {
        let all = |call: &mut dyn FnMut(&Value) -> (u16, Value)| {
            let (mut body, mut items, mut count) = (body.clone(), Vec::new(), [0, 0]);
            loop {
                let (status, answer) = call(&body);
                if status != 200 {
                    let message = answer["message"].clone();
                    let mut essence = essence("Scan", &(status, answer));
                    essence["message"] = message;
                    return essence;
                }
                // moto sends them even where they are only counted.
                if body["Select"] != "COUNT" {
                    items.extend(answer["Items"].as_array().into_iter().flatten().cloned());
                }
                count[0] += answer["Count"].as_u64().unwrap_or(0);
                count[1] += answer["ScannedCount"].as_u64().unwrap_or(0);
                match answer.get("LastEvaluatedKey").filter(|key| key.is_object()) {
                    Some(key) => body["ExclusiveStartKey"] = key.clone(),
                    None => return json!({ "Items": sorted(&json!(items)), "Counts": count }),
                }
            }
        };
        let (model, peer, now) = (&mut self.model, &mut *self.peer, self.now);
        self.calls += 1;
        let ours = all(&mut |body| http(model.call("Scan", body, now * 1000, &mut Calm)));
        let theirs = all(&mut |body| peer.call("Scan", body, now));
        let message = ours["message"].as_str().unwrap_or_default();
        let answers = Answers { operation: "Scan", body, ours: &ours, theirs: &theirs, message };
        let is_same = without_message(&ours) == without_message(&theirs) || is_known(peer.name(), &answers);
        (!is_same).then(|| format!("Scan {body:#}\nmodel: {ours:#}\n{}: {theirs:#}", peer.name()))
    }

    /// The records of the stream so far: the model has one shard here, and so have the others.
    fn stream(&mut self) -> Option<String> {
        let (model, peer, now) = (&mut self.model, &mut *self.peer, self.now);
        let ours = records(&mut |operation, body| http(model.call(operation, body, now * 1000, &mut Calm)));
        let mut theirs = records(&mut |operation, body| peer.call(operation, body, now));
        theirs.retain(|record| !is_no_change(record));
        self.calls += 4;
        let at = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs);
        let at = at.or((ours.len() != theirs.len()).then_some(ours.len().min(theirs.len())))?;
        let (ours, theirs) = (ours.get(at), theirs.get(at));
        Some(format!("record {at}\nmodel: {ours:#?}\n{}: {theirs:#?}", self.peer.name()))
    }
}

/// The answer without the text that each implementation words as it likes.
fn without_message(answer: &Value) -> Value {
    let mut answer = answer.clone();
    answer.as_object_mut().unwrap().shift_remove("message");
    answer
}

/// All records of the stream, without what each implementation names as it likes.
fn records(call: &mut dyn FnMut(&str, &Value) -> (u16, Value)) -> Vec<Value> {
    let arn = call("ListStreams", &json!({ "TableName": "notes" })).1["Streams"][0]["StreamArn"].clone();
    let shard = call("DescribeStream", &json!({ "StreamArn": arn })).1["StreamDescription"]["Shards"][0].clone();
    let at = json!({ "StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON" });
    let mut iterator = call("GetShardIterator", &at).1["ShardIterator"].clone();
    let mut all = Vec::new();
    loop {
        let answer = call("GetRecords", &json!({ "ShardIterator": iterator })).1;
        let records: Vec<Value> = answer["Records"].as_array().into_iter().flatten().cloned().collect();
        if records.is_empty() {
            return all;
        }
        all.extend(records.into_iter().map(|record| {
            let change = &record["dynamodb"];
            in_order(json!({
                "kind": record["eventName"],
                "created": change["ApproximateCreationDateTime"].as_f64(),
                "keys": change["Keys"],
                "old": change["OldImage"],
                "new": change["NewImage"],
                "by": record["userIdentity"].is_object(),
            }))
        }));
        iterator = answer["NextShardIterator"].clone();
    }
}
