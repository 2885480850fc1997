//! A model in; the shortest paths of fields to the objects of each type out. Must not know values.

use crate::schema::model::find::{Find, Returns, Via};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, TypeKind};
use std::collections::HashMap;

/// A field of a path: its type, and its name.
pub type Hop = (String, String);

/// How much longer a path counts if it also returns objects of other types.
const SEVERAL_TYPES: u32 = 2;

/// For each type that `Query` leads to, the paths: one for each field that returns objects of the type.
pub struct Ways {
    root: Option<String>,
    ways: HashMap<String, Vec<(u32, Vec<Hop>)>>,
}

impl Ways {
    /// The paths of a model. Fields that return one object count as shorter than lists.
    pub fn new(model: &Model) -> Self {
        let root = query(model).map(|root| root.name.clone());
        let mut shortest: HashMap<String, (u32, Vec<Hop>)> = HashMap::new();
        shortest.extend(root.iter().map(|root| (root.clone(), (0, Vec::new()))));
        // A path has each type at most once, so nothing changes after as many rounds.
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
        // Paths of one length stay in the order of the schema.
        ways.values_mut().for_each(|ways| ways.sort_by_key(|(length, _)| *length));
        Self { root, ways }
    }

    /// The paths from `Query` to a type, the shortest first; for `Query` itself one empty path.
    pub fn to(&self, type_name: &str) -> Vec<&[Hop]> {
        if self.root.as_deref() == Some(type_name) {
            return vec![&[]];
        }
        self.ways.get(type_name).into_iter().flatten().map(|(_, way)| way.as_slice()).collect()
    }
}

/// Each field of a reached type that returns objects: their type, and the path to it with its length.
fn steps(model: &Model, reached: &HashMap<String, (u32, Vec<Hop>)>) -> Vec<(String, u32, Vec<Hop>)> {
    let mut steps = Vec::new();
    for object in model.types.values() {
        let Some((length, way)) = reached.get(&object.name) else { continue };
        for (field, find) in finds(model, object) {
            let Some(step) = step(find) else { continue };
            let hop = (object.name.clone(), field.to_owned());
            let way: Vec<Hop> = way.iter().cloned().chain([hop]).collect();
            match &find.via {
                Via::AbstractType(shared) => steps.extend(
                    shared.members.iter().map(|member| (member.clone(), length + step + SEVERAL_TYPES, way.clone())),
                ),
                _ => steps.push((find.item.clone(), length + step, way)),
            }
        }
        for field in object.fields.values() {
            let FieldKind::Stored(stored) = &field.kind else { continue };
            let Some(inner) = stored.value.embedded() else { continue };
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

/// The accessible fields, those of root types first, otherwise in the order of the schema.
pub fn fields(model: &Model) -> Vec<(&ObjectType, &Field)> {
    let fields = model.types.values().flat_map(|object| object.fields.values().map(move |field| (object, field)));
    let mut fields: Vec<_> =
        fields.filter(|(object, field)| model.api.type_field(&object.name, &field.name).is_ok()).collect();
    fields.sort_by_key(|(object, _)| !matches!(object.kind, TypeKind::Root));
    fields
}

/// The fields of an object that read items and are not inaccessible.
pub fn finds<'m>(model: &'m Model, object: &'m ObjectType) -> impl Iterator<Item = (&'m str, &'m Find)> {
    object.fields.values().filter_map(|field| match &field.kind {
        FieldKind::Find(find) if model.api.type_field(&object.name, &field.name).is_ok() => {
            Some((field.name.as_str(), find))
        }
        _ => None,
    })
}

/// The length of a field; `None` if it returns no objects.
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
