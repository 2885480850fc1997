//! `cascade:` of a delete in; out: the paths of relations whose items are deleted too. Must not know how they are
//! deleted.

use super::acting::Acting;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::finds::target::{self, FindTarget};
use crate::schema::model::find::Returns;
use crate::schema::syntax::directives::text;
use crate::schema::types::draft::{SchemaDraft, is_find};
use apollo_compiler::ast::FieldDefinition;

/// Each path as relation names; `None` on a mistake.
pub fn read_cascade(acting: &Acting, findings: &mut Findings) -> Option<Vec<Vec<String>>> {
    let paths: Vec<Option<Vec<String>>> =
        acting.directive.cascade.iter().map(|written| path(acting, written, findings)).collect();
    paths.into_iter().collect()
}

fn path(acting: &Acting, written: &At<String>, findings: &mut Findings) -> Option<Vec<String>> {
    let draft = acting.writing.draft;
    let mut reached = acting.item.clone();
    let mut names = Vec::new();
    let mut offset = 0;
    for name in written.value.split('.') {
        let place = span::within(draft.text, &written.span, &(offset..offset + name.len()));
        offset += name.len() + 1;
        let fields = draft.schema.get_object(&reached).map(|object| &object.fields)?;
        let Some(field) = fields.get(name).filter(|field| is_find(field)) else {
            let relations = fields.values().filter(|field| is_find(field)).map(|field| field.name.as_str());
            findings.error(
                rules::KF0715,
                &place,
                format!("`{name}` is not a relation of `{reached}`"),
                suggest(name, relations),
            );
            return None;
        };
        // A mistake in the relation itself is reported at its own field.
        let target = target::from_relation(draft, &reached, name)?;
        let refusal = refusal(draft, (&reached, field), &target);
        if let Some((message, help)) = refusal {
            findings.error(rules::KF0715, &place, message, help);
            return None;
        }
        reached.clone_from(&target.item);
        names.push(name.to_owned());
    }
    Some(names)
}

/// Why a relation of a type cannot go along, with a help.
fn refusal(
    draft: &SchemaDraft,
    (reached, field): (&str, &FieldDefinition),
    target: &FindTarget,
) -> Option<(String, Option<Help>)> {
    let relation = format!("`{reached}.{}`", field.name);
    let through = field.directives.get("find").and_then(|find| text(find, "through"));
    let needs = field.arguments.iter().find(|argument| argument.ty.is_non_null() && argument.default_value.is_none());
    match () {
        () if matches!(target.returns, Returns::Exists | Returns::Count) => {
            Some((format!("{relation} is of type `{}`, which holds no items", field.ty), None))
        }
        () if target::is_abstract(draft, &target.item) => {
            let message = format!("{relation} holds items of several types (`{}`)", target.item);
            Some((message, Some("name a relation to each of them".into())))
        }
        () if draft.is_read_only(&target.item) => {
            let message = format!("{relation} holds items of `{}`, which is read-only", target.item);
            Some((message, Some("leave `readOnly:` out of its `@item`".into())))
        }
        () if through.is_some() => {
            let through = through.map(|at| at.value).unwrap_or_default();
            let message = format!("{relation} goes through other relations, and `cascade:` must name each of them");
            Some((message, Some(format!("name them: `cascade: [\"{through}\", …]`").into())))
        }
        () => needs.map(|argument| {
            let name = &argument.name;
            (format!("{relation} needs the argument `{name}`, but a cascade passes no arguments"), None)
        }),
    }
}
