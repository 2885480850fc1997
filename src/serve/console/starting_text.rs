//! The API of a schema in, the operations in the editor at the start out. Must not know the page nor where items are.

use crate::schema::model::page::{ITEMS, NEXT_TOKEN};
use crate::serve::backend::current_gateway::CurrentGateway;
use apollo_compiler::Node;
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition, OperationType, Type};
use apollo_compiler::schema::{ExtendedType, ObjectType, Schema};
use futures_util::future::{BoxFuture, FutureExt};

/// Most fields that its first operation selects.
const SELECTED: usize = 5;
/// How deep input objects nest in its first mutation.
const MAX_DEPTH: usize = 3;

/// Knows with what the editor starts.
pub trait StartingTexts: Send + Sync + 'static {
    /// The texts, each for a tab.
    fn texts(&self) -> BoxFuture<'_, Vec<String>>;
}

/// Always the same.
impl StartingTexts for Vec<String> {
    fn texts(&self) -> BoxFuture<'_, Vec<String>> {
        std::future::ready(self.clone()).boxed()
    }
}

/// Those of the API that is served now.
impl StartingTexts for CurrentGateway {
    fn texts(&self) -> BoxFuture<'_, Vec<String>> {
        std::future::ready(starting_texts(&self.get().model().api, FittingOperations::default())).boxed()
    }
}

/// Operations that fit the items of the store.
#[derive(Debug, Clone, Default)]
pub struct FittingOperations {
    /// A query that answers.
    pub query: Option<String>,
    /// A mutation.
    pub mutation: Option<String>,
    /// A subscription.
    pub subscription: Option<String>,
}

/// The texts in the editor at the start, each in a tab. What does not fit the items fits the API at least.
pub fn starting_texts(api: &Schema, fitting: FittingOperations) -> Vec<String> {
    let mutation = fitting.mutation.or_else(|| starting_operation(api, OperationType::Mutation));
    let subscription = fitting.subscription.or_else(|| starting_operation(api, OperationType::Subscription));
    let texts = [Some(starting_text(api, fitting.query)), mutation, subscription];
    texts.into_iter().flatten().collect()
}

/// A query that runs. The page lists the others beside the editor.
fn starting_text(api: &Schema, query_that_answers: Option<String>) -> String {
    let text = "# Ctrl-Space shows what fits at the cursor. Ctrl-Enter runs the operation.\n";
    let query = api.schema_definition.query.as_ref().and_then(|name| api.get_object(name));
    let fields: Vec<_> = query.iter().flat_map(|query| query.fields.values()).collect();
    if let Some(operation) = query_that_answers {
        return format!("{text}{operation}");
    }
    let free = fields.iter().find(|field| field.arguments.iter().all(|argument| !argument.is_required()));
    let selected = free.and_then(|field| Some(format!("{}{}", field.name, selection(api, field, "  ")?)));
    format!("{text}{{\n  {}\n}}\n", selected.as_deref().unwrap_or("__typename"))
}

/// A mutation or a subscription of the API: the first, with an empty value for each argument that it needs. `None` if
/// there are none.
fn starting_operation(api: &Schema, kind: OperationType) -> Option<String> {
    let root = api.get_object(api.root_operation(kind)?)?;
    let field = &root.fields.values().next()?.node;
    let arguments = object_fields(api, &field.arguments, 0);
    let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
    Some(format!("{kind} {{\n  {}{arguments}{}\n}}\n", field.name, selection(api, field, "  ")?))
}

/// The needed ones of arguments or input fields, each with an empty value.
fn object_fields(api: &Schema, inputs: &[Node<InputValueDefinition>], depth: usize) -> Vec<String> {
    inputs
        .iter()
        .filter(|input| input.is_required())
        .map(|input| format!("{}: {}", input.name, empty_value(api, &input.ty, depth)))
        .collect()
}

/// A value of a type that is as short as can be.
fn empty_value(api: &Schema, ty: &Type, depth: usize) -> String {
    if ty.is_list() {
        return "[]".to_owned();
    }
    match api.types.get(ty.inner_named_type()) {
        Some(ExtendedType::Enum(values)) => {
            values.values.keys().next().map_or_else(|| "null".to_owned(), ToString::to_string)
        }
        Some(ExtendedType::InputObject(object)) if depth < MAX_DEPTH => {
            let fields: Vec<_> = object.fields.values().map(|field| field.node.clone()).collect();
            format!("{{ {} }}", object_fields(api, &fields, depth + 1).join(", "))
        }
        _ => match ty.inner_named_type().as_str() {
            "Int" | "Float" => "0".to_owned(),
            "Boolean" => "false".to_owned(),
            _ => "\"\"".to_owned(),
        },
    }
}

/// The selection set of a field: scalars of its type, or of the nodes of its connection. `None` where the type has
/// none.
fn selection(api: &Schema, field: &Node<FieldDefinition>, indent: &str) -> Option<String> {
    let deeper = format!("{indent}  ");
    let lines = match api.types.get(field.ty.inner_named_type())? {
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => return Some(String::new()),
        ExtendedType::Object(object) => match shown(object) {
            Some(shown) => vec![format!("{}{}", shown.name, selection(api, shown, &deeper)?)],
            None => {
                let plain = |field: &&Node<FieldDefinition>| {
                    let is_leaf = api.types.get(field.ty.inner_named_type()).is_some_and(ExtendedType::is_leaf);
                    is_leaf && field.arguments.is_empty()
                };
                object
                    .fields
                    .values()
                    .map(|field| &field.node)
                    .filter(plain)
                    .take(SELECTED)
                    .map(|field| field.name.to_string())
                    .collect()
            }
        },
        _ => vec!["__typename".to_owned()],
    };
    let lines: String = lines.iter().map(|line| format!("{deeper}{line}\n")).collect();
    (!lines.is_empty()).then(|| format!(" {{\n{lines}{indent}}}"))
}

/// The field of a page that has its objects.
fn shown(page: &ObjectType) -> Option<&Node<FieldDefinition>> {
    let items = || page.fields.get(ITEMS).filter(|_| page.fields.contains_key(NEXT_TOKEN));
    page.fields.get("nodes").or_else(items).map(|field| &field.node)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_editor_starts_with_an_operation_that_needs_no_argument() {
        let starting_text = |text: &str| starting_text(&Schema::parse_and_validate(text, "a.graphql").unwrap(), None);
        let first = "type Query { user(id: ID!): User users(first: Int): Users } type Users { nodes: [User!]! } type User { name: Int list: [User] }";
        let text = starting_text(first);
        assert!(
            text.starts_with("# Ctrl-Space")
                && text.ends_with("{\n  users {\n    nodes {\n      name\n    }\n  }\n}\n"),
            "{text}"
        );
        let appsync = starting_text(
            "type Query { users: Users } type Users { items: [User]! nextToken: String } type User { name: Int }",
        );
        assert!(appsync.ends_with("{\n  users {\n    items {\n      name\n    }\n  }\n}\n"), "{appsync}");
        assert!(starting_text("type Query { a(b: Int!): Int }").ends_with("{\n  __typename\n}\n"));
        assert!(starting_text("type Query { a: Int }").ends_with("{\n  a\n}\n"));
    }

    #[test]
    fn a_mutation_has_the_arguments_that_it_needs() {
        let starting = |text: &str| {
            starting_operation(&Schema::parse_and_validate(text, "a.graphql").unwrap(), OperationType::Mutation)
        };
        let api =
            "type Query { a: Int } type Mutation { add(id: ID!, count: Int!, kind: Kind!, tags: [String!]!, more: More!, note: String): A }
            enum Kind { BIG SMALL } input More { name: String! size: Float } type A { id: ID }";
        let expected =
            "mutation {\n  add(id: \"\", count: 0, kind: BIG, tags: [], more: { name: \"\" }) {\n    id\n  }\n}\n";
        assert_eq!(starting(api).as_deref(), Some(expected));
        assert_eq!(starting("type Query { a: Int }"), None);
    }

    #[test]
    fn operations_that_fit_the_items_come_before_those_that_fit_the_api() {
        let api = Schema::parse_and_validate("type Query { a: Int } type Mutation { b: Int }", "a.graphql").unwrap();
        let fitting = FittingOperations {
            query: Some("{ a }\n".into()),
            mutation: Some("mutation { b }\n".into()),
            subscription: None,
        };
        let texts = starting_texts(&api, fitting);
        assert!(texts[0].ends_with(" runs the operation.\n{ a }\n") && texts[1] == "mutation { b }\n", "{texts:?}");
        assert_eq!(starting_texts(&api, FittingOperations::default())[1], "mutation {\n  b\n}\n");
    }
}
