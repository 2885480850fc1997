//! A text in, Markdown that shows exactly this text out (GitHub Flavored Markdown). Must not know what the text is
//! about.

use serde_json::Value;

/// Longest line of JSON, in characters.
const WIDTH: usize = 110;

/// Text as code on one line, between delimiters longer than any run of backticks in it.
pub fn code(text: &str) -> String {
    let line: String = text.chars().map(|sign| if is_hidden(sign) { '\u{FFFD}' } else { sign }).collect();
    if line.trim().is_empty() {
        return if line.is_empty() { "(empty)".into() } else { "(blank)".into() };
    }
    let delimiter = "`".repeat(longest_run(&line) + 1);
    // A renderer removes the space between a delimiter and a backtick of the text.
    let space = if line.starts_with(['`', ' ']) || line.ends_with(['`', ' ']) { " " } else { "" };
    format!("{delimiter}{space}{line}{space}{delimiter}")
}

/// Text as a block of code in a language.
pub fn block(language: &str, text: &str) -> String {
    let fence = "`".repeat((longest_run(text) + 1).max(3));
    format!("{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// JSON as a block of code; a value that fits on a line is on one.
pub fn json(value: &Value) -> String {
    let mut text = String::new();
    lay_out(value, 0, &mut text);
    block("json", &text)
}

fn lay_out(value: &Value, depth: usize, out: &mut String) {
    let inner = "  ".repeat(depth + 1);
    let line = on_one_line(value);
    let is_short = inner.len() + line.chars().count() <= WIDTH && depth > 0;
    match value {
        Value::Object(members) if !is_short && !members.is_empty() => {
            for (position, (name, value)) in members.iter().enumerate() {
                out.push_str(if position == 0 { "{\n" } else { ",\n" });
                out.push_str(&format!("{inner}{}: ", Value::from(name.as_str())));
                lay_out(value, depth + 1, out);
            }
            out.push_str(&format!("\n{}}}", "  ".repeat(depth)));
        }
        Value::Array(values) if !is_short && !values.is_empty() => {
            for (position, value) in values.iter().enumerate() {
                out.push_str(if position == 0 { "[\n" } else { ",\n" });
                out.push_str(&inner);
                lay_out(value, depth + 1, out);
            }
            out.push_str(&format!("\n{}]", "  ".repeat(depth)));
        }
        _ => out.push_str(&line),
    }
}

fn on_one_line(value: &Value) -> String {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members =
                members.iter().map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), on_one_line(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(values) => format!("[{}]", values.iter().map(on_one_line).collect::<Vec<_>>().join(", ")),
        value => {
            let text = value.to_string();
            if text.chars().any(is_hidden) { escaped(&text) } else { text }
        }
    }
}

/// The text of a JSON value, with every invisible character escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_hidden(sign) {
            let mut units = [0; 2];
            sign.encode_utf16(&mut units).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}")));
        } else {
            out.push(sign);
        }
    }
    out
}

/// Whether a character is invisible or changes the direction of text: controls, direction marks, and noncharacters,
/// such as the end of a range of keys.
fn is_hidden(sign: char) -> bool {
    sign.is_control()
        || u32::from(sign) & 0xFFFE == 0xFFFE
        || matches!(sign, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}

/// A description, which is Markdown itself (GraphQL spec section 3.13, "Documentation"), as a quotation, which closes
/// whatever it opens.
pub fn quote(text: &str) -> String {
    text.lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n").collect()
}

/// A table: the heading and the rows, whose cells are Markdown without line breaks and unescaped `|`.
pub fn table(heading: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let cell = |text: &String| text.replace(['\r', '\n'], " ").replace('|', "\\|");
    let mut text = line(heading.iter().map(|name| (*name).to_owned()).collect());
    text += &line(heading.iter().map(|_| "---".to_owned()).collect());
    for row in rows {
        text += &line(row.iter().map(cell).collect());
    }
    text
}

/// Plain text for a paragraph or a cell, with all markup escaped.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if "\\`*_{}[]<>#|~&".contains(sign) {
            out.push('\\');
        }
        out.push(if sign.is_control() { ' ' } else { sign });
    }
    // A table escapes its bars itself.
    out.replace("\\|", "|")
}

/// The anchor of a heading on GitHub.
pub fn anchor(heading: &str) -> String {
    let kept = heading
        .to_lowercase()
        .chars()
        .filter(|sign| sign.is_alphanumeric() || "-_ ".contains(*sign))
        .collect::<String>();
    kept.replace(' ', "-")
}

fn longest_run(text: &str) -> usize {
    text.split(|sign| sign != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_shows_any_text() {
        for (text, shown) in [
            ("PK = {id}", "`PK = {id}`"),
            ("a `b` c", "``a `b` c``"),
            ("`", "`` ` ``"),
            ("``x", "``` ``x ```"),
            ("two\nlines", "`two\u{FFFD}lines`"),
            ("", "(empty)"),
            ("  ", "(blank)"),
        ] {
            assert_eq!(code(text), shown);
        }
        assert_eq!(block("json", "{}\n"), "```json\n{}\n```\n");
        assert_eq!(block("", "a ``` b"), "````\na ``` b\n````\n");
    }

    #[test]
    fn json_stands_on_one_line_where_it_fits() {
        let long = "x".repeat(80);
        let value =
            serde_json::json!({ "Key": { "PK": { "S": "1" } }, "none": {}, "list": [{ "S": long }, { "S": long }] });
        let lines = [
            "{".to_owned(),
            r#"  "Key": { "PK": { "S": "1" } },"#.to_owned(),
            r#"  "none": {},"#.to_owned(),
            r#"  "list": ["#.to_owned(),
            format!(r#"    {{ "S": "{long}" }},"#),
            format!(r#"    {{ "S": "{long}" }}"#),
            "  ]".to_owned(),
            "}".to_owned(),
        ];
        assert_eq!(json(&serde_json::json!("a\u{10FFFF}\u{202E}é")), "```json\n\"a\\udbff\\udfff\\u202eé\"\n```\n");
        assert_eq!(json(&value), format!("```json\n{}\n```\n", lines.join("\n")));
    }

    #[test]
    fn a_row_stays_one_row() {
        let rows = [vec![code("a|b"), "two\nlines".to_owned()]];
        assert_eq!(table(&["x", "y"], &rows), "| x | y |\n| --- | --- |\n| `a\\|b` | two lines |\n");
        assert_eq!(table(&["x"], &[vec![plain("a|*b*")]]), "| x |\n| --- |\n| a\\|\\*b\\* |\n");
    }

    #[test]
    fn a_description_keeps_to_itself() {
        assert_eq!(quote("# Not a heading\n\n```\nopen"), "> # Not a heading\n>\n> ```\n> open\n");
    }

    #[test]
    fn headings_have_the_anchors_that_github_gives_them() {
        assert_eq!(
            (anchor("Query.userByEmail"), anchor("Item types")),
            ("queryuserbyemail".into(), "item-types".into())
        );
    }
}
