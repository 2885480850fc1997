//! Rules and what they guard in; out: those that let in callers who are not signed in, unless their authors say so.
//! Must not know how a rule is written.

use super::contradiction::needs_sign_in;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::model::auth::{AuthAction, AuthRule, AuthRules, LetsIn};
use crate::schema::model::find::{Find, Via};
use crate::schema::model::write::Write;
use crate::schema::model::{Field, FieldKind, ObjectType};
use crate::schema::types::draft::{Kind, SchemaDraft};
use indexmap::IndexMap;

/// Reports each place with a rule that names no claim, so that callers without a sign-in meet it, if nothing around it
/// demands one.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for object in draft.objects() {
        let Some(ty) = types.get(object.name.as_str()) else { continue };
        if is_open(&ty.auth) {
            report(&object.name, &span::from_location(object.name.location()), findings);
        }
        let is_item = draft.kind(&object.name) == Some(&Kind::Item);
        if is_item && ty.auth.around().iter().all(|rule| needs_sign_in(rule)) {
            continue;
        }
        for (name, definition) in &object.fields {
            let Some(field) = ty.fields.get(name.as_str()) else { continue };
            if is_open(&field.auth) && !leads_to_sign_in(types, field) {
                report(&format!("{}.{name}", object.name), &span::from_location(definition.name.location()), findings);
            }
        }
    }
}

fn report(of: &str, place: &span::Span, findings: &mut Findings) {
    let message = format!("a rule of `{of}` names no claim, so callers who are not signed in meet it, too");
    let help = "compare a claim, such as `auth.sub`; or add `public: true` to the rule, if they are meant";
    findings.warning(rules::KF0618, place, message, Some(help.into()));
}

/// Whether one of the rules names no claim, and its author does not say that this is meant. Beside a rule for
/// everybody, it decides nothing.
fn is_open(rules: &AuthRules) -> bool {
    let of = |action| rules.for_action(action);
    [of(AuthAction::Read), of(AuthAction::Write)].iter().any(|rules| {
        let is_conditional = |rule: &AuthRule| matches!(rule.lets_in, LetsIn::If(_) | LetsIn::Exists(_));
        let is_everybody = rules.iter().any(|rule| matches!(rule.lets_in, LetsIn::Everybody));
        !is_everybody && rules.iter().any(|rule| is_conditional(rule) && !rule.names_claim() && !rule.public)
    })
}

/// Whether the rules of an item type behind a field demand a sign-in.
fn leads_to_sign_in(types: &IndexMap<String, ObjectType>, field: &Field) -> bool {
    let demands = |name: &String, action: AuthAction| {
        let rules = types.get(name).map(|ty| ty.auth.for_action(action)).unwrap_or_default();
        !rules.is_empty() && rules.iter().all(|rule| needs_sign_in(rule))
    };
    let found = |find: &Find| match &find.via {
        Via::AbstractType(shared) => shared.members.iter().any(|member| demands(member, AuthAction::Read)),
        Via::Keys(_) | Via::Through(_) => demands(&find.item, AuthAction::Read),
    };
    let written = |write: &Write| write.actions.iter().any(|action| demands(&action.item, action.asks()));
    match &field.kind {
        FieldKind::Find(find) => found(find),
        FieldKind::Write(write) => written(write),
        FieldKind::Watch(watch) => demands(&watch.item, AuthAction::Read),
        FieldKind::Stored(_)
        | FieldKind::Nodes(_)
        | FieldKind::GlobalId(_)
        | FieldKind::Resolved(_)
        | FieldKind::Computed(_)
        | FieldKind::Page
        | FieldKind::Change(_)
        | FieldKind::Payload => false,
    }
}
