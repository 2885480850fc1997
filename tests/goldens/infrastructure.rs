//! What `keyfold tables` prints: every schema of the project in every format, compared with its snapshot.
//! `UPDATE_EXPECT=1` refreshes it.
//!
//! `tests/infrastructure/<schema>.<format>.…` is the standard output; lines of standard error follow the JSON of the
//! AWS CLI behind `#`. A snapshot whose schema is gone fails.
//!
//! The policy of a schema allows every call that its goldens record. Of the project's own schema, it allows nothing
//! that no golden calls, besides what `BESIDES_GOLDENS` lists.

use crate::policy;
use crate::process::{repository, run};
use crate::support::golden_file::{self, Section};
use libtest_mimic::{Failed, Trial};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each format with the suffix of its snapshots.
const FORMATS: [(&str, &str); 4] =
    [("cli", "cli.txt"), ("cloudformation", "cloudformation.json"), ("terraform", "terraform.tf"), ("iam", "iam.json")];

/// The actions that the policy of the project's own schema allows although no golden records them, and why.
const BESIDES_GOLDENS: [(&str, &str); 6] = [
    ("DescribeTable", "the comparison of the tables at the start, and where a stream is"),
    ("DescribeTimeToLive", "the comparison of the tables at the start"),
    ("DescribeStream", "subscriptions; tests/callers/subscriptions runs them"),
    ("GetShardIterator", "subscriptions"),
    ("GetRecords", "subscriptions"),
    ("BatchWriteItem", "deletes of more items than the 100 of a transaction; tests/writes/faults runs them"),
];

/// A test a snapshot, one a policy, and those that hold schemas and snapshots together.
pub fn trials() -> Vec<Trial> {
    let schemas = schemas();
    let expected: BTreeSet<PathBuf> =
        schemas.iter().flat_map(|(name, _)| FORMATS.map(|(_, ending)| snapshot(name, ending))).collect();
    let mut trials = vec![
        Trial::test("infrastructure::every_snapshot_has_a_schema", move || every_snapshot_has_a_schema(&expected)),
        Trial::test("infrastructure::a_policy_names_what_it_is_given", a_policy_names_what_it_is_given),
        Trial::test(
            "infrastructure::a_schema_that_only_reads_has_a_policy_of_reads",
            a_schema_that_only_reads_has_a_policy_of_reads,
        ),
    ];
    for (name, schema) in schemas.clone() {
        let systems = systems_of(&name);
        if !systems.is_empty() {
            let systems: Vec<String> = systems.into_iter().map(str::to_owned).collect();
            trials.push(Trial::test(format!("infrastructure::{name}::policy"), move || {
                allows_the_goldens(&schema, &systems)
            }));
        }
    }
    for (name, schema) in schemas {
        for (format, ending) in FORMATS {
            let (name, schema) = (name.clone(), schema.clone());
            trials.push(Trial::test(format!("infrastructure::{name}::{format}"), move || {
                check(&schema, format, &snapshot(&name, ending))
            }));
        }
    }
    trials
}

/// Every schema of the project with a unique name.
fn schemas() -> Vec<(String, PathBuf)> {
    let mut schemas = vec![
        ("default".to_owned(), repository("schema.graphql")),
        ("everything".to_owned(), repository("tests/schemas/everything.graphql")),
    ];
    for folder in ["tests/systems", "examples"] {
        for directory in std::fs::read_dir(repository(folder)).into_iter().flatten().map(|entry| entry.unwrap().path())
        {
            let schema = directory.join("schema.graphql");
            if schema.is_file() {
                schemas.push((directory.file_name().unwrap().to_string_lossy().into_owned(), schema));
            }
        }
    }
    schemas.sort();
    schemas
}

fn snapshot(name: &str, ending: &str) -> PathBuf {
    repository("tests/infrastructure").join(format!("{name}.{ending}"))
}

fn check(schema: &Path, format: &str, snapshot: &Path) -> Result<(), Failed> {
    let ended = run(Path::new("/"), &["tables", "--schema", schema.to_str().unwrap(), "--format", format]);
    if ended.code != Some(0) {
        return Err(ended.err.into());
    }
    let mut is = ended.out;
    if format == "cli" {
        // Skip warnings about the schema: they are not about the tables.
        is.extend(ended.err.lines().filter(|line| line.starts_with("Then, ")).map(|line| format!("# {line}\n")));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return Ok(std::fs::write(snapshot, is)?);
    }
    let was = std::fs::read_to_string(snapshot).unwrap_or_default();
    if was == is {
        return Ok(());
    }
    let difference = similar::TextDiff::from_lines(was.as_str(), &is).unified_diff().to_string();
    Err(format!("{} differs (UPDATE_EXPECT=1 takes the new form):\n{difference}", snapshot.display()).into())
}

fn every_snapshot_has_a_schema(expected: &BTreeSet<PathBuf>) -> Result<(), Failed> {
    let there = std::fs::read_dir(repository("tests/infrastructure"))?.map(|entry| entry.unwrap().path());
    let lost: Vec<PathBuf> = there.filter(|path| !expected.contains(path)).collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("no schema gives {lost:?}").into()) }
}

/// The folders of `tests/golden/` whose operations run on a schema.
fn systems_of(schema: &str) -> Vec<&str> {
    match schema {
        "default" => vec!["pantry", "favorites", "posts"],
        "cycle-items" => vec!["cycles"],
        "human-resources" => vec!["company"],
        "audiobook-sync" => vec!["audiobooks"],
        // It has no operations.
        "everything" => Vec::new(),
        other => vec![other],
    }
}

/// The policy for a schema, by these options.
fn policy_of(schema: &Path, options: &[&str]) -> serde_json::Value {
    let out =
        run(Path::new("/"), &[&["tables", "--format", "iam", "--schema", schema.to_str().unwrap()], options].concat())
            .well();
    serde_json::from_str(&out).unwrap()
}

fn allows_the_goldens(schema: &Path, systems: &[String]) -> Result<(), Failed> {
    let allowed = policy::allowed(&policy_of(schema, &[]));
    let (mut used, mut goldens) = (BTreeSet::new(), 0);
    for system in systems {
        for file in golden_file::files(system)? {
            goldens += 1;
            let calls: Vec<serde_json::Value> =
                serde_json::from_str(golden_file::read(&file)?.get(Section::Calls).ok_or("no calls")?)?;
            for call in calls {
                let needed = policy::needed(call["operation"].as_str().unwrap(), &call["body"]);
                if let Some(right) = needed.iter().find(|right| !allowed.contains(right)) {
                    return Err(format!("the policy does not allow {right:?}, which {} calls", file.display()).into());
                }
                used.extend(needed);
            }
        }
    }
    assert!(goldens > 0, "{systems:?} have no goldens");
    if systems.iter().any(|system| system == "pantry") {
        let unused: BTreeSet<&str> = allowed.difference(&used).map(|(action, _)| action.as_str()).collect();
        let listed: BTreeSet<&str> = BESIDES_GOLDENS.iter().map(|(action, _)| *action).collect();
        if unused != listed {
            return Err(format!("the policy allows {unused:?}, which no golden calls; listed are {listed:?}").into());
        }
    }
    Ok(())
}

fn a_policy_names_what_it_is_given() -> Result<(), Failed> {
    let schema = repository("schema.graphql");
    let resources = |options: &[&str]| -> Vec<String> {
        let policy = policy_of(&schema, options);
        policy["Statement"]
            .as_array()
            .unwrap()
            .iter()
            .map(|statement| statement["Resource"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(resources(&[]).iter().all(|resource| resource.starts_with("arn:aws:dynamodb:*:*:table/")));
    let named =
        resources(&["--region", "cn-north-1", "--account", "123456789012", "--partition", "aws-cn", "--table", "data"]);
    assert!(
        !named.is_empty()
            && named
                .iter()
                .all(|resource| resource.starts_with("arn:aws-cn:dynamodb:cn-north-1:123456789012:table/data"))
    );
    let leases = policy::allowed(&policy_of(&schema, &["--lease-table", "--table", "keyfold-leases"]));
    let actions: BTreeSet<&str> = leases.iter().map(|(action, _)| action.as_str()).collect();
    // tests/copies runs the calls of leases; docs/operations.md lists them.
    assert_eq!(actions, BTreeSet::from(["DescribeTable", "DescribeTimeToLive", "GetItem", "BatchGetItem", "PutItem"]));
    for (options, says) in [
        (&["--account", "12"][..], "12 digits"),
        (&["--region", "Europe"], "lower-case letters"),
        (&["--account", "123456789012", "--format", "cli"], "--format iam"),
        (&["--region", "eu-west-1"], "--create and for --format iam"),
    ] {
        let ended = run(Path::new("/"), &[&["tables", "--schema", schema.to_str().unwrap()], options].concat());
        assert!(ended.code != Some(0) && ended.err.contains(says), "{options:?}: {ended:?}");
    }
    Ok(())
}

fn a_schema_that_only_reads_has_a_policy_of_reads() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let path = directory.path().join("schema.graphql");
    let head = "extend schema @table(name: \"notes\", partitionKey: \"PK\", sortKey: \"SK\", \
         indexes: [{ name: \"By-title\", partitionKey: \"title\", projection: KEYS_ONLY }, { name: \"unread\", partitionKey: \"text\" }])\n\
         type Note @item(keys: { PK: \"ROOM#{room}\", SK: \"Note#{id}\", title: \"{title}\", text: \"{text}\" }) { room: ID! id: ID! title: String! text: String! }\n";
    let rights = |query: &str| -> BTreeSet<policy::Right> {
        std::fs::write(&path, format!("{head}type Query {{ {query} }}\n")).unwrap();
        policy::allowed(&policy_of(&path, &[]))
    };
    let expected = |actions: &[(&str, &str)]| -> BTreeSet<policy::Right> {
        let all = actions.iter().chain(&[("DescribeTable", "notes")]);
        all.map(|(action, resource)| ((*action).to_owned(), (*resource).to_owned())).collect()
    };
    let gets = [("GetItem", "notes"), ("BatchGetItem", "notes")];
    assert_eq!(rights("note(room: ID!, id: ID!): Note @find"), expected(&gets));
    assert_eq!(rights("notes(room: ID!): [Note!]! @find(max: 10)"), expected(&[("Query", "notes")]));
    // The index has no texts, so they are read from the table.
    let by_index = [&gets[..], &[("Query", "notes/index/By-title")]].concat();
    assert_eq!(rights("titled(title: String!): [Note!]! @find(max: 10)"), expected(&by_index));
    assert_eq!(rights("all: [Note!]! @find(scan: true, max: 10)"), expected(&[("Scan", "notes")]));
    Ok(())
}
