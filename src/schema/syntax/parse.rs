//! The author's text in, apollo-compiler's schema with Keyfold's definitions out. Must not know what the directives
//! mean.
//!
//! Keyfold's definitions are a source file of their own, so that positions in the author's file stay right. An author's
//! definition replaces Keyfold's definition of the same name, if authors may use that name (`DateTime`, `Order`,
//! `PageInfo` …). Keyfold's directives and `keyfold__…` types replace the author's, so that a file with a copy of
//! Keyfold's definitions loads as well.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::syntax::compiler::{names, slips, texts};
use crate::schema::syntax::definitions::{RESERVED, defined_name, definitions, directive_name};
use crate::schema::syntax::{input_defaults, one_of};
use apollo_compiler::ast::Document;
use apollo_compiler::diagnostic::ToCliReport;
use apollo_compiler::parser::FileId;
use apollo_compiler::validation::{DiagnosticList, WithErrors};
use apollo_compiler::{Name, Schema};
use std::collections::HashSet;

/// Parses and validates. Returns `None` after a mistake in the syntax, or in names and values: what follows would tell
/// of what is not there because of it.
pub fn parse(file: &str, text: &str, findings: &mut Findings) -> Option<Schema> {
    let mut authors = match Document::parse(text, file) {
        Ok(document) => document,
        Err(WithErrors { partial, errors }) => {
            report_first(text, &errors, partial.sources.keys().next().copied(), findings);
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

    let mut goes_on = true;
    let mut schema = match Schema::builder().add_ast(&ours).add_ast(&authors).build() {
        Ok(schema) => schema,
        Err(WithErrors { partial, errors }) => {
            goes_on = report((&partial, text), &errors, file_id, findings);
            partial
        }
    };
    one_of::define(&mut schema);
    one_of::check(&schema, findings);
    goes_on &= texts::check(&schema, text, findings);
    match schema.validate() {
        Ok(valid) => {
            input_defaults::check(&valid, findings);
            goes_on.then(|| valid.into_inner())
        }
        Err(WithErrors { partial, errors }) => {
            (report((&partial, text), &errors, file_id, findings) && goes_on).then_some(partial)
        }
    }
}

/// Adds the first mistake of the syntax.
fn report_first(text: &str, errors: &DiagnosticList, file: Option<FileId>, findings: &mut Findings) {
    let mut own = errors.iter().map(|diagnostic| {
        let location = diagnostic.error.location().filter(|location| Some(location.file_id()) == file);
        (span::from_location(location), diagnostic.error.to_string())
    });
    let Some((place, said)) = own.next() else { return };
    let mistake = slips::explain(text, &said, &place);
    findings.error(rules::KF0001, &mistake.span, mistake.message, mistake.help);
}

/// Adds the compiler's findings. A finding in another file than the author's is placed at the start of the text. Gives
/// whether what follows can be checked all the same.
fn report(
    (schema, text): (&Schema, &str),
    errors: &DiagnosticList,
    file: Option<FileId>,
    findings: &mut Findings,
) -> bool {
    let mut goes_on = true;
    let mut said: HashSet<String> = HashSet::new();
    for diagnostic in errors.iter() {
        let location = diagnostic.error.location().filter(|location| Some(location.file_id()) == file);
        let place = span::from_location(location);
        let message = diagnostic.error.to_string();
        let named = names::explain(schema, &message, (text, &place));
        goes_on &= named.goes_on;
        if said.insert(message.clone()) || !named.once {
            let message = names::in_own_words(&message);
            findings.error(rules::KF0002, &named.place.unwrap_or(place), message, named.help);
        }
    }
    goes_on
}
