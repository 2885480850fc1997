//! The header `Idempotency-Key` in, the key that it brings out (IETF, draft-ietf-httpapi-idempotency-key-header). Must
//! not know what a key is for.

use axum::http::HeaderMap;
use std::iter::Peekable;
use std::str::Chars;

const NAME: &str = "idempotency-key";

/// The key: a string as RFC 8941 has it, which is in quotes, or a text that needs none. `None` without the header, with
/// several, or with anything else in it.
pub fn from_headers(headers: &HeaderMap) -> Option<String> {
    let mut values = headers.get_all(NAME).iter();
    from_value(values.next().filter(|_| values.next().is_none())?.to_str().ok()?)
}

/// The key that the value of one header brings.
pub fn from_value(value: &str) -> Option<String> {
    let value = value.trim();
    let key = match value.strip_prefix('"') {
        Some(rest) => quoted(rest.chars().peekable())?,
        None => bare(value)?,
    };
    Some(key).filter(|key| !key.is_empty())
}

/// The string after its first quote (RFC 8941 section 4.2.5). Parameters may follow it, which say nothing.
fn quoted(mut rest: Peekable<Chars<'_>>) -> Option<String> {
    let mut key = String::new();
    loop {
        match rest.next()? {
            '"' => break,
            '\\' => key.push(rest.next_if(|next| matches!(next, '"' | '\\'))?),
            letter @ ' '..='~' => key.push(letter),
            _ => return None,
        }
    }
    let rest: String = rest.collect();
    let rest = rest.trim_start();
    (rest.is_empty() || rest.starts_with(';')).then_some(key)
}

/// A key without quotes, as many clients send it.
fn bare(value: &str) -> Option<String> {
    let is_plain = |letter: char| letter.is_ascii_graphic() && !matches!(letter, '"' | ',' | ';' | '\\');
    value.chars().all(is_plain).then(|| value.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_string_in_quotes_or_a_text_that_needs_none() {
        for (value, key) in [
            (r#""8e03978e-40d5-43e8-bc93-6894a57f9324""#, Some("8e03978e-40d5-43e8-bc93-6894a57f9324")),
            ("8e03978e-40d5-43e8-bc93-6894a57f9324", Some("8e03978e-40d5-43e8-bc93-6894a57f9324")),
            (r#"  "a b" "#, Some("a b")),
            (r#""a\"b\\c""#, Some(r#"a"b\c"#)),
            (r#""a";x=1"#, Some("a")),
            (r#""a" ; x"#, Some("a")),
            (r#""a", "b""#, None),
            (r#""a"b"#, None),
            (r#""a"#, None),
            (r#""a\x""#, None),
            (r#""""#, None),
            ("", None),
            ("a b", None),
            ("a,b", None),
            (r#"a"b"#, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(NAME, value.parse().unwrap());
            assert_eq!(from_headers(&headers).as_deref(), key, "{value}");
            headers.append(NAME, "other".parse().unwrap());
            assert_eq!(from_headers(&headers), None, "two of them");
        }
        assert_eq!(from_headers(&HeaderMap::new()), None);
    }
}
