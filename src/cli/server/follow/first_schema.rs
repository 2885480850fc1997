//! A schema's file in; out, its schema without mistakes with what was begun for it. As long as there are mistakes, the
//! server shows them, and the file is read again.

use super::known_text::{FileChange, KnownText, read};
use super::reload::OFTEN;
use crate::cli::output;
use crate::cli::schema_file::{self, LoadedSchema};
use crate::cli::server::run::Server;
use crate::schema::ParsedSchema;
use crate::schema::diagnostics::diagnostic::Diagnostics;
use crate::serve::console::schema_news::SchemaNews;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use tokio::task::block_in_place;
use tokio::time::{MissedTickBehavior, interval};

/// Serves the mistakes of a schema until its file has none. `begin` is called for each text as soon as its tables are
/// known. Gives none if the server is asked to stop.
pub async fn first_schema<T>(
    path: &Path,
    mistakes: Diagnostics,
    server: &mut Server,
    begin: impl Fn(&ParsedSchema<'_>) -> T,
) -> Option<(LoadedSchema, T)> {
    tell(&mistakes);
    let news = SchemaNews::mistaken(&mistakes);
    server.wait_for(news.clone(), follow(path, mistakes.text, &news, begin)).await
}

/// Reads the file until it has a schema without mistakes.
async fn follow<T>(
    path: &Path,
    text: String,
    news: &Arc<SchemaNews>,
    begin: impl Fn(&ParsedSchema<'_>) -> T,
) -> (LoadedSchema, T) {
    let mut seen = KnownText::new(text, false);
    let mut ticks = interval(OFTEN);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match seen.look(read(path).await) {
            FileChange::None => news.tell_gone(path, seen.gone()),
            FileChange::Gone(_) => {}
            FileChange::Text(text) => match checked(path, text, &begin) {
                Ok(Ok(done)) => return done,
                Ok(Err(mistakes)) => {
                    tell(&mistakes);
                    news.has_mistakes(&mistakes);
                }
                Err(_) => news.is_not_served(path, "the check of the schema failed, which is a fault of Keyfold"),
            },
        }
    }
}

/// Checks a text while others answer requests. An error is a panic, which the process survives.
fn checked<T>(
    path: &Path,
    text: String,
    begin: impl Fn(&ParsedSchema<'_>) -> T,
) -> std::thread::Result<Result<(LoadedSchema, T), Diagnostics>> {
    block_in_place(|| catch_unwind(AssertUnwindSafe(|| schema_file::checked(path, text, begin))))
}

fn tell(mistakes: &Diagnostics) {
    eprintln!("{}\n", mistakes.render(output::color()).trim_end());
}
