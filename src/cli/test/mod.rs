//! `keyfold test`: operations with what they must lead to in, what differs out.
//!
//! `ground` is the schema with its samples in memory, on which all cases run, and `verdict` what a case shows.

mod case_files;
mod ground;
mod verdict;

use super::goldens::case;
use super::items::samples::Samples;
use super::output::{self, counted};
use super::schema_file::{self, SchemaChoice};
use crate::serve::settings::time_of_at_most;
use anyhow::{Context, Result, anyhow};
use case_files::{case_files, golden_of, operation_of};
use clap::Args;
use ground::CaseGround;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use verdict::{CaseVerdict, Tally};

/// The longest time that a case may be given.
const LONGEST: Duration = Duration::from_secs(600);

/// Run operations on the samples and compare plan, calls and response with those in their files; exit code 1 if
/// something differs
///
/// A file *.golden holds an operation under a line `==== operation`, and may have its caller, headers and variables
/// under lines of these names. An operation may also be a file *.graphql beside it. --bless writes the sections with
/// what comes of it, and the files that are missing.
#[derive(Debug, Args)]
pub struct Test {
    /// The folder with the files, or one of them
    cases: PathBuf,

    #[command(flatten)]
    choice: SchemaChoice,

    /// Directory of the sample items [default: samples, if it exists]
    #[arg(long, value_name = "DIR")]
    sample: Option<PathBuf>,

    /// Write what comes of each operation into its file
    #[arg(long)]
    bless: bool,

    /// How long each operation may take
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = limit)]
    case_timeout: Duration,
}

fn limit(text: &str) -> Result<Duration, String> {
    time_of_at_most(LONGEST, "ten minutes", text)
}

impl Test {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let began = Instant::now();
        let model = schema_file::load(&self.choice.schema)?.model;
        let files = case_files(&self.cases, &model.api)?;
        let ground = CaseGround::fill(model, &self.choice.schema, &Samples::new(self.sample.as_deref())).await?;
        let mut tally = Tally::default();
        for file in &files {
            let verdict = match self.judge(&ground, file).await {
                Ok(verdict) => verdict,
                Err(error) => CaseVerdict::Broken(format!("{error:#}")),
            };
            if let Some(said) = verdict.said(&file.display().to_string()) {
                output::print(&said)?;
            }
            tally.count(&verdict);
        }
        let seconds = began.elapsed().as_secs_f64();
        output::print(&format!("{}, {}; {seconds:.1} s\n", counted(files.len() as u64, "case"), tally.in_words()))?;
        Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// Runs the case of a file, and compares what comes of it with the file, or writes it.
    async fn judge(&self, ground: &CaseGround, file: &Path) -> Result<CaseVerdict> {
        let golden = golden_of(file)?;
        let operation = operation_of(&golden, file, &self.choice.schema)?;
        let request = case::request(&golden, &operation, &ground.callers)?;
        let outcome = ground.run(&request, self.case_timeout).await?;
        let mut names = ground.names(&case::written(&golden, &operation));
        let is = outcome.written_into(&golden, &mut names).map_err(|mistake| anyhow!(mistake))?;
        if is == golden {
            return Ok(CaseVerdict::Same);
        }
        if self.bless {
            fs::write(file, is.to_text()).with_context(|| format!("cannot write {}", file.display()))?;
            return Ok(CaseVerdict::Blessed);
        }
        Ok(CaseVerdict::difference(&golden, &is))
    }
}
