//! `@find` of a mutation field in; out: the find that reads an item first and puts it in scope. Must not know actions
//! beyond their item types.

use super::acting::{FieldBinding, InScope, Writing};
use super::binding::by_name::{Purpose, Wish, by_argument, report_other_id};
use super::directive::{ActionDirective, Verb};
use super::target::{idle_id, is_one, say_partition};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::condition::Condition;
use crate::schema::finds::candidates::Candidate;
use crate::schema::finds::target::{FindTarget, is_abstract};
use crate::schema::finds::wanted::{Binding, Bindings, FindContext, Need};
use crate::schema::finds::{self, filter, prepare, where_clause};
use crate::schema::model::find::{Access, AccessPath, Find, Returns, SortAccess, Via};
use crate::schema::model::source::{BindingRule, Source};
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::Kind;
use crate::schema::types::inputs;

/// The find and the arguments that it uses, dotted.
pub struct ReadFind {
    /// The find; it reads one item.
    pub find: Find,
    /// The arguments.
    pub arguments: Vec<String>,
    /// Whether the first of several items is meant: a filter, an order or a range says which one that is.
    pub takes_first: bool,
}

/// Checks the find; `None` on a mistake.
pub fn read_write_find(
    writing: &Writing,
    directive: FindDirective,
    (actions, scope): (&[ActionDirective], &[InScope]),
    findings: &mut Findings,
) -> Option<ReadFind> {
    let item = item(writing, &directive, actions, findings)?;
    let options =
        [("through:", directive.through.is_some()), ("scan:", directive.scan), ("max:", directive.max.is_some())];
    if let Some(option) = options.into_iter().find_map(|(option, given)| given.then_some(option)) {
        let message =
            format!("`{option}` does not go with the `@find` of a mutation, which reads one item by its keys");
        findings.error(rules::KF0720, &directive.span, message, Some(format!("leave `{option}` out").into()));
        return None;
    }
    let (keys, record) = writing.draft.item(&item)?;
    let table = writing.draft.tables.get(keys.table)?;
    let target = FindTarget { item: item.clone(), returns: Returns::One };
    let Writing { draft, parent, field, .. } = *writing;
    // What is looked up by a field must know its type.
    let found = scope.iter().filter(|item| !is_abstract(writing.draft, &item.item));
    let found = found.map(|item| (item.name.clone(), item.record)).collect();
    let wanted =
        FindContext { draft, parent, parent_record: None, field, directive, target, keys, record, table, found };
    by_keys(writing, &wanted, findings)
}

/// The item type: `item:`, or the field's own type unless a `@put` of the field makes that type.
fn item(
    writing: &Writing,
    directive: &FindDirective,
    actions: &[ActionDirective],
    findings: &mut Findings,
) -> Option<String> {
    let draft = writing.draft;
    let own = writing.field.ty.inner_named_type().as_str();
    let put = actions
        .iter()
        .any(|action| action.verb == Verb::Put && action.item.as_ref().is_none_or(|item| item.value == own));
    let is_item = |name: &str| draft.kind(name) == Some(&Kind::Item);
    let items = || draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str());
    match &directive.item {
        Some(named) if is_item(&named.value) => Some(named.value.clone()),
        Some(named) => {
            findings.error(
                rules::KF0701,
                &named.span,
                format!("`{}` is not an item type", named.value),
                suggest(&named.value, items()),
            );
            None
        }
        None if is_item(own) && !put => Some(own.to_owned()),
        None => {
            let message = format!("`{}` does not name the item type of its `@find`", writing.coordinate());
            findings.error(rules::KF0701, &directive.span, message, Some("name it: `@find(item: …)`".into()));
            None
        }
    }
}

/// The find by the best path that serves; a finding if none does, or if the author must choose.
fn by_keys(writing: &Writing, wanted: &FindContext, findings: &mut Findings) -> Option<ReadFind> {
    prepare::check_index(wanted, findings).ok()?;
    let filter = filter::read_filter(wanted, findings).ok()?;
    let mut bindings = where_clause::read_where(wanted, findings)?;
    bind_key_fields(writing, (wanted, filter.as_ref()), &mut bindings, findings)?;
    // If the path can reach several items, a filter, an order or a range says which one is meant.
    let takes_first = filter.is_some() || wanted.directive.order_by.is_some() || !bindings.ranges.is_empty();
    let one = |candidate: &Candidate| takes_first || is_one(wanted, candidate);
    let paths = |single: bool| {
        finds::paths_of_write(wanted, &bindings, filter.as_ref(), &|candidate| !single || one(candidate))
    };
    let serving = paths(true);
    if let Some(id) = idle_id((writing, wanted), (&bindings, bindings.hidden.contains("id")), serving.first()) {
        report_other_id(
            writing,
            (&wanted.target.item, "where", !serving.is_empty()),
            (&id, &wanted.directive.span),
            findings,
        );
        return None;
    }
    let Some(path) = serving.first().cloned() else {
        report_no_path(writing, wanted, paths(false).first(), findings);
        return None;
    };
    check_decided(writing, wanted, &bindings, &serving, findings)?;
    finds::tells_of_expiry(wanted, &path, findings).then_some(())?;
    if !finds::are_decided(wanted, &bindings, filter.as_ref(), &one, findings) {
        return None;
    }
    let ranged = bindings.ranges.values().flat_map(|bounds| bounds.all());
    let used = bindings.equal.iter().filter(|(field, _)| path.bindings.contains_key(*field)).map(|(_, bound)| bound);
    let mut arguments: Vec<String> = used.chain(ranged).flat_map(|bound| bound.arguments.clone()).collect();
    check_there(writing, &arguments, findings)?;
    check_found(wanted, &path, findings)?;
    arguments.extend(filter.iter().flat_map(Condition::arguments).map(str::to_owned));
    let strong = path.index.is_none_or(|index| wanted.table.indexes.get(index).is_some_and(|index| index.local));
    let item = wanted.target.item.clone();
    let find = Find {
        item,
        returns: Returns::One,
        via: Via::Keys(vec![path]),
        filter,
        max: prepare::MAX_DEFAULT,
        consistent: strong,
    };
    Some(ReadFind { find, arguments, takes_first })
}

/// Binds the fields of all keys that `where:` and the filter leave open to arguments of their names.
fn bind_key_fields(
    writing: &Writing,
    (wanted, filter): (&FindContext, Option<&Condition>),
    bindings: &mut Bindings,
    findings: &mut Findings,
) -> Option<()> {
    let mut sound = true;
    let key_fields = wanted.keys.keys.values().flatten().flat_map(|template| template.fields());
    for field in key_fields {
        // An argument of the filter need not have the field's type: `status IN (:status)`.
        let is_filtered = filter.is_some_and(|filter| filter.arguments().contains(&field));
        let is_bound = bindings.equal.contains_key(field) || bindings.ranges.contains_key(field);
        if is_filtered || is_bound || bindings.hidden.contains(field) {
            continue;
        }
        let wish = Wish {
            owner: &wanted.target.item,
            record: wanted.record,
            name: field,
            purpose: Purpose::Key { many: false },
        };
        match by_argument(writing, &wish, findings) {
            Ok(Some(bound)) => {
                let FieldBinding { source, arguments, .. } = bound;
                let rule = BindingRule::Argument;
                let bound = Binding { source, arguments, rule, fallback: false, need: Need::Free };
                bindings.equal.insert(field.to_owned(), bound);
            }
            Ok(None) => {}
            Err(()) => sound = false,
        }
    }
    sound.then_some(())
}

/// Reports that no path finds exactly one item: paths find `several`, or there is none.
fn report_no_path(writing: &Writing, wanted: &FindContext, several: Option<&AccessPath>, findings: &mut Findings) {
    let item = &wanted.target.item;
    let keys = finds::keys_of(wanted);
    let (code, message, help) = match several {
        Some(path) => {
            let message = format!("`@find` finds several items of `{item}`, but a mutation needs exactly one");
            (rules::KF0707, message, say_partition(path).map_or(keys.clone(), |say| format!("{keys}; {say}")))
        }
        None => {
            let coordinate = writing.coordinate();
            let message = format!("no key or index of `{item}` can be read by the arguments of `{coordinate}`");
            (rules::KF0706, message, keys)
        }
    };
    findings.error(code, &wanted.directive.span, message, Some(help.into()));
}

/// Unless the best path binds the whole primary key, it must use every argument that binds a field by name. If another
/// path uses one more, the author must say in `where:` whether it finds the item.
fn check_decided(
    writing: &Writing,
    wanted: &FindContext,
    bindings: &Bindings,
    paths: &[AccessPath],
    findings: &mut Findings,
) -> Option<()> {
    let [best, others @ ..] = paths else { return Some(()) };
    let whole = |path: &AccessPath| match &path.access {
        Access::Get { .. } => true,
        Access::Query { sort, .. } => path.index.is_none() && matches!(sort, SortAccess::Equal { .. }),
        Access::Scan => false,
    };
    let by_name = |field: &String| bindings.equal.get(field).is_some_and(|bound| bound.need == Need::Free);
    let more = others
        .iter()
        .flat_map(|path| path.bindings.keys())
        .find(|field| by_name(field) && !best.bindings.contains_key(*field));
    let Some(field) = more.filter(|_| !whole(best)) else { return Some(()) };
    let argument = bindings.equal.get(field).and_then(|bound| bound.arguments.first())?;
    let span = inputs::input(writing.draft.schema, writing.field, argument)
        .map_or_else(|| wanted.directive.span.clone(), |input| input.span);
    let used: Vec<&str> = best.bindings.keys().map(String::as_str).collect();
    let message = format!("it is ambiguous whether `{field}` or {1} finds the `{0}`", wanted.target.item, list(&used));
    let help = format!(
        "write `where: {{ {field}: \"{{{argument}}}\" }}` if `{field}` finds it, `where: {{ {field}: null }}` if not"
    );
    findings.error(rules::KF0434, &span, message, Some(help.into()));
    None
}

/// An argument that finds the item must not be nullable.
fn check_there(writing: &Writing, arguments: &[String], findings: &mut Findings) -> Option<()> {
    let inputs = arguments.iter().filter_map(|name| inputs::input(writing.draft.schema, writing.field, name));
    let nullable: Vec<inputs::Input> = inputs.filter(|input| input.nullable).collect();
    let Some(first) = nullable.first().map(|input| input.span.clone()) else { return Some(()) };
    let names: Vec<&str> = nullable.iter().map(|input| input.name.as_str()).collect();
    findings.error(
        rules::KF0719,
        &first,
        format!("{} may be null, but it finds the item to write", list(&names)),
        Some("make it non-null".into()),
    );
    None
}

/// A field of an item that was found before, and that finds this one, must not be nullable.
fn check_found(wanted: &FindContext, path: &AccessPath, findings: &mut Findings) -> Option<()> {
    let may_lack = |source: &&Source| {
        let Source::Item(item, field) = source else { return false };
        let record = wanted.found.iter().find(|(name, _)| name == item).map(|(_, record)| *record);
        record.and_then(|record| record.get(field)).is_some_and(|declared| !declared.ty.is_non_null())
    };
    let leaves = path.sources().into_iter().flat_map(Source::leaves);
    let Some(Source::Item(item, field)) = leaves.into_iter().find(may_lack) else { return Some(()) };
    let message = format!("`{item}.{field}` may be null, but it finds the `{}`", wanted.target.item);
    let help = "bind it to a field that is never null".to_owned();
    findings.error(rules::KF0719, &wanted.directive.span, message, Some(help.into()));
    None
}
