//! The literals of an operation in, those that their places do not take out. apollo-compiler knows nothing of the scalars that Keyfold
//! brings, so their values are coerced here, wherever they stand and whether or not their field is skipped: nothing runs before.
//!
//! GraphQL spec sections 5.6.1 "Values of Correct Type" and 5.6.3 "Input Object Field Uniqueness".

use super::document::place;
use super::error::{PlanError, PlanErrorKind};
use crate::schema::coerce::{coerce, json_of};
use apollo_compiler::ast::{Argument, InputValueDefinition, Type, Value as Literal};
use apollo_compiler::executable::{DirectiveList, Operation, Selection, SelectionSet};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use serde_json::Map;
use std::collections::HashSet;

/// The mistakes in the literals of an operation and of the fragments that it spreads.
pub fn mistakes(api: &Schema, document: &ExecutableDocument, operation: &Operation) -> Vec<PlanError> {
    let mut walk = Walk { api, document, spread: HashSet::new(), name: String::new(), mistakes: Vec::new() };
    for variable in &operation.variables {
        walk.directives(&variable.directives);
        if let Some(default) = &variable.default_value {
            walk.name = format!("Variable \"${}", variable.name);
            walk.value(&variable.ty, default);
        }
    }
    walk.directives(&operation.directives);
    walk.set(&operation.selection_set);
    walk.mistakes
}

struct Walk<'a> {
    api: &'a Schema,
    document: &'a ExecutableDocument,
    /// The fragments that were walked through.
    spread: HashSet<&'a Name>,
    /// What the present literal is for, with the way into it: `Argument "input.items[2]`.
    name: String,
    mistakes: Vec<PlanError>,
}

impl<'a> Walk<'a> {
    fn set(&mut self, set: &'a SelectionSet) {
        for selection in &set.selections {
            self.directives(selection.directives());
            match selection {
                Selection::Field(field) => {
                    self.arguments(&field.definition.arguments, &field.arguments);
                    self.set(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.set(&fragment.selection_set),
                Selection::FragmentSpread(spread) => {
                    let fragment = self.document.fragments.get(&spread.fragment_name);
                    if let Some(fragment) = fragment.filter(|fragment| self.spread.insert(&fragment.name)) {
                        self.directives(&fragment.directives);
                        self.set(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn directives(&mut self, directives: &DirectiveList) {
        for directive in directives.iter() {
            if let Some(definition) = self.api.directive_definitions.get(&directive.name) {
                self.arguments(&definition.arguments, &directive.arguments);
            }
        }
    }

    fn arguments(&mut self, definitions: &[Node<InputValueDefinition>], arguments: &[Node<Argument>]) {
        for argument in arguments {
            if let Some(definition) = definitions.iter().find(|definition| definition.name == argument.name) {
                self.name = format!("Argument \"{}", argument.name);
                self.value(&definition.ty, &argument.value);
            }
        }
    }

    fn value(&mut self, ty: &Type, value: &Node<Literal>) {
        match (ty, &**value) {
            (_, Literal::Variable(_) | Literal::Null) => {}
            (Type::List(item) | Type::NonNullList(item), Literal::List(values)) => {
                values.iter().enumerate().for_each(|(position, value)| self.within(&format!("[{position}]"), item, value));
            }
            (Type::List(item) | Type::NonNullList(item), _) => self.value(item, value),
            (Type::Named(name) | Type::NonNullNamed(name), literal) => match (self.api.types.get(name), literal) {
                (Some(ExtendedType::InputObject(input)), Literal::Object(fields)) => {
                    let mut seen = HashSet::new();
                    for (name, value) in fields {
                        if !seen.insert(name) {
                            self.invalid(format!("There can be only one input field named \"{name}\"."), value);
                        }
                        if let Some(definition) = input.fields.get(name) {
                            self.within(&format!(".{name}"), &definition.ty, value);
                        }
                    }
                }
                (Some(ExtendedType::Scalar(_)), _) => {
                    // What a variable brings into a JSON value is coerced with the variable.
                    if let Err(misfit) = coerce(self.api, ty, &json_of(value, &Map::new())) {
                        let message = format!("{}\" is not acceptable: {}", self.name, misfit.why);
                        self.mistakes.push(PlanError::new(PlanErrorKind::Input, message).at(place(value, self.document)));
                    }
                }
                _ => {}
            },
        }
    }

    fn within(&mut self, step: &str, ty: &Type, value: &Node<Literal>) {
        let length = self.name.len();
        self.name.push_str(step);
        self.value(ty, value);
        self.name.truncate(length);
    }

    fn invalid(&mut self, message: String, value: &Node<Literal>) {
        self.mistakes.push(PlanError::new(PlanErrorKind::Validity, message).at(place(value, self.document)));
    }
}
