//! Groups of items in; types with key templates, fields, relations and finds out.
//!
//! [`align`] finds the attribute that a part of a key repeats, [`templates`] makes the keys of a group, [`types`] its
//! type, and [`scalars`] says what the values of a field are, with a [`guess`] where they leave it open, which
//! [`settle`] takes back where a person answered. [`hinted`] takes types that sources describe, [`patterns`] their
//! access patterns. [`names`] makes names of GraphQL, [`relations`] leads from type to type, and [`finds`] lists what
//! the keys serve.

pub mod align;
pub mod finds;
pub mod guess;
pub mod hinted;
pub mod names;
pub mod patterns;
pub mod relations;
pub mod scalars;
pub mod settle;
pub mod templates;
pub mod types;

use self::guess::Guess;
use super::questions::Question;
use crate::schema::table::Table;

/// A schema before it is written.
#[derive(Debug, Clone, Default)]
pub struct ApiDraft {
    /// The tables.
    pub tables: Vec<Table>,
    /// The item types.
    pub types: Vec<TypeDraft>,
    /// The objects inside items.
    pub objects: Vec<ObjectDraft>,
    /// The enums.
    pub enums: Vec<EnumDraft>,
    /// The fields of `Query`.
    pub finds: Vec<FindDraft>,
    /// The fields of `Mutation`.
    pub writes: Vec<MutationDraft>,
    /// What has no place in it, as sentences.
    pub left_out: Vec<String>,
    /// What items leave open, answered or not.
    pub questions: Vec<Question>,
}

/// A type of items.
#[derive(Debug, Clone, Default)]
pub struct TypeDraft {
    /// Its name.
    pub name: String,
    /// The position of its table.
    pub table: usize,
    /// How many items of the sample are of the type.
    pub count: usize,
    /// The template of each key attribute.
    pub keys: Vec<KeyDraft>,
    /// Attributes with the text that they have in each item.
    pub constants: Vec<(String, String)>,
    /// Its fields.
    pub fields: Vec<FieldDraft>,
    /// Its relations.
    pub relations: Vec<FindDraft>,
    /// Whether nothing may write its items: the schema does not have all of their keys.
    pub read_only: bool,
    /// What is guessed, for a comment.
    pub guesses: Vec<String>,
    /// What its items leave open of its keys.
    pub questions: Vec<Question>,
}

/// A key attribute's template.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyDraft {
    /// The key attribute.
    pub attribute: String,
    /// The parts of its text.
    pub parts: Vec<PartDraft>,
}

/// A part of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum PartDraft {
    /// This text.
    Literal(String),
    /// The field at this position of the type, in this form.
    Field(usize, Option<String>),
}

/// A field that items store.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FieldDraft {
    /// Its name.
    pub name: String,
    /// Its type, without `!`.
    pub scalar: String,
    /// The attribute, if items have one beside the key.
    pub attribute: Option<String>,
    /// More arguments of `@attribute`, as `stored: SET`.
    pub stored: Option<String>,
    /// A directive for its values, as `@constraint(format: "uuid")`.
    pub constraint: Option<String>,
    /// Whether it is never null.
    pub required: bool,
    /// Its texts in keys, for what must be tried on them: bounded, distinct.
    pub texts: Vec<String>,
    /// What is guessed.
    pub guess: Option<Guess>,
    /// The name that a source has for it.
    pub hint: Option<String>,
    /// Whether a constraint for its values was tried, and cannot be.
    pub unconstrained: bool,
}

/// An object inside items.
#[derive(Debug, Clone)]
pub struct ObjectDraft {
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<FieldDraft>,
}

/// An enum of texts.
#[derive(Debug, Clone, PartialEq)]
pub struct EnumDraft {
    /// Its name.
    pub name: String,
    /// Its values: the name of each, and the text that items have.
    pub values: Vec<(String, String)>,
}

/// A field that finds items.
#[derive(Debug, Clone, PartialEq)]
pub struct FindDraft {
    /// Its name.
    pub name: String,
    /// What a person reads of it.
    pub description: Option<String>,
    /// Its arguments with their types.
    pub arguments: Vec<(String, String)>,
    /// The type that it finds.
    pub target: String,
    /// Whether it gives a list.
    pub list: bool,
    /// Bindings: a field of the target, and the text that binds it.
    pub bindings: Vec<(String, String)>,
    /// The index, if one must be named.
    pub index: Option<String>,
}

/// A field that writes an item.
#[derive(Debug, Clone, PartialEq)]
pub struct MutationDraft {
    /// Its name.
    pub name: String,
    /// What a person reads of it.
    pub description: Option<String>,
    /// Its arguments with their types.
    pub arguments: Vec<(String, String)>,
    /// The type of the item.
    pub target: String,
    /// The directive: `@put`, `@update` or `@delete`.
    pub directive: &'static str,
}

impl ApiDraft {
    /// The object inside items that a field holds, or a list of it.
    pub fn object_of(&self, field: &FieldDraft) -> Option<&ObjectDraft> {
        self.objects.iter().find(|object| object.name == field.named_type())
    }
}

impl FieldDraft {
    /// The name of its type, without the marks of lists.
    pub fn named_type(&self) -> &str {
        self.scalar.trim_matches(['[', ']', '!'])
    }
}

impl TypeDraft {
    /// Leaves each index out that has one of its keys only: it has none of the items. `is_there` says whether a key
    /// attribute of an index is there; nothing of one that does not count.
    pub fn leave_half_indexes_out(&mut self, table: &Table, is_there: &dyn Fn(&Self, &str) -> Option<bool>) {
        for index in &table.indexes {
            let keys: Vec<(&str, bool)> = index
                .keys()
                .all()
                .map(|key| key.name.as_str())
                .filter(|key| !table.is_primary_key(key))
                .filter_map(|key| Some((key, is_there(self, key)?)))
                .collect();
            if keys.iter().any(|(_, there)| *there) && !keys.iter().all(|(_, there)| *there) {
                self.keys.retain(|key| !keys.iter().any(|(name, _)| *name == key.attribute));
                self.read_only = true;
            }
        }
    }

    /// The template of a key attribute.
    pub fn key(&self, attribute: &str) -> Option<&KeyDraft> {
        self.keys.iter().find(|key| key.attribute == attribute)
    }

    /// The fields in a key, in its order, each once.
    pub fn fields_of(&self, attribute: &str) -> Vec<usize> {
        let mut fields = Vec::new();
        for part in self.key(attribute).iter().flat_map(|key| &key.parts) {
            if let PartDraft::Field(field, _) = part
                && !fields.contains(field)
            {
                fields.push(*field);
            }
        }
        fields
    }
}

impl KeyDraft {
    /// The template's text, with names of fields in braces.
    pub fn template(&self, fields: &[FieldDraft]) -> String {
        let part = |part: &PartDraft| match part {
            PartDraft::Literal(text) => text.replace('{', "{{").replace('}', "}}"),
            PartDraft::Field(field, form) => {
                let form = form.as_ref().map(|form| format!(":{form}")).unwrap_or_default();
                format!("{{{}{form}}}", fields.get(*field).map_or("", |field| field.name.as_str()))
            }
        };
        self.parts.iter().map(part).collect()
    }

    /// The template's texts around its fields, each field as `{}`: what two keys of one shape have in common.
    pub fn shape(&self) -> String {
        let part = |part: &PartDraft| match part {
            PartDraft::Literal(text) => text.clone(),
            PartDraft::Field(..) => "{}".to_owned(),
        };
        self.parts.iter().map(part).collect()
    }
}
