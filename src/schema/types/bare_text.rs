//! Text in `where:`, `set:`, `@default` or a key that names something in scope without the braces of a placeholder in,
//! a warning out: most likely its braces are missing, or are those of another language.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{At, within};
use crate::schema::expression::claim::ClaimPath;

/// The signs that other languages put before and after a name.
const SIGNS: [(&str, &str); 7] = [("${", "}"), ("{{", "}}"), (":", ""), ("$", ""), ("<", ">"), ("%", "%"), ("[", "]")];

/// Warns of a text that is a claim, or one of these names, each with what it names. The name may have another
/// language's signs around it.
pub fn warn_of_name(text: &At<String>, known: impl Fn(&str) -> Option<String>, findings: &mut Findings) {
    let written = &text.value;
    let signs = [("", "")].into_iter().chain(SIGNS);
    let named = signs.into_iter().find_map(|(before, after)| {
        let name = written.strip_prefix(before)?.strip_suffix(after)?;
        let claim = || ClaimPath::parse(name).filter(|_| before != "${").map(|_| "a claim".to_owned());
        Some((name, known(name).or_else(claim)?))
    });
    let Some((name, what)) = named else { return };
    let message = match written.starts_with("${") {
        true => format!("the `$` in \"{written}\" is part of the text; a placeholder has none"),
        false => format!("\"{written}\" is the text itself, not the value of {what} of this name"),
    };
    let help = Help::instead(format!("write `\"{{{name}}}\"` if you mean the value"), written, format!("{{{name}}}"));
    findings.warning(rules::KF0438, &text.span, message, Some(help));
}

/// Warns of each part of a key's template that is a field's name in the signs of another language. `has` says whether
/// the template has the field as a placeholder.
pub fn warn_in_template<'f>(
    source: &str,
    template: &At<String>,
    fields: impl Iterator<Item = &'f str>,
    has: impl Fn(&str) -> bool,
    findings: &mut Findings,
) {
    for field in fields {
        for (before, after) in SIGNS.iter().filter(|(before, _)| *before == "${" || !has(field)) {
            let signed = format!("{before}{field}{after}");
            let Some(at) = template.value.find(&signed) else { continue };
            let goes_on = template.value[at + signed.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            if after.is_empty() && goes_on {
                continue;
            }
            let message = match *before {
                "${" => "the `$` is part of the key; a placeholder has none".to_owned(),
                _ => format!("`{signed}` is the text itself, so all keys have it; a placeholder has braces"),
            };
            let place = within(source, &template.span, &(at..at + signed.len()));
            let help = Help::instead(format!("write `{{{field}}}`"), &signed, format!("{{{field}}}"));
            findings.warning(rules::KF0438, &place, message, Some(help));
            break;
        }
    }
}
