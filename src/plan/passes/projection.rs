//! Reads and the fields that they must provide in; out: the attributes that each read asks for. These include the keys.
//!
//! All Gets of a table ask for the same attributes: BatchGetItem has one projection per table, and a key that two
//! places of an operation need is read once.

use super::draft::DraftRead;
use crate::plan::attributes::{asked_for, key_attributes};
use crate::plan::tree::*;
use crate::schema::model::auth::AuthAction;
use crate::schema::model::{Model, ObjectType};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The attributes that a read asks for, sorted.
pub type AskedAttributes = Arc<[Arc<str>]>;

/// The attributes of a read.
pub struct ReadAttributes {
    /// Those that it asks for.
    pub asked: AskedAttributes,
    /// Those that it needs itself.
    pub own: AskedAttributes,
}

/// The projection of every read. Unless `only_wanted`, a read asks for all fields of its items. With `as_stored`, a
/// field's own attribute is asked for even if a key holds its value too.
pub fn projections(model: &Model, reads: &[DraftRead<'_>], only_wanted: bool, as_stored: bool) -> Vec<ReadAttributes> {
    let mut of_table: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
    let own: Vec<BTreeSet<String>> = reads.iter().map(|read| attributes(model, read, only_wanted, as_stored)).collect();
    for (read, attributes) in reads.iter().zip(&own) {
        if !matches!(read.action, ReadAction::Query(_)) {
            of_table.entry(read.table).or_default().extend(attributes.iter().map(String::as_str));
        }
    }
    let of_table: BTreeMap<usize, AskedAttributes> = of_table
        .into_iter()
        .map(|(table, attributes)| (table, attributes.into_iter().map(Arc::from).collect()))
        .collect();
    let projection = |(read, own): (&DraftRead<'_>, &BTreeSet<String>)| {
        let shared = of_table.get(&read.table).filter(|_| !matches!(read.action, ReadAction::Query(_)));
        let own = match shared.filter(|shared| shared.len() == own.len()) {
            Some(same) => same.clone(),
            None => own.iter().map(|name| name.as_str().into()).collect(),
        };
        ReadAttributes { asked: shared.unwrap_or(&own).clone(), own }
    };
    reads.iter().zip(&own).map(projection).collect()
}

fn attributes(model: &Model, read: &DraftRead<'_>, only_wanted: bool, as_stored: bool) -> BTreeSet<String> {
    let table = &model.tables[read.table];
    let mut names: BTreeSet<String> =
        key_attributes(table, read.index).into_iter().map(|key| key.name.clone()).collect();
    let narrower =
        read.discriminator.types.iter().flat_map(|marks| &marks.narrower).flat_map(|narrower| &narrower.constants);
    let constants =
        read.discriminator.types.iter().flat_map(|marks| &marks.constants).chain(narrower).map(|(name, _)| name);
    let telling = constants.chain(read.discriminator.times());
    names.extend(telling.filter(|name| table.holds(read.index, name)).cloned());
    let types = read.discriminator.types.iter().filter_map(|marks| model.types.get(&marks.item));
    let asked = types.clone().flat_map(ObjectType::asked_attributes).filter(|name| table.holds(read.index, name));
    names.extend(asked.map(str::to_owned));
    names.extend(read.ruled.iter().cloned());
    let conjuncts = read.action.item_filter().into_iter().flat_map(|filter| &filter.conjuncts);
    names.extend(conjuncts.flat_map(|conjunct| conjunct.condition.attributes()).map(str::to_owned));
    let hidden = types.clone().filter(|ty| ty.auth.hide());
    let looked_up = hidden.flat_map(|ty| {
        ty.auth
            .each(AuthAction::Read)
            .filter_map(|rule| rule.lookup())
            .flat_map(move |lookup| lookup.parent_fields().into_iter().map(move |field| (ty, field)))
    });
    let whole =
        types.clone().filter(|_| !only_wanted).flat_map(|ty| ty.fields.keys().map(move |field| (ty, field.as_str())));
    let wanted = read.wanted.iter().filter(|_| only_wanted).map(|(ty, field)| (*ty, field.as_str()));
    for (ty, field) in wanted.chain(whole).chain(looked_up) {
        let Some(stored) = ty.stored(field) else { continue };
        let own = stored.attribute.iter().filter(|attribute| as_stored && table.holds(read.index, attribute));
        names.extend(asked_for(table, ty, read.index, field).into_iter().chain(own).cloned());
    }
    names
}
