//! The claims of a token in; whether they are of this issuer, for this server and for this moment out. Must not know
//! keys.

use crate::serve::sign_in::fault::SignInFault;
use serde_json::{Map, Value};

/// How far the clocks of an issuer and of this server may differ, in seconds.
pub const LEEWAY: i64 = 60;

/// The claims that are times (RFC 7519 section 4.1).
const TIMES: [&str; 3] = ["exp", "nbf", "iat"];

/// A time of the year 5138 in seconds, and of 1973 in milliseconds.
const FAR_AHEAD: f64 = 1e11;

/// Checks for whom and for when a token is. `now` is in seconds since 1970, and so is the result: the time at which the
/// token stops being valid, with the leeway.
pub fn check(claims: &Map<String, Value>, audiences: &[String], now: i64) -> Result<i64, SignInFault> {
    if !is_for(claims, audiences)? {
        return Err(SignInFault::Audience);
    }
    let ends = time(claims, "exp")?.ok_or(SignInFault::Claim("exp"))?.saturating_add(LEEWAY);
    if ends <= now {
        return Err(SignInFault::Expired);
    }
    if time(claims, "nbf")?.is_some_and(|begins| begins > now.saturating_add(LEEWAY)) {
        return Err(SignInFault::NotYet);
    }
    match claims.get("sub") {
        None | Some(Value::String(_)) => Ok(ends),
        Some(_) => Err(SignInFault::Claim("sub")),
    }
}

/// The issuer that a token names. Only this claim is read before the signature is checked, because it says whose key to
/// check with.
pub fn issuer(claims: &Map<String, Value>) -> Result<&str, SignInFault> {
    claims.get("iss").and_then(Value::as_str).ok_or(SignInFault::Claim("iss"))
}

/// Whether a token is for one of these audiences (RFC 7519 section 4.1.3). The access tokens of Cognito have no `aud`:
/// there, `client_id` names the app (Amazon Cognito developer guide, "Understanding the access token").
fn is_for(claims: &Map<String, Value>, audiences: &[String]) -> Result<bool, SignInFault> {
    let is_ours = |name: &str| audiences.iter().any(|audience| audience == name);
    let wrong = || SignInFault::Claim("aud");
    match claims.get("aud") {
        Some(Value::String(name)) => Ok(is_ours(name)),
        Some(Value::Array(names)) => {
            let names: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
            Ok(names.ok_or_else(wrong)?.into_iter().any(is_ours))
        }
        Some(_) => Err(wrong()),
        None if claims.get("token_use").and_then(Value::as_str) == Some("access") => {
            Ok(claims.get("client_id").and_then(Value::as_str).is_some_and(is_ours))
        }
        None => Err(wrong()),
    }
}

/// A time in whole seconds since 1970. Some issuers write a fraction.
fn time(claims: &Map<String, Value>, name: &'static str) -> Result<Option<i64>, SignInFault> {
    let Some(value) = claims.get(name) else { return Ok(None) };
    let seconds = value.as_i64().map(|seconds| seconds as f64).or_else(|| value.as_f64());
    match seconds.filter(|seconds| seconds.is_finite() && *seconds >= 0.0) {
        // The largest time that a float holds is cut to the largest whole number.
        Some(seconds) => Ok(Some(seconds as i64)),
        None => Err(SignInFault::Claim(name)),
    }
}

/// The times of a token that are written in milliseconds: as seconds, they lie thousands of years ahead.
pub fn times_in_milliseconds(claims: &Map<String, Value>) -> impl Iterator<Item = &'static str> {
    let is_far = |name: &&str| claims.get(*name).and_then(Value::as_f64).is_some_and(|time| time >= FAR_AHEAD);
    TIMES.into_iter().filter(is_far)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    const NOW: i64 = 1_800_000_000;

    fn checked(mut claims: Value) -> Result<i64, SignInFault> {
        let members = claims.as_object_mut().unwrap();
        members.entry("aud").or_insert(json!("api"));
        members.entry("exp").or_insert(json!(NOW + 10));
        members.retain(|_, value| value != "absent");
        check(members, &["api".into(), "other".into()], NOW)
    }

    #[test]
    fn a_token_ends_a_minute_after_its_time() {
        assert_eq!(checked(json!({})), Ok(NOW + 10 + LEEWAY));
        assert_eq!(checked(json!({"exp": NOW - LEEWAY + 1})), Ok(NOW + 1));
        assert_eq!(checked(json!({"exp": NOW - LEEWAY})), Err(SignInFault::Expired));
        assert_eq!(checked(json!({"exp": 1_800_000_010.75})), Ok(NOW + 10 + LEEWAY));
        assert_eq!(checked(json!({"exp": 0})), Err(SignInFault::Expired));
        assert_eq!(checked(json!({"nbf": NOW + LEEWAY})), Ok(NOW + 10 + LEEWAY));
        assert_eq!(checked(json!({"nbf": NOW + LEEWAY + 1})), Err(SignInFault::NotYet));
    }

    #[test]
    fn times_that_are_no_times_are_refused() {
        for wrong in [json!("absent"), json!("1900000000"), json!(null), json!(-1), json!([1_900_000_000]), json!(true)]
        {
            assert_eq!(checked(json!({"exp": wrong})), Err(SignInFault::Claim("exp")));
        }
        let huge: Value = serde_json::from_str("{\"exp\":1e400}").unwrap();
        assert_eq!(checked(huge), Err(SignInFault::Claim("exp")));
        assert_eq!(checked(json!({"nbf": "1"})), Err(SignInFault::Claim("nbf")));
        let far: Value = serde_json::from_str("{\"exp\":1e300}").unwrap();
        assert_eq!(checked(far), Ok(i64::MAX));
    }

    #[test]
    fn a_token_is_for_one_of_the_audiences() {
        for ours in [json!("api"), json!("other"), json!(["x", "api"])] {
            assert!(checked(json!({"aud": ours})).is_ok());
        }
        for foreign in [json!("x"), json!(["x"]), json!([]), json!("API"), json!("")] {
            assert_eq!(checked(json!({"aud": foreign})), Err(SignInFault::Audience));
        }
        for wrong in [json!("absent"), json!(null), json!(1), json!({"api": 1}), json!(["api", 1])] {
            assert_eq!(checked(json!({"aud": wrong})), Err(SignInFault::Claim("aud")));
        }
    }

    #[test]
    fn an_access_token_of_cognito_names_its_app() {
        let cognito =
            |id: &str, token_use: &str| checked(json!({"aud": "absent", "client_id": id, "token_use": token_use}));
        assert!(cognito("api", "access").is_ok());
        assert_eq!(cognito("x", "access"), Err(SignInFault::Audience));
        assert_eq!(cognito("api", "id"), Err(SignInFault::Claim("aud")));
        assert_eq!(checked(json!({"aud": "x", "client_id": "api", "token_use": "access"})), Err(SignInFault::Audience));
    }

    #[test]
    fn a_subject_is_a_text() {
        assert!(checked(json!({"sub": "ann"})).is_ok());
        assert_eq!(checked(json!({"sub": 7})), Err(SignInFault::Claim("sub")));
    }
}
