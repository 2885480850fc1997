//! Tables and the calls that a gateway makes of them in, an IAM policy that allows these and nothing else out.
//!
//! A statement is for one table or index, and for reads, writes, changes or descriptions. TransactWriteItems has no
//! action of its own: each of its parts needs the action of the part (DynamoDB developer guide, "Using IAM with
//! DynamoDB transactions").

use super::resource_names::{capitalised, logical_ids};
use super::rights::TableRights;
use crate::schema::table::Table;
use serde_json::{Value, json};
use std::collections::HashSet;

/// Where tables are, for their ARNs.
#[derive(Debug, Clone)]
pub struct ArnPlace {
    /// The partition of AWS: `aws`, `aws-cn`, `aws-us-gov`.
    pub partition: String,
    /// The region, or `*` for all.
    pub region: String,
    /// The account, or `*` for all.
    pub account: String,
}

/// The statements of a policy.
struct Statements<'p> {
    place: &'p ArnPlace,
    all: Vec<Value>,
    taken: HashSet<String>,
}

/// The policy for a gateway on these tables, each with a name for its statements and with its calls. The table of
/// leases has none: its calls are always the same.
pub fn policy(tables: &[(String, &Table, Option<&TableRights>)], place: &ArnPlace) -> Value {
    let mut statements = Statements { place, all: Vec::new(), taken: HashSet::new() };
    for (name, table, rights) in tables {
        statements.describe(name, table);
        match rights {
            Some(rights) => statements.table(name, table, rights),
            None => {
                statements.add(&format!("ReadItems{name}"), &["GetItem", "BatchGetItem"], &table.name);
                statements.add(&format!("WriteItems{name}"), &["PutItem"], &table.name);
            }
        }
    }
    json!({ "Version": "2012-10-17", "Statement": statements.all })
}

/// A distinct name for each table, of letters and digits, as ids of statements need it.
pub fn names(tables: &[Table]) -> Vec<String> {
    logical_ids(tables)
}

impl Statements<'_> {
    fn describe(&mut self, name: &str, table: &Table) {
        let mut actions = vec!["DescribeTable"];
        actions.extend(table.time_to_live.is_some().then_some("DescribeTimeToLive"));
        self.add(&format!("Describe{name}"), &actions, &table.name);
    }

    fn table(&mut self, name: &str, table: &Table, rights: &TableRights) {
        let reads = |index: Option<usize>| {
            let query = rights.queries.contains(&index).then_some("Query");
            query.into_iter().chain(rights.scans.contains(&index).then_some("Scan"))
        };
        let gets = if rights.gets { ["GetItem", "BatchGetItem"].as_slice() } else { &[] };
        let of_table: Vec<&str> = gets.iter().copied().chain(reads(None)).collect();
        self.add(&format!("ReadItems{name}"), &of_table, &table.name);
        for (position, index) in table.indexes.iter().enumerate() {
            let of_index: Vec<&str> = reads(Some(position)).collect();
            self.add(
                &format!("ReadIndex{name}{}", capitalised(&index.name)),
                &of_index,
                &format!("{}/index/{}", table.name, index.name),
            );
        }
        let writes = [
            (rights.puts, "PutItem"),
            (rights.updates, "UpdateItem"),
            (rights.deletes, "DeleteItem"),
            (rights.checks, "ConditionCheckItem"),
            (rights.batches, "BatchWriteItem"),
        ];
        let writes: Vec<&str> = writes.iter().filter(|(is_made, _)| *is_made).map(|(_, action)| *action).collect();
        self.add(&format!("WriteItems{name}"), &writes, &table.name);
        if rights.follows {
            // The name of a stream is the time at which it began.
            let actions = ["DescribeStream", "GetShardIterator", "GetRecords"];
            self.add(&format!("FollowChanges{name}"), &actions, &format!("{}/stream/*", table.name));
        }
    }

    /// Adds a statement, unless it has no actions. An id that is taken gets a number.
    fn add(&mut self, id: &str, actions: &[&str], resource: &str) {
        if actions.is_empty() {
            return;
        }
        let numbered = (2_u32..).map(|number| format!("{id}{number}"));
        let Some(id) = std::iter::once(id.to_owned()).chain(numbered).find(|id| !self.taken.contains(id)) else {
            return;
        };
        self.taken.insert(id.clone());
        let ArnPlace { partition, region, account } = self.place;
        let actions: Vec<String> = actions.iter().map(|action| format!("dynamodb:{action}")).collect();
        let resource = format!("arn:{partition}:dynamodb:{region}:{account}:table/{resource}");
        self.all.push(json!({ "Sid": id, "Effect": "Allow", "Action": actions, "Resource": resource }));
    }
}
