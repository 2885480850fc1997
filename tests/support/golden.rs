//! A golden: schema and operation → plan → exact DynamoDB calls → response, each compared with its section of
//! `tests/golden/<system>/<case>.golden`. With `UPDATE_EXPECT=1` these sections are written. `golden_file` says what
//! the file looks like.

use super::golden_file::{GoldenFile, Section, files, folder, read};
use keyfold::cli::goldens::case;
use keyfold::cli::goldens::difference::differences;
use keyfold::cli::goldens::made::GeneratedNames;
use keyfold::cli::goldens::outcome::OperationOutcome;
use keyfold::cli::items::callers;
use keyfold::execute::request::Request;
use libtest_mimic::Failed;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

/// Several tests read the golden of one case at once: nobody reads a file that is being written.
static FILES: RwLock<()> = RwLock::new(());

/// A case: the system it runs on, its name, and the file of its operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub system: String,
    pub name: String,
    /// The golden itself, or a file of an example's `operations/`.
    pub operation: PathBuf,
}

/// Every case of every system, sorted.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for system in std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap()) {
        let system = system.file_name().to_string_lossy().into_owned();
        let operations = super::places(&system).0.with_file_name("operations");
        let of_example = std::fs::read_dir(operations).into_iter().flatten().map(|entry| entry.unwrap().path());
        let of_example: Vec<PathBuf> =
            of_example.filter(|file| file.extension().is_some_and(|ending| ending == "graphql")).collect();
        let names: Vec<_> = of_example.iter().map(|file| file.file_stem().unwrap().to_owned()).collect();
        let own = files(&system)
            .unwrap()
            .into_iter()
            .filter(|file| !names.iter().any(|name| Some(name.as_os_str()) == file.file_stem()));
        for operation in own.chain(of_example.iter().cloned()) {
            let name = operation.file_stem().unwrap().to_string_lossy().into_owned();
            cases.push(Case { system: system.clone(), name, operation });
        }
    }
    cases.sort();
    assert!(!cases.is_empty(), "there are no goldens");
    cases
}

impl Case {
    fn path(&self) -> PathBuf {
        folder(&self.system).join(format!("{}.golden", self.name))
    }

    /// The golden; an empty one if an example's operation has none yet.
    fn golden(&self) -> Result<GoldenFile, Failed> {
        let _reading = FILES.read().unwrap_or_else(PoisonError::into_inner);
        if self.operation != self.path() && !self.path().exists() {
            Ok(GoldenFile::default())
        } else {
            Ok(read(&self.path())?)
        }
    }

    /// A section of the golden.
    pub fn section(&self, section: Section) -> Result<String, Failed> {
        let golden = self.golden()?;
        let text =
            golden.get(section).ok_or_else(|| format!("{} has no `{}`", self.path().display(), section.name()))?;
        Ok(text.to_owned())
    }

    /// The operation with its variables and its caller.
    pub fn request(&self) -> Result<Request, Failed> {
        self.request_of(&self.golden()?)
    }

    fn request_of(&self, golden: &GoldenFile) -> Result<Request, Failed> {
        let operation = match golden.get(Section::Operation) {
            Some(_) if self.operation != self.path() => {
                return Err(format!("{self:?} is one case in two places").into());
            }
            Some(operation) => operation.to_owned(),
            None if self.operation != self.path() => std::fs::read_to_string(&self.operation)?,
            None => return Err(format!("{} has no operation", self.path().display()).into()),
        };
        let callers = callers::read(&super::places(&self.system).1).map_err(|error| format!("{error:#}"))?;
        Ok(case::request(golden, &operation, &callers).map_err(|error| format!("{self:?}: {error:#}"))?)
    }

    /// GeneratedNames for the values that the operation generates: those that neither it nor the system's items have.
    pub fn names(&self) -> Result<GeneratedNames, Failed> {
        let golden = self.golden()?;
        Ok(self.names_of(&golden, &self.request_of(&golden)?))
    }

    fn names_of(&self, golden: &GoldenFile, request: &Request) -> GeneratedNames {
        super::names(&self.system, &case::written(golden, &request.query))
    }

    /// Plans and runs the operation, and compares the results with the golden.
    pub fn check(&self) -> Result<(), Failed> {
        let golden = self.golden()?;
        let request = self.request_of(&golden)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            let (gateway, recorder) = super::system(&self.system).await;
            OperationOutcome::observe(&gateway, &recorder, &request, super::deadline()).await
        });
        let outcome = outcome.map_err(|error| format!("{error:#}"))?;
        let is = outcome.written_into(&golden, &mut self.names_of(&golden, &request))?;
        if is == golden { Ok(()) } else { self.update_or_fail(&golden, &is) }
    }

    /// With `UPDATE_EXPECT`, writes the golden. Without it, fails with the differences.
    fn update_or_fail(&self, was: &GoldenFile, is: &GoldenFile) -> Result<(), Failed> {
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let _writing = FILES.write().unwrap_or_else(PoisonError::into_inner);
            return Ok(std::fs::write(self.path(), is.to_text())?);
        }
        let head = format!("{} differs (UPDATE_EXPECT=1 takes the new form):\n", self.path().display());
        Err((head + &differences(was, is)).into())
    }
}
