//! One write, alone or in a transaction, in; the new item out, or why there is none. Makes PutItem, UpdateItem and
//! DeleteItem (API reference).

use crate::store::calls::capacity::{Units, Wanted};
use crate::store::chance::conflict;
use crate::store::data::attribute::{self, Item, item_json};
use crate::store::data::definition::Definition;
use crate::store::data::index::change_units;
use crate::store::data::key::{Key, check_index_keys, check_not_empty};
use crate::store::data::size::{check_size, item_bytes, write_units};
use crate::store::data::table::Writer;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::condition::Condition;
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::projection::project;
use crate::store::expressions::update_text::Update;
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use serde_json::{Map, Value};

/// A write whose request is valid.
pub struct Write {
    pub table: String,
    pub key: Key,
    action: Action,
    condition: Option<Condition>,
    /// Whether a failed condition gives the item back.
    returns_item: bool,
}

enum Action {
    Put(Item),
    Update(Option<Update>),
    Delete,
    Check,
}

/// The kinds of writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Put,
    Update,
    Delete,
    Check,
}

impl Write {
    /// The write of a request, or why it is refused, and with it the request. If only the item or the key is wrong,
    /// that is inside: a transaction says so among its reasons.
    pub fn parse(kind: Kind, request: Request<'_>, state: &State) -> Answer<Answer<Self>> {
        let name = request.need("TableName")?.as_str().unwrap_or_default();
        let placeholders = Placeholders::parse(request, &["ConditionExpression", "UpdateExpression"])?;
        let condition = request.text("ConditionExpression")?;
        let condition =
            condition.map(|text| Condition::parse("ConditionExpression", text, &placeholders)).transpose()?;
        let update = request.text("UpdateExpression")?.filter(|_| kind == Kind::Update);
        let update = update.map(|text| Update::parse(text, &placeholders)).transpose()?;
        placeholders.check_used()?;
        let given = attribute::item(request.need(if kind == Kind::Put { "Item" } else { "Key" })?)?;
        let returns = request.word("ReturnValuesOnConditionCheckFailure", &["NONE", "ALL_OLD"])?;
        let definition = &state.table(name)?.definition;
        if kind == Kind::Check && condition.is_none() {
            return Err(ModelError::invalid("ConditionExpression is missing"));
        }
        check_not_empty(&given, &definition.keys)?;
        update.iter().try_for_each(|update| check_targets(update, definition))?;
        let action = match kind {
            Kind::Put => Action::Put(given.clone()),
            Kind::Update => Action::Update(update),
            Kind::Delete => Action::Delete,
            Kind::Check => Action::Check,
        };
        let (table, returns_item) = (name.to_owned(), returns == "ALL_OLD");
        Ok(key(kind, &given, definition).map(|key| Self { table, key, action, condition, returns_item }))
    }

    /// What the item becomes.
    pub fn outcome(&self, old: Option<&Item>, definition: &Definition) -> Answer<Option<Item>> {
        let nothing = Item::new();
        if self.condition.as_ref().is_some_and(|condition| !condition.holds(old.unwrap_or(&nothing))) {
            return Err(ModelError::condition(old.filter(|_| self.returns_item).map(item_json)));
        }
        let new = match &self.action {
            Action::Put(item) => Some(item.clone()),
            Action::Delete => None,
            Action::Check => old.cloned(),
            Action::Update(update) => {
                let old = old.cloned().unwrap_or_else(|| self.key.item(&definition.keys));
                Some(match update {
                    Some(update) => update.apply(&old)?,
                    None => old,
                })
            }
        };
        if let (Some(item), Action::Update(_)) = (&new, &self.action) {
            check_index_keys(item, definition)?;
            check_size(item)?;
        }
        Ok(new)
    }

    /// The paths that an update changes.
    fn paths(&self) -> Vec<Path> {
        match &self.action {
            Action::Update(Some(update)) => update.paths().cloned().collect(),
            _ => Vec::new(),
        }
    }

    pub fn is_check(&self) -> bool {
        matches!(self.action, Action::Check)
    }
}

/// The key of an item that is put, all of which is checked, or the one that is given.
fn key(kind: Kind, given: &Item, definition: &Definition) -> Answer<Key> {
    if kind != Kind::Put {
        return Key::exactly(given, &definition.keys);
    }
    let key = Key::in_item(given, &definition.keys)?;
    check_index_keys(given, definition)?;
    check_size(given)?;
    Ok(key)
}

/// An update may not change the key.
fn check_targets(update: &Update, definition: &Definition) -> Answer<()> {
    match update.paths().find(|path| definition.keys.has(&path.attribute)) {
        None => Ok(()),
        Some(path) => {
            let message = format!("Cannot update attribute {}. This attribute is part of the key", path.attribute);
            Err(ModelError::parameters(&message))
        }
    }
}

/// The units of the change of an item: those of the larger image, and those of the indexes.
pub fn units(old: Option<&Item>, new: Option<&Item>, definition: &Definition) -> Units {
    let bytes = old.iter().chain(&new).map(|item| item_bytes(item)).max().unwrap_or(0);
    let mut units = Units { table: write_units(bytes), ..Units::default() };
    for index in &definition.indexes {
        units.add(&Units::only_of(index, change_units(old, new, index, &definition.keys)));
    }
    units
}

/// PutItem, UpdateItem or DeleteItem.
pub fn write(kind: Kind, state: &mut State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let wanted = Wanted::parse(request)?;
    let words: &[&'static str] = match kind {
        Kind::Update => &["NONE", "ALL_OLD", "UPDATED_OLD", "ALL_NEW", "UPDATED_NEW"],
        _ => &["NONE", "ALL_OLD"],
    };
    let returns = request.word("ReturnValues", words)?;
    let write = Write::parse(kind, request, state)??;
    let table = state.table_mut(&write.table)?;
    if moment.chance.conflicts() {
        return Err(conflict());
    }
    let old = table.item(&write.key).cloned();
    let new = write.outcome(old.as_ref(), &table.definition)?;
    let units = units(old.as_ref(), new.as_ref(), &table.definition);
    table.set(&write.key, new.clone(), moment.now, Writer::Client);
    let image = if returns.ends_with("OLD") { old } else { new };
    let image = match returns {
        "NONE" => None,
        "UPDATED_OLD" | "UPDATED_NEW" => image.map(|item| project(&item, &write.paths())),
        _ => image,
    };
    let mut answer = Map::new();
    answer.extend(image.filter(|item| !item.is_empty()).map(|item| ("Attributes".to_owned(), item_json(&item))));
    answer.extend(units.json(&write.table, wanted).map(|units| ("ConsumedCapacity".to_owned(), units)));
    Ok(Value::Object(answer))
}
