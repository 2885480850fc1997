//! Tickets with a code that is generated when they are made: each write has one, in all its attempts.

use crate::network::Network;
use crate::step_report::StepReport;
use crate::store::data::attribute::{Attribute, Item};
use crate::stored::{histories, text};
use crate::work::Work;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const TICKETS: [&str; 2] = ["s", "t"];

#[derive(Debug, Clone)]
pub enum TicketOperation {
    /// To the holder with the number of the step.
    Issue(&'static str, usize),
    /// The same, whether or not there is such a ticket.
    Renew(&'static str, usize),
    /// The same, with a seat that nobody else has.
    Seat(&'static str, usize),
    Tear(&'static str),
    OpenHall,
}

impl TicketOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let id = TICKETS[rng.usize(..2)];
        match rng.usize(..9) {
            0 | 1 => Self::Issue(id, position),
            2 | 3 => Self::Renew(id, position),
            4..7 => Self::Seat(id, position),
            7 => Self::OpenHall,
            _ => Self::Tear(id),
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Issue(id, holder) => (
                "mutation ($id: ID!, $h: String!) { w: issueTicket(id: $id, holder: $h) { code } }",
                json!({ "id": id, "h": name(*holder) }),
            ),
            Self::Renew(id, holder) => (
                "mutation ($id: ID!, $h: String!) { w: renewTicket(id: $id, holder: $h) { code } }",
                json!({ "id": id, "h": name(*holder) }),
            ),
            Self::Seat(id, holder) => (
                "mutation ($id: ID!, $h: String!) { w: seatTicket(hallId: \"h\", id: $id, holder: $h) { code } }",
                json!({ "id": id, "h": name(*holder) }),
            ),
            Self::OpenHall => ("mutation { w: openHall(id: \"h\", seats: 0) }", json!({})),
            Self::Tear(id) => ("mutation ($id: ID!) { w: tearTicket(id: $id) { code } }", json!({ "id": id })),
        }
    }

    fn holder(&self) -> Option<String> {
        match self {
            Self::Issue(_, holder) | Self::Renew(_, holder) | Self::Seat(_, holder) => Some(name(*holder)),
            Self::Tear(_) | Self::OpenHall => None,
        }
    }
}

fn name(holder: usize) -> String {
    format!("h{holder}")
}

/// What is wrong with the codes that writes sent, stored and answered.
pub fn mixed_up(network: &Network, reports: &[StepReport]) -> Vec<String> {
    let stored = stored(network);
    let mut wrong: Vec<String> = changed(network);
    for one in reports {
        let Work::Ticket(operation) = &one.step.work else { continue };
        let Some(holder) = operation.holder() else { continue };
        let sent = network.sent.codes(one.step.number);
        if sent.len() > 1 {
            wrong.push(format!("step {} sends several codes: {sent:?}", one.step.number));
        }
        let kept = stored.get(&holder).cloned().unwrap_or_default();
        let answered = one.made.as_ref().and_then(|answer| answer["data"]["w"]["code"].as_str());
        if answered.is_some_and(|code| kept.len() != 1 || !kept.contains(code)) {
            wrong.push(format!("step {} answers the code {answered:?}, and stores {kept:?}", one.step.number));
        }
    }
    wrong
}

/// The codes that were ever stored with each holder.
fn stored(network: &Network) -> BTreeMap<String, BTreeSet<String>> {
    let mut codes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let store = network.store.lock().unwrap();
    for item in histories(&store, "TICKET#").flat_map(|(_, all)| all).filter_map(|version| version.item.as_ref()) {
        codes.entry(text(item, "holder").to_owned()).or_default().insert(text(item, "code").to_owned());
    }
    codes
}

/// Tickets whose code changes while they are there.
fn changed(network: &Network) -> Vec<String> {
    let store = network.store.lock().unwrap();
    let pairs = histories(&store, "TICKET#").flat_map(|(ticket, all)| all.windows(2).map(move |pair| (ticket, pair)));
    let codes = |item: &Option<Item>| item.as_ref().and_then(|item| item.get("code")).cloned();
    let changed = pairs.filter_map(|(ticket, pair)| {
        let (before, after): (Attribute, Attribute) = (codes(&pair[0].item)?, codes(&pair[1].item)?);
        (before != after).then(|| format!("the code of {ticket} changes from {before:?} to {after:?}"))
    });
    changed.collect()
}
