//! Selection sets → the fields of one object, merged (GraphQL spec section 6.3.2, "Field Collection").
//!
//! The object's type is known when a plan is made, so type conditions, `@skip` and `@include` are decided here.

use crate::plan::error::place;
use crate::plan::passes::Passes;
use apollo_compiler::ast::Value as Literal;
use apollo_compiler::executable::{DirectiveList, Field, Selection, SelectionSet};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// A field of an object, merged from every place that selects it under one response key.
#[derive(Debug)]
pub struct CollectedField<'a> {
    /// The first field node; arguments are equal in all of them (spec section 5.3.2).
    pub field: &'a Node<Field>,
    /// Line and column of the first.
    pub location: (usize, usize),
    /// The sub-selections of all of them.
    pub sets: Vec<&'a SelectionSet>,
}

/// The operation around the selections: schema, document and variables.
#[derive(Clone, Copy)]
pub struct SelectionContext<'a> {
    /// The API's schema.
    pub api: &'a Schema,
    /// The document.
    pub document: &'a ExecutableDocument,
    /// The coerced variables.
    pub variables: &'a Map<String, Value>,
    /// What its plan saves.
    pub passes: Passes,
}

impl<'a> SelectionContext<'a> {
    /// The fields that the sets select of an object of this type: response key → field, in the order of the response.
    pub fn fields(&self, type_name: &str, sets: &[&'a SelectionSet]) -> IndexMap<Name, CollectedField<'a>> {
        let mut fields = IndexMap::new();
        let mut spread = Vec::new();
        for set in sets {
            self.collect(type_name, set, &mut spread, &mut fields);
        }
        fields
    }

    fn collect(
        &self,
        type_name: &str,
        set: &'a SelectionSet,
        spread_before: &mut Vec<&'a str>,
        fields: &mut IndexMap<Name, CollectedField<'a>>,
    ) {
        for selection in &set.selections {
            if !self.included(selection.directives()) {
                continue;
            }
            match selection {
                Selection::Field(field) => {
                    let key = field.response_key().clone();
                    let location = place(field, self.document);
                    let merged =
                        fields.entry(key).or_insert_with(|| CollectedField { field, location, sets: Vec::new() });
                    merged.sets.push(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => {
                    if fragment.type_condition.as_ref().is_none_or(|condition| self.applies(condition, type_name)) {
                        self.collect(type_name, &fragment.selection_set, spread_before, fields);
                    }
                }
                Selection::FragmentSpread(spread) => {
                    if spread_before.contains(&spread.fragment_name.as_str()) {
                        continue;
                    }
                    spread_before.push(spread.fragment_name.as_str());
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                        && self.applies(&fragment.selection_set.ty, type_name)
                    {
                        self.collect(type_name, &fragment.selection_set, spread_before, fields);
                    }
                }
            }
        }
    }

    fn applies(&self, condition: &str, type_name: &str) -> bool {
        condition == type_name || self.api.is_subtype(condition, type_name)
    }

    fn included(&self, directives: &DirectiveList) -> bool {
        directives.iter().all(|directive| match directive.name.as_str() {
            "skip" => !self.holds(directive.specified_argument_by_name("if")),
            "include" => self.holds(directive.specified_argument_by_name("if")),
            _ => true,
        })
    }

    fn holds(&self, value: Option<&Node<Literal>>) -> bool {
        match value.map(|value| &**value) {
            Some(Literal::Boolean(value)) => *value,
            Some(Literal::Variable(name)) => {
                self.variables.get(name.as_str()).and_then(Value::as_bool).unwrap_or(false)
            }
            _ => false,
        }
    }
}
