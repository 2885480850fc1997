//! A model in, who may read and write each type and field out, as a table of 100 columns: the output of
//! `keyfold check --rules`.

use crate::cli::output::{line, wrapped};
use crate::schema::model::auth::{AuthAction, AuthRules};
use crate::schema::model::find::{Find, Via};
use crate::schema::model::source::Source;
use crate::schema::model::write::{Action, WriteTarget};
use crate::schema::model::{Field, FieldKind, Model, ObjectType, TypeKind};
use apollo_compiler::executable::{Selection, SelectionSet};
use indexmap::{IndexMap, IndexSet};

/// The widths of the columns. With two spaces between them, a line has 100.
const WIDTHS: [usize; 3] = [26, 35, 35];

/// What has no rule of its own and none of a type, in a schema with rules.
const WITHOUT_RULE: &str = "signed in, as it has no rule";

/// The table of all types and fields, or of one type and its fields.
pub fn table(model: &Model, of: Option<&str>) -> String {
    if !model.ruled {
        return "The schema has no rules: everybody may do everything that it offers.\n".to_owned();
    }
    let mut text = lines(["FIELD", "WHO READS IT", "WHO WRITES IT"]);
    for ty in model.types.values().filter(|ty| of.is_none_or(|name| ty.name == name)) {
        match &ty.kind {
            TypeKind::Item(_) => {
                let none = |text: Option<String>| text.unwrap_or_else(|| WITHOUT_RULE.to_owned());
                let hidden = if ty.auth.hide() { "; hidden from others" } else { "" };
                let in_key: String = claims_in_key(ty).map(|claim| format!("; {claim} is in its key")).collect();
                let reads = format!("{}{hidden}{in_key}", none(said(&ty.auth, AuthAction::Read)));
                text += &lines([&ty.name, &reads, &format!("{}{in_key}", none(said(&ty.auth, AuthAction::Write)))]);
                for field in ty.fields.values().filter(|field| {
                    let is_ruled = ty.read_with(field).any(|read| !read.auth.is_empty());
                    is_ruled || matches!(field.kind, FieldKind::Find(_) | FieldKind::Resolved(_))
                }) {
                    text += &row(model, ty, field);
                }
            }
            TypeKind::Root => text.extend(ty.fields.values().map(|field| row(model, ty, field))),
            TypeKind::Embedded
            | TypeKind::Connection(_)
            | TypeKind::Edge
            | TypeKind::PageInfo
            | TypeKind::Change(_)
            | TypeKind::Payload => {}
        }
    }
    text
}

/// A field and who may read and write it, besides those that its object's rules refuse.
fn row(model: &Model, ty: &ObjectType, field: &Field) -> String {
    let own = |action: AuthAction| said(&field.auth, action);
    let (reads, writes) = match &field.kind {
        FieldKind::Find(find) => (all(own(AuthAction::Read), find_reach(model, (ty, find)).into_iter()), String::new()),
        FieldKind::Write(write) => {
            let of_action = |action: &Action| {
                Some(TypeInReach::new(model.types.get(&action.item)?, action.asks(), claims_of_action(action)))
            };
            let of_found = write.finds.iter().flat_map(|found| find_reach(model, (ty, &found.find)));
            (String::new(), all(own(AuthAction::Write), of_found.chain(write.actions.iter().filter_map(of_action))))
        }
        FieldKind::Nodes(_) => {
            let own = own(AuthAction::Read).map(|own| format!("{own}; and "));
            (format!("{}as the type of each item", own.unwrap_or_default()), String::new())
        }
        FieldKind::Watch(watch) => {
            let of_watch = |ty: &ObjectType| TypeInReach::new(ty, AuthAction::Read, claims(watch.bindings.iter()));
            (all(own(AuthAction::Read), model.types.get(&watch.item).map(of_watch).into_iter()), String::new())
        }
        FieldKind::Computed(_) => {
            let mut read_with: Vec<String> =
                ty.read_with(field).filter_map(|read| said(&read.auth, AuthAction::Read)).collect();
            read_with.dedup();
            let reads = if read_with.is_empty() { format!("as {}", ty.name) } else { read_with.join("; and ") };
            (reads, "nobody: it is computed".to_owned())
        }
        FieldKind::Resolved(resolution) => {
            let mut required = Required::default();
            required.add(model, &resolution.requires);
            let parts = own(AuthAction::Read).into_iter().chain(required.fields);
            let rules = joined(parts.collect(), required.types.into_iter());
            let reads = if rules.is_empty() { format!("as {}", ty.name) } else { rules };
            (reads, "nobody: a service computes it".to_owned())
        }
        FieldKind::Stored(_) | FieldKind::GlobalId(_) | FieldKind::Page | FieldKind::Change(_) | FieldKind::Payload => {
            let as_type = || format!("as {}", ty.name);
            (own(AuthAction::Read).unwrap_or_else(as_type), own(AuthAction::Write).unwrap_or_else(as_type))
        }
    };
    lines([&format!("{}.{}", ty.name, field.name), &reads, &writes])
}

/// A type behind a field, and what is asked for its items.
struct TypeInReach {
    /// The type, and the claims that limit its items: `Tag with userId = auth.sub`, `Draft with auth.sub in its key`.
    items: String,
    /// Whether claims limit them.
    is_limited: bool,
    /// Its rules; `None` without any.
    rules: Option<String>,
}

impl TypeInReach {
    fn new(ty: &ObjectType, action: AuthAction, bound: Vec<String>) -> Self {
        let in_key = claims_in_key(ty).map(|claim| format!("{claim} in its key"));
        let limits: IndexSet<String> = bound.into_iter().chain(in_key).collect();
        let is_limited = !limits.is_empty();
        let with = if is_limited { format!(" with {}", Vec::from_iter(limits).join(" and ")) } else { String::new() };
        Self { items: format!("{}{with}", ty.name), is_limited, rules: said(&ty.auth, action) }
    }
}

/// What a service gets of an object: the rules of its parts.
#[derive(Default)]
struct Required {
    /// Those of fields: `Order.note: auth.role = 'clerk'`.
    fields: Vec<String>,
    /// Those of the types behind finds.
    types: Vec<TypeInReach>,
}

impl Required {
    fn add(&mut self, model: &Model, set: &SelectionSet) {
        for selection in &set.selections {
            match selection {
                Selection::Field(field) => {
                    for ty in model.types.values().filter(|ty| is_of(model, ty, &set.ty)) {
                        self.add_field(model, ty, &field.name);
                    }
                    self.add(model, &field.selection_set);
                }
                Selection::InlineFragment(fragment) => self.add(model, &fragment.selection_set),
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn add_field(&mut self, model: &Model, ty: &ObjectType, name: &str) {
        let Some(field) = ty.fields.get(name) else { return };
        for read in ty.read_with(field) {
            let rules = said(&read.auth, AuthAction::Read).map(|rules| format!("{}.{}: {rules}", ty.name, read.name));
            self.fields.extend(rules.filter(|rules| !self.fields.contains(rules)));
        }
        if let FieldKind::Find(find) = &field.kind {
            self.types.extend(find_reach(model, (ty, find)));
        }
    }
}

/// Whether a selection on a type is on this one: the type itself, or one that it stands for.
fn is_of(model: &Model, ty: &ObjectType, name: &str) -> bool {
    ty.name == name || model.api.is_subtype(name, &ty.name)
}

/// What a find asks of each type on its way.
fn find_reach(model: &Model, (ty, find): (&ObjectType, &Find)) -> Vec<TypeInReach> {
    let bound = match &find.via {
        Via::Keys(paths) => claims(paths.iter().flat_map(|path| &path.bindings)),
        Via::AbstractType(_) | Via::Through(_) => Vec::new(),
    };
    model.read_by(ty, find).into_iter().map(|ty| TypeInReach::new(ty, AuthAction::Read, bound.clone())).collect()
}

/// The claims that an action binds to fields.
fn claims_of_action(action: &Action) -> Vec<String> {
    let values = action.values.iter().filter_map(|(field, value)| Some((field, value.source()?)));
    match &action.target {
        WriteTarget::Key(sources) => claims(sources.iter().chain(values)),
        WriteTarget::Found(_) | WriteTarget::Read { .. } => claims(values),
    }
}

/// The fields that claims bind: `userId = auth.sub`. A claim in a key template is bound to itself.
fn claims<'m>(bindings: impl Iterator<Item = (&'m String, &'m Source)>) -> Vec<String> {
    let bound = |(field, source): (&String, &Source)| match source {
        Source::Claim(claim) if claim.to_string() != *field => Some(format!("{field} = {claim}")),
        _ => None,
    };
    bindings.filter_map(bound).collect()
}

/// The claims in the key of a type.
fn claims_in_key(ty: &ObjectType) -> impl Iterator<Item = String> {
    let keys = if let TypeKind::Item(keys) = &ty.kind { keys.claims() } else { Vec::new() };
    keys.into_iter().map(|claim| claim.to_string())
}

/// What all must hold, in a schema with rules.
fn all(own: Option<String>, of_types: impl Iterator<Item = TypeInReach>) -> String {
    let joined = joined(own.into_iter().collect(), of_types);
    match joined.strip_prefix("only ") {
        // Claims limit what has no rule.
        Some(_) => format!("{WITHOUT_RULE}; and {joined}"),
        None if joined.is_empty() => WITHOUT_RULE.to_owned(),
        None => joined,
    }
}

/// What all must hold; nothing if there are no rules. Types with the same rules stand together.
fn joined(mut parts: Vec<String>, of_types: impl Iterator<Item = TypeInReach>) -> String {
    let mut types: IndexMap<String, IndexSet<String>> = IndexMap::new();
    let mut limited: IndexSet<String> = IndexSet::new();
    for TypeInReach { items, is_limited, rules } in of_types {
        match rules {
            Some(rules) => _ = types.entry(rules).or_default().insert(items),
            None if is_limited => _ = limited.insert(items),
            None => {}
        }
    }
    parts.extend(types.into_iter().map(|(rules, types)| format!("{}: {rules}", Vec::from_iter(types).join(", "))));
    parts.extend(limited.into_iter().map(|items| format!("only {items}")));
    parts.join("; and ")
}

/// The rules for an action; `None` if there are none.
fn said(rules: &AuthRules, action: AuthAction) -> Option<String> {
    let rules: Vec<String> = rules.each(action).map(|rule| rule.in_words()).collect();
    (!rules.is_empty()).then(|| rules.join(", or "))
}

/// Cells as lines, each cell wrapped within its column.
fn lines(cells: [&str; 3]) -> String {
    let columns: Vec<Vec<String>> = cells.iter().zip(WIDTHS).map(|(cell, width)| wrapped(cell, width)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let row = |at: usize| columns.iter().map(|column| column.get(at).map_or("", String::as_str)).collect::<Vec<_>>();
    (0..height).map(|at| line(&WIDTHS, &row(at))).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn claims_limit_the_items_of_types_with_the_same_rules() {
        let schema = r#"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK")
type User @item(keys: { PK: "{id}", SK: "User" }) @auth(signedIn: true) { id: ID! }
type Note @item(keys: { PK: "{userId}", SK: "Note#{id}" }) @auth(signedIn: true) { userId: ID! id: ID! }
type Draft @item(keys: { PK: "Draft#{auth.sub}", SK: "Draft#{id}" }) { id: ID! }
type Query {
  user(id: ID!): User @find
  notes: [Note!]! @find(where: { userId: "{auth.sub}" })
  draft(id: ID!): Draft @find
}
type Mutation {
  note(id: ID!): Note
    @check(item: User, where: { id: "{auth.sub}" }, if: "attribute_exists(id)")
    @put(set: { userId: "{auth.sub}" })
}
"#;
        let (model, _) =
            crate::schema::load("notes.graphql", schema, &|_| None).map_err(|mistakes| mistakes.render(false)).unwrap();
        let expected = "\
FIELD                       WHO READS IT                         WHO WRITES IT
Query.user                  User: signed in
Query.notes                 Note with userId = auth.sub: signed
                              in
Query.draft                 signed in, as it has no rule; and
                              only Draft with auth.sub in its
                              key
";
        assert_eq!(table(&model, Some("Query")), expected);
        let expected = "\
FIELD                       WHO READS IT                         WHO WRITES IT
Mutation.note                                                    User with id = auth.sub, Note with
                                                                   userId = auth.sub: signed in
";
        assert_eq!(table(&model, Some("Mutation")), expected);
    }

    #[test]
    fn cells_are_wrapped_within_100_columns() {
        let text =
            lines(["User.email", "if 'support' IN (auth[\"cognito:groups\"]), or if auth.role = 'admin'", "as User"]);
        let expected = "\
User.email                  if 'support' IN                      as User
                              (auth[\"cognito:groups\"]), or if
                              auth.role = 'admin'
";
        assert_eq!(text, expected);
        assert_eq!(WIDTHS.iter().sum::<usize>() + 4, 100);
    }
}
