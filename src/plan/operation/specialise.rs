//! An operation in; out: the variables on which its plan depends, and the key under which the plan is cached.
//!
//! A plan has no conditions. It is made for the values of variables in `@skip`, `@include` and sorting arguments, and
//! for the presence of variables in other arguments: a null argument binds nothing and may choose another access path.

use apollo_compiler::ExecutableDocument;
use apollo_compiler::executable::{DirectiveList, Operation, Selection, SelectionSet};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashSet};

/// How a plan depends on a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// On whether it is given and not null.
    Presence,
    /// On its value.
    Value,
}

/// Arguments whose value, not just whose presence, chooses the plan.
const SORTING: [&str; 2] = ["orderBy", "order"];

/// The variables on which an operation's plan depends, in the order of their names.
pub fn sensitivities(document: &ExecutableDocument, operation: &Operation) -> Vec<(String, Sensitivity)> {
    let mut walk = Walk { document, seen: HashSet::new(), found: BTreeMap::new() };
    walk.set(&operation.selection_set);
    walk.found.into_iter().collect()
}

/// The cache key for an operation with these variables: equal keys have equal plans.
pub fn plan_key(name: &str, sensitivities: &[(String, Sensitivity)], variables: &Map<String, Value>) -> String {
    let mut key = name.to_owned();
    for (variable, sensitivity) in sensitivities {
        key.push('\n');
        match (sensitivity, variables.get(variable)) {
            (_, None) => key.push('-'),
            (_, Some(Value::Null)) => key.push('0'),
            (Sensitivity::Presence, Some(_)) => key.push('1'),
            (Sensitivity::Value, Some(value)) => key.push_str(&value.to_string()),
        }
    }
    key
}

struct Walk<'a> {
    document: &'a ExecutableDocument,
    seen: HashSet<&'a str>,
    found: BTreeMap<String, Sensitivity>,
}

impl<'a> Walk<'a> {
    fn set(&mut self, set: &'a SelectionSet) {
        for selection in &set.selections {
            self.conditions(selection.directives());
            match selection {
                Selection::Field(field) => {
                    for argument in &field.arguments {
                        if let Some(variable) = argument.value.as_variable() {
                            let sorts = SORTING.contains(&argument.name.as_str());
                            self.note(variable, if sorts { Sensitivity::Value } else { Sensitivity::Presence });
                        }
                    }
                    self.set(&field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.set(&fragment.selection_set),
                Selection::FragmentSpread(spread) => {
                    if self.seen.insert(spread.fragment_name.as_str())
                        && let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                    {
                        self.set(&fragment.selection_set);
                    }
                }
            }
        }
    }

    fn conditions(&mut self, directives: &DirectiveList) {
        for directive in directives.iter().filter(|directive| directive.name == "skip" || directive.name == "include") {
            if let Some(variable) = directive.specified_argument_by_name("if").and_then(|value| value.as_variable()) {
                self.note(variable, Sensitivity::Value);
            }
        }
    }

    fn note(&mut self, variable: &str, sensitivity: Sensitivity) {
        let known = self.found.entry(variable.to_owned()).or_insert(sensitivity);
        *known = (*known).max(sensitivity);
    }
}
