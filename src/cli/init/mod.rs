//! `keyfold init`: what a person has in; a project that serves it, with a schema, samples and operations, out.

mod ask;
mod live;
mod project;
mod sample_items;
mod template;

use super::items::coverage::Coverage;
use super::items::scan::ScanPace;
use super::output::{self, counted};
use super::schema_file;
use super::store_choice::Remote;
use crate::infer::infer;
use crate::infer::material::{Gathered, Material};
use crate::infer::questions::{Answers, Question};
use crate::infer::write::repair::{WrittenSchema, written};
use crate::schema::model::Model;
use crate::sources::read;
use anyhow::{Result, bail, ensure};
use clap::Args;
use project::Project;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use template::ProjectTemplate;

/// Write a schema and a project for a table that exists
///
/// Each source is a file or a directory: items (a DynamoDB export, the output of `aws dynamodb scan`, JSON or CSV), a
/// model of NoSQL Workbench or of AWS's MCP server, a CreateTable request, a template of CloudFormation, or Terraform.
/// The format is recognised. Name several to put them together, such as a template and items. The schema passes
/// `keyfold check`; each guess in it is a comment. At a terminal, up to five questions follow; answers.toml has all of
/// them, and --answers takes them from it. Without a source, --template begins with a project that works.
#[derive(Debug, Args)]
pub struct Init {
    /// Files and directories to read; - is standard input
    sources: Vec<PathBuf>,

    /// Read a table that exists instead, or as well
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    #[command(flatten)]
    remote: Remote,

    /// The most items of each table to look at
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    sample: usize,

    /// Read capacity units a second to take of a table
    #[arg(long, value_name = "N", default_value_t = 50)]
    units: u32,

    /// Directory of the project, created if it is missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// Begin with a project that works instead, by its name
    #[arg(long, value_name = "NAME", conflicts_with_all = ["sources", "table", "answers"])]
    template: Option<String>,

    /// Take the answers in this file, and ask nothing
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,

    /// Ask nothing, and take each guess
    #[arg(long)]
    yes: bool,

    /// Write no sample items
    #[arg(long)]
    no_samples: bool,

    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        if self.sources.is_empty() && self.table.is_none() {
            let template = self.chosen_template()?;
            Project::check(&self.dir, self.force)?;
            project::write_template(&self.dir, template, !self.no_samples)?;
            output::print(&next(&self.dir))?;
            return Ok(ExitCode::SUCCESS);
        }
        ensure!(self.sample > 0 && self.units > 0, "--sample and --units are at least 1");
        Project::check(&self.dir, self.force)?;
        let mut answers = self.answers.as_deref().map(ask::read).transpose()?.unwrap_or_default();
        let material = self.material().await?;
        let (mut written, mut questions) = schema_for(&material, &answers)?;
        if let Some(path) = &self.answers {
            for id in ask::check(&answers, &questions, path)? {
                eprintln!("warning: {}: {id:?} is no question on these items", path.display());
            }
        }
        let mut model = model_of(&written)?;
        output::print(&coverage(&material, &model))?;
        if self.asks() && self.asked(&mut answers, &questions)? {
            (written, questions) = schema_for(&material, &answers)?;
            model = model_of(&written)?;
            for id in ask::check(&answers, &questions, Path::new(ask::FILE))? {
                eprintln!("warning: the answers before leave no question {id:?}");
            }
        }
        let answers = ask::text(&questions, &answers);
        let project = Project { directory: &self.dir, material: &material, written: &written, model: &model, answers };
        project.write(!self.no_samples)?;
        self.report(&material, &written, &questions)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The template that is named, or that a person chooses.
    fn chosen_template(&self) -> Result<ProjectTemplate> {
        let chosen = match &self.template {
            Some(name) => Some(name.clone()),
            None if self.asks() => {
                ask::ask(&template::question(), (1, 1), &mut std::io::stdin().lock())?.map(str::to_owned)
            }
            None => None,
        };
        match chosen {
            Some(name) => ProjectTemplate::named(&name),
            None => bail!(
                "name what you have: `keyfold init FILE…` with items, a model or a template, or \
                 `keyfold init --table NAME`\n  such as the output of `aws dynamodb scan --table-name NAME > items.json`\n\
                 or begin with a project that works: `keyfold init --template NAME`\n{}",
                template::list().trim_end()
            ),
        }
    }

    /// Whether there is a person to ask.
    fn asks(&self) -> bool {
        let is_read = self.sources.iter().any(|source| source == Path::new("-"));
        !self.yes
            && self.answers.is_none()
            && !is_read
            && std::io::stdin().is_terminal()
            && std::io::stderr().is_terminal()
    }

    /// Asks a person. Whether there is an answer that is no guess.
    fn asked(&self, answers: &mut Answers, questions: &[Question]) -> Result<bool> {
        let asked = questions.len().min(ask::MOST_ASKED);
        let mut differs = false;
        for (position, question) in questions.iter().take(asked).enumerate() {
            let Some(word) = ask::ask(question, (position + 1, asked), &mut std::io::stdin().lock())? else { break };
            differs |= word != answers.word(question);
            answers.insert(&question.id, word);
        }
        Ok(differs)
    }

    /// What the sources and the table have.
    async fn material(&self) -> Result<Material> {
        let mut gathered = Gathered::new(self.sample);
        let summaries = read::read(&self.sources, &mut gathered)?;
        for summary in summaries {
            eprintln!("Read {}: {}, {}", summary.name, summary.format, counted(summary.items, "item"));
        }
        if let Some(table) = &self.table {
            let pace = ScanPace { most: self.sample, units: self.units };
            live::read(table, &self.remote, pace, &mut gathered).await?;
        }
        let material = gathered.material();
        ensure!(!material.tables.is_empty(), "there is no table, and no item that would show one");
        Ok(material)
    }

    /// Prints the parts that are left out, where the open questions are, and the next command.
    fn report(&self, material: &Material, written: &WrittenSchema, questions: &[Question]) -> Result<()> {
        let mut text = String::new();
        if !written.left_out.is_empty() {
            text.push_str("\nLeft out:\n");
            written.left_out.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
        }
        material.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
        if self.answers.is_none() && !self.asks() {
            let file = self.dir.join(ask::FILE);
            let (open, file) = (counted(questions.len() as u64, "question"), file.display());
            text.push_str(&format!(
                "note: the items leave {open} open: change the answers in {file}, and run it again with --answers \
                 {file} --force\n"
            ));
        }
        text.push_str(&next(&self.dir));
        output::print(&text)
    }
}

/// The schema that serves a material, and what its items leave open.
fn schema_for(material: &Material, answers: &Answers) -> Result<(WrittenSchema, Vec<Question>)> {
    let mut draft = infer(material, answers);
    if draft.types.is_empty() {
        bail!(
            "there are no items and no types to write a schema for: add some items, such as the output of \
             `aws dynamodb scan`"
        );
    }
    let mut questions = std::mem::take(&mut draft.questions);
    let written = written(draft);
    // What is left out asks nothing.
    let is_there = |question: &Question| {
        let (types, objects) = (&written.draft.types, &written.draft.objects);
        let mut names = types.iter().map(|ty| &ty.name).chain(objects.iter().map(|object| &object.name));
        !question.id.contains('.') || names.any(|name| question.is_about(name))
    };
    questions.retain(is_there);
    ensure!(!written.draft.types.is_empty(), "no schema serves what was read:\n  {}", written.left_out.join("\n  "));
    Ok((written, questions))
}

/// What a schema says that was made here, which passes every check.
fn model_of(written: &WrittenSchema) -> Result<Model> {
    match schema_file::parse(Path::new("schema.graphql"), &written.text) {
        Ok((model, _)) => Ok(model),
        Err(mistakes) => bail!("the schema that was made has mistakes\n\n{}", mistakes.render(false).trim_end()),
    }
}

/// The coverage of each table.
fn coverage(material: &Material, model: &Model) -> String {
    let mut text = String::new();
    for of in &material.tables {
        let Some(table) = model.tables.iter().find(|table| table.name == of.table.name) else { continue };
        let mut coverage = Coverage::new(model, table);
        of.items.iter().for_each(|item| _ = coverage.see(item));
        text.push_str(&coverage.text());
    }
    text
}

/// The next command.
fn next(directory: &Path) -> String {
    let change = if directory == Path::new(".") { String::new() } else { format!("cd {} && ", directory.display()) };
    format!("\nNext: {change}keyfold dev\n")
}
