//! The file of a schema in, the gateway replaced whenever its text changes or a signal asks for it out. What has
//! mistakes, or does not match the tables, is reported and not served.

use super::known_text::{FileChange, KnownText, read};
use super::unfit_documents::DocumentCheck;
use crate::cli::server::signals::Hangups;
use crate::cli::{output, schema_file};
use crate::execute::gateway::Gateway;
use crate::execute::request::Settings;
use crate::schema::diagnostics::diagnostic::{Diagnostics, Severity};
use crate::schema::diagnostics::lines::LineIndex;
use crate::schema::model::Model;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::console::schema_news::SchemaNews;
use crate::serve::documents::lookup::Documents;
use crate::serve::documents::settings::DocumentSettings;
use crate::table::data::error::TableError;
use crate::table::hedge::late_reads::LateReads;
use crate::table::store::TableStore;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{Interval, MissedTickBehavior, interval};

/// How often `keyfold dev` reads the file. A schema has a few kilobytes: reading it is cheap, and more reliable than
/// the times of file systems.
pub const OFTEN: Duration = Duration::from_millis(300);
/// How often `keyfold serve` reads the file.
const EVERY: Duration = Duration::from_secs(1);
/// How many mistakes a line of the log reports, and the most characters of each.
const MISTAKES_REPORTED: usize = 5;
const MISTAKE_LETTERS: usize = 400;

/// What a reload needs.
pub struct Reload {
    /// The schema's file.
    pub path: PathBuf,
    /// The tables.
    pub tables: StoreOfTables,
    /// The trusted documents, which are read again together with the schema.
    pub documents: (DocumentSettings, Documents),
    /// The settings of the gateway.
    pub settings: Settings,
    /// Whether callers can sign in.
    pub can_sign_in: bool,
    /// Where the new gateway goes.
    pub current: Arc<CurrentGateway>,
    /// Who else hears of it: the pages of `keyfold dev`.
    pub news: Option<Arc<SchemaNews>>,
    /// Compares the trusted documents with the schema.
    pub check: DocumentCheck,
}

/// The store of the tables, and what a reload may do there.
pub enum StoreOfTables {
    /// The store of `keyfold dev`, in which missing tables are created.
    Own(TableStore),
    /// DynamoDB or a compatible server, whose tables are compared and never created.
    Given {
        /// The store.
        store: TableStore,
        /// The share of reads that may be made twice, from 0 to 1.
        hedge: f64,
    },
}

/// When the file is read besides on a signal.
pub enum Watching {
    /// Never.
    Off,
    /// All the time.
    On {
        /// Between two reads.
        pause: Duration,
        /// What is known of the file.
        seen: KnownText,
    },
}

/// Why a gateway was not replaced.
enum Trouble {
    Mistakes(Diagnostics),
    Other(String),
}

impl Watching {
    /// The file is `text` now. A change is taken as soon as it is seen, as whoever writes the schema wants it.
    pub fn at_once(text: String) -> Self {
        Self::On { pause: OFTEN, seen: KnownText::new(text, false) }
    }

    /// The file is `text` now. A change is taken when the file has stayed the same for a second: half a file may be a
    /// whole schema.
    pub fn settled(text: String) -> Self {
        Self::On { pause: EVERY, seen: KnownText::new(text, true) }
    }
}

impl StoreOfTables {
    /// The store of a gateway for these tables.
    pub fn store_for(&self, model: &Model) -> TableStore {
        match self {
            Self::Own(store) => store.clone(),
            Self::Given { store, hedge } => store.clone().with_late_reads(LateReads::new(&model.tables, *hedge)),
        }
    }

    /// Compares the tables with the schema. Gives the names of those that were created.
    async fn prepare(&self, model: &Model) -> Result<Vec<String>, Trouble> {
        let (store, made, help) = match self {
            Self::Own(store) => {
                let made = store.create_missing(&model.tables).await;
                let made =
                    made.map_err(|error| Trouble::Other(format!("cannot create its tables: {}", error.detail)))?;
                (store, made, "a restart creates new ones in memory")
            }
            Self::Given { store, .. } => (store, Vec::new(), "`keyfold tables` prints the requests that create them"),
        };
        let unknown = |error: TableError| Trouble::Other(format!("cannot describe its tables: {}", error.detail));
        // A server that does not answer at all is reported within seconds.
        if let Some(table) = model.tables.first() {
            store.reachable(table).await.map_err(unknown)?;
        }
        let differences =
            store.differences_and_streams(&model.tables, &model.watched_tables()).await.map_err(unknown)?;
        match differences.as_slice() {
            [] => Ok(made),
            all => Err(Trouble::Other(format!("the tables do not match it: {} ({help})", all.join(" ")))),
        }
    }
}

impl Reload {
    /// Reloads whenever the file changes or a signal comes, until the task is dropped.
    pub async fn follow(self, watching: Watching, mut hangups: Hangups) {
        let (pause, mut seen) = match watching {
            Watching::On { pause, seen } => (Some(pause), seen),
            Watching::Off => (None, KnownText::new(String::new(), false)),
        };
        let mut ticks = pause.map(|pause| {
            let mut ticks = interval(pause);
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        });
        loop {
            let (cause, text) = tokio::select! {
                () = hangups.next() => ("SIGHUP", read(&self.path).await.inspect(|text| seen.take(text))),
                () = tick(ticks.as_mut()) => match seen.look(read(&self.path).await) {
                    FileChange::None => {
                        self.news.iter().for_each(|news| news.tell_gone(&self.path, seen.gone()));
                        continue;
                    }
                    FileChange::Gone(reason) => ("file", Err(reason)),
                    FileChange::Text(text) => ("file", Ok(text)),
                },
            };
            self.reload(cause, text).await;
        }
    }

    /// Serves the text from now on, or says why it cannot.
    async fn reload(&self, cause: &str, text: Result<String, String>) {
        let schema = self.path.display();
        let done = match text {
            Ok(text) => {
                let done = self.apply(text).await;
                self.tell(&done);
                done
            }
            Err(reason) => Err(Trouble::Other(reason)),
        };
        match done {
            Ok(new_tables) => {
                let new_tables = (!new_tables.is_empty()).then(|| new_tables.join(","));
                tracing::info!(%schema, cause, new_tables, "the schema was reloaded");
            }
            Err(trouble) => {
                self.current.stays();
                if let (StoreOfTables::Own(_), Trouble::Mistakes(mistakes)) = (&self.tables, &trouble) {
                    eprintln!("{}", mistakes.render(output::color()).trim_end());
                }
                tracing::warn!(%schema, cause, reason = trouble.in_one_line(), "the schema was not reloaded: the previous one stays in use");
            }
        }
    }

    /// Warns of the trusted documents that do not fit the schema.
    pub fn check_documents(&self) {
        let model = self.current.get().model().clone();
        self.check.begin(self.documents.1.trusted(), model, self.settings.clone());
    }

    /// Tells the pages what became of a text.
    fn tell(&self, done: &Result<Vec<String>, Trouble>) {
        match (&self.news, done) {
            (None, _) => {}
            (Some(news), Ok(_)) => news.serves_another(),
            (Some(news), Err(Trouble::Mistakes(mistakes))) => news.has_mistakes(mistakes),
            (Some(news), Err(Trouble::Other(reason))) => news.is_not_served(&self.path, reason),
        }
    }

    async fn apply(&self, text: String) -> Result<Vec<String>, Trouble> {
        let path = self.path.clone();
        let (asked, served) = self.documents.clone();
        // A thread of its own: a schema that is slow to check, or makes the checker panic, does not disturb requests.
        let checked = spawn_blocking(move || (schema_file::parse(&path, &text), asked.read()));
        let (parsed, documents) = checked.await.map_err(|error| Trouble::Other(error.to_string()))?;
        let (model, warnings) = parsed.map_err(Trouble::Mistakes)?;
        if let StoreOfTables::Own(_) = &self.tables {
            schema_file::show(&warnings);
        }
        let other = |error: anyhow::Error| Trouble::Other(format!("{error:#}"));
        let documents = documents.map_err(|error| other(error.into()))?;
        schema_file::check_sign_in(&self.path, &model, self.can_sign_in).map_err(other)?;
        let made = self.tables.prepare(&model).await?;
        let store = self.tables.store_for(&model);
        if let Some(documents) = documents {
            served.replace_trusted(documents);
        }
        self.current.replace(Gateway::new(Arc::new(model), store, self.settings.clone())).await;
        self.check_documents();
        Ok(made)
    }
}

impl Trouble {
    /// The reason for the log.
    fn in_one_line(&self) -> String {
        let mistakes = match self {
            Self::Other(reason) => return reason.clone(),
            Self::Mistakes(mistakes) => mistakes,
        };
        let errors: Vec<_> = mistakes.list.iter().filter(|mistake| mistake.severity == Severity::Error).collect();
        let (lines, mut said) = (LineIndex::new(&mistakes.text), Vec::new());
        for mistake in errors.iter().take(MISTAKES_REPORTED) {
            let line = lines.line(mistake.span.start);
            let message: String = mistake.message.chars().take(MISTAKE_LETTERS).collect();
            said.push(format!("{}, line {line}: {message}", mistake.code));
        }
        if errors.len() > MISTAKES_REPORTED {
            said.push(format!("and {} more", errors.len() - MISTAKES_REPORTED));
        }
        said.join("; ")
    }
}

/// The next time to look, if there is one.
async fn tick(ticks: Option<&mut Interval>) {
    match ticks {
        Some(ticks) => {
            ticks.tick().await;
        }
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::path::Path;

    #[test]
    fn mistakes_are_reported_in_one_line_with_their_places() {
        let text = "type Query {\n  user: User @find\n}\n";
        let mistakes = schema_file::parse(Path::new("schema.graphql"), text).unwrap_err();
        let said = Trouble::Mistakes(mistakes).in_one_line();
        assert!(said.starts_with("KF") && said.contains(", line 2: ") && !said.contains('\n'), "{said}");
    }
}
