//! `@computed` in; out: what a field is computed of, or why it cannot be. Must not know who reads it.
//!
//! A computed field is a single text or a number. It is made of stored fields of its own object, so that no circle is
//! possible, and nothing but the object is read for it.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::arithmetic::{Arithmetic, NumberFields};
use crate::schema::expression::term::is_numeric;
use crate::schema::model::{ComputedField, ComputedValue};
use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::{WRITES, named, place, text};
use crate::schema::template::Template;
use crate::schema::template::part::{TemplateMistake, TemplateMistakeKind, claim_of, spread_of};
use crate::schema::types::draft::{Declared, Kind, SchemaDraft, StoredFields, is_computed};
use crate::schema::types::values::value_type;
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::schema::{ExtendedType, ObjectType};

/// Directives that have no effect on a computed field.
const WITHOUT_EFFECT: [&str; 3] = ["attribute", "find", "watch"];

/// What to write instead of the name of a computed field where a stored one must stand.
pub fn help(object: &ObjectType, name: &str) -> Option<Help> {
    object.fields.get(name).filter(|field| is_computed(field))?;
    Some(
        format!("`{name}` is computed when it is read, and nothing stores it: name the fields that it is made of")
            .into(),
    )
}

/// The same, for the type whose stored fields these are.
pub fn help_beside(draft: &SchemaDraft, record: &StoredFields, name: &str) -> Option<Help> {
    let (owner, _) = draft.records.iter().find(|(_, known)| std::ptr::eq(*known, record))?;
    help(draft.schema.get_object(owner.as_str())?, name)
}

/// Reports `@computed` on what is no field of an item or of an embedded object.
pub fn check_places(draft: &SchemaDraft, findings: &mut Findings) {
    for definition in draft.schema.types.values().filter(|definition| !definition.is_built_in()) {
        let (name, fields, help) = match definition {
            ExtendedType::Interface(interface) => {
                (&interface.name, &interface.fields, "put it on the field of each type that implements the interface")
            }
            ExtendedType::Object(object)
                if !matches!(draft.kind(&object.name), Some(Kind::Item | Kind::Embedded | Kind::Misshapen)) =>
            {
                (&object.name, &object.fields, "put it on a field of an item type or of an embedded type")
            }
            _ => continue,
        };
        for field in fields.values() {
            let Some(directive) = field.directives.get("computed") else { continue };
            let message = format!("`{name}.{}` is no field of an item, of which it could be computed", field.name);
            findings.error(rules::KF0312, &named(directive), message, Some(help.to_owned().into()));
        }
    }
}

/// What a field is computed of; `None` on a mistake.
pub fn read(
    draft: &SchemaDraft,
    type_name: &str,
    (field, directive): (&FieldDefinition, &Node<Directive>),
    findings: &mut Findings,
) -> Option<ComputedField> {
    let record = draft.records.get(type_name)?;
    let reading = Reading { draft, type_name, record, field };
    let is_bare = reading.check_bare(findings);
    let written = reading.written(directive, findings)?;
    let kind = reading.kind(directive, &written, findings)?;
    let (WrittenSource::Text(text) | WrittenSource::Number(text)) = &written;
    if text.value.trim().is_empty() {
        reading.refuse_constant(text, findings);
        return None;
    }
    let value = match &written {
        WrittenSource::Text(text) => ComputedValue::Text(reading.template(text, findings)?),
        WrittenSource::Number(text) => ComputedValue::Number(reading.number(text, findings)?),
    };
    let computed = ComputedField { name: field.name.to_string(), written: text.value.clone(), value, kind };
    let (is_made, is_sure) =
        (reading.check_fields(&computed, text, findings), reading.check_nulls(&computed, text, findings));
    (is_bare && is_made && is_sure).then_some(computed)
}

/// What stands in the directive.
enum WrittenSource {
    Text(At<String>),
    Number(At<String>),
}

/// A computed field while it is read.
struct Reading<'a> {
    draft: &'a SchemaDraft<'a>,
    type_name: &'a str,
    /// The stored fields of its type.
    record: &'a StoredFields,
    field: &'a FieldDefinition,
}

impl Reading<'_> {
    fn coordinate(&self) -> String {
        format!("{}.{}", self.type_name, self.field.name)
    }

    /// Nothing but `@computed` says where the value comes from, and the field has no arguments.
    fn check_bare(&self, findings: &mut Findings) -> bool {
        let mut is_bare = true;
        let mut report = |place: &Span, what: String| {
            let message = format!("`{}` is computed, so {what} has no effect", self.coordinate());
            findings.error(rules::KF0312, place, message, Some("leave it out".into()));
            is_bare = false;
        };
        if let Some(argument) = self.field.arguments.first() {
            report(&span::from_location(argument.name.location()), format!("its argument `{}`", argument.name));
        }
        let has_no_effect = |name: &str| WITHOUT_EFFECT.contains(&name) || WRITES.contains(&name);
        for directive in self.field.directives.iter().filter(|directive| has_no_effect(&directive.name)) {
            report(&named(directive), format!("`@{}`", directive.name));
        }
        is_bare
    }

    fn written(&self, directive: &Node<Directive>, findings: &mut Findings) -> Option<WrittenSource> {
        match (text(directive, "value"), text(directive, "expression")) {
            (Some(text), None) => Some(WrittenSource::Text(text)),
            (None, Some(text)) => Some(WrittenSource::Number(text)),
            (both, _) => {
                let message = match both {
                    Some(_) => format!("`{}` is computed in two ways", self.coordinate()),
                    None => format!("nothing says what `{}` is computed of", self.coordinate()),
                };
                let help = "write `value: \"{firstName} {lastName}\"` for a text, or `expression: \"price * quantity\"` for a number";
                findings.error(rules::KF0312, &named(directive), message, Some(help.into()));
                None
            }
        }
    }

    /// The field's type, which must fit.
    fn kind(&self, directive: &Node<Directive>, written: &WrittenSource, findings: &mut Findings) -> Option<ValueType> {
        let kind = value_type(self.draft.schema, self.field.ty.inner_named_type());
        let fits = |kind: &ValueType| match written {
            WrittenSource::Text(_) => matches!(kind, ValueType::Id | ValueType::String),
            WrittenSource::Number(_) => {
                matches!(kind, ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal)
            }
        };
        let found = kind.filter(|kind| self.field.ty.is_named() && fits(kind));
        if found.is_none() {
            let (what, wanted, argument) = match written {
                WrittenSource::Text(_) => ("a text", "String or ID", "value"),
                WrittenSource::Number(_) => ("a number", "Int, Long, Float or Decimal", "expression"),
            };
            let message = format!("`{}` is computed as {what}, but its type is `{}`", self.coordinate(), self.field.ty);
            let help = format!("make it a single value of the type {wanted}");
            findings.error(rules::KF0312, &place(directive, argument), message, Some(help.into()));
        }
        found
    }

    /// The type of a field in a text, as the API has it. What is no single value counts as JSON.
    fn in_text(&self, name: &str) -> Option<ValueType> {
        let declared = self.record.get(name)?;
        let is_single = !declared.ty.is_list() && declared.value.as_aws() != Some(AwsScalar::Json);
        Some(if is_single { declared.value.in_api().clone() } else { ValueType::Json })
    }

    fn template(&self, text: &At<String>, findings: &mut Findings) -> Option<Template> {
        match Template::parse_text(&text.value, &|name| self.in_text(name)) {
            Ok(template) => {
                let strange = template.parts.iter().find(|part| claim_of(part).is_some() || spread_of(part).is_some());
                if strange.is_some() {
                    let message = "a text is made of fields, not of claims or numbers of shards";
                    self.refuse(&text.span, message.to_owned(), None, findings);
                }
                strange.is_none().then_some(template)
            }
            Err(mistakes) => {
                mistakes.iter().for_each(|mistake| self.report(text, mistake, findings));
                None
            }
        }
    }

    fn report(&self, text: &At<String>, mistake: &TemplateMistake, findings: &mut Findings) {
        let place = span::within(self.draft.text, &text.span, &mistake.span);
        let (message, help) = match &mistake.kind {
            TemplateMistakeKind::Malformed(why) => {
                let help = "a placeholder is `{field}`, `{field:lower}`, `{field:08}` for a number, or `{field:%d.%m.%Y}` for a time";
                (why.replace(" in the key", " in the text"), Some(help.into()))
            }
            TemplateMistakeKind::NotAKeyType(name) => {
                let ty = self.record.get(name).map(|declared| declared.ty.to_string()).unwrap_or_default();
                let message = format!("`{}.{name}` of type `{ty}` is not a single value", self.type_name);
                (message, self.suggest(name))
            }
            TemplateMistakeKind::UnknownField(name) => {
                (format!("`{name}` is not a stored field of `{}`", self.type_name), self.suggest(name))
            }
            TemplateMistakeKind::Spread(why) | TemplateMistakeKind::NotInvertible { why, .. } => (why.clone(), None),
        };
        self.refuse(&place, message, help, findings);
    }

    fn number(&self, text: &At<String>, findings: &mut Findings) -> Option<Arithmetic> {
        match Arithmetic::parse(&text.value, self) {
            Ok(number) => Some(number),
            Err(mistakes) => {
                for mistake in mistakes {
                    let place = span::within(self.draft.text, &text.span, &mistake.span);
                    self.refuse(&place, mistake.message, mistake.help, findings);
                }
                None
            }
        }
    }

    /// The value is made of a field at least.
    fn check_fields(&self, computed: &ComputedField, text: &At<String>, findings: &mut Findings) -> bool {
        let has_fields = !computed.fields().is_empty();
        if !has_fields {
            self.refuse_constant(text, findings);
        }
        has_fields
    }

    fn refuse_constant(&self, text: &At<String>, findings: &mut Findings) {
        let message = format!("`{}` is the same for every `{}`", self.coordinate(), self.type_name);
        let help = "name a field: `{name}` in a text, `name` in an expression".to_owned();
        self.refuse(&text.span, message, Some(help.into()), findings);
    }

    /// What is computed of null is null.
    fn check_nulls(&self, computed: &ComputedField, text: &At<String>, findings: &mut Findings) -> bool {
        let may_be_null = |name: &&str| self.record.get(*name).is_some_and(|declared| !declared.ty.is_non_null());
        let fields = computed.fields();
        let Some(null) = fields.into_iter().find(may_be_null).filter(|_| self.field.ty.is_non_null()) else {
            return true;
        };
        let message =
            format!("`{}` is never null, but it is computed of `{null}`, which may be null", self.coordinate());
        let help = format!("make it `{}`, or `{null}` non-null", self.field.ty.inner_named_type());
        findings.error(rules::KF0314, &text.span, message, Some(help.into()));
        false
    }

    /// What may be meant by a name.
    fn suggest(&self, name: &str) -> Option<Help> {
        let is_single = |declared: &Declared| {
            let is_object = matches!(declared.value, ValueType::Json | ValueType::Embedded(_));
            !declared.ty.is_list() && !is_object
        };
        let single = self.record.iter().filter(|(_, declared)| is_single(declared)).map(|(name, _)| name.as_str());
        let object = self.draft.schema.get_object(self.type_name);
        object.and_then(|object| help(object, name)).or_else(|| suggest(name, single))
    }

    fn refuse(&self, place: &Span, message: String, help: Option<Help>, findings: &mut Findings) {
        findings.error(rules::KF0313, place, message, help);
    }
}

impl NumberFields for Reading<'_> {
    fn field(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        let number = |declared: &Declared| is_numeric(&declared.value) && !declared.ty.is_list();
        let numbers = || self.record.iter().filter(|(_, declared)| number(declared)).map(|(name, _)| name.clone());
        let declared = self.record.get(name).ok_or_else(|| numbers().collect::<Vec<_>>())?;
        Ok((declared.value.in_api().clone(), declared.ty.is_list()))
    }

    fn help(&self, name: &str) -> Option<Help> {
        help(self.draft.schema.get_object(self.type_name)?, name)
    }
}
