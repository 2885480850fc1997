//! A field of `Mutation` in, what it writes out, or why it cannot. Must not know how it is run.
//!
//! Each other file of this folder is a step. [`directive`] reads the syntax of the actions, [`elements`] the lists for
//! whose elements they are made, and [`find`] the items that are read first. Then, for each action, [`binding`] binds
//! its fields, [`target`] finds its item, [`element`] resolves `at:`, [`values`] collects what is written,
//! [`expressions`] checks its condition and its update, and [`cascade`] the relations that are deleted too. At the end,
//! [`checks`] judges the actions together, and [`held`] collects what they take from the found items.

mod abstract_type;
mod acting;
mod binding;
mod cascade;
pub mod checks;
mod directive;
mod element;
mod elements;
mod entry;
mod expressions;
mod find;
mod held;
mod target;
mod values;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::update::Update;
use crate::schema::finds::target::is_abstract;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, TypeAlternative, Write, WriteFind, WriteTarget};
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use abstract_type::{OwnNames, common_records, members_of, named_as, read_members};
use acting::{Acting, Clause, ElementList, InScope, Writing, found_by_alias};
use apollo_compiler::Name;
use apollo_compiler::ast::FieldDefinition;
use binding::call;
use checks::{idempotent, moved, returns, unchecked, whole};
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
    let (declared, (seen, results)) = (field, call::with_results(draft, field));
    let writing = Writing { draft, parent, field: &seen, list: None, results: &results };
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
    let commons = common_records(&writing, &finds);
    let (scope, aliases, used) = (Vec::new(), Vec::new(), Vec::new());
    let mut reading = ReadWrite { writing, lists: &lists, commons: &commons, scope, aliases, used };
    let finds = reading.finds(finds, &directives, findings)?;
    let calls = call::read_calls(&writing, (declared, &reading.scope), findings)?;
    let actions = reading.actions(&directives, findings)?;
    let idempotency = idempotent::read_idempotency(&writing, &actions, findings)?;
    reading.used.extend(idempotency.iter().map(|by| by.argument.clone()));
    reading.used.extend(calls.iter().flat_map(whole::arguments_of_call));
    let sound = whole::check_once(&writing, (&finds, &actions), findings)
        & whole::check_arguments(&writing, &reading.used, findings)
        & moved::check(&writing, &finds, &actions, findings);
    let actions: Vec<Action> = actions.into_iter().map(|(action, _)| action).collect();
    let sound = sound & call::check_targets(&writing, (&finds, &actions), findings);
    let returns = returns::read_returns(&writing, &finds, &actions, findings)?;
    let takers = held::Takers { finds: &finds, calls: &calls, actions: &actions };
    let taken = |found: &WriteFind| held::taken(&writing, (&found.alias, found.each.as_deref()), &takers);
    let taken: Vec<_> = finds.iter().map(taken).collect();
    let finds = finds
        .into_iter()
        .zip(taken)
        .map(|(found, taken)| WriteFind { held: taken.fields, is_named: taken.named, ..found })
        .collect();
    sound.then_some(Write { finds, calls, actions, returns, idempotency })
}

/// A field of `Mutation` while its directives are read.
struct ReadWrite<'a> {
    writing: Writing<'a>,
    lists: &'a [ElementList],
    /// The fields that all item types of an interface or a union have, by its name.
    commons: &'a IndexMap<String, StoredFields>,
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
            let each = list.map(|list| list.path.clone());
            let seen = self.seen(list);
            let members = read_members(&seen, directive.item.as_ref(), &directive.span, findings)?;
            let (named, span) = (directive.alias.clone(), directive.span.clone());
            let mut read = Vec::new();
            match &members {
                None => read.push(self.find((&seen, directive), actions, findings)?),
                Some(members) => {
                    for item in &members.items {
                        let own = OwnNames::new(&seen, members, item);
                        let directive = FindDirective { item: Some(named_as(&directive, item)), ..directive.clone() };
                        read.push(self.find((&own.seen(&seen), directive), actions, findings)?);
                    }
                }
            }
            let item = members.as_ref().map_or(&read[0].find.item, |members| &members.of).clone();
            let alias = self.alias(&item, named.as_ref(), &span, findings)?;
            let record = self.commons.get(&item).or_else(|| self.writing.draft.records.get(&item))?;
            self.scope.push(InScope { name: alias.clone(), item, record, found: true, each: each.clone() });
            let alternative = members.map(|members| TypeAlternative { of: members.of, first: finds.len() });
            finds.extend(read.into_iter().map(|read| WriteFind {
                alias: alias.clone(),
                find: read.find,
                takes_first: read.takes_first,
                each: each.clone(),
                alternative: alternative.clone(),
                held: Vec::new(),
                is_named: false,
            }));
        }
        Some(finds)
    }

    /// Reads a find of one item type.
    fn find(
        &mut self,
        (seen, directive): (&Writing, FindDirective),
        actions: &[ActionDirective],
        findings: &mut Findings,
    ) -> Option<ReadFind> {
        let scope = self.scope_of(seen.list.map(|list| &list.path));
        let mut read = find::read_write_find(seen, directive, (actions, &scope), findings)?;
        if let Some(list) = seen.list {
            list.name_find(&mut read.find);
            read.arguments.iter_mut().for_each(|argument| list.name(argument));
        }
        self.used.append(&mut read.arguments);
        Some(read)
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
            Some(_) if acting::WORDS.contains(&name) => "a word of texts",
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
        let mut is_sound = true;
        for directive in directives {
            let list = self.list(directive.each.as_ref());
            let each = list.map(|list| list.path.clone());
            let seen = self.seen(list);
            let scope = self.scope_of(each.as_ref());
            let members = members_of(&seen, directive, &scope, findings)?;
            let named = members.as_ref().map(|members| members.of.clone());
            let item = match &named {
                Some(of) => Some(of.clone()),
                None => item_of(&seen, directive, &scope, findings),
            };
            if let (Some(item), Some(alias)) = (&item, &directive.alias) {
                let alias = self.alias(item, Some(alias), &directive.span, findings)?;
                self.aliases.push(alias);
            }
            let first = actions.len();
            let alternatives = members.iter().flat_map(|members| &members.items).map(Some);
            let items: Vec<Option<&String>> = if members.is_some() { alternatives.collect() } else { vec![None] };
            for member in items {
                let own = members.as_ref().zip(member).map(|(of, member)| OwnNames::new(&seen, of, member));
                let seen = own.as_ref().map_or(seen, |own| own.seen(&seen));
                let Some(item) = member.or(item.as_ref()) else { continue };
                let alternative = named.clone().map(|of| TypeAlternative { of, first });
                let Some(mut action) = action(&seen, TypedAction { item, directive, alternative }, &scope, findings)
                else {
                    break;
                };
                action.position = actions.len();
                list.into_iter().for_each(|list| list.name_action(&mut action));
                self.used.extend(whole::arguments_of(&action));
                actions.push((action, directive));
            }
            is_sound &= actions.len() > first && whole::check_alternatives(&actions[first..], findings);
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
        is_sound.then_some(actions)
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
        findings.error(rules::KF0726, &directive.span, message, Some(help.into()));
        return None;
    }
    let own = writing.field.ty.inner_named_type().as_str();
    let (name, place) = match (found, &directive.item) {
        (Some(found), _) => (found.item.as_str(), &directive.span),
        (None, Some(named)) => (named.value.as_str(), &named.span),
        (None, None) => (own, &directive.span),
    };
    if draft.kind(name) == Some(&Kind::Item) {
        if directive.verb != Verb::Check && draft.is_read_only(name) {
            return refuse_read_only(writing, name, place, findings);
        }
        return Some(name.to_owned());
    }
    // A type that is none has been reported.
    if draft.kind(name) == Some(&Kind::Misshapen) {
        return None;
    }
    let items = draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str());
    let (message, help) = match &directive.item {
        _ if is_abstract(draft, name) => {
            let of = items.filter(|item| draft.schema.is_subtype(name, item)).collect::<Vec<_>>();
            let message = format!("`{}` makes one item, but `{name}` is several types", directive.name());
            (message, Some(format!("name the type of the item: {}", list(&of)).into()))
        }
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
            (message, Some(item_help(writing, directive.name(), items)))
        }
    };
    findings.error(rules::KF0701, place, message, help);
    None
}

/// What a field returns, or which item type it names, of the type that its name speaks of.
fn item_help<'k>(writing: &Writing, directive: &str, items: impl Iterator<Item = &'k str>) -> Help {
    let field = writing.field.name.to_lowercase();
    let meant = items.filter(|item| field.ends_with(&item.to_lowercase())).max_by_key(|item| item.len());
    let ty = &writing.field.ty;
    let is_object = writing.draft.schema.get_object(ty.inner_named_type()).is_some();
    let (name, whole) = (meant.unwrap_or("…"), "name the item type");
    match (is_object || ty.inner_named_type() == "Boolean", meant) {
        (false, Some(item)) => {
            let help = format!("return the item, `{item}`; a mutation returns what it writes, or `Boolean!`");
            if ty.is_named() { Help::edit(help, span::from_type(ty), item) } else { help.into() }
        }
        (false, None) => "return the item that it writes, or `Boolean!` with `item:` in the directive".into(),
        (true, _) => format!("{whole}: `{directive}(item: {name})`").into(),
    }
}

fn refuse_read_only<T>(writing: &Writing, item: &str, place: &Span, findings: &mut Findings) -> Option<T> {
    let message = format!("`{item}` is read-only, so `{}` cannot write it", writing.coordinate());
    findings.error(rules::KF0724, place, message, Some("leave `readOnly:` out of its `@item`".into()));
    None
}

/// An action whose item type is known.
struct TypedAction<'d> {
    item: &'d str,
    directive: &'d ActionDirective,
    alternative: Option<TypeAlternative>,
}

/// Checks an action.
fn action(writing: &Writing, typed: TypedAction, scope: &[InScope], findings: &mut Findings) -> Option<Action> {
    let draft = writing.draft;
    let TypedAction { item, directive, alternative } = typed;
    if draft.is_read_only(item) && directive.verb != Verb::Check {
        return refuse_read_only(writing, item, &directive.span, findings);
    }
    let mut acting = Acting { alternative, ..begin_action(writing, (item, directive), scope)? };
    let record = acting.record;
    expressions::check_options(&acting, findings)?;
    let (mut at, part) = element::read_at(&acting, findings)?.unzip();
    let part = part.as_ref().map(|(element, record): &(String, StoredFields)| (element.as_str(), record));
    let put = directive.verb == Verb::Put;
    read_clauses(&mut acting, part.unwrap_or((item, record)), findings)?;

    let aim = match found_by_alias(directive, scope) {
        Some(found) => target::found(&acting, found, findings)?,
        None if expressions::finds(directive.verb, at.is_some()) => target::read_target(&acting, findings)?,
        None => target::ResolvedTarget { target: WriteTarget::Key(IndexMap::new()), arguments: Vec::new() },
    };
    let condition = expressions::condition(&acting, findings);
    let expression = expressions::expression(&acting, findings);
    if let (Some(at), Some((_, record))) = (&mut at, part) {
        at.expression = entry::expression(&acting, (at, record), findings)?;
    }
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
    if let (WriteTarget::Read { .. }, Some(condition)) = (&aim.target, &condition) {
        expressions::check_missing(&acting, condition, findings)?;
    }
    if let Some(expression) = expression.as_ref().or_else(|| at.as_ref()?.expression.as_ref()) {
        values.retain(|field, _| !expression.changes.contains_key(field));
    }
    if !put && at.is_none() {
        values.extend(values::expected_version(&acting, findings)?);
    }
    let kind = read_kind(&acting, &values, expression, findings)?;
    let message = directive.message.clone();
    let (item, target) = (acting.item.clone(), aim.target);
    let alias = directive.alias.as_ref().map(|alias| alias.value.clone());
    let (position, each, alternative) = (0, None, acting.alternative.clone());
    let action = Action { position, item, alias, alternative, each, kind, target, values, at, condition, message };
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
        alternative: None,
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
            ActionKind::Update {
                upsert: directive.upsert,
                moves: directive.moves,
                expression: expression.map(Box::new),
            }
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
    findings.error(rules::KF0705, &acting.directive.span, message, Some(help.into()));
    None
}
