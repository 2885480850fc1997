//! Syntax of Keyfold's directives in, typed values with their places out. Values of the wrong type are left out: the
//! compiler has already reported them against the definitions.

use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use apollo_compiler::ast::{Directive, DirectiveList, Value};
use apollo_compiler::{Name, Node};

/// The directives that make a field a write.
pub const WRITES: [&str; 4] = ["put", "update", "delete", "check"];

/// A directive's argument as it is written.
pub fn argument<'d>(directive: &'d Directive, name: &str) -> Option<&'d Node<Value>> {
    directive.specified_argument_by_name(name).filter(|value| !value.is_null())
}

/// A string argument.
pub fn text(directive: &Directive, name: &str) -> Option<At<String>> {
    argument(directive, name).and_then(string)
}

/// A string with its place.
pub fn string(value: &Node<Value>) -> Option<At<String>> {
    value.as_str().map(|text| At { value: text.to_owned(), span: span::from_location(value.location()) })
}

/// A field of an object argument, with its value as it is written.
pub type WrittenField = (At<String>, Node<Value>);

/// The fields of an object argument. The second part is the place of an argument that is not an object.
pub fn fields(directive: &Directive, name: &str) -> (Vec<WrittenField>, Option<Span>) {
    let Some(value) = argument(directive, name) else { return (Vec::new(), None) };
    let Some(fields) = value.as_object() else { return (Vec::new(), Some(span::from_location(value.location()))) };
    let with_place = |name: &Name| At { value: name.to_string(), span: span::from_location(name.location()) };
    (fields.iter().map(|(name, value)| (with_place(name), value.clone())).collect(), None)
}

/// A name: an enum value such as `DESC`, or a string.
pub fn name(directive: &Directive, argument_name: &str) -> Option<At<String>> {
    let value = argument(directive, argument_name)?;
    let text = value.as_enum().map(|name| name.as_str()).or_else(|| value.as_str())?;
    Some(At { value: text.to_owned(), span: span::from_location(value.location()) })
}

/// Whether a boolean argument is `true`.
pub fn flag(directive: &Directive, name: &str) -> bool {
    argument(directive, name).and_then(|value| value.to_bool()).unwrap_or(false)
}

/// A field of an input object.
pub fn member<'v>(object: &'v Node<Value>, name: &str) -> Option<&'v Node<Value>> {
    let (_, value) = object.as_object()?.iter().find(|(key, _)| key == name)?;
    Some(value).filter(|value| !value.is_null())
}

/// The items of a list; a single value counts as a list of one (GraphQL spec section 3.11, "Input Coercion").
pub fn items(value: &Node<Value>) -> &[Node<Value>] {
    value.as_list().unwrap_or(std::slice::from_ref(value))
}

/// The first directive that writes, among a field's directives.
pub fn write_of(directives: &DirectiveList) -> Option<&Node<Directive>> {
    directives.iter().find(|directive| WRITES.contains(&directive.name.as_str()))
}

/// `@find` as it is written.
#[derive(Debug, Clone)]
pub struct FindDirective {
    /// The directive's name with its `@`.
    pub span: span::Span,
    /// `item:`
    pub item: Option<At<String>>,
    /// `where:`, each field with its operand.
    pub bindings: Vec<WrittenField>,
    /// The place of a `where:` that is not an object.
    pub malformed_where: Option<span::Span>,
    /// `through:`
    pub through: Option<At<String>>,
    /// `orderBy:`
    pub order_by: Option<At<String>>,
    /// `order: DESC`
    pub descending: bool,
    /// `filter:`
    pub filter: Option<At<String>>,
    /// `index:`
    pub index: Option<At<String>>,
    /// `max:`
    pub max: Option<At<i32>>,
    /// `consistent: true`
    pub consistent: bool,
    /// `scan: true`
    pub scan: bool,
    /// `as:`
    pub alias: Option<At<String>>,
    /// `each:`
    pub each: Option<At<String>>,
}

impl FindDirective {
    /// Reads the directive.
    pub fn from_directive(directive: &Node<Directive>) -> Self {
        let (bindings, malformed_where) = fields(directive, "where");
        Self {
            span: named(directive),
            item: name(directive, "item"),
            bindings,
            malformed_where,
            through: text(directive, "through"),
            order_by: text(directive, "orderBy"),
            descending: name(directive, "order").is_some_and(|order| order.value == "DESC"),
            filter: text(directive, "filter"),
            index: text(directive, "index"),
            max: argument(directive, "max").and_then(|value| {
                value.to_i32().map(|max| At { value: max, span: span::from_location(value.location()) })
            }),
            consistent: flag(directive, "consistent"),
            scan: flag(directive, "scan"),
            alias: name(directive, "as"),
            each: text(directive, "each"),
        }
    }
}

impl FindDirective {
    /// A `@find` without arguments, at the place of another directive.
    pub fn bare(span: span::Span) -> Self {
        Self {
            span,
            item: None,
            bindings: Vec::new(),
            malformed_where: None,
            through: None,
            order_by: None,
            descending: false,
            filter: None,
            index: None,
            max: None,
            consistent: false,
            scan: false,
            alias: None,
            each: None,
        }
    }
}

/// The place of a directive's name, with its `@`.
pub fn named(directive: &Node<Directive>) -> span::Span {
    let name = span::from_location(directive.name.location());
    name.start.saturating_sub(1)..name.end
}

/// The place of a directive's argument, or of the directive's name without that argument.
pub fn place(directive: &Node<Directive>, name: &str) -> Span {
    crate::schema::syntax::directives::argument(directive, name)
        .map_or_else(|| named(directive), |value| span::from_location(value.location()))
}
