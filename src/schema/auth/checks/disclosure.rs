//! A find or a write in; out: a guarded field whose value its result discloses, although it does not return the field.
//! What is found by a value, filtered or sorted by it, discloses the value. Must not know how that is reported.

use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::Operand;
use crate::schema::model::auth::{AuthAction, LetsIn};
use crate::schema::model::find::{AccessPath, Find, Via};
use crate::schema::model::source::Source;
use crate::schema::model::watch::Watch;
use crate::schema::model::write::{Action, ActionKind, Write, WriteTarget, WrittenValue};
use crate::schema::model::{Field, FieldKind, ObjectType, TypeKind};
use crate::schema::table::Table;
use indexmap::IndexMap;

/// The tables and the types of the schema.
pub type SchemaParts<'a> = (&'a [Table], &'a IndexMap<String, ObjectType>);

/// A guarded field that a find of this parent discloses.
pub fn disclosed_by_find(parts: SchemaParts<'_>, parent: &ObjectType, find: &Find) -> Option<String> {
    let (_, types) = parts;
    let (members, paths): (Vec<&String>, _) = match &find.via {
        Via::Keys(paths) => (vec![&find.item], paths),
        Via::AbstractType(shared) => (shared.members.iter().collect(), &shared.paths),
        Via::Through(relations) => return disclosed_on_the_way(types, parent, relations),
    };
    let of_parent = || paths.iter().flat_map(AccessPath::parent_fields).find_map(|field| guarded(parent, field));
    let of_member = |member: &ObjectType| {
        // Searching by non-key fields reveals hidden items.
        let is_asked = member.auth.need_item(AuthAction::Read) && !member.auth.hide();
        if is_asked && (find.filter.is_some() || paths.iter().any(|path| path.index.is_some())) {
            return Some(member.name.clone());
        }
        let by_key =
            paths.iter().flat_map(|path| key_fields(parts.0, member, path)).find_map(|field| guarded(member, &field));
        by_key.or_else(|| find.filter.as_ref().and_then(|filter| disclosed_by_condition(member, filter)))
    };
    of_parent().or_else(|| members.into_iter().filter_map(|member| types.get(member)).find_map(of_member))
}

/// A guarded field that the changes which a subscription delivers disclose.
pub fn disclosed_by_watch(types: &IndexMap<String, ObjectType>, watch: &Watch) -> Option<String> {
    let ty = types.get(&watch.item)?;
    let bound = watch.bindings.keys().find_map(|field| guarded(ty, field));
    bound.or_else(|| watch.filter.as_ref().and_then(|filter| disclosed_by_condition(ty, filter)))
}

/// A guarded field that the success or the failure of a write discloses.
pub fn disclosed_by_write(parts: SchemaParts<'_>, parent: &ObjectType, write: &Write) -> Option<String> {
    let by_find = write.finds.iter().find_map(|found| disclosed_by_find(parts, parent, &found.find));
    let found: Vec<(&str, &ObjectType)> =
        write.finds.iter().filter_map(|found| Some((found.alias.as_str(), parts.1.get(&found.find.item)?))).collect();
    let by_found = || {
        let sources = || write.finds.iter().flat_map(|other| other.find.sources());
        found.iter().find_map(|found| taken_from(*found, sources()))
    };
    by_find.or_else(by_found).or_else(|| {
        write.actions.iter().find_map(|action| {
            let ty = parts.1.get(&action.item)?;
            let by_target = match &action.target {
                WriteTarget::Key(fields) => fields.keys().find_map(|field| guarded(ty, field)),
                WriteTarget::Found(_) => None,
                WriteTarget::Read { find, .. } => disclosed_by_find(parts, parent, find),
            };
            let is_unique =
                |field: &&String| action.at.is_none() && ty.fields.get(*field).is_some_and(|field| field.rules.unique);
            by_target
                .or_else(|| action.condition.as_ref().and_then(|condition| disclosed_by_condition(ty, condition)))
                .or_else(|| action.values.keys().filter(is_unique).find_map(|field| guarded(ty, field)))
                .or_else(|| found.iter().find_map(|found| copied_from(*found, action)))
                .or_else(|| disclosed_by_change(ty, action))
        })
    })
}

/// A guarded field of the found item with this alias that an action copies or names, or by which it finds its item.
fn copied_from((alias, found): (&str, &ObjectType), action: &Action) -> Option<String> {
    let finding: Vec<&Source> = match &action.target {
        WriteTarget::Key(fields) => fields.values().collect(),
        WriteTarget::Found(_) => Vec::new(),
        WriteTarget::Read { find, .. } => find.sources(),
    };
    let written = action.values.values().filter_map(WrittenValue::source);
    let arguments = action.condition.iter().flat_map(Condition::arguments).chain(action.named_by_expression());
    let named = arguments.filter_map(|name| name.strip_prefix(alias)?.strip_prefix('.'));
    taken_from((alias, found), finding.into_iter().chain(written))
        .or_else(|| named.into_iter().find_map(|field| guarded(found, field)))
}

/// A guarded field of the found item with this alias of which one of these values is made.
fn taken_from<'s>((alias, found): (&str, &ObjectType), sources: impl Iterator<Item = &'s Source>) -> Option<String> {
    let taken = sources.flat_map(Source::leaves).filter_map(|source| match source {
        Source::Item(of, field) if of == alias => Some(field),
        _ => None,
    });
    taken.into_iter().find_map(|field| guarded(found, field))
}

/// A guarded field whose value an action copies into another, or whose value decides whether the action succeeds.
fn disclosed_by_change(ty: &ObjectType, action: &Action) -> Option<String> {
    let by_element = || action.at.as_ref().and_then(|element| guarded(ty, &element.field));
    let by_version = || action.seen_version(ty).and_then(|version| guarded(ty, &version.name));
    let by_expression = || {
        let ActionKind::Update { expression: Some(expression), .. } = &action.kind else { return None };
        let is_bounded = |(name, value): &(&String, &Option<Operand>)| {
            value.is_none() && ty.fields.get(*name).is_some_and(|field| field.rules.constraint.is_some())
        };
        let computed = expression.changes.iter().filter(is_bounded).find_map(|(name, _)| guarded(ty, name));
        computed.or_else(|| expression.copied().into_iter().find_map(|attribute| guarded_attribute(ty, attribute)))
    };
    by_element().or_else(by_version).or_else(by_expression)
}

/// A guarded field of which the default of a stored field is made.
pub fn disclosed_by_default(ty: &ObjectType, field: &Field) -> Option<String> {
    field.rules.default.iter().flat_map(|default| default.fields()).find_map(|name| guarded(ty, name))
}

/// The first guarded relation on a path.
fn disclosed_on_the_way(
    types: &IndexMap<String, ObjectType>,
    parent: &ObjectType,
    relations: &[String],
) -> Option<String> {
    let mut at = parent;
    for name in relations {
        if let Some(disclosed) = guarded(at, name) {
            return Some(disclosed);
        }
        let FieldKind::Find(find) = &at.fields.get(name)?.kind else { return None };
        at = types.get(&find.item)?;
    }
    None
}

/// The coordinate of a field if not everybody who sees its object may read it.
fn guarded(ty: &ObjectType, field: &str) -> Option<String> {
    let rules = ty.fields.get(field)?.auth.for_action(AuthAction::Read);
    let is_guarded = !rules.is_empty() && rules.iter().all(|rule| !matches!(rule.lets_in, LetsIn::Everybody));
    is_guarded.then(|| format!("{}.{field}", ty.name))
}

/// The fields that bind a path, and those by which its key sorts.
fn key_fields(tables: &[Table], ty: &ObjectType, path: &AccessPath) -> Vec<String> {
    let mut fields: Vec<String> = path.bindings.keys().cloned().collect();
    let TypeKind::Item(keys) = &ty.kind else { return fields };
    let Some(table) = tables.get(keys.table) else { return fields };
    let templates = table.keys_of(path.index).all().filter_map(|key| keys.keys.get(&key.name)).flatten();
    fields.extend(templates.flat_map(|template| template.fields()).map(str::to_owned));
    fields
}

/// A guarded field that a condition reads.
fn disclosed_by_condition(ty: &ObjectType, condition: &Condition) -> Option<String> {
    condition.attributes().into_iter().find_map(|attribute| guarded_attribute(ty, attribute))
}

/// A guarded field that this attribute holds.
fn guarded_attribute(ty: &ObjectType, attribute: &str) -> Option<String> {
    ty.fields.iter().find_map(|(name, field)| {
        let FieldKind::Stored(stored) = &field.kind else { return None };
        let is_held = stored.attribute.iter().chain(&stored.keys).any(|held| held == attribute);
        if is_held { guarded(ty, name) } else { None }
    })
}
