//! `keyfold tables`: the tables that a schema needs, as requests for the AWS CLI, or made.

use super::output;
use super::schema_file::{self, SchemaChoice};
use super::store_choice::{Remote, explained, table_named};
use crate::schema::table::Table;
use crate::table::definition::create_table_input;
use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Print the CreateTable request of each table, or make the tables that are missing
///
/// One JSON document a table, for `aws dynamodb create-table --cli-input-json`.
#[derive(Debug, Args)]
pub struct Tables {
    #[command(flatten)]
    choice: SchemaChoice,

    /// Only this table
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// Make the tables that are missing, instead of printing
    #[arg(long)]
    create: bool,

    /// Address of a DynamoDB-compatible server, with --create [env: KEYFOLD_ENDPOINT_URL] [default: DynamoDB of the region]
    #[arg(long, value_name = "URL", requires = "create")]
    endpoint_url: Option<String>,

    /// AWS region, with --create [env: KEYFOLD_REGION] [default: as for other AWS tools]
    #[arg(long, value_name = "REGION", requires = "create")]
    region: Option<String>,
}

impl Tables {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let mut tables = schema_file::load(&self.choice.schema)?.model.tables;
        if let Some(name) = &self.table {
            tables = vec![table_named(&tables, name)?.clone()];
        }
        if self.create {
            let remote = Remote { endpoint_url: self.endpoint_url, region: self.region };
            let store = remote.connect(&tables).await?;
            let made = store.create_missing(&tables).await.map_err(|error| explained(error, "the tables could not be made"))?;
            for table in &tables {
                let done = if made.contains(&table.name) { "made" } else { "was there" };
                output::print(&format!("{}: {done}\n", table.name))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        for table in &tables {
            output::print(&format!("{:#}\n", create_table_input(table)))?;
            if let Some(request) = time_to_live_input(table) {
                eprintln!("Then, for items that expire: aws dynamodb update-time-to-live --cli-input-json '{request}'");
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The input of UpdateTimeToLive, which CreateTable knows nothing of, where the table has items that expire.
fn time_to_live_input(table: &Table) -> Option<Value> {
    let attribute = table.time_to_live.as_ref()?;
    Some(json!({"TableName": table.name, "TimeToLiveSpecification": {"Enabled": true, "AttributeName": attribute}}))
}
