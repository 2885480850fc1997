//! A field of `Mutation` in, what it writes out, or why it cannot. Must not know how it is run.
//!
//! Each other file of this folder is a step. [`directive`] reads the syntax of the actions, [`elements`] the lists for
//! whose elements they are made, and [`find`] the items that are read first. Then, for each action, [`binding`] binds
//! its fields, [`target`] finds its item, [`element`] resolves `at:`, [`values`] collects what is written,
//! [`expressions`] checks its condition and its update, and [`cascade`] the relations that are deleted too. At the end,
//! [`checks`] judges the actions together, and [`held`] collects what they take from the found items.

mod acting;
mod binding;
mod cascade;
pub mod checks;
mod directive;
mod element;
mod elements;
mod expressions;
mod find;
mod held;
mod target;
mod values;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::expression::update::Update;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, Write, WriteFind, WriteTarget};
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use acting::{Acting, Clause, ElementList, InScope, Writing, found_by_alias};
use apollo_compiler::Name;
use apollo_compiler::ast::FieldDefinition;
use checks::{moved, returns, unchecked, whole};
use directive::{ActionDirective, Verb};
use find::ReadFind;
use indexmap::IndexMap;

/// The most actions of a field: the items of a transaction (DynamoDB developer guide, "Amazon DynamoDB transactions:
/// how it works").
const MAX_ACTIONS: usize = 100;

/// Checks the write; `None` if it, or what it builds on, has a mistake.
pub fn read_write(
    draft: &SchemaDraft,
    parent: &str,
    field: &FieldDefinition,
    findings: &mut Findings,
) -> Option<Write> {
    let writing = Writing { draft, parent, field, list: None };
    let directives = ActionDirective::all(field);
    if directives.len() > MAX_ACTIONS {
        let message = format!(
            "`{}` has {} actions, but a transaction takes at most {MAX_ACTIONS}",
            writing.coordinate(),
            directives.len()
        );
        findings.error(rules::KF0716, &whole::place(&writing), message, None);
        return None;
    }
    let finds: Vec<FindDirective> = field.directives.get_all("find").map(FindDirective::from_directive).collect();
    let lists = elements::read_lists(&writing, &finds, &directives, findings)?;
    let mut reading = ReadWrite { writing, lists: &lists, scope: Vec::new(), aliases: Vec::new(), used: Vec::new() };
    let finds = reading.finds(finds, &directives, findings)?;
    let actions = reading.actions(&directives, findings)?;
    let sound = whole::check_once(&writing, (&finds, &actions), findings)
        & whole::check_arguments(&writing, &reading.used, findings)
        & moved::check(&writing, &finds, &actions, findings);
    let actions: Vec<Action> = actions.into_iter().map(|(action, _)| action).collect();
    let returns = returns::read_returns(&writing, &finds, &actions, findings)?;
    let taken = |found: &WriteFind| held::taken(&writing, (&found.alias, found.each.as_deref()), (&finds, &actions));
    let taken: Vec<_> = finds.iter().map(taken).collect();
    let finds = finds
        .into_iter()
        .zip(taken)
        .map(|(found, taken)| WriteFind { held: taken.fields, is_named: taken.named, ..found })
        .collect();
    sound.then_some(Write { finds, actions, returns })
}

/// A field of `Mutation` while its directives are read.
struct ReadWrite<'a> {
    writing: Writing<'a>,
    lists: &'a [ElementList],
    /// The items found and put so far.
    scope: Vec<InScope<'a>>,
    /// The aliases of the items that actions write.
    aliases: Vec<String>,
    /// The arguments that are used, dotted.
    used: Vec<String>,
}

impl<'a> ReadWrite<'a> {
    /// The list of an `each:`.
    fn list(&self, each: Option<&At<String>>) -> Option<&'a ElementList> {
        let each = each?;
        self.lists.iter().find(|list| list.path == each.value)
    }

    /// The field as a directive sees it that is made for each element of a list, if for one.
    fn seen(&self, list: Option<&'a ElementList>) -> Writing<'a> {
        Writing { list, field: list.map_or(self.writing.field, |list| &list.field), ..self.writing }
    }

    /// The items in scope of a directive, which may be made for each element of a list.
    fn scope_of(&self, each: Option<&String>) -> Vec<InScope<'a>> {
        self.scope.iter().filter(|item| item.each.is_none() || item.each.as_ref() == each).cloned().collect()
    }

    /// Reads the finds; `None` if one has a mistake.
    fn finds(
        &mut self,
        directives: Vec<FindDirective>,
        actions: &[ActionDirective],
        findings: &mut Findings,
    ) -> Option<Vec<WriteFind>> {
        let mut finds: Vec<WriteFind> = Vec::new();
        for directive in directives {
            let list = self.list(directive.each.as_ref());
            let (alias, span) = (directive.alias.clone(), directive.span.clone());
            let each = list.map(|list| list.path.clone());
            let scope = self.scope_of(each.as_ref());
            let mut read = find::read_write_find(&self.seen(list), directive, (actions, &scope), findings)?;
            let alias = self.alias(&read.find.item, alias.as_ref(), &span, findings)?;
            let item = read.find.item.clone();
            if let Some(list) = list {
                list.name_find(&mut read.find);
                read.arguments.iter_mut().for_each(|argument| list.name(argument));
            }
            self.used.extend(std::mem::take(&mut read.arguments));
            let record = self.writing.draft.records.get(&item)?;
            self.scope.push(InScope { name: alias.clone(), item, record, found: true, each: each.clone() });
            let ReadFind { find, takes_first, .. } = read;
            finds.push(WriteFind { alias, find, takes_first, each, held: Vec::new(), is_named: false });
        }
        Some(finds)
    }

    /// The name of a found or new item in scope: `as:`, or its type. `None` if it means something else already.
    fn alias(&self, item: &str, alias: Option<&At<String>>, span: &Span, findings: &mut Findings) -> Option<String> {
        let name = alias.map_or(item, |alias| &alias.value);
        let is_argument = |field: &FieldDefinition| field.arguments.iter().any(|argument| argument.name == name);
        let what = match alias {
            _ if self.scope.iter().any(|other| other.name == name)
                || self.aliases.iter().any(|other| other == name) =>
            {
                "another item"
            }
            Some(_) if self.writing.draft.schema.types.contains_key(name) => "a type",
            Some(_) if is_argument(self.writing.field) => "an argument",
            Some(_) if self.lists.iter().any(|list| is_argument(&list.field)) => "a field of an element",
            Some(_) if find::WORDS.contains(&name) => "a word of texts",
            Some(_) if !Name::is_valid_syntax(name) => "no name",
            _ => return Some(name.to_owned()),
        };
        let message = format!("`{name}` is {what}, so it cannot name this item");
        let help = if alias.is_none() { "give it a name: `@find(…, as: from)`" } else { "choose another name" };
        findings.error(rules::KF0726, alias.map_or(span, |alias| &alias.span), message, Some(help.into()));
        None
    }

    /// Reads the actions; `None` if one has a mistake.
    fn actions<'d>(
        &mut self,
        directives: &'d [ActionDirective],
        findings: &mut Findings,
    ) -> Option<Vec<(Action, &'d ActionDirective)>> {
        let mut actions: Vec<(Action, &ActionDirective)> = Vec::new();
        for directive in directives {
            let list = self.list(directive.each.as_ref());
            let each = list.map(|list| list.path.clone());
            let seen = self.seen(list);
            let scope = self.scope_of(each.as_ref());
            let item = item_of(&seen, directive, &scope, findings);
            if let (Some(item), Some(alias)) = (&item, &directive.alias) {
                let alias = self.alias(item, Some(alias), &directive.span, findings)?;
                self.aliases.push(alias);
            }
            let mut action = item.as_ref().and_then(|item| action(&seen, (item, directive), &scope, findings));
            if let Some(action) = &mut action {
                action.position = actions.len();
                list.into_iter().for_each(|list| list.name_action(action));
            }
            self.used.extend(action.iter().flat_map(whole::arguments_of));
            actions.extend(action.map(|action| (action, directive)));
            // A put with a mistake stays in scope, so that it causes no further findings.
            if let (Some(item), Verb::Put, None) = (item, directive.verb, &directive.at)
                && let name = directive.alias.as_ref().map_or(&item, |alias| &alias.value)
                && !scope.iter().any(|known| known.name == *name)
            {
                let record = self.writing.draft.records.get(&item);
                let made = |record| InScope { name: name.clone(), item: item.clone(), record, found: false, each };
                self.scope.extend(record.map(made));
            }
        }
        (actions.len() == directives.len()).then_some(actions)
    }
}

/// The type of `item:`, which may be the alias of a found item, or the field's own type.
fn item_of(
    writing: &Writing,
    directive: &ActionDirective,
    scope: &[InScope],
    findings: &mut Findings,
) -> Option<String> {
    let draft = writing.draft;
    let found = found_by_alias(directive, scope);
    if let (Some(found), Verb::Put) = (found, directive.verb) {
        let message = format!("`{}` is an item that `@find` finds, but `@put` makes a new one", found.name);
        let help = format!("name its type: `@put(item: {}, set: {{ … }})`", found.item);
        findings.error(rules::KF0726, &directive.span, message, Some(help));
        return None;
    }
    let own = writing.field.ty.inner_named_type().as_str();
    let (name, place) = match (found, &directive.item) {
        (Some(found), _) => (found.item.as_str(), &directive.span),
        (None, Some(named)) => (named.value.as_str(), &named.span),
        (None, None) => (own, &directive.span),
    };
    if draft.kind(name) == Some(&Kind::Item) && (directive.verb == Verb::Check || !draft.is_read_only(name)) {
        return Some(name.to_owned());
    }
    if draft.kind(name) == Some(&Kind::Item) {
        let message = format!("`{}` is read-only, so `{}` cannot write it", name, writing.coordinate());
        findings.error(rules::KF0724, place, message, Some("leave `readOnly:` out of its `@item`".into()));
        return None;
    }
    let items = draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str());
    let (message, help) = match &directive.item {
        Some(_) => {
            let aliases = scope.iter().filter(|item| item.found).map(|item| item.name.as_str());
            (format!("`{name}` is not an item type"), suggest(name, items.chain(aliases)))
        }
        None => {
            let message = format!(
                "`{}` of type `{}` does not name the item type of `{}`",
                writing.coordinate(),
                writing.field.ty,
                directive.name()
            );
            (message, Some(format!("name the item type: `{}(item: …)`", directive.name())))
        }
    };
    findings.error(rules::KF0701, place, message, help);
    None
}

/// Checks an action whose item type is known.
fn action(
    writing: &Writing,
    (item, directive): (&str, &ActionDirective),
    scope: &[InScope],
    findings: &mut Findings,
) -> Option<Action> {
    let draft = writing.draft;
    let mut acting = begin_action(writing, (item, directive), scope)?;
    let record = acting.record;
    expressions::check_options(&acting, findings)?;
    let at = match &directive.at {
        Some(written) => Some(element::read_element(&acting, written, findings)?),
        None => None,
    };
    let part = at.as_ref().and_then(|at| Some((at.element.as_str(), draft.records.get(&at.element)?)));
    let put = directive.verb == Verb::Put;
    read_clauses(&mut acting, part.unwrap_or((item, record)), findings)?;

    let aim = match found_by_alias(directive, scope) {
        Some(found) => target::found(&acting, found, findings)?,
        None if expressions::finds(directive.verb, at.is_some()) => target::read_target(&acting, findings)?,
        None => target::ResolvedTarget { target: WriteTarget::Key(IndexMap::new()), arguments: Vec::new() },
    };
    let condition = expressions::condition(&acting, findings);
    let expression = expressions::expression(&acting, findings);
    let mut finding = aim.arguments;
    if let Some((_, _, Source::Argument(name))) = at.as_ref().and_then(|at| at.by.as_ref()) {
        finding.push(name.clone());
    }
    let (owner, record) = part.unwrap_or((&acting.item, record));
    let written = values::WriteTargetType { owner, record, finding: &finding };
    let mut values = match directive.verb {
        Verb::Put => {
            let mut values = values::put_values(&acting, &written, findings)?;
            if at.is_none() {
                values.extend(binding::number::bind_new_item(&acting, findings)?);
            }
            values
        }
        Verb::Update => values::update_values(&acting, &written, findings)?,
        Verb::Delete | Verb::Check => IndexMap::new(),
    };
    let (condition, expression) = (condition?, expression?);
    if let Some(expression) = &expression {
        values.retain(|field, _| !expression.changes.contains_key(field));
    }
    if !put && at.is_none() {
        values.extend(values::expected_version(&acting, findings)?);
    }
    let kind = read_kind(&acting, &values, expression, findings)?;
    let message = directive.message.clone();
    let (item, target) = (acting.item.clone(), aim.target);
    let alias = directive.alias.as_ref().map(|alias| alias.value.clone());
    let action = Action { position: 0, item, alias, each: None, kind, target, values, at, condition, message };
    unchecked::warn_of_objects(&acting, &action, record, findings);
    Some(action)
}

/// What `set:`, `where:` and the expression of a put bind.
fn read_clauses(acting: &mut Acting, of_element: (&str, &StoredFields), findings: &mut Findings) -> Option<()> {
    let directive = acting.directive;
    let sets = binding::clause::read_clause(acting, &directive.sets, of_element, findings);
    let finds = binding::clause::read_clause(acting, &directive.finds, (&acting.item, acting.record), findings);
    (acting.sets, acting.finds) = (sets?, finds?);
    let computed = expressions::computed(acting, findings)?;
    acting.sets.made.extend(computed);
    Some(())
}

/// The action with nothing bound yet. `None` if its keys have a mistake, which is reported where the keys are read.
fn begin_action<'a>(
    writing: &Writing<'a>,
    (item, directive): (&str, &'a ActionDirective),
    scope: &'a [InScope<'a>],
) -> Option<Acting<'a>> {
    let (keys, record) = writing.draft.item(item)?;
    let table = writing.draft.tables.get(keys.table)?;
    Some(Acting {
        writing: *writing,
        directive,
        item: item.to_owned(),
        keys,
        record,
        table,
        scope,
        finds: Clause::default(),
        sets: Clause::default(),
    })
}

/// What the action does to its item.
fn read_kind(
    acting: &Acting,
    values: &values::WrittenValues,
    expression: Option<Update>,
    findings: &mut Findings,
) -> Option<ActionKind> {
    let directive = acting.directive;
    Some(match directive.verb {
        Verb::Put => ActionKind::Put { replace: directive.replace },
        Verb::Update => {
            check_upsert(acting, values, expression.as_ref(), findings)?;
            ActionKind::Update { upsert: directive.upsert, expression }
        }
        Verb::Delete => ActionKind::Delete { cascade: cascade::read_cascade(acting, findings)? },
        Verb::Check => ActionKind::Check,
    })
}

/// An upsert may create the item, so each field that is never null needs a value, a default or a place in the table's
/// key.
fn check_upsert(
    acting: &Acting,
    values: &values::WrittenValues,
    expression: Option<&Update>,
    findings: &mut Findings,
) -> Option<()> {
    if !acting.directive.upsert {
        return Some(());
    }
    let primary = acting.primary_fields();
    let missing = acting.record.iter().find(|(name, declared)| {
        let rules = &declared.rules;
        let given = values.contains_key(*name) || expression.is_some_and(|update| update.changes.contains_key(*name));
        declared.ty.is_non_null()
            && !declared.ty.is_list()
            && rules.default.is_none()
            && !rules.only_keyfold_writes()
            && !given
            && !primary.contains(&name.as_str())
    });
    let Some((name, declared)) = missing else { return Some(()) };
    let message = format!("`upsert:` may create a `{}` without `{name}`, which is never null", acting.item);
    let help = format!("add an argument `{name}: {}`, or give the field a `@default`", declared.ty);
    findings.error(rules::KF0705, &acting.directive.span, message, Some(help));
    None
}
