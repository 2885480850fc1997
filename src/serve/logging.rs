//! Log settings in, the log of this process set up. Must not know what is logged.

use super::settings::{LogFormat, LogSettings};
use std::io::IsTerminal;
use thiserror::Error;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

/// Why the log could not be set up.
#[derive(Debug, Error)]
pub enum LoggingError {
    /// The filter cannot be read.
    #[error("the log filter \"{0}\" cannot be read")]
    Filter(String, #[source] ParseError),
    /// The log is set up already.
    #[error("the log is set up already")]
    Twice,
}

/// Sets up the log on standard error, for panics too.
pub fn start(settings: &LogSettings) -> Result<(), LoggingError> {
    let filter = EnvFilter::try_new(&settings.log_filter)
        .map_err(|error| LoggingError::Filter(settings.log_filter.clone(), error))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let done = match settings.log_format {
        LogFormat::Text => builder.with_target(false).with_ansi(std::io::stderr().is_terminal()).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).with_current_span(false).with_span_list(false).try_init(),
    };
    done.map_err(|_| LoggingError::Twice)?;
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panic: {}", panic.payload_as_str().unwrap_or("no text"));
    }));
    Ok(())
}
