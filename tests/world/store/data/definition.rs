//! The input of CreateTable in; the keys, indexes and stream that it defines out.

use crate::store::data::attribute::Attribute;
use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use serde_json::Value;
use std::collections::BTreeSet;

/// A table.
#[derive(Debug, Clone)]
pub struct Definition {
    pub name: String,
    pub keys: KeySchema,
    pub indexes: Vec<IndexDefinition>,
    /// The input of CreateTable, whose members the description of the table repeats.
    pub input: Value,
}

/// The key attributes of a table or an index.
#[derive(Debug, Clone)]
pub struct KeySchema {
    pub partition: KeyAttribute,
    pub sort: Option<KeyAttribute>,
}

/// A key attribute and its type: `S`, `N` or `B`.
#[derive(Debug, Clone)]
pub struct KeyAttribute {
    pub name: String,
    pub kind: String,
}

/// A secondary index.
#[derive(Debug, Clone)]
pub struct IndexDefinition {
    pub name: String,
    pub is_global: bool,
    pub keys: KeySchema,
    pub projection: Projection,
}

/// The attributes that an index holds besides the keys.
#[derive(Debug, Clone)]
pub enum Projection {
    All,
    KeysOnly,
    Include(BTreeSet<String>),
}

impl Definition {
    pub fn parse(input: &Value) -> Answer<Self> {
        let request = Request::new(input)?;
        let name = request.text("TableName")?.ok_or_else(|| ModelError::invalid("TableName is missing"))?.to_owned();
        let keys = KeySchema::parse(input, input)?;
        let mut indexes = Vec::new();
        for (member, is_global) in [("GlobalSecondaryIndexes", true), ("LocalSecondaryIndexes", false)] {
            for index in request.list(member)?.into_iter().flatten() {
                indexes.push(IndexDefinition::parse(index, is_global, input)?);
            }
        }
        Ok(Self { name, keys, indexes, input: input.clone() })
    }

    pub fn index(&self, name: &str) -> Answer<&IndexDefinition> {
        let index = self.indexes.iter().find(|index| index.name == name);
        index.ok_or_else(|| ModelError::invalid(format!("The table does not have the specified index: {name}")))
    }

    pub fn has_stream(&self) -> bool {
        self.input["StreamSpecification"]["StreamEnabled"] == true
    }
}

impl KeySchema {
    fn parse(owner: &Value, table: &Value) -> Answer<Self> {
        let schema = Request::new(owner)?.list("KeySchema")?.map_or(&[][..], Vec::as_slice);
        let attribute = |role: &str| {
            let key = schema.iter().find(|key| key["KeyType"] == role)?;
            let name = key["AttributeName"].as_str()?;
            let definitions = table["AttributeDefinitions"].as_array()?;
            let definition = definitions.iter().find(|definition| definition["AttributeName"] == name)?;
            Some(KeyAttribute { name: name.to_owned(), kind: definition["AttributeType"].as_str()?.to_owned() })
        };
        let partition = attribute("HASH").ok_or_else(|| ModelError::invalid("Invalid KeySchema"))?;
        Ok(Self { partition, sort: attribute("RANGE") })
    }

    /// The partition key and the sort key, if there is one.
    pub fn attributes(&self) -> impl Iterator<Item = &KeyAttribute> {
        std::iter::once(&self.partition).chain(&self.sort)
    }

    pub fn has(&self, name: &str) -> bool {
        self.attributes().any(|key| key.name == name)
    }
}

impl KeyAttribute {
    pub fn is_of_type(&self, value: &Attribute) -> bool {
        value.kind() == self.kind
    }
}

impl IndexDefinition {
    fn parse(input: &Value, is_global: bool, table: &Value) -> Answer<Self> {
        let name = Request::new(input)?.text("IndexName")?.unwrap_or_default().to_owned();
        let others = input["Projection"]["NonKeyAttributes"].as_array().into_iter().flatten();
        let projection = match input["Projection"]["ProjectionType"].as_str() {
            Some("ALL") => Projection::All,
            Some("INCLUDE") => Projection::Include(others.filter_map(Value::as_str).map(str::to_owned).collect()),
            _ => Projection::KeysOnly,
        };
        Ok(Self { name, is_global, keys: KeySchema::parse(input, table)?, projection })
    }

    /// Whether the index holds this attribute of the table's items.
    pub fn holds(&self, name: &str, table: &KeySchema) -> bool {
        let projects = match &self.projection {
            Projection::All => true,
            Projection::KeysOnly => false,
            Projection::Include(names) => names.contains(name),
        };
        projects || self.keys.has(name) || table.has(name)
    }
}
