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
        let variables: usize = operation.variables.iter().map(|variable| variable_size(variable)).sum();
        NODE + size_of::<Operation>()
            + NAME
            + variables
            + directives_size(&operation.directives)
            + set_size(&operation.selection_set)
    });
    let fragments = document.fragments.values().map(|fragment| {
        NODE + size_of::<Fragment>()
            + 2 * NAME
            + directives_size(&fragment.directives)
            + set_size(&fragment.selection_set)
    });
    (operations.sum::<usize>() + fragments.sum::<usize>()) as u64
}

/// A list that grew may have room for twice its entries.
fn list_size<T>(list: &[T], of_entry: impl Fn(&T) -> usize) -> usize {
    list.iter().map(|entry| 2 * size_of::<T>() + of_entry(entry)).sum()
}

fn set_size(set: &SelectionSet) -> usize {
    list_size(&set.selections, |selection| match selection {
        Selection::Field(field) => {
            let names = NAME * (1 + usize::from(field.alias.is_some()));
            let set = set_size(&field.selection_set);
            NODE + size_of::<Field>()
                + names
                + arguments_size(&field.arguments)
                + directives_size(&field.directives)
                + set
        }
        Selection::FragmentSpread(spread) => {
            NODE + size_of::<FragmentSpread>() + NAME + directives_size(&spread.directives)
        }
        Selection::InlineFragment(inline) => {
            NODE + size_of::<InlineFragment>()
                + NAME
                + directives_size(&inline.directives)
                + set_size(&inline.selection_set)
        }
    })
}

fn arguments_size(arguments: &[Node<Argument>]) -> usize {
    list_size(arguments, |argument| NODE + size_of::<Argument>() + NAME + value_size(&argument.value))
}

fn directives_size(directives: &[Node<Directive>]) -> usize {
    list_size(directives, |directive| NODE + size_of::<Directive>() + NAME + arguments_size(&directive.arguments))
}

fn variable_size(variable: &VariableDefinition) -> usize {
    let default = variable.default_value.as_ref().map_or(0, |value| value_size(value));
    2 * NODE + size_of::<VariableDefinition>() + 3 * NAME + default + directives_size(&variable.directives)
}

fn value_size(value: &Value) -> usize {
    let content = match value {
        Value::Null | Value::Boolean(_) => 0,
        Value::Enum(_) | Value::Variable(_) | Value::Float(_) | Value::Int(_) => NAME,
        Value::String(text) => NAME + text.len(),
        Value::List(values) => list_size(values, |value| value_size(value)),
        Value::Object(fields) => list_size(fields, |(_, value)| NAME + value_size(value)),
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
