//! A find of an interface or a union in, the reads that serve all of its item types at once out. Must not know how keys
//! are compared.
//!
//! Each member is prepared as if the find were of that type alone. Then one candidate of each member is chosen, so that
//! a single read serves them all ([`crate::schema::finds::abstract_type::shared_access`]). If a member cannot be read
//! even alone, the finding names that member.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::condition::Condition;
use crate::schema::finds::abstract_type::member::{AbstractFind, Member};
use crate::schema::finds::abstract_type::mismatch;
use crate::schema::finds::abstract_type::mismatch::Mismatch;
use crate::schema::finds::abstract_type::shared_access::{Shared, Side, shared_access};
use crate::schema::finds::best::PathInputs;
use crate::schema::finds::candidates::{Ask, BareNames, Candidate, candidates, sifts, tells_items};
use crate::schema::finds::diagnosis::undecided::{self, Way};
use crate::schema::finds::diagnosis::{counted, expiring, single};
use crate::schema::finds::paging::Order;
use crate::schema::finds::prepare::{Prepared, max, prepare, scan};
use crate::schema::finds::target::FindTarget;
use crate::schema::finds::wanted::FindContext;
use crate::schema::finds::{best, choose};
use crate::schema::model::find::{Access, AccessPath, Find, SharedKeys, SortAccess, Via};
use crate::schema::model::keys::ItemKeys;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::template::Template;
use crate::schema::types::draft::Kind;
use indexmap::{IndexMap, IndexSet};

/// Checks the find; `None` if it, or what it builds on, has a mistake.
pub fn read_abstract_type(asked: &AbstractFind, findings: &mut Findings) -> Option<Find> {
    let directive = FindDirective::from_directive(asked.directive);
    let names = members(asked, findings)?;
    if let Some(through) = &directive.through {
        let message = format!("a relation cannot lead to items of several types (`{}`)", asked.target.item);
        findings.error(rules::KF0421, &through.span, message, Some("name one of the types: `@find(item: …)`".into()));
        return None;
    }
    let max = max(&directive, findings)?;
    check_where(asked, &directive, &names, findings)?;
    let wanted = names.iter().map(|name| wanted(asked, &names, name)).collect::<Option<Vec<_>>>()?;
    check_table(asked, &wanted, findings)?;
    let members = prepared(wanted, findings)?;
    check_filter(asked, &members, findings)?;
    let first = members.first()?;
    let mut shared = SharedKeys {
        members: names,
        keys: ItemKeys {
            table: first.wanted.keys.table,
            keys: IndexMap::new(),
            constants: Vec::new(),
            shares_keys: false,
            narrower: Vec::new(),
            limited: None,
            expires: None,
        },
        paths: Vec::new(),
    };
    shared.paths = if directive.scan {
        vec![scan_of(&members, findings)?]
    } else {
        paths(asked, &members, &mut shared.keys, findings)?
    };
    check_several(asked, first, &shared.paths, findings)?;
    counted::check(members.iter().map(|member| &member.wanted), &shared.paths, findings).then_some(())?;
    members.iter().all(|member| expiring::check(&member.wanted, &shared.paths, findings)).then_some(())?;
    check_decided(&members, &shared.paths, findings)?;
    let filter = first.prepared.filter.clone();
    Some(Find {
        item: asked.target.item.clone(),
        returns: asked.target.returns,
        via: Via::AbstractType(shared),
        filter,
        max,
        consistent: directive.consistent,
    })
}

/// The item types of the interface or union that clients may see.
fn members(asked: &AbstractFind, findings: &mut Findings) -> Option<Vec<String>> {
    let AbstractFind { draft, target, field, .. } = asked;
    let place = span::from_location(field.name.location());
    let hidden =
        |name: &str| draft.schema.types.get(name).is_some_and(|definition| definition.directives().has("inaccessible"));
    let all = draft
        .objects()
        .map(|object| object.name.as_str())
        .filter(|name| draft.schema.is_subtype(&target.item, name) && !hidden(name));
    let (items, others): (Vec<&str>, Vec<&str>) = all.partition(|name| draft.kind(name) == Some(&Kind::Item));
    let refusal = match (others.as_slice(), items.as_slice()) {
        ([], []) => Some(format!("`{}` has no item types, so there is nothing to find", target.item)),
        ([], _) => None,
        (others, _) => Some(format!(
            "{} of `{}` {}",
            list(others),
            target.item,
            if others.len() == 1 { "is not an item type" } else { "are not item types" }
        )),
    };
    if let Some(message) = refusal {
        let help = match others.is_empty() && target.item == "Node" {
            true => "write `interface Node @node { id: ID! }`, let types implement it, and leave `@find` out",
            false => "add `@item` to every type, or find only one: `@find(item: …)`",
        };
        findings.error(rules::KF0427, &place, message, Some(help.into()));
        return None;
    }
    Some(items.into_iter().map(str::to_owned).collect())
}

/// Every field in `where:` exists in at least one member. An equality may bind a field that other members lack.
fn check_where(
    asked: &AbstractFind,
    directive: &FindDirective,
    names: &[String],
    findings: &mut Findings,
) -> Option<()> {
    let known = |field: &str| {
        names.iter().any(|name| asked.draft.records.get(name).is_some_and(|record| record.contains_key(field)))
    };
    let unknown: Vec<_> = directive.bindings.iter().filter(|(field, _)| !known(&field.value)).collect();
    for (field, _) in &unknown {
        let message = format!("no item type of `{1}` has a field `{0}`", field.value, asked.target.item);
        let fields = names
            .iter()
            .filter_map(|name| asked.draft.records.get(name))
            .flat_map(|record| record.keys().map(String::as_str));
        findings.error(rules::KF0405, &field.span, message, suggest(&field.value, fields.collect::<IndexSet<_>>()));
    }
    unknown.is_empty().then_some(())
}

/// The find as if it were of one member alone.
fn wanted<'a>(asked: &'a AbstractFind<'a>, names: &[String], name: &str) -> Option<FindContext<'a>> {
    let AbstractFind { draft, parent, field, directive, target } = asked;
    let (keys, record) = draft.item(name)?;
    let table = draft.tables.get(keys.table)?;
    let parent_record = match draft.kind(parent) {
        Some(Kind::Root(_)) => None,
        _ => draft.records.get(*parent),
    };
    let mut directive = FindDirective::from_directive(directive);
    let others = |field: &str| {
        names.iter().any(|other| draft.records.get(other).is_some_and(|record| record.contains_key(field)))
    };
    directive.bindings.retain(|(field, value)| {
        record.contains_key(&field.value) || value.as_object().is_some() || !others(&field.value)
    });
    let target = FindTarget { item: name.to_owned(), returns: target.returns };
    let found = Vec::new();
    Some(FindContext { draft, parent, parent_record, field, directive, target, keys, record, table, found })
}

/// One Query reads one table.
fn check_table(asked: &AbstractFind, wanted: &[FindContext], findings: &mut Findings) -> Option<()> {
    let first = wanted.first()?;
    let Some(other) = wanted.iter().find(|other| other.keys.table != first.keys.table) else { return Some(()) };
    let message = format!(
        "`{}` is in the table `{}` and `{}` in `{}`, but one find reads all items of `{}`",
        first.target.item, first.table.name, other.target.item, other.table.name, asked.target.item
    );
    findings.error(
        rules::KF0428,
        &span::from_location(asked.field.name.location()),
        message,
        Some("find each type by its own field".into()),
    );
    None
}

/// Prepares each member and checks that it can be read alone.
fn prepared<'a>(wanted: Vec<FindContext<'a>>, findings: &mut Findings) -> Option<Vec<Member<'a>>> {
    let mut members = Vec::with_capacity(wanted.len());
    let mut sound = true;
    for wanted in wanted {
        let mut own = Findings::default();
        let prepared = prepare(&wanted, &mut own);
        if let (Some(prepared), false) = (&prepared, wanted.directive.scan) {
            let given = given(&wanted, prepared, false);
            sound &= choose::paths(&given, &prepared.orders, &mut own).is_some();
        }
        findings.add_once(own);
        match prepared {
            Some(prepared) => members.push(Member { wanted, prepared }),
            None => sound = false,
        }
    }
    sound.then_some(members)
}

fn given<'a>(wanted: &'a FindContext<'a>, prepared: &'a Prepared, fallback: bool) -> PathInputs<'a> {
    PathInputs {
        wanted,
        bindings: &prepared.bindings,
        filter: prepared.filter.as_ref(),
        fallback,
        undiscriminated: true,
        some_alternatives: false,
    }
}

/// DynamoDB evaluates one filter on everything that it reads, so the filter must be the same condition for all members.
fn check_filter(asked: &AbstractFind, members: &[Member], findings: &mut Findings) -> Option<()> {
    let text = |member: &Member| format!("{:?}", member.prepared.filter);
    let first = members.first()?;
    let Some(other) = members.iter().find(|other| text(other) != text(first)) else { return Some(()) };
    let place = first
        .wanted
        .directive
        .filter
        .as_ref()
        .map_or_else(|| first.wanted.directive.span.clone(), |filter| filter.span.clone());
    let attributes = |member: &Member| {
        let names = member.prepared.filter.as_ref().map(Condition::attributes).unwrap_or_default();
        format!("{} in `{}`", list(&names.into_iter().collect::<Vec<_>>()), member.wanted.target.item)
    };
    let message = format!(
        "the filter is not the same condition for all types of `{}`: it reads {}, but {}",
        asked.target.item,
        attributes(first),
        attributes(other)
    );
    findings.error(
        rules::KF0429,
        &place,
        message,
        Some("store the field in the same attribute, in the same way, in every type".into()),
    );
    None
}

/// If every path binds the whole primary key, which is then the same for all types, a list holds at most one item.
fn check_several(asked: &AbstractFind, first: &Member, paths: &[AccessPath], findings: &mut Findings) -> Option<()> {
    let wanted = &first.wanted;
    let whole = |path: &AccessPath| match &path.access {
        Access::Get { .. } => true,
        Access::Query { sort, .. } => {
            path.index.is_none() && (wanted.table.sort.is_none() || matches!(sort, SortAccess::Equal { .. }))
        }
        Access::Scan => false,
    };
    let uses = |name: &str| first.prepared.bindings.uses(name);
    let listed = asked.field.arguments.iter().any(|argument| argument.ty.is_list() && uses(&argument.name));
    if !single::is_plural(wanted) || listed || !paths.iter().all(whole) {
        return Some(());
    }
    let in_key: Vec<&str> = paths.iter().flat_map(|path| path.bindings.keys().map(String::as_str)).collect();
    single::refuse(wanted, &first.prepared.bindings, &in_key, findings);
    None
}

/// The names decide which items are found: the first type's names, which stand for those of all.
fn check_decided(members: &[Member], paths: &[AccessPath], findings: &mut Findings) -> Option<()> {
    let first = members.first()?;
    let bindings = &first.prepared.bindings;
    let ways = |path: &AccessPath, bare: BareNames| -> Vec<Way> {
        let position = first.prepared.orders.iter().position(|order| order.value == path.order_by);
        let order = |member: &Member| member.prepared.orders.get(position?).cloned();
        let (found, _) = reads(members, &path.when, &order, bare);
        found.into_iter().map(|shared| Way { path: shared.path, rank: shared.rank, sparse: shared.sparse }).collect()
    };
    let decided = |path: &AccessPath, findings: &mut Findings| {
        let (now, then) = undecided::attempts(bindings, path);
        undecided::check_path((&first.wanted, bindings), path, (&ways(path, now), &ways(path, then)), findings)
    };
    let scanned = |path: &AccessPath| matches!(path.access, Access::Scan);
    paths.iter().all(|path| scanned(path) || decided(path, findings)).then_some(())
}

fn scan_of(members: &[Member], findings: &mut Findings) -> Option<AccessPath> {
    let mut path = None;
    for member in members {
        let mut own = Findings::default();
        path = scan(&given(&member.wanted, &member.prepared, false), member.prepared.index, &mut own);
        findings.add_once(own);
        path.as_ref()?;
    }
    path
}

/// A path for each combination of optional arguments and each order. Their templates are collected in `keys`.
fn paths(
    asked: &AbstractFind,
    members: &[Member],
    keys: &mut ItemKeys,
    findings: &mut Findings,
) -> Option<Vec<AccessPath>> {
    let mut optional: Vec<String> = Vec::new();
    for member in members {
        let own = best::optional(&given(&member.wanted, &member.prepared, false));
        optional.extend(own.into_iter().filter(|name| !optional.contains(name)).collect::<Vec<_>>());
    }
    let orders = &members.first()?.prepared.orders;
    let whens: Vec<Vec<String>> = best::combinations(&optional).collect();
    let unordered = |member: &Member| Order { value: None, field: None, span: member.wanted.directive.span.clone() };
    let strong = whens.iter().any(|when| best(members, when, &|member| Some(unordered(member)), false).is_ok());
    let mut paths = Vec::new();
    let mut nearest: Option<(Mismatch, Order)> = None;
    for (position, order) in orders.iter().enumerate() {
        for when in &whens {
            match best(members, when, &|member| member.prepared.orders.get(position).cloned(), !strong) {
                Ok(shared) => paths.push(AccessPath {
                    when: when.clone(),
                    order_by: order.value.clone(),
                    ..placed(shared, members, keys)
                }),
                Err(why) if nearest.as_ref().is_none_or(|(known, _)| *known < why) => {
                    nearest = Some((why, order.clone()))
                }
                Err(_) => {}
            }
        }
    }
    match nearest {
        None => Some(paths),
        Some((why, order)) => {
            mismatch::report(asked, members, (&why, &order), findings);
            None
        }
    }
}

/// The best read of all members if exactly these optional arguments are given, or the nearest miss.
fn best(
    members: &[Member],
    when: &[String],
    order: &dyn Fn(&Member) -> Option<Order>,
    fallback: bool,
) -> Result<Shared, Mismatch> {
    let mut nearest = Mismatch::Partitions;
    for bare in if fallback { &[BareNames::Ids, BareNames::All][..] } else { &[BareNames::Ids] } {
        let (found, why) = reads(members, when, order, *bare);
        if let Some(found) = found.into_iter().min_by_key(|shared| shared.rank) {
            return Ok(found);
        }
        nearest = nearest.max(why);
    }
    Err(nearest)
}

/// Every read of all members with these bare names, and the nearest miss.
fn reads(
    members: &[Member],
    when: &[String],
    order: &dyn Fn(&Member) -> Option<Order>,
    bare: BareNames,
) -> (Vec<Shared>, Mismatch) {
    let present = |name: &str| {
        let argument = members.first().and_then(|member| member.wanted.argument(name));
        argument.is_some_and(|argument| argument.ty.is_non_null()) || when.iter().any(|there| there == name)
    };
    let orders: Vec<Option<String>> =
        members.iter().map(|member| order(member).and_then(|order| order.field)).collect();
    let asks: Vec<Ask> = members
        .iter()
        .zip(&orders)
        .map(|(member, order)| Ask {
            present: &present,
            order: order.as_deref(),
            filter: member.prepared.filter.as_ref(),
            bare,
            lax: false,
            some_alternatives: false,
        })
        .collect();
    let all: Vec<Vec<Candidate>> = members
        .iter()
        .zip(&asks)
        .map(|(member, ask)| candidates(&member.wanted, &member.prepared.bindings, ask))
        .collect();
    let (mut found, mut nearest) = (Vec::new(), Mismatch::Partitions);
    for first in all.first().into_iter().flatten() {
        let shared = match undiscriminated(members, first.path.index) {
            Some(index) => Err(Mismatch::Untold(index)),
            None => combined((members, &asks, &all), first),
        };
        match shared {
            Ok(shared) => found.push(shared),
            Err(why) => nearest = nearest.max(why),
        }
    }
    (found, nearest)
}

/// The index, if it does not hold what distinguishes the members' items from others and the find cannot sort this out
/// later. A list drops foreign items after the read, but a single item or a count would be wrong.
fn undiscriminated(members: &[Member], index: Option<usize>) -> Option<String> {
    let first = &members.first()?.wanted;
    if sifts(first) {
        return None;
    }
    (!members.iter().all(|member| tells_items(&member.wanted, index))).then(|| first.place_name(index).to_owned())
}

/// The best read that combines the first member's candidate with one candidate of each other member. Members are added
/// one by one, because each can only shorten what all have in common.
fn combined<'a>(
    (members, asks, all): (&'a [Member<'a>], &'a [Ask<'a>], &'a [Vec<Candidate>]),
    first: &'a Candidate,
) -> Result<Shared, Mismatch> {
    let side = |at: usize, candidate: &'a Candidate| {
        let member: &'a Member<'a> = &members[at];
        Side { wanted: &member.wanted, bindings: &member.prepared.bindings, ask: &asks[at], candidate }
    };
    let mut chosen = vec![first];
    let sides = |chosen: &[&'a Candidate]| {
        chosen.iter().enumerate().map(|(at, candidate)| side(at, candidate)).collect::<Vec<_>>()
    };
    let mut shared = shared_access(&sides(&chosen))?;
    for others in all.iter().skip(1) {
        let mut nearest = Mismatch::Partitions;
        let mut best: Option<(&Candidate, Shared)> = None;
        for other in others.iter().filter(|other| other.path.index == first.path.index) {
            chosen.push(other);
            match shared_access(&sides(&chosen)) {
                Ok(shared) if best.as_ref().is_none_or(|(_, known)| shared.rank < known.rank) => {
                    best = Some((other, shared))
                }
                Ok(_) => {}
                Err(why) => nearest = nearest.max(why),
            }
            chosen.pop();
        }
        let (candidate, wider) = best.ok_or(nearest)?;
        chosen.push(candidate);
        shared = wider;
    }
    Ok(shared)
}

/// Adds the read's templates to `keys` and makes its path refer to them.
fn placed(shared: Shared, members: &[Member], keys: &mut ItemKeys) -> AccessPath {
    let Shared { mut path, partition, equal, sort, .. } = shared;
    let Some(first) = members.first() else { return path };
    let of_path = path.keys(first.wanted.table);
    let mut position = |key: &str, template: Template| {
        let templates = keys.keys.entry(key.to_owned()).or_default();
        let text = format!("{template:?}");
        templates.iter().position(|known| format!("{known:?}") == text).unwrap_or_else(|| {
            templates.push(template);
            templates.len() - 1
        })
    };
    let at_partition = partition.map_or(0, |template| position(&of_path.partition.name, template));
    let at_equal = of_path.equal.iter().zip(equal).map(|(key, template)| position(&key.name, template)).collect();
    let at_sort = sort.zip(of_path.sort).map_or(0, |(template, key)| position(&key.name, template));
    path.equal = at_equal;
    match &mut path.access {
        Access::Get { partition, sort } => {
            *partition = at_partition;
            *sort = sort.map(|_| at_sort);
        }
        Access::Query { partition, sort } => {
            *partition = at_partition;
            match sort {
                SortAccess::All => {}
                SortAccess::Equal { template }
                | SortAccess::Prefix { template, .. }
                | SortAccess::Range { template, .. } => *template = at_sort,
            }
        }
        Access::Scan => {}
    }
    path
}
