//! The bundle in; the systems whose goldens it has, with their models, items and cases, out. Must not know where they
//! run.

use crate::cli::goldens::bundle::Bundle;
use crate::cli::goldens::case;
use crate::cli::goldens::golden_file::{GoldenFile, Section};
use crate::cli::goldens::made::GeneratedNames;
use crate::cli::items::callers::{self, SampleCaller};
use crate::cli::service_answers::WrittenServices;
use crate::execute::request::Request;
use crate::execute::service::call::ServiceConnector;
use crate::schema;
use crate::schema::model::Model;
use crate::table::bulk::export_lines::parse_line;
use crate::table::data::attribute::Item;
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The paths of a system's schema and of the folder of its items. Pantry, favorites and posts are the project's own,
/// others are its examples.
pub fn places(system: &str) -> (String, String) {
    let example = match system {
        "pantry" | "favorites" | "posts" => return ("schema.graphql".to_owned(), "samples".to_owned()),
        "cycles" => "cycle-items",
        "audiobooks" => "audiobook-sync",
        "patterns" | "tenants" | "members" | "bank" | "order-entry" | "tournaments" | "shop" => system,
        "company" => "human-resources",
        other => return (format!("tests/systems/{other}/schema.graphql"), format!("tests/systems/{other}")),
    };
    (format!("examples/{example}/schema.graphql"), format!("examples/{example}/samples"))
}

/// A schema with its items, on which the cases of one system or of several run.
#[derive(Debug)]
pub struct Ground {
    /// The name of the first of the systems.
    pub name: String,
    /// The tables, with the names that the goldens have, and the types.
    pub model: Model,
    /// The items of each table.
    pub items: Vec<Vec<Item>>,
    /// What its services answer.
    pub services: Arc<dyn ServiceConnector>,
    /// The cases of its systems.
    pub cases: Vec<Case>,
    /// The text of all items, whose values are not generated.
    pub known: String,
}

/// An operation with what it must lead to.
#[derive(Debug)]
pub struct Case {
    /// The system.
    pub system: String,
    /// Its name within the system.
    pub name: String,
    /// What it must lead to.
    pub golden: GoldenFile,
    /// The operation with its variables and its caller.
    pub request: Request,
}

/// The systems of a bundle, by name.
pub fn names(bundle: &Bundle) -> Vec<&str> {
    let folders = bundle.below(GOLDENS, ".golden").filter_map(|(path, _)| system_of(path));
    let mut names: Vec<&str> = folders.collect();
    names.dedup();
    names
}

/// The grounds of these systems; of no system, those of all.
pub fn grounds(bundle: &Bundle, only: &[String]) -> Result<Vec<Ground>> {
    let known = names(bundle);
    for name in only {
        ensure!(known.contains(&name.as_str()), "there is no system \"{name}\"; there are: {}", known.join(", "));
    }
    let chosen = known.into_iter().filter(|name| only.is_empty() || only.iter().any(|one| one == name));
    let mut by_place: BTreeMap<(String, String), Vec<&str>> = BTreeMap::new();
    for name in chosen {
        by_place.entry(places(name)).or_default().push(name);
    }
    by_place.into_iter().map(|(place, systems)| Ground::new(bundle, &place, &systems)).collect()
}

const GOLDENS: &str = "tests/golden";

fn system_of(path: &str) -> Option<&str> {
    path.strip_prefix(GOLDENS)?.split('/').nth(1)
}

/// The model of a schema of the bundle.
pub fn model(bundle: &Bundle, path: &str) -> Result<Model> {
    let text = bundle.text(path).with_context(|| format!("the bundle has no {path}"))?;
    let loaded = schema::load(path, text, &|_| None);
    loaded.map(|(model, _)| model).map_err(|mistakes| anyhow!("{}", mistakes.render(false)))
}

impl Ground {
    fn new(bundle: &Bundle, (schema, folder): &(String, String), systems: &[&str]) -> Result<Self> {
        let model = model(bundle, schema)?;
        let known = bundle.below(folder, ".jsonl").map(|(_, text)| text).collect();
        let lines = |table: &str| bundle.text(&format!("{folder}/{table}.jsonl")).unwrap_or_default().lines();
        let read = |table: &str| lines(table).filter_map(|line| parse_line(line).transpose()).collect();
        let items: Result<_, _> = model.tables.iter().map(|table| read(&table.name)).collect();
        let callers = callers(bundle, folder)?;
        let mut cases = Vec::new();
        for system in systems {
            cases.extend(cases_of_system(bundle, system, schema, &callers)?);
        }
        let mut services = WrittenServices::default();
        let beside = schema.trim_end_matches("schema.graphql");
        for (path, text) in bundle.below(&format!("{beside}services"), ".json") {
            let name = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".json");
            services.add(name, text).with_context(|| format!("{path} is not JSON of answers"))?;
        }
        let name = systems.first().copied().unwrap_or_default().to_owned();
        Ok(Self { name, model, items: items?, services: Arc::new(services), cases, known })
    }

    /// The number of items of all tables.
    pub fn items_in_all(&self) -> usize {
        self.items.iter().map(Vec::len).sum()
    }
}

impl Case {
    /// GeneratedNames for the values that it generates: those that neither it nor the text of the items has.
    pub fn names(&self, items: &str) -> GeneratedNames {
        GeneratedNames::besides(case::written(&self.golden, &self.request.query) + items)
    }

    /// Its name with its system's.
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.system, self.name)
    }
}

fn cases_of_system(bundle: &Bundle, system: &str, schema: &str, callers: &[SampleCaller]) -> Result<Vec<Case>> {
    let operations = schema.strip_suffix("schema.graphql").unwrap_or_default();
    let read = |(path, text): (&str, &str)| {
        let golden = GoldenFile::parse(text).map_err(|mistake| anyhow!("{path}:{mistake}"))?;
        let name = path.rsplit('/').next().and_then(|file| file.strip_suffix(".golden")).unwrap_or_default().to_owned();
        let in_example = || bundle.text(&format!("{operations}operations/{name}.graphql"));
        let operation = golden.get(Section::Operation).or_else(in_example);
        let operation = operation.with_context(|| format!("{path} has no operation"))?;
        let request = case::request(&golden, operation, callers).with_context(|| path.to_owned())?;
        Ok(Case { system: system.to_owned(), name, golden, request })
    };
    bundle.below(&format!("{GOLDENS}/{system}"), ".golden").map(read).collect()
}

/// The callers of the samples in a folder.
fn callers(bundle: &Bundle, folder: &str) -> Result<Vec<SampleCaller>> {
    let path = format!("{folder}/callers.json");
    bundle.text(&path).map_or_else(|| Ok(Vec::new()), |text| callers::parse(text.as_bytes(), &path))
}
