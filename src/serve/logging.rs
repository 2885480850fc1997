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
    /// A level has the name that other tools give it. The log would hold nothing.
    #[error("the log has no level \"{0}\": write --log {1}; there are error, warn, info, debug, trace and off")]
    Level(&'static str, &'static str),
    /// The log is set up already.
    #[error("the log is set up already")]
    Twice,
}

/// What other tools call a level, and the level.
const LEVELS: [(&str, &str); 10] = [
    ("verbose", "debug"),
    ("silly", "trace"),
    ("all", "trace"),
    ("notice", "info"),
    ("warning", "warn"),
    ("fatal", "error"),
    ("critical", "error"),
    ("silent", "off"),
    ("quiet", "off"),
    ("none", "off"),
];

/// A level of another tool in a filter. The filter itself takes the word for the name of a module.
fn foreign_level(filter: &str) -> Option<(&'static str, &'static str)> {
    let words = filter.split(',').map(|part| part.rsplit('=').next().unwrap_or_default().trim().to_lowercase());
    words.into_iter().find_map(|word| LEVELS.iter().find(|(other, _)| *other == word).copied())
}

/// Sets up the log on standard error, for panics too.
pub fn start(settings: &LogSettings) -> Result<(), LoggingError> {
    if let Some((word, level)) = foreign_level(&settings.log_filter) {
        return Err(LoggingError::Level(word, level));
    }
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

#[cfg(test)]
mod tests {
    use super::foreign_level;

    #[test]
    fn a_level_of_another_tool_is_named() {
        assert_eq!(foreign_level("verbose"), Some(("verbose", "debug")));
        assert_eq!(foreign_level("info,h2=WARNING"), Some(("warning", "warn")));
        for right in ["info,aws_config=error,h2=error,async_nats=off", "keyfold::table=debug", "debug"] {
            assert_eq!(foreign_level(right), None, "{right}");
        }
    }
}
