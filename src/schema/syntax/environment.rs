//! Replaces `${NAME}` and `${NAME:-default}` in a text with values of the environment. Must not read the environment
//! itself.

use std::ops::Range;

/// A placeholder that has no value: its range and one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unset {
    /// Byte range within the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
}

/// Replaces every placeholder. As in a shell, the default replaces a variable that is unset or empty.
pub fn expand(text: &str, environment: &dyn Fn(&str) -> Option<String>) -> Result<String, Unset> {
    let mut out = String::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("${").map(|found| at + found) {
        out.push_str(&text[at..open]);
        let Some(close) = text[open..].find('}').map(|found| open + found) else {
            return Err(Unset { span: open..text.len(), message: "this `${` is not closed".into() });
        };
        let (name, default) = match text[open + 2..close].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&text[open + 2..close], None),
        };
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !named {
            return Err(Unset {
                span: open..close + 1,
                message: format!("`{name}` is not a valid name of an environment variable"),
            });
        }
        match environment(name).filter(|value| !value.is_empty()).or(default.map(str::to_owned)) {
            Some(value) => out.push_str(&value),
            None => {
                return Err(Unset {
                    span: open..close + 1,
                    message: format!("the environment variable `{name}` is not set"),
                });
            }
        }
        at = close + 1;
    }
    out.push_str(&text[at..]);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::expand;

    fn environment(name: &str) -> Option<String> {
        [("STAGE", "dev"), ("EMPTY", "")].iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn placeholders_are_replaced() {
        assert_eq!(expand("a-${STAGE}-${NONE:-x}-${EMPTY:-y}", &environment).as_deref(), Ok("a-dev-x-y"));
        assert_eq!(expand("plain", &environment).as_deref(), Ok("plain"));
        assert_eq!(expand("${NONE:-}", &environment).as_deref(), Ok(""));
    }

    #[test]
    fn what_has_no_value_is_named() {
        assert_eq!(expand("t-${NONE}", &environment).map_err(|unset| unset.span), Err(2..9));
        assert_eq!(expand("t-${STAGE", &environment).map_err(|unset| unset.span), Err(2..9));
        assert_eq!(
            expand("${a b}", &environment).map_err(|unset| unset.message).err().as_deref(),
            Some("`a b` is not a valid name of an environment variable")
        );
    }
}
