//! The checked types in; out: a warning for each move that leaves related items behind. Must not know how relations are
//! read.
//!
//! What belongs to an item has its whole key, as the comments of a card that is found by its list and its id. So a
//! relation that binds less of the key, such as the one from a card to its list, follows the move.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::model::find::{Access, Find, SharedKeys, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, Write};
use crate::schema::model::{FieldKind, ObjectType, TypeKind};
use crate::schema::types::draft::SchemaDraft;
use crate::schema::writes::directive::ActionDirective;
use indexmap::IndexMap;

/// Warns of moves that leave related items behind.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for ty in types.values() {
        for field in ty.fields.values() {
            let FieldKind::Write(write) = &field.kind else { continue };
            let of = draft.schema.get_object(&ty.name).and_then(|of| of.fields.get(field.name.as_str()));
            let directives = of.map(|declared| ActionDirective::all(declared)).unwrap_or_default();
            for (directive, action) in directives.iter().zip(firsts(write)) {
                for action in write.actions.iter().filter(|one| one.first() == action.position) {
                    check_action(draft, types, (action, directive), findings);
                }
            }
        }
    }
}

/// The first alternative of each directive.
fn firsts(write: &Write) -> impl Iterator<Item = &Action> {
    write.actions.iter().filter(|action| action.first() == action.position)
}

fn check_action(
    draft: &SchemaDraft,
    types: &IndexMap<String, ObjectType>,
    (action, directive): (&Action, &ActionDirective),
    findings: &mut Findings,
) {
    if !action.moves() {
        return;
    }
    let Some(keys) = draft.items.get(&action.item) else { return };
    let Some(table) = draft.tables.get(keys.table) else { return };
    let key = keys.primary_fields(table);
    let changed: Vec<&str> = key.iter().copied().filter(|field| action.values.contains_key(*field)).collect();
    let moved = MovedKey { item: &action.item, key: &key, changed: &changed };
    let related: Vec<String> = types.values().flat_map(|ty| moved.relations_of(ty)).collect();
    if related.is_empty() {
        return;
    }
    let names: Vec<&str> = related.iter().map(String::as_str).collect();
    let message = format!(
        "this moves a `{}`, but not what {} {} to it: their keys keep {}",
        action.item,
        list(&names),
        if names.len() == 1 { "relates" } else { "relate" },
        list(&changed)
    );
    let help = "move these items in the same field, or give their keys a field that does not change";
    findings.warning(rules::KF0728, &directive.span, message, Some(help.into()));
}

/// The key of an item that moves.
struct MovedKey<'a> {
    /// Its type.
    item: &'a str,
    /// The fields of its key.
    key: &'a [&'a str],
    /// Those that the move changes.
    changed: &'a [&'a str],
}

impl MovedKey<'_> {
    /// The relations of a type that the move breaks, by their coordinates.
    fn relations_of(&self, ty: &ObjectType) -> Vec<String> {
        let is_broken = |find: &Find| ty.name == self.item && self.is_of_item(find) || self.leads_to(find);
        let relations = ty.fields.values().filter(|_| matches!(ty.kind, TypeKind::Item(_)));
        let broken = relations.filter(|field| matches!(&field.kind, FieldKind::Find(find) if is_broken(find)));
        broken.map(|field| format!("{}.{}", ty.name, field.name)).collect()
    }

    /// Whether a relation of the item finds others by its whole key.
    fn is_of_item(&self, find: &Find) -> bool {
        let leaves: Vec<&Source> = find.sources().into_iter().flat_map(Source::leaves).collect();
        let binds = |field: &str| leaves.iter().any(|leaf| matches!(leaf, Source::Parent(name) if name == field));
        self.changed.iter().any(|field| binds(field)) && self.key.iter().all(|field| binds(field))
    }

    /// Whether a relation of another item finds this one by its key.
    fn leads_to(&self, find: &Find) -> bool {
        let paths = match &find.via {
            Via::Keys(paths) if find.item == self.item => paths,
            Via::AbstractType(SharedKeys { members, paths, .. }) if members.iter().any(|one| one == self.item) => paths,
            Via::Keys(_) | Via::AbstractType(_) | Via::Through(_) => return false,
        };
        let by_parent = |source: &Source| source.leaves().into_iter().any(|leaf| matches!(leaf, Source::Parent(_)));
        paths
            .iter()
            .filter(|path| matches!(path.access, Access::Get { .. }))
            .any(|path| self.changed.iter().any(|field| path.bindings.get(*field).is_some_and(by_parent)))
    }
}
