//! The files of clients: their texts, what they define, and what is wrong with them. Must not know schemas.

use crate::plan::error::{PlanError, PlanErrorKind};
use crate::plan::operation::definitions::ExecutableDefinition;
use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity, clause};
use crate::schema::diagnostics::lines::{LineIndex, LinePlace};
use crate::schema::diagnostics::suggestion::near;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;

/// The most findings of a file.
const MAX_FINDINGS: usize = 1_000;

/// A file.
pub struct ClientFile {
    /// Its name, as it is shown.
    pub name: String,
    /// Its text.
    pub text: String,
    lines: LineIndex,
    /// Its operations and fragments.
    pub definitions: Vec<ExecutableDefinition>,
    found: Vec<Diagnostic>,
    /// The place and the message of each finding.
    seen: HashSet<(Range<usize>, String)>,
}

/// All files.
pub struct ClientFiles {
    /// In the order of their names.
    pub files: Vec<ClientFile>,
    /// The fragments of each name: the number of the file, and that among its definitions.
    fragments: BTreeMap<String, Vec<(usize, usize)>>,
}

impl ClientFile {
    /// A file of which nothing is known but its text.
    pub fn new(name: String, text: String) -> Self {
        let lines = LineIndex::new(&text);
        Self { name, text, lines, definitions: Vec::new(), found: Vec::new(), seen: HashSet::new() }
    }

    /// The line and the column of an offset.
    pub fn position(&self, offset: usize) -> LinePlace {
        self.lines.place(&self.text, offset)
    }

    /// The bytes of the name, or of the one letter, at a line and a column.
    fn span(&self, (line, column): LinePlace) -> Range<usize> {
        let start = self.lines.bytes(&self.text, line).start;
        let rest = &self.text[start..];
        let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        let is_name = |letter: &char| letter.is_ascii_alphanumeric() || *letter == '_';
        let rest = &rest[within..];
        let sign = rest.chars().next().filter(|letter| matches!(letter, '$' | '@')).map_or(0, char::len_utf8);
        let length = sign + rest[sign..].chars().take_while(is_name).count();
        let length = length.max(rest.chars().next().map_or(0, char::len_utf8));
        start + within..start + within + length
    }

    /// Adds a mistake at its first place. What several operations share is there once.
    pub fn report_error(&mut self, error: &PlanError) {
        let span = error.locations.first().map_or(0..0, |place| self.span(*place));
        self.report(Severity::Error, code(error.kind), (span, &error.message));
    }

    fn report(&mut self, severity: Severity, code: &'static str, (span, message): (Range<usize>, &str)) {
        let message = clause(message);
        if self.found.len() < MAX_FINDINGS && self.seen.insert((span.clone(), message.clone())) {
            self.found.push(Diagnostic { code, severity, message, span, help: None, fix: Vec::new() });
        }
    }
}

impl ClientFiles {
    /// These files.
    pub fn new(files: Vec<ClientFile>) -> Self {
        let mut fragments: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            for (number, one) in file.definitions.iter().enumerate().filter(|(_, one)| one.is_fragment) {
                fragments.entry(one.name.clone().unwrap_or_default()).or_default().push((at, number));
            }
        }
        Self { files, fragments }
    }

    /// All operations and fragments, each with the number of its file.
    pub fn definitions(&self) -> impl Iterator<Item = (usize, &ExecutableDefinition)> {
        self.files.iter().enumerate().flat_map(|(file, source)| source.definitions.iter().map(move |one| (file, one)))
    }

    /// The fragment of a name that a file means: its own, or else that of another file.
    pub fn fragment(&self, file: usize, name: &str) -> Option<(usize, &ExecutableDefinition)> {
        let named = self.fragments.get(name)?;
        // They are in the order of the files.
        let own = named.partition_point(|(at, _)| *at < file);
        let (at, number) = named.get(own).filter(|(at, _)| *at == file).or(named.first())?;
        Some((*at, self.files.get(*at)?.definitions.get(*number)?))
    }

    /// A mistake, with the fragment that was probably meant, if it is about one that no file has.
    pub fn with_meant(&self, message: String) -> String {
        let lacked = message.strip_prefix("Cannot find fragment `").and_then(|rest| rest.split('`').next());
        let known: Vec<&str> = self.fragments.keys().map(String::as_str).collect();
        match lacked.and_then(|name| near(name, &known)) {
            Some(meant) if !message.ends_with('?') => format!("{message} Did you mean `{meant}`?"),
            _ => message,
        }
    }

    /// Operations of one name in a file, and those without a name beside others: a server refuses such a document.
    fn doubles_of_operations(&self) -> Vec<(usize, Range<usize>, String)> {
        let mut found = Vec::new();
        for (file, source) in self.files.iter().enumerate() {
            let operations: Vec<_> = source.definitions.iter().filter(|one| !one.is_fragment).collect();
            let mut names = BTreeSet::new();
            for one in &operations {
                let message = match &one.name {
                    Some(name) if !names.insert(name) => format!("another operation of this file is also `{name}`"),
                    None if operations.len() > 1 => "an operation without a name stands alone in its file".to_owned(),
                    _ => continue,
                };
                found.push((file, one.head.clone(), message));
            }
        }
        found
    }

    /// Reports fragments of one name in several files: which of them a third file means, nobody knows. And operations
    /// that a file cannot have beside each other.
    pub fn report_doubles(&mut self) {
        let mut named: BTreeMap<String, Vec<(usize, Range<usize>)>> = BTreeMap::new();
        for (file, one) in self.definitions().filter(|(_, one)| one.is_fragment) {
            named.entry(one.name.clone().unwrap_or_default()).or_default().push((file, one.head.clone()));
        }
        let mut found = self.doubles_of_operations();
        for (name, places) in named {
            let Some(((first, _), others)) = places.split_first() else { continue };
            for (file, span) in others {
                let message = format!("the fragment `{name}` is also in {}", self.files[*first].name);
                found.push((*file, span.clone(), message));
            }
        }
        let code = code(PlanErrorKind::Validity);
        for (file, span, message) in found {
            self.files[file].report(Severity::Error, code, (span, &message));
        }
    }

    /// Warns of fragments that no operation spreads, so that nothing has checked them.
    pub fn report_unused(&mut self) {
        let mut used: BTreeSet<(usize, usize)> = BTreeSet::new();
        let mut open: Vec<(usize, &ExecutableDefinition)> =
            self.definitions().filter(|(_, one)| !one.is_fragment).collect();
        while let Some((file, one)) = open.pop() {
            let spread = one.spreads.iter().filter_map(|name| self.fragment(file, name));
            open.extend(spread.filter(|(at, fragment)| used.insert((*at, fragment.span.start))));
        }
        let is_unused =
            |(file, one): &(usize, &ExecutableDefinition)| one.is_fragment && !used.contains(&(*file, one.span.start));
        let unused: Vec<(usize, Range<usize>, String)> = self
            .definitions()
            .filter(is_unused)
            .map(|(file, one)| {
                let name = one.name.as_deref().unwrap_or_default();
                (file, one.head.clone(), format!("no operation spreads the fragment `{name}`, so nothing checks it"))
            })
            .collect();
        let code = code(PlanErrorKind::Validity);
        for (file, span, message) in unused {
            self.files[file].report(Severity::Warning, code, (span, &message));
        }
    }

    /// Whether anything is reported.
    pub fn has_findings(&self) -> bool {
        self.files.iter().any(|file| !file.found.is_empty())
    }

    /// What is reported, for each file of which something is.
    pub fn into_diagnostics(self) -> Vec<Diagnostics> {
        let with_findings = self.files.into_iter().filter(|file| !file.found.is_empty());
        with_findings
            .map(|ClientFile { name, text, mut found, .. }| {
                found.sort_by_key(|one| (one.span.start, one.span.end));
                Diagnostics { file: name, text, list: found }
            })
            .collect()
    }
}

/// The code that a client gets with an error of this kind.
fn code(kind: PlanErrorKind) -> &'static str {
    match kind {
        PlanErrorKind::Syntax => "GRAPHQL_PARSE_FAILED",
        PlanErrorKind::Validity | PlanErrorKind::NotAvailable => "GRAPHQL_VALIDATION_FAILED",
        PlanErrorKind::Input => "BAD_USER_INPUT",
        PlanErrorKind::Limit => "LIMIT_EXCEEDED",
        PlanErrorKind::Internal => "INTERNAL",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_name_with_its_sign_or_a_letter() {
        let file = ClientFile::new("a".into(), "query (\n  é $id: ID) {\n}\n".into());
        let shown = |place| file.text.get(file.span(place));
        assert_eq!([(1, 1), (2, 3), (2, 5), (3, 1)].map(shown), [Some("query"), Some("é"), Some("$id"), Some("}")]);
        assert_eq!([(0, 0), (4, 1), (9, 9)].map(shown), [Some("query"), Some(""), Some("")]);
        assert_eq!(file.position(file.span((2, 5)).start), (2, 5));
    }
}
