//! The path of a claim of the caller, as a schema writes it: `auth.sub`, `auth.address.country`,
//! `auth["cognito:groups"]`. Plain data. Must not know a caller.

use std::fmt::{Display, Formatter, Result};

/// The names that lead to a claim, the outermost first; at least one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClaimPath {
    names: Vec<String>,
}

impl ClaimPath {
    /// The path of these names. `None` if there are none.
    pub fn new(names: Vec<String>) -> Option<Self> {
        (!names.is_empty()).then_some(Self { names })
    }

    /// The path that a text writes, such as `auth.sub`. `None` if the text is not the path of a claim.
    pub fn parse(text: &str) -> Option<Self> {
        let mut rest = text.strip_prefix("auth")?;
        let mut names = Vec::new();
        while !rest.is_empty() {
            let (name, after) = match rest.strip_prefix('.') {
                Some(dotted) => dotted.split_at(dotted.find(['.', '[']).unwrap_or(dotted.len())),
                None => bracketed(rest)?,
            };
            if name.is_empty() || (rest.starts_with('.') && !is_name(name)) {
                return None;
            }
            names.push(name.to_owned());
            rest = after;
        }
        Self::new(names)
    }

    /// The names, the outermost first.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// The name in `["…"]` or `['…']`, and the text after it.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let inner = text.strip_prefix('[')?;
    let quote = inner.chars().next().filter(|letter| matches!(letter, '"' | '\''))?;
    let (name, after) = inner[1..].split_once(quote)?;
    Some((name, after.strip_prefix(']')?))
}

/// Whether a name may follow a dot: letters, digits and `_`.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Display for ClaimPath {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("auth")?;
        self.names
            .iter()
            .try_for_each(|name| if is_name(name) { write!(f, ".{name}") } else { write!(f, "[\"{name}\"]") })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_written_as_it_is_read() {
        for (text, names) in [
            ("auth.sub", vec!["sub"]),
            ("auth.address.country", vec!["address", "country"]),
            ("auth[\"cognito:groups\"]", vec!["cognito:groups"]),
            ("auth[\"https://a.example/roles\"].first", vec!["https://a.example/roles", "first"]),
        ] {
            let path = ClaimPath::parse(text).unwrap();
            assert_eq!(path.names(), names);
            assert_eq!(path.to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_no_claims() {
        for text in [
            "",
            "auth",
            "auth.",
            "auth..sub",
            "authsub",
            "auth[sub]",
            "auth[\"a]",
            "auth[\"\"]",
            "author.name",
            "auth.a b",
            "auth.a-b",
        ] {
            assert_eq!(ClaimPath::parse(text), None, "{text}");
        }
    }
}
