//! Items that other programs wrote in, a line for each thing about them that surprises out: keys and instants in
//! another spelling than Keyfold's, values that their fields cannot read, nulls where none may be, keys that the fields
//! would not make, items that lack the constants of their type, and unique values without a guard.

pub mod keys;
mod remarks;
mod surprise;
mod texts;
mod values;

use self::surprise::{FirstOfKind, Surprise, SurpriseKind};
use self::texts::TextFields;
use self::values::{Found, nothing};
use super::guards::{self, Guards, NeededGuard};
use crate::cli::output::counted;
use crate::execute::key::marks::{have_constants, misspelling, misspelt};
use crate::execute::key::shown::shown;
use crate::plan::attributes;
use crate::plan::tree::{FieldReader, TypeDiscriminator, TypeMarks};
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::{Model, ObjectType};
use crate::schema::table::Table;
use crate::schema::template::part::Misspelling;
use crate::table::data::attribute::{Attribute, Item};
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long ago an item may have expired, in seconds: DynamoDB takes an older time for a mistake and keeps the item
/// (DynamoDB developer guide, "Using time to live (TTL) in DynamoDB").
const EXPIRED_SECONDS: u64 = 5 * 366 * 24 * 60 * 60;

/// What is known of the items of one table so far.
#[derive(Debug)]
pub struct Survey<'m> {
    /// The schema.
    pub model: &'m Model,
    types: Vec<SurveyedType<'m>>,
    marks: Option<Arc<TypeDiscriminator>>,
    found: IndexMap<Surprise, FirstOfKind>,
    /// The table.
    pub table: &'m Table,
    /// The unique values and their guards.
    pub guards: Guards<'m>,
    /// Whether items are left out, so that guards may be among them.
    is_partial: bool,
    /// All items.
    items: u64,
    /// Those in each index.
    in_index: Vec<u64>,
    /// Those that have expired.
    expired: u64,
    /// What the texts of fields are.
    texts: TextFields,
    /// The seconds since 1970.
    now: u64,
}

/// A type of the table's items.
#[derive(Debug)]
struct SurveyedType<'m> {
    ty: &'m ObjectType,
    keys: &'m ItemKeys,
    readers: Vec<Arc<FieldReader>>,
}

impl<'m> Survey<'m> {
    /// A survey of the items of a table.
    pub fn new(model: &'m Model, table: &'m Table) -> Self {
        let of_table = |ty: &'m ObjectType| {
            let keys = attributes::keys(ty)?;
            let is_of = model.tables[keys.table].name == table.name;
            is_of.then(|| SurveyedType { ty, keys, readers: values::readers(ty) })
        };
        let types: Vec<_> = model.types.values().filter_map(of_table).collect();
        let objects: Vec<&ObjectType> = types.iter().map(|of| of.ty).collect();
        let marks = attributes::discriminator(model, &objects, (None, false), attributes::ItemSight::ALL);
        Self {
            model,
            types,
            marks,
            found: IndexMap::new(),
            table,
            guards: Guards::new(model, table),
            is_partial: false,
            items: 0,
            in_index: vec![0; table.indexes.len()],
            expired: 0,
            texts: TextFields::default(),
            now: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        }
    }

    /// The names of the table's types, in the order of the schema.
    pub fn type_names(&self) -> impl Iterator<Item = &str> {
        self.types.iter().map(|of| of.ty.name.as_str())
    }

    /// The type of a position.
    pub fn ty(&self, position: usize) -> Option<&'m ObjectType> {
        self.types.get(position).map(|of| of.ty)
    }

    /// Looks at an item. Gives the positions of the types that it may be of.
    pub fn see(&mut self, item: &Item) -> Vec<usize> {
        self.guards.see_guard(item);
        self.tally(item);
        let (fitting, found) = self.look_at(item);
        if let Some(SurveyedType { ty, readers, .. }) = fitting.first().and_then(|first| self.types.get(*first)) {
            self.guards.see_item(&guards::needed(self.model, ty, item), item);
            readers.iter().for_each(|reader| self.texts.see(&ty.name, reader, item));
        }
        for (surprise, misspelling) in found {
            self.count(surprise, misspelling, item);
        }
        fitting
    }

    /// The positions of the types that an item may be of, and what surprises about it.
    fn look_at(&self, item: &Item) -> (Vec<usize>, Found) {
        let mut found = Found::new();
        let Some(marks) = &self.marks else { return (Vec::new(), found) };
        let fitting = marks.fitting(item);
        match fitting.as_slice() {
            [] => {
                let of_type = |marks: &TypeMarks| {
                    let misspelling = misspelt(&marks.key, item)?;
                    Some((SurpriseKind::Key.at(format!("{}.{}", marks.item, misspelling.field)), misspelling))
                };
                let may_be = |marks: &&TypeMarks| have_constants(&marks.constants, item);
                found.extend(marks.types.iter().filter(may_be).find_map(of_type));
            }
            [only] => self.values(*only, item, &mut found),
            [first, others @ ..] => {
                let name = |position: &usize| format!("`{}`", marks.types[*position].item);
                let names: Vec<String> = std::iter::once(first).chain(others).map(name).collect();
                let lacks = |position: &usize| {
                    marks.types[*position].constants.iter().any(|(name, _)| !item.contains_key(name))
                };
                if std::iter::once(first).chain(others).all(lacks) {
                    found.insert(SurpriseKind::Constants.at(names.join(" or ")), nothing());
                }
                self.values(*first, item, &mut found);
            }
        }
        (fitting, found)
    }

    /// The position of an item's type, without a look at its values.
    pub fn type_of(&self, item: &Item) -> Option<usize> {
        self.marks.as_ref()?.fitting(item).first().copied()
    }

    /// The guards that an item needs.
    pub fn needed_guards(&self, item: &Item) -> Vec<NeededGuard<'m>> {
        let ty = self.type_of(item).and_then(|position| self.types.get(position));
        ty.map_or_else(Vec::new, |of| guards::needed(self.model, of.ty, item))
    }

    /// The lines, of what was found first first.
    pub fn lines(&self) -> Vec<String> {
        let found = self.found.iter().map(|(surprise, example)| surprise.line(example));
        let fields = if self.is_partial { Vec::new() } else { self.guards.fields() };
        let unguarded = fields.iter().filter(|field| field.missing > 0).map(|field| {
            let (values, field) = (counted(field.missing, "value"), field.field);
            format!("{values} of `{field}` without a guard, so nothing keeps another item from the same value: `keyfold verify --table {} --write-guards` writes them", self.table.name)
        });
        found.chain(unguarded).collect()
    }

    /// What surprises, as JSON.
    pub fn json(&self) -> Vec<Value> {
        self.found.iter().map(|(surprise, example)| surprise.json(example)).collect()
    }

    /// What is no fault of an item, a line each. Nothing, if items are left out.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_partial || self.items == 0 {
            return notes;
        }
        if let Some(name) = self.table.time_to_live.as_ref().filter(|_| self.expired > 0) {
            let (items, them) = (have(self.expired, "item"), if self.expired == 1 { "it" } else { "them" });
            notes.push(format!("{items} expired by `{name}`: DynamoDB deletes {them} soon"));
        }
        let empty = self.table.indexes.iter().zip(&self.in_index).filter(|(_, items)| **items == 0);
        notes.extend(empty.map(|(index, _)| format!("the index `{}` has no items", index.name)));
        notes.extend(self.texts.notes());
        let orphans = self.guards.orphans();
        if orphans > 0 {
            notes.push(format!("{} a value that no item has, so that no item can get it: `keyfold verify --table {} --write-guards` deletes {}", reserve(orphans), self.table.name, if orphans == 1 { "it" } else { "them" }));
        }
        notes
    }

    /// Says that not all items are seen, so that guards may be among the others.
    pub fn leave_out(&mut self) {
        self.is_partial = true;
    }

    /// Counts an item of any type.
    fn tally(&mut self, item: &Item) {
        self.items += 1;
        for (index, items) in self.table.indexes.iter().zip(&mut self.in_index) {
            *items += u64::from(index.keys().all().all(|key| item.contains_key(&key.name)));
        }
        let expiry = self.table.time_to_live.as_ref().and_then(|name| item.get(name));
        if let Some(Attribute::N(seconds)) = expiry
            && seconds.parse::<u64>().is_ok_and(|at| at < self.now && at + EXPIRED_SECONDS > self.now)
        {
            self.expired += 1;
        }
    }

    /// Looks at the values of an item of a type.
    fn values(&self, position: usize, item: &Item, found: &mut Found) {
        let Some(SurveyedType { ty, keys, readers }) = self.types.get(position) else { return };
        let table = &self.model.tables[keys.table];
        for (name, templates) in keys.keys.iter().filter(|(name, _)| !table.is_primary_key(name)) {
            let misspelling =
                item.get(name).and_then(|value| templates.iter().find_map(|template| misspelling(template, value)));
            if let Some(misspelling) = misspelling {
                let is_time = ty.stored(&misspelling.field).is_some_and(|stored| stored.value.is_time());
                let kind = match misspelling.own.is_some() {
                    true => SurpriseKind::Value,
                    false if is_time => SurpriseKind::Unread,
                    // It is read, and no constraint keeps another program from it.
                    false => continue,
                };
                found.insert(kind.at(format!("{}.{}", ty.name, misspelling.field)), misspelling);
            }
        }
        values::survey_values(self.model, (ty, readers), item, found);
        keys::survey_keys(self.model, (ty, keys), item, found);
    }

    fn count(&mut self, surprise: Surprise, misspelling: Misspelling, item: &Item) {
        let names = self.table.primary_key().map(|key| key.name.as_str());
        let first = || FirstOfKind { count: 0, misspelling, key: shown(names, item) };
        self.found.entry(surprise).or_insert_with(first).count += 1;
    }
}

fn have(items: u64, word: &str) -> String {
    format!("{} {}", counted(items, word), if items == 1 { "has" } else { "have" })
}

fn reserve(guards: u64) -> String {
    format!("{} {}", counted(guards, "guard"), if guards == 1 { "reserves" } else { "reserve" })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests;
