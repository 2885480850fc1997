//! A find and all items of the store in; the items that it finds out, in order. It looks at every item of the table.
//! The bindings come from the text of the schema (`binding`); only the index that a field reads comes from the model.
//! Must not know operations or how the gateway reads.

use super::binding::{Bound, Rules};
use super::condition::{fits, lets_in};
use super::document::Arguments;
use super::matching::Matching;
use super::values::{keys_of, scalar_of, stored_of};
use keyfold::execute::caller::Caller;
use keyfold::schema::model::find::sharding::KeyChoice;
use keyfold::schema::model::find::{Access, AccessPath, Find, Range, Returns, SortAccess, Via};
use keyfold::schema::model::keys::ConstantValue;
use keyfold::schema::model::source::{Source, TextPart};
use keyfold::schema::model::{Field, Model, ObjectType};
use keyfold::schema::scalar::form::Form;
use keyfold::schema::scalar::spread::SpreadKind;
use keyfold::schema::table::Table;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{HashMap, HashSet};

/// A schema and the items of its tables.
pub struct World<'w> {
    pub model: &'w Model,
    /// The bindings in the text of the schema.
    pub rules: &'w Rules,
    /// The items of each table that the caller's claims let the keys name.
    pub items: &'w [Vec<Item>],
    /// Who asks.
    pub caller: &'w Caller,
}

/// An object: an item, a map inside one, or the fields that a reference gives of an item.
#[derive(Debug, Clone)]
pub struct Row<'w> {
    pub ty: &'w ObjectType,
    pub item: Option<&'w Item>,
    /// The fields that found it, each with its one value.
    pub known: Map<String, Value>,
    /// Its position in the list that contains it, counted before the filter.
    pub place: usize,
    /// The item of a path that leads to it: the first of which there are several.
    pub link: Option<Box<Row<'w>>>,
}

/// For each item type, its bound fields and their values.
pub type Certain = HashMap<String, Vec<(String, Source)>>;

/// The reason why a field has no rows: the error's code.
pub type Code = &'static str;

impl<'w> Row<'w> {
    /// An object of a type of which nothing is known.
    pub fn of(ty: &'w ObjectType) -> Self {
        Self { ty, item: None, known: Map::new(), place: 0, link: None }
    }

    /// The value of a stored field; null if it is missing.
    pub fn value(&self, field: &str) -> Value {
        match (self.known.get(field), self.item) {
            (_, Some(item)) => scalar_of(self.ty, field, item),
            (Some(value), None) => value.clone(),
            (None, None) => Value::Null,
        }
    }
}

impl Arguments {
    pub fn is_there(&self, name: &str) -> bool {
        self.values.get(name).is_some_and(|value| !value.is_null())
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }
}

impl<'w> World<'w> {
    /// The access path for the arguments that are present.
    pub fn path(&self, find: &'w Find, arguments: &Arguments) -> Result<&'w AccessPath, Code> {
        find.path(&|name| arguments.is_there(name), arguments.text("orderBy")).ok_or("BAD_USER_INPUT")
    }

    pub fn type_named(&self, name: &str) -> &'w ObjectType {
        &self.model.types[name]
    }

    /// The rows of a find by keys or of items of several types, in order. If each key is one item, `None` is an item
    /// that does not exist.
    pub fn rows(
        &self,
        parent: &Row<'w>,
        (field, find): (&'w Field, &'w Find),
        arguments: &Arguments,
    ) -> Result<Vec<Option<Row<'w>>>, Code> {
        let path = self.path(find, arguments)?;
        if find.filter.as_ref().is_some_and(|filter| !fits(filter, &arguments.values)) {
            return Err("BAD_USER_INPUT");
        }
        let answers_each_value = field.ty.is_list() && !field.ty.item_type().is_non_null();
        let (keys, shared) = match &find.via {
            Via::AbstractType(shared) => (&shared.keys, Some(shared)),
            _ => (keys_of(self.type_named(&find.item)).unwrap(), None),
        };
        let table = &self.model.tables[keys.table];
        let matching = Matching { find, path, keys, shared, table, parent, arguments, caller: self.caller };
        let certain = self.certain(parent, (field, find), &matching);
        let mut combinations = matching.combinations()?;
        if !matches!(path.access, Access::Get { .. }) {
            // A range is read once, however often its values are in a list.
            let mut seen = HashSet::new();
            combinations.retain(|values| seen.insert(Value::Object(values.clone()).to_string()));
        }
        let mut ranges: Vec<Vec<Row<'w>>> = Vec::new();
        for values in &combinations {
            for items in self.spread(&matching, values) {
                let mut rows: Vec<Row<'w>> = items
                    .into_iter()
                    .filter_map(|item| self.row(&matching, values, item))
                    .filter(|row| matching.is_certain(row, &certain))
                    .collect();
                rows.sort_by(|left, right| matching.stored_order(left.item.unwrap(), right.item.unwrap()));
                ranges.push(rows);
            }
        }
        let filter = find.filter.as_ref();
        let is_let_in =
            |row: &Row<'w>| filter.is_none_or(|filter| lets_in(filter, &arguments.values, row.item.unwrap()));
        if let Access::Get { .. } = path.access {
            let mut rows: Vec<Option<Row<'w>>> =
                ranges.into_iter().map(|range| range.into_iter().next().filter(&is_let_in)).collect();
            if !answers_each_value {
                let mut seen = HashSet::new();
                rows.retain(|row| {
                    row.as_ref().and_then(|row| row.item).is_none_or(|item| seen.insert(std::ptr::from_ref(item)))
                });
            }
            return Ok(rows);
        }
        let mut rows = matching.merged(&combinations, ranges);
        rows.iter_mut().enumerate().for_each(|(place, row)| row.place = place);
        rows.retain(&is_let_in);
        Ok(rows.into_iter().map(Some).collect())
    }

    /// The values that rules 1 to 6 require of items of each type, whichever path reads them. If the parent's fields
    /// bind the whole key of a single item, its other fields are copies and bind nothing.
    fn certain(&self, parent: &Row<'w>, (field, find): (&Field, &Find), matching: &Matching<'_, 'w>) -> Certain {
        let members = matching.shared.map_or(std::slice::from_ref(&find.item), |shared| shared.members.as_slice());
        let is_single = find.returns == Returns::One && matches!(matching.path.access, Access::Get { .. });
        let of_member = |member: &String| {
            let bound = self.rules.bound((&parent.ty.name, &field.name), member).into_iter();
            let bound = bound.filter_map(|(name, bound)| match bound {
                Bound::Equal { source, is_bare: false } if !(is_single && matches!(source, Source::Parent(_))) => {
                    Some((name, source))
                }
                _ => None,
            });
            (
                member.clone(),
                bound
                    .filter(|(name, source)| {
                        !matches!(source, Source::Parent(_)) || self.rules.is_in_keys(member, name)
                    })
                    .collect(),
            )
        };
        members.iter().map(of_member).collect()
    }

    /// The identity of a find's list: the values of its bounds, its index and its order.
    pub fn list(&self, find: &'w Find, arguments: &Arguments) -> String {
        let Ok(path) = self.path(find, arguments) else { return String::new() };
        let order = arguments.text("order").unwrap_or(if path.descending { "DESC" } else { "ASC" });
        let bounds = arguments_of(path).into_iter().map(|name| (name, arguments.values.get(name)));
        format!("{:?} {order} {:?}", path.index, bounds.collect::<Vec<_>>())
    }

    /// The values that bind a find of a parent, as text.
    pub fn bound_values(&self, parent: &Row<'w>, find: &'w Find, arguments: &Arguments) -> String {
        let Ok(path) = self.path(find, arguments) else { return String::new() };
        let (keys, shared) = match &find.via {
            Via::AbstractType(shared) => (&shared.keys, Some(shared)),
            _ => (keys_of(self.type_named(&find.item)).unwrap(), None),
        };
        let matching = Matching {
            find,
            path,
            keys,
            shared,
            table: &self.model.tables[keys.table],
            parent,
            arguments,
            caller: self.caller,
        };
        let Ok(mut all) = matching.combinations() else { return String::new() };
        // A cursor belongs to the list of one replica, whatever has chosen it.
        for (name, value) in all.iter_mut().flatten() {
            if let Some(count) = name.strip_prefix("replica:") {
                *value = json!(replica(value, count.parse().unwrap()));
            }
            // Nor does a list depend on the case of a text that its keys have in one, or on what is named twice.
            if let (Some(text), Some(case)) = (value.as_str(), keys.case_of(name)) {
                *value = json!(if *case == Form::Upper { text.to_uppercase() } else { text.to_lowercase() });
            }
        }
        let mut seen = HashSet::new();
        all.retain(|values| seen.insert(format!("{values:?}")));
        format!("{all:?}")
    }

    /// The values by which a reference finds its item; `None` if one is null.
    pub fn known(
        &self,
        parent: &Row<'w>,
        find: &'w Find,
        arguments: &Arguments,
    ) -> Result<Option<Map<String, Value>>, Code> {
        let path = self.path(find, arguments)?;
        let ty = self.type_named(&find.item);
        let keys = keys_of(ty).unwrap();
        let matching = Matching {
            find,
            path,
            keys,
            shared: None,
            table: &self.model.tables[keys.table],
            parent,
            arguments,
            caller: self.caller,
        };
        let Some(mut values) = matching.combinations()?.into_iter().next() else { return Ok(None) };
        for (field, value) in &mut values {
            if let Some(stored) = stored_of(ty, field) {
                *value = stored.value.coerce(value).unwrap_or(Value::Null);
            }
        }
        Ok(Some(values))
    }

    /// The items of the table, by shard if all shards are read; of replicas, the first.
    fn spread(&self, matching: &Matching<'_, 'w>, values: &Map<String, Value>) -> Vec<Vec<&'w Item>> {
        let table = &self.model.tables[matching.keys.table];
        let all = &self.items[matching.keys.table];
        let partition = matching.path.keys(table).partition;
        let of_number = |number: u64, attribute: &str, item: &Item| {
            let Some(Attribute::S(text)) = item.get(attribute) else { return false };
            matching.keys.keys[attribute].iter().any(|template| template.numbered(number).read(text).is_some())
        };
        let among =
            |attribute: &str, number: u64| all.iter().filter(|item| of_number(number, attribute, item)).collect();
        match (matching.path.reading(table, matching.keys), matching.keys.spread()) {
            (Some(reading), _) if reading.spread.kind == SpreadKind::Shard => match reading.which {
                KeyChoice::Every => reading.spread.numbers().map(|number| among(&partition.name, number)).collect(),
                KeyChoice::Bound => {
                    let number = reading.spread.number(&values[&reading.spread.placeholder()]);
                    vec![number.map_or_else(Vec::new, |number| among(&partition.name, number))]
                }
                KeyChoice::OfKey => vec![all.iter().collect()],
            },
            (_, Some(spread)) if spread.kind == SpreadKind::Replica => vec![among(&table.partition.name, 0)],
            _ => vec![all.iter().collect()],
        }
    }

    /// The row of an item, if the find matches it.
    fn row(&self, matching: &Matching<'_, 'w>, values: &Map<String, Value>, item: &'w Item) -> Option<Row<'w>> {
        let table = &self.model.tables[matching.keys.table];
        if table.keys_of(matching.path.index).all().any(|key| !item.contains_key(&key.name)) {
            return None;
        }
        let ty = match matching.shared {
            None => Some(self.type_named(&matching.find.item)).filter(|ty| is_of(table, ty, item)),
            Some(shared) => shared.members.iter().map(|name| self.type_named(name)).find(|ty| is_of(table, ty, item)),
        }?;
        let fits = match matching.shared {
            None => matching.fits(ty, values, item),
            Some(_) => matching.fits_together(ty, values, item),
        };
        fits.then(|| Row { item: Some(item), ..Row::of(ty) })
    }
}

/// The replica that a bound value chooses.
fn replica(value: &Value, count: u64) -> u64 {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let digest = Sha256::new().chain_update(text).chain_update([0]).finalize();
    digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte)) % count
}

/// The arguments of the range of a path. The values of its bindings are distinguished by themselves.
fn arguments_of(path: &AccessPath) -> Vec<&str> {
    let mut sources: Vec<&Source> = Vec::new();
    if let Access::Query { sort: SortAccess::Range { range, .. }, .. } = &path.access {
        match range {
            Range::BeginsWith(source) => sources.push(source),
            Range::Between { lower, upper } => sources.extend(lower.iter().chain(upper).map(|(source, _)| source)),
        }
    }
    let mut names = Vec::new();
    while let Some(source) = sources.pop() {
        match source {
            Source::Argument(name) => names.push(name.split('.').next().unwrap_or_default()),
            Source::Text(parts) => sources.extend(parts.iter().filter_map(|part| match part {
                TextPart::Value(source) => Some(source),
                TextPart::Literal(_) => None,
            })),
            Source::Claim(_) | Source::Parent(_) | Source::Item(..) => {}
        }
    }
    names
}

/// Whether an item is of a type, by its primary key and its constants.
pub fn is_of(table: &Table, ty: &ObjectType, item: &Item) -> bool {
    let Some(keys) = keys_of(ty) else { return false };
    let by_keys = table.primary_key().all(|key| match item.get(&key.name) {
        Some(Attribute::S(text)) => keys.keys[&key.name].iter().any(|template| template.read(text).is_some()),
        Some(_) => true,
        None => false,
    });
    let has = |(name, value): &(String, ConstantValue)| match (value, item.get(name)) {
        (ConstantValue::Text(own), Some(Attribute::S(text))) => **text == **own,
        (ConstantValue::Number(own), Some(Attribute::N(number))) => **number == **own,
        (ConstantValue::Boolean(own), Some(Attribute::Bool(boolean))) => boolean == own,
        _ => false,
    };
    by_keys && keys.constants.iter().all(has)
}
