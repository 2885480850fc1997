//! The units of a call in; `ConsumedCapacity` as the request wants it out.

use crate::store::data::definition::IndexDefinition;
use crate::store::error::Answer;
use crate::store::request::Request;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The units that a call takes of a table and of its indexes.
#[derive(Debug, Default, Clone)]
pub struct Units {
    pub table: f64,
    /// By whether the index is global, and its name.
    pub indexes: BTreeMap<(bool, String), f64>,
}

/// What a request wants to know of its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Nothing,
    Total,
    Indexes,
}

impl Wanted {
    pub fn parse(request: Request<'_>) -> Answer<Self> {
        Ok(match request.word("ReturnConsumedCapacity", &["NONE", "TOTAL", "INDEXES"])? {
            "TOTAL" => Self::Total,
            "INDEXES" => Self::Indexes,
            _ => Self::Nothing,
        })
    }
}

impl Units {
    pub fn only_of(index: &IndexDefinition, units: f64) -> Self {
        Self { table: 0.0, indexes: [((index.is_global, index.name.clone()), units)].into() }
    }

    pub fn add(&mut self, other: &Self) {
        self.table += other.table;
        for (index, units) in &other.indexes {
            *self.indexes.entry(index.clone()).or_default() += units;
        }
    }

    /// The units of a transaction, which touches each item twice, to prepare and to commit. Indexes follow later, as
    /// they do without a transaction.
    pub fn doubled(mut self) -> Self {
        self.table *= 2.0;
        self
    }

    /// The member of an answer, if it is wanted.
    pub fn json(&self, table: &str, wanted: Wanted) -> Option<Value> {
        let total = self.table + self.indexes.values().sum::<f64>();
        let mut json = json!({ "TableName": table, "CapacityUnits": total });
        match wanted {
            Wanted::Nothing => return None,
            Wanted::Total => {}
            Wanted::Indexes => {
                json["Table"] = json!({ "CapacityUnits": self.table });
                for (member, is_global) in [("GlobalSecondaryIndexes", true), ("LocalSecondaryIndexes", false)] {
                    let indexes =
                        self.indexes.iter().filter(|((global, _), units)| *global == is_global && **units > 0.0);
                    let units: Map<String, Value> =
                        indexes.map(|((_, name), units)| (name.clone(), json!({ "CapacityUnits": units }))).collect();
                    if !units.is_empty() {
                        json[member] = Value::Object(units);
                    }
                }
            }
        }
        Some(json)
    }
}

/// The list of an answer about several tables, if it is wanted.
pub fn by_table(units: &BTreeMap<String, Units>, wanted: Wanted) -> Option<Value> {
    let all: Option<Vec<Value>> = units.iter().map(|(table, units)| units.json(table, wanted)).collect();
    all.filter(|all| !all.is_empty()).map(Value::Array)
}
