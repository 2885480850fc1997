//! Findings in, a log of SARIF 2.1.0 out, as code scanning reads it
//! (<https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>).

use super::listing::{PlacedFinding, placed};
use crate::schema::diagnostics::diagnostic::Diagnostics;
use crate::schema::diagnostics::help::Edit;
use crate::schema::diagnostics::lines::LinePlace;
use crate::schema::diagnostics::rules::rule_of;
use serde_json::{Value, json};

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The log, with the rules that the findings break.
pub fn log(found: &[Diagnostics]) -> Value {
    let mut codes: Vec<&str> = placed(found).map(|finding| finding.diagnostic.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let results: Vec<Value> = placed(found).map(|finding| result(&finding, &codes)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Keyfold",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn rule(code: &str) -> Value {
    match rule_of(code) {
        Some(rule) => json!({
            "id": code, "shortDescription": { "text": rule.title }, "fullDescription": { "text": rule.explanation },
        }),
        None => json!({ "id": code }),
    }
}

fn result(finding: &PlacedFinding<'_>, codes: &[&str]) -> Value {
    let diagnostic = finding.diagnostic;
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    let artifact = json!({ "uri": uri(&finding.source.file) });
    let mut result = json!({
        "ruleId": diagnostic.code,
        "ruleIndex": codes.iter().position(|code| *code == diagnostic.code),
        "level": finding.severity(),
        "message": { "text": format!("{}{help}", diagnostic.message) },
        "locations": [{ "physicalLocation": { "artifactLocation": artifact, "region": region(finding.range()) } }],
    });
    if !diagnostic.fix.is_empty() {
        let replacement = |edit: &Edit| {
            let deleted = region(finding.range_of(&edit.span));
            json!({ "deletedRegion": deleted, "insertedContent": { "text": edit.text } })
        };
        let replacements: Vec<Value> = diagnostic.fix.iter().map(replacement).collect();
        result["fixes"] =
            json!([{ "artifactChanges": [{ "artifactLocation": artifact, "replacements": replacements }] }]);
    }
    result
}

fn region([(line, column), (end_line, end_column)]: [LinePlace; 2]) -> Value {
    json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column })
}

/// A path as a reference to a URI (RFC 3986): relative as it is, and absolute as that of a file.
fn uri(path: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'/');
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.replace('\\', "/").bytes() {
        match is_plain(byte) {
            true => uri.push(char::from(byte)),
            false => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_a_reference() {
        assert_eq!(uri("api/schéma 1.graphql"), "api/sch%C3%A9ma%201.graphql");
        assert_eq!(uri("/srv/a.graphql"), "file:///srv/a.graphql");
    }
}
