//! A schema and choices in, a random valid operation out: as a tree, and as text.

use super::choices::Choices;
use apollo_compiler::Schema;
use apollo_compiler::ast::Type;
use apollo_compiler::schema::ExtendedType;
use serde_json::Value;
use std::fmt::Write;

/// A selected field.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The response key.
    pub key: String,
    pub field: String,
    /// Name, value, and the value as text.
    pub arguments: Vec<(String, Value, String)>,
    pub inner: Vec<Selection>,
    /// Whether it has its own inline fragment.
    wrapped: bool,
    /// For an inline fragment, which has no field: its object type.
    pub on: Option<String>,
}

/// The parts of random operations.
pub struct Grammar<'a> {
    pub schema: &'a Schema,
    /// Texts for arguments of type ID and String.
    pub texts: &'a [&'a str],
    /// Fields and arguments to leave out.
    pub without: &'a [&'a str],
    /// The largest and the smallest integer of an argument.
    pub integers: std::ops::RangeInclusive<i64>,
}

impl Grammar<'_> {
    /// A random operation of the query type.
    pub fn operation(&self, choices: &mut Choices, depth: usize) -> Vec<Selection> {
        let root = self.schema.root_operation(apollo_compiler::ast::OperationType::Query).unwrap();
        self.set(root, choices, depth)
    }

    fn set(&self, type_name: &str, choices: &mut Choices, depth: usize) -> Vec<Selection> {
        let none = Default::default();
        let fields = match &self.schema.types[type_name] {
            ExtendedType::Object(object) => &object.fields,
            ExtendedType::Interface(interface) => &interface.fields,
            ExtendedType::Union(_) => &none,
            other => panic!("{} has no fields", other.name()),
        };
        let leaf = |ty: &Type| {
            !matches!(
                self.schema.types[ty.inner_named_type()],
                ExtendedType::Object(_) | ExtendedType::Interface(_) | ExtendedType::Union(_)
            )
        };
        let known = |name: &str| !self.without.contains(&name);
        let open: Vec<_> =
            fields.values().filter(|field| known(&field.name) && (depth > 0 || leaf(&field.ty))).collect();
        let mut set: Vec<Selection> = Vec::new();
        for _ in 0..=choices.below(3) {
            let typename = open.is_empty() || choices.once_in(12);
            let mut one = if typename {
                Selection { key: "__typename".into(), field: "__typename".into(), ..Selection::default() }
            } else {
                let field = *choices.of(&open);
                let mut arguments = Vec::new();
                for argument in field.arguments.iter().filter(|argument| known(&argument.name)) {
                    if argument.is_required() || choices.once_in(2) {
                        let (value, literal) = self.value(&argument.ty, choices);
                        arguments.push((argument.name.to_string(), value, literal));
                    }
                }
                let inner =
                    if leaf(&field.ty) { vec![] } else { self.set(field.ty.inner_named_type(), choices, depth - 1) };
                Selection {
                    key: field.name.to_string(),
                    field: field.name.to_string(),
                    arguments,
                    inner,
                    wrapped: choices.once_in(8),
                    on: None,
                }
            };
            if set.iter().any(|other| other.key == one.key) {
                one.key = format!("{}{}", one.field.trim_start_matches('_'), set.len());
            }
            set.push(one);
        }
        set.extend(self.fragment(type_name, &set, choices, depth));
        set
    }

    /// For an interface or a union: a fragment on one of its types, with keys that nothing next to it has. The type's
    /// name before it shows whether it applies.
    fn fragment(&self, type_name: &str, beside: &[Selection], choices: &mut Choices, depth: usize) -> Vec<Selection> {
        let members: Vec<&str> = self
            .schema
            .types
            .keys()
            .map(|name| name.as_str())
            .filter(|name| self.schema.is_subtype(type_name, name))
            .collect();
        if members.is_empty() || depth == 0 {
            return vec![];
        }
        let on = *choices.of(&members);
        let mut inner = self.set(on, choices, depth - 1);
        for (position, one) in inner.iter_mut().enumerate() {
            if beside.iter().any(|other| other.key == one.key) {
                one.key = format!("{}On{position}", one.field.trim_start_matches('_'));
            }
        }
        let names_type = beside.iter().any(|one| one.key == "__typename");
        let name = Selection { key: "__typename".into(), field: "__typename".into(), ..Selection::default() };
        let fragment = Selection { inner, on: Some(on.to_owned()), ..Selection::default() };
        if names_type { vec![fragment] } else { vec![name, fragment] }
    }

    fn value(&self, ty: &Type, choices: &mut Choices) -> (Value, String) {
        if !ty.is_non_null() && choices.once_in(6) {
            return (Value::Null, "null".into());
        }
        if ty.is_list() {
            let elements = (0..choices.below(4)).map(|_| self.value(ty.item_type(), choices));
            let (values, literals): (Vec<Value>, Vec<String>) = elements.unzip();
            return (values.into(), format!("[{}]", literals.join(", ")));
        }
        let name = ty.inner_named_type();
        if let ExtendedType::Enum(definition) = &self.schema.types[name] {
            let names: Vec<_> = definition.values.keys().collect();
            let name = choices.of(&names);
            return (name.as_str().into(), name.to_string());
        }
        let value: Value = match name.as_str() {
            "Int" | "Long" => {
                let (least, most) = (*self.integers.start(), *self.integers.end());
                (least + choices.below(usize::try_from(most - least + 1).unwrap()) as i64).into()
            }
            "Boolean" => choices.once_in(2).into(),
            "DateTime" => (*choices.of(&["2026-11-20T09:30:00Z", "2018-10-03T10:00:00+02:00"])).into(),
            "Date" => (*choices.of(&["2026-11-20", "2018-10-03"])).into(),
            _ => (*choices.of(self.texts)).into(),
        };
        let literal = value.to_string();
        (value, literal)
    }
}

/// An operation's text.
pub fn text(set: &[Selection]) -> String {
    let mut out = String::from("{ ");
    for one in set {
        if let Some(on) = &one.on {
            let _ = write!(out, "... on {on} {}", text(&one.inner));
            continue;
        }
        if one.wrapped {
            out.push_str("... @include(if: true) { ");
        }
        if one.key != one.field {
            let _ = write!(out, "{}: ", one.key);
        }
        out.push_str(&one.field);
        if !one.arguments.is_empty() {
            let arguments: Vec<String> =
                one.arguments.iter().map(|(name, _, literal)| format!("{name}: {literal}")).collect();
            let _ = write!(out, "({})", arguments.join(", "));
        }
        out.push(' ');
        if !one.inner.is_empty() {
            out.push_str(&text(&one.inner));
        }
        if one.wrapped {
            out.push_str("} ");
        }
    }
    out.push_str("} ");
    out
}
