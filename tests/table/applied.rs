//! A server that runs writes on a real engine, even if their answers are lost.

use crate::fixture::table;
use crate::scripted::Reply;
use dynoxide::{Database, DynoxideError};
use keyfold::table::admin::definition::create_table_input;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

/// An engine with the table `things`.
pub struct Applied {
    database: Database,
}

impl Applied {
    pub fn new() -> Self {
        let database = Database::memory().unwrap();
        database.create_table(serde_json::from_value(create_table_input(&table("things"))).unwrap()).unwrap();
        Self { database }
    }

    /// Carries out a call and gives its answer.
    pub fn apply(&self, operation: &str, body: Value) -> Reply {
        match operation {
            "PutItem" => answer(body, |request| self.database.put_item(request)),
            "UpdateItem" => answer(body, |request| self.database.update_item(request)),
            "DeleteItem" => answer(body, |request| self.database.delete_item(request)),
            "TransactWriteItems" => answer(body, |request| self.database.transact_write_items(request)),
            "BatchWriteItem" => answer(body, |request| self.database.batch_write_item(request)),
            other => panic!("{other} is no write"),
        }
    }

    /// The attribute `n` of an item of the partition `p`; `None` if there is no item.
    pub fn count(&self, sk: &str) -> Option<String> {
        let request =
            json!({ "TableName": "things", "Key": { "PK": { "S": "p" }, "SK": { "S": sk } }, "ConsistentRead": true });
        let response = self.database.get_item(serde_json::from_value(request).unwrap()).unwrap();
        let response = serde_json::to_value(&response).unwrap();
        response["Item"].is_object().then(|| response["Item"]["n"]["N"].as_str().unwrap_or_default().to_owned())
    }
}

fn answer<Q: DeserializeOwned, R: Serialize>(
    body: Value,
    operation: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Reply {
    match operation(serde_json::from_value(body).unwrap()) {
        Ok(response) => Reply::ok(serde_json::to_value(&response).unwrap()),
        Err(refusal) => Reply::Body(refusal.status_code(), refusal.to_json()),
    }
}
