//! The literals of an operation in; out: those that do not fit their types. apollo-compiler does not know Keyfold's
//! scalars, so their literals are coerced here before anything runs, also in fields that are skipped. It does not check
//! variables inside literals or OneOf input objects either, so these are checked here too.
//!
//! GraphQL spec sections 5.6.1 "Values of Correct Type", 5.6.3 "Input Object Field Uniqueness", 5.8.3 "All Variable
//! Uses Defined" and 5.8.5 "All Variable Usages Are Allowed".

use crate::plan::error::{PlanError, PlanErrorKind, place};
use crate::schema::scalar::coerce::{coerce, exactly_one, is_one_of, json_of};
use apollo_compiler::ast::{Argument, InputValueDefinition, Type, Value as Literal};
use apollo_compiler::executable::{DirectiveList, Operation, Selection, SelectionSet};
use apollo_compiler::schema::{ExtendedType, InputObjectType};
use apollo_compiler::{ExecutableDocument, Name, Node, Schema};
use serde_json::Map;
use std::collections::HashSet;

/// The mistakes in the literals of an operation and of its fragments.
pub fn mistakes(api: &Schema, document: &ExecutableDocument, operation: &Operation) -> Vec<PlanError> {
    let mut walk = Walk { api, document, operation, spread: HashSet::new(), name: String::new(), mistakes: Vec::new() };
    for variable in &operation.variables {
        walk.directives(&variable.directives);
        if let Some(default) = &variable.default_value {
            walk.name = format!("Variable \"${}", variable.name);
            walk.value(&variable.ty, Place::default(), default);
        }
    }
    walk.directives(&operation.directives);
    walk.set(&operation.selection_set);
    walk.mistakes
}

struct Walk<'a> {
    api: &'a Schema,
    document: &'a ExecutableDocument,
    operation: &'a Operation,
    /// The fragments that are already checked.
    spread: HashSet<&'a Name>,
    /// What the current literal is for, with its path: `Argument "input.items[2]`.
    name: String,
    mistakes: Vec<PlanError>,
}

/// What matters about a place for a value besides its type.
#[derive(Clone, Copy, Default)]
struct Place {
    /// Whether it has a default for a variable without a value.
    has_default: bool,
    /// Whether it is a field of a OneOf input object.
    in_one_of: bool,
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
                let at = Place { has_default: definition.default_value.is_some(), in_one_of: false };
                self.value(&definition.ty, at, &argument.value);
            }
        }
    }

    fn value(&mut self, ty: &Type, at: Place, value: &Node<Literal>) {
        match (ty, &**value) {
            (_, Literal::Variable(name)) => self.variable(ty, at, name, value),
            (_, Literal::Null) => {}
            (Type::List(item) | Type::NonNullList(item), Literal::List(values)) => {
                values
                    .iter()
                    .enumerate()
                    .for_each(|(position, value)| self.within(&format!("[{position}]"), item, Place::default(), value));
            }
            (Type::List(item) | Type::NonNullList(item), _) => self.value(item, Place::default(), value),
            (Type::Named(name) | Type::NonNullNamed(name), literal) => match (self.api.types.get(name), literal) {
                (Some(ExtendedType::InputObject(input)), Literal::Object(fields)) => self.object(input, fields, value),
                (Some(ExtendedType::Scalar(_)), _) => {
                    self.variables_are_defined(value);
                    self.fields_are_unique(value);
                    // Variables inside a JSON value are coerced as variables.
                    if let Err(misfit) = coerce(self.api, ty, &json_of(value, &Map::new())) {
                        let message = format!("{}\" is not acceptable: {}", self.name, misfit.why);
                        self.mistakes
                            .push(PlanError::new(PlanErrorKind::Input, message).at(place(value, self.document)));
                    }
                }
                _ => {}
            },
        }
    }

    fn object(&mut self, input: &InputObjectType, fields: &[(Name, Node<Literal>)], value: &Node<Literal>) {
        let in_one_of = is_one_of(input);
        if in_one_of && (fields.len() != 1 || fields.iter().any(|(_, value)| value.is_null())) {
            self.invalid(exactly_one(&input.name), value);
        }
        self.names_are_unique(fields);
        for (name, value) in fields {
            if let Some(definition) = input.fields.get(name) {
                let at = Place { has_default: definition.default_value.is_some(), in_one_of };
                self.within(&format!(".{name}"), &definition.ty, at, value);
            }
        }
    }

    fn names_are_unique(&mut self, fields: &[(Name, Node<Literal>)]) {
        let mut seen = HashSet::new();
        for (name, value) in fields {
            if !seen.insert(name) {
                self.invalid(format!("There can be only one input field named \"{name}\"."), value);
            }
        }
    }

    /// Checks the objects in a value of a scalar (GraphQL section 5.6.3: input object field uniqueness).
    fn fields_are_unique(&mut self, value: &Node<Literal>) {
        match &**value {
            Literal::Object(fields) => {
                self.names_are_unique(fields);
                fields.iter().for_each(|(_, value)| self.fields_are_unique(value));
            }
            Literal::List(values) => values.iter().for_each(|value| self.fields_are_unique(value)),
            _ => {}
        }
    }

    /// Checks that a variable may be used in a place of this type.
    fn variable(&mut self, ty: &Type, at: Place, name: &Name, value: &Node<Literal>) {
        let Some(definition) = self.operation.variables.iter().find(|definition| definition.name == *name) else {
            return self.variables_are_defined(value);
        };
        let given = &definition.ty;
        let has_default = at.has_default || definition.default_value.as_ref().is_some_and(|default| !default.is_null());
        let wanted = match () {
            // The field of a OneOf input object must not be null, whatever the defaults.
            () if at.in_one_of => ty.clone().non_null(),
            () if ty.is_non_null() && !given.is_non_null() && has_default => ty.clone().nullable(),
            () => ty.clone(),
        };
        if !given.is_assignable_to(&wanted) {
            let message = format!("Variable \"${name}\" of type {given} cannot be used where {wanted} is expected.");
            self.invalid(message, value);
        }
    }

    /// Checks that variables inside a JSON value are defined, which the compiler does not.
    fn variables_are_defined(&mut self, value: &Node<Literal>) {
        match &**value {
            Literal::Variable(name) if !self.operation.variables.iter().any(|definition| definition.name == *name) => {
                self.invalid(format!("Variable \"${name}\" is not defined."), value);
            }
            Literal::List(values) => values.iter().for_each(|value| self.variables_are_defined(value)),
            Literal::Object(fields) => fields.iter().for_each(|(_, value)| self.variables_are_defined(value)),
            _ => {}
        }
    }

    fn within(&mut self, step: &str, ty: &Type, at: Place, value: &Node<Literal>) {
        let length = self.name.len();
        self.name.push_str(step);
        self.value(ty, at, value);
        self.name.truncate(length);
    }

    fn invalid(&mut self, message: String, value: &Node<Literal>) {
        self.mistakes.push(PlanError::new(PlanErrorKind::Validity, message).at(place(value, self.document)));
    }
}
