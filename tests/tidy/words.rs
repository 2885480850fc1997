//! Rust files and documents in, the words that the project does not use out. Must not know the other rules.
//!
//! A word of an identifier counts: `is_told` has the word `told`. Capitals do not matter.

use std::collections::BTreeMap;

/// Private idioms, each with what says it plainly.
const BANNED_FORMS: [(&str, &str); 2] =
    [("told", "reported, distinguished, notified, revealed or known"), ("nobody hears", "nobody learns or receives")];

/// Each banned form in these files, each a path and a text. `known` is how many of them a file may have.
pub fn banned_forms(files: &[(String, String)], known: &[(&str, usize)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut known: BTreeMap<&str, usize> = known.iter().copied().collect();
    for (path, text) in files {
        let places = forms_in(text);
        let allowed = known.remove(path.as_str()).unwrap_or_default();
        if places.len() > allowed {
            let say = |(line, form, plain): &(usize, &str, &str)| format!("{path}:{line}: for `{form}`, say {plain}");
            found.extend(places.iter().map(say));
        } else if places.len() < allowed {
            found.push(format!("{path}: {} banned forms, not {allowed}; say so in the exceptions", places.len()));
        }
    }
    found.extend(known.keys().map(|path| format!("{path}: this exception names no file")));
    found
}

/// The banned forms of a text: the line of each, from 1, the form, and what says it plainly. A form of several words
/// may begin on one line and end on the next.
fn forms_in(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let words: Vec<(usize, String)> = text.lines().zip(1..).flat_map(|(line, number)| words_of(line, number)).collect();
    let begins_with = |words: &[(usize, String)], form: &str| {
        let mut rest = words.iter();
        form.split(' ').all(|part| rest.next().is_some_and(|(_, word)| word == part))
    };
    let mut found = Vec::new();
    for (at, (line, _)) in words.iter().enumerate() {
        let forms = BANNED_FORMS.iter().filter(|(form, _)| begins_with(&words[at..], form));
        found.extend(forms.map(|(form, plain)| (*line, *form, *plain)));
    }
    found
}

/// The words of a line in small letters: what stands between all that is no letter or digit.
fn words_of(line: &str, number: usize) -> impl Iterator<Item = (usize, String)> {
    let parts = line.split(|letter: char| !letter.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.map(move |part| (number, part.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, known: &[(&str, usize)]) -> Vec<String> {
        banned_forms(&[("src/a.rs".to_owned(), text.to_owned())], known)
    }

    #[test]
    fn banned_forms_are_found_in_text_and_in_names() {
        let said = "for `told`, say reported, distinguished, notified, revealed or known";
        assert_eq!(found("//! Text.\n// The caller is told.\n", &[]), [format!("src/a.rs:2: {said}")]);
        for text in ["fn is_told() {}", "const TOLD: u8 = 1;", "struct Told;", "let told_by = 1;", "\"{told}\""] {
            assert_eq!(found(text, &[]), [format!("src/a.rs:1: {said}")], "{text}");
        }
    }

    #[test]
    fn a_form_of_several_words_is_found_over_lines_and_in_names() {
        for text in ["// Nobody hears of it.", "// Here nobody\n// hears of it.", "fn nobody_hears_of_it() {}"] {
            assert_eq!(found(text, &[]), ["src/a.rs:1: for `nobody hears`, say nobody learns or receives"], "{text}");
        }
    }

    #[test]
    fn parts_of_words_are_left_alone() {
        assert_eq!(found("// Untold, toldest, a client hears, nobody ever hears.\nlet stolds = 1;\n", &[]), [""; 0]);
    }

    #[test]
    fn an_exception_is_exact() {
        let text = "// told\n// told\n";
        assert_eq!(found(text, &[("src/a.rs", 2)]), [""; 0]);
        assert_eq!(found(text, &[("src/a.rs", 1)]).len(), 2);
        assert_eq!(found(text, &[("src/a.rs", 3)]), ["src/a.rs: 2 banned forms, not 3; say so in the exceptions"]);
        assert_eq!(found(text, &[("src/a.rs", 2), ("src/b.rs", 1)]), ["src/b.rs: this exception names no file"]);
    }
}
