//! One `@auth` in; out: the rule, or why it is none. Must not know other rules.

use super::exists::read_lookup;
use super::names::RuleNames;
use super::place::RulePlace;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::names::ConditionMistake;
use crate::schema::model::auth::{AuthRule, LetsIn};
use crate::schema::syntax::directives::{argument, flag, items, named, place, text, write_of};
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;

/// Reads a rule; `None` on a mistake.
pub fn read_rule(place: &RulePlace, directive: &Node<Directive>, findings: &mut Findings) -> Option<AuthRule> {
    let exists = argument(directive, "exists").is_some();
    let is_conditional = exists || argument(directive, "if").is_some();
    let public = flag(directive, "public");
    // Beside a condition, `public: true` says that callers who are not signed in may meet it.
    let given = [exists, is_conditional && !exists, public && !is_conditional, flag(directive, "signedIn")];
    if given.into_iter().filter(|given| *given).count() != 1 || (argument(directive, "where").is_some() && !exists) {
        let message = format!("this rule of `{}` does not say in one way whom it lets in", place.of);
        let help =
            "write one of `if: \"…\"`, `exists:`, `public: true` and `signedIn: true`; repeat `@auth` for more rules";
        findings.error(rules::KF0606, &named(directive), message, Some(help.into()));
        return None;
    }
    let hides = flag(directive, "hide");
    if hides && place.field.is_some() {
        let help = "leave `hide:` out: the field is then null, with an error; or put the rule on the type";
        not_enforced(directive, "`hide:` on a field", help, findings);
        return None;
    }
    let (reads, writes) = actions(place, directive, findings)?;
    if hides && !reads {
        let message = format!("this rule of `{}` hides nothing, because it is not for reads", place.of);
        findings.error(rules::KF0606, &named(directive), message, Some("leave `hide:` out".into()));
        return None;
    }
    let is_mutation = place.field.is_some_and(|field| write_of(&field.directives).is_some());
    let lets_in = match given {
        [true, ..] => {
            let asked_by_write = is_mutation || (place.splits && writes);
            LetsIn::Exists(Box::new(read_lookup(place, directive, (asked_by_write, hides), findings)?))
        }
        [_, _, true, _] => LetsIn::Everybody,
        [_, _, _, true] => LetsIn::SignedIn,
        _ => LetsIn::If(Box::new(condition(place, directive, findings)?)),
    };
    let read: Vec<&str> = match &lets_in {
        LetsIn::If(condition) => condition.attributes(),
        LetsIn::Exists(lookup) => {
            lookup.parent_fields().into_iter().filter_map(|field| place.attribute_of(field)).collect()
        }
        LetsIn::Everybody | LetsIn::SignedIn => Vec::new(),
    };
    if hides && !held_by_indexes(place, &read, directive, findings) {
        return None;
    }
    let written = text(directive, "if").map(|written| written.value.split_whitespace().collect::<Vec<_>>().join(" "));
    let rule = AuthRule { lets_in, reads, writes, hides, public, written };
    if public && rule.names_claim() {
        let message =
            format!("this rule of `{}` is public, but it names a claim, which nobody has without a sign-in", place.of);
        findings.error(
            rules::KF0606,
            &named(directive),
            message,
            Some("leave `public: true` out, or make it a rule of its own".into()),
        );
        return None;
    }
    Some(rule)
}

/// What stands for a rule that cannot be read, so that its mistake is the only one: it guards the same.
pub fn stand_in(directive: &Node<Directive>) -> AuthRule {
    AuthRule { hides: flag(directive, "hide"), ..AuthRule::signed_in() }
}

/// Reports a form of `hide:` that Keyfold does not enforce.
fn not_enforced(directive: &Node<Directive>, what: &str, help: &str, findings: &mut Findings) {
    let message = format!("`@auth` does not enforce {what}, so the rule would let everybody in");
    findings.error(rules::KF0605, &place(directive, "hide"), message, Some(help.into()));
}

/// `on:`: whether the rule is for reads, and whether for writes. Both by default.
fn actions(rule: &RulePlace, directive: &Node<Directive>, findings: &mut Findings) -> Option<(bool, bool)> {
    let Some(on) = argument(directive, "on") else { return Some((true, true)) };
    let is = |name: &str| items(on).iter().any(|value| value.as_enum().is_some_and(|value| value.as_str() == name));
    let found = (is("READ"), is("WRITE"));
    let message = match found {
        (false, false) => format!("this rule of `{}` is for nothing", rule.of),
        _ if !rule.splits => format!("`{}` is not both read and written, so `on:` has no meaning", rule.of),
        _ => return Some(found),
    };
    findings.error(
        rules::KF0606,
        &place(directive, "on"),
        message,
        Some("leave `on:` out: the rule is then for all there is".into()),
    );
    None
}

/// Whether every index that holds items of the type holds the attributes that a rule reads of them.
fn held_by_indexes(rule: &RulePlace, read: &[&str], directive: &Node<Directive>, findings: &mut Findings) -> bool {
    let Some(keys) = rule.draft.items.get(&rule.of) else { return false };
    let Some(table) = rule.draft.tables.get(keys.table) else { return false };
    for (position, index) in table.indexes.iter().enumerate() {
        let is_there = index.keys().all().all(|key| keys.keys.contains_key(&key.name));
        let lacking = read.iter().find(|attribute| !table.holds(Some(position), attribute));
        if let (true, Some(attribute)) = (is_there, lacking) {
            let message = format!(
                "the index `{}` does not hold `{attribute}`, by which this rule hides items of `{}`",
                index.name, rule.of
            );
            let help = format!("add it to the index: `projection: INCLUDE, include: [\"{attribute}\"]`");
            let at = if argument(directive, "where").is_some() { "where" } else { "if" };
            findings.error(rules::KF0612, &place(directive, at), message, Some(help.into()));
            return false;
        }
    }
    true
}

/// A name that stands for a claim nearly everywhere.
fn claim_help(name: &str) -> Option<Help> {
    const CLAIMS: [&str; 12] = [
        "sub", "role", "roles", "group", "groups", "email", "scope", "tenant", "tenantId", "username", "userId", "org",
    ];
    CLAIMS
        .contains(&name)
        .then(|| Help::instead(format!("a claim of the caller is `auth.{name}`"), name, format!("auth.{name}")))
}

/// `if:`.
fn condition(rule: &RulePlace, directive: &Node<Directive>, findings: &mut Findings) -> Option<Condition> {
    let written = text(directive, "if")?;
    let item = rule.draft.item(&rule.parent);
    let mistakes = match Condition::parse(&written.value, &RuleNames { draft: rule.draft, field: rule.field, item }) {
        Ok(condition) => return Some(condition),
        Err(mistakes) => mistakes,
    };
    let stored = |name: &str| {
        rule.record.is_some_and(|record| record.contains_key(name.split(['.', '[']).next().unwrap_or(name)))
    };
    let named = |mistake: &ConditionMistake| stored(written.value.get(mistake.span.clone()).unwrap_or_default());
    for mistake in mistakes {
        let place = span::within(rule.draft.text, &written.span, &mistake.span);
        match named(&mistake) && mistake.message.ends_with("does not exist.") {
            true => {
                let name = written.value.get(mistake.span.clone()).unwrap_or_default();
                let message = format!("`{name}` is only part of the text of an index's key, so a rule cannot read it");
                let help = format!("store it in its own attribute as well: `@attribute(name: \"{name}\")`");
                findings.error(rules::KF0608, &place, message, Some(help.into()));
            }
            false => {
                let name = written.value.get(mistake.span.clone()).unwrap_or_default();
                let is_missing = mistake.message.ends_with("does not exist.");
                let help = claim_help(name).filter(|_| is_missing).or(mistake.help);
                findings.error(rules::KF0608, &place, mistake.message, help);
            }
        }
    }
    None
}
