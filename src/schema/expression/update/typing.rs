//! The types of updates: values and their targets in; out, typed operands, or why a value cannot be written to its
//! target.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::literal::literal_value;
use crate::schema::expression::operand::{ArgumentType, Operand};
use crate::schema::expression::term::{Subject, Term, TermKind, is_numeric, type_name};
use crate::schema::expression::update::reader::{Reader, Use, WritePath};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::{Moment, ValueType};
use serde_json::{Value, json};
use std::ops::Range;

impl WritePath {
    /// The type as the API writes it.
    fn type_name(&self) -> String {
        match &self.kind {
            ValueType::Set(element) => format!("[{}]", element.name()),
            kind => type_name(kind, self.list),
        }
    }

    /// Null as a value of the target.
    pub(super) fn null(&self) -> Operand {
        Operand::Literal(Value::Null, ArgumentType(self.kind.clone()))
    }
}

impl Reader<'_> {
    /// A value in the form in which it is written to the target.
    pub(super) fn assigned(&mut self, term: Term, target: &WritePath, wanted: Use) -> Option<Operand> {
        let Term { kind, span } = term;
        match kind {
            TermKind::Unknown => None,
            TermKind::Size(_) => self.refuse(span, "size(…) works only in conditions.".to_owned()),
            TermKind::Path(path, kind, list) => {
                let written = self.parser.typing.text.get(span.clone()).unwrap_or_default().to_owned();
                if self.names.keys_only(&written) {
                    return self.refuse(
                        span,
                        format!("`{written}` is only part of a key's text, so an expression cannot use it."),
                    );
                }
                self.fits((&kind, list), target, &span)?;
                Some(Operand::Path(path))
            }
            TermKind::Argument(name, kind, list) => {
                self.fits((&kind, list), target, &span)?;
                if (wanted == Use::Summand || target.never_null) && self.names.may_be_null(&name) {
                    let why = match wanted {
                        Use::Summand => "and null cannot take part in a calculation",
                        Use::Value => "which is never null",
                    };
                    return self.refuse(
                        span,
                        format!("`:{name}` may be null, but the expression writes it to `{}`, {why}.", target.field),
                    );
                }
                let kept = if matches!(target.kind, ValueType::Json) { kind } else { target.kind.clone() };
                Some(Operand::Argument(name, ArgumentType(kept)))
            }
            TermKind::Claim(claim) => {
                self.fits((&ValueType::String, false), target, &span)?;
                Some(Operand::Claim(claim, ArgumentType(target.kind.clone())))
            }
            TermKind::Now if target.kind.as_aws().is_some_and(AwsScalar::takes_now) && !target.list => {
                Some(Operand::Now(ArgumentType(target.kind.clone())))
            }
            TermKind::Now => {
                self.fits((&ValueType::DateTime(Moment::Text), false), target, &span)?;
                Some(Operand::Now(ArgumentType(target.kind.clone())))
            }
            TermKind::Null if wanted == Use::Summand => {
                self.refuse(span, "Null cannot take part in a calculation.".to_owned())
            }
            TermKind::Null if target.never_null => self.refuse(span, format!("`{}` is never null.", target.field)),
            TermKind::Null => Some(target.null()),
            literal => self.literal(&literal, target, span),
        }
    }

    /// A literal of exactly the target's type.
    fn literal(&mut self, literal: &TermKind, target: &WritePath, span: Range<usize>) -> Option<Operand> {
        let (kind, list) = match &target.kind {
            ValueType::Set(element) => ((**element).clone(), true),
            kind => (kind.clone(), target.list),
        };
        let written = self.parser.typing.text.get(span.clone()).unwrap_or_default();
        let subject = Subject { kind, list, set: false, name: target.field.clone() };
        match literal_value(literal, written, &subject) {
            Ok((value, kept)) if std::mem::discriminant(&kept) == std::mem::discriminant(&subject.kind) => {
                Some(Operand::Literal(value, ArgumentType(kept)))
            }
            Ok(_) => self
                .refuse(span.clone(), format!("{written} is not {}, but `{}` is.", target.type_name(), target.field)),
            Err((message, help)) => {
                let message = message.replace("cannot be compared with", "cannot be written to");
                self.parser.typing.mistake(span, message, help.map(Help::from));
                None
            }
        }
    }

    /// `[]`
    pub(super) fn empty_list(&mut self, target: &WritePath, span: Range<usize>) -> Option<Operand> {
        if target.list && !matches!(target.kind, ValueType::Set(_)) {
            return Some(Operand::Literal(json!([]), ArgumentType(target.kind.clone())));
        }
        self.refuse(span, format!("`{}` is {}, but `[]` is a list.", target.field, target.type_name()))
    }

    /// The operand of ADD: a number for a number, elements for a set.
    pub(super) fn amount(&mut self, target: &WritePath) -> Option<Operand> {
        let numeric = is_numeric(&target.kind) && !target.list;
        if !numeric && !matches!(target.kind, ValueType::Set(_)) {
            let message = format!("ADD is for numbers and sets, but `{}` is {}.", target.field, target.type_name());
            return self.refuse(target.span.clone(), message);
        }
        self.top_level(target, "ADD")?;
        if numeric { self.plain(target) } else { self.elements(target) }
    }

    /// The operand of DELETE, and of ADD for a set: a list of elements, or a single one.
    pub(super) fn elements(&mut self, target: &WritePath) -> Option<Operand> {
        let ValueType::Set(element) = &target.kind else {
            let message = format!("DELETE is for sets, but `{}` is {}.", target.field, target.type_name());
            let help = "To remove a field, use REMOVE.".to_owned();
            self.parser.typing.mistake(target.span.clone(), message, Some(help.into()));
            return None;
        };
        self.top_level(target, "DELETE")?;
        let single = WritePath {
            field: target.field.clone(),
            path: target.path.clone(),
            kind: (**element).clone(),
            list: false,
            never_null: false,
            whole: false,
            span: target.span.clone(),
        };
        let set = ArgumentType(target.kind.clone());
        match self.parser.peek(0) {
            Some(crate::schema::expression::lexer::Token::Argument(name)) => {
                let list = self.names.argument(name).is_ok_and(|(_, list)| list);
                match self.plain(if list { target } else { &single })? {
                    Operand::Argument(name, _) => Some(Operand::Argument(name, set)),
                    other => Some(other),
                }
            }
            _ => match self.plain(&single)? {
                Operand::Literal(value, _) => Some(Operand::Literal(json!([value]), set)),
                other => Some(other),
            },
        }
    }

    /// The operand of ADD or DELETE, which take no paths (DynamoDB developer guide, "Using update expressions in
    /// DynamoDB").
    fn plain(&mut self, target: &WritePath) -> Option<Operand> {
        let term = self.parser.term()?;
        if let TermKind::Path(..) = term.kind {
            return self.refuse(term.span, "ADD and DELETE take an argument or a literal.".to_owned());
        }
        self.assigned(term, target, Use::Summand)
    }

    fn top_level(&mut self, target: &WritePath, clause: &str) -> Option<()> {
        if target.whole {
            return Some(());
        }
        self.refuse(target.span.clone(), format!("{clause} works only on whole attributes, not on parts of one."))
            .map(|_| ())
    }

    /// Reports a sum or difference that is written to anything but a number.
    pub(super) fn check_sum(&mut self, target: &WritePath, span: Range<usize>) -> Option<()> {
        if is_numeric(&target.kind) && !target.list {
            return Some(());
        }
        self.refuse(span, format!("`{}` is {}, but + and - give numbers.", target.field, target.type_name()))
            .map(|_| ())
    }

    /// Reports the removal of a field that is never null.
    pub(super) fn check_removable(&mut self, target: &WritePath) -> Option<()> {
        if !target.never_null {
            return Some(());
        }
        let message = format!("`{}` is never null, so the expression cannot remove it.", target.field);
        self.refuse(target.span.clone(), message).map(|_| ())
    }

    fn fits(&mut self, (kind, list): (&ValueType, bool), target: &WritePath, span: &Range<usize>) -> Option<()> {
        // A set is a list in the API, which its type already says.
        let is_list = |kind: &ValueType, list: bool| list || matches!(kind, ValueType::Set(_));
        let is_path = !self.parser.typing.text.get(span.clone()).unwrap_or_default().starts_with(':');
        let moments = |one: &ValueType, other: &ValueType| is_path && !one.is_kept_as(other);
        let is_checked = target.kind.as_aws().is_none_or(|scalar| kind.as_aws() == Some(scalar));
        let sound = match self.names.writable(kind, &target.kind) {
            Ok(()) if is_path && !is_checked => Err(format!("nothing checks that it is {}", target.kind.name())),
            Ok(()) if moments(kind, &target.kind) => Err("they are not stored in the same form".to_owned()),
            Ok(()) if matches!(target.kind, ValueType::Json) && !target.list => Ok(()),
            Ok(()) if is_list(kind, list) != is_list(&target.kind, target.list) => {
                Err("only one of them is a list".to_owned())
            }
            sound => sound,
        };
        match sound {
            Ok(()) => Some(()),
            Err(why) => {
                let written = self.parser.typing.text.get(span.clone()).unwrap_or_default();
                let message = format!("`{written}` cannot be written to `{}`: {why}.", target.field);
                self.refuse(span.clone(), message).map(|_| ())
            }
        }
    }

    fn refuse(&mut self, span: Range<usize>, message: String) -> Option<Operand> {
        self.parser.typing.mistake(span, message, None);
        None
    }
}
