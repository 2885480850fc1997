//! Two users' data never mix, whatever the rules: random rules on a schema, random members, users and operations, reads
//! and writes; each answer, and what the writes leave, compared with a model in memory that asks the rules first. The
//! model is written without Keyfold's own code. In some schemas, the keys have the caller's tenant, cards have
//! replicas, or the comments on a card are deleted with it. A card has marks, elements of a list that are written one
//! by one.

use crate::support;
use fastrand::Rng;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const SCHEMA: &str = include_str!("../../schemas/rules/mixing.graphql");
const USERS: [&str; 3] = ["ann", "ben", "cy"];
const TENANTS: [&str; 2] = ["one", "two"];
const ROOMS: [&str; 2] = ["x", "y"];
const IDS: [&str; 4] = ["1", "2", "ann", "ben"];
const MARKS: [&str; 2] = ["a", "b"];
/// What operations select of a card.
const SHOWN: &str = "{ id ownerId text marks { id label } }";
const FIELDS: [&str; 5] = ["ownerId", "level", "shared", "text", "note"];

/// A card's fields, those of its key among them, as far as they are known; null is missing.
type Card = Map<String, Value>;

#[derive(Clone, Debug)]
enum Condition {
    Owner,
    Level,
    Shared,
    Admin,
    /// The caller's name is the card's id, which only its key has.
    Named,
    /// The caller's home is the card's room.
    Home,
    /// The card has one of some ids.
    Ids,
    /// The owner, which is an attribute, is the id.
    Same,
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
}

#[derive(Clone, Debug)]
enum Rule {
    Public,
    SignedIn,
    If(Condition),
    /// A membership; with `true`, as an owner.
    Exists(bool),
}

impl Condition {
    fn random(rng: &mut Rng, depth: u8) -> Self {
        let inner = |rng: &mut Rng| Box::new(Self::random(rng, depth + 1));
        match rng.u8(..if depth > 1 { 10 } else { 15 }) {
            4 | 9 => Self::Named,
            5 => Self::Home,
            6 => Self::Ids,
            7 => Self::Same,
            0 | 13 => Self::Owner,
            1 => Self::Level,
            2 | 8 => Self::Shared,
            3 => Self::Admin,
            10 => Self::And(inner(rng), inner(rng)),
            11 => Self::Or(inner(rng), inner(rng)),
            _ => Self::Not(inner(rng)),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Owner => "auth.sub = ownerId".to_owned(),
            Self::Level => "level <= auth.level".to_owned(),
            Self::Shared => "shared = true".to_owned(),
            Self::Admin => "auth.role = 'admin'".to_owned(),
            Self::Named => "auth.sub = id".to_owned(),
            Self::Home => "roomId = auth.home".to_owned(),
            Self::Ids => "id IN ('1', 'ann')".to_owned(),
            Self::Same => "ownerId = id".to_owned(),
            Self::And(one, other) => format!("({}) AND ({})", one.text(), other.text()),
            Self::Or(one, other) => format!("({}) OR ({})", one.text(), other.text()),
            Self::Not(inner) => format!("NOT ({})", inner.text()),
        }
    }

    /// Whether it holds; `None` if that is not known of this card. What is compared with a missing claim does not hold,
    /// and neither does its negation.
    fn holds(&self, card: &Card, claims: &Value, wanted: bool) -> Option<bool> {
        match self {
            Self::Owner => match claims["sub"].as_str() {
                Some(sub) => card.get("ownerId").map(|owner| owner == sub),
                None => Some(!wanted),
            },
            Self::Level => match claims["level"].as_i64() {
                Some(most) => card.get("level").map(|level| level.as_i64().is_some_and(|level| level <= most)),
                None => Some(!wanted),
            },
            Self::Shared => card.get("shared").map(|shared| shared == true),
            Self::Named | Self::Home => {
                let (claim, field) = if matches!(self, Self::Named) { ("sub", "id") } else { ("home", "roomId") };
                match claims[claim].as_str() {
                    Some(own) => card.get(field).map(|is| is == own),
                    None => Some(!wanted),
                }
            }
            Self::Ids => card.get("id").map(|id| id == "1" || id == "ann"),
            Self::Same => card.get("ownerId").zip(card.get("id")).map(|(owner, id)| owner == id),
            Self::Admin => Some(claims["role"].as_str().map_or(!wanted, |role| role == "admin")),
            Self::And(one, other) => match (one.holds(card, claims, wanted), other.holds(card, claims, wanted)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Self::Or(one, other) => match (one.holds(card, claims, wanted), other.holds(card, claims, wanted)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Self::Not(inner) => inner.holds(card, claims, !wanted).map(|holds| !holds),
        }
    }

    /// Whether some caller and some card meet it.
    fn can_hold(&self) -> bool {
        let callers = [
            json!({}),
            json!({ "level": 1 }),
            json!({ "level": 1, "role": "admin" }),
            json!({ "level": 1, "role": "guest" }),
        ];
        let with = |callers: &[Value], name: &str, value: &str| -> Vec<Value> {
            let with = callers.iter().cloned().map(|mut claims| {
                claims[name] = json!(value);
                claims
            });
            callers.iter().cloned().chain(with).collect()
        };
        let cards = (0..8 * IDS.len()).map(|number| {
            let (bits, id) = (number % 8, IDS[number / 8]);
            let owner = if bits & 1 > 0 { "ann" } else { "ben" };
            let card = json!({ "ownerId": owner, "level": 1 + (bits & 2), "shared": bits & 4 > 0 });
            key_and(("x", id), card.as_object().unwrap().clone())
        });
        let cards: Vec<Card> = cards.collect();
        let homes =
            [with(&with(&callers, "sub", "ann"), "home", "x"), with(&with(&callers, "sub", "ann"), "home", "y")];
        homes.concat().into_iter().any(|claims| cards.iter().any(|card| self.holds(card, &claims, true) == Some(true)))
    }
}

impl Rule {
    fn random(rng: &mut Rng, exists: bool) -> Self {
        match rng.u8(..if exists { 8 } else { 5 }) {
            0 => Self::SignedIn,
            1..=4 => Self::If(Condition::random(rng, 0)),
            other => Self::Exists(other == 7),
        }
    }

    fn text(&self, room: &str, rest: &str) -> String {
        match self {
            Self::Public => format!("@auth(public: true{rest})"),
            Self::SignedIn => format!("@auth(signedIn: true{rest})"),
            Self::If(condition) => format!("@auth(if: {:?}{rest})", condition.text()),
            Self::Exists(owner) => {
                let condition = if *owner { ", if: \"role = 'OWNER'\"" } else { "" };
                format!(
                    "@auth(exists: Member, where: {{ userId: \"{{auth.sub}}\", roomId: \"{{{room}}}\" }}{condition}{rest})"
                )
            }
        }
    }
}

/// The rules of a schema.
pub(super) struct Rules {
    /// Whether the keys begin with the caller's tenant.
    tenants: bool,
    /// Whether each card is stored twice.
    replicas: bool,
    /// Whether the comments on a card are deleted with it.
    cascade: bool,
    pub(super) hide: bool,
    room: Vec<Rule>,
    reads: Vec<Rule>,
    writes: Vec<Rule>,
    text: Vec<Rule>,
    note: Vec<Rule>,
    marks: Vec<Rule>,
    find: Vec<Rule>,
    mutation: Vec<Rule>,
}

impl Rules {
    pub(super) fn random(rng: &mut Rng) -> Self {
        let some =
            |rng: &mut Rng, exists: bool| (0..rng.usize(1..3)).map(|_| Rule::random(rng, exists)).collect::<Vec<_>>();
        let maybe = |rng: &mut Rng, exists: bool| if rng.bool() { some(rng, exists) } else { Vec::new() };
        let hide = rng.bool();
        let reads = if rng.u8(..6) == 0 { vec![Rule::Public] } else { some(rng, true) };
        let is_public = matches!(reads.as_slice(), [Rule::Public]);
        let writes = if rng.u8(..3) == 0 && !is_public { reads.clone() } else { some(rng, true) };
        let of_caller = |rng: &mut Rng| match rng.u8(..6) {
            0 => vec![Rule::SignedIn],
            3 => vec![Rule::If(Condition::Admin)],
            1 => vec![Rule::Exists(rng.bool())],
            2 => vec![Rule::If(Condition::Admin), Rule::Exists(true)],
            _ => Vec::new(),
        };
        let room =
            vec![[Rule::Public, Rule::SignedIn, Rule::Exists(false), Rule::Exists(true)][rng.usize(..4)].clone()];
        Self {
            tenants: rng.u8(..3) == 0,
            replicas: rng.u8(..4) == 0,
            cascade: rng.bool(),
            hide,
            room,
            reads,
            writes,
            text: maybe(rng, true),
            note: maybe(rng, true),
            marks: maybe(rng, true),
            find: of_caller(rng),
            mutation: of_caller(rng),
        }
    }

    pub(super) fn schema(&self) -> String {
        let lines = |rules: &[Rule], room: &str, rest: &str| {
            rules.iter().map(|rule| format!("  {}\n", rule.text(room, rest))).collect::<String>()
        };
        let hide = if self.hide { ", hide: true, on: [READ]" } else { ", on: [READ]" };
        let card = lines(&self.reads, "roomId", hide) + &lines(&self.writes, "roomId", ", on: [WRITE]");
        let mut text = SCHEMA.to_owned();
        for (place, rules) in [
            ("# room rules\n", lines(&self.room, "id", "")),
            ("# card rules\n", card),
            ("# text rules\n", lines(&self.text, "roomId", ", on: [READ]")),
            ("# note rules\n", lines(&self.note, "roomId", ", on: [WRITE]")),
            ("# marks rules\n", lines(&self.marks, "roomId", ", on: [WRITE]")),
            ("# find rules\n", lines(&self.find, "roomId", "")),
            ("# mutation rules\n", lines(&self.mutation, "roomId", "")),
        ] {
            text = text.replace(place, &rules);
        }
        text.replace("<tenant>", if self.tenants { "T#{auth.tenant}#" } else { "" })
            .replace("<replica>", if self.replicas { "#{replica:2}" } else { "" })
            .replace("<cascade>", if self.cascade { "(cascade: [\"comments\"])" } else { "" })
    }

    /// Whether the schema has a mistake. Only a rule that nobody can meet is one.
    pub(super) fn are_refused(&self) -> bool {
        let Err(mistakes) = load("mixing.graphql", &self.schema(), &|_| None) else { return false };
        let text = mistakes.render(false);
        let all =
            [&self.room, &self.reads, &self.writes, &self.text, &self.note, &self.marks, &self.find, &self.mutation]
                .into_iter()
                .flatten();
        let is_vain = |rule: &Rule| matches!(rule, Rule::If(condition) if !condition.can_hold());
        let (vain, reported) = (all.filter(|rule| is_vain(rule)).count(), text.matches("error[KF0609]").count());
        assert!(reported == text.matches("error[").count() && reported <= vain, "{text}\n{}", self.schema());
        true
    }
}

/// The model of what the callers of a tenant see and write: the rules, the members, the cards, and the comments on
/// them.
pub(super) struct World {
    rules: Arc<Rules>,
    /// Whether it is that of callers without a tenant, in whose keys there is nothing.
    is_nowhere: bool,
    members: BTreeMap<(&'static str, &'static str), bool>,
    cards: BTreeMap<(&'static str, &'static str), Card>,
    comments: BTreeSet<(&'static str, &'static str, usize)>,
}

/// What a field of the operation gives: its value, and the paths below it that are refused or have another error.
type Answer = (Value, Vec<(String, &'static str)>);

impl World {
    fn random(rng: &mut Rng, rules: &Arc<Rules>) -> Self {
        let (mut members, mut cards, mut comments) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for room in ROOMS {
            for user in USERS.into_iter().filter(|_| rng.u8(..5) < 3).collect::<Vec<_>>() {
                members.insert((user, room), rng.bool());
            }
            for id in IDS.into_iter().filter(|_| rng.bool()).collect::<Vec<_>>() {
                let mut card = key_and((room, id), whole(values(rng, true)));
                card["marks"] =
                    MARKS.iter().filter(|_| rng.bool()).map(|id| json!({ "id": id, "label": id })).collect();
                cards.insert((room, id), card);
                comments.extend((0..rng.usize(..3)).map(|number| (room, id, number)));
            }
        }
        Self { rules: rules.clone(), is_nowhere: false, members, cards, comments }
    }

    fn nowhere(rules: &Arc<Rules>) -> Self {
        Self {
            is_nowhere: true,
            members: BTreeMap::new(),
            cards: BTreeMap::new(),
            comments: BTreeSet::new(),
            rules: rules.clone(),
        }
    }

    /// Nothing but the rules.
    pub(super) fn of_rules(rules: &Arc<Rules>) -> Self {
        Self { is_nowhere: false, ..Self::nowhere(rules) }
    }

    /// Whether the claims alone refuse the caller what the rules of a place guard.
    pub(super) fn is_refused_at(&self, place: &str, claims: &Value) -> bool {
        let rules = match place {
            "room" => &self.rules.room,
            "reads" => &self.rules.reads,
            "writes" => &self.rules.writes,
            "find" => &self.rules.find,
            "mutation" => &self.rules.mutation,
            _ => return claims["role"] != "admin",
        };
        self.is_refused(rules, claims)
    }

    /// The mutation that makes all of it.
    fn fill(&self) -> String {
        let mut fields: Vec<String> =
            ROOMS.iter().map(|room| format!("open(id: {room:?}, name: {room:?}) {{ id }}")).collect();
        for ((user, room), owner) in &self.members {
            let role = if *owner { ", role: \"OWNER\"" } else { "" };
            fields.push(format!("join(userId: {user:?}, roomId: {room:?}{role}) {{ roomId }}"));
        }
        fields.extend(
            self.cards
                .iter()
                .map(|((room, id), card)| format!("put(roomId: {room:?}, id: {id:?}{}) {{ id }}", arguments(card))),
        );
        for ((room, id), card) in &self.cards {
            let mark = |mark: &Value| {
                format!("mark(roomId: {room:?}, id: {id:?}, markId: {0}, label: {0}) {{ id }}", mark["id"])
            };
            fields.extend(card["marks"].as_array().into_iter().flatten().map(mark));
        }
        let comment = |(room, card, id): &(&str, &str, usize)| {
            format!("comment(roomId: {room:?}, cardId: {card:?}, id: \"{id}\") {{ id }}")
        };
        fields.extend(self.comments.iter().map(comment));
        let named: Vec<String> = fields.iter().enumerate().map(|(at, field)| format!("f{at}: {field}")).collect();
        format!("mutation {{ {} }}", named.join(" "))
    }

    /// What is stored, as the schema without rules shows it.
    fn stored(&self) -> Value {
        let mut stored = json!({});
        for room in ROOMS {
            let of_room = self.cards.iter().filter(|((of, _), _)| *of == room);
            let cards = of_room.map(|(_, card)| {
                let mut card = card.clone();
                card.remove("roomId");
                Value::Object(card)
            });
            stored[room] = Value::Array(cards.collect());
            let comments = self.comments.iter().filter(|(of, ..)| *of == room);
            stored[format!("of{room}")] =
                comments.map(|(_, card, id)| json!({ "cardId": card, "id": id.to_string() })).collect();
        }
        stored
    }

    /// Whether a membership lets the caller in.
    fn is_member(&self, claims: &Value, room: &str, owner: bool) -> bool {
        let Some(user) = claims["sub"].as_str() else { return false };
        self.members.iter().any(|((member, of), is_owner)| *member == user && *of == room && (*is_owner || !owner))
    }

    /// Whether one of the rules lets the caller in; `None` if that is not known of this card.
    fn lets_in(&self, rules: &[Rule], claims: &Value, (room, card): (&str, &Card)) -> Option<bool> {
        let one = |rule: &Rule| match rule {
            Rule::Public => Some(true),
            Rule::SignedIn => Some(claims.is_object()),
            Rule::If(condition) => condition.holds(card, claims, true),
            Rule::Exists(owner) => Some(self.is_member(claims, room, *owner)),
        };
        let all: Vec<Option<bool>> = rules.iter().map(one).collect();
        match all.contains(&Some(true)) || rules.is_empty() {
            true => Some(true),
            false => {
                if all.contains(&None) {
                    None
                } else {
                    Some(false)
                }
            }
        }
    }

    /// Whether the claims alone refuse the caller.
    fn is_refused(&self, rules: &[Rule], claims: &Value) -> bool {
        let never = |rule: &Rule| match rule {
            // No membership has a key of a claim that is missing.
            Rule::Exists(_) => self.is_nowhere || claims["sub"].as_str().is_none(),
            rule => self.lets_in(std::slice::from_ref(rule), claims, ("", &Card::new())) == Some(false),
        };
        !rules.is_empty() && rules.iter().all(never)
    }

    fn sees(&self, claims: &Value, room: &str, card: &Card) -> bool {
        self.lets_in(&self.rules.reads, claims, (room, card)) == Some(true)
    }

    /// A card as [`SHOWN`], at a path.
    fn shown(&self, claims: &Value, (room, id): (&str, &str), card: &Card, path: &str) -> Answer {
        if !self.sees(claims, room, card) {
            return (Value::Null, vec![(path.to_owned(), refusal(claims))]);
        }
        let mut errors = Vec::new();
        let mut text = card["text"].clone();
        if self.lets_in(&self.rules.text, claims, (room, card)) != Some(true) {
            errors.push((format!("{path}.text"), refusal(claims)));
            text = Value::Null;
        }
        (json!({ "id": id, "ownerId": card["ownerId"], "text": text, "marks": card["marks"] }), errors)
    }

    /// The cards of a room that are there for the caller.
    fn listed(&self, claims: &Value, room: &str) -> Vec<(&'static str, &Card)> {
        let of_room = self.cards.iter().filter(|((of, _), _)| *of == room);
        of_room
            .filter(|(_, card)| !self.rules.hide || self.sees(claims, room, card))
            .map(|((_, id), card)| (*id, card))
            .collect()
    }

    fn list(&self, claims: &Value, room: &str, (cards, path): (&[(&str, &Card)], &str)) -> Answer {
        let shown = cards
            .iter()
            .enumerate()
            .map(|(at, (id, card))| self.shown(claims, (room, id), card, &format!("{path}.{at}")));
        let (values, errors): (Vec<Value>, Vec<_>) = shown.unzip();
        (Value::Array(values), errors.into_iter().flatten().collect())
    }

    /// The answer to a read.
    fn read(&self, claims: &Value, (field, room, id, first): (&str, &'static str, &'static str, usize)) -> Answer {
        let refused = || (Value::Null, vec![("r".to_owned(), refusal(claims))]);
        let of_caller = self.lets_in(&self.rules.find, claims, (room, &Card::new())) == Some(true);
        if field != "room" && !self.rules.hide && self.is_refused(&self.rules.reads, claims)
            || field == "cards" && !of_caller
        {
            return refused();
        }
        let here = self.cards.get(&(room, id)).filter(|card| !self.rules.hide || self.sees(claims, room, card));
        match field {
            // What is not there is refused by nobody but the caller's claims.
            "room" if self.is_nowhere && !self.is_refused(&self.rules.room, claims) => (Value::Null, Vec::new()),
            "room" if self.lets_in(&self.rules.room, claims, (room, &Card::new())) == Some(true) => {
                (json!({ "name": room }), Vec::new())
            }
            "room" => refused(),
            "card" => here.map_or((Value::Null, Vec::new()), |card| self.shown(claims, (room, id), card, "r")),
            "hasCard" => match here {
                Some(card) if !self.sees(claims, room, card) => refused(),
                here => (json!(here.is_some()), Vec::new()),
            },
            "cards" => self.list(claims, room, (&self.listed(claims, room), "r")),
            "page" => {
                let listed = self.listed(claims, room);
                let (nodes, errors) = self.list(claims, room, (&listed[..listed.len().min(first)], "r.nodes"));
                (json!({ "nodes": nodes, "pageInfo": { "hasNextPage": listed.len() > first } }), errors)
            }
            _ => (json!(self.listed(claims, room).len()), Vec::new()),
        }
    }

    /// Does a write, and gives its answer.
    fn write(&mut self, claims: &Value, (field, room, id): (&str, &'static str, &'static str), given: Card) -> Answer {
        let fail = |code: &'static str| (Value::Null, vec![("r".to_owned(), code)]);
        let refused = fail(refusal(claims));
        if self.is_nowhere {
            return refused;
        }
        let Rules { hide, reads, writes, note, marks, mutation, cascade, .. } = &*self.rules.clone();
        let mut places: Vec<&[Rule]> = match field {
            "drop" | "clear" => vec![writes],
            "save" => vec![writes, note, marks],
            "mark" | "remark" | "unmark" => vec![writes, marks],
            _ => vec![writes, note],
        };
        // The write gives the card back, so the caller must be able to read it, unless others decide about that. What a
        // write of a mark finds reveals something of the card.
        if !hide && !reads.iter().any(|rule| matches!(rule, Rule::Exists(_))) || field.ends_with("mark") {
            places.push(reads);
        }
        let of_claims = places.iter().copied().chain([mutation.as_slice()]).chain((!hide).then_some(reads.as_slice()));
        if of_claims.into_iter().any(|rules| self.is_refused(rules, claims)) {
            return refused;
        }
        if self.lets_in(mutation, claims, (room, &Card::new())) != Some(true) {
            return refused;
        }
        let demand = |card: &Card| {
            let all: Vec<Option<bool>> = places.iter().map(|rules| self.lets_in(rules, claims, (room, card))).collect();
            if all.contains(&Some(false)) {
                Some(false)
            } else {
                all.into_iter().collect::<Option<Vec<bool>>>().map(|_| true)
            }
        };
        if field == "clear" {
            let mut gone = Vec::new();
            for ((of, id), card) in self.cards.iter().filter(|((of, _), _)| *of == room) {
                match demand(card) == Some(true) {
                    true => gone.push((*of, *id, card.clone())),
                    false if *hide && !self.sees(claims, room, card) => {}
                    false => return refused,
                }
            }
            let returned: Vec<(&str, &Card)> = gone.iter().map(|(_, id, card)| (*id, card)).collect();
            let returned: Vec<_> =
                returned.into_iter().filter(|(_, card)| !hide || self.sees(claims, room, card)).collect();
            let answer = self.list(claims, room, (&returned, "r"));
            gone.iter().for_each(|(of, id, _)| _ = self.cards.remove(&(*of, *id)));
            return answer;
        }
        let stored = self.cards.get(&(room, id)).cloned();
        let (given, key) = (key_and((room, id), given), key_and((room, id), Card::new()));
        // What the claims refuse is no secret. What the key refuses is, if rules hide it.
        let by_claims = demand(&Card::new()) == Some(false);
        let by_key = !by_claims && demand(&key) == Some(false);
        let is_secret = by_key
            && *hide
            && !reads.iter().any(|rule| matches!(rule, Rule::Exists(_)))
            && self.lets_in(reads, claims, (room, &key)) == Some(false);
        let may_write = |card: &Card| demand(card) == Some(true);
        let changed = |card: &Card| {
            card.iter().chain(&given).map(|(name, value)| (name.clone(), value.clone())).collect::<Card>()
        };
        let new = whole(given.clone());
        let may_change = |card: &Card| may_write(card) && may_write(&changed(card));
        let never = by_claims || demand(&given) == Some(false);
        let written = match (field, &stored) {
            ("put", _) if !may_write(&new) => return refused,
            ("put", Some(_)) => return fail("CONFLICT"),
            ("put", None) => new,
            ("save", _) if !may_write(&new) || stored.as_ref().is_some_and(|card| !may_write(card)) => return refused,
            ("save", _) => new,
            ("upsert", Some(card)) if may_change(card) => changed(card),
            ("upsert", None) if may_write(&new) => new,
            ("upsert", _) => return refused,
            ("mark" | "remark" | "unmark" | "edit", _) if is_secret => return fail("NOT_FOUND"),
            ("mark" | "remark" | "unmark" | "edit", _) if never => return refused,
            ("mark" | "remark" | "unmark", None) => return fail("NOT_FOUND"),
            ("mark" | "remark" | "unmark", Some(card)) if may_write(card) => match marked(card, field, &given) {
                Ok(card) => card,
                Err(code) => return fail(code),
            },
            ("mark" | "remark" | "unmark", Some(card)) if *hide && !self.sees(claims, room, card) => {
                return fail("NOT_FOUND");
            }
            ("mark" | "remark" | "unmark", Some(_)) => return refused,
            ("edit", None) => return fail("NOT_FOUND"),
            ("edit", Some(card)) if may_change(card) => changed(card),
            ("edit", Some(card)) if *hide && !self.sees(claims, room, card) => return fail("NOT_FOUND"),
            ("edit", Some(_)) => return refused,
            (_, _) if is_secret => return (Value::Null, Vec::new()),
            (_, _) if by_claims || by_key => return refused,
            (_, None) => return (Value::Null, Vec::new()),
            (_, Some(card)) if !may_write(card) && *hide && !self.sees(claims, room, card) => {
                return (Value::Null, Vec::new());
            }
            (_, Some(card)) if !may_write(card) => return refused,
            (_, Some(card)) => card.clone(),
        };
        let answer = match *hide && !self.sees(claims, room, &written) {
            true => (Value::Null, Vec::new()),
            false => self.shown(claims, (room, id), &written, "r"),
        };
        match field {
            "drop" => {
                self.cards.remove(&(room, id));
                self.comments.retain(|(of, card, _)| !(*cascade && (*of, *card) == (room, id)));
            }
            _ => _ = self.cards.insert((room, id), written),
        }
        answer
    }
}

/// A card after a write of one of its marks, or why that fails.
fn marked(card: &Card, field: &str, given: &Card) -> Result<Card, &'static str> {
    let mut card = card.clone();
    let Value::Array(marks) = &mut card["marks"] else { return Err("INTERNAL") };
    let mark = json!({ "id": given["markId"], "label": given.get("label") });
    let at = marks.iter().position(|known| known["id"] == mark["id"]);
    match (field, at) {
        ("mark", _) if marks.contains(&mark) => return Err("CONFLICT"),
        ("mark", _) => marks.push(mark),
        (_, None) => return Err("NOT_FOUND"),
        ("remark", Some(at)) => marks[at] = mark,
        (_, Some(at)) => drop(marks.remove(at)),
    }
    Ok(card)
}

/// The fields of a card with those of its key.
fn key_and((room, id): (&str, &str), mut card: Card) -> Card {
    card.insert("roomId".to_owned(), json!(room));
    card.insert("id".to_owned(), json!(id));
    card
}

/// Values of a card, all of them or some.
fn values(rng: &mut Rng, all: bool) -> Card {
    let mut card = Card::new();
    for name in FIELDS {
        let value = match name {
            "ownerId" => json!(USERS[rng.usize(..3)]),
            "level" => json!(rng.u8(..4)),
            "shared" => json!(rng.bool()),
            _ => json!(format!("{name}{}", rng.u8(..9))),
        };
        if (all && name == "ownerId") || rng.u8(..3) > 0 {
            card.insert(name.to_owned(), value);
        }
    }
    card
}

/// A whole card: what is not given is missing.
fn whole(mut card: Card) -> Card {
    for name in FIELDS {
        card.entry(name).or_insert(Value::Null);
    }
    card.insert("marks".to_owned(), json!([]));
    card
}

pub(super) fn refusal(claims: &Value) -> &'static str {
    if claims.is_object() { "FORBIDDEN" } else { "UNAUTHENTICATED" }
}

fn claims(rng: &mut Rng) -> Value {
    if rng.u8(..6) == 0 {
        return Value::Null;
    }
    let mut claims = json!({});
    match rng.u8(..8) {
        0 => {}
        1 => claims["sub"] = json!(["ann"]),
        _ => claims["sub"] = json!(USERS[rng.usize(..3)]),
    }
    if rng.bool() {
        claims["level"] = json!(rng.u8(..4));
    }
    if rng.u8(..3) > 0 {
        claims["home"] = json!(ROOMS[rng.usize(..2)]);
    }
    if rng.u8(..5) == 0 {
        claims["role"] = json!(if rng.bool() { "admin" } else { "guest" });
    }
    match rng.u8(..8) {
        0 => {}
        1 => claims["tenant"] = json!(["one"]),
        other => claims["tenant"] = json!(TENANTS[usize::from(other % 2)]),
    }
    claims
}

/// The tenant of a caller: a position among the worlds, the last of which is that of callers without a tenant.
fn tenant(rules: &Rules, claims: &Value) -> usize {
    if !rules.tenants {
        return 0;
    }
    TENANTS.iter().position(|tenant| claims["tenant"] == *tenant).unwrap_or(TENANTS.len())
}

/// The arguments of a mutation for these values; what is missing is left out.
fn arguments(card: &Card) -> String {
    card.iter()
        .filter(|(name, value)| !value.is_null() && !value.is_array() && !["roomId", "id"].contains(&name.as_str()))
        .map(|(name, value)| format!(", {name}: {value}"))
        .collect()
}

/// The gateway, and one without rules on the same store.
async fn open(rules: &Rules, worlds: &[World], rng: &mut Rng) -> (Gateway, Gateway) {
    let text = rules.schema();
    let made = |text: &str| match load("mixing.graphql", text, &|_| None) {
        Ok((model, _)) => Arc::new(model),
        Err(mistakes) => panic!("{}\n{text}", mistakes.render(false)),
    };
    let unruled: String =
        text.lines().filter(|line| !line.trim_start().starts_with("@auth")).map(|line| format!("{line}\n")).collect();
    let model = made(&text);
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let store: Arc<dyn DataStore> = Arc::new(store);
    let unruled = Gateway::new(made(&unruled), store.clone(), Settings { max_aliases: 1_000, ..support::settings() });
    for (world, tenant) in worlds.iter().zip(TENANTS) {
        let filled = of_tenant(&unruled, tenant, &world.fill()).await;
        assert_eq!(filled["errors"], Value::Null, "{filled}");
    }
    (Gateway::new(model, store, super::any_settings(rng)), unruled)
}

/// What the schema without rules gives a caller of a tenant.
pub(super) async fn of_tenant(unruled: &Gateway, tenant: &str, operation: &str) -> Value {
    let request =
        Request { caller: support::caller(json!({ "tenant": tenant })), ..support::request(operation, json!({})) };
    support::run(unruled, &request, false).await
}

/// An operation, and what the model answers.
fn operation(rng: &mut Rng, world: &mut World, claims: &Value) -> (String, Answer) {
    let (room, id, first) = (ROOMS[rng.usize(..2)], IDS[rng.usize(..4)], rng.usize(..4));
    if rng.bool() {
        let fields = ["room", "card", "hasCard", "cards", "page", "count"];
        let field = fields[rng.usize(..fields.len())];
        let asked = match field {
            "room" => format!("room(id: {room:?}) {{ name }}"),
            "card" => format!("card(roomId: {room:?}, id: {id:?}) {SHOWN}"),
            "hasCard" => format!("hasCard(roomId: {room:?}, id: {id:?})"),
            "cards" => format!("cards(roomId: {room:?}) {SHOWN}"),
            "page" => format!("page(roomId: {room:?}, first: {first}) {{ nodes {SHOWN} pageInfo {{ hasNextPage }} }}"),
            _ => format!("count(roomId: {room:?})"),
        };
        return (format!("{{ r: {asked} }}"), world.read(claims, (field, room, id, first)));
    }
    let fields = [
        "put", "save", "edit", "upsert", "put", "save", "edit", "upsert", "drop", "drop", "clear", "mark", "remark",
        "unmark",
    ];
    let field = fields[rng.usize(..fields.len())];
    let given = match field {
        "drop" | "clear" => Card::new(),
        "unmark" => Card::from_iter([("markId".to_owned(), json!(MARKS[rng.usize(..2)]))]),
        "mark" | "remark" => {
            ["markId", "label"].map(|name| (name.to_owned(), json!(MARKS[rng.usize(..2)]))).into_iter().collect()
        }
        _ => values(rng, field != "edit"),
    };
    let key = if field == "clear" { String::new() } else { format!(", id: {id:?}") };
    let text = format!("mutation {{ r: {field}(roomId: {room:?}{key}{}) {SHOWN} }}", arguments(&given));
    let answer = world.write(claims, (field, room, id), given);
    (text, answer)
}

/// The errors of a response, as paths with codes.
fn errors(response: &Value) -> Vec<(String, String)> {
    let errors = super::errors(response).into_iter();
    let mut errors: Vec<(String, String)> = errors
        .filter_map(|error| error.split_once(' ').map(|(code, path)| (path.to_owned(), code.to_owned())))
        .collect();
    errors.sort();
    errors
}

#[tokio::test]
async fn what_a_rule_refuses_is_neither_revealed_nor_written() {
    let number = |name: &str, or: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(or);
    let (cases, first) = (number("KEYFOLD_LAW_CASES", 40), number("KEYFOLD_LAW_SEED", 0));
    for seed in first..first + cases {
        let mut rng = Rng::with_seed(seed);
        let rules = Arc::new(Rules::random(&mut rng));
        if rules.are_refused() {
            continue;
        }
        let mut worlds: Vec<World> =
            TENANTS.iter().take(1 + usize::from(rules.tenants)).map(|_| World::random(&mut rng, &rules)).collect();
        let (gateway, unruled) = open(&rules, &worlds, &mut rng).await;
        worlds.push(World::nowhere(&rules));
        for step in 0..25 {
            let claims = claims(&mut rng);
            let world = &mut worlds[tenant(&rules, &claims)];
            let before = format!("{:?}", world.cards);
            let (text, (data, mut refused)) = operation(&mut rng, world, &claims);
            let request = Request { caller: support::caller(claims.clone()), ..support::request(&text, json!({})) };
            let response = support::run(&gateway, &request, false).await;
            refused.sort();
            let refused: Vec<(String, String)> =
                refused.into_iter().map(|(path, code)| (path, code.to_owned())).collect();
            assert_eq!(
                (&response["data"]["r"], errors(&response)),
                (&data, refused),
                "seed {seed}, step {step}: {claims} asks {text}\n{response}\n{before}\n{:?}\n{}",
                world.members,
                rules.schema()
            );
        }
        // What is stored is what the model holds.
        for (world, tenant) in worlds.iter().filter(|world| !world.is_nowhere).zip(TENANTS) {
            let of_room = |room| {
                format!(
                    "{room}: cards(roomId: {room:?}) {{ id ownerId level shared text note marks {{ id label }} }} of{room}: comments(roomId: {room:?}) {{ cardId id }}"
                )
            };
            let stored = of_tenant(&unruled, tenant, &format!("{{ {} }}", ROOMS.map(of_room).join(" "))).await;
            assert_eq!(stored["data"], world.stored(), "seed {seed}: {stored}\n{}", rules.schema());
        }
    }
}
