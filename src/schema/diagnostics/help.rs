//! What a finding says to write instead: a sentence for people, and where it names one remedy, the edits that make it.
//! Must not know the rules.

use crate::schema::diagnostics::span::Span;

/// A part of the author's text, and what is written in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Byte offsets into the text. An empty range inserts.
    pub span: Span,
    /// The new text.
    pub text: String,
}

/// What to write instead, or the valid choices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Help {
    /// The sentence.
    pub text: String,
    remedy: Remedy,
}

/// What makes the text of a schema right.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Remedy {
    /// The author decides.
    Chosen,
    /// Another text in place of one that the place of the finding has once.
    Instead { wrong: String, right: String },
    /// Edits anywhere.
    Edits(Vec<Edit>),
}

impl<T: Into<String>> From<T> for Help {
    fn from(text: T) -> Self {
        Self { text: text.into(), remedy: Remedy::Chosen }
    }
}

impl Help {
    /// The sentence, and the right text in place of the wrong one, which stands at the place of the finding.
    pub fn instead(text: impl Into<String>, wrong: &str, right: impl Into<String>) -> Self {
        Self { text: text.into(), remedy: Remedy::Instead { wrong: wrong.to_owned(), right: right.into() } }
    }

    /// The sentence, and the text that is written in place of a part of the author's.
    pub fn edit(text: impl Into<String>, span: Span, new: impl Into<String>) -> Self {
        Self::edits(text, vec![Edit { span, text: new.into() }])
    }

    /// The sentence, and all edits that follow it.
    pub fn edits(text: impl Into<String>, edits: Vec<Edit>) -> Self {
        Self { text: text.into(), remedy: Remedy::Edits(edits) }
    }

    /// The edits, in the order of the text; none if the sentence leaves a choice.
    pub(super) fn into_edits(self, text: &str, place: &Span) -> Vec<Edit> {
        match self.remedy {
            Remedy::Chosen => Vec::new(),
            Remedy::Edits(mut edits) => {
                edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
                edits
            }
            Remedy::Instead { wrong, right } => {
                let mut found = whole(text.get(place.clone()).unwrap_or_default(), &wrong);
                match (found.next(), found.next()) {
                    (Some(at), None) => {
                        let start = place.start + at;
                        vec![Edit { span: start..start + wrong.len(), text: right }]
                    }
                    _ => Vec::new(),
                }
            }
        }
    }
}

/// Where a text stands that does not go on as a name on either side.
fn whole<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let (starts, ends) = (word.starts_with(name), word.ends_with(name));
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let (before, after) = (&text[..*at], &text[at + word.len()..]);
        let goes_on = starts && before.ends_with(name) || ends && after.starts_with(name);
        !(word.is_empty() || goes_on)
    })
}

/// A text with the edits made, which are in its order and do not overlap.
pub fn edited(text: &str, edits: &[Edit]) -> String {
    let mut out = text.to_owned();
    for edit in edits.iter().rev().filter(|edit| text.get(edit.span.clone()).is_some()) {
        out.replace_range(edit.span.clone(), &edit.text);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_replaced_where_it_stands_once_as_a_whole() {
        let text = r#"keys: "{ids}#{id}""#;
        let place = 6..text.len();
        let right = edited(text, &Help::instead("…", "id", "no").into_edits(text, &place));
        assert_eq!(right, r#"keys: "{ids}#{no}""#);
        assert_eq!(Help::instead("…", "#", "-").into_edits("a#b#c", &(0..5)), []);
        assert_eq!(Help::from("…").into_edits(text, &place), []);
    }

    #[test]
    fn edits_are_made_from_the_end() {
        let edit = |span: Span, text: &str| Edit { span, text: text.to_owned() };
        let edits = Help::edits("…", vec![edit(3..3, "d"), edit(0..1, "xy")]).into_edits("abc", &(0..3));
        assert_eq!(edited("abc", &edits), "xybcd");
    }
}
