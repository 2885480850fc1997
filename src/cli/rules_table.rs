//! A model in, who may read and write each type and field out, as a table of 100 columns: the output of `keyfold check --rules`.

use super::output::{line, wrapped};
use crate::schema::model::auth::{AuthAction, AuthRules};
use crate::schema::model::write::Action;
use crate::schema::model::{Field, FieldKind, Model, ObjectType, TypeKind};
use indexmap::IndexSet;

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
                let reads = format!("{}{hidden}", none(said(&ty.auth, AuthAction::Read)));
                text += &lines([&ty.name, &reads, &none(said(&ty.auth, AuthAction::Write))]);
                for field in ty.fields.values().filter(|field| !field.auth.is_empty() || matches!(field.kind, FieldKind::Find(_))) {
                    text += &row(model, ty, field);
                }
            }
            TypeKind::Root => text.extend(ty.fields.values().map(|field| row(model, ty, field))),
            TypeKind::Embedded | TypeKind::Connection(_) | TypeKind::Edge | TypeKind::PageInfo => {}
        }
    }
    text
}

/// A field and who may read and write it, besides those that its object's rules refuse.
fn row(model: &Model, ty: &ObjectType, field: &Field) -> String {
    let own = |action: AuthAction| said(&field.auth, action);
    let (reads, writes) = match &field.kind {
        FieldKind::Find(find) => {
            (all(own(AuthAction::Read), of_types(model.read_by(ty, find), AuthAction::Read).into_iter()), String::new())
        }
        FieldKind::Write(write) => {
            let of_action = |action: &Action| of_types(model.types.get(&action.item).into_iter().collect(), action.asks());
            let of_found = write.find.iter().flat_map(|find| of_types(model.read_by(ty, find), AuthAction::Read));
            (String::new(), all(own(AuthAction::Write), of_found.chain(write.actions.iter().flat_map(of_action))))
        }
        FieldKind::Nodes(_) => {
            let own = own(AuthAction::Read).map(|own| format!("{own}; and "));
            (format!("{}as the type of each item", own.unwrap_or_default()), String::new())
        }
        FieldKind::Stored(_) | FieldKind::GlobalId(_) | FieldKind::Page => {
            let as_type = || format!("as {}", ty.name);
            (own(AuthAction::Read).unwrap_or_else(as_type), own(AuthAction::Write).unwrap_or_else(as_type))
        }
    };
    lines([&format!("{}.{}", ty.name, field.name), &reads, &writes])
}

/// Rules that all must hold, each once.
fn all(own: Option<String>, of_types: impl Iterator<Item = String>) -> String {
    let all: IndexSet<String> = own.into_iter().chain(of_types).collect();
    if all.is_empty() { WITHOUT_RULE.to_owned() } else { Vec::from_iter(all).join("; and ") }
}

/// The rules of each type that has any.
fn of_types(types: Vec<&ObjectType>, action: AuthAction) -> Vec<String> {
    types.into_iter().filter_map(|ty| Some(format!("{}: {}", ty.name, said(&ty.auth, action)?))).collect()
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
mod tests {
    use super::*;

    #[test]
    fn cells_are_wrapped_within_100_columns() {
        let text = lines(["User.email", "if 'support' IN (auth[\"cognito:groups\"]), or if auth.role = 'admin'", "as User"]);
        let expected = "\
User.email                  if 'support' IN                      as User
                              (auth[\"cognito:groups\"]), or if
                              auth.role = 'admin'
";
        assert_eq!(text, expected);
        assert_eq!(WIDTHS.iter().sum::<usize>() + 4, 100);
    }
}
