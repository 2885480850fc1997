//! Access patterns that sources name in, the fields of `Query` and `Mutation` for them out.

use super::{ApiDraft, FieldDraft, FindDraft, MutationDraft, TypeDraft, names};
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
        let sort = table.keys_of(index.map_or(Some(None), |index| index.map(Some))?).1?;
        let of_key = ty.fields_of(&sort.name).into_iter().map(|at| &ty.fields[at]);
        let own = ty.fields.iter().filter(|field| field.attribute.as_deref() == Some(sort.name.as_str()));
        let next = of_key.chain(own).find(|field| !bound.iter().any(|bound| bound.name == field.name))?;
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
    let is_leaf = |field: &&FieldDraft| draft.object_of(field).is_none();
    let argument =
        |field: &FieldDraft| (field.name.clone(), format!("{}{}", field.scalar, if field.required { "!" } else { "" }));
    let keys = || ty.fields.iter().filter(|field| field.required);
    let (directive, arguments): (&str, Vec<(String, String)>) = match pattern.action {
        PatternAction::Read => return None,
        PatternAction::Put => ("@put", ty.fields.iter().filter(is_leaf).map(argument).collect()),
        PatternAction::Delete => ("@delete", keys().map(argument).collect()),
        PatternAction::Update => {
            let named = pattern.equals.iter().filter_map(|name| field(ty, name)).filter(|field| !field.required);
            let mut changed: Vec<(String, String)> = named.filter(|field| is_leaf(field)).map(argument).collect();
            if changed.is_empty() {
                changed = ty.fields.iter().filter(|field| !field.required && is_leaf(field)).map(argument).collect();
            }
            ("@update", keys().map(argument).chain(changed).collect())
        }
    };
    Some(MutationDraft {
        name: names::field_name(&pattern.name),
        description: pattern.description.clone(),
        arguments,
        target: ty.name.clone(),
        directive,
    })
}
