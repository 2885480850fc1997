//! A fault, what the client has shown and whom the server believes in; what the client can do out, in words. For
//! `keyfold dev` only: the words tell of issuers, of audiences and of claims.

use super::fault::{SignInFault, quoted};
use super::issuer::Issuer;
use super::token::claims::times_in_milliseconds;
use super::token::unchecked::UncheckedToken;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::macros::format_description;

/// How a token is sent.
const HEADER: &str = "Send `Authorization: Bearer <token>`, the token without quotes";
/// What prints another token.
const ANOTHER: &str = "`keyfold token --sub me` prints another one.";

/// What a message calls `undefined` and the like: a script has no token and sends its word for nothing.
const NOTHING: [&str; 4] = ["undefined", "null", "[object", "NaN"];

/// What is wrong, and the next step. `token` is the text behind `Bearer`, and `now` is in seconds since 1970.
pub fn advice(fault: &SignInFault, token: Option<&str>, issuers: &[Issuer], now: i64) -> String {
    let claims = token.and_then(|text| UncheckedToken::read(text).ok()).map(|token| token.claims).unwrap_or_default();
    let step = match fault {
        SignInFault::Several => "Send one of them.".to_owned(),
        SignInFault::Scheme => format!("{HEADER}. `keyfold token --sub me` prints one."),
        SignInFault::Unreadable(_) => unreadable(token.unwrap_or_default()),
        SignInFault::Algorithm(_) => format!("Tokens of `keyfold dev` are signed by HS256: {ANOTHER}"),
        SignInFault::Issuer(_) => {
            let names: Vec<&str> = issuers.iter().map(|issuer| issuer.name.as_str()).collect();
            format!("It believes {}, and `--issuer` with `--audience` names another. {ANOTHER}", either(&names))
        }
        SignInFault::Audience | SignInFault::Claim("aud") => audience(&claims, issuers),
        SignInFault::Claim(name @ ("exp" | "nbf")) => {
            format!("Give the token `{name}`: a number of seconds since 1970, such as {}.", now.saturating_add(3_600))
        }
        SignInFault::Claim(name) => format!("Give the token `{name}`, as a text."),
        SignInFault::Expired => format!("It ended {}. {ANOTHER}", moment(&claims, "exp", now)),
        SignInFault::NotYet if times_in_milliseconds(&claims).any(|name| name == "nbf") => {
            "Its `nbf` is in milliseconds: divide it by 1000, as the times of a token are in seconds since 1970."
                .to_owned()
        }
        SignInFault::NotYet => {
            format!("It begins {}. Wait, or set the clock of who makes the token.", moment(&claims, "nbf", now))
        }
        SignInFault::NoKey { .. } => {
            format!("Name the issuer's keys by `--jwks` or `--jwt-secret-file`. Of the issuer keyfold-dev, {ANOTHER}")
        }
        SignInFault::Signature => {
            format!(
                "The issuer has another key. {ANOTHER} Both commands need the same user, or the same `--token-secret`."
            )
        }
        SignInFault::ApiKey => "Name the file with the hash of this key by `--api-keys-file`.".to_owned(),
        SignInFault::Type(_) | SignInFault::Critical | SignInFault::TooLong(_) => {
            format!("Send an access token of the issuer. {ANOTHER}")
        }
        SignInFault::KeysUnavailable(_) => "Try again later.".to_owned(),
    };
    format!("The sign-in is refused: {fault}. {step}")
}

fn unreadable(token: &str) -> String {
    if NOTHING.iter().any(|word| token.starts_with(word)) {
        return format!("The page sent \"{}\" in place of a token: it has none yet. {ANOTHER}", quoted(token));
    }
    if token.contains(['"', '\'']) {
        return "Leave out the quotes around the token.".to_owned();
    }
    format!("A token is three texts with dots between them, and this one is cut or changed. {ANOTHER}")
}

fn audience(claims: &Map<String, Value>, issuers: &[Issuer]) -> String {
    let named = claims.get("iss").and_then(Value::as_str);
    let own = issuers.iter().find(|issuer| Some(issuer.name.as_str()) == named);
    let names: Vec<&str> = own.iter().flat_map(|issuer| &issuer.audiences).map(String::as_str).collect();
    let shown = claims.get("aud").or_else(|| claims.get("client_id"));
    let shown = shown.map_or_else(|| "missing".to_owned(), |shown| quoted(&shown.to_string()));
    format!("Its `aud` is {shown}, and the server is {}: `--audience` names another.", either(&names))
}

/// The names in quotes, as a choice.
fn either(names: &[&str]) -> String {
    let quotes: Vec<String> = names.iter().map(|name| format!("\"{}\"", quoted(name))).collect();
    if quotes.is_empty() { "nobody".to_owned() } else { quotes.join(" or ") }
}

/// When a time of a token is, and how far that is from now.
fn moment(claims: &Map<String, Value>, name: &str, now: i64) -> String {
    let Some(at) = claims.get(name).and_then(Value::as_f64).map(|seconds| seconds as i64) else {
        return "at another time".to_owned();
    };
    let form = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]Z");
    let written = OffsetDateTime::from_unix_timestamp(at).ok().and_then(|time| time.format(form).ok());
    let distance = distance(at.abs_diff(now));
    let relative = if at <= now { format!("{distance} ago") } else { format!("in {distance}") };
    written.map_or_else(|| relative.clone(), |written| format!("at {written}, {relative}"))
}

/// A number of seconds in the largest unit that it has once.
fn distance(seconds: u64) -> String {
    let units = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
    let (unit, name) = units.into_iter().find(|(unit, _)| seconds >= *unit).unwrap_or((1, "second"));
    let number = seconds / unit;
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::serve::sign_in::issuer::IssuerKeys;
    use crate::serve::sign_in::keys::key_set::KeySet;
    use base64::Engine;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use serde_json::json;

    fn token(claims: &Value) -> String {
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        format!("{}.{}.c2ln", encoded(&json!({"alg": "HS256"})), encoded(claims))
    }

    fn said(fault: &SignInFault, token: &str) -> String {
        let keys = IssuerKeys::Fixed(KeySet::from_secret(b"12345678901234567890123456789012"));
        let issuers = [Issuer { name: "https://a".into(), audiences: vec!["app".into(), "web".into()], keys }];
        advice(fault, Some(token), &issuers, 1_800_000_000)
    }

    #[test]
    fn a_time_is_said_with_how_far_it_is() {
        let ended = said(&SignInFault::Expired, &token(&json!({"exp": 1_799_992_800})));
        assert!(ended.contains("the token has expired. It ended at 2027-01-15T06:00:00Z, 2 hours ago."), "{ended}");
        let begins = said(&SignInFault::NotYet, &token(&json!({"nbf": 1_800_000_090.5})));
        assert!(begins.contains("It begins at 2027-01-15T08:01:30Z, in 1 minute."), "{begins}");
        assert!(said(&SignInFault::Expired, &token(&json!({"exp": 1e300}))).contains("It ended in "));
    }

    #[test]
    fn whom_the_server_believes_is_named() {
        let issuer = said(&SignInFault::Issuer("https://b".into()), "");
        assert!(issuer.contains("the issuer \"https://b\" is not one of this server's. It believes \"https://a\""));
        let audience = said(&SignInFault::Audience, &token(&json!({"iss": "https://a", "aud": "x"})));
        assert!(audience.contains("Its `aud` is \"x\", and the server is \"app\" or \"web\""), "{audience}");
        let missing = said(&SignInFault::Claim("aud"), &token(&json!({"iss": "https://a"})));
        assert!(missing.contains("Its `aud` is missing, and the server is \"app\" or \"web\""), "{missing}");
    }

    #[test]
    fn what_is_no_token_is_explained_by_its_text() {
        let trouble = SignInFault::Unreadable("it has fewer than three parts");
        assert!(said(&trouble, "undefined").contains("sent \"undefined\" in place of a token"));
        assert!(said(&trouble, "\"a.b.c\"").contains("Leave out the quotes"));
        assert!(said(&trouble, "a.b").contains("cut or changed"));
    }
}
