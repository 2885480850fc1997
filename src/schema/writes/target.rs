//! An action's bindings in; out: how it finds its item, by its whole key or by a read first. Must not know what is
//! written.

use super::abstract_type::check_type_is_known;
use super::acting::{Acting, FieldBinding, InScope, Writing, with_argument};
use super::binding::by_name::{Purpose, Wish, by_argument, by_item, by_long_name, other_id, report_other_id};
use super::binding::number::{self, AssignedNumber};
use super::directive::Verb;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds;
use crate::schema::finds::candidates::Candidate;
use crate::schema::finds::prepare::MAX_DEFAULT;
use crate::schema::finds::scope::prefixed;
use crate::schema::finds::wanted::{self, Bindings, FindContext, Need};
use crate::schema::model::find::{Access, AccessPath, Find, Returns, SortAccess, Via};
use crate::schema::model::source::{BindingRule, Source};
use crate::schema::model::write::WriteTarget;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::inputs::Input;
use crate::schema::types::values;
use indexmap::IndexMap;

/// How an item is found.
pub struct ResolvedTarget {
    /// The target.
    pub target: WriteTarget,
    /// The arguments that find it, dotted.
    pub arguments: Vec<String>,
}

/// The target of an action that finds its item; `None` if it cannot be found.
pub fn read_target(acting: &Acting, findings: &mut Findings) -> Option<ResolvedTarget> {
    let many = acting.directive.many;
    let primary = acting.primary_fields();
    let mut bound: IndexMap<&str, FieldBinding> = IndexMap::new();
    bind_all(acting, &primary, &mut bound, findings)?;
    let number = number::assigned(acting);
    let of_key = number.filter(|number| number.is_in_key);
    bind_number(acting, of_key, &mut bound, findings)?;
    let whole = acting.table.primary_key().all(|key| {
        let templates = acting.keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
        templates.iter().any(|template| template.fields().iter().all(|field| bound.contains_key(field)))
    });
    if whole && !many {
        check_clause(acting, &bound.keys().copied().collect::<Vec<_>>(), findings)?;
        if acting.directive.upsert
            && let Some(number) = number.filter(|number| !bound.contains_key(number.name))
        {
            number::report_upsert(acting, number, findings);
            return None;
        }
        if acting.alternative.is_some() || of_key.is_some_and(|number| !bound.contains_key(number.name)) {
            return by_whole_key(acting, &bound, findings);
        }
        let is_number = |field: &str| of_key.is_some_and(|number| number.name == field);
        let needed = bound.iter().filter(|(field, _)| is_number(field) || !may_lack(acting, &bound, field));
        check_there(acting, needed.map(|(field, bound)| (*field, bound)), findings)?;
        let arguments = bound.values().flat_map(|bound| bound.arguments.clone()).collect();
        let sources = bound.into_iter().map(|(field, bound)| (field.to_owned(), bound.source)).collect();
        return Some(ResolvedTarget { target: WriteTarget::Key(sources), arguments });
    }
    bind_number(acting, number.filter(|number| !number.is_in_key), &mut bound, findings)?;
    let others: Vec<&str> = acting.key_fields().into_iter().filter(|field| !primary.contains(field)).collect();
    bind_all(acting, &others, &mut bound, findings)?;
    bind_references(acting, &mut bound, findings)?;
    by_read(acting, &bound, findings)
}

/// The target of an action whose `item:` is the alias of a found item.
pub fn found(acting: &Acting, found: &InScope, findings: &mut Findings) -> Option<ResolvedTarget> {
    let directive = acting.directive;
    if let Some(list) = acting.writing.list.filter(|_| found.each.is_none()) {
        let message =
            format!("`{}` is one item, but `each:` would write it for each element of `{}`", found.name, list.path);
        let help =
            format!("leave `each:` out, or find one for each: `@find(…, as: {}, each: \"{}\")`", found.name, list.path);
        findings.error(rules::KF0725, &directive.span, message, Some(help.into()));
        return None;
    }
    let option =
        [("where:", !directive.finds.bindings.is_empty()), ("upsert:", directive.upsert), ("many:", directive.many)]
            .into_iter()
            .find_map(|(option, given)| given.then_some(option));
    if let Some(option) = option {
        let name = &found.name;
        let message = format!("`{option}` does not go with `item: {name}`, which `@find` has found already");
        findings.error(rules::KF0726, &directive.span, message, Some(format!("leave `{option}` out").into()));
        return None;
    }
    Some(ResolvedTarget { target: WriteTarget::Found(found.name.clone()), arguments: Vec::new() })
}

fn bind_all<'a>(
    acting: &Acting<'a>,
    fields: &[&'a str],
    bound: &mut IndexMap<&'a str, FieldBinding>,
    findings: &mut Findings,
) -> Option<()> {
    let primary = acting.primary_fields();
    let mut sound = true;
    for field in fields {
        match bind(acting, field, (primary.contains(field), acting.directive.many), findings) {
            Ok(found) => bound.extend(found.map(|found| (*field, found))),
            Err(()) => sound = false,
        }
    }
    sound.then_some(())
}

/// Binds the number of the item's shard, if there is one.
fn bind_number<'a>(
    acting: &Acting<'a>,
    number: Option<AssignedNumber<'a>>,
    bound: &mut IndexMap<&'a str, FieldBinding>,
    findings: &mut Findings,
) -> Option<()> {
    let Some(number) = number else { return Some(()) };
    let found = number::bind(acting, number, Purpose::Key { many: acting.directive.many }, findings).ok()?;
    bound.extend(found.map(|found| (number.name, found)));
    Some(())
}

/// Binds `ID` fields outside all keys whose name names an item in scope: with a `List` in scope, `listId`. The author
/// means the items that belong to it, so a target that no key finds by this field must be reported.
fn bind_references<'a>(
    acting: &Acting<'a>,
    bound: &mut IndexMap<&'a str, FieldBinding>,
    findings: &mut Findings,
) -> Option<()> {
    let keyed = acting.key_fields();
    let ids = acting.record.iter().filter(|(_, declared)| matches!(declared.value, ValueType::Id));
    for (name, _) in ids.filter(|(name, _)| !keyed.contains(&name.as_str()) && !acting.finds.hidden.contains(*name)) {
        let wish = Wish { owner: &acting.item, record: acting.record, name, purpose: Purpose::Key { many: false } };
        bound.extend(by_long_name(acting, &wish, findings).ok()?.map(|found| (name.as_str(), found)));
    }
    Some(())
}

/// Binds a key field by `where:`, an argument or an item in scope. An item's field of the same name (rule 6) binds only
/// fields of the table's own key; the long name (rule 5) binds fields of any key.
fn bind(
    acting: &Acting,
    field: &str,
    (primary, many): (bool, bool),
    findings: &mut Findings,
) -> Result<Option<FieldBinding>, ()> {
    if let Some(bound) = where_of(acting, field) {
        return Ok(Some(bound.clone()));
    }
    // What `set:` writes finds nothing by its name.
    if acting.finds.hidden.contains(field) || !primary && acting.sets.binds(field) {
        return Ok(None);
    }
    let wish = Wish { owner: &acting.item, record: acting.record, name: field, purpose: Purpose::Key { many } };
    match by_argument(&acting.writing, &wish, findings)? {
        Some(bound) => Ok(Some(bound)),
        None if primary => by_item(acting, &wish, findings),
        None => by_long_name(acting, &wish, findings),
    }
}

/// What `where:` binds a field to.
fn where_of<'b>(acting: &'b Acting, field: &str) -> Option<&'b FieldBinding> {
    acting.finds.bound.get(field)
}

/// Every field in `where:` must help to find the item.
fn check_clause(acting: &Acting, used: &[&str], findings: &mut Findings) -> Option<()> {
    let idle = acting.finds.bound.iter().find(|(field, _)| !used.contains(&field.as_str()));
    let Some((field, bound)) = idle else { return Some(()) };
    let message =
        format!("`{field}` is not needed to find the `{}`: the access path uses only {}", acting.item, list(used));
    findings.error(
        rules::KF0702,
        &bound.span,
        message,
        Some("`where:` finds the item; put conditions on it into `if:`".into()),
    );
    None
}

/// Whether the item has a whole key without the field: an alternative of each key that the field is in, whose fields
/// always have values.
fn may_lack(acting: &Acting, bound: &IndexMap<&str, FieldBinding>, field: &str) -> bool {
    let is_there = |field: &&str| bound.get(*field).is_some_and(|bound| !bound.nullable);
    let mut keys = acting.table.primary_key().filter_map(|key| acting.keys.keys.get(&key.name));
    keys.all(|templates| {
        let is_in_key = templates.iter().any(|template| template.fields().contains(&field));
        !is_in_key || templates.iter().any(|template| template.fields().iter().all(is_there))
    })
}

/// A value that finds the item must not be nullable.
fn check_there<'b>(
    acting: &Acting,
    bound: impl Iterator<Item = (&'b str, &'b FieldBinding)>,
    findings: &mut Findings,
) -> Option<()> {
    let mut sound = true;
    for (field, bound) in bound.filter(|(_, bound)| bound.nullable) {
        let message = format!("`{}.{field}` finds the item, but its value may be null", acting.item);
        let help = match bound.arguments.first() {
            Some(argument) => format!("make `{argument}` non-null"),
            None => "bind it to a field that is never null".to_owned(),
        };
        findings.error(rules::KF0719, &bound.span, message, Some(help.into()));
        sound = false;
    }
    sound.then_some(())
}

/// Reads the item by its key first: of which of several types it is, or in which shard another program has put it.
fn by_whole_key(
    acting: &Acting,
    bound: &IndexMap<&str, FieldBinding>,
    findings: &mut Findings,
) -> Option<ResolvedTarget> {
    let wanted = acting.wanted(Returns::One);
    let bindings = bindings_of(acting, &wanted, bound);
    let by_key = |candidate: &Candidate| matches!(candidate.path.access, Access::Get { .. });
    match finds::paths_of_write(&wanted, &bindings, None, &by_key).into_iter().next() {
        Some(path) => by_path(acting, (&wanted, path), bound, findings),
        None => refuse(acting, &wanted, bound, None, findings),
    }
}

/// Chooses the best access path for the bindings.
fn by_read(acting: &Acting, bound: &IndexMap<&str, FieldBinding>, findings: &mut Findings) -> Option<ResolvedTarget> {
    let many = acting.directive.many;
    let wanted = acting.wanted(if many { Returns::List } else { Returns::One });
    let bindings = bindings_of(acting, &wanted, bound);
    let paths = |serves: &dyn Fn(&Candidate) -> bool| finds::paths_of_write(&wanted, &bindings, None, serves);
    let one = |candidate: &Candidate| many || is_one(&wanted, candidate);
    let serving = paths(&one);
    let hidden = acting.finds.hidden.contains("id");
    if let Some(id) = idle_id((&acting.writing, &wanted), (&bindings, hidden), serving.first()) {
        report_other_id(
            &acting.writing,
            (&acting.item, acting.directive.clause(), !serving.is_empty()),
            (&id, &acting.directive.span),
            findings,
        );
        return None;
    }
    let Some(path) = serving.first().cloned() else {
        let several = paths(&|_| true);
        if several.is_empty() && bindings.equal.values().any(|bound| bound.need == Need::Named) {
            finds::left_out_of_write(&wanted, &bindings, findings)?;
            return None;
        }
        return refuse(acting, &wanted, bound, several.first(), findings);
    };
    check_decided(acting, bound, &serving, findings)?;
    if !(finds::are_decided(&wanted, &bindings, None, &one, findings)
        && says_parts(acting, (&wanted, &bindings), &path, findings)
        && finds::tells_of_expiry(&wanted, &path, findings))
    {
        return None;
    }
    by_path(acting, (&wanted, path), bound, findings)
}

/// What is bound, for a find.
fn bindings_of(acting: &Acting, wanted: &FindContext, bound: &IndexMap<&str, FieldBinding>) -> Bindings {
    let equal = bound.iter().map(|(field, bound)| ((*field).to_owned(), bind_for_find(acting, field, bound)));
    Bindings { equal: equal.chain(wanted.claims()).collect(), ..Bindings::default() }
}

/// The target that is read by a path.
fn by_path(
    acting: &Acting,
    (wanted, path): (&FindContext, AccessPath),
    bound: &IndexMap<&str, FieldBinding>,
    findings: &mut Findings,
) -> Option<ResolvedTarget> {
    let used: Vec<(&str, &FieldBinding)> =
        bound.iter().filter(|(field, _)| path.bindings.contains_key(**field)).map(|(f, b)| (*f, b)).collect();
    check_there(acting, used.iter().copied(), findings)?;
    check_type_is_known(acting, &path, findings)?;
    if acting.directive.upsert {
        let message = format!("`upsert:` may create a `{}`, so it needs the whole key", acting.item);
        let help = format!("the key consists of {}", list(&acting.primary_fields()));
        findings.error(rules::KF0720, &acting.directive.span, message, Some(help.into()));
        return None;
    }
    let arguments = used.iter().flat_map(|(_, bound)| bound.arguments.clone()).collect();
    let strong = path.index.is_none_or(|index| acting.table.indexes.get(index).is_some_and(|index| index.local));
    let find = Find {
        item: acting.item.clone(),
        returns: wanted.target.returns,
        via: Via::Keys(vec![path]),
        filter: None,
        max: MAX_DEFAULT,
        consistent: strong,
    };
    let many = acting.directive.many;
    Some(ResolvedTarget { target: WriteTarget::Read { find: Box::new(find), many }, arguments })
}

/// A field's binding as that of a find: by which rule, and whether a path may leave it out.
fn bind_for_find(acting: &Acting, field: &str, bound: &FieldBinding) -> wanted::Binding {
    let (rule, need) = match &bound.source {
        _ if where_of(acting, field).is_some() => (BindingRule::Where, Need::Always),
        Source::Item(item, own) if prefixed(item, own) == *field => (BindingRule::ParentName, Need::Named),
        Source::Item(..) => (BindingRule::SameName, Need::Free),
        // Whoever gives the number of a shard means items in it.
        _ if !acting.record.contains_key(field) => (BindingRule::Argument, Need::Always),
        _ => (BindingRule::Argument, Need::Free),
    };
    let (source, arguments) = (bound.source.clone(), bound.arguments.clone());
    wanted::Binding { source, arguments, rule, fallback: false, need }
}

/// An argument may bind a field by name that one access path uses and another does not. Then the author must say in
/// `where:` whether it finds the item. In an update it could be written instead.
fn check_decided(
    acting: &Acting,
    bound: &IndexMap<&str, FieldBinding>,
    paths: &[AccessPath],
    findings: &mut Findings,
) -> Option<()> {
    let directive = acting.directive;
    let writes = directive.verb == Verb::Update && directive.expression.is_none();
    let primary = acting.primary_fields();
    let texts = || [&directive.expression, &directive.condition].into_iter().flatten();
    let set = |name: &String| acting.sets.bound.values().any(|bound| bound.arguments.contains(name));
    let said = |bound: &FieldBinding| {
        bound.arguments.iter().any(|name| set(name) || texts().any(|text| names_argument(&text.value, name)))
    };
    let uses = |path: &AccessPath, field: &str| path.bindings.contains_key(field);
    let open = bound.iter().find(|(field, bound)| {
        let by_name = where_of(acting, field).is_none() && !bound.arguments.is_empty() && !said(bound);
        let idle = paths.first().is_some_and(|best| !uses(best, field));
        let written = writes && !primary.contains(*field) && !paths.iter().all(|path| uses(path, field));
        by_name && (idle && !writes || written) && paths.iter().any(|path| uses(path, field))
    });
    let Some((field, bound)) = open else { return Some(()) };
    let or = if writes { " or changes it" } else { "; the access path does not use it" };
    let message = format!("it is ambiguous whether `{field}` finds the `{}`{or}", acting.item);
    let argument = bound.arguments.first().map_or(*field, String::as_str);
    let help =
        format!("write `where: {{ {field}: \"{{{argument}}}\" }}` if it finds it, `where: {{ {field}: null }}` if not");
    findings.error(rules::KF0434, &bound.span, message, Some(help.into()));
    None
}

/// The bare `id` that would find the item, or fewer of its partition, if it were the id of the item's type.
pub fn idle_id<'a>(
    (writing, wanted): (&Writing<'a>, &FindContext),
    (bindings, hidden): (&Bindings, bool),
    path: Option<&AccessPath>,
) -> Option<Input<'a>> {
    let id = other_id(writing, &wanted.target.item).filter(|_| !hidden && !bindings.equal.contains_key("id"))?;
    let bound = wanted::Binding {
        source: Source::Argument(id.name.clone()),
        arguments: Vec::new(),
        rule: BindingRule::Argument,
        fallback: false,
        need: Need::Free,
    };
    let mut more = bindings.clone();
    more.equal.insert("id".to_owned(), bound);
    let uses_more = |other: &AccessPath| {
        other.bindings.contains_key("id")
            && path.is_none_or(|path| path.bindings.keys().all(|field| other.bindings.contains_key(field)))
    };
    finds::paths_of_write(wanted, &more, None, &|_| true).iter().any(uses_more).then_some(id)
}

/// Whether `where:` says of each part of the key of an item in scope whether it finds the items, if their key has it
/// too; a finding if not. By its bare name, a part binds only fields of the table's own key, so an index would be read
/// without it.
fn says_parts(
    acting: &Acting,
    (wanted, bindings): (&FindContext, &Bindings),
    path: &AccessPath,
    findings: &mut Findings,
) -> bool {
    let draft = acting.writing.draft;
    for item in acting.scope {
        let Some(keys) = draft.items.get(&item.item) else { continue };
        let parts = draft.tables.get(keys.table).map(|table| keys.primary_fields(table)).unwrap_or_default();
        for part in parts.into_iter().filter(|part| *part != "id" || item.item == acting.item) {
            let (Some(own), Some(declared)) = (item.record.get(part), acting.record.get(part)) else { continue };
            let named = acting.record.contains_key(&prefixed(&item.name, part));
            let free = !named && !bindings.equal.contains_key(part) && !acting.finds.hidden.contains(part);
            if !free || declared.ty.is_list() || !values::fits(&own.value, &declared.value) {
                continue;
            }
            let source = Source::Item(item.name.clone(), part.to_owned());
            let bound = wanted::Binding {
                source,
                arguments: Vec::new(),
                rule: BindingRule::SameName,
                fallback: false,
                need: Need::Free,
            };
            let mut more = bindings.clone();
            more.equal.insert(part.to_owned(), bound);
            let uses_more = |other: &AccessPath| {
                other.bindings.contains_key(part)
                    && path.bindings.keys().all(|field| other.bindings.contains_key(field))
            };
            if finds::paths_of_write(wanted, &more, None, &|_| true).iter().any(uses_more) {
                let message = format!(
                    "`{}` does not say whether it finds the `{}` by `{part}`, which is in the key of the `{}` in scope",
                    acting.directive.name(),
                    acting.item,
                    item.name
                );
                let help = format!(
                    "add `{part}: \"{{{}.{part}}}\"` to `where:` to find those of the `{}`, or `{part}: null` to find all of them",
                    item.name, item.name
                );
                findings.error(rules::KF0436, &acting.directive.span, message, Some(help.into()));
                return false;
            }
        }
    }
    true
}

/// Whether an expression uses an argument: `:name`, as a whole word.
fn names_argument(text: &str, name: &str) -> bool {
    let colon = format!(":{name}");
    text.match_indices(&colon)
        .any(|(at, _)| !text[at + colon.len()..].starts_with(|next: char| next.is_alphanumeric() || next == '_'))
}

/// Whether the bindings single out one item of its partition, or `where:` says all of them: then the author means that
/// the partition has one. If it has several, the write is refused.
pub fn is_one(wanted: &FindContext, candidate: &Candidate) -> bool {
    let sort = candidate.path.keys(wanted.table).sort;
    let by_where = |rule: &BindingRule| *rule == BindingRule::Where;
    let is_said = |rule: &BindingRule| by_where(rule) || *rule == BindingRule::Template;
    match &candidate.path.access {
        Access::Get { .. } | Access::Query { sort: SortAccess::Equal { .. }, .. } => true,
        Access::Query { .. } => {
            let rules = &candidate.path.rules;
            let is_all_said = rules.values().all(is_said) && rules.values().any(by_where);
            sort.is_none() || candidate.sort_fields > 0 || is_all_said
        }
        Access::Scan => false,
    }
}

/// The help if names alone leave the sort key open: none if nothing is bound.
pub fn say_partition(path: &AccessPath) -> Option<String> {
    let entry = |(field, source): (&String, &Source)| match source {
        Source::Argument(name) => Some(format!("{field}: \"{{{name}}}\"")),
        _ => None,
    };
    let entries: Vec<String> = path.bindings.iter().filter_map(entry).collect();
    (!entries.is_empty()).then(|| format!("say `where: {{ {} }}` if there is only one", entries.join(", ")))
}

fn refuse(
    acting: &Acting,
    wanted: &FindContext,
    bound: &IndexMap<&str, FieldBinding>,
    several: Option<&AccessPath>,
    findings: &mut Findings,
) -> Option<ResolvedTarget> {
    let (item, span) = (&acting.item, &acting.directive.span);
    let name = acting.directive.name();
    if let Some(path) = several {
        let missing: Vec<&str> =
            acting.primary_fields().into_iter().filter(|field| !bound.contains_key(field)).collect();
        let message = format!("`{name}` finds several items of `{item}`: nothing binds {}", list(&missing));
        let many = match acting.directive.verb {
            Verb::Update | Verb::Delete if acting.directive.at.is_none() && acting.writing.list.is_none() => {
                ", or add `many: true` to write them all"
            }
            _ => "",
        };
        let say = say_partition(path).map(|say| format!(", or {say}")).unwrap_or_default();
        let help = format!("bind the rest of the key{say}{many}");
        findings.error(rules::KF0707, span, message, Some(help.into()));
        return None;
    }
    let unbound: Vec<&str> = acting.primary_fields().into_iter().filter(|field| !bound.contains_key(field)).collect();
    let message = match unbound.is_empty() {
        true => format!("no key or index of `{item}` can be read by what `where:` binds"),
        false => format!("nothing binds {} of `{item}` for `{name}`", list(&unbound)),
    };
    let arguments = unbound.iter().filter_map(|field| Some(format!("{field}: {}", acting.record.get(*field)?.ty)));
    let arguments = arguments.collect::<Vec<_>>().join(", ");
    let keys = finds::keys_of(wanted);
    let more = format!("add `{arguments}` to the arguments, or bind it in `where:`; {keys}");
    let is_known = acting.finds.bound.is_empty()
        && !arguments.is_empty()
        && acting.writing.list.is_none()
        && !unbound.iter().any(|field| acting.writing.field.argument_by_name(field).is_some());
    let help = if is_known { with_argument(acting, &arguments, more) } else { keys.into() };
    findings.error(rules::KF0706, span, message, Some(help));
    None
}
