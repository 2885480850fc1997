//! What `set:` says of a field without naming anything in, the value that is made for it out. Must not know the other
//! fields.

use super::entry::{ClauseEntry, ClausePart};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::model::rules::{DefaultPart, DefaultValue};
use crate::schema::model::source::Source;
use crate::schema::rules::embedded::misfit_of_empty;
use crate::schema::rules::literal::{EMPTY_OBJECT, misfit};
use crate::schema::scalar::value_type::ValueType;

impl ClauseEntry<'_> {
    /// An object of nothing but its defaults, if that is what the text says; the inner `None` is a mistake.
    pub fn empty_object(&self, text: &At<String>, findings: &mut Findings) -> Option<Option<At<DefaultValue>>> {
        let ValueType::Embedded(embedded) = &self.declared.value else { return None };
        if text.value != EMPTY_OBJECT || !self.makes {
            return None;
        }
        if let Some(misfit) = misfit_of_empty(self.acting.writing.draft, embedded) {
            self.report_misfit(&misfit, text, findings);
            return Some(None);
        }
        Some(self.made(vec![DefaultPart::Literal(text.value.clone())], text, findings))
    }

    /// The value of a text with words. It names nothing else but claims.
    pub fn join_words(
        &self,
        parts: Vec<ClausePart>,
        text: &At<String>,
        findings: &mut Findings,
    ) -> Option<At<DefaultValue>> {
        let mut all = Vec::with_capacity(parts.len());
        for part in parts {
            all.push(match part {
                ClausePart::Literal(literal) => DefaultPart::Literal(literal),
                ClausePart::Word(word) => word,
                ClausePart::Source(Source::Claim(claim)) => DefaultPart::Claim(claim),
                ClausePart::Source(_) => {
                    let message = format!("\"{}\" has a word and the name of another value", text.value);
                    let help = format!(
                        "give `{}.{}` a `@default` of this text: it can name fields of the item",
                        self.owner, self.field.value
                    );
                    findings.error(rules::KF0703, &text.span, message, Some(help.into()));
                    return None;
                }
            });
        }
        self.made(all, text, findings)
    }

    /// The value of a text without names that is not a text in the API: a number, a Boolean, JSON, an empty list.
    /// `None` if it is no value of the field's type.
    pub fn literal(&self, text: &At<String>) -> Option<At<DefaultValue>> {
        let parts = vec![DefaultPart::Literal(text.value.clone())];
        let fits = self.makes && misfit(self.declared, None, &parts, false).is_none();
        fits.then(|| made(parts, text))
    }

    fn made(&self, parts: Vec<DefaultPart>, text: &At<String>, findings: &mut Findings) -> Option<At<DefaultValue>> {
        if let Some(misfit) = misfit(self.declared, None, &parts, false) {
            self.report_misfit(&misfit, text, findings);
            return None;
        }
        Some(made(parts, text))
    }

    fn report_misfit(&self, misfit: &str, text: &At<String>, findings: &mut Findings) {
        let (owner, field, ty) = (self.owner, &self.field.value, &self.declared.ty);
        let message = format!("`{owner}.{field}` of type `{ty}` cannot be {misfit}");
        let help = format!("give it a value of type `{ty}`");
        findings.error(rules::KF0704, &text.span, message, Some(help.into()));
    }
}

fn made(parts: Vec<DefaultPart>, text: &At<String>) -> At<DefaultValue> {
    At { value: DefaultValue { parts, hash: None, every_write: false }, span: text.span.clone() }
}
