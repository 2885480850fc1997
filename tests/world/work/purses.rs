//! Purses that requests with keys pay from: a client repeats its request with the same key until the answer is certain.
//! A key makes one receipt, whichever copy has died meanwhile, and every answer to it shows this receipt. The key of
//! another caller is another one.

use crate::cells;
use crate::history::{CallerOutcome, HistoryEvent, Sequential};
use crate::program::Step;
use crate::step_report::StepReport;
use crate::store::ModelStore;
use crate::stored::{histories_in, text};
use crate::work::Work;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const PURSES: [&str; 2] = ["m", "n"];
const USERS: [&str; 2] = ["ann", "bob"];
const KEYS: [&str; 3] = ["k", "k#2", "ü"];
/// The table that purses are in: its records end.
const TABLE: &str = "purses";
/// The codes of answers after which nothing is certain: another request with the key may be at work, or one that was
/// sent before.
const OPEN: [&str; 3] = ["THROTTLED", "CONTENTION", "IDEMPOTENCY_KEY_IN_USE"];

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PurseOperation {
    pub user: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// Without a key.
    Fill(&'static str, i64),
    Buy {
        purse: &'static str,
        amount: i64,
        key: &'static str,
    },
    Close {
        purse: &'static str,
        key: &'static str,
    },
    Read(&'static str),
}

/// Whose key.
type OwnedKey = (&'static str, &'static str);

/// What there is, and what keys were used for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Purses {
    coins: BTreeMap<&'static str, i64>,
    bought: BTreeMap<OwnedKey, (&'static str, i64)>,
    /// With what the purse had.
    closed: BTreeMap<OwnedKey, (&'static str, Option<i64>)>,
}

impl PurseOperation {
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let (purse, key) = (PURSES[rng.usize(..2)], KEYS[rng.usize(..3)]);
        let kind = match rng.usize(..12) {
            0..3 => Kind::Fill(purse, rng.i64(1..=9)),
            3..10 => Kind::Buy { purse, amount: rng.i64(1..=3), key },
            10 => Kind::Close { purse, key },
            _ => Kind::Read(purse),
        };
        Self { user: USERS[rng.usize(..2)], kind }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match &self.kind {
            Kind::Fill(purse, coins) => {
                ("mutation ($p: ID!, $n: Int!) { w: fillPurse(id: $p, coins: $n) }", json!({ "p": purse, "n": coins }))
            }
            Kind::Buy { purse, amount, key } => (
                "mutation ($p: ID!, $n: Int!, $k: ID!) \
                 { w: buy(purseId: $p, amount: $n, key: $k) { id code purseId ownerId amount } }",
                json!({ "p": purse, "n": amount, "k": key }),
            ),
            Kind::Close { purse, key } => (
                "mutation ($p: ID!, $k: ID!) { w: closePurse(id: $p, key: $k) { coins } }",
                json!({ "p": purse, "k": key }),
            ),
            Kind::Read(purse) => ("query ($p: ID!) { w: purse(id: $p) { coins } }", json!({ "p": purse })),
        }
    }

    /// Whether its request has a key.
    pub fn has_key(&self) -> bool {
        matches!(self.kind, Kind::Buy { .. } | Kind::Close { .. })
    }

    /// What its client got, without what is generated.
    pub fn outcome(&self, answer: Option<&Value>) -> CallerOutcome {
        match cells::outcome(answer) {
            CallerOutcome::Value(Value::Object(mut members)) => {
                members.retain(|name, _| !["id", "code"].contains(&name.as_str()));
                CallerOutcome::Value(members.into())
            }
            outcome => outcome,
        }
    }

    /// What reads all that there may be, and repeats each of these requests.
    pub fn last(events: &[HistoryEvent<Step>]) -> Vec<Self> {
        let of_event = |event: &HistoryEvent<Step>| match &event.operation.work {
            Work::Purse(operation) if operation.has_key() => Some(operation.clone()),
            _ => None,
        };
        let repeated: BTreeSet<Self> = events.iter().filter_map(of_event).collect();
        let reads = PURSES.into_iter().map(|purse| Self { user: "ann", kind: Kind::Read(purse) });
        repeated.into_iter().chain(reads).collect()
    }
}

/// Whether a client knows by this outcome what became of its request.
pub fn is_certain(outcome: &CallerOutcome) -> bool {
    match outcome {
        CallerOutcome::Open => false,
        CallerOutcome::Refused(code) => !OPEN.contains(&code.as_str()),
        CallerOutcome::Done | CallerOutcome::Value(_) => true,
    }
}

/// Whether by this outcome the request was not made, unless an earlier one of the same key still is.
pub fn may_be_overtaken(outcome: &CallerOutcome) -> bool {
    matches!(outcome, CallerOutcome::Refused(code) if code != "IDEMPOTENCY_KEY_REUSED")
}

impl Sequential for PurseOperation {
    type State = Purses;

    fn apply(&self, purses: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (purses.clone(), CallerOutcome::Refused(code.to_owned()));
        let shown =
            |coins: Option<i64>| CallerOutcome::Value(coins.map_or(Value::Null, |coins| json!({ "coins": coins })));
        let mut after = purses.clone();
        match &self.kind {
            Kind::Read(purse) => (after, shown(purses.coins.get(purse).copied())),
            Kind::Fill(purse, coins) => {
                after.coins.insert(purse, *coins);
                (after, CallerOutcome::Done)
            }
            Kind::Close { purse, key } => match purses.closed.get(&(self.user, key)) {
                Some((other, _)) if other != purse => refused("IDEMPOTENCY_KEY_REUSED"),
                Some((_, coins)) => (after, shown(*coins)),
                None => {
                    let coins = after.coins.remove(purse);
                    after.closed.insert((self.user, key), (purse, coins));
                    (after, shown(coins))
                }
            },
            Kind::Buy { purse, amount, key } => {
                let receipt = json!({ "purseId": purse, "ownerId": self.user, "amount": amount });
                match (purses.bought.get(&(self.user, key)), purses.coins.get(purse)) {
                    (Some(made), _) if *made == (*purse, *amount) => (after, CallerOutcome::Value(receipt)),
                    (Some(_), _) => refused("IDEMPOTENCY_KEY_REUSED"),
                    (None, None) => refused("NOT_FOUND"),
                    (None, Some(coins)) if coins < amount => refused("CONFLICT"),
                    (None, Some(coins)) => {
                        after.coins.insert(purse, coins - amount);
                        after.bought.insert((self.user, key), (purse, *amount));
                        (after, CallerOutcome::Value(receipt))
                    }
                }
            }
        }
    }
}

/// What is wrong with the receipts of keys: more than one of a key, or an answer that shows another one.
pub fn mixed_up(store: &ModelStore, reports: &[StepReport]) -> Vec<String> {
    let mut made: BTreeMap<(String, String), BTreeSet<(String, String)>> = BTreeMap::new();
    let versions = histories_in(store, TABLE, "PURSE#").flat_map(|(_, versions)| versions);
    for item in versions.filter_map(|version| version.item.as_ref()).filter(|item| item.contains_key("code")) {
        let [owner, key, sort, code] = ["ownerId", "key", "SK", "code"].map(|name| text(item, name).to_owned());
        let id = sort.trim_start_matches("RECEIPT#").to_owned();
        made.entry((owner, key)).or_default().insert((id, code));
    }
    let twice = made.iter().filter(|(_, receipts)| receipts.len() > 1);
    let mut wrong: Vec<String> = twice.map(|(key, receipts)| format!("{key:?} has {receipts:?}")).collect();
    for one in reports {
        let Work::Purse(PurseOperation { user, kind: Kind::Buy { key, .. } }) = &one.step.work else { continue };
        let Some(receipt) = one.made.as_ref().map(|answer| &answer["data"]["w"]).filter(|shown| shown.is_object())
        else {
            continue;
        };
        let [id, code] = ["id", "code"].map(|name| receipt[name].as_str().unwrap_or_default().to_owned());
        let is_own = made.get(&((*user).to_owned(), (*key).to_owned())).is_some_and(|own| own.contains(&(id, code)));
        if !is_own {
            wrong.push(format!("step {} answers {receipt}, which is no receipt of {user} by {key}", one.step.number));
        }
    }
    wrong
}
