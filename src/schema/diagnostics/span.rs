//! Byte ranges in the author's text: of syntax nodes, and of parts of string literals. Must not know what is reported
//! about them.

use apollo_compiler::ast::Type;
use apollo_compiler::parser::SourceSpan;
use std::ops::Range;

/// A byte range in the author's text.
pub type Span = Range<usize>;

/// A value with its place.
#[derive(Debug, Clone)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place; for a string, the whole literal with its quotes.
    pub span: Span,
}

/// The range of a node or a name; an empty range at the start of the text if it has no place.
pub fn from_location(location: Option<SourceSpan>) -> Span {
    location.map_or(0..0, |at| at.offset()..at.end_offset())
}

/// The range of a type's name, without the signs around it.
pub fn from_type(ty: &Type) -> Span {
    from_location(ty.inner_named_type().location())
}

/// The end of a type with the signs after its name.
pub fn after_type(text: &str, ty: &Type) -> usize {
    let end = from_type(ty).end;
    let rest = text.get(end..).unwrap_or_default();
    end + rest.len() - rest.trim_start_matches([']', '!']).len()
}

/// The range of a part of a string's value. Block strings and strings with escapes do not map byte by byte; for these,
/// the range is the whole literal.
pub fn within(text: &str, literal: &Span, part: &Range<usize>) -> Span {
    let Some(source) = text.get(literal.clone()) else { return literal.clone() };
    let plain = source.len() >= 2 && source.starts_with('"') && !source.starts_with("\"\"\"") && !source.contains('\\');
    let (start, end) = (literal.start + 1 + part.start, literal.start + 1 + part.end);
    if plain && start <= end && end < literal.end { start..end } else { literal.clone() }
}

#[cfg(test)]
mod tests {
    use super::within;

    #[test]
    fn a_part_of_a_plain_string_is_found_behind_its_quote() {
        let text = r#"keys: "Group#{id}" "#;
        assert_eq!(&text[within(text, &(6..18), &(6..10))], "{id}");
    }

    #[test]
    fn escaped_and_block_strings_are_marked_whole() {
        let text = r#""a\n{id}" """{id}""""#;
        assert_eq!(within(text, &(0..9), &(2..6)), 0..9);
        assert_eq!(within(text, &(10..20), &(0..4)), 10..20);
    }

    #[test]
    fn a_part_beyond_the_literal_is_the_literal() {
        assert_eq!(within("\"ab\"", &(0..4), &(0..9)), 0..4);
    }
}
