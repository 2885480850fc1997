//! Items with their types in; fields that find one item by its key, and find none, out.

use crate::cli::items::byte_budget::ByteBudget;
use crate::cli::items::survey::keys::claims;
use crate::cli::output::counted;
use crate::execute::caller::Caller;
use crate::execute::item::assemble;
use crate::execute::key::shown::shown;
use crate::plan::attributes;
use crate::schema::model::find::{Access, AccessPath, Find, Returns, Via};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::{FieldKind, Model, ObjectType};
use crate::table::bulk::fit::{KeyDigest, key_digest};
use crate::table::data::attribute::Item;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The bytes of an item's key, and those of a key that a field names without their texts.
const KEY_BYTES: usize = 48;
const NAMED_BYTES: usize = 120;

/// An item's key, with the position of its table.
type Place = (usize, KeyDigest);

/// The references of items so far.
#[derive(Debug)]
pub struct References<'m> {
    model: &'m Model,
    /// The fields of each type that find one item by its key.
    fields: HashMap<&'m str, Vec<ReferenceField<'m>>>,
    /// The fields that find one item otherwise.
    others: Vec<String>,
    /// The keys of all items, each with the item's type.
    keys: HashMap<Place, Option<&'m str>>,
    /// Those that fields name.
    named: HashMap<(Place, &'m str, &'m str), NamedKey<'m>>,
    /// The tables that were read.
    tables: HashSet<usize>,
    budget: ByteBudget,
}

/// A field that finds one item by its key, of which its own item has all parts.
#[derive(Debug)]
struct ReferenceField<'m> {
    name: &'m str,
    target: &'m ObjectType,
    table: usize,
    path: &'m AccessPath,
    /// Whether an item need not be there: the field may be null, and its own item's key is all that names it.
    is_optional: bool,
}

/// A key that items name.
#[derive(Debug)]
struct NamedKey<'m> {
    count: u64,
    target: &'m str,
    is_optional: bool,
    /// The key of the first of these items, and the key that it names.
    example: Box<str>,
    key: Box<str>,
}

/// What is known of the references of a field.
#[derive(Debug, Default)]
struct FieldReferences<'r> {
    all: u64,
    lost: u64,
    is_optional: bool,
    example: Option<&'r NamedKey<'r>>,
}

impl<'m> References<'m> {
    /// Those of a schema, before any item is seen.
    pub fn new(model: &'m Model) -> Self {
        let fields: HashMap<&str, Vec<ReferenceField<'m>>> =
            model.types.values().map(|ty| (ty.name.as_str(), reference_fields(model, ty))).collect();
        let finds_one = |kind: &FieldKind| matches!(kind, FieldKind::Find(find) if find.returns == Returns::One);
        let is_other = |ty: &ObjectType, name: &str| {
            !fields.get(ty.name.as_str()).is_some_and(|known| known.iter().any(|field| field.name == name))
        };
        let roots = ["Query", "Mutation", "Subscription"];
        let others = model.types.values().filter(|ty| !roots.contains(&ty.name.as_str())).flat_map(|ty| {
            let own = ty.fields.iter().filter(|(name, field)| finds_one(&field.kind) && is_other(ty, name));
            own.map(|(name, _)| format!("{}.{name}", ty.name)).collect::<Vec<_>>()
        });
        Self {
            model,
            others: others.collect(),
            fields,
            keys: HashMap::new(),
            named: HashMap::new(),
            tables: HashSet::new(),
            budget: ByteBudget::default(),
        }
    }

    /// Looks at an item of a table, which may be of a type.
    pub fn see(&mut self, table: usize, ty: Option<&'m ObjectType>, item: &Item) {
        self.tables.insert(table);
        let of_table = &self.model.tables[table];
        let Some(digest) = key_digest(of_table, item) else { return };
        if !self.budget.take(KEY_BYTES) {
            return;
        }
        self.keys.insert((table, digest), ty.map(|ty| ty.name.as_str()));
        let Some((ty, keys)) = ty.and_then(|ty| Some((ty, attributes::keys(ty)?))) else { return };
        let Some(fields) = self.fields.get(ty.name.as_str()).filter(|fields| !fields.is_empty()) else { return };
        let mut values = claims(keys, of_table, item);
        values.extend(assemble::values_of(self.model, ty, item).known);
        let owner = || shown(of_table.primary_key().map(|key| key.name.as_str()), item);
        for field in fields {
            let Some((place, key)) = named_by(self.model, field, &values) else { continue };
            let place = (place, ty.name.as_str(), field.name);
            if let Some(known) = self.named.get_mut(&place) {
                known.count += 1;
                continue;
            }
            let example = owner();
            if !self.budget.take(NAMED_BYTES + example.len() + key.len()) {
                return;
            }
            let (target, is_optional) = (field.target.name.as_str(), field.is_optional);
            let named = NamedKey { count: 1, target, is_optional, example: example.into(), key: key.into() };
            self.named.insert(place, named);
        }
    }

    /// Whether every reference whose table was read leads to an item.
    pub fn is_whole(&self) -> bool {
        !self.budget.is_over() && self.fields().iter().all(|(_, of)| of.lost == 0 || of.is_optional)
    }

    /// The fields whose tables were read, in the order of their coordinates.
    fn fields(&self) -> Vec<(String, FieldReferences<'_>)> {
        let mut found: HashMap<(&str, &str), FieldReferences<'_>> = HashMap::new();
        for ((place, ty, field), named) in self.named.iter().filter(|((place, ..), _)| self.tables.contains(&place.0)) {
            let of = found.entry((ty, field)).or_default();
            of.all += named.count;
            of.is_optional = named.is_optional;
            if self.keys.get(place).copied().flatten() != Some(named.target) {
                of.lost += named.count;
                // The same of several, whatever their order is here.
                of.example = of.example.into_iter().chain([named]).min_by_key(|named| &named.example);
            }
        }
        let mut found: Vec<_> = found.into_iter().map(|((ty, field), of)| (format!("{ty}.{field}"), of)).collect();
        found.sort_by(|(one, _), (other, _)| one.cmp(other));
        found
    }

    /// The fields that are not looked at, each with the reason.
    fn unread(&self) -> Vec<(String, String)> {
        let unread = self.named.keys().filter(|((table, _), ..)| !self.tables.contains(table));
        let name = |table: usize| format!("its items are in {}, which was not read", self.model.tables[table].name);
        let mut fields: Vec<(String, String)> =
            unread.map(|((table, _), ty, field)| (format!("{ty}.{field}"), name(*table))).collect();
        fields.extend(self.others.iter().map(|field| {
            (field.clone(), "it finds its item otherwise than by a whole key that its own item has".to_owned())
        }));
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    /// The report as text.
    pub fn text(&self) -> String {
        if self.budget.is_over() {
            return "\nreferences: there are more keys than fit in 256 MiB\n".to_owned();
        }
        let mut text = "\nreferences\n".to_owned();
        for (field, of) in self.fields() {
            let all = counted(of.all, "reference");
            match of.example {
                None => text.push_str(&format!("  `{field}`: {all}, each to an item\n")),
                Some(NamedKey { example, key, .. }) => text.push_str(&format!(
                    "  `{field}`: {} of {all} to no item{}, such as that of {example} to {key}\n",
                    of.lost,
                    if of.is_optional { ", which need not be there" } else { "" }
                )),
            }
        }
        for (field, why) in self.unread() {
            text.push_str(&format!("  `{field}` is not looked at: {why}\n"));
        }
        if self.fields().is_empty() && self.unread().is_empty() {
            text.push_str("  no field of an item finds another\n");
        }
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> Value {
        if self.budget.is_over() {
            return Value::Null;
        }
        let field = |(field, of): &(String, FieldReferences<'_>)| {
            json!({
                "field": field, "references": of.all, "toNoItem": of.lost, "optional": of.is_optional,
                "example": of.example.map(|named| json!({ "item": named.example, "key": named.key })),
            })
        };
        let unread = |(field, why): &(String, String)| json!({ "field": field, "why": why });
        json!({
            "fields": self.fields().iter().map(field).collect::<Vec<_>>(),
            "notLookedAt": self.unread().iter().map(unread).collect::<Vec<_>>(),
        })
    }
}

/// The key that a field names: the place, and the key for a person to read.
fn named_by(model: &Model, field: &ReferenceField<'_>, values: &Map<String, Value>) -> Option<(Place, String)> {
    let bound = field.path.bindings.iter().map(|(name, source)| Some((name.clone(), value(source, values)?)));
    let mut bound = bound.collect::<Option<Map<String, Value>>>()?;
    bound.extend(
        values.iter().filter(|(name, _)| name.contains('.')).map(|(name, claim)| (name.clone(), claim.clone())),
    );
    let table = &model.tables[field.table];
    // A value that no key can hold finds nothing, and is reported as a misfit where it stands.
    let key = assemble::primary_key(model, field.target, &Caller::anonymous(), &bound).ok()?;
    let item: Item = std::iter::once(key.partition).chain(key.sort).map(|(name, value)| (name, value.into())).collect();
    let text = shown(table.primary_key().map(|key| key.name.as_str()), &item);
    Some(((field.table, key_digest(table, &item)?), text))
}

fn reference_fields<'m>(model: &'m Model, ty: &'m ObjectType) -> Vec<ReferenceField<'m>> {
    let reference = |(name, kind): (&'m String, &'m FieldKind), may_be_null: bool| {
        let FieldKind::Find(find) = kind else { return None };
        let path = find_by_key(find)?;
        let target = model.types.get(&find.item)?;
        let keys = attributes::keys(target).filter(|keys| keys.assigned().is_none())?;
        let is_own = |field: &&str| ty.stored(field).is_some_and(|stored| stored.identity > 0);
        let is_optional = may_be_null && path.parent_fields().iter().all(is_own);
        Some(ReferenceField { name, target, table: keys.table, path, is_optional })
    };
    if attributes::keys(ty).is_none() {
        return Vec::new();
    }
    ty.fields.iter().filter_map(|(name, field)| reference((name, &field.kind), !field.ty.is_non_null())).collect()
}

/// The access path of a find that gives one item by its whole key, of which the parent has all parts.
fn find_by_key(find: &Find) -> Option<&AccessPath> {
    let Via::Keys(paths) = &find.via else { return None };
    let of_parent = |path: &&AccessPath| {
        let leaves = path.sources().into_iter().flat_map(Source::leaves);
        path.when.is_empty()
            && path.order_by.is_none()
            && matches!(path.access, Access::Get { .. })
            && leaves.into_iter().all(|leaf| matches!(leaf, Source::Parent(_) | Source::Claim(_)))
    };
    paths.iter().find(of_parent).filter(|_| find.returns == Returns::One)
}

/// The value of a source in an item's fields; `None` for null.
fn value(source: &Source, values: &Map<String, Value>) -> Option<Value> {
    let known = |name: &str| values.get(name).filter(|value| !value.is_null()).cloned();
    match source {
        Source::Parent(field) => known(field),
        Source::Claim(claim) => known(&claim.to_string()),
        Source::Text(parts) => {
            let part = |part: &TextPart| match part {
                TextPart::Literal(text) => Some(text.clone()),
                TextPart::Value(source) => match value(source, values)? {
                    Value::String(text) => Some(text),
                    value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
                    _ => None,
                },
            };
            parts.iter().map(part).collect::<Option<String>>().map(Value::String)
        }
        Source::Argument(_) | Source::Item(..) => None,
    }
}
