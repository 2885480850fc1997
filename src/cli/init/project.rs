//! A schema with its material in, the files of a project out.

use super::ask;
use super::sample_items::sample;
use super::template::ProjectTemplate;
use crate::infer::draft::names::capitalised;
use crate::infer::draft::{ApiDraft, FieldDraft, FindDraft, MutationDraft};
use crate::infer::material::Material;
use crate::infer::write::document::one_line;
use crate::infer::write::repair::WrittenSchema;
use crate::schema::model::Model;
use anyhow::{Context, Result, ensure};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The files and directories of a project.
const SCHEMA: &str = "schema.graphql";
const CONFIG: &str = "keyfold.toml";
const README: &str = "README.md";
const SAMPLE_DIRECTORY: &str = "samples";
const OPERATIONS: &str = "operations";

/// A project before it is written.
pub struct Project<'p> {
    /// Its directory.
    pub directory: &'p Path,
    /// What was read.
    pub material: &'p Material,
    /// The schema.
    pub written: &'p WrittenSchema,
    /// What the schema says.
    pub model: &'p Model,
    /// The file of answers.
    pub answers: String,
}

impl Project<'_> {
    /// Fails if a file of the project exists, unless it may be replaced.
    pub fn check(directory: &Path, force: bool) -> Result<()> {
        for name in [SCHEMA, CONFIG, README, ask::FILE, SAMPLE_DIRECTORY, OPERATIONS] {
            let path = directory.join(name);
            ensure!(
                force || !path.exists(),
                "{} exists: choose another directory with --dir, or replace it with --force",
                path.display()
            );
        }
        Ok(())
    }

    /// Writes all files.
    pub fn write(&self, samples: bool) -> Result<()> {
        self.file(SCHEMA, &self.schema())?;
        self.file(ask::FILE, &self.answers)?;
        remove_made(&self.directory.join(OPERATIONS))?;
        for (name, text) in operations(&self.written.draft) {
            self.file(&format!("{OPERATIONS}/{name}.graphql"), &text)?;
        }
        if samples {
            for table in self.material.tables.iter().filter(|table| !table.items.is_empty()) {
                let text = sample(self.model, &table.table, &table.items);
                self.file(&format!("{SAMPLE_DIRECTORY}/{}.jsonl", table.table.name), &text)?;
            }
        }
        write_settings(self.directory, &self.readme())
    }

    fn file(&self, name: &str, text: &str) -> Result<()> {
        write_file(self.directory, name, text)
    }

    fn schema(&self) -> String {
        let seen: u64 = self.material.tables.iter().map(|table| table.seen).sum();
        let mut text =
            format!("# Made by `keyfold init` from {seen} items. A guess is a comment; check it, then delete it.\n\n");
        text.push_str(&self.written.text);
        for line in &self.written.left_out {
            let _ = writeln!(text, "# left out: {}", one_line(line));
        }
        text
    }

    fn readme(&self) -> String {
        let tables: Vec<&str> = self.material.tables.iter().map(|table| table.table.name.as_str()).collect();
        let more = "`answers.toml` has what the items leave open, and what was taken for granted.\n";
        format!("{}{more}", readme(self.directory, &tables.join(", "), "A GraphQL API of Keyfold."))
    }
}

/// Writes the files of a template.
pub fn write_template(directory: &Path, template: ProjectTemplate, samples: bool) -> Result<()> {
    for (name, text) in template.files()? {
        if samples || !name.starts_with(SAMPLE_DIRECTORY) {
            write_file(directory, &name, &text)?;
        }
    }
    let sentence = format!("A GraphQL API of Keyfold: {}.", template.shows);
    write_settings(directory, &readme(directory, template.name, &sentence))
}

/// Writes the settings and the README. A person changes them, so they are never replaced.
fn write_settings(directory: &Path, readme: &str) -> Result<()> {
    for (name, text) in [(CONFIG, CONFIG_TEXT), (README, readme)] {
        if !directory.join(name).exists() {
            write_file(directory, name, text)?;
        }
    }
    Ok(())
}

/// Removes the operations that were made before, for fields that the schema may have no longer.
fn remove_made(operations: &Path) -> Result<()> {
    let Ok(files) = fs::read_dir(operations) else { return Ok(()) };
    for path in files.filter_map(|file| Some(file.ok()?.path())) {
        let is_made = fs::read_to_string(&path).is_ok_and(|text| text.starts_with(MADE));
        if is_made {
            fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

fn write_file(directory: &Path, name: &str, text: &str) -> Result<()> {
    let path = directory.join(name);
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
    }
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// The README of a project whose other files are there.
fn readme(directory: &Path, title: &str, sentence: &str) -> String {
    let has = |name: &str| directory.join(name).is_dir();
    let (samples, operations) = (has(SAMPLE_DIRECTORY), has(OPERATIONS));
    let mut text = format!("# {title}\n\n{sentence}\n\n");
    text.push_str(match samples {
        true => "- `keyfold dev` serves it with the items in `samples/` and opens GraphiQL\n",
        false => "- `keyfold dev` serves it and opens GraphiQL\n",
    });
    text.push_str("- `keyfold check` shows how each field is read\n");
    if samples {
        text.push_str("- `keyfold verify samples` says which items the schema covers\n");
    }
    if operations {
        text.push_str(
            "- `keyfold test operations --bless` writes down what each operation does, and then `keyfold test operations` \
             says what changes\n",
        );
    }
    text.push_str("- `keyfold serve` serves the table in DynamoDB\n\n");
    text.push_str("`schema.graphql` says what the API looks like.");
    text.push_str(if operations { " `operations/` has operations to try.\n" } else { "\n" });
    text
}

/// The first line of an operation that is made.
const MADE: &str = "# Made by `keyfold init`, which replaces it.\n";

const CONFIG_TEXT: &str = "# Settings of this project; `keyfold config` shows where each comes from.\n";

/// An operation for each field of `Query` and of `Mutation`.
fn operations(draft: &ApiDraft) -> Vec<(String, String)> {
    let find = |find: &FindDraft| {
        let FindDraft { name, description, arguments, target, .. } = find;
        (name.clone(), OperationField { kind: "query", name, description, arguments, target }.operation(draft))
    };
    let write = |write: &MutationDraft| {
        let MutationDraft { name, description, arguments, target, .. } = write;
        let is_taken = draft.finds.iter().any(|find| find.name == *name);
        let file = if is_taken { format!("{name}Mutation") } else { name.clone() };
        (file, OperationField { kind: "mutation", name, description, arguments, target }.operation(draft))
    };
    draft.finds.iter().map(find).chain(draft.writes.iter().map(write)).collect()
}

/// A field of `Query` or `Mutation`.
struct OperationField<'d> {
    kind: &'static str,
    name: &'d str,
    description: &'d Option<String>,
    arguments: &'d [(String, String)],
    target: &'d str,
}

impl OperationField<'_> {
    /// The operation that selects it.
    fn operation(&self, draft: &ApiDraft) -> String {
        let Self { kind, name, arguments, .. } = self;
        let variables: Vec<String> = arguments.iter().map(|(name, ty)| format!("${name}: {ty}")).collect();
        let given: Vec<String> = arguments.iter().map(|(name, _)| format!("{name}: ${name}")).collect();
        let wrapped =
            |list: Vec<String>| if list.is_empty() { String::new() } else { format!("({})", list.join(", ")) };
        let (variables, given, title) = (wrapped(variables), wrapped(given), capitalised(name));
        let mut text = MADE.to_owned();
        if let Some(description) = self.description {
            let _ = writeln!(text, "# {}", one_line(description));
        }
        let _ = writeln!(text, "{kind} {title}{variables} {{\n  {name}{given} {{");
        if let Some(ty) = draft.types.iter().find(|ty| ty.name == self.target) {
            selection(draft, &ty.fields, 4, &mut text);
        }
        text.push_str("  }\n}\n");
        text
    }
}

/// The selection of all fields. Objects do not hold each other in a circle.
fn selection(draft: &ApiDraft, fields: &[FieldDraft], indent: usize, text: &mut String) {
    let space = " ".repeat(indent);
    for field in fields {
        match draft.object_of(field) {
            Some(object) => {
                let _ = writeln!(text, "{space}{} {{", field.name);
                selection(draft, &object.fields, indent + 2, text);
                let _ = writeln!(text, "{space}}}");
            }
            None => {
                let _ = writeln!(text, "{space}{}", field.name);
            }
        }
    }
}
