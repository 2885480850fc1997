//! A name in, the files of a project that works as it is out: the project's own schema, and the examples.

use crate::cli::goldens::bundle::Bundle;
use crate::infer::questions::{AnswerChoice, Question};
use anyhow::{Result, anyhow, ensure};

/// A project to begin with.
#[derive(Debug, Clone, Copy)]
pub struct ProjectTemplate {
    /// What it is called.
    pub name: &'static str,
    /// What it shows.
    pub shows: &'static str,
    /// Its folder in the repository; empty for the root.
    folder: &'static str,
}

/// All templates, the simplest first.
pub const TEMPLATES: [ProjectTemplate; 6] = [
    ProjectTemplate {
        name: "pantry",
        shows: "users, groups, containers and foods, tags and posts in three tables",
        folder: "",
    },
    ProjectTemplate {
        name: "members",
        shows: "groups with members and posts, and rules that say who may do what",
        folder: "examples/members",
    },
    ProjectTemplate {
        name: "tenants",
        shows: "companies that share one table: the company is a claim of the caller",
        folder: "examples/tenants",
    },
    ProjectTemplate {
        name: "cycles",
        shows: "items that are released in weeks, to everybody or from a user's first week on",
        folder: "examples/cycle-items",
    },
    ProjectTemplate {
        name: "patterns",
        shows: "advanced patterns: shards, sparse indexes, versions, inverted indexes",
        folder: "examples/patterns",
    },
    ProjectTemplate {
        name: "electrodb",
        shows: "employees, tasks and offices in a table that ElectroDB writes",
        folder: "examples/human-resources",
    },
];

impl ProjectTemplate {
    /// That of a name.
    pub fn named(name: &str) -> Result<Self> {
        let found = TEMPLATES.into_iter().find(|template| template.name == name);
        found.ok_or_else(|| anyhow!("there is no template {name:?}; there are\n{}", list()))
    }

    /// Its files: the path of each in a project, and its text.
    pub fn files(&self) -> Result<Vec<(String, String)>> {
        let bundle = Bundle::embedded()?;
        let in_folder =
            |name: &str| if self.folder.is_empty() { name.to_owned() } else { format!("{}/{name}", self.folder) };
        let schema = in_folder("schema.graphql");
        let mut files: Vec<(String, String)> =
            bundle.text(&schema).map(|text| ("schema.graphql".to_owned(), text.to_owned())).into_iter().collect();
        ensure!(!files.is_empty(), "the bundle has no {schema}");
        for part in ["samples", "operations"] {
            let folder = in_folder(part);
            let own = |path: &str| format!("{part}{}", path.strip_prefix(&folder).unwrap_or_default());
            files.extend(bundle.below(&folder, "").map(|(path, text)| (own(path), text.to_owned())));
        }
        Ok(files)
    }
}

/// The templates, a line each.
pub fn list() -> String {
    TEMPLATES.iter().map(|template| format!("  {:10}{}\n", template.name, template.shows)).collect()
}

/// Which template to begin with.
pub fn question() -> Question {
    let choices = TEMPLATES.iter().map(|template| AnswerChoice::new(template.name, template.shows)).collect();
    Question { id: "template".to_owned(), text: "Which template do you begin with?".to_owned(), items: 0, choices }
}
