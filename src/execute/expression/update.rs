//! A checked update, the values of the request and further changes → an update expression with placeholders. Must not
//! know keys or which item is updated.
//!
//! An attribute is never null, so null removes it. An argument that is not given changes nothing:
//!
//! | clause | null | not given |
//! |---|---|---|
//! | `SET a = :x` | `REMOVE a` | – |
//! | `SET a = if_not_exists(a, :x)` | – | – |
//! | `SET a = list_append(a, :x)` | – | – |
//! | `SET a = b + :x`, `if_not_exists(b, :x)` | an error | an error |
//! | `ADD a :x`, `DELETE a :x` | – | – |
//!
//! DynamoDB's null in the item counts as missing: see [`super::stored_form`].
//!
//! An empty set counts as null, since DynamoDB has none. DynamoDB refuses an expression that names a path twice, a path
//! within another (developer guide, "Using update expressions in DynamoDB"), or an unused placeholder. An omitted
//! change leaves neither.

use super::placeholders::Placeholders;
use super::scope::{Scope, now};
use super::stored_form::StoredForm;
use crate::execute::values::stored_values;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Operand, Path, Segment};
use crate::schema::expression::update::{SetValue, Update};
use crate::schema::model::Model;
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::Attribute;
use crate::table::data::call::Expression;
use serde_json::Value;

/// An update expression while it is put together.
#[derive(Debug, Clone)]
pub struct Changes {
    placeholders: Placeholders,
    set: Vec<String>,
    remove: Vec<String>,
    add: Vec<String>,
    delete: Vec<String>,
    /// The changed paths; none is within another.
    paths: Vec<Vec<Segment>>,
    /// What they take for granted of the item.
    form: StoredForm,
}

impl Default for Changes {
    fn default() -> Self {
        Self::over(StoredForm::default())
    }
}

/// An object inside an item that an update makes, because it is missing: its path and what it has. `None`: none of its
/// fields gets a value, so that there is none to make.
pub type MadeObject = (Vec<Segment>, Option<Attribute>);

/// An attribute that no item has.
const NOTHING: &str = "_";

/// The path of a whole attribute.
pub fn attribute(name: &str) -> Vec<Segment> {
    vec![Segment::Attribute(name.to_owned())]
}

/// An update of these paths; `None` if there are none. A path that overlaps an earlier one is left out.
pub fn plain(set: Vec<(Vec<Segment>, Attribute)>, remove: Vec<Vec<Segment>>) -> Option<Expression> {
    let mut changes = Changes::default();
    for (path, value) in set {
        changes.set(&path, value);
    }
    for path in remove {
        changes.remove(&path);
    }
    changes.expression()
}

impl Changes {
    /// No changes yet, of an item in this form.
    pub fn over(form: StoredForm) -> Self {
        let placeholders = Placeholders::new('u');
        Self {
            placeholders,
            set: Vec::new(),
            remove: Vec::new(),
            add: Vec::new(),
            delete: Vec::new(),
            paths: Vec::new(),
            form,
        }
    }

    /// What the changes take for granted of the item: a condition of the call that makes them.
    pub fn granted(&self) -> Option<Condition> {
        self.form.granted()
    }

    /// Whether DynamoDB may refuse to make of a null what it makes of a missing value.
    pub fn tell_null(&self) -> bool {
        self.form.tells_null()
    }

    /// The changes of an update with the values of a request, and with the objects that it makes. The error is a
    /// sentence for the caller: an argument does not fit its use.
    pub fn new(
        model: &Model,
        (update, made): (&Update, &[MadeObject]),
        scope: &Scope<'_>,
        form: StoredForm,
    ) -> Result<Self, String> {
        let mut changes = Self::default();
        let mut values = Values { model, scope, form };
        // What an object is made of is not set or removed in it.
        let is_apart = |path: &Path| !made.iter().any(|(object, _)| path.segments.starts_with(object));
        for (path, value) in update.set.iter().filter(|(path, _)| is_apart(path)) {
            match values.set_value(path, value)? {
                Assignment::Nothing => {}
                Assignment::Null => changes.claim(&path.segments, |changes, path| changes.remove.push(path))?,
                Assignment::Term(term) => changes.claim(&path.segments, |changes, path| {
                    let term = term.text(&mut changes.placeholders);
                    changes.set.push(format!("{path} = {term}"));
                })?,
            }
        }
        for (path, object) in made {
            object.iter().for_each(|object| _ = changes.set(path, object.clone()));
        }
        for path in update.remove.iter().filter(|path| is_apart(path)) {
            changes.claim(&path.segments, |changes, path| changes.remove.push(path))?;
        }
        for (path, operand) in &update.add {
            if let Some(value) = values.added(operand)? {
                let is_null = values.form.takes_null(&path.segments);
                changes.claim(&path.segments, |changes, path| {
                    let value = changes.placeholders.value(value);
                    match is_null {
                        true => changes.set.push(format!("{path} = {value}")),
                        false => changes.add.push(format!("{path} {value}")),
                    }
                })?;
            }
        }
        for (path, operand) in &update.delete {
            // A missing set has no elements.
            if let Some(value) = values.elements(operand)?.filter(|_| !values.form.takes_null(&path.segments)) {
                changes.claim(&path.segments, |changes, path| {
                    let value = changes.placeholders.value(value);
                    changes.delete.push(format!("{path} {value}"));
                })?;
            }
        }
        changes.form = values.form;
        Ok(changes)
    }

    /// `SET path = value`, under the same rule, for a field of this kind: in the type that the attribute has, if the
    /// field reads that. `Err` is a sentence about the value, which that type cannot hold.
    pub fn set_field(&mut self, path: &[Segment], kind: &ValueType, value: Attribute) -> Result<(), String> {
        let value = self.form.kept_type(path, kind, value)?;
        self.set(path, value);
        Ok(())
    }

    /// `SET path = value`. False, without a change, if the path overlaps a changed one.
    pub fn set(&mut self, path: &[Segment], value: Attribute) -> bool {
        let set = |changes: &mut Self, path: String| {
            let value = changes.placeholders.value(value);
            changes.set.push(format!("{path} = {value}"));
        };
        self.claim(path, set).is_ok()
    }

    /// `REMOVE path`, under the same rule. If it is an element of a list, the elements after it move up.
    pub fn remove(&mut self, path: &[Segment]) -> bool {
        self.claim(path, |changes, path| changes.remove.push(path)).is_ok()
    }

    /// Appends elements to a list, or makes the list; under the same rule.
    pub fn append(&mut self, path: &[Segment], elements: Vec<Attribute>) -> bool {
        if self.form.takes_null(path) {
            return self.set(path, Attribute::L(elements));
        }
        let append = |changes: &mut Self, path: String| {
            let (none, new) = (
                changes.placeholders.value(Attribute::L(Vec::new())),
                changes.placeholders.value(Attribute::L(elements)),
            );
            changes.set.push(format!("{path} = list_append(if_not_exists({path}, {none}), {new})"));
        };
        self.claim(path, append).is_ok()
    }

    /// Adds 1 to the number at the path, or sets it to 1; under the same rule.
    pub fn increment(&mut self, path: &[Segment]) -> bool {
        if self.form.takes_null(path) {
            return self.set(path, Attribute::N("1".into()));
        }
        let increment = |changes: &mut Self, path: String| {
            let [zero, one] = ["0", "1"].map(|number| changes.placeholders.value(Attribute::N(number.into())));
            changes.set.push(format!("{path} = if_not_exists({path}, {zero}) + {one}"));
        };
        self.claim(path, increment).is_ok()
    }

    /// `SET path = value` if there is no value yet; under the same rule.
    pub fn initial(&mut self, path: &[Segment], value: Attribute) -> bool {
        if self.touches(path) {
            return false;
        }
        if self.form.takes_null(path) {
            return self.set(path, value);
        }
        self.form.grant_no_null(path);
        let initial = |changes: &mut Self, path: String| {
            let value = changes.placeholders.value(value);
            changes.set.push(format!("{path} = if_not_exists({path}, {value})"));
        };
        self.claim(path, initial).is_ok()
    }

    /// Whether the path overlaps a changed one.
    pub fn touches(&self, path: &[Segment]) -> bool {
        self.paths.iter().any(|known| known.starts_with(path) || path.starts_with(known))
    }

    /// The expression; `None` if nothing is changed.
    pub fn expression(self) -> Option<Expression> {
        let clauses = [("SET", self.set), ("REMOVE", self.remove), ("ADD", self.add), ("DELETE", self.delete)];
        let texts: Vec<String> = clauses
            .into_iter()
            .filter(|(_, changes)| !changes.is_empty())
            .map(|(keyword, changes)| format!("{keyword} {}", changes.join(", ")))
            .collect();
        (!texts.is_empty()).then(|| self.placeholders.expression(texts.join(" ")))
    }

    /// Writes the change of a path that is not changed yet.
    fn claim(&mut self, path: &[Segment], write: impl FnOnce(&mut Self, String)) -> Result<(), String> {
        if path.is_empty() || self.touches(path) {
            return Err("The update names an attribute twice.".to_owned());
        }
        self.paths.push(path.to_vec());
        let text = self.placeholders.path(path);
        write(self, text);
        Ok(())
    }
}

/// What an attribute is set to.
enum Assignment {
    /// The attribute is unchanged.
    Nothing,
    /// The attribute is removed.
    Null,
    /// The attribute gets the value.
    Term(Term),
}

/// A value in an expression, before it gets placeholders.
enum Term {
    Path(Vec<Segment>),
    Value(Attribute),
    Infix(Box<Term>, char, Box<Term>),
    IfNotExists(Vec<Segment>, Box<Term>),
    ListAppend(Box<Term>, Box<Term>),
}

impl Term {
    fn text(self, placeholders: &mut Placeholders) -> String {
        match self {
            Term::Path(segments) => placeholders.path(&segments),
            Term::Value(attribute) => placeholders.value(attribute),
            Term::Infix(left, sign, right) => {
                format!("{} {sign} {}", left.text(placeholders), right.text(placeholders))
            }
            Term::IfNotExists(path, otherwise) => {
                format!("if_not_exists({}, {})", placeholders.path(&path), otherwise.text(placeholders))
            }
            Term::ListAppend(left, right) => {
                format!("list_append({}, {})", left.text(placeholders), right.text(placeholders))
            }
        }
    }
}

struct Values<'a> {
    model: &'a Model,
    scope: &'a Scope<'a>,
    form: StoredForm,
}

impl Values<'_> {
    fn set_value(&mut self, target: &Path, value: &SetValue) -> Result<Assignment, String> {
        Ok(match self.written(target, value)? {
            // `SET a = a` would fail if there is no `a`.
            Assignment::Term(Term::Path(path)) if path == target.segments => Assignment::Nothing,
            // DynamoDB would copy a null. It refuses to copy what is missing.
            Assignment::Term(Term::Path(path)) if self.form.takes_null(&path) => {
                Assignment::Term(Term::Path(vec![Segment::Attribute(NOTHING.to_owned())]))
            }
            Assignment::Term(Term::Value(attribute)) if let SetValue::Operand(operand) = value => {
                let kind = self.value(operand).map(|(kind, _)| kind);
                let kept = kind
                    .map_or(Ok(attribute.clone()), |kind| self.form.kept_type(&target.segments, &kind.0, attribute));
                Assignment::Term(Term::Value(kept.map_err(|why| unfit(operand, &why))?))
            }
            Assignment::Term(term) => {
                self.grant_copied(&term);
                Assignment::Term(term)
            }
            written => written,
        })
    }

    /// What is copied as it is must be no null. DynamoDB itself refuses to calculate with one.
    fn grant_copied(&mut self, term: &Term) {
        match term {
            Term::Path(path) => self.form.grant_no_null(path),
            Term::IfNotExists(path, otherwise) => {
                self.form.grant_no_null(path);
                self.grant_copied(otherwise);
            }
            Term::Value(_) | Term::Infix(..) | Term::ListAppend(..) => {}
        }
    }

    fn written(&mut self, target: &Path, value: &SetValue) -> Result<Assignment, String> {
        Ok(match value {
            SetValue::Operand(operand) => self.operand(operand)?,
            SetValue::Plus(left, right) => self.infix(target, left, '+', right)?,
            SetValue::Minus(left, right) => self.infix(target, left, '-', right)?,
            SetValue::IfNotExists(path, otherwise) if self.form.takes_null(&path.segments) => {
                self.written(target, otherwise)?
            }
            SetValue::IfNotExists(path, otherwise) => match self.written(target, otherwise)? {
                Assignment::Term(otherwise) => {
                    Assignment::Term(Term::IfNotExists(path.segments.clone(), Box::new(otherwise)))
                }
                _ if path == target => Assignment::Nothing,
                _ => return Err(missing(otherwise, "uses it in place of a missing attribute")),
            },
            SetValue::ListAppend(left, right) => match (self.written(target, left)?, self.written(target, right)?) {
                (Assignment::Term(left), Assignment::Term(right)) => {
                    Assignment::Term(Term::ListAppend(Box::new(left), Box::new(right)))
                }
                (Assignment::Term(one), _) | (_, Assignment::Term(one)) => Assignment::Term(one),
                _ => Assignment::Nothing,
            },
        })
    }

    fn infix(&mut self, target: &Path, left: &SetValue, sign: char, right: &SetValue) -> Result<Assignment, String> {
        let mut operand = |value: &SetValue| match self.written(target, value)? {
            Assignment::Term(term) => Ok(Box::new(term)),
            _ => Err(missing(value, "calculates with it")),
        };
        Ok(Assignment::Term(Term::Infix(operand(left)?, sign, operand(right)?)))
    }

    fn operand(&self, operand: &Operand) -> Result<Assignment, String> {
        let (kind, value) = match operand {
            Operand::Path(path) => return Ok(Assignment::Term(Term::Path(path.segments.clone()))),
            Operand::Size(_) => return Err("An update cannot set an attribute to a size.".to_owned()),
            operand => match self.value(operand) {
                Some(value) => value,
                None => return Ok(Assignment::Nothing),
            },
        };
        let attribute = stored_values::stored_value(self.model, &kind.0, &value)
            .map_err(|invalid| unfit(operand, &invalid.message))?;
        Ok(attribute.map_or(Assignment::Null, |attribute| Assignment::Term(Term::Value(attribute))))
    }

    /// What ADD adds: a number, or the elements of a set.
    fn added(&self, operand: &Operand) -> Result<Option<Attribute>, String> {
        match self.value(operand) {
            Some((ArgumentType(kind), value)) if !value.is_array() && !matches!(kind, ValueType::Set(_)) => {
                stored_values::stored_value(self.model, kind, &value)
                    .map_err(|invalid| unfit(operand, &invalid.message))
            }
            _ => self.elements(operand),
        }
    }

    /// The elements that ADD adds to a set, or DELETE removes from it.
    fn elements(&self, operand: &Operand) -> Result<Option<Attribute>, String> {
        match self.value(operand) {
            Some((kind, value)) => {
                stored_values::stored_elements(&kind.0, &value).map_err(|invalid| unfit(operand, &invalid.message))
            }
            None => Ok(None),
        }
    }

    /// A value of the request; `None` if an argument is not given.
    fn value<'o>(&self, operand: &'o Operand) -> Option<(&'o ArgumentType, Value)> {
        match operand {
            Operand::Argument(name, kind) => Some((kind, self.scope.argument(name)?.clone())),
            Operand::Now(kind) => Some((kind, now(kind, self.scope.now))),
            Operand::Literal(value, kind) => Some((kind, value.clone())),
            Operand::Claim(claim, kind) => Some((kind, self.scope.claim(claim, &kind.0))),
            Operand::Path(_) | Operand::Size(_) => None,
        }
    }
}

fn unfit(operand: &Operand, why: &str) -> String {
    match operand {
        Operand::Argument(name, _) => format!("Argument \"{name}\" does not fit its use in the update: {why}"),
        _ => format!("A value does not fit its use in the update: {why}"),
    }
}

fn missing(value: &SetValue, what: &str) -> String {
    match value {
        SetValue::Operand(Operand::Argument(name, _)) => format!("Argument \"{name}\" is null, but the update {what}."),
        _ => format!("A value is null, but the update {what}."),
    }
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
