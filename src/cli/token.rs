//! `keyfold token`: claims in, a token that `keyfold dev` accepts out.

use super::output;
use super::store_choice::variable;
use crate::serve::settings::time_of_at_most;
use crate::serve::sign_in::dev_issuer::DevIssuer;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Longest lifetime of a token.
const YEAR: Duration = Duration::from_secs(365 * 86_400);

/// Print a token for `keyfold dev`
///
/// It is signed with a secret of this user, which `keyfold dev` shares. `keyfold serve` does not accept it.
#[derive(Debug, Args)]
pub struct PrintToken {
    /// Subject of the token, the claim `sub`: who acts
    #[arg(long, value_name = "ID")]
    sub: String,

    /// Another claim; the value is JSON, or a text if it is none: role=admin, 'groups=["a","b"]', level=3; repeat it
    /// for several
    #[arg(long = "claim", value_name = "NAME=VALUE", value_parser = claim)]
    claims: Vec<(String, Value)>,

    /// How long the token is valid: 90s, 15m, 1h, 7d
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = lifetime)]
    expires: Duration,

    #[command(flatten)]
    secret: TokenSecret,
}

/// The file of the secret that `keyfold dev` and `keyfold token` share.
#[derive(Debug, Args)]
pub struct TokenSecret {
    /// File of the secret that `keyfold dev` and `keyfold token` share, made if it is missing [default:
    /// keyfold/dev-secret among the user's state files]
    #[arg(long = "token-secret", env = "KEYFOLD_TOKEN_SECRET", value_name = "FILE")]
    file: Option<PathBuf>,
}

impl PrintToken {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let claims = claims_of(&self.sub, &self.claims);
        let ends = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + self.expires;
        let token = self.secret.open()?.token(claims, i64::try_from(ends.as_secs()).unwrap_or(i64::MAX));
        output::print(&format!("{token}\n"))?;
        Ok(ExitCode::SUCCESS)
    }
}

impl TokenSecret {
    /// The issuer with the secret of this file.
    pub fn open(&self) -> Result<DevIssuer> {
        let file = self.file.clone().or_else(default_file);
        let file = file.context("there is no place for the secret of tokens: name a file with --token-secret")?;
        DevIssuer::open(&file).with_context(|| format!("cannot use the secret of tokens in {}", file.display()))
    }
}

/// A file among the user's state files (XDG base directory specification).
fn default_file() -> Option<PathBuf> {
    let state = variable("XDG_STATE_HOME").or_else(|| variable("LOCALAPPDATA")).map(PathBuf::from);
    let state = state.or_else(|| Some(PathBuf::from(variable("HOME")?).join(".local/state")))?;
    Some(state.join("keyfold").join("dev-secret"))
}

/// The claims of a caller: its subject, and other claims.
pub fn claims_of(subject: &str, others: &[(String, Value)]) -> Map<String, Value> {
    std::iter::once(("sub".to_owned(), Value::from(subject))).chain(others.iter().cloned()).collect()
}

/// Reads a claim: its name, and its value as JSON, or as a text if it is none.
pub fn claim(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or_else(|| unnamed(text))?;
    if matches!(name, "iss" | "aud" | "exp" | "sub") {
        return Err(format!("the claim {name} cannot be set this way"));
    }
    Ok((name.to_owned(), serde_json::from_str(value).unwrap_or_else(|_| value.into())))
}

/// How a claim is written, for a text that is none.
fn unnamed(text: &str) -> String {
    match text.split_once(':') {
        Some((name, value)) if !name.is_empty() => format!("write a claim as name=value: {name}={}", value.trim()),
        _ => "write a claim as name=value: role=admin".to_owned(),
    }
}

/// Reads a time of at most a year.
fn lifetime(text: &str) -> Result<Duration, String> {
    time_of_at_most(YEAR, "a year", text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_claim_is_json_or_a_text() {
        let is = |text: &str, name: &str, value: Value| assert_eq!(claim(text), Ok((name.to_owned(), value)));
        is("role=admin", "role", json!("admin"));
        is("groups=[\"a\"]", "groups", json!(["a"]));
        is("level=3", "level", json!(3));
        is("id=\"3\"", "id", json!("3"));
        is("note=a=b", "note", json!("a=b"));
        is("none=", "none", json!(""));
        for wrong in ["role", "=admin", "", "iss=me", "exp=1", "sub=x"] {
            assert!(claim(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_lifetime_is_at_most_a_year() {
        let seconds = ["90s", "15m", "1h", "7d"].map(|text| lifetime(text).map(|time| time.as_secs()));
        assert_eq!(seconds, [Ok(90), Ok(900), Ok(3_600), Ok(604_800)]);
        for wrong in ["", "0s", "366d", "1w", "-1h"] {
            assert!(lifetime(wrong).is_err(), "{wrong}");
        }
    }
}
