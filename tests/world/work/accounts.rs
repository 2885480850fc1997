//! Accounts between which transactions move coins. Each account lists the marks of its transfers, so a transfer that
//! takes effect twice, or by half, shows.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const ACCOUNTS: [&str; 3] = ["a", "b", "c"];

/// An account: its coins, and the marks of its transfers in their order.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Account {
    coins: i64,
    marks: Vec<usize>,
}

#[derive(Debug, Clone)]
pub enum AccountOperation {
    Open(&'static str, i64),
    Transfer { from: &'static str, to: &'static str, amount: i64, mark: usize },
    Read(&'static str),
}

impl AccountOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let place = rng.usize(..3);
        match rng.usize(..8) {
            0 | 1 => Self::Open(ACCOUNTS[place], rng.i64(1..=10)),
            2 => Self::Read(ACCOUNTS[place]),
            _ => Self::Transfer {
                from: ACCOUNTS[place],
                to: ACCOUNTS[(place + rng.usize(1..=2)) % 3],
                amount: rng.i64(1..=6),
                mark: position,
            },
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Open(id, coins) => {
                ("mutation ($id: ID!, $n: Int!) { w: open(id: $id, coins: $n) }", json!({ "id": id, "n": coins }))
            }
            Self::Transfer { from, to, amount, mark } => (
                "mutation ($a: ID!, $b: ID!, $n: Int!, $m: [String!]!) { w: transfer(from: $a, to: $b, amount: $n, mark: $m) }",
                json!({ "a": from, "b": to, "n": amount, "m": [text(*mark)] }),
            ),
            Self::Read(id) => ("query ($id: ID!) { w: account(id: $id) { coins marks } }", json!({ "id": id })),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        ACCOUNTS.into_iter().map(Self::Read)
    }
}

fn text(mark: usize) -> String {
    format!("t{mark}")
}

impl Sequential for AccountOperation {
    type State = BTreeMap<&'static str, Account>;

    fn apply(&self, accounts: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (accounts.clone(), CallerOutcome::Refused(code.to_owned()));
        let mut after = accounts.clone();
        match self {
            Self::Open(id, _) if accounts.contains_key(id) => refused("CONFLICT"),
            Self::Open(id, coins) => {
                after.insert(id, Account { coins: *coins, marks: Vec::new() });
                (after, CallerOutcome::Done)
            }
            Self::Read(id) => {
                let shown = |account: &Account| {
                    let marks: Vec<String> = account.marks.iter().copied().map(text).collect();
                    json!({ "coins": account.coins, "marks": marks })
                };
                (after, CallerOutcome::Value(accounts.get(id).map_or(Value::Null, shown)))
            }
            Self::Transfer { from, .. } if !accounts.contains_key(from) => refused("NOT_FOUND"),
            Self::Transfer { from, to, amount, .. } if accounts[from].coins < *amount => {
                // Of two reasons, a conflict with another transaction hides one.
                refused(if accounts.contains_key(to) { "CONFLICT" } else { "CONFLICT NOT_FOUND" })
            }
            Self::Transfer { to, .. } if !accounts.contains_key(to) => refused("NOT_FOUND"),
            Self::Transfer { from, to, amount, mark } => {
                for (id, change) in [(from, -amount), (to, *amount)] {
                    after.entry(id).and_modify(|account| {
                        account.coins += change;
                        account.marks.push(*mark);
                    });
                }
                (after, CallerOutcome::Done)
            }
        }
    }
}
