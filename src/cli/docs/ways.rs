//! A model in; for each object type the shortest way of fields that leads to its objects out. Must not know values.

use crate::schema::model::find::{Find, Returns, Via};
use crate::schema::model::{FieldKind, Model, ObjectType, Stored, TypeKind};
use crate::schema::scalar::value_type::ValueType;
use std::collections::HashMap;

/// A field on a way: the type that has it, and its name.
pub type Hop = (String, String);

/// How much longer a way is on which objects of other types are met.
const MIXED: u32 = 2;

/// For each type that `Query` leads to, the fields on the ways, a way for each field that gives the type's objects.
pub struct Ways {
    root: Option<String>,
    ways: HashMap<String, Vec<(u32, Vec<Hop>)>>,
}

impl Ways {
    /// The ways of a model. Fields that give one object are shorter than those that give many.
    pub fn of(model: &Model) -> Self {
        let root = query(model).map(|root| root.name.clone());
        let mut shortest: HashMap<String, (u32, Vec<Hop>)> = HashMap::new();
        shortest.extend(root.iter().map(|root| (root.clone(), (0, Vec::new()))));
        // A way has each type once at most, so that after as many rounds nothing changes any more.
        for _ in 0..model.types.len() {
            let mut changed = false;
            for (item, length, way) in steps(model, &shortest) {
                if shortest.get(&item).is_none_or(|(known, _)| *known > length) {
                    shortest.insert(item, (length, way));
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        let mut ways: HashMap<String, Vec<(u32, Vec<Hop>)>> = HashMap::new();
        for (item, length, way) in steps(model, &shortest) {
            ways.entry(item).or_default().push((length, way));
        }
        // Ways of one length stay in the order of the schema.
        ways.values_mut().for_each(|ways| ways.sort_by_key(|(length, _)| *length));
        Self { root, ways }
    }

    /// The fields that lead from `Query` to a type, the shortest way first; for `Query` itself one way without any.
    pub fn to(&self, type_name: &str) -> Vec<&[Hop]> {
        if self.root.as_deref() == Some(type_name) {
            return vec![&[]];
        }
        self.ways.get(type_name).into_iter().flatten().map(|(_, way)| way.as_slice()).collect()
    }
}

/// Each field that leads on from a type that is reached: the type that it gives, and the way there with its length.
fn steps(model: &Model, reached: &HashMap<String, (u32, Vec<Hop>)>) -> Vec<(String, u32, Vec<Hop>)> {
    let mut steps = Vec::new();
    for object in model.types.values() {
        let Some((length, way)) = reached.get(&object.name) else { continue };
        for (field, find) in finds(model, object) {
            let Some(step) = step(find) else { continue };
            let hop = (object.name.clone(), field.to_owned());
            let way: Vec<Hop> = way.iter().cloned().chain([hop]).collect();
            match &find.via {
                Via::Mixed(mixed) => steps.extend(mixed.members.iter().map(|member| (member.clone(), length + step + MIXED, way.clone()))),
                _ => steps.push((find.item.clone(), length + step, way)),
            }
        }
        for field in object.fields.values() {
            let FieldKind::Stored(Stored { value: ValueType::Embedded(inner), .. }) = &field.kind else { continue };
            if model.api.type_field(&object.name, &field.name).is_ok() {
                let hop = (object.name.clone(), field.name.clone());
                steps.push((inner.clone(), length + 1, way.iter().cloned().chain([hop]).collect()));
            }
        }
    }
    steps
}

/// The root type of queries.
pub fn query(model: &Model) -> Option<&ObjectType> {
    let root = model.api.root_operation(apollo_compiler::ast::OperationType::Query)?;
    model.types.get(root.as_str())
}

/// The fields of an object that clients see and that read items.
pub fn finds<'m>(model: &'m Model, object: &'m ObjectType) -> impl Iterator<Item = (&'m str, &'m Find)> {
    object.fields.values().filter_map(|field| match &field.kind {
        FieldKind::Find(find) if model.api.type_field(&object.name, &field.name).is_ok() => Some((field.name.as_str(), find)),
        _ => None,
    })
}

/// How long a step is; `None` for a field that leads to no objects.
fn step(find: &Find) -> Option<u32> {
    let through = if matches!(find.via, Via::Through(_)) { 4 } else { 0 };
    match find.returns {
        Returns::One => Some(1 + through),
        Returns::List | Returns::Connection => Some(2 + through),
        _ => None,
    }
}

/// Whether a type's objects are items.
pub fn is_item(object: &ObjectType) -> bool {
    matches!(object.kind, TypeKind::Item(_))
}
