//! The reads of a plan in; out: which of them may find items that an earlier read of the table has brought, and which
//! reads are worth remembering for that. A Query asks for what such a read needs, too, where that is free. Must not
//! know which keys are known: the run decides that.
//!
//! An item is brought by a Get, by a Query of the table, and by what a rule looks up. It is asked for by a Get, and by
//! a rule. A Query of several items asks for what a later read needs only where that read surely finds one of its
//! items, or is a rule's: DynamoDB charges for whole items, but every attribute travels.

use super::projection::AskedAttributes;
use super::same_key::{Provenance, same_source};
use crate::plan::tree::{Arguments, DecidedBy, Guard, Holder, Read, ReadAction, ReadId, ValueSource, Want};
use crate::schema::model::Model;
use crate::schema::model::auth::RuleLookup;
use crate::schema::template::Template;
use crate::schema::template::part::Part;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The most reads of a plan that are connected, which takes a time that grows with the square of their number. A plan
/// with more reads asks for all that it needs.
pub const MAX_READS: usize = 256;
/// The most reads that the plan names from which another's items may be known.
pub const MAX_NAMED: usize = 16;

/// A read of items of some types by their keys, or what its rules look up.
struct Asker<'m> {
    /// The read.
    read: ReadId,
    /// Whether its rules ask. They do so when the items of the read are there.
    by_rule: bool,
    /// The table, by position in the model.
    table: usize,
    /// The item types.
    types: Vec<&'m str>,
    /// The attributes that are needed, sorted.
    needs: AskedAttributes,
}

/// Says of each read from where its items may be known and whether it is remembered, and widens projections where that
/// is free. Gives whether what Gets find is remembered.
pub fn connect(model: &Model, reads: &mut [Read], guards: &[Guard], arguments: &[Arguments]) -> bool {
    // Most operations have one wave, and no rule that looks up.
    if reads.len() > MAX_READS || reads.iter().all(|read| read.wave == 1 && read.discriminator.lookups() == 0) {
        return false;
    }
    let of_guards: BTreeSet<ReadId> = guards.iter().flat_map(lookups).collect();
    let types: Vec<Arc<_>> = reads.iter().map(|read| read.discriminator.clone()).collect();
    let names: Vec<Vec<&str>> =
        types.iter().map(|types| types.types.iter().map(|marks| marks.item.as_str()).collect()).collect();
    widen_needs(reads, &names);
    let mut askers = Vec::new();
    for (id, read) in reads.iter().enumerate() {
        if !read.is_query() {
            let (table, types, needs) = (read.table, names[id].clone(), read.needs.clone());
            askers.push(Asker { read: id, by_rule: false, table, types, needs });
        }
        let rules = types[id].types.iter().flat_map(|marks| &marks.rules);
        askers.extend(rules.filter_map(|rule| looked_up(model, id, rule.lookup()?)));
    }
    let mut keeps_gets = false;
    for asker in &askers {
        let is_lookup = asker.by_rule || of_guards.contains(&asker.read);
        for from in 0..reads.len() {
            if brings(&reads[from], &names[from], &reads[asker.read], asker) {
                let is_free = is_lookup || finds_items_of(reads, asker.read, from, arguments);
                let knows = know(reads, from, &asker.needs, is_free);
                let is_same_get = !asker.by_rule && reads[from].projection == reads[asker.read].projection;
                let is_get = !reads[from].is_query();
                keeps_gets |= knows && is_get && !(is_same_get && reads[from].max_age == reads[asker.read].max_age);
                add(&mut reads[asker.read], asker, knows.then_some(from));
            }
        }
        let earlier = askers.iter().filter(|other| other.by_rule && other.table == asker.table);
        for other in earlier.filter(|other| other.read != asker.read || !asker.by_rule) {
            let (of, own) = (&reads[other.read], &reads[asker.read]);
            let knows = of.wave < own.wave
                && (of.consistent || !own.consistent)
                && other.types.iter().any(|ty| asker.types.contains(ty));
            keeps_gets |= knows;
            add(&mut reads[asker.read], asker, knows.then_some(other.read));
        }
    }
    keeps_gets
}

/// Adds to what each Get needs what Gets of the table in later waves need. So an item of which less is known is read
/// once, as without that knowledge.
fn widen_needs(reads: &mut [Read], names: &[Vec<&str>]) {
    let is_get = |read: &Read| !read.is_query();
    let widened = |id: usize| {
        let own = &reads[id];
        let later = reads.iter().zip(names).filter(|(read, types)| {
            let may_meet = types.iter().any(|ty| names[id].contains(ty));
            is_get(read) && read.table == own.table && read.wave > own.wave && may_meet
        });
        let later: Vec<&Arc<str>> = later.flat_map(|(read, _)| read.needs.iter()).collect();
        let all: BTreeSet<&Arc<str>> = own.needs.iter().chain(later).collect();
        (all.len() > own.needs.len()).then(|| all.into_iter().cloned().collect())
    };
    let gets: Vec<usize> = (0..reads.len()).filter(|id| is_get(&reads[*id])).collect();
    let needs: Vec<(usize, Option<AskedAttributes>)> = gets.into_iter().map(|id| (id, widened(id))).collect();
    for (id, needs) in needs.into_iter().filter_map(|(id, needs)| Some((id, needs?))) {
        reads[id].needs = needs;
    }
}

/// The look-ups of a guard.
pub fn lookups(guard: &Guard) -> impl Iterator<Item = ReadId> {
    let of_demand = |decided: &DecidedBy| match decided {
        DecidedBy::Rows { lookups, .. } => lookups.iter().flatten().copied().collect(),
        DecidedBy::Caller | DecidedBy::Later => Vec::new(),
    };
    guard.demands.iter().flat_map(move |demand| of_demand(&demand.decided))
}

/// What a rule looks up for the items of a read; `None` if that has no key.
fn looked_up<'m>(model: &'m Model, read: ReadId, lookup: &'m RuleLookup) -> Option<Asker<'m>> {
    let (_, keys) = model.item(&lookup.find.item)?;
    let of_key = model.tables[keys.table].primary_key().map(|key| key.name.as_str());
    let of_condition = lookup.condition.iter().flat_map(|condition| condition.attributes());
    let names: BTreeSet<&str> =
        of_key.chain(keys.telling()).chain(keys.expires.as_deref()).chain(of_condition).collect();
    let (table, types) = (keys.table, vec![lookup.find.item.as_str()]);
    Some(Asker { read, by_rule: true, table, types, needs: names.into_iter().map(Arc::from).collect() })
}

/// Whether a read may have brought an item that another asks for, or that its rules ask for.
fn brings(from: &Read, types: &[&str], own: &Read, asker: &Asker<'_>) -> bool {
    let has_items = match &from.action {
        ReadAction::Get(_) | ReadAction::FetchMissing(_) => true,
        ReadAction::Query(query) => from.index.is_none() && query.want != Want::Count { looked_at: false },
    };
    let is_earlier = if asker.by_rule { from.wave <= own.wave } else { from.wave < own.wave };
    let is_fresh = from.consistent || !own.consistent;
    has_items && is_earlier && is_fresh && from.table == asker.table && types.iter().any(|ty| asker.types.contains(ty))
}

/// Whether a read finds an item of an earlier read for certain: each field of its key has the item's own value, or the
/// value by which the item was found.
fn finds_items_of(reads: &[Read], read: ReadId, from: ReadId, arguments: &[Arguments]) -> bool {
    let ReadAction::Get(get) = &reads[read].action else { return false };
    let of_key = |name: &Arc<str>| reads[from].action.key()?.fields.get(name);
    let is_own = |(name, source): (&Arc<str>, &ValueSource)| {
        let is_read = match source {
            ValueSource::Field(Holder::Read(of), reader) => *of == from && *reader.field == **name,
            _ => false,
        };
        is_read || of_key(name).is_some_and(|bound| same_source(bound, source, Provenance::from_arguments(arguments)))
    };
    !get.key.fields.is_empty() && get.key.fields.iter().all(is_own)
}

/// Whether a read may have all that is needed of its items. If that is free, a Query asks for the rest. Then it is
/// remembered. A Get may come in a batch that asks for more than the Get does.
fn know(reads: &mut [Read], from: ReadId, needs: &AskedAttributes, is_free: bool) -> bool {
    let before = reads[from].projection.clone();
    let has_all = has_all(&before, needs);
    let is_query = reads[from].is_query();
    if !has_all && is_query && is_free {
        let all: BTreeSet<&Arc<str>> = before.iter().chain(needs.iter()).collect();
        let all: AskedAttributes = all.into_iter().cloned().collect();
        // Equal Queries of several fields are made once, and stay equal.
        let alike: Vec<ReadId> = (0..reads.len()).filter(|other| may_be_equal(&reads[from], &reads[*other])).collect();
        alike.into_iter().for_each(|read| reads[read].projection = all.clone());
    }
    let knows = has_all || !is_query || is_free;
    reads[from].known.is_kept |= knows && is_query;
    knows
}

/// The literals of a key template, and the fields that stand in it.
fn parts(template: &Option<Template>) -> impl Iterator<Item = &str> {
    template.iter().flat_map(|template| &template.parts).map(|part| match part {
        Part::Literal(text) => text.as_str(),
        Part::Placeholder { field, .. } => field.as_str(),
    })
}

/// Whether the Queries of two reads of a table may be one.
fn may_be_equal(one: &Read, other: &Read) -> bool {
    let (ReadAction::Query(query), ReadAction::Query(of_other)) = (&one.action, &other.action) else { return false };
    let is_same = |one, other| parts(one).eq(parts(other));
    let is_alike = one.table == other.table && one.item == other.item && one.projection == other.projection;
    let is_same_key =
        is_same(&query.key.partition, &of_other.key.partition) && is_same(&query.key.sort, &of_other.key.sort);
    is_alike && other.index.is_none() && is_same_key && query.filter.is_some() == of_other.filter.is_some()
}

/// Whether attributes that are asked for have all that is needed.
pub fn has_all(attributes: &AskedAttributes, needs: &AskedAttributes) -> bool {
    needs.iter().all(|name| attributes.binary_search(name).is_ok())
}

/// Notes a read from which the items of another may be known.
fn add(read: &mut Read, asker: &Asker<'_>, from: Option<ReadId>) {
    let known = if asker.by_rule { &mut read.known.rules_from } else { &mut read.known.from };
    let named = from.filter(|from| known.len() < MAX_NAMED && !known.contains(from));
    known.extend(named);
    known.sort_unstable();
}
