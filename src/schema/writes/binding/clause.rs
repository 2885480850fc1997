//! `set:` and `where:` of an action in, what their fields are bound to out. Must not know keys.

use super::entry::{ClauseEntry, ClausePart, SaidValue, split};
use super::number::{self, assigned_as};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::source::{Source, TextPart};
use crate::schema::model::write::GivenValue;
use crate::schema::rules::literal::word;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::string;
use crate::schema::types::bare_text::warn_of_name;
use crate::schema::types::draft::StoredFields;
use crate::schema::types::inputs::{depth_of, writable};
use crate::schema::types::{computed, inputs, values};
use crate::schema::writes::acting::{Acting, Clause, FieldBinding, MadeBinding, field_in_scope};
use crate::schema::writes::directive::WrittenClause;
use apollo_compiler::Node;
use apollo_compiler::ast::Value;

/// Reads every entry of a clause; `None` if one has a mistake. `owner` is the type whose fields are bound: the item, or
/// the element of its list.
pub fn read_clause(
    acting: &Acting,
    written: &WrittenClause,
    (owner, record): (&str, &StoredFields),
    findings: &mut Findings,
) -> Option<Clause> {
    let mut said = Clause::default();
    let mut sound = true;
    let clause = written.name;
    if let Some(place) = &written.malformed {
        let help = format!("write `{clause}: {{ userId: \"{{id}}\" }}`");
        findings.error(rules::KF0702, place, format!("`{clause}:` is an object that binds fields"), Some(help.into()));
        sound = false;
    }
    for (field, written) in &written.bindings {
        let number = assigned_as(acting, &field.value).filter(|_| owner == acting.item);
        let as_field = number.map(|number| number::as_field(number, &field.span));
        let Some(declared) = record.get(&field.value).or(as_field.as_ref()) else {
            let message = format!("`{}` is not a stored field of `{owner}`", field.value);
            findings.error(
                rules::KF0702,
                &field.span,
                message,
                computed::help_beside(acting.writing.draft, record, &field.value)
                    .or_else(|| suggest(&field.value, record.keys().map(String::as_str))),
            );
            sound = false;
            continue;
        };
        let name = number.map_or(field.value.as_str(), |number| number.name);
        if said.says(name) {
            findings.error(rules::KF0702, &field.span, format!("`{clause}:` binds `{}` twice", field.value), None);
            sound = false;
            continue;
        }
        if written.is_null() {
            said.hidden.insert(name.to_owned());
            continue;
        }
        let makes = clause == "set" && number.is_none();
        match (ClauseEntry { acting, owner, field, declared, makes }).read(written, findings) {
            Some(SaidValue::Bound(bound)) => _ = said.bound.insert(name.to_owned(), bound),
            Some(SaidValue::Made(At { value, span })) => {
                let made = MadeBinding { value: GivenValue::Made(value), nullable: false, span };
                said.made.insert(name.to_owned(), made);
            }
            None => sound = false,
        }
    }
    sound.then_some(said)
}

impl ClauseEntry<'_> {
    fn read(&self, written: &Node<Value>, findings: &mut Findings) -> Option<SaidValue> {
        let place = span::from_location(written.location());
        let literal = bare_literal(written).filter(|_| self.makes || written.as_enum().is_some());
        let Some(text) = literal.map(|value| At { value, span: place.clone() }).or_else(|| string(written)) else {
            let (what, literal) = match self.makes {
                true => ("a single value or a text", ", a number, true or false, `\"[]\"` or `\"{}\"`"),
                false => ("a text", ""),
            };
            let help = format!(
                "write a template: `\"{{argument}}\"`, `\"{{groupId}}\"` of an item in scope, or a text{literal}; write null \
                 to leave the field unbound"
            );
            let message = format!("the value of `{}` must be {what}", self.field.value);
            findings.error(rules::KF0702, &place, message, Some(help.into()));
            return None;
        };
        if written.as_str().is_some() && !matches!(self.declared.value, ValueType::Enum(_)) {
            warn_of_name(&text, |name| self.named(name), findings);
        }
        if let Some(made) = self.empty_object(&text, findings) {
            return made.map(SaidValue::Made);
        }
        let parts = self.parts(&text, findings)?;
        if parts.iter().any(|part| matches!(part, ClausePart::Word(_))) {
            return self.join_words(parts, &text, findings).map(SaidValue::Made);
        }
        let parts: Vec<TextPart> = parts.into_iter().filter_map(text_part).collect();
        let sources: Vec<Source> = parts.iter().filter_map(value_of).collect();
        let arguments: Vec<String> = sources.iter().filter_map(argument_of).collect();
        let nullable = sources.iter().any(|source| self.nullable(source));
        let source = match <[TextPart; 1]>::try_from(parts) {
            Ok([TextPart::Value(source)]) => {
                self.check_single(&source, &text.span, findings)?;
                source
            }
            Ok([part]) if self.is_text(std::slice::from_ref(&part), &text.value) => Source::Text(vec![part]),
            Ok(_) => match self.literal(&text) {
                Some(made) => return Some(SaidValue::Made(made)),
                None => return self.report_text(&text, true, findings),
            },
            Err(parts) if self.is_text(&parts, &text.value) => Source::Text(parts),
            Err(_) => return self.report_text(&text, false, findings),
        };
        Some(SaidValue::Bound(FieldBinding { source, arguments, nullable, span: text.span }))
    }

    /// Splits a text into literals and `{names}`, in order.
    fn parts(&self, text: &At<String>, findings: &mut Findings) -> Option<Vec<ClausePart>> {
        let name = |name: &str, place: &Span, findings: &mut Findings| self.name(name, place, findings);
        split(self.acting.writing.draft.text, text, &name, findings)
    }

    /// Resolves a name: a claim, an argument, a field of one, a field of an item in scope (`Group.id`, `groupId`, or
    /// just `id`), or else a word.
    fn name(&self, name: &str, place: &Span, findings: &mut Findings) -> Option<ClausePart> {
        let writing = &self.acting.writing;
        if let Some(source) = writing.source(name, self.acting.scope) {
            return Some(ClausePart::Source(source));
        }
        if let Some(word) = if self.makes { word(name, place, findings) } else { None } {
            return word.ok().map(ClausePart::Word);
        }
        let message =
            format!("`{name}` is neither an argument of `{}` nor a field of an item in scope", writing.coordinate());
        let choices = writing.choices(self.acting.scope, &|_| true);
        let help = self.help_of_list(name).or_else(|| suggest(name, choices.iter().map(String::as_str)));
        findings.error(rules::KF0703, place, message, help);
        None
    }

    /// How to write an item for each element of a list, if a name is that of an element's field.
    fn help_of_list(&self, name: &str) -> Option<Help> {
        let (list, field) = name.rsplit_once('.')?;
        let input = inputs::input(self.acting.writing.draft.schema, self.acting.writing.field, list)?;
        let directive = self.acting.directive.name();
        (depth_of(input.ty) == 1).then(|| {
            format!(
                "`{directive}(each: \"{list}\")` is made for each element of `{list}`, whose field is `{{{field}}}`"
            )
            .into()
        })
    }

    /// What a name in braces would mean here, in words.
    fn named(&self, name: &str) -> Option<String> {
        let is_input = inputs::input(self.acting.writing.draft.schema, self.acting.writing.field, name).is_some();
        let field = || field_in_scope(self.acting.scope, name).map(|(item, _)| format!("the field of `{item}`"));
        if is_input { Some("the argument".to_owned()) } else { field() }
    }

    /// A lone placeholder keeps its type, which must fit the field. With `many: true`, a list may give each of its
    /// values.
    fn check_single(&self, source: &Source, place: &Span, findings: &mut Findings) -> Option<()> {
        let (value, depth) = self.type_of(source)?;
        let wanted = depth_of(&self.declared.ty);
        let list = self.acting.directive.many && depth == wanted + 1;
        let sound = match writable(self.acting.writing.draft, &value, &self.declared.value) {
            Ok(()) if depth != wanted && !list => Err("only one of them is a list".to_owned()),
            sound => sound,
        };
        match sound {
            Ok(()) => Some(()),
            Err(why) => {
                let message = format!(
                    "this value does not fit `{}.{}` of type `{}`: {why}",
                    self.owner, self.field.value, self.declared.ty
                );
                let help = format!("give it a value of type `{}`", self.declared.ty);
                findings.error(rules::KF0704, place, message, Some(help.into()));
                None
            }
        }
    }

    /// Whether a text is a value of the field. A composed text binds an ID or a String. A constant text also binds an
    /// enum, a DateTime or a Date, and its value is checked here. Each placeholder must be a single value that has a
    /// text.
    fn is_text(&self, parts: &[TextPart], text: &str) -> bool {
        use ValueType as V;
        let constant = parts.iter().all(|part| matches!(part, TextPart::Literal(_)));
        let whole = parts.iter().filter_map(value_of).all(|source| {
            self.type_of(&source).is_some_and(|(value, depth)| {
                depth == 0 && (values::stored_key_type(&value).is_some() || matches!(value, V::Boolean))
            })
        });
        let fits = depth_of(&self.declared.ty) == 0
            && match &self.declared.value {
                // Not each text has the form.
                value @ V::InForm(kind, _) if matches!(**kind, V::Id | V::String) => {
                    !constant || value.coerce(&text.into()).is_ok()
                }
                V::Id | V::String => true,
                value if constant && matches!(value.in_api(), V::Enum(_)) => value.coerce(&text.into()).is_ok(),
                value if constant && value.is_time() => value.coerce(&text.into()).is_ok(),
                _ => false,
            };
        fits && whole
    }

    fn report_text<T>(&self, text: &At<String>, is_constant: bool, findings: &mut Findings) -> Option<T> {
        let message = format!(
            "`{}.{}` is of type `{}`, but \"{}\" is not",
            self.owner, self.field.value, self.declared.ty, text.value
        );
        let help = match self.declared.value.in_api() {
            ValueType::Enum(values) => suggest(&text.value, values.stored.keys().map(String::as_str)),
            _ if is_constant && !self.makes => {
                Some("in `where:`, a constant is a text, an enum's value or a time; use an argument".into())
            }
            _ => Some(format!("give it a value of type `{}`", self.declared.ty).into()),
        };
        findings.error(rules::KF0704, &text.span, message, help);
        None
    }

    /// The type of a source and how many lists it is wrapped in.
    fn type_of(&self, source: &Source) -> Option<(ValueType, usize)> {
        let writing = &self.acting.writing;
        match source {
            Source::Argument(name) => {
                let input = inputs::input(writing.draft.schema, writing.field, name)?;
                Some((input.value(writing.draft.schema)?, depth_of(input.ty)))
            }
            Source::Item(item, field) => {
                let declared = self.acting.scope.iter().find(|known| known.name == *item)?.record.get(field)?;
                Some((declared.value.clone(), depth_of(&declared.ty)))
            }
            Source::Claim(_) => Some((ValueType::String, 0)),
            Source::Parent(_) | Source::Text(_) => None,
        }
    }

    fn nullable(&self, source: &Source) -> bool {
        let writing = &self.acting.writing;
        match source {
            Source::Argument(name) => {
                inputs::input(writing.draft.schema, writing.field, name).is_none_or(|input| input.nullable)
            }
            Source::Item(item, field) => {
                let known = self.acting.scope.iter().find(|known| known.name == *item);
                known.and_then(|known| known.record.get(field)).is_none_or(|declared| !declared.ty.is_non_null())
            }
            // Without the claim, nothing is written.
            Source::Claim(_) => false,
            Source::Parent(_) | Source::Text(_) => true,
        }
    }
}

/// The text of a literal that stands without quotes: an enum's value, a number or a Boolean.
fn bare_literal(written: &Node<Value>) -> Option<String> {
    match written.as_ref() {
        Value::Enum(name) => Some(name.to_string()),
        Value::Int(number) => Some(number.as_str().to_owned()),
        Value::Float(number) => Some(number.as_str().to_owned()),
        Value::Boolean(value) => Some(value.to_string()),
        _ => None,
    }
}

fn text_part(part: ClausePart) -> Option<TextPart> {
    match part {
        ClausePart::Literal(text) => Some(TextPart::Literal(text)),
        ClausePart::Source(source) => Some(TextPart::Value(source)),
        ClausePart::Word(_) => None,
    }
}

fn value_of(part: &TextPart) -> Option<Source> {
    match part {
        TextPart::Value(source) => Some(source.clone()),
        TextPart::Literal(_) => None,
    }
}

fn argument_of(source: &Source) -> Option<String> {
    match source {
        Source::Argument(name) => Some(name.clone()),
        _ => None,
    }
}
