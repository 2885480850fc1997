//! An operation with the fragments that it needs, of any file, in; one document, and the places of its lines, out.

use super::sources::ClientFiles;
use crate::plan::operation::definitions::ExecutableDefinition;
use std::collections::BTreeSet;

/// A document that is made of parts of files. A part begins on a line of its own, at the column that it has in its
/// file.
pub struct Assembly {
    /// The document.
    pub text: String,
    /// The number of its last line, which is empty.
    line: usize,
    parts: Vec<Part>,
}

/// Lines of a file.
struct Part {
    /// The number of the file.
    file: usize,
    /// The first line in the document, from 1.
    line: usize,
    /// The same line in the file.
    line_of_file: usize,
}

impl Assembly {
    fn add(&mut self, sources: &ClientFiles, file: usize, definition: &ExecutableDefinition) {
        let source = &sources.files[file];
        let (line_of_file, column) = source.position(definition.span.start);
        let text = &source.text[definition.span.clone()];
        self.parts.push(Part { file, line: self.line, line_of_file });
        self.text.extend(std::iter::repeat_n(' ', column - 1));
        self.text.push_str(text);
        self.text.push('\n');
        self.line += text.matches('\n').count() + 1;
    }

    /// The file with line and column of a place in the document.
    pub fn place(&self, (line, column): (usize, usize)) -> Option<(usize, (usize, usize))> {
        let part = &self.parts[self.parts.partition_point(|part| part.line <= line).checked_sub(1)?];
        Some((part.file, (part.line_of_file + line - part.line, column)))
    }
}

/// The document of an operation.
pub fn assembled(sources: &ClientFiles, file: usize, operation: &ExecutableDefinition) -> Assembly {
    let mut assembly = Assembly { text: String::new(), line: 1, parts: Vec::new() };
    assembly.add(sources, file, operation);
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut open = vec![(file, operation)];
    while let Some((file, definition)) = open.pop() {
        for name in &definition.spreads {
            // A document has one fragment of a name.
            let Some((at, fragment)) = sources.fragment(file, name).filter(|_| names.insert(name.as_str())) else {
                continue;
            };
            assembly.add(sources, at, fragment);
            open.push((at, fragment));
        }
    }
    assembly
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::sources::ClientFile;
    use super::*;
    use crate::plan::operation::definitions::definitions;
    use apollo_compiler::Schema;

    #[test]
    fn places_are_those_of_the_files() {
        let api = Schema::parse_and_validate("type Query { a: Int }", "api").unwrap();
        let mut files = Vec::new();
        for (name, text) in [
            ("f", "fragment G on Query { a }\n\n  fragment F on Query {\n ...G }\nfragment H on Query { a }"),
            ("o", "{ a } query O {\n  ...F\n}"),
        ] {
            let mut file = ClientFile::new(name.into(), text.into());
            file.definitions = definitions(&api, text).unwrap();
            files.push(file);
        }
        let sources = ClientFiles::new(files);
        let assembly = assembled(&sources, 1, &sources.files[1].definitions[1]);
        let expected = "      query O {\n  ...F\n}\n  fragment F on Query {\n ...G }\nfragment G on Query { a }\n";
        assert_eq!(assembly.text, expected);
        let places = [(1, 7), (2, 3), (4, 3), (5, 2), (6, 1)].map(|place| assembly.place(place).unwrap());
        assert_eq!(places, [(1, (1, 7)), (1, (2, 3)), (0, (3, 3)), (0, (4, 2)), (0, (1, 1))]);
    }
}
