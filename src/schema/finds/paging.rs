//! Arguments that page and sort in, the orders that a find must serve out. Must not know keys.

use super::wanted::{Bindings, FindContext};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::model::find::Returns;
use crate::schema::model::page::PageForm;
use crate::schema::types::computed;
use crate::schema::types::draft::Kind;
use apollo_compiler::ast::InputValueDefinition;
use apollo_compiler::schema::EnumType;

/// An order that a find must serve.
#[derive(Debug, Clone)]
pub struct Order {
    /// The value of the `orderBy` argument that asks for it; `None` for the find's own order.
    pub value: Option<String>,
    /// The field that the items are sorted by, if any is asked for.
    pub field: Option<String>,
    /// Where it is asked for.
    pub span: Span,
}

/// Whether an argument pages and sorts, and is not used by `where:`.
pub fn is_paging(wanted: &FindContext, name: &str, bindings: &Bindings) -> bool {
    wanted.is_paging(name) && !bindings.uses(name)
}

/// Checks the types of the arguments that page and sort. Returns whether they are right.
pub fn check(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> bool {
    let mut sound = true;
    for argument in wanted.field.arguments.iter().filter(|argument| is_paging(wanted, &argument.name, bindings)) {
        let refusal = refusal(wanted, argument);
        if let Some((message, help)) = refusal {
            findings.error(rules::KF0409, &span::from_location(argument.name.location()), message, Some(help));
            sound = false;
        }
    }
    sound
}

fn refusal(wanted: &FindContext, argument: &InputValueDefinition) -> Option<(String, Help)> {
    let name = argument.name.as_str();
    let typed = |types: &[&str]| argument.ty.is_named() && types.contains(&argument.ty.inner_named_type().as_str());
    let wrong = |wanted: &str| format!("the argument `{name}` is {wanted}, not `{}`", argument.ty);
    let retyped = |right: &str| {
        let help = format!("make it `{right}`");
        if argument.ty.is_named() { Help::edit(help, span::from_type(&argument.ty), right) } else { help.into() }
    };
    let form = wanted.page_form();
    let sorted = matches!(wanted.target.returns, Returns::Connection | Returns::List | Returns::One);
    match name {
        "first" | "last" | "after" | "before" if form == Some(PageForm::Items) => {
            let message = format!(
                "`{name}` pages a connection, but `{}` of type `{}` has `items` and `nextToken`",
                wanted.coordinate(),
                wanted.field.ty
            );
            Some((message, "page it by `limit: Int` and `nextToken: String`".into()))
        }
        "first" | "last" | "after" | "before" if form.is_none() => {
            let message = format!(
                "`{name}` pages a connection, but `{}` of type `{}` is not a connection",
                wanted.coordinate(),
                wanted.field.ty
            );
            let item = &wanted.target.item;
            let of_item = |kind: &Kind| matches!(kind, Kind::Connection(node) if node == item);
            let connection = wanted.draft.kinds.iter().find(|(_, kind)| of_item(kind)).map(|(name, _)| name);
            let help = match connection {
                Some(name) => format!(
                    "return a page, `{name}!`, or leave `{name_of}` out: `@find(max:)` bounds a list",
                    name_of = argument.name
                ),
                None => format!(
                    "return a page, `type {item}Connection {{ nodes: [{item}!]! pageInfo: PageInfo! }}`, or leave `{name}` out: \
                     `@find(max:)` bounds a list"
                ),
            };
            Some((message, help.into()))
        }
        "orderBy" | "order" if !sorted => Some((
            format!("`{name}` sorts items, but `{}` does not return items", wanted.coordinate()),
            "leave it out".into(),
        )),
        "order" => {
            let fits = enum_of(wanted, argument).is_some_and(|order| {
                order.values.len() == 2 && order.values.contains_key("ASC") && order.values.contains_key("DESC")
            });
            (!fits).then(|| (wrong("a direction"), "make it an `Order`: `enum Order { ASC DESC }`".into()))
        }
        "orderBy" if enum_of(wanted, argument).is_none() => Some((
            wrong("a field to sort by"),
            "make it an enum whose values are fields in upper case: `enum TagOrder { NAME CREATED_AT }`".into(),
        )),
        "orderBy" => None,
        size if PageForm::is_size(size) => (!typed(&["Int"])).then(|| (wrong("a number of items"), retyped("Int"))),
        _ => (!typed(&["String", "ID"])).then(|| (wrong("a cursor"), retyped("String"))),
    }
}

fn enum_of<'a>(wanted: &FindContext<'a>, argument: &InputValueDefinition) -> Option<&'a EnumType> {
    argument
        .ty
        .is_named()
        .then(|| wanted.draft.schema.get_enum(argument.ty.inner_named_type()))
        .flatten()
        .map(|definition| &**definition)
}

/// The find's own order, unless `orderBy` is required, and one order for each value of `orderBy`. `None` on a mistake.
pub fn orders(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> Option<Vec<Order>> {
    let mut orders = Vec::new();
    let mut sound = true;
    let sortable = |name: &str| wanted.record.get(name).is_some_and(|declared| !declared.ty.is_list());
    let argument = wanted.argument("orderBy").filter(|_| is_paging(wanted, "orderBy", bindings));
    let own = wanted.directive.order_by.as_ref();
    if let Some(field) = own.filter(|field| !sortable(&field.value)) {
        let message = format!("`{}` is not a field of `{}` to sort by", field.value, wanted.target.item);
        findings.error(
            rules::KF0410,
            &field.span,
            message,
            computed::help_beside(wanted.draft, wanted.record, &field.value)
                .or_else(|| suggest(&field.value, wanted.record.keys().map(String::as_str))),
        );
        sound = false;
    }
    if argument.is_none_or(|argument| !argument.ty.is_non_null()) {
        orders.push(Order {
            value: None,
            field: own.map(|field| field.value.clone()),
            span: own.map_or_else(|| wanted.directive.span.clone(), |field| field.span.clone()),
        });
    }
    for (value, definition) in
        argument.and_then(|argument| enum_of(wanted, argument)).into_iter().flat_map(|order| &order.values)
    {
        let span = span::from_location(definition.value.location());
        match wanted.record.keys().find(|name| sortable(name) && upper_case(name) == value.as_str()) {
            Some(field) => orders.push(Order { value: Some(value.to_string()), field: Some(field.clone()), span }),
            None => {
                let own = |name: &String| {
                    argument
                        .and_then(|argument| enum_of(wanted, argument))
                        .is_some_and(|order| order.values.contains_key(name.as_str()))
                };
                let names = wanted.record.keys().map(|name| upper_case(name));
                let names: Vec<String> = names.filter(|name| !own(name)).collect();
                let message = format!("`{value}` is not the name of a field of `{}` in upper case", wanted.target.item);
                findings.error(rules::KF0410, &span, message, suggest(value, names.iter().map(String::as_str)));
                sound = false;
            }
        }
    }
    sound.then_some(orders)
}

/// `createdAt` as `CREATED_AT`; a run of capitals is one word (`itemID` is `ITEM_ID`).
fn upper_case(name: &str) -> String {
    let mut out = String::new();
    let mut before_lower = false;
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && before_lower {
            out.push('_');
        }
        before_lower = !letter.is_ascii_uppercase() && letter != '_';
        out.push(letter.to_ascii_uppercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::upper_case;

    #[test]
    fn fields_are_enum_values_in_upper_case() {
        for (field, value) in [
            ("name", "NAME"),
            ("createdAt", "CREATED_AT"),
            ("itemID", "ITEM_ID"),
            ("snake_case", "SNAKE_CASE"),
            ("v2Score", "V2_SCORE"),
        ] {
            assert_eq!(upper_case(field), value);
        }
    }
}
