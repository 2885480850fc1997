//! The author's text in, apollo-compiler's schema with Keyfold's definitions out. Must not know what the directives
//! mean.
//!
//! Keyfold's definitions are a source file of their own, so that positions in the author's file stay right. An author's
//! definition replaces Keyfold's definition of the same name, if authors may use that name (`DateTime`, `Order`,
//! `PageInfo` …). Keyfold's directives and `keyfold__…` types replace the author's, so that a file with a copy of
//! Keyfold's definitions loads as well.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::definitions::{RESERVED, defined_name, definitions, directive_name};
use crate::schema::syntax::tokens::in_plain_tokens;
use crate::schema::syntax::{input_defaults, misspelt, one_of};
use apollo_compiler::ast::Document;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::FileId;
use apollo_compiler::validation::{DiagnosticList, WithErrors};
use apollo_compiler::{Name, Schema};
use std::collections::HashSet;

/// Parses and validates. Returns `None` after a syntax error. After other errors, returns the part of the schema that
/// could be built, so that further mistakes can be found.
pub fn parse(file: &str, text: &str, findings: &mut Findings) -> Option<Schema> {
    let mut authors = match Document::parse(text, file) {
        Ok(document) => document,
        Err(WithErrors { partial, errors }) => {
            report(rules::KF0001, &errors, partial.sources.keys().next().copied(), findings);
            return None;
        }
    };
    let file_id = authors.sources.keys().next().copied();
    let mut ours = definitions().clone();
    let directives: HashSet<Name> = ours.definitions.iter().filter_map(directive_name).cloned().collect();
    authors.definitions.retain(|definition| {
        let copy = directive_name(definition).is_some_and(|name| directives.contains(name));
        !copy && !defined_name(definition).is_some_and(|name| name.starts_with(RESERVED))
    });
    let redefined: HashSet<&Name> = authors.definitions.iter().filter_map(defined_name).collect();
    ours.definitions.retain(|definition| defined_name(definition).is_none_or(|name| !redefined.contains(name)));

    let mut schema = match Schema::builder().add_ast(&ours).add_ast(&authors).build() {
        Ok(schema) => schema,
        Err(WithErrors { partial, errors }) => {
            report(rules::KF0002, &errors, file_id, findings);
            partial
        }
    };
    one_of::define(&mut schema);
    one_of::check(&schema, findings);
    match schema.validate() {
        Ok(valid) => {
            input_defaults::check(&valid, findings);
            Some(valid.into_inner())
        }
        Err(WithErrors { partial, errors }) => {
            report(rules::KF0002, &errors, file_id, findings);
            Some(partial)
        }
    }
}

/// Adds the compiler's findings. A finding in another file than the author's is placed at the start of the text.
fn report(rule: &'static Rule, errors: &DiagnosticList, file: Option<FileId>, findings: &mut Findings) {
    for diagnostic in errors.iter() {
        let location = diagnostic.error.location().filter(|location| Some(location.file_id()) == file);
        let said = diagnostic.error.to_string();
        let message = if said.starts_with("syntax error") { in_plain_tokens(&said) } else { said };
        let help = misspelt::meant(&message);
        findings.error(rule, &span::from_location(location), message, help);
    }
}
