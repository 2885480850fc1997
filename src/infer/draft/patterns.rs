//! Access patterns that sources name in, the fields of `Query` and `Mutation` for them out.

use super::{ApiDraft, FieldDraft, FindDraft, MutationDraft, TypeDraft, names};
use crate::schema::table::KeyAttribute;
use crate::sources::material::{PatternAction, PatternHint, RangeHint};

/// The finds for patterns that read.
pub fn finds(draft: &ApiDraft, patterns: &[PatternHint]) -> Vec<FindDraft> {
    patterns.iter().filter(|pattern| pattern.action == PatternAction::Read).filter_map(|of| find(draft, of)).collect()
}

/// The fields of `Mutation` for patterns that write.
pub fn writes(draft: &ApiDraft, patterns: &[PatternHint]) -> Vec<MutationDraft> {
    let mut writes: Vec<MutationDraft> = Vec::new();
    for pattern in patterns {
        if let Some(mut write) = write(draft, pattern) {
            write.name = names::free(&write.name, |name| writes.iter().any(|write| write.name == name));
            writes.push(write);
        }
    }
    writes
}

fn type_of<'d>(draft: &'d ApiDraft, pattern: &PatternHint) -> Option<&'d TypeDraft> {
    let name = names::type_name(&pattern.of);
    draft.types.iter().find(|ty| ty.name == name)
}

/// The field that a pattern calls by an attribute or a parameter.
fn field<'t>(ty: &'t TypeDraft, name: &str) -> Option<&'t FieldDraft> {
    let is_named =
        |field: &&FieldDraft| field.hint.as_deref() == Some(name) || field.attribute.as_deref() == Some(name);
    ty.fields.iter().find(is_named).or_else(|| ty.fields.iter().find(|field| field.name == names::field_name(name)))
}

fn find(draft: &ApiDraft, pattern: &PatternHint) -> Option<FindDraft> {
    let ty = type_of(draft, pattern)?;
    let table = &draft.tables[ty.table];
    let bound: Vec<&FieldDraft> = pattern.equals.iter().map(|name| field(ty, name)).collect::<Option<_>>()?;
    let mut arguments: Vec<(String, String)> =
        bound.iter().map(|field| (field.name.clone(), format!("{}!", field.scalar))).collect();
    let mut bindings = Vec::new();
    if let Some((range, parameters)) = &pattern.range {
        let index = pattern.index.as_ref().map(|name| table.indexes.iter().position(|index| index.name == *name));
        let sorts = table.keys_of(index.map_or(Some(None), |index| index.map(Some))?).sort;
        let fields_of = |sort: &KeyAttribute| {
            let of_key = ty.fields_of(&sort.name).into_iter().map(|at| &ty.fields[at]);
            let own = ty.fields.iter().filter(|field| field.attribute.as_deref() == Some(sort.name.as_str()));
            of_key.chain(own).collect::<Vec<_>>()
        };
        let mut of_keys = sorts.iter().flat_map(fields_of);
        let next = of_keys.find(|field| !bound.iter().any(|bound| bound.name == field.name))?;
        let names: Vec<String> = parameters.iter().map(|name| names::field_name(name)).collect();
        arguments.extend(names.iter().map(|name| (name.clone(), format!("{}!", next.scalar))));
        bindings.push((next.name.clone(), ranged(*range, &names)?));
    }
    Some(FindDraft {
        name: names::field_name(&pattern.name),
        description: pattern.description.clone(),
        arguments,
        target: ty.name.clone(),
        list: !pattern.single,
        bindings,
        index: pattern.index.clone(),
    })
}

fn ranged(range: RangeHint, names: &[String]) -> Option<String> {
    let first = names.first()?;
    Some(match range {
        RangeHint::Lt => format!("{{ lt: \"{{{first}}}\" }}"),
        RangeHint::Le => format!("{{ le: \"{{{first}}}\" }}"),
        RangeHint::Gt => format!("{{ gt: \"{{{first}}}\" }}"),
        RangeHint::Ge => format!("{{ ge: \"{{{first}}}\" }}"),
        RangeHint::BeginsWith => format!("{{ beginsWith: \"{{{first}}}\" }}"),
        RangeHint::Between => format!("{{ between: [\"{{{first}}}\", \"{{{}}}\"] }}", names.get(1)?),
    })
}

fn write(draft: &ApiDraft, pattern: &PatternHint) -> Option<MutationDraft> {
    let ty = type_of(draft, pattern).filter(|ty| !ty.read_only)?;
    let named: Vec<&FieldDraft> = pattern.equals.iter().filter_map(|name| field(ty, name)).collect();
    let mutation = mutation((draft, ty), pattern.action, &named)?;
    Some(MutationDraft { name: names::field_name(&pattern.name), description: pattern.description.clone(), ..mutation })
}

/// Adds the fields of `Mutation` that put, update and delete the items of each type, unless there is such a field.
pub fn add_writes(draft: &mut ApiDraft) {
    let actions = [PatternAction::Put, PatternAction::Update, PatternAction::Delete];
    let of_type = |ty| actions.iter().map(move |action| (ty, *action));
    let all: Vec<(&TypeDraft, PatternAction)> =
        draft.types.iter().filter(|ty| !ty.read_only).flat_map(of_type).collect();
    let made: Vec<MutationDraft> =
        all.into_iter().filter_map(|(ty, action)| mutation((draft, ty), action, &[])).collect();
    for mut write in made {
        let is_same = |known: &MutationDraft| known.target == write.target && known.directive == write.directive;
        if !draft.writes.iter().any(is_same) {
            write.name = names::free(&write.name, |name| draft.writes.iter().any(|write| write.name == name));
            draft.writes.push(write);
        }
    }
}

/// The field of `Mutation` that does something to the items of a type. An update changes the fields that are `named`,
/// or else all; `None`: there is nothing to change.
fn mutation(
    (draft, ty): (&ApiDraft, &TypeDraft),
    action: PatternAction,
    named: &[&FieldDraft],
) -> Option<MutationDraft> {
    let is_leaf = |field: &&FieldDraft| draft.object_of(field).is_none();
    let argument =
        |field: &FieldDraft| (field.name.clone(), format!("{}{}", field.scalar, if field.required { "!" } else { "" }));
    let keys = || ty.fields.iter().filter(|field| field.required);
    let (verb, directive, arguments): (&str, &str, Vec<(String, String)>) = match action {
        PatternAction::Read => return None,
        PatternAction::Put => ("put", "@put", ty.fields.iter().filter(is_leaf).map(argument).collect()),
        PatternAction::Delete => ("delete", "@delete", keys().map(argument).collect()),
        PatternAction::Update => {
            let is_changed = |field: &&FieldDraft| !field.required && is_leaf(field);
            let named = named.iter().copied().filter(is_changed);
            let mut changed: Vec<(String, String)> = named.map(argument).collect();
            if changed.is_empty() {
                changed = ty.fields.iter().filter(is_changed).map(argument).collect();
            }
            if changed.is_empty() {
                return None;
            }
            ("update", "@update", keys().map(argument).chain(changed).collect())
        }
    };
    let name = format!("{verb}{}", ty.name);
    Some(MutationDraft { name, description: None, arguments, target: ty.name.clone(), directive })
}
