//! The types of conditions: terms with resolved names in; out, typed conditions, or why the types do not match.
//!
//! The subject of a comparison is its first field or `size`; without one, its first argument. The other values take the
//! subject's type: beside a DateTime, a text is an instant; beside an enum, it is one of the enum's values.

use crate::schema::diagnostics::help::Help;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::literal::literal_value;
use crate::schema::expression::names::ConditionMistake;
use crate::schema::expression::operand::{ArgumentType, Comparator, Operand, Path};
use crate::schema::expression::term::{Subject, Term, TermKind, is_numeric, type_name};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::{Moment, ValueType};
use std::ops::Range;

/// The most values of an IN (DynamoDB developer guide, "Constraints in Amazon DynamoDB", expression parameters).
const MAX_OPERANDS: usize = 100;

/// The types that `attribute_type` accepts (DynamoDB developer guide, "Naming rules and data types", data type
/// descriptors).
const DESCRIPTORS: [&str; 10] = ["S", "SS", "N", "NS", "B", "BS", "BOOL", "NULL", "L", "M"];

/// The text that is checked, and its mistakes.
pub struct Typing<'t> {
    /// The condition's text.
    pub text: &'t str,
    /// The mistakes so far.
    pub mistakes: Vec<ConditionMistake>,
}

impl Typing<'_> {
    /// Reports a mistake.
    pub fn mistake(&mut self, span: Range<usize>, message: String, help: Option<Help>) {
        self.mistakes.push(ConditionMistake { span, message, help });
    }

    /// `left = right`, and the same with the other comparators.
    pub fn compare(&mut self, left: Term, comparator: Comparator, right: Term) -> Option<Condition> {
        let subject = self.subject(&[&left, &right])?;
        if !matches!(comparator, Comparator::Equal | Comparator::NotEqual) {
            self.ordered(&subject, &[&left, &right])?;
        }
        let span = span_of(&[&left, &right]);
        let (left, right) = (self.operand(left, &subject), self.operand(right, &subject));
        let (left, right) = (left?, right?);
        self.distinct(&left, std::slice::from_ref(&right), span)?;
        Some(Condition::Compare(left, comparator, right))
    }

    /// `value BETWEEN lower AND upper`.
    pub fn between(&mut self, value: Term, lower: Term, upper: Term) -> Option<Condition> {
        let subject = self.subject(&[&value, &lower, &upper])?;
        self.ordered(&subject, &[&value, &lower, &upper])?;
        let span = span_of(&[&value, &lower, &upper]);
        let [value, lower, upper] = [value, lower, upper].map(|term| self.operand(term, &subject));
        let (value, bounds) = (value?, [lower?, upper?]);
        self.distinct(&value, &bounds, span)?;
        let [lower, upper] = bounds;
        Some(Condition::Between(value, lower, upper))
    }

    /// `value IN (list)`. A list argument in it gives its values.
    pub fn in_list(&mut self, value: Term, list: Vec<Term>) -> Option<Condition> {
        let list: Vec<Term> = list.into_iter().map(one_of_many).collect();
        let terms: Vec<&Term> = std::iter::once(&value).chain(&list).collect();
        if list.len() > MAX_OPERANDS {
            let message = format!("IN takes at most {MAX_OPERANDS} values, but here are {}.", list.len());
            self.mistake(span_of(&terms), message, None);
            return None;
        }
        let (subject, span) = (self.subject(&terms)?, span_of(&terms));
        let value = self.operand(value, &subject);
        let list: Vec<Option<Operand>> = list.into_iter().map(|term| self.operand(term, &subject)).collect();
        let (value, list) = (value?, list.into_iter().collect::<Option<Vec<_>>>()?);
        self.distinct(&value, &list, span)?;
        Some(Condition::In(value, list))
    }

    /// `begins_with(path, operand)`: whether a text begins with a text, or bytes with bytes.
    pub fn begins_with(&mut self, path: Term, operand: Term) -> Option<Condition> {
        let subject = self.subject(&[&path])?;
        let kind = match (&subject.kind, subject.list) {
            (ValueType::Binary, false) => ValueType::Binary,
            (kind, false) if is_text(kind) || matches!(kind, ValueType::Json) => ValueType::String,
            _ => return self.unfit(&path, &subject, "begins_with is for text"),
        };
        if matches!(operand.kind, TermKind::Null) {
            self.mistake(operand.span, "No text begins with null.".to_owned(), None);
            return None;
        }
        let operand = self.operand(operand, &Subject { kind, list: false, set: false, name: subject.name })?;
        match path.kind {
            TermKind::Path(path, ..) => Some(Condition::BeginsWith(path, operand)),
            _ => None,
        }
    }

    /// `contains(path, operand)`: whether a text contains a text, or a list or set an element.
    pub fn contains(&mut self, path: Term, operand: Term) -> Option<Condition> {
        let subject = self.subject(&[&path])?;
        let kind = match (&subject.kind, subject.list) {
            (ValueType::Embedded(_) | ValueType::Map(_), _) => {
                return self.unfit(&path, &subject, "contains is for text and lists of single values");
            }
            (kind, true) => kind.clone(),
            (kind, false) if is_text(kind) => ValueType::String,
            (ValueType::Json, false) => ValueType::Json,
            _ => return self.unfit(&path, &subject, "contains is for text and lists of single values"),
        };
        let operand = self.operand(operand, &Subject { kind, list: false, set: false, name: subject.name })?;
        match path.kind {
            TermKind::Path(path, ..) => Some(Condition::Contains(path, operand)),
            _ => None,
        }
    }

    /// `attribute_type(path, 'S')`.
    pub fn attribute_type(&mut self, path: Path, operand: Term) -> Option<Condition> {
        match operand.kind {
            TermKind::Text(text) if DESCRIPTORS.contains(&text.as_str()) => Some(Condition::AttributeType(path, text)),
            _ => {
                let help = format!("Write one of '{}'.", DESCRIPTORS.join("', '"));
                self.mistake(
                    operand.span,
                    "The second argument of attribute_type must be a DynamoDB type.".to_owned(),
                    Some(help.into()),
                );
                None
            }
        }
    }

    /// `size(path)`: the length of text and bytes; the number of elements of lists, sets and maps.
    pub fn size(&mut self, path: Path, kind: &ValueType, list: bool, span: Range<usize>) -> TermKind {
        let sized = list
            || is_text(kind)
            || matches!(
                kind,
                ValueType::Binary | ValueType::Enum(_) | ValueType::Embedded(_) | ValueType::Set(_) | ValueType::Json
            );
        if sized {
            return TermKind::Size(path);
        }
        let name = self.text.get(span.clone()).unwrap_or_default();
        self.mistake(span, format!("`{name}` is {}, which has no size.", kind.name()), None);
        TermKind::Unknown
    }

    /// The subject of these terms; `None` if there is none, which has been or is now reported.
    fn subject(&mut self, terms: &[&Term]) -> Option<Subject> {
        if terms.iter().any(|term| matches!(term.kind, TermKind::Unknown)) {
            return None;
        }
        let name = |term: &Term| self.text.get(term.span.clone()).unwrap_or_default().to_owned();
        let subject = |kind: &ValueType, list, term: &Term| match kind {
            ValueType::Set(element) => Subject { kind: (**element).clone(), list: true, set: true, name: name(term) },
            _ => Subject { kind: kind.clone(), list, set: false, name: name(term) },
        };
        let field = terms.iter().find_map(|term| match &term.kind {
            TermKind::Path(_, kind, list) => Some(subject(kind, *list, term)),
            TermKind::Size(_) => Some(subject(&ValueType::Long, false, term)),
            _ => None,
        });
        let argument = terms.iter().find_map(|term| match &term.kind {
            TermKind::Argument(_, kind, list) => Some(subject(kind, *list, term)),
            _ => None,
        });
        let now = terms.iter().find(|term| matches!(term.kind, TermKind::Now));
        let now = now.map(|term| subject(&ValueType::DateTime(Moment::Text), false, term));
        let claim = terms.iter().find(|term| matches!(term.kind, TermKind::Claim(_)));
        let claim = claim.map(|term| subject(&type_beside(terms), false, term));
        match field.or(argument).or(now).or(claim) {
            Some(Subject { kind: ValueType::InForm(kind, form), name, .. })
                if *form == Form::Text && matches!(*kind, ValueType::Float | ValueType::Decimal) =>
            {
                let message = format!("`{name}` is a number that is kept as text, so 1.5 and 1.50 would differ.");
                self.mistake(span_of(terms), message, Some("Compare an Int, or a number that is kept as one.".into()));
                None
            }
            Some(subject) => Some(subject),
            None => {
                let span = span_of(terms);
                self.mistake(
                    span,
                    "This compares constants. One side must be a field or an argument.".to_owned(),
                    None,
                );
                None
            }
        }
    }

    /// Reports values that have no order.
    fn ordered(&mut self, subject: &Subject, terms: &[&Term]) -> Option<()> {
        let message = match subject.kind {
            _ if subject.list => format!("`{}` is a list, which has no order.", subject.name),
            ValueType::Boolean | ValueType::Enum(_) | ValueType::Embedded(_) | ValueType::Set(_) => {
                format!("`{}` is {}, which has no order.", subject.name, subject.kind.name())
            }
            _ if terms.iter().any(|term| matches!(term.kind, TermKind::Null)) => "null has no order.".to_owned(),
            ValueType::InForm(_, ref form) if !form.sorts() => {
                format!("`{}` is kept {form}, which does not sort as its values do.", subject.name)
            }
            _ => return Some(()),
        };
        self.mistake(span_of(terms), message, Some("Compare with =, <> or IN.".into()));
        None
    }

    /// Reports a value that is compared with itself, which DynamoDB refuses.
    fn distinct(&mut self, first: &Operand, others: &[Operand], span: Range<usize>) -> Option<()> {
        if !others.contains(first) {
            return Some(());
        }
        self.mistake(span, format!("`{first}` is compared with itself."), None);
        None
    }

    /// A term as a value that the subject can be compared with.
    fn operand(&mut self, term: Term, subject: &Subject) -> Option<Operand> {
        let Term { kind, span } = term;
        // Beside values of another kind, the mistake is that.
        let is_other_form =
            |kind: &ValueType| comparable(kind, &subject.kind) && !kind.is_kept_as(&subject.kind) && !subject.list;
        match kind {
            TermKind::Unknown => None,
            TermKind::Path(path, ValueType::Set(element), _) => {
                self.comparable((&element, true), subject, span).then_some(Operand::Path(path))
            }
            TermKind::Path(_, kind, false) if is_other_form(&kind) => {
                let name = self.text.get(span.clone()).unwrap_or_default();
                let message = format!(
                    "`{name}` and `{}` are not stored in the same form, so DynamoDB cannot compare them.",
                    subject.name
                );
                self.mistake(span, message, None);
                None
            }
            TermKind::Path(path, kind, list) => {
                self.comparable((&kind, list), subject, span).then_some(Operand::Path(path))
            }
            TermKind::Size(path) => {
                self.comparable((&ValueType::Long, false), subject, span).then_some(Operand::Size(path))
            }
            TermKind::Argument(name, kind, list) => self.comparable((&kind, list), subject, span).then(|| {
                let kept = kept_as(&kind, &subject.kind);
                Operand::Argument(name, ArgumentType(if subject.set { ValueType::Set(Box::new(kept)) } else { kept }))
            }),
            TermKind::Claim(claim) if !subject.list && !matches!(subject.kind, ValueType::Embedded(_)) => {
                Some(Operand::Claim(claim, ArgumentType(subject.kind.clone())))
            }
            TermKind::Claim(claim) => {
                let message = format!("`{claim}` is compared with `{}`, which is not a single value.", subject.name);
                self.mistake(
                    span,
                    message,
                    Some(format!("For a list, write `contains({}, {claim})`.", subject.name).into()),
                );
                None
            }
            TermKind::Now if subject.kind.as_aws().is_some_and(AwsScalar::takes_now) && !subject.list => {
                Some(Operand::Now(ArgumentType(subject.kind.clone())))
            }
            TermKind::Now => {
                let kind = ValueType::DateTime(Moment::Text);
                self.comparable((&kind, false), subject, span)
                    .then(|| Operand::Now(ArgumentType(kept_as(&kind, &subject.kind))))
            }
            literal => self.literal(&literal, subject, span),
        }
    }

    /// Reports a value that DynamoDB could only ever find different from the subject.
    fn comparable(&mut self, (kind, list): (&ValueType, bool), subject: &Subject, span: Range<usize>) -> bool {
        // A JSON attribute may hold any value.
        let any = |kind: &ValueType, list: bool| matches!(kind, ValueType::Json) && !list;
        if list == subject.list && comparable(kind, &subject.kind)
            || any(&subject.kind, subject.list)
            || any(kind, list)
        {
            return true;
        }
        let name = self.text.get(span.clone()).unwrap_or_default();
        let (one, other) = (type_name(kind, list), subject.type_name());
        let message = format!("`{name}` is {one} and cannot be compared with `{}`, which is {other}.", subject.name);
        let help = (list && !subject.list)
            .then(|| format!("To compare with each value of a list, use IN: `{} IN ({name})`.", subject.name).into());
        self.mistake(span, message, help);
        false
    }

    /// A literal as a value of the subject's type.
    fn literal(&mut self, literal: &TermKind, subject: &Subject, span: Range<usize>) -> Option<Operand> {
        let written = self.text.get(span.clone()).unwrap_or_default();
        match literal_value(literal, written, subject) {
            Ok((value, kind)) => Some(Operand::Literal(value, ArgumentType(kind))),
            Err((message, help)) => {
                self.mistake(span, message, help.map(Help::from));
                None
            }
        }
    }

    /// Reports that the function does not take a path of this type.
    fn unfit(&mut self, path: &Term, subject: &Subject, rule: &str) -> Option<Condition> {
        self.mistake(path.span.clone(), format!("{rule}, but `{}` is {}.", subject.name, subject.type_name()), None);
        None
    }
}

/// A value of an IN. A list argument gives its values, so it is typed as one of them.
fn one_of_many(term: Term) -> Term {
    match term.kind {
        TermKind::Argument(name, kind, _) => Term { kind: TermKind::Argument(name, kind, false), span: term.span },
        _ => term,
    }
}

/// The type of a claim, which may hold anything, by the literals that it is compared with.
fn type_beside(terms: &[&Term]) -> ValueType {
    let of_literal = |term: &&Term| match term.kind {
        TermKind::Number(_) => Some(ValueType::Decimal),
        TermKind::Boolean(_) => Some(ValueType::Boolean),
        TermKind::Text(_) => Some(ValueType::String),
        _ => None,
    };
    terms.iter().find_map(of_literal).unwrap_or(ValueType::String)
}

/// Whether values of both types are stored in the same form and mean the same kind of thing.
fn comparable(one: &ValueType, other: &ValueType) -> bool {
    match (one.in_api(), other.in_api()) {
        (ValueType::Id | ValueType::String, ValueType::Id | ValueType::String) => true,
        (ValueType::DateTime(_), ValueType::DateTime(_)) => true,
        (ValueType::Boolean, ValueType::Boolean)
        | (ValueType::LocalDateTime, ValueType::LocalDateTime)
        | (ValueType::Date, ValueType::Date)
        | (ValueType::Binary, ValueType::Binary) => true,
        (ValueType::Enum(one), ValueType::Enum(other)) => one.name == other.name,
        (ValueType::Embedded(one), ValueType::Embedded(other)) => one == other,
        (one, other) => is_numeric(one) && is_numeric(other),
    }
}

/// The type that an argument is stored as next to a field: the field's type, unless that cannot hold all of the
/// argument's values.
fn kept_as(argument: &ValueType, field: &ValueType) -> ValueType {
    if let ValueType::InForm(kind, form) = field {
        return ValueType::InForm(Box::new(kept_as(argument, kind)), form.clone());
    }
    let wider = match (argument, field) {
        (_, ValueType::Json) => true,
        (ValueType::Int, _) | (_, ValueType::Decimal) if !matches!(argument, ValueType::Float) => false,
        (ValueType::Long, ValueType::Long) | (ValueType::Float, ValueType::Float) => false,
        _ => is_numeric(argument) && is_numeric(field),
    };
    if wider { argument.clone() } else { field.clone() }
}

/// Whether the type is stored as a string whose parts have a meaning.
fn is_text(kind: &ValueType) -> bool {
    matches!(kind, ValueType::Id | ValueType::String | ValueType::Date | ValueType::DateTime(Moment::Text))
        || kind.time_form().is_some()
        || matches!((kind.as_aws(), kind.plain()), (Some(_), ValueType::String))
}

/// From the first of the terms to the last.
fn span_of(terms: &[&Term]) -> Range<usize> {
    terms.first().map_or(0, |term| term.span.start)..terms.last().map_or(0, |term| term.span.end)
}
