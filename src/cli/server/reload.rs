//! The file of a schema in, the gateway replaced whenever its text changes out. A text with mistakes is reported and not served.

use crate::cli::{output, schema_file};
use crate::execute::gateway::Gateway;
use crate::execute::request::Settings;
use crate::serve::backend::CurrentGateway;
use crate::table::sdk::store::SdkStore;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// How often the file is read. A schema has a few kilobytes: reading it is cheap, and more reliable than the times of file systems.
const EVERY: Duration = Duration::from_millis(300);

/// What a reload needs.
pub struct Reload {
    /// The schema's file.
    pub path: PathBuf,
    /// The store, in which new tables are created.
    pub store: SdkStore,
    /// The settings of the gateway.
    pub settings: Settings,
    /// Whether callers can sign in.
    pub can_sign_in: bool,
    /// Where the new gateway goes.
    pub current: Arc<CurrentGateway>,
}

/// Watches the file until the task is dropped. `text` is what is served now.
pub async fn watch(reload: Reload, text: String) {
    let mut seen = Seen { text, missing: false };
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match seen.look(tokio::fs::read_to_string(&reload.path).await.ok()) {
            Change::None => {}
            Change::Gone => tracing::warn!(schema = %reload.path.display(), "the schema cannot be read: the previous one stays in use"),
            Change::Text(text) => {
                if let Err(trouble) = apply(&reload, text).await {
                    eprintln!("{}", trouble.trim_end());
                    tracing::warn!(schema = %reload.path.display(), "the changed schema has mistakes: the previous one stays in use");
                }
            }
        }
    }
}

/// The last known state of the file.
struct Seen {
    text: String,
    missing: bool,
}

/// What has changed.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    None,
    /// The file cannot be read any more.
    Gone,
    Text(String),
}

impl Seen {
    /// Editors empty, move and write a file in steps, so a missing or empty file is no change yet.
    fn look(&mut self, text: Option<String>) -> Change {
        match text.filter(|text| !text.is_empty()) {
            None if self.missing => Change::None,
            None => {
                self.missing = true;
                Change::Gone
            }
            Some(text) => {
                self.missing = false;
                if text == self.text {
                    return Change::None;
                }
                self.text.clone_from(&text);
                Change::Text(text)
            }
        }
    }
}

/// Serves the text from now on, or says why it cannot.
async fn apply(reload: &Reload, text: String) -> Result<(), String> {
    let path = reload.path.clone();
    // A thread of its own: a schema that is slow to check, or makes the checker panic, does not disturb requests.
    let checked = spawn_blocking(move || schema_file::parse(&path, &text)).await.map_err(|error| error.to_string())?;
    let (model, warnings) = checked.map_err(|mistakes| mistakes.render(output::color()))?;
    schema_file::show(&warnings);
    schema_file::check_sign_in(&reload.path, &model, reload.can_sign_in).map_err(|error| error.to_string())?;
    let made = reload.store.create_missing(&model.tables).await.map_err(|error| format!("cannot create its tables: {}", error.detail))?;
    let differences =
        reload.store.differences(&model.tables).await.map_err(|error| format!("cannot describe its tables: {}", error.detail))?;
    if !differences.is_empty() {
        return Err(format!("the existing tables do not match it; a restart creates new ones in memory\n  {}", differences.join("\n  ")));
    }
    reload.current.replace(Gateway::new(Arc::new(model), reload.store.clone(), reload.settings.clone())).await;
    let new_tables = (!made.is_empty()).then(|| made.join(","));
    tracing::info!(schema = %reload.path.display(), new_tables, "the schema was reloaded");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_change_is_seen_once_and_steps_between_are_waited_for() {
        let mut seen = Seen { text: "a".into(), missing: false };
        let mut look = |text: Option<&str>| seen.look(text.map(str::to_owned));
        assert_eq!(look(Some("a")), Change::None);
        assert_eq!(look(Some("b")), Change::Text("b".into()));
        assert_eq!(look(Some("b")), Change::None);
        assert_eq!((look(None), look(Some("")), look(None)), (Change::Gone, Change::None, Change::None));
        assert_eq!(look(Some("b")), Change::None);
        assert_eq!(look(Some("")), Change::Gone);
        assert_eq!(look(Some("c")), Change::Text("c".into()));
    }
}
