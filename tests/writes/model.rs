//! The meaning of mutations on plain values in memory: no expressions, no calls, no races. Follows
//! docs/language/, not the code.

use crate::random_schema::keys::{self, Attributes, NUMBER, Values};
use crate::random_schema::mutations::{Action, Clause, Condition, Entry, LIST, Mutation, Returns, Source, Verb};
use crate::random_schema::{Constraint, DefaultPart, Field, ItemType, Kind, Part, Schema};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Where an item is: its table, and its primary key without the number of a shard or a replica.
pub type Place = (usize, Vec<String>);

/// The arguments of a field. An argument that is not given is absent; null is null.
pub type Arguments = Map<String, Value>;

/// The result of a mutation.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Data(Value),
    /// Nothing is written; the error has one of these codes.
    Refused(BTreeSet<&'static str>),
}

/// Every item by its place: the position of its type, and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    pub items: BTreeMap<Place, (usize, Values)>,
}

/// The result of an action: what it does to which items, and the items that the field may return.
#[derive(Default)]
struct Effect {
    writes: Vec<(Place, Option<(usize, Values)>)>,
    gives: Vec<Value>,
}

type Refusal = &'static str;

const BAD: Refusal = "BAD_USER_INPUT";
const CONFLICT: Refusal = "CONFLICT";
const MISSING: Refusal = "NOT_FOUND";

/// A mutation with its arguments.
struct Run<'a> {
    schema: &'a Schema,
    mutation: &'a Mutation,
    arguments: &'a Arguments,
    found: Option<Values>,
}

impl Memory {
    pub fn new() -> Self {
        Self { items: BTreeMap::new() }
    }

    /// Carries out a mutation: everything once, or for each element of its list.
    pub fn apply(&mut self, schema: &Schema, mutation: &Mutation, arguments: &Arguments) -> Outcome {
        let mut runs: Vec<Run> =
            lines(mutation, arguments).map(|arguments| Run { schema, mutation, arguments, found: None }).collect();
        if runs.iter().any(Run::breaks_rules) {
            return Outcome::Refused([BAD].into());
        }
        for run in &mut runs {
            let Some(found) = &mutation.found else { continue };
            match self.there(run, found.item, &found.key).as_slice() {
                [] => return Outcome::Refused([MISSING].into()),
                [place] => run.found = self.get(place, found.item).cloned(),
                // Several shards have an item with the key.
                _ => return Outcome::Refused([BAD].into()),
            }
        }
        let mut codes = BTreeSet::new();
        let mut writes = Vec::new();
        let mut gives: Vec<Vec<Value>> = vec![Vec::new(); mutation.actions.len()];
        for run in &runs {
            for (action, gives) in mutation.actions.iter().zip(&mut gives) {
                match self.effect(run, action) {
                    Ok(effect) => {
                        writes.extend(effect.writes);
                        gives.extend(effect.gives);
                    }
                    Err(code) => _ = codes.insert(code),
                }
            }
        }
        if self.meets(&runs) {
            // DynamoDB accepts one action for each item in a transaction.
            codes.extend([BAD, CONFLICT]);
        }
        let mut after = self.clone();
        for (place, item) in writes {
            match item {
                Some(item) => _ = after.items.insert(place, item),
                None => _ = after.items.remove(&place),
            }
        }
        if after.has_twice(schema) {
            codes.insert(CONFLICT);
        }
        if !codes.is_empty() {
            return Outcome::Refused(codes);
        }
        *self = after;
        Outcome::Data(match mutation.returns {
            Returns::True => json!(true),
            Returns::Item(action) | Returns::Items(action)
                if mutation.is_listed || mutation.returns == Returns::Items(action) =>
            {
                json!(gives[action])
            }
            Returns::Item(action) | Returns::Items(action) => gives[action].first().cloned().unwrap_or(Value::Null),
        })
    }

    /// The items that a mutation puts, whatever else exists: their places and types. Empty if they depend on what the
    /// mutation finds.
    pub fn puts(schema: &Schema, mutation: &Mutation, arguments: &Arguments) -> Vec<(Place, usize)> {
        let puts = |action: &&Action| {
            matches!(action.verb, Verb::Put { .. } | Verb::Update { upsert: true, .. }) && mutation.found.is_none()
        };
        let place = |run: &Run, action: &Action| {
            let ty = run.ty(action);
            ((ty.table, keys::place(schema.table_of(ty), ty, &run.new_item(action))), action.item)
        };
        let runs = lines(mutation, arguments).map(|arguments| Run { schema, mutation, arguments, found: None });
        runs.flat_map(|run| {
            mutation.actions.iter().filter(puts).map(move |action| place(&run, action)).collect::<Vec<_>>()
        })
        .collect()
    }

    /// Whether two of the actions are about one item, or about one unique value that one of them may release.
    fn meets(&self, runs: &[Run]) -> bool {
        let mut about = Vec::new();
        let mut checked = BTreeSet::new();
        for (run, action) in runs.iter().flat_map(|run| run.mutation.actions.iter().map(move |action| (run, action))) {
            let (ty, put) = (run.ty(action), matches!(action.verb, Verb::Put { .. }));
            if matches!(action.verb, Verb::Update { many: true, .. } | Verb::Delete { many: true, .. }) {
                continue;
            }
            let new = if put { run.new_item(action) } else { Values::new() };
            let place = match put {
                true => (ty.table, keys::place(run.schema.table_of(ty), ty, &new)),
                false => self.aim(run, action).unwrap_or_default(),
            };
            // Elements of a list check an item together.
            if action.verb == Verb::Check && !checked.insert((std::ptr::from_ref(action), place.clone())) {
                continue;
            }
            let old = self.get(&place, action.item);
            let is_update = matches!(action.verb, Verb::Update { .. } | Verb::Change(_) | Verb::Move);
            let new = old.filter(|_| is_update).and_then(|old| run.changed(action, old).ok()).unwrap_or(new);
            let unique = ty
                .fields
                .iter()
                .filter(|field| field.unique && (put || is_update || matches!(action.verb, Verb::Delete { .. })));
            let texts = unique.flat_map(|field| [new.get(&field.name), old.and_then(|old| old.get(&field.name))]);
            let texts: BTreeSet<String> = texts.flatten().map(Value::to_string).collect();
            if action.verb == Verb::Move && old.is_some() && !new.is_empty() {
                about.extend(Some(run.place(action, &new)).filter(|to| *to != place));
            }
            about.push(place);
            about.extend(texts.into_iter().map(|text| (ty.table, vec![ty.name.clone(), text])));
        }
        (1..about.len()).any(|at| about[..at].contains(&about[at]))
    }

    /// Every item that the store must have, guards and replicas included: by table, as sorted text.
    pub fn stored(&self, schema: &Schema) -> BTreeSet<(String, String)> {
        let mut stored = BTreeSet::new();
        for ((table, _), (item, values)) in &self.items {
            let ty = &schema.types[*item];
            let name = &schema.tables[*table].name;
            let guards = keys::guards(schema, ty, values).into_iter().map(|(_, guard)| guard);
            stored.extend(
                keys::items(schema, ty, values).into_iter().chain(guards).map(|item| (name.clone(), text(&item))),
            );
        }
        stored
    }

    /// The places of the type's items with this key. Shards that another program assigns may have one each.
    fn there(&self, run: &Run, item: usize, key: &[(String, Source)]) -> Vec<Place> {
        let ty = &run.schema.types[item];
        let places = keys::places(run.schema.table_of(ty), ty, &run.key(key)).into_iter();
        places.map(|place| (ty.table, place)).filter(|place| self.get(place, item).is_some()).collect()
    }

    /// The place of the item that an action is about. Without a number, only one shard may have it.
    fn aim(&self, run: &Run, action: &Action) -> Result<Place, Refusal> {
        let ty = run.ty(action);
        let mut values = run.key(&action.key);
        let number = action.number.as_ref().and_then(|number| run.arguments.get(number));
        values.extend(number.map(|number| (NUMBER.to_owned(), number.clone())));
        let mut there = self.there(run, action.item, &action.key);
        match there.pop() {
            Some(place) if number.is_none() && there.is_empty() => Ok(place),
            Some(_) if number.is_none() => Err(BAD),
            _ => Ok((ty.table, keys::place(run.schema.table_of(ty), ty, &values))),
        }
    }

    fn get(&self, place: &Place, item: usize) -> Option<&Values> {
        self.items.get(place).filter(|(of, _)| *of == item).map(|(_, values)| values)
    }

    /// Whether two items of a type have the same unique value.
    fn has_twice(&self, schema: &Schema) -> bool {
        let mut seen = BTreeSet::new();
        self.items.values().any(|(item, values)| {
            let unique = schema.types[*item].fields.iter().filter(|field| field.unique);
            unique.filter_map(|field| values.get(&field.name)).any(|value| !seen.insert((*item, value.to_string())))
        })
    }

    fn effect(&self, run: &Run, action: &Action) -> Result<Effect, Refusal> {
        match &action.verb {
            Verb::Put { replace } => self.put(run, action, *replace),
            Verb::Update { many: true, .. } | Verb::Delete { many: true, .. } => self.many(run, action),
            verb => {
                let place = self.aim(run, action)?;
                let here = self.get(&place, action.item);
                if let (Verb::Update { upsert: true, .. }, None) = (verb, here) {
                    return self.put(run, action, false);
                }
                if let (Verb::Delete { .. }, None) = (verb, here) {
                    return self.delete_nothing(run, action);
                }
                let values = here.ok_or(MISSING)?;
                if !run.holds(action, values) {
                    // The element is looked up before the condition is checked.
                    let element = matches!(verb, Verb::ChangeElement | Verb::RemoveElement);
                    return Err(if element && run.parts(action, values).is_err() { MISSING } else { CONFLICT });
                }
                let ty = run.ty(action);
                match verb {
                    Verb::Check => Ok(Effect::default()),
                    Verb::Move => self.move_item(run, action, (place, values)),
                    Verb::Delete { cascade, .. } => {
                        let related =
                            cascade.iter().flat_map(|path| self.related(run.schema, action.item, values, path));
                        let related: BTreeSet<Place> = related.collect();
                        let writes = std::iter::once(place).chain(related).map(|place| (place, None)).collect();
                        Ok(Effect { writes, gives: vec![shown(ty, values)] })
                    }
                    _ => {
                        let after = run.changed(action, values)?;
                        let gives = vec![shown(ty, &after)];
                        Ok(Effect { writes: vec![(place, Some((action.item, after)))], gives })
                    }
                }
            }
        }
    }

    /// A new item.
    fn put(&self, run: &Run, action: &Action, replace: bool) -> Result<Effect, Refusal> {
        let ty = run.ty(action);
        let values = run.new_item(action);
        let place = (ty.table, keys::place(run.schema.table_of(ty), ty, &values));
        if self.items.get(&place).is_some_and(|(of, _)| !replace || *of != action.item) {
            return Err(CONFLICT);
        }
        let gives = vec![shown(ty, &values)];
        Ok(Effect { writes: vec![(place, Some((action.item, values)))], gives })
    }

    /// An item under the key that its new values make, with all that it has.
    fn move_item(&self, run: &Run, action: &Action, (from, before): (Place, &Values)) -> Result<Effect, Refusal> {
        let ty = run.ty(action);
        let after = run.changed(action, before)?;
        let to = run.place(action, &after);
        let gives = vec![shown(ty, &after)];
        if to == from {
            return Ok(Effect { writes: vec![(to, Some((action.item, after)))], gives });
        }
        if self.items.contains_key(&to) {
            return Err(CONFLICT);
        }
        Ok(Effect { writes: vec![(from, None), (to, Some((action.item, after)))], gives })
    }

    fn delete_nothing(&self, run: &Run, action: &Action) -> Result<Effect, Refusal> {
        let Verb::Delete { cascade, .. } = &action.verb else { return Err(MISSING) };
        let ty = run.ty(action);
        let along = ty.fields.iter().any(|field| field.unique) || matches!(keys::spread(ty), Some(Part::Replica(_)));
        let demands = action.condition.is_some() || run.version(action).is_some();
        let is_reported = run.mutation.is_listed
            || run.mutation.non_null
            || run.mutation.actions.len() > 1
            || demands && cascade.is_empty() && !along;
        if is_reported { Err(MISSING) } else { Ok(Effect { gives: vec![Value::Null], ..Effect::default() }) }
    }

    fn many(&self, run: &Run, action: &Action) -> Result<Effect, Refusal> {
        let ty = run.ty(action);
        let mut effect = Effect::default();
        for (place, (item, values)) in &self.items {
            let meant = action.key.iter().all(|(field, source)| values.get(field) == run.value(source).as_ref());
            let elsewhere =
                action.number.as_ref().is_some_and(|number| values.get(NUMBER) != run.arguments.get(number));
            if *item != action.item || !meant || elsewhere || !run.holds(action, values) {
                continue;
            }
            let after = match &action.verb {
                Verb::Delete { .. } => None,
                _ => Some(run.changed(action, values)?),
            };
            effect.gives.push(shown(ty, after.as_ref().unwrap_or(values)));
            effect.writes.push((place.clone(), after.map(|values| (*item, values))));
        }
        Ok(effect)
    }

    /// The items at the end of a path of relations to children.
    fn related(&self, schema: &Schema, item: usize, values: &Values, path: &str) -> Vec<Place> {
        let mut here = vec![(item, values)];
        let mut places = Vec::new();
        for relation in path.split('.') {
            let mut next = Vec::new();
            places.clear();
            for (parent, of) in &here {
                let link = format!("{}Id", schema.types[*parent].small());
                for (place, (child, values)) in &self.items {
                    let ty = &schema.types[*child];
                    if ty.parent == Some(*parent)
                        && format!("{}s", ty.small()) == relation
                        && values.get(&link) == of.get("id")
                    {
                        places.push(place.clone());
                        next.push((*child, values));
                    }
                }
            }
            here = next;
        }
        places
    }
}

/// The arguments of each time that a mutation is carried out.
fn lines<'a>(mutation: &Mutation, arguments: &'a Arguments) -> impl Iterator<Item = &'a Arguments> + use<'a> {
    let elements = arguments.get(LIST).filter(|_| mutation.is_listed).and_then(Value::as_array);
    let whole = (!mutation.is_listed).then_some(arguments);
    elements.into_iter().flatten().filter_map(Value::as_object).chain(whole)
}

impl Run<'_> {
    fn ty(&self, action: &Action) -> &ItemType {
        &self.schema.types[action.item]
    }

    /// The value of a source; `None` if its argument is not given.
    fn value(&self, source: &Source) -> Option<Value> {
        match source {
            Source::Argument(name) => self.arguments.get(name).cloned(),
            Source::Made(value) => Some(value.clone()),
            Source::Next(name) => Some(json!(self.arguments.get(name)?.as_i64()? + 1)),
            Source::Found(field) => Some(self.found.as_ref()?.get(field).cloned().unwrap_or(Value::Null)),
        }
    }

    /// The values of a key.
    fn key(&self, key: &[(String, Source)]) -> Values {
        key.iter().filter_map(|(field, source)| Some((field.clone(), self.value(source)?))).collect()
    }

    /// The given values, defaults for the rest, and the first version. A given null stays null if the field is
    /// nullable.
    fn new_item(&self, action: &Action) -> Values {
        let ty = self.ty(action);
        let mut values = Values::new();
        for (field, source) in action.values.iter().chain(&action.key) {
            let field = ty.field(field);
            if let Some(value) = self.value(source).filter(|value| !value.is_null() || !field.non_null) {
                values.insert(field.name.clone(), normal(field.kind, value));
            }
        }
        let with_defaults =
            ty.fields.iter().filter_map(|field| Some((field.name.clone(), with_default(ty, field, &values)?)));
        let number = action.number.as_ref().and_then(|number| self.arguments.get(number));
        let number = number.map(|number| (NUMBER.to_owned(), number.clone()));
        let mut values: Values = with_defaults.filter(|(_, value)| !value.is_null()).chain(number).collect();
        forget_number(ty, &mut values);
        values
    }

    /// The place of an item with these values.
    fn place(&self, action: &Action, values: &Values) -> Place {
        let ty = self.ty(action);
        (ty.table, keys::place(self.schema.table_of(ty), ty, values))
    }

    fn version(&self, action: &Action) -> Option<&Value> {
        self.arguments.get(action.version.as_ref()?).filter(|version| !version.is_null())
    }

    /// Whether an argument breaks a constraint, or is null for a field that is never null.
    fn breaks_rules(&self) -> bool {
        let written = |action: &Action| -> Vec<(String, Source)> {
            match &action.verb {
                Verb::Change(clauses) => {
                    let set = clauses.iter().filter_map(|clause| {
                        if let Clause::Set(field, by) = clause { Some((field, by)) } else { None }
                    });
                    set.map(|(field, by)| (field.clone(), Source::Argument(by.clone()))).collect()
                }
                Verb::Append | Verb::ChangeElement | Verb::Entry(..) => Vec::new(),
                _ => action.values.clone(),
            }
        };
        self.mutation.actions.iter().any(|action| {
            written(action).iter().any(|(field, source)| {
                let field = self.ty(action).field(field);
                match self.value(source) {
                    Some(Value::Null) => {
                        field.non_null && matches!(action.verb, Verb::Update { .. } | Verb::Change(_) | Verb::Move)
                    }
                    Some(value) => !matches!(source, Source::Found(_)) && breaks(field, &value),
                    None => false,
                }
            })
        })
    }

    /// Whether an item meets an action's condition and has the version that the caller expects.
    fn holds(&self, action: &Action, values: &Values) -> bool {
        self.version(action).is_none_or(|version| values.get("version") == Some(version))
            && action.condition.as_ref().is_none_or(|condition| self.is_true(condition, values))
    }

    fn is_true(&self, condition: &Condition, values: &Values) -> bool {
        match condition {
            Condition::Exists(field) => values.contains_key(field),
            Condition::Missing(field) => !values.contains_key(field),
            Condition::Equal(field, argument) => values.get(field) == Some(&self.arguments[argument]),
            Condition::AtLeast(field, argument) => {
                values.get(field).is_some_and(|value| value.as_i64() >= self.arguments[argument].as_i64())
            }
            Condition::And(one, other) => self.is_true(one, values) && self.is_true(other, values),
            Condition::Or(one, other) => self.is_true(one, values) || self.is_true(other, values),
        }
    }

    /// An item after an update of it or of an element of its list.
    fn changed(&self, action: &Action, before: &Values) -> Result<Values, Refusal> {
        let ty = self.ty(action);
        let mut after = before.clone();
        let mut renewed: Vec<&Field> = ty
            .fields
            .iter()
            .filter(|field| field.default.as_ref().is_some_and(|default| default.every_write))
            .collect();
        let mut set = |field: &str, value: Value| match value {
            Value::Null => _ = after.remove(field),
            value => _ = after.insert(field.to_owned(), normal(ty.field(field).kind, value)),
        };
        match &action.verb {
            Verb::Update { .. } | Verb::Move => {
                for (field, source) in &action.values {
                    if let Some(value) = self.value(source) {
                        set(field, value);
                        renewed.retain(|other| other.name != *field);
                    }
                }
            }
            Verb::Change(clauses) => {
                for clause in clauses {
                    if let Some(value) = self.computed(clause, before) {
                        set(clause.field(), value);
                    }
                    renewed.retain(|other| other.name != clause.field());
                }
            }
            Verb::Entry(map, entry) => {
                set(map, self.entries((ty.field(map).kind, map), *entry, before)?);
                renewed.clear();
            }
            _ => {
                set("parts", self.parts(action, before)?);
                // The item's own fields do not change.
                renewed.clear();
            }
        }
        for field in renewed {
            after.remove(&field.name);
            let value = with_default(ty, field, &after);
            after.extend(value.map(|value| (field.name.clone(), value)));
        }
        if let Verb::Update { upsert: true, .. } = &action.verb {
            // An upsert gives the item the defaults of fields that it lacks, unless an argument sets null.
            let given =
                |field: &str| action.values.iter().any(|(name, source)| name == field && self.value(source).is_some());
            let lacking = ty.fields.iter().filter(|field| !after.contains_key(&field.name) && !given(&field.name));
            let made: Values =
                lacking.filter_map(|field| Some((field.name.clone(), with_default(ty, field, &after)?))).collect();
            after.extend(made.into_iter().filter(|(_, value)| !value.is_null()));
        }
        if let Some(version) = after.get_mut("version") {
            *version = json!(version.as_i64().unwrap() + 1);
        }
        if keys::holds_number(ty, &after) && !after.contains_key(NUMBER) {
            return Err(CONFLICT);
        }
        forget_number(ty, &mut after);
        Ok(after)
    }

    /// The value that a clause gives its field. Null removes it; `None` changes nothing.
    fn computed(&self, clause: &Clause, before: &Values) -> Option<Value> {
        let argument = |name: &String| self.arguments.get(name).cloned();
        let here = before.get(clause.field());
        let number = |value: Option<&Value>| value.and_then(Value::as_i64).unwrap_or(0);
        let texts = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
        match clause {
            Clause::Set(_, by) => argument(by),
            Clause::Copy(_, other) => before.get(other).cloned(),
            Clause::Plus(_, by) => Some(json!(number(here) + number(argument(by).as_ref()))),
            Clause::Minus(_, by) => Some(json!(number(here) - number(argument(by).as_ref()))),
            Clause::Next(_) => Some(json!(number(here) + 1)),
            Clause::Once(_, by) => here.cloned().or_else(|| argument(by)),
            Clause::Append(_, by) => Some(json!([texts(here), texts(argument(by).as_ref())].concat())),
            Clause::Add(_, by) => match argument(by)? {
                Value::Array(more) => Some(json!([texts(here), more].concat())),
                more => Some(json!(number(here) + number(Some(&more)))),
            },
            Clause::Take(_, by) => {
                let (mut left, gone) = (texts(here), texts(argument(by).as_ref()));
                left.retain(|text| !gone.contains(text));
                Some(if left.is_empty() { Value::Null } else { json!(left) })
            }
            Clause::Remove(_) => Some(Value::Null),
        }
    }

    /// The list of a map's objects after an action on one of them.
    fn entries(&self, (kind, map): (Kind, &str), entry: Entry, before: &Values) -> Result<Value, Refusal> {
        let mut entries = before.get(map).and_then(Value::as_array).cloned().unwrap_or_default();
        let (key, number) = (kind.map_key(), if kind == Kind::Counts { "n" } else { "count" });
        if entry == Entry::Put {
            let part = with_part_defaults(&self.arguments["input"]);
            if entries.iter().any(|other| other[key] == part[key]) {
                return Err(CONFLICT);
            }
            entries.push(part);
            return Ok(json!(entries));
        }
        let meant = entries.iter().position(|other| other[key] == self.arguments["part"]);
        if entry == Entry::Remove {
            entries.remove(meant.ok_or(MISSING)?);
            return Ok(json!(entries));
        }
        let meant = meant.unwrap_or_else(|| {
            entries.push(json!({ key: self.arguments["part"], number: 0 }));
            entries.len() - 1
        });
        if entry == Entry::Add {
            let sum = entries[meant][number].as_i64().unwrap() + self.arguments["more"].as_i64().unwrap();
            entries[meant][number] = json!(sum);
        } else if let Some(text) = self.arguments.get("text") {
            entries[meant]["text"] = text.clone();
        }
        Ok(json!(entries))
    }

    /// The list of embedded objects after an action on one of them.
    fn parts(&self, action: &Action, before: &Values) -> Result<Value, Refusal> {
        let mut parts = before.get("parts").and_then(Value::as_array).cloned().unwrap_or_default();
        if action.verb == Verb::Append {
            let part = with_part_defaults(&self.arguments["input"]);
            if parts.contains(&part) {
                return Err(CONFLICT);
            }
            parts.push(part);
            return Ok(json!(parts));
        }
        let meant = parts.iter().position(|part| part["id"] == self.arguments["part"]).ok_or(MISSING)?;
        if action.verb == Verb::RemoveElement {
            parts.remove(meant);
        } else if let Some(text) = self.arguments.get("text") {
            parts[meant]["text"] = text.clone();
        }
        Ok(json!(parts))
    }
}

/// An item of which no key has its number has none.
fn forget_number(ty: &ItemType, values: &mut Values) {
    if !keys::holds_number(ty, values) {
        values.remove(NUMBER);
    }
}

fn breaks(field: &Field, value: &Value) -> bool {
    match field.constraint {
        Some(Constraint::Max(most)) => value.as_i64().is_some_and(|value| value > most),
        Some(Constraint::MaxLength(most)) => value.as_str().is_some_and(|value| value.chars().count() > most),
        None => false,
    }
}

/// A value in stored form: a set has each element once, in order; embedded objects have their defaults.
fn normal(kind: Kind, value: Value) -> Value {
    match (kind, value) {
        (Kind::Set, Value::Array(elements)) => {
            let elements: BTreeSet<String> =
                elements.iter().map(|element| element.as_str().unwrap().to_owned()).collect();
            json!(elements)
        }
        (Kind::Parts, Value::Array(parts)) => json!(parts.iter().map(with_part_defaults).collect::<Vec<_>>()),
        (kind, Value::Array(entries)) if kind.is_map() => {
            let with_defaults =
                |entry: &Value| if kind == Kind::Tally { with_part_defaults(entry) } else { entry.clone() };
            let mut entries: Vec<Value> = entries.iter().map(with_defaults).collect();
            entries.sort_by_key(|entry| entry[kind.map_key()].as_str().unwrap().to_owned());
            json!(entries)
        }
        (_, value) => value,
    }
}

fn with_part_defaults(part: &Value) -> Value {
    let mut part = part.clone();
    if part["count"].is_null() {
        part["count"] = json!(0);
    }
    part
}

/// The value of a new item's field: the given value, or its default, made of other fields in any order.
fn with_default(ty: &ItemType, field: &Field, given: &Values) -> Option<Value> {
    if field.version {
        return Some(json!(1));
    }
    if let Some(value) = given.get(&field.name) {
        return Some(value.clone());
    }
    let Some(default) = &field.default else {
        return (matches!(field.kind, Kind::Log | Kind::Parts | Kind::Counts) && field.non_null).then(|| json!([]));
    };
    let mut text = String::new();
    for part in &default.parts {
        match part {
            DefaultPart::Text(literal) => text += literal,
            DefaultPart::Field(other) => {
                let other = ty.field(other);
                text += &match with_default(ty, other, given)? {
                    Value::Null => return None,
                    Value::String(text) => text,
                    value => value.to_string(),
                };
            }
        }
    }
    Some(if field.kind == Kind::Int { json!(text.parse::<i64>().unwrap()) } else { json!(text) })
}

/// An item as a response shows it, all fields selected.
pub fn shown(ty: &ItemType, values: &Values) -> Value {
    let of = |field: &Field| match (field.kind, values.get(&field.name)) {
        (Kind::Parts | Kind::Tally, Some(Value::Array(parts))) => {
            let part = |part: &Value| json!({ "id": part["id"], "text": part["text"], "count": part["count"] });
            json!(parts.iter().map(part).collect::<Vec<_>>())
        }
        (_, value) => value.cloned().unwrap_or(Value::Null),
    };
    Value::Object(ty.fields.iter().map(|field| (field.name.clone(), of(field))).collect())
}

/// An item as text: its attributes by name, the elements of its sets in order.
pub fn text(item: &Attributes) -> String {
    let attribute = |(name, value): (&String, &Value)| format!("{name}: {}", sorted(value));
    item.iter().map(attribute).collect::<Vec<_>>().join(", ")
}

fn sorted(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, String> = members
                .iter()
                .map(|(name, value)| match value.as_array().filter(|_| name == "SS") {
                    Some(elements) => {
                        (name, json!(elements.iter().map(Value::to_string).collect::<BTreeSet<_>>()).to_string())
                    }
                    None => (name, sorted(value)),
                })
                .collect();
            format!("{members:?}")
        }
        Value::Array(values) => format!("[{}]", values.iter().map(sorted).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
