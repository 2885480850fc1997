//! The paths of a condition: `name`, `address.city`, `foods[0].name` in; out, stored names, list positions and a type.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::condition::parser::{Parser, is_keyword};
use crate::schema::expression::lexer::Token;
use crate::schema::expression::operand::{Path, Segment};
use crate::schema::expression::term::{Term, TermKind};
use crate::schema::scalar::value_type::ValueType;
use std::ops::Range;

/// A name of a path, its place and the list positions after it.
type Step<'a> = (&'a str, Range<usize>, Vec<u32>);

impl<'a> Parser<'a> {
    /// `name`, `name.name`, `name[0].name`.
    pub fn path(&mut self) -> Option<Term> {
        let from = self.place().start;
        let mut steps: Vec<Step<'a>> = Vec::new();
        let mut end;
        loop {
            let span = self.place();
            match self.peek(0) {
                // After a dot, a keyword is a name.
                Some(Token::Word(name)) if !steps.is_empty() || !is_keyword(name) => {
                    steps.push((*name, span.clone(), Vec::new()))
                }
                _ => {
                    self.expected("a field's name");
                    return None;
                }
            }
            end = span.end;
            self.at += 1;
            while self.mark('[') {
                match (self.peek(0), steps.last_mut()) {
                    (Some(Token::Number(number)), Some((_, _, positions))) if number.parse::<u32>().is_ok() => {
                        positions.extend(number.parse::<u32>());
                    }
                    _ => {
                        self.expected("a position in the list, from 0");
                        return None;
                    }
                }
                self.at += 1;
                end = self.place().end;
                self.expect(']')?;
            }
            if !self.mark('.') {
                break;
            }
        }
        let span = from..end;
        Some(Term { kind: self.resolve(&steps, span.clone()), span })
    }

    /// The stored path and type that the names resolve to. Reports names that resolve to nothing and returns
    /// [`TermKind::Unknown`].
    fn resolve(&mut self, steps: &[Step<'a>], whole: Range<usize>) -> TermKind {
        let fields: Vec<&str> = steps.iter().map(|(name, ..)| *name).collect();
        let named = if self.existence { self.names.existing(&fields) } else { self.names.path(&fields) };
        let (stored, kind, list) = match named {
            Ok(resolved) => resolved,
            Err((position, choices)) => {
                let (name, span) = steps.get(position).map_or(("", whole), |(name, span, _)| (*name, span.clone()));
                let is_argument = steps.len() == 1 && self.names.argument(name).is_ok();
                let argument = is_argument
                    .then(|| Help::instead(format!("The argument is written `:{name}`."), name, format!(":{name}")));
                let help = argument.or_else(|| self.names.help(fields.get(..=position).unwrap_or_default()));
                self.typing.mistake(
                    span,
                    format!("The field `{name}` does not exist."),
                    help.or_else(|| suggest(name, choices.iter().map(String::as_str))),
                );
                return TermKind::Unknown;
            }
        };
        self.may_hold_null = self.existence && self.names.may_hold_null(&fields);
        let mut segments = Vec::new();
        for (position, (name, span, positions)) in steps.iter().enumerate() {
            let last = position + 1 == steps.len();
            let here = if last { Ok((Vec::new(), kind.clone(), list)) } else { self.names.path(&fields[..=position]) };
            if let Ok((_, here, is_list)) = here
                && !matches!(here, ValueType::Json)
                && let Some((message, help)) = match &here {
                    ValueType::Map(form) => within_map((name, &form.by.field), positions.len(), last),
                    _ => misplaced(name, is_list && !matches!(here, ValueType::Set(_)), positions.len(), last),
                }
            {
                self.typing.mistake(span.clone(), message, help.map(Help::from));
                return TermKind::Unknown;
            }
            segments.extend(stored.get(position).cloned().map(Segment::Attribute));
            segments.extend(positions.iter().copied().map(Segment::Index));
        }
        if let ([name], [Segment::Attribute(_)]) = (fields.as_slice(), segments.as_slice())
            && let Some(field) = self.names.in_key(name)
        {
            segments = vec![Segment::InKey(field)];
        }
        // A stored path may be longer than the API's: the rest belongs to the last name.
        segments.extend(stored.into_iter().skip(steps.len()).map(Segment::Attribute));
        let element = steps.last().is_some_and(|(_, _, positions)| !positions.is_empty());
        TermKind::Path(Path { segments }, kind, list && !element)
    }
}

/// The mistake of a path that leads into the map of a name, whose keys no expression names.
fn within_map((name, key): (&str, &str), positions: usize, last: bool) -> Option<(String, Option<String>)> {
    let message = || format!("`{name}` is stored as a map by `{key}`, and an expression cannot name its entries.");
    let help = || format!("An `@update` changes one entry: `at: \"{name}[{key} = :{key}]\"`.");
    (positions > 0 || !last).then(|| (message(), Some(help())))
}

/// The mistake in the list positions after a name, if there is one.
fn misplaced(name: &str, list: bool, positions: usize, last: bool) -> Option<(String, Option<String>)> {
    match (list, positions) {
        (false, 1..) => Some((format!("`{name}` is not a list, so it has no positions."), None)),
        (true, 2..) => Some((format!("`{name}` is a list, and its elements are not lists."), None)),
        (true, 0) if !last => {
            Some((format!("`{name}` is a list."), Some(format!("Name one element by its position: `{name}[0]`."))))
        }
        _ => None,
    }
}
