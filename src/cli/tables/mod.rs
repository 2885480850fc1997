//! `keyfold tables`: a schema in; its tables as requests for the AWS CLI, as infrastructure code, or created, out. Or
//! the rights that a gateway needs on them.

mod cloudformation;
mod iam;
mod resource_names;
mod rights;
mod terraform;

use super::output;
use super::schema_file::{self, SchemaChoice};
use super::store_choice::{Remote, explained, table_named, variable};
use crate::schema::table::Table;
use crate::serve::settings::SingleWriteForm;
use crate::table::admin::definition::{continuous_backups_input, create_table_input, time_to_live_input};
use crate::table::stream::shared::lease_table;
use anyhow::{Result, ensure};
use clap::{Args, ValueEnum};
use serde_json::Value;
use std::process::ExitCode;

/// Print the tables of a schema, or create the missing ones
///
/// The schema's @table says the keys, indexes, billing, stream, time to live and point-in-time recovery.
#[derive(Debug, Args)]
pub struct Tables {
    #[command(flatten)]
    choice: SchemaChoice,

    /// Only this table
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    /// Also the table in which copies with a --bus agree which of them reads a stream [default name: keyfold-leases]
    #[arg(long, env = "KEYFOLD_LEASE_TABLE", value_name = "NAME", num_args = 0..=1, default_missing_value = "keyfold-leases")]
    lease_table: Option<String>,

    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = "cli", conflicts_with = "create")]
    format: TableFormat,

    /// Create the missing tables instead of printing
    #[arg(long)]
    create: bool,

    /// Address of a DynamoDB-compatible server, with --create [env: KEYFOLD_ENDPOINT_URL] [default: DynamoDB of the
    /// region]
    #[arg(long, value_name = "URL", requires = "create")]
    endpoint_url: Option<String>,

    /// AWS region, with --create [default: as for other AWS tools] or with --format iam [default: all regions] [env:
    /// KEYFOLD_REGION]
    #[arg(long, value_name = "REGION", value_parser = arn_part)]
    region: Option<String>,

    /// AWS account of the tables, with --format iam [default: all accounts]
    #[arg(long, value_name = "ID", conflicts_with = "create", value_parser = account)]
    account: Option<String>,

    /// Partition of AWS, with --format iam, such as aws-cn or aws-us-gov [default: aws]
    #[arg(long, value_name = "NAME", conflicts_with = "create", value_parser = arn_part)]
    partition: Option<String>,

    /// How `keyfold serve` sends a write of one item, with --format iam
    #[arg(long, env = "KEYFOLD_SINGLE_WRITES", value_name = "FORM", default_value = "call", hide_env = true)]
    single_writes: SingleWriteForm,
}

/// Form in which tables are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TableFormat {
    /// One JSON document for each table, for `aws dynamodb create-table --cli-input-json file://table.json`; AWS has
    /// separate requests for time to live and point-in-time recovery, which are printed on standard error
    Cli,
    /// A template in JSON, for `aws cloudformation deploy --template-file tables.json`
    Cloudformation,
    /// Resources of the AWS provider, for `terraform apply` with a file tables.tf
    Terraform,
    /// A policy of IAM that allows what `keyfold serve` does with this schema, and nothing else
    Iam,
}

impl Tables {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let is_policy = self.format == TableFormat::Iam;
        ensure!(self.region.is_none() || self.create || is_policy, "--region is for --create and for --format iam");
        ensure!(
            is_policy || (self.account.is_none() && self.partition.is_none()),
            "--account and --partition are for --format iam"
        );
        let model = schema_file::load(&self.choice.schema)?.model;
        let rights = rights::rights(&model, self.single_writes.into());
        let mut tables = model.tables;
        tables.extend(self.lease_table.as_deref().map(lease_table::definition));
        let chosen = match &self.table {
            Some(name) => std::slice::from_ref(table_named(&tables, name)?),
            None => &tables,
        };
        if self.create {
            let remote = Remote { endpoint_url: self.endpoint_url, region: self.region };
            let store = remote.connect(chosen).await?;
            let made =
                store.create_missing(chosen).await.map_err(|error| explained(error, "cannot create the tables"))?;
            for table in chosen {
                let done = if made.contains(&table.name) { "created" } else { "exists" };
                output::print(&format!("{}: {done}\n", table.name))?;
            }
            return Ok(ExitCode::SUCCESS);
        }
        // A resource keeps its name whether or not other tables are printed: another name would be another resource.
        let named = |names: Vec<String>| -> Vec<(String, &Table)> {
            names.into_iter().zip(&tables).filter(|(_, table)| chosen.contains(table)).collect()
        };
        match self.format {
            TableFormat::Cli => print_requests(chosen)?,
            TableFormat::Cloudformation => {
                output::print(&format!(
                    "{:#}\n",
                    cloudformation::template(&named(resource_names::logical_ids(&tables)))
                ))?;
            }
            TableFormat::Iam => {
                let region = self.region.or_else(|| variable("KEYFOLD_REGION"));
                let place = iam::ArnPlace {
                    partition: self.partition.unwrap_or_else(|| "aws".to_owned()),
                    region: region.unwrap_or_else(|| "*".to_owned()),
                    account: self.account.unwrap_or_else(|| "*".to_owned()),
                };
                // The table of leases comes after those of the schema, and has no rights of its own.
                let rights = rights.iter().map(Some).chain(std::iter::once(None));
                let all = iam::names(&tables)
                    .into_iter()
                    .zip(&tables)
                    .zip(rights)
                    .map(|((name, table), rights)| (name, table, rights));
                let all: Vec<_> = all.filter(|(_, table, _)| chosen.contains(table)).collect();
                output::print(&format!("{:#}\n", iam::policy(&all, &place)))?;
            }
            TableFormat::Terraform => output::print(&terraform::resources(&named(resource_names::labels(&tables)))?)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Reads an account: 12 digits (IAM user guide, "IAM identifiers", ARNs).
fn account(text: &str) -> Result<String, String> {
    match text.len() == 12 && text.bytes().all(|digit| digit.is_ascii_digit()) {
        true => Ok(text.to_owned()),
        false => Err("write the 12 digits of an account".to_owned()),
    }
}

/// Reads a region or a partition, as ARNs have them.
fn arn_part(text: &str) -> Result<String, String> {
    match !text.is_empty()
        && text.bytes().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == b'-')
    {
        true => Ok(text.to_owned()),
        false => Err("write lower-case letters, digits and hyphens".to_owned()),
    }
}

fn print_requests(tables: &[Table]) -> Result<()> {
    for table in tables {
        output::print(&format!("{:#}\n", create_table_input(table)))?;
        if let Some(request) = time_to_live_input(table) {
            eprintln!(
                "Then, for items that expire: aws dynamodb update-time-to-live --cli-input-json {}",
                quoted(&request)
            );
        }
        if let Some(request) = continuous_backups_input(table) {
            eprintln!(
                "Then, to restore it to any second: aws dynamodb update-continuous-backups --cli-input-json {}",
                quoted(&request)
            );
        }
    }
    Ok(())
}

/// JSON as one word of a POSIX shell.
fn quoted(request: &Value) -> String {
    format!("'{}'", request.to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_one_word_of_a_shell() {
        assert_eq!(quoted(&json!({ "name": "it's" })), r#"'{"name":"it'\''s"}'"#);
    }
}
