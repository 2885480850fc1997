//! A schema in, the calls that a gateway may make of each table and of each index for it out. Must not know IAM.
//!
//! A call is listed if an operation of the API can lead to it, also after a lost race or a crash. What no operation
//! leads to is not listed.

use crate::execute::item::identity;
use crate::plan::attributes::{self, attributes_for};
use crate::plan::tree::SingleWrites;
use crate::schema::expression::operand::Operand;
use crate::schema::expression::update::Update;
use crate::schema::model::auth::{AuthAction, AuthRules};
use crate::schema::model::find::{Access, AccessPath, Find, Via};
use crate::schema::model::rules::DefaultValue;
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, ActionKind, Write, WriteFind, WriteTarget, WrittenValue};
use crate::schema::model::{Field, FieldKind, Model, ObjectType};
use crate::schema::table::StreamView;
use crate::schema::template::Template;
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// The calls of one table.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TableRights {
    /// GetItem, and BatchGetItem where several items are wanted at once.
    pub gets: bool,
    /// Query of the table (`None`) and of indexes by their positions.
    pub queries: BTreeSet<Option<usize>>,
    /// Scan of the table (`None`) and of indexes by their positions.
    pub scans: BTreeSet<Option<usize>>,
    /// PutItem.
    pub puts: bool,
    /// UpdateItem.
    pub updates: bool,
    /// DeleteItem.
    pub deletes: bool,
    /// A ConditionCheck of a transaction.
    pub checks: bool,
    /// BatchWriteItem.
    pub batches: bool,
    /// Whether the table's stream is followed.
    pub follows: bool,
}

/// The calls of each table, by its position in the model.
pub fn rights(model: &Model, single_writes: SingleWrites) -> Vec<TableRights> {
    let mut all =
        Rights { model, single_writes, tables: model.tables.iter().map(|_| TableRights::default()).collect() };
    for ty in model.types.values() {
        all.reads_of_rules(&ty.auth);
        for field in ty.fields.values() {
            all.reads_of_rules(&field.auth);
            all.field(field);
        }
    }
    let watched = model.watched_tables();
    for (position, (table, rights)) in model.tables.iter().zip(&mut all.tables).enumerate() {
        // The changes of other copies drop what is cached, where the stream has both images.
        let feeds_cache = !model.cache.is_empty() && table.stream == Some(StreamView::NewAndOldImages);
        rights.follows = watched.contains(&position) || feeds_cache;
    }
    all.tables
}

struct Rights<'m> {
    model: &'m Model,
    single_writes: SingleWrites,
    tables: Vec<TableRights>,
}

impl<'m> Rights<'m> {
    fn field(&mut self, field: &Field) {
        match &field.kind {
            FieldKind::Find(find) => self.find(find),
            FieldKind::Nodes(nodes) => nodes.types.iter().for_each(|node| self.find(&node.find)),
            FieldKind::Watch(watch) => watch.initial.iter().for_each(|find| self.find(find)),
            FieldKind::Write(write) => self.write(field, write),
            FieldKind::Stored(_)
            | FieldKind::GlobalId(_)
            | FieldKind::Resolved(_)
            | FieldKind::Computed(_)
            | FieldKind::Page
            | FieldKind::Change(_)
            | FieldKind::Payload => {}
        }
    }

    /// The items that rules look up. Rules for writes look them up, too, before they check them.
    fn reads_of_rules(&mut self, rules: &AuthRules) {
        for lookup in rules.each(AuthAction::Read).filter_map(|rule| rule.lookup()) {
            self.find(&lookup.find);
        }
    }

    fn find(&mut self, find: &Find) {
        let (paths, table, types) = match &find.via {
            Via::Keys(paths) => (paths, self.model.item(&find.item).map(|(_, keys)| keys.table), vec![&find.item]),
            Via::AbstractType(shared) => (&shared.paths, Some(shared.keys.table), shared.members.iter().collect()),
            // The relations on the way are fields of their own.
            Via::Through(_) => return,
        };
        let Some(position) = table else { return };
        for path in paths {
            let misses =
                types.iter().filter_map(|name| self.model.types.get(*name)).any(|ty| self.index_lacks(ty, path.index));
            let Some(rights) = self.tables.get_mut(position) else { return };
            rights.read(path, misses);
        }
    }

    /// Whether an item that is found in an index may need a Get of its own: the index lacks some of its attributes.
    fn index_lacks(&self, ty: &ObjectType, index: Option<usize>) -> bool {
        let stored =
            |field: &Field| if let FieldKind::Stored(stored) = &field.kind { Some(stored.clone()) } else { None };
        let lacks = |attribute: &str| {
            self.model.item(&ty.name).is_some_and(|(_, keys)| !self.model.tables[keys.table].holds(index, attribute))
        };
        ty.fields.values().filter_map(stored).any(|stored| attributes_for(self.model, ty, index, &stored).is_none())
            || ty.asked_attributes().into_iter().any(lacks)
            || attributes::keys(ty).and_then(|keys| keys.expires.as_deref()).is_some_and(lacks)
    }

    /// The rights for the table of an item type.
    fn rights_for(&mut self, item: &str) -> Option<&mut TableRights> {
        let (_, keys) = self.model.item(item)?;
        self.tables.get_mut(keys.table)
    }

    fn change(&mut self, item: &str, change: impl FnOnce(&mut TableRights)) {
        if let Some(rights) = self.rights_for(item) {
            change(rights);
        }
    }

    fn write(&mut self, field: &Field, write: &Write) {
        let model = self.model;
        // The record is put with the write, and a request that comes again reads it, and the items that it names.
        if let Some(rights) = write.idempotency.as_ref().and_then(|by| self.tables.get_mut(by.table)) {
            (rights.puts, rights.gets) = (true, true);
        }
        let mut looks_up = self.checks_of_rules(&field.auth, AuthAction::Write);
        for WriteFind { alias, find, .. } in &write.finds {
            self.find(find);
            looks_up |= model.types.get(&find.item).is_some_and(|ty| self.checks_of_rules(&ty.auth, AuthAction::Read));
            // After a lost race, what an index shows is read again. The item is checked, unless an action is sure to
            // write it.
            let by_index = matches!(&find.via, Via::Keys(paths) if paths.iter().any(|path| path.index.is_some()));
            let checks = !write.actions.iter().any(|action| is_of_found(action, (alias, find)));
            self.change(&find.item, |table| {
                table.gets |= by_index;
                table.checks |= checks;
            });
        }
        for action in &write.actions {
            let Some(ty) = model.types.get(&action.item) else { continue };
            for (_, rules, asked) in write.demanded(action, ty) {
                looks_up |= self.checks_of_rules(rules, asked);
            }
        }
        for (position, action) in write.actions.iter().enumerate() {
            if let Some(ty) = model.types.get(&action.item) {
                self.action(write, (position, action), (ty, looks_up));
                // An update of nothing is the check of its condition, where it is a part of a transaction.
                let is_many = matches!(action.target, WriteTarget::Read { many: true, .. });
                if (is_many || self.is_transaction(write, ty, looks_up)) && !changes_surely(field, action, ty) {
                    self.change(&ty.name, |table| table.checks = true);
                }
            }
        }
    }

    /// What the rules for an action look up: it is read, and checked in the write's transaction. Gives whether there is
    /// anything.
    fn checks_of_rules(&mut self, rules: &AuthRules, asked: AuthAction) -> bool {
        let lookups: Vec<&str> = rules.each(asked).filter_map(|rule| Some(rule.lookup()?.find.item.as_str())).collect();
        for item in &lookups {
            self.change(item, |table| (table.gets, table.checks) = (true, true));
        }
        !lookups.is_empty()
    }

    /// Whether an action on items of a type is a part of a transaction.
    fn is_transaction(&self, write: &Write, ty: &ObjectType, looks_up: bool) -> bool {
        let unique = ty.fields.values().any(|field| field.rules.unique);
        let replicated = self.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        let transaction = self.single_writes == SingleWrites::Transaction;
        transaction
            || write.idempotency.is_some()
            || !write.is_alone()
            || looks_up
            || unique
            || replicated
            || !write.finds.is_empty()
            || each(write)
    }

    fn action(&mut self, write: &Write, (position, action): (usize, &Action), (ty, looks_up): (&'m ObjectType, bool)) {
        let many = matches!(action.target, WriteTarget::Read { many: true, .. });
        if let WriteTarget::Read { find, .. } = &action.target {
            self.find(find);
        }
        let unique = ty.fields.values().any(|field| field.rules.unique);
        let replicated = self.model.item(&ty.name).is_some_and(|(_, keys)| keys.replicas().is_some());
        let clears = may_clear(self.model, action, ty);
        let alone = write.is_alone();
        // A transaction gives no item, so that what the field returns is read after it.
        let transaction = self.single_writes == SingleWrites::Transaction || write.idempotency.is_some();
        let several = self.is_transaction(write, ty, looks_up);
        let is_looked_up = matches!(action.target, WriteTarget::Read { .. });
        let written = action.at.as_ref().map_or(Some(ty), |element| self.model.types.get(&element.element));
        // If its answer is lost, the item shows by a generated value whether the write was made.
        let generates = written.is_some_and(|ty| {
            let by_default = ty.fields.values().filter_map(|field| field.rules.default.as_ref());
            by_default.chain(action.values.values().filter_map(WrittenValue::made)).any(DefaultValue::is_random)
        });
        let shows = generates && !matches!(action.kind, ActionKind::Delete { .. } | ActionKind::Check);
        let is_returned = write.returns_action(position);
        // An action that cannot be drafted reveals nothing of its item if a condition before it does not hold.
        let judged = !alone && action.condition.is_some();
        let cascade: &[Vec<String>] = if let ActionKind::Delete { cascade } = &action.kind { cascade } else { &[] };
        let (reads_first, changes_unique) = self.update_needs(action, ty);
        self.change(&ty.name, |table| {
            match (&action.kind, &action.at) {
                (ActionKind::Put { replace }, None) => {
                    table.puts = true;
                    // The replaced item may have guards that the new one does not need.
                    table.gets |= unique && *replace;
                    table.deletes |= unique && *replace || clears;
                }
                (ActionKind::Put { .. } | ActionKind::Update { .. } | ActionKind::Delete { .. }, Some(element)) => {
                    table.updates = true;
                    table.gets |= element.by.is_some() || several && is_returned;
                }
                (ActionKind::Update { moves, .. }, None) => {
                    table.updates = true;
                    table.gets |= reads_first || several && is_returned || *moves;
                    table.puts |= changes_unique || *moves;
                    table.deletes |= changes_unique || clears || *moves;
                    table.checks |= *moves && is_looked_up;
                }
                (ActionKind::Delete { .. }, None) => {
                    table.deletes = true;
                    table.gets |= transaction || !alone || looks_up || unique || replicated || !cascade.is_empty();
                    // More items than a transaction holds are deleted in batches.
                    table.batches |= many && alone && write.idempotency.is_none();
                }
                (ActionKind::Check, _) => table.checks = true,
            }
            table.gets |= judged || replicated || shows || !write.calls.is_empty();
            // Replicas that do not fit into the transaction are made equal afterwards.
            table.batches |= replicated && !matches!(action.kind, ActionKind::Check);
        });
        self.cascade(write, ty, cascade, looks_up);
    }

    /// What a cascade needs: its dependents are deleted, in batches if they do not fit into the transaction.
    fn cascade(&mut self, write: &Write, ty: &'m ObjectType, cascade: &[Vec<String>], looks_up: bool) {
        for path in cascade {
            if let Some(dependent) = self.end_of(ty, path) {
                self.change(&dependent.name, |table| (table.deletes, table.batches) = (true, true));
            }
        }
        if !cascade.is_empty() && (looks_up || self.demands(write)) {
            // What does not fit is deleted first, if the conditions of the whole write hold.
            write.actions.iter().for_each(|action| self.change(&action.item, |table| table.checks = true));
        }
    }

    /// Whether a write may be refused because of what the items hold.
    fn demands(&self, write: &Write) -> bool {
        let of_action = |action: &Action| {
            let Some(ty) = self.model.types.get(&action.item) else { return false };
            let has_unique = ty.fields.values().any(|field| field.rules.unique);
            let makes = matches!(action.kind, ActionKind::Put { replace: false }) && action.at.is_none();
            let guards = has_unique && matches!(action.kind, ActionKind::Put { .. } | ActionKind::Update { .. });
            let ruled = write.demanded(action, ty).iter().any(|(_, rules, asked)| rules.need_item(*asked));
            action.condition.is_some() || action.seen_version(ty).is_some() || makes || guards || ruled
        };
        !write.finds.is_empty() || write.actions.iter().any(of_action)
    }

    /// Whether an update may read its item first, and whether it may change values that are unique: keys of indexes,
    /// guards and defaults are made of what the item has.
    fn update_needs(&self, action: &Action, ty: &ObjectType) -> (bool, bool) {
        let (ActionKind::Update { upsert, expression, .. }, Some((_, keys))) =
            (&action.kind, self.model.item(&ty.name))
        else {
            return (false, false);
        };
        let of_expression = expression.iter().flat_map(|update| update.changes.keys());
        let changed: BTreeSet<&str> = action.values.keys().chain(of_expression).map(String::as_str).collect();
        let sets_time = ty.time_field().is_some_and(|time| changed.contains(time.as_str()));
        let unique = ty
            .fields
            .values()
            .any(|field| field.rules.unique && (*upsert || sets_time || changed.contains(field.name.as_str())));
        // The item that was found tells its key only.
        let nothing = IndexMap::new();
        let known = match &action.target {
            WriteTarget::Key(known) => known,
            WriteTarget::Found(_) => &nothing,
            WriteTarget::Read { .. } => return (false, unique),
        };
        let table = &self.model.tables[keys.table];
        let of_indexes = keys.keys.iter().filter(|(key, _)| !table.is_primary_key(key));
        // A key with one changed field needs nothing more, unless another program assigned its shard, nor does one that
        // is the attribute of its field.
        let needs_more = |(key, templates): (&String, &Vec<Template>)| {
            let fields: BTreeSet<&str> = templates
                .iter()
                .flat_map(Template::deciding_fields)
                .filter(|field| !known.contains_key(*field))
                .collect();
            let is_itself = fields
                .iter()
                .any(|field| ty.stored(field).is_some_and(|stored| stored.attribute.as_ref() == Some(key)));
            let number = templates.iter().any(Template::has_assigned);
            !is_itself && (fields.len() > 1 || number) && fields.iter().any(|field| changed.contains(field))
        };
        let defaults = ty.defaults.iter().filter_map(|name| ty.fields.get(name)?.rules.default.as_ref());
        let of_others = defaults.flat_map(|default| default.fields()).any(|field| !known.contains_key(field));
        (*upsert || unique || of_others || of_indexes.into_iter().any(needs_more), unique)
    }

    /// The item type to which a path of relations leads.
    fn end_of(&self, ty: &'m ObjectType, path: &[String]) -> Option<&'m ObjectType> {
        path.iter().try_fold(ty, |at, name| match &at.fields.get(name)?.kind {
            FieldKind::Find(find) => self.model.types.get(&find.item),
            _ => None,
        })
    }
}

impl TableRights {
    fn read(&mut self, path: &AccessPath, index_lacks: bool) {
        match path.access {
            Access::Get { .. } => self.gets = true,
            Access::Query { .. } => _ = self.queries.insert(path.index),
            Access::Scan => _ = self.scans.insert(path.index),
        }
        self.gets |= path.index.is_some() && index_lacks;
    }
}

/// Whether an action may delete an item that has expired, so that a new one can take its place: one with guards, which
/// go with it, one that an upsert must not merge into, and one of another type.
fn may_clear(model: &Model, action: &Action, ty: &ObjectType) -> bool {
    let expires = identity::expires(ty).is_some();
    let unique = || ty.fields.values().any(|field| field.rules.unique);
    let (makes, clears_own) = match (&action.kind, &action.at) {
        (ActionKind::Put { .. }, None) => (true, expires && unique()),
        (ActionKind::Update { upsert, .. }, None) => (*upsert, *upsert && expires),
        _ => (false, false),
    };
    clears_own || makes && identity::may_meet_expired(model, ty)
}

/// Whether an action changes its item whatever arguments a request gives.
fn changes_surely(field: &Field, action: &Action, ty: &ObjectType) -> bool {
    let ActionKind::Update { expression, .. } = &action.kind else { return true };
    let is_given =
        |name: &str| field.arguments.iter().any(|argument| argument.name == name && argument.ty.is_non_null());
    let is_sure = |source: &Source| match source {
        Source::Argument(name) => is_given(name),
        Source::Claim(_) | Source::Item(..) => true,
        Source::Parent(_) | Source::Text(_) => false,
    };
    let is_written = |value: &WrittenValue| {
        let given = value.source().is_some_and(|source| source.leaves().into_iter().all(is_sure));
        given || value.made().is_some() || value.default.is_some()
    };
    let is_changed = |update: &Update| {
        let is_operand = |operand: &Operand| !matches!(operand, Operand::Argument(name, _) if !is_given(name));
        !update.remove.is_empty() || update.changes.values().flatten().any(is_operand)
    };
    let has_version = ty.fields.values().any(|field| field.rules.version);
    has_version || action.values.values().any(is_written) || expression.as_deref().is_some_and(is_changed)
}

/// Whether a write has actions for each element of a list.
fn each(write: &Write) -> bool {
    write.actions.iter().any(|action| action.each.is_some())
}

/// Whether an action is sure to be on the item that the write's find has found.
fn is_of_found(action: &Action, (alias, find): (&str, &Find)) -> bool {
    let of_found = |source: &Source| matches!(source, Source::Item(of, _) if of == alias);
    match &action.target {
        WriteTarget::Found(of) => of == alias,
        WriteTarget::Key(sources) => action.item == find.item && !sources.is_empty() && sources.values().all(of_found),
        WriteTarget::Read { .. } => false,
    }
}
