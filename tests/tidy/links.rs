//! Documents in, the links in them that lead nowhere out: to a file or to a heading that is not there. Must not know
//! the other rules.

use std::collections::{BTreeMap, BTreeSet};

/// The links that lead nowhere, of these documents, each a path and a text. `exists` says whether there is a file.
pub fn broken(documents: &[(String, String)], exists: &dyn Fn(&str) -> bool) -> Vec<String> {
    let headings: BTreeMap<&str, BTreeSet<String>> =
        documents.iter().map(|(path, text)| (path.as_str(), anchors(text))).collect();
    let mut found = Vec::new();
    for (path, text) in documents {
        for (line, link) in links(text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { path.clone() } else { resolved(path, file) };
            let has_heading = || headings.get(target.as_str()).is_none_or(|anchors| anchors.contains(anchor));
            if !file.is_empty() && !exists(&target) {
                found.push(format!("{path}:{line}: there is no {link}"));
            } else if !anchor.is_empty() && !has_heading() {
                found.push(format!("{path}:{line}: {link} has no such heading"));
            }
        }
    }
    found
}

/// The lines outside of blocks of code, with their numbers from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    text.lines().zip(1..).filter_map(move |(line, number)| {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        (!inside && !is_fence).then_some((number, line))
    })
}

/// The targets of links that are no addresses, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                found.push((number, target.to_owned()));
            }
        }
    }
    found
}

/// What links call the headings of a document.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|(_, line)| line.starts_with('#'));
    headings.map(|(_, line)| slug(line.trim_start_matches('#').trim())).collect()
}

fn slug(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, '-' | '_')).collect()
}

/// A path that is relative to the folder of a file, from the root.
fn resolved(from: &str, to: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in to.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let other = ("docs/other.md".to_owned(), "# Two words, `three`\n".to_owned());
        broken(&[("docs/a/b.md".to_owned(), text.to_owned()), other], &|path| path.starts_with("docs/"))
    }

    #[test]
    fn links_that_lead_nowhere_are_found() {
        let text =
            "# One\n[a](#one) [b](#two)\n[c](../other.md#two-words-three) [d](../other.md#four)\n[e](../../no.md)\n";
        let lines = [
            "docs/a/b.md:2: #two has no such heading",
            "docs/a/b.md:3: ../other.md#four has no such heading",
            "docs/a/b.md:4: there is no ../../no.md",
        ];
        assert_eq!(found(text), lines);
    }

    #[test]
    fn code_and_addresses_are_left_alone() {
        assert_eq!(found("```\n[a](no.txt)\n# no\n```\n[b](https://example.org/x)\n"), [""; 0]);
        assert_eq!(found("```\n# one\n```\n[a](#one)\n"), ["docs/a/b.md:4: #one has no such heading"]);
    }
}
