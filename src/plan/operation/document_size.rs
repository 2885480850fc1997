//! A parsed document in; how many bytes of memory it holds, about, out. Must not know who keeps it.

use apollo_compiler::ast::{Argument, Directive, Value, VariableDefinition};
use apollo_compiler::executable::{
    Field, Fragment, FragmentSpread, InlineFragment, Operation, Selection, SelectionSet,
};
use apollo_compiler::{ExecutableDocument, Node};

/// What a node needs besides its content: the reference count, the place in the text, and the allocator's share.
const NODE: usize = 40;
/// The text of a name: the reference count, some letters, and the allocator's share.
const NAME: usize = 32;

/// The bytes of a document, its text not included.
pub fn bytes_of(document: &ExecutableDocument) -> u64 {
    let operations = document.operations.iter().map(|operation| {
        let variables: usize = operation.variables.iter().map(|variable| of_variable(variable)).sum();
        NODE + size_of::<Operation>()
            + NAME
            + variables
            + of_directives(&operation.directives)
            + of_set(&operation.selection_set)
    });
    let fragments = document.fragments.values().map(|fragment| {
        NODE + size_of::<Fragment>() + 2 * NAME + of_directives(&fragment.directives) + of_set(&fragment.selection_set)
    });
    (operations.sum::<usize>() + fragments.sum::<usize>()) as u64
}

/// A list that grew may have room for twice its entries.
fn of_list<T>(list: &[T], of_entry: impl Fn(&T) -> usize) -> usize {
    list.iter().map(|entry| 2 * size_of::<T>() + of_entry(entry)).sum()
}

fn of_set(set: &SelectionSet) -> usize {
    of_list(&set.selections, |selection| match selection {
        Selection::Field(field) => {
            let names = NAME * (1 + usize::from(field.alias.is_some()));
            let set = of_set(&field.selection_set);
            NODE + size_of::<Field>() + names + of_arguments(&field.arguments) + of_directives(&field.directives) + set
        }
        Selection::FragmentSpread(spread) => {
            NODE + size_of::<FragmentSpread>() + NAME + of_directives(&spread.directives)
        }
        Selection::InlineFragment(inline) => {
            NODE + size_of::<InlineFragment>()
                + NAME
                + of_directives(&inline.directives)
                + of_set(&inline.selection_set)
        }
    })
}

fn of_arguments(arguments: &[Node<Argument>]) -> usize {
    of_list(arguments, |argument| NODE + size_of::<Argument>() + NAME + of_value(&argument.value))
}

fn of_directives(directives: &[Node<Directive>]) -> usize {
    of_list(directives, |directive| NODE + size_of::<Directive>() + NAME + of_arguments(&directive.arguments))
}

fn of_variable(variable: &VariableDefinition) -> usize {
    let default = variable.default_value.as_ref().map_or(0, |value| of_value(value));
    2 * NODE + size_of::<VariableDefinition>() + 3 * NAME + default + of_directives(&variable.directives)
}

fn of_value(value: &Value) -> usize {
    let content = match value {
        Value::Null | Value::Boolean(_) => 0,
        Value::Enum(_) | Value::Variable(_) | Value::Float(_) | Value::Int(_) => NAME,
        Value::String(text) => NAME + text.len(),
        Value::List(values) => of_list(values, |value| of_value(value)),
        Value::Object(fields) => of_list(fields, |(_, value)| NAME + of_value(value)),
    };
    NODE + size_of::<Value>() + content
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use apollo_compiler::Schema;

    fn bytes(text: &str) -> u64 {
        let schema = "input I { l: [Int] } type Query { a(i: I, s: String): Query b: Int }";
        let schema = Schema::parse_and_validate(schema, "s").unwrap();
        bytes_of(&ExecutableDocument::parse_and_validate(&schema, text, "d").unwrap())
    }

    #[test]
    fn every_part_of_a_document_counts() {
        let small = bytes("{ a { b } }");
        for text in [
            "{ a { b b } }",
            "{ a { c: b } }",
            "{ a { ... { b } } }",
            "{ a { ...F } } fragment F on Query { b }",
            "{ a { b @skip(if: true) } }",
            "{ a(i: { l: [1, 2] }) { b } }",
            "{ a(s: \"x\") { b } }",
            "query ($s: String = \"x\") { a(s: $s) { b } }",
        ] {
            assert!(bytes(text) >= small + NAME as u64, "{text}");
        }
        assert!(bytes(&format!("{{ a(s: \"{}\") {{ b }} }}", "x".repeat(1000))) > small + 1000);
    }

    #[test]
    fn fields_of_short_names_have_many_times_the_bytes_of_their_text() {
        assert!(bytes(&format!("{{ {} }}", "b ".repeat(1000))) > 200_000);
    }
}
