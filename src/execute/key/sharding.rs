//! The numbers of shards and replicas: the values of a key in, the shard of its item or the replica to read out; and
//! the replica of an item under another number. Must not know how items are read or written.
//!
//! **The number of a shard is a storage format.** It is the first eight bytes, as a big-endian number, of the SHA-256
//! hash of
//!
//! 1. the partition key of the table with the number left out: text as it stands in the key, a number in decimal text,
//!    binary as it is;
//! 2. a zero byte;
//! 3. the sort key of the table likewise, if the table has one;
//!
//! modulo the number of shards. So an item's shard follows from its primary key in every process, and no update changes
//! it. A shard in the keys of an index is the same number. A replica is chosen by the same function, from the value
//! that it is bound to in place of the partition key, or else from the bound part of the key.

use super::values::{Combinations, FieldValues, MAX_COMBINATIONS};
use crate::execute::caller::Caller;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::values::bound::BoundValue;
use crate::execute::values::encode;
use crate::plan::tree::KeyBinding;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::find::sharding::{KeyChoice, Reading};
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::{Part, spread_of};
use crate::table::data::attribute::{Attribute, Item};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// Gives a field's value.
type Lookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// The number for the parts of a key.
fn number(spread: Spread, partition: &[u8], sort: &[u8]) -> u64 {
    let hash = Sha256::new().chain_update(partition).chain_update([0]).chain_update(sort).finalize();
    let first = hash.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
    first % u64::from(spread.count)
}

/// The shard of an item with these values; `None` if they do not make a primary key.
pub fn shard_of(table: &Table, keys: &ItemKeys, spread: Spread, value: Lookup<'_>) -> Option<u64> {
    let part = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name)?;
        let there = |template: &&Template| {
            template.fields().into_iter().all(|field| value(field).is_some_and(|value| !value.is_null()))
        };
        part(key, templates.iter().find(there)?, value)
    };
    let sort = match &table.sort {
        Some(key) => part(key)?,
        None => Vec::new(),
    };
    Some(number(spread, &part(&table.partition)?, &sort))
}

/// The values of an item's keys: those given, the caller's claims, and the number of its shard, or 0 for the first
/// replica. A number that another program assigned is among those given.
pub fn item_values<'a>(
    table: &Table,
    keys: &ItemKeys,
    caller: &'a Caller,
    value: Lookup<'a>,
) -> impl Fn(&str) -> Option<Value> + 'a {
    let value = move |name: &str| value(name).or_else(|| caller.text(&ClaimPath::parse(name)?).map(Value::String));
    let number = |spread: Spread| match spread.kind {
        // If it is known, it is among the values.
        SpreadKind::Shard if spread.assigned.is_some() => None,
        SpreadKind::Shard => shard_of(table, keys, spread, &value),
        SpreadKind::Replica => Some(0),
    };
    let number = keys.spread().and_then(|spread| Some((spread.placeholder(), json!(number(spread)?))));
    move |field| match &number {
        Some((name, number)) if name == field => Some(number.clone()),
        _ => value(field),
    }
}

/// The number that another program assigned to an item, and the key attribute that tells it: the first that has one,
/// and those of the table come first. `None` if no key has one.
pub fn assigned_number<'k>(table: &Table, keys: &'k ItemKeys, item: &Item) -> Option<(&'k String, u64)> {
    let spread = keys.assigned()?;
    table.key_attributes().into_iter().find_map(|key| {
        let (name, templates) = keys.keys.get_key_value(&key.name)?;
        let Some(Attribute::S(text)) = item.get(name) else { return None };
        let in_key = |template: &Template| {
            let texts = template.split(text)?;
            let at = template.parts.iter().position(|part| spread_of(part).is_some())?;
            spread.number(&json!(texts.get(at)?.parse::<u64>().ok()?))
        };
        Some((name, templates.iter().find_map(in_key)?))
    })
}

/// A part of a key, without the number.
fn part(key: &KeyAttribute, template: &Template, value: Lookup<'_>) -> Option<Vec<u8>> {
    match (key.kind, template.parts.as_slice()) {
        (KeyType::N | KeyType::B, [Part::Placeholder { field, value: kind, .. }]) => {
            match encode::attribute(kind, &value(field)?)? {
                Attribute::N(text) | Attribute::S(text) => Some(text.into_string().into_bytes()),
                Attribute::B(bytes) => Some(bytes),
                _ => None,
            }
        }
        _ => template.without_spread().render(value).ok().flatten().map(String::into_bytes),
    }
}

/// The combinations of a read's values with the numbers of the shards, or of the replica, to read.
pub fn expand_shards<'s>(
    key: &KeyBinding,
    reading: Reading,
    all: Combinations<'s>,
) -> Result<Combinations<'s>, Arc<Failure>> {
    let Reading { spread, which } = reading;
    let name = spread.placeholder();
    let with = |mut values: FieldValues<'s>, number: u64| {
        values.insert(name.as_str().into(), json!(number).into());
        values
    };
    Ok(match (which, spread.kind) {
        (KeyChoice::Every, _) => {
            let most = MAX_COMBINATIONS / usize::from(spread.count);
            if all.len() > most {
                let message = format!(
                    "The arguments name too many keys: more than {most} combinations of values, each in {} shards.",
                    spread.count
                );
                return Err(Failure::new(ErrorCode::LimitExceeded, message));
            }
            let numbers = |values: FieldValues<'s>| spread.numbers().map(move |number| (values.clone(), number));
            all.into_iter().flat_map(numbers).map(|(values, number)| with(values, number)).collect()
        }
        (KeyChoice::Bound, SpreadKind::Shard) => all,
        (KeyChoice::Bound, SpreadKind::Replica) => {
            let chosen = |values: FieldValues<'s>| {
                let number = match values.get(&name).map(BoundValue::to_json).as_deref() {
                    None => binding_number(key, spread, &values)?,
                    Some(Value::String(text)) => number(spread, text.as_bytes(), &[]),
                    Some(value) => number(spread, value.to_string().as_bytes(), &[]),
                };
                Some(with(values, number))
            };
            all.into_iter().filter_map(chosen).collect()
        }
        (KeyChoice::OfKey, _) => {
            // A key that cannot be made is not an item's.
            let chosen = |values: FieldValues<'s>| Some(with(values.clone(), binding_number(key, spread, &values)?));
            all.into_iter().filter_map(chosen).collect()
        }
    })
}

/// The number for the bound part of a key. If the whole key is bound, it is the number of its item.
fn binding_number(key: &KeyBinding, spread: Spread, values: &FieldValues<'_>) -> Option<u64> {
    let value = |field: &str| values.get(field).map(|value| value.to_json().into_owned());
    let partition = part(&key.partition_attribute, key.partition.as_ref()?, &value)?;
    let sort = match (&key.sort, &key.sort_attribute) {
        (Some(template), Some(attribute)) if template.fields().iter().all(|field| values.get(field).is_some()) => {
            part(attribute, template, &value)?
        }
        _ => Vec::new(),
    };
    Some(number(spread, &partition, &sort))
}

/// An item, or a part of it, as the replica of this number: its key attributes hold the number in place of their own.
pub fn as_replica(table: &Table, keys: &ItemKeys, item: &Item, number: u8) -> Item {
    let mut replica = item.clone();
    if keys.replicas().is_none() {
        return replica;
    }
    for key in table.key_attributes() {
        let (Some(Attribute::S(text)), Some(templates)) = (item.get(&key.name), keys.keys.get(&key.name)) else {
            continue;
        };
        let Some((template, parts)) = templates.iter().find_map(|template| Some((template, template.split(text)?)))
        else {
            continue;
        };
        // Everything but the number stays as it is spelt.
        let own =
            |(part, text): (&Part, &str)| if spread_of(part).is_some() { number.to_string() } else { text.to_owned() };
        let text: String = template.parts.iter().zip(parts).map(own).collect();
        replica.insert(key.name.clone(), Attribute::S(text.into()));
    }
    replica
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::load;
    use crate::schema::model::Model;

    fn model(keys: &str, sort_type: &str) -> Model {
        let text = format!(
            "extend schema @table(name: \"data\", partitionKey: \"PK\", sortKey: \"SK\", sortKeyType: {sort_type}, indexes: [{{ name: \"all\", partitionKey: \"G\" }}])
             type Vote @item(keys: {keys}) {{ id: ID! voter: String! no: Decimal! at: DateTime! @attribute(stored: EPOCH_SECONDS) }}
             type Query {{ all: [Vote!]! @find(scan: true) }}"
        );
        load("s", &text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0
    }

    fn shard(model: &Model, values: Value) -> Option<u64> {
        let (_, keys) = model.item("Vote").unwrap();
        shard_of(&model.tables[keys.table], keys, keys.spread().unwrap(), &|field| values.get(field).cloned())
    }

    /// Existing items contain these numbers: none of them may ever change.
    #[test]
    fn the_number_is_a_storage_format() {
        let by_voter = model("{ PK: \"votes#{id}#{shard:10}\", SK: \"{voter}\" }", "S");
        for (id, voter, number) in NUMBERS {
            assert_eq!(shard(&by_voter, json!({ "id": id, "voter": voter })), Some(number), "{id} {voter}");
        }
        // A shard that stands only in an index follows from the whole primary key.
        let by_index = model("{ PK: \"votes#{id}#\", SK: \"{voter}\", G: \"all#{shard:10}\" }", "S");
        for (id, voter, number) in NUMBERS {
            assert_eq!(shard(&by_index, json!({ "id": id, "voter": voter })), Some(number), "{id} {voter}");
        }
        let by_number = model("{ PK: \"votes#{id}#{shard:100}\", SK: \"{no}\" }", "N");
        assert_eq!(shard(&by_number, json!({ "id": "a", "no": "1.50" })), Some(NUMBER_OF_1_5));
    }

    #[test]
    fn what_is_kept_alike_has_one_shard() {
        let by_time = model("{ PK: \"votes#{id}#{shard:100}\", SK: \"{at}\" }", "N");
        let at = |at: &str| shard(&by_time, json!({ "id": "a", "at": at }));
        assert_eq!(at("2026-11-20T09:30:00.000Z"), at("2026-11-20T10:30:00.999+01:00"));
        assert_eq!(at("not a time"), None);
        assert_eq!(shard(&by_time, json!({ "id": "a", "at": null })), None);
    }

    #[test]
    fn every_shard_is_used() {
        let by_voter = model("{ PK: \"votes#{id}#{shard:100}\", SK: \"{voter}\" }", "S");
        let mut counts = [0; 100];
        for voter in 0..10_000 {
            counts[shard(&by_voter, json!({ "id": "a", "voter": voter.to_string() })).unwrap() as usize] += 1;
        }
        assert!(counts.iter().all(|count| (50..=150).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_replica_differs_in_its_number_only() {
        let model = model("{ PK: \"vote#{id}#{replica:12}\", SK: \"{voter}\", G: \"{voter}#{replica:12}\" }", "S");
        let (_, keys) = model.item("Vote").unwrap();
        let s = |text: &str| Attribute::S(text.into());
        let item = |number: &str| {
            let keys = [("PK", format!("vote#a%23b#{number}")), ("SK", "v".to_owned()), ("G", format!("v#{number}"))];
            let mut item: Item = keys.map(|(name, key)| (name.to_owned(), Attribute::S(key.into()))).into();
            item.insert("other".to_owned(), s("vote#a#3"));
            item
        };
        assert_eq!(as_replica(&model.tables[0], keys, &item("3"), 11), item("11"));
        // An item of another type stays unchanged.
        let foreign = Item::from([("PK".to_owned(), s("vote#a#12")), ("SK".to_owned(), s("v"))]);
        assert_eq!(as_replica(&model.tables[0], keys, &foreign, 0), foreign);
    }

    const NUMBERS: [(&str, &str, u64); 4] = [("ada", "v00", 4), ("ada", "v01", 5), ("a#b", "ü", 8), ("", "x", 2)];
    const NUMBER_OF_1_5: u64 = 55;
}
