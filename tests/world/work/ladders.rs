//! Ladders that operations of three root fields climb, each field by a mark of its own. Where the marks stand tells
//! which fields were written, and in which order.

use crate::step_report::StepReport;
use crate::store::ModelStore;
use crate::store::data::attribute::Attribute;
use crate::store::data::table::Version;
use crate::stored::histories;
use crate::work::Work;
use serde_json::{Value, json};

const LADDERS: [&str; 3] = ["p", "q", "r"];
const FIELDS: [&str; 3] = ["a", "b", "c"];

#[derive(Debug, Clone)]
pub enum LadderOperation {
    Raise(&'static str),
    /// The ladder of each root field.
    Climb([&'static str; FIELDS.len()], usize),
}

/// A root field of a climb: the ladder that it climbs, its mark, and what it answered.
struct Climbed<'t> {
    ladder: &'static str,
    mark: String,
    answer: &'t Value,
    code: &'t str,
}

impl LadderOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        match rng.usize(..4) {
            0 => Self::Raise(LADDERS[rng.usize(..3)]),
            _ => Self::Climb(FIELDS.map(|_| LADDERS[rng.usize(..3)]), position),
        }
    }

    /// Its root fields, each as an operation of its own.
    pub fn root_fields(&self) -> Vec<(String, Value)> {
        let Self::Climb(ladders, position) = self else { return vec![self.request()] };
        let field = |(field, ladder): (&str, &&str)| {
            let query =
                format!("mutation ($i: ID!, $m: [String!]!) {{ {field}: climb(id: $i, mark: $m) {{ marks }} }}");
            (query, json!({ "i": ladder, "m": [mark(*position, field)] }))
        };
        FIELDS.into_iter().zip(ladders).map(field).collect()
    }

    pub fn request(&self) -> (String, Value) {
        match self {
            Self::Raise(id) => ("mutation ($id: ID!) { w: raise(id: $id) }".to_owned(), json!({ "id": id })),
            Self::Climb([a, b, c], position) => {
                let mark = |field| [mark(*position, field)];
                let query = "mutation ($a: ID!, $b: ID!, $c: ID!, $x: [String!]!, $y: [String!]!, $z: [String!]!) { \
                     a: climb(id: $a, mark: $x) { marks } \
                     b: climb(id: $b, mark: $y) { marks } \
                     c: climb(id: $c, mark: $z) { marks } }";
                let variables = json!({ "a": a, "b": b, "c": c, "x": mark("a"), "y": mark("b"), "z": mark("c") });
                (query.to_owned(), variables)
            }
        }
    }

    /// The root fields with what the operation answered.
    fn climbed<'t>(&self, answer: &'t Value) -> Vec<Climbed<'t>> {
        let Self::Climb(ladders, position) = self else { return Vec::new() };
        let errors = answer["errors"].as_array().map_or(&[][..], Vec::as_slice);
        let field = |(field, ladder): (&str, &&'static str)| {
            let error = errors.iter().find(|error| error["path"][0] == field);
            let code = error.and_then(|error| error["extensions"]["code"].as_str()).unwrap_or_default();
            Climbed { ladder, mark: mark(*position, field), answer: &answer["data"][field], code }
        };
        FIELDS.into_iter().zip(ladders).map(field).collect()
    }
}

fn mark(position: usize, field: &str) -> String {
    format!("t{position}{field}")
}

/// Marks that are not where the answers say.
pub fn misplaced(store: &ModelStore, reports: &[StepReport]) -> Vec<String> {
    let mut wrong = Vec::new();
    for one in reports {
        let Work::Ladder(operation) = &one.step.work else { continue };
        let Some(answer) = &one.made else { continue };
        let fields = operation.climbed(answer);
        wrong.extend(fields.iter().filter_map(|field| field.misplaced(store)));
        let written = fields.iter().filter(|field| !field.answer.is_null());
        let places: Vec<_> = written.map(|field| (field, field.place(store))).collect();
        for pair in places.windows(2) {
            let [(first, Some(earlier)), (second, Some(later))] = pair else { continue };
            // On two ladders, changes of one millisecond have no order.
            let is_before = if first.ladder == second.ladder { earlier < later } else { earlier.0 <= later.0 };
            if !is_before {
                wrong.push(format!("{} is written after {}, which comes later", first.mark, second.mark));
            }
        }
    }
    wrong
}

impl Climbed<'_> {
    /// When its mark was written, and at which place of its ladder.
    fn place(&self, store: &ModelStore) -> Option<(u64, usize)> {
        let at = |version: &Version| Some((version.since, marks(version).iter().position(|one| *one == self.mark)?));
        histories(store, "LADDER#")
            .filter(|(id, _)| id.ends_with(self.ladder))
            .find_map(|(_, all)| all.iter().find_map(at))
    }

    fn misplaced(&self, store: &ModelStore) -> Option<String> {
        let Self { ladder, mark, answer, code } = self;
        let last = histories(store, "LADDER#").find(|(id, _)| id.ends_with(ladder)).and_then(|(_, all)| all.last());
        let marks = last.map(marks).unwrap_or_default();
        let times = marks.iter().filter(|one| *one == mark).count();
        let is_as_answered = match (answer["marks"].as_array(), *code) {
            (Some(seen), "") => marks.starts_with(&texts(seen)) && seen.last() == Some(&json!(mark)) && times == 1,
            (None, "UNAVAILABLE" | "TIMEOUT") => times <= 1,
            (None, "NOT_FOUND" | "THROTTLED" | "CONFLICT") => times == 0,
            _ => false,
        };
        (!is_as_answered)
            .then(|| format!("{mark} is {times} times on {ladder}, and its answer is {answer} {code}: {marks:?}"))
    }
}

fn texts(values: &[Value]) -> Vec<&str> {
    values.iter().filter_map(Value::as_str).collect()
}

/// The marks on a ladder.
fn marks(version: &Version) -> Vec<&str> {
    let marks = match version.item.as_ref().and_then(|item| item.get("marks")) {
        Some(Attribute::L(marks)) => marks.as_slice(),
        _ => &[],
    };
    marks.iter().filter_map(|mark| if let Attribute::S(text) = mark { Some(text.as_str()) } else { None }).collect()
}
