//! A table in the words of DynamoDB's API in, the table out: a CreateTable request, a table's description, or the
//! properties of a CloudFormation resource, which have the same names. Must not know files.

use crate::schema::table::{Billing, Capacity, Index, KeyAttribute, KeyType, Projection, StreamView, Table};
use serde_json::{Map, Value};

/// A table as its description has it.
pub struct DescribedTable {
    /// The table.
    pub table: Table,
    /// What the description has and a table here cannot have.
    pub notes: Vec<String>,
}

/// Whether an object describes a table.
pub fn is_table(members: &Map<String, Value>) -> bool {
    members.get("KeySchema").is_some_and(Value::is_array)
}

/// Reads a table. `name` is its name, if the description has none.
pub fn table(members: &Map<String, Value>, name: &str) -> Result<DescribedTable, String> {
    let own = text(members, "TableName").map(str::to_owned);
    let name = own.unwrap_or_else(|| name.to_owned());
    let of = Definition { members, name: &name };
    let mut notes = Vec::new();
    let keys = of.keys(members, &mut notes)?;
    let Some(partition) = keys.partition.into_iter().next() else {
        return Err(format!("the table {name} has no key attribute of type HASH"));
    };
    let mut table = Table::new(name.clone(), partition, keys.sort.into_iter().next());
    for (list, is_local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
        for index in members.get(list).and_then(Value::as_array).into_iter().flatten() {
            table.indexes.extend(of.index(index, is_local, &mut notes)?);
        }
    }
    of.settings(&mut table);
    Ok(DescribedTable { table, notes })
}

/// The keys of a table or of an index.
struct Keys {
    partition: Vec<KeyAttribute>,
    sort: Vec<KeyAttribute>,
}

struct Definition<'d> {
    members: &'d Map<String, Value>,
    name: &'d str,
}

impl Definition<'_> {
    fn keys(&self, of: &Map<String, Value>, notes: &mut Vec<String>) -> Result<Keys, String> {
        let mut keys = Keys { partition: Vec::new(), sort: Vec::new() };
        for element in of.get("KeySchema").and_then(Value::as_array).into_iter().flatten() {
            let Some(element) = element.as_object() else { continue };
            let attribute = text(element, "AttributeName")
                .ok_or_else(|| format!("a key of the table {} has no AttributeName", self.name))?;
            let place = match text(element, "KeyType") {
                Some("RANGE") => &mut keys.sort,
                _ => &mut keys.partition,
            };
            place.push(KeyAttribute { name: attribute.to_owned(), kind: self.kind(attribute, notes) });
        }
        Ok(keys)
    }

    /// The type of a key attribute.
    fn kind(&self, attribute: &str, notes: &mut Vec<String>) -> KeyType {
        let definitions = self.members.get("AttributeDefinitions").and_then(Value::as_array);
        let of_name = |definition: &&Value| definition["AttributeName"].as_str() == Some(attribute);
        let definition = definitions.into_iter().flatten().find(of_name);
        definition.and_then(|definition| kind_named(definition["AttributeType"].as_str()?)).unwrap_or_else(|| {
            notes.push(format!("{} does not say of which type {attribute} is: a text is assumed", self.name));
            KeyType::S
        })
    }

    fn index(&self, value: &Value, is_local: bool, notes: &mut Vec<String>) -> Result<Option<Index>, String> {
        let Some(members) = value.as_object() else { return Ok(None) };
        let name = text(members, "IndexName")
            .ok_or_else(|| format!("an index of the table {} has no IndexName", self.name))?
            .to_owned();
        let Keys { partition, sort } = self.keys(members, notes)?;
        if partition.is_empty() {
            return Err(format!("the index {name} of {} has no key attribute of type HASH", self.name));
        }
        let projection = projection(members.get("Projection"));
        let capacity = if is_local { None } else { capacity(members) };
        Ok(Some(Index { name, local: is_local, partition, sort, projection, capacity }))
    }

    /// How the table is to run.
    fn settings(&self, table: &mut Table) {
        let object = |name: &str| self.members.get(name).and_then(Value::as_object);
        let mode = text(self.members, "BillingMode");
        let mode = mode.or_else(|| text(object("BillingModeSummary")?, "BillingMode"));
        table.billing = match (mode, capacity(self.members)) {
            (None | Some("PROVISIONED"), Some(capacity)) => Billing::Provisioned(capacity),
            _ => Billing::PayPerRequest,
        };
        if table.billing == Billing::PayPerRequest {
            table.indexes.iter_mut().for_each(|index| index.capacity = None);
        }
        let stream = object("StreamSpecification").filter(|stream| !is_false(stream.get("StreamEnabled")));
        table.stream = stream.and_then(|stream| view_named(text(stream, "StreamViewType")?));
        let ttl = object("TimeToLiveSpecification").or_else(|| object("TimeToLiveDescription"));
        let ttl = ttl.filter(|ttl| !is_false(ttl.get("Enabled")));
        table.time_to_live = ttl.and_then(|ttl| text(ttl, "AttributeName")).map(str::to_owned);
        let recovery = object("PointInTimeRecoverySpecification");
        table.point_in_time_recovery =
            recovery.is_some_and(|recovery| recovery.get("PointInTimeRecoveryEnabled").is_some_and(is_true));
    }
}

/// The type of a key attribute by its name.
pub fn kind_named(name: &str) -> Option<KeyType> {
    match name {
        "S" => Some(KeyType::S),
        "N" => Some(KeyType::N),
        "B" => Some(KeyType::B),
        _ => None,
    }
}

/// The view of a stream by its name.
pub fn view_named(name: &str) -> Option<StreamView> {
    use StreamView::{KeysOnly, NewAndOldImages, NewImage, OldImage};
    [KeysOnly, NewImage, OldImage, NewAndOldImages].into_iter().find(|view| view.name() == name)
}

/// The projection of an index as DynamoDB's API has it.
pub fn projection(value: Option<&Value>) -> Projection {
    let Some(members) = value.and_then(Value::as_object) else { return Projection::All };
    match text(members, "ProjectionType") {
        Some("KEYS_ONLY") => Projection::KeysOnly,
        Some("INCLUDE") => {
            let names = members.get("NonKeyAttributes").and_then(Value::as_array).into_iter().flatten();
            Projection::Include(names.filter_map(|name| Some(name.as_str()?.to_owned())).collect())
        }
        _ => Projection::All,
    }
}

/// The capacity in an object, if it has any.
pub fn capacity(members: &Map<String, Value>) -> Option<Capacity> {
    let throughput = members.get("ProvisionedThroughput")?;
    let units = |name: &str| match &throughput[name] {
        Value::Number(number) => number.as_u64().and_then(|units| u32::try_from(units).ok()),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    let capacity = Capacity { read: units("ReadCapacityUnits")?, write: units("WriteCapacityUnits")? };
    // A description of a table that is billed by request has zeros.
    (capacity.read > 0 && capacity.write > 0).then_some(capacity)
}

fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    members.get(name).and_then(Value::as_str)
}

fn is_true(value: &Value) -> bool {
    value.as_bool() == Some(true) || value.as_str() == Some("true")
}

fn is_false(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.as_bool() == Some(false) || value.as_str() == Some("false"))
}
