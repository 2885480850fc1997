//! Menus that copies keep: what they answer is never older than the schema allows, and never older than what the same
//! copy wrote itself.

use crate::network::Network;
use crate::step_report::StepReport;
use crate::store::data::table::Version;
use crate::stored::{histories, text};
use crate::work::Work;
use serde_json::{Value, json};

const MENUS: [&str; 2] = ["x", "y"];
/// How old an answer may be, in milliseconds: as the schema has it.
const MAX_AGE: u64 = 1000;
/// For how long it may be kept that there is no menu.
const ABSENCE: u64 = 1000;
/// By how much a read may lag so that a change is not followed by an old answer
/// (docs/language/directives/cachecontrol.md).
const MAX_LAG: u64 = 1000;
/// What rounding to milliseconds makes of two times.
const ROUNDED: u64 = 2;

#[derive(Debug, Clone)]
pub enum MenuOperation {
    Set(&'static str, usize),
    Read(&'static str),
}

impl MenuOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let id = MENUS[rng.usize(..2)];
        if rng.usize(..4) == 0 { Self::Set(id, position) } else { Self::Read(id) }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Set(id, position) => (
                "mutation ($id: ID!, $t: String!) { w: setMenu(id: $id, text: $t) }",
                json!({ "id": id, "t": format!("m{position}") }),
            ),
            Self::Read(id) => ("query ($id: ID!) { w: menu(id: $id) { text } }", json!({ "id": id })),
        }
    }
}

/// Answers that are too old.
pub fn outdated(network: &Network, reports: &[StepReport]) -> Vec<String> {
    let store = network.store.lock().unwrap();
    let mut outdated = Vec::new();
    for read in reports {
        let (Work::Menu(MenuOperation::Read(id)), Some(answer)) = (&read.step.work, &read.answer) else { continue };
        if !answer["errors"].is_null() {
            continue;
        }
        let seen = &answer["data"]["w"]["text"];
        let oldest = oldest((id, seen.is_null()), read, (reports, network.weather.lag));
        let versions = histories(&store, "MENU#").find(|(menu, _)| menu.ends_with(id)).map_or(&[][..], |(_, all)| all);
        if !was_there(versions, seen, (oldest, read.ended)) {
            let times = (oldest, read.begun, read.ended);
            outdated.push(format!("step {} reads {seen} of {id}, which is too old {times:?}", read.step.number));
        }
    }
    outdated
}

/// Since when what a read gives may have been true.
fn oldest((id, is_absent): (&str, bool), read: &StepReport, (reports, lag): (&[StepReport], u64)) -> u64 {
    let age = if is_absent { ABSENCE } else { MAX_AGE };
    let by_age = read.begun.saturating_sub(age + lag);
    let is_own = |one: &&StepReport| {
        let writes = matches!(&one.step.work, Work::Menu(MenuOperation::Set(of, _)) if *of == id);
        writes && one.copy == read.copy && one.answer.is_some() && one.ended < read.begun
    };
    let own = reports.iter().filter(is_own).map(|one| one.ended.min(read.begun.saturating_sub(lag)));
    own.filter(|_| lag <= MAX_LAG).max().unwrap_or_default().max(by_age).saturating_sub(ROUNDED)
}

/// Whether the menu had the text at a time between these.
fn was_there(versions: &[Version], seen: &Value, (from, to): (u64, u64)) -> bool {
    let shown = |version: &Version| version.item.as_ref().map_or(Value::Null, |item| json!(text(item, "text")));
    let begins = |at: usize| versions.get(at).map(|version| version.since);
    // Before its first version, there is none.
    let was_absent = seen.is_null() && begins(0).is_none_or(|first| first >= from);
    let fits = |(at, version): (usize, &Version)| {
        shown(version) == *seen && version.since <= to && begins(at + 1).is_none_or(|next| next >= from)
    };
    was_absent || versions.iter().enumerate().any(fits)
}
