//! Reads and the fields that they must provide in; out: the attributes that each read asks for. These include the keys.
//!
//! All Gets of a table ask for the same attributes: BatchGetItem has one projection per table, and a key that two places of an operation
//! need is read once.

use crate::plan::attributes::{asked_for, key_attributes};
use crate::plan::tree::*;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::{Model, ObjectType};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Gives every read its projection. `wanted` has the stored fields that each read must provide. With `as_stored`, a field's own attribute
/// is asked for even if a key holds its value too.
pub fn assign(model: &Model, reads: &mut [Read], wanted: &[Vec<(&ObjectType, String)>], as_stored: bool) {
    let mut of_table: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let own: Vec<BTreeSet<String>> = reads.iter().zip(wanted).map(|(read, fields)| attributes(model, read, fields, as_stored)).collect();
    for (read, attributes) in reads.iter().zip(&own) {
        if !matches!(read.action, ReadAction::Query(_)) {
            of_table.entry(read.table).or_default().extend(attributes.iter().map(String::as_str));
        }
    }
    let of_table: BTreeMap<usize, Arc<[Arc<str>]>> =
        of_table.into_iter().map(|(table, attributes)| (table, attributes.into_iter().map(Arc::from).collect())).collect();
    for (read, own) in reads.iter_mut().zip(&own) {
        read.projection = match (&read.action, of_table.get(&read.table)) {
            (ReadAction::Get(_) | ReadAction::FetchMissing(_), Some(shared)) => shared.clone(),
            _ => own.iter().map(|name| name.as_str().into()).collect(),
        };
    }
}

/// All fields of the items of each read: what a read provides if its plan does not choose.
pub fn of_whole_items<'m>(model: &'m Model, reads: &[Read]) -> Vec<Vec<(&'m ObjectType, String)>> {
    let types = |read: &Read| read.discriminator.types.iter().filter_map(|marks| model.types.get(&marks.item)).collect::<Vec<_>>();
    let fields = |ty: &'m ObjectType| ty.fields.keys().map(move |field| (ty, field.clone()));
    reads.iter().map(|read| types(read).into_iter().flat_map(fields).collect()).collect()
}

/// Gives every collection the attributes that its reads ask for together, and the age that all of them allow.
pub fn share(reads: &[Read], collections: &mut [Collection]) {
    for collection in collections {
        let all: BTreeSet<&Arc<str>> = collection.reads.iter().flat_map(|read| reads[*read].projection.iter()).collect();
        collection.projection = all.into_iter().cloned().collect();
        let ages: Option<Vec<u32>> = collection.reads.iter().map(|read| reads[*read].max_age).collect();
        collection.max_age = ages.and_then(|ages| ages.into_iter().min());
    }
}

fn attributes(model: &Model, read: &Read, fields: &[(&ObjectType, String)], as_stored: bool) -> BTreeSet<String> {
    let table = &model.tables[read.table];
    let mut names: BTreeSet<String> = key_attributes(table, read.index).into_iter().map(|key| key.name.clone()).collect();
    let narrower = read.discriminator.types.iter().flat_map(|marks| &marks.narrower).flat_map(|narrower| &narrower.constants);
    let constants = read.discriminator.types.iter().flat_map(|marks| &marks.constants).chain(narrower).map(|(name, _)| name);
    names.extend(constants.filter(|name| table.holds(read.index, name)).cloned());
    let types = read.discriminator.types.iter().filter_map(|marks| model.types.get(&marks.item));
    let asked = types.clone().flat_map(ObjectType::asked_attributes).filter(|name| table.holds(read.index, name));
    names.extend(asked.map(str::to_owned));
    names.extend(read.ruled.iter().cloned());
    let conjuncts = read.filter.iter().flat_map(|filter| &filter.conjuncts);
    names.extend(conjuncts.flat_map(|conjunct| conjunct.condition.attributes()).map(str::to_owned));
    let hidden = types.clone().filter(|ty| ty.auth.hide());
    let looked_up = hidden.flat_map(|ty| {
        ty.auth
            .each(AuthAction::Read)
            .filter_map(|rule| rule.lookup())
            .flat_map(move |lookup| lookup.parent_fields().into_iter().map(move |field| (ty, field)))
    });
    for (ty, field) in fields.iter().map(|(ty, field)| (*ty, field.as_str())).chain(looked_up) {
        let Some(stored) = ty.stored(field) else { continue };
        let own = stored.attribute.iter().filter(|attribute| as_stored && table.holds(read.index, attribute));
        names.extend(asked_for(table, ty, read.index, field).into_iter().chain(own).cloned());
    }
    names
}
