//! A checked action in; out: a warning for each `@constraint` that nothing checks on its write. Must not know how the
//! others are checked.
//!
//! The gateway checks every value that it knows. DynamoDB checks the bounds of a number that an expression copies, or
//! adds to a known amount. Three kinds of values remain: any other copy in an expression, a sum of two attributes, and
//! the fields of an embedded object that an argument brings as a whole.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{Operand, Path, Segment};
use crate::schema::expression::update::reader::Change;
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::rules::Constraint;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind};
use crate::schema::rules::constraint;
use crate::schema::rules::constraint::ConstraintTarget;
use crate::schema::syntax::directives::named;
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::types::names::ItemNames;
use crate::schema::types::{inputs, values};
use crate::schema::writes::acting::Acting;
use apollo_compiler::schema::ExtendedType;

/// How many levels of nested embedded objects are checked.
const MAX_DEPTH: usize = 8;

/// Warns of fields that the expression sets to a value that nothing checks.
pub fn warn_of_expression(
    acting: &Acting,
    update: &Update,
    (written, changes): (&At<String>, &[Change]),
    findings: &mut Findings,
) {
    let names = acting.names();
    // Mistakes in the condition are reported where it is read.
    let condition =
        acting.directive.condition.as_ref().and_then(|written| Condition::parse(&written.value, &names).ok());
    let in_condition: Vec<&str> = condition.iter().flat_map(Condition::attributes).collect();
    for (target, value) in &update.set {
        let (Some(field), Some(change)) =
            (Field::at(&names, target), changes.iter().find(|change| change.path == *target))
        else {
            continue;
        };
        let Some(constraint) = &field.declared.rules.constraint else { continue };
        let checked =
            ConstrainedField { names: &names, in_condition: &in_condition, target, field: &field, constraint };
        let place = span::within(acting.writing.draft.text, &written.span, &change.span);
        let mut copied = Vec::new();
        checked.copied(value, true, &mut copied);
        let coordinate = format!("{}.{}", acting.item, field.name);
        if let Some(source) = copied.first() {
            let message = format!("nothing checks the `@constraint` of `{coordinate}` when `{source}` is copied to it");
            let help = format!("give `{source}` the same `@constraint`, or add a condition on it to `if:`");
            findings.warning(rules::KF0814, &place, message, Some(help.into()));
        } else if !checked.sum(value) {
            let message = format!("nothing checks the `@constraint` of `{coordinate}` for this sum");
            let help =
                "add one attribute and one argument or literal, which Keyfold can check, or add a condition to `if:`";
            findings.warning(rules::KF0814, &place, message, Some(help.into()));
        }
    }
}

/// Warns of arguments that bring a whole embedded object if its type has constraints that the input object lacks.
pub fn warn_of_objects(acting: &Acting, action: &Action, record: &StoredFields, findings: &mut Findings) {
    let mut brought: Vec<(&str, &Declared)> = Vec::new();
    for (field, value) in &action.values {
        if let (Some(Source::Argument(argument)), Some(declared)) = (value.source(), record.get(field)) {
            brought.push((argument, declared));
        }
    }
    let names = acting.names();
    if let ActionKind::Update { expression: Some(update), .. } = &action.kind {
        for (target, value) in &update.set {
            let Some(field) = Field::at(&names, target) else { continue };
            value.operands_set(&mut |operand| {
                if let Operand::Argument(argument, _) = operand {
                    brought.push((argument, field.declared));
                }
            });
        }
    }
    for (argument, declared) in brought {
        let draft = acting.writing.draft;
        let Some(input) = inputs::input(draft.schema, acting.writing.field, argument) else { continue };
        if let Some(embedded) = declared.value.embedded() {
            check_object(acting, (input.ty.inner_named_type(), embedded), MAX_DEPTH, findings);
        }
    }
}

fn check_object(acting: &Acting, (input, embedded): (&str, &str), depth: usize, findings: &mut Findings) {
    let draft = acting.writing.draft;
    let Some(ExtendedType::InputObject(object)) = draft.schema.types.get(input) else { return };
    let Some(record) = draft.records.get(embedded).filter(|_| depth > 0) else { return };
    for (name, field) in &object.fields {
        let Some(declared) = record.get(name.as_str()) else { continue };
        if let Some(inner) = declared.value.embedded() {
            check_object(acting, (field.ty.inner_named_type(), inner), depth - 1, findings);
        }
        let Some(wanted) = &declared.rules.constraint else { continue };
        let own = field.directives.get("constraint").and_then(|directive| {
            let what = ConstraintTarget { coordinate: String::new(), ty: &field.ty };
            let value = values::value_type(draft.schema, field.ty.inner_named_type());
            // A mistake in the constraint is reported where constraints are read.
            constraint::read_constraint(&what, value.as_ref(), directive, &mut Findings::default())
        });
        if own.is_some_and(|own| implies(&own, wanted)) {
            continue;
        }
        let place =
            field.directives.get("constraint").map_or_else(|| span::from_location(field.name.location()), named);
        let message =
            format!("nothing checks the `@constraint` of `{embedded}.{name}` when a mutation writes a whole `{input}`");
        let help = format!("put the same `@constraint` on `{input}.{name}`");
        findings.warning(rules::KF0814, &place, message, Some(help.into()));
    }
}

/// The stored field that a path leads to; for an element of a list, the list's field.
struct Field<'a> {
    name: String,
    declared: &'a Declared,
    /// Whether the path leads to the whole list.
    list: bool,
}

impl<'a> Field<'a> {
    fn at(names: &ItemNames<'a>, path: &Path) -> Option<Self> {
        let mut name = String::new();
        let mut found: Option<&Declared> = None;
        for segment in &path.segments {
            let Segment::Attribute(attribute) = segment else { continue };
            let (field, declared) = match found {
                None => names.record.iter().find(|(field, _)| names.attribute(field).as_ref() == Some(attribute))?,
                Some(outer) => {
                    names.embedded(&outer.value)?.iter().find(|(_, declared)| declared.attribute == *attribute)?
                }
            };
            name = if name.is_empty() { field.clone() } else { format!("{name}.{field}") };
            found = Some(declared);
        }
        let declared = found?;
        let list = declared.ty.is_list() && !matches!(path.segments.last(), Some(Segment::Index(_)));
        Some(Self { name, declared, list })
    }
}

/// A field with a constraint that an expression sets.
struct ConstrainedField<'a> {
    names: &'a ItemNames<'a>,
    /// The attributes that the author's condition names. The author checks these.
    in_condition: &'a [&'a str],
    target: &'a Path,
    field: &'a Field<'a>,
    constraint: &'a Constraint,
}

impl ConstrainedField<'_> {
    /// Whether the author's condition names the attribute.
    fn in_condition(&self, path: &Path) -> bool {
        matches!(path.segments.first(), Some(Segment::Attribute(name)) if self.in_condition.contains(&name.as_str()))
    }

    /// Whether a condition checks the value, if it is a sum. The call's own condition checks the sum or difference of
    /// an attribute and a known amount. Any other sum is checked if the author's condition names all its attributes.
    fn sum(&self, value: &SetValue) -> bool {
        let mut authors = true;
        value.operands(&mut |operand| authors &= matches!(operand, Operand::Path(path) if self.in_condition(path)));
        let known =
            |value: &SetValue| matches!(value, SetValue::Operand(operand) if !matches!(operand, Operand::Path(_)));
        let attribute = |value: &SetValue| match value {
            SetValue::Operand(Operand::Path(_)) => true,
            SetValue::IfNotExists(_, otherwise) => known(otherwise),
            _ => false,
        };
        match value {
            SetValue::Plus(one, other) | SetValue::Minus(one, other) => {
                authors || attribute(one) && known(other) || known(one) && attribute(other)
            }
            _ => true,
        }
    }

    /// Collects the fields that are copied unchecked. A number that is the `whole` value is checked by a condition of
    /// the call.
    fn copied(&self, value: &SetValue, whole: bool, fields: &mut Vec<String>) {
        let mut see = |path: &Path| {
            let source = Field::at(self.names, path);
            let same = source.as_ref().and_then(|source| source.declared.rules.constraint.as_ref());
            if path != self.target
                && !self.in_condition(path)
                && !same.is_some_and(|same| implies(same, self.constraint))
            {
                fields.extend(source.map(|source| source.name));
            }
        };
        let number = self.constraint.min.is_some() || self.constraint.max.is_some();
        match value {
            SetValue::Operand(Operand::Path(_)) if whole && number && !self.field.list => {}
            SetValue::Operand(Operand::Path(path)) => see(path),
            SetValue::IfNotExists(path, otherwise) => {
                see(path);
                self.copied(otherwise, false, fields);
            }
            SetValue::ListAppend(one, other) => {
                self.copied(one, false, fields);
                self.copied(other, false, fields);
            }
            SetValue::Operand(_) | SetValue::Plus(..) | SetValue::Minus(..) => {}
        }
    }
}

/// Whether `other` allows every value that `one` allows. Patterns and formats must be equal.
fn implies(one: &Constraint, other: &Constraint) -> bool {
    fn least<T: PartialOrd>(one: Option<T>, other: Option<T>) -> bool {
        other.is_none_or(|other| one.is_some_and(|one| one >= other))
    }
    fn most<T: PartialOrd>(one: Option<T>, other: Option<T>) -> bool {
        other.is_none_or(|other| one.is_some_and(|one| one <= other))
    }
    least(one.min_length, other.min_length)
        && most(one.max_length, other.max_length)
        && (other.pattern.is_none() || one.pattern == other.pattern)
        && (other.format.is_none() || one.format == other.format)
        && least(one.min, other.min)
        && most(one.max, other.max)
}
