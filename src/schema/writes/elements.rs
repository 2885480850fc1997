//! `each:` of the directives of a field in; out: the lists for whose elements they are made, and the whole names of
//! what such a directive uses: `lines.sku` for the element's `sku`. Must not know what a directive does.

use super::acting::{ElementList, Writing, is_word};
use super::directive::ActionDirective;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::At;
use crate::schema::diagnostics::suggestion::suggest;
use crate::schema::finds::target::is_abstract;
use crate::schema::model::find::Find;
use crate::schema::model::write::{Action, ELEMENT, INDEX};
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::Kind;
use crate::schema::types::inputs::{self, Input, depth_of};
use apollo_compiler::ast::{InputValueDefinition, Type};
use apollo_compiler::schema::ExtendedType;
use apollo_compiler::{Name, Node, name};

/// The lists that the directives of a field name, each once; `None` on a mistake.
pub fn read_lists(
    writing: &Writing,
    finds: &[FindDirective],
    actions: &[ActionDirective],
    findings: &mut Findings,
) -> Option<Vec<ElementList>> {
    let own = writing.field.ty.inner_named_type().as_str();
    let finds = finds.iter().map(|find| (find.each.as_ref(), find.item.as_ref()));
    let all: Vec<_> = finds.chain(actions.iter().map(|action| (action.each.as_ref(), action.item.as_ref()))).collect();
    let mut lists: Vec<ElementList> = Vec::new();
    for each in all.iter().filter_map(|(each, _)| *each) {
        if lists.iter().any(|list| list.path == each.value) {
            continue;
        }
        let of_list = all.iter().filter(|(named, _)| named.is_some_and(|named| named.value == each.value));
        let mut items = of_list
            .map(|(_, item)| item.map_or(own, |item| item.value.as_str()))
            .filter(|item| writing.draft.kind(item) == Some(&Kind::Item) || is_abstract(writing.draft, item));
        let item = items.next().filter(|first| items.all(|item| item == *first));
        lists.push(read_list(writing, each, item, findings)?);
    }
    Some(lists)
}

/// The list that an `each:` names.
fn read_list(writing: &Writing, each: &At<String>, item: Option<&str>, findings: &mut Findings) -> Option<ElementList> {
    let schema = writing.draft.schema;
    let mut refuse = |message: String, help: Option<Help>| {
        findings.error(rules::KF0725, &each.span, message, help);
        None
    };
    let Some(input) = inputs::input(schema, writing.field, &each.value) else {
        let message = format!("`{}` is not an argument of `{}`", each.value, writing.coordinate());
        let lists = inputs::arguments(writing.field)
            .flat_map(|input| inputs::members(schema, &input).into_iter().chain([input]))
            .filter(|input| depth_of(input.ty) == 1)
            .map(|input| input.name);
        let lists: Vec<String> = lists.collect();
        return refuse(message, suggest(&each.value, lists.iter().map(String::as_str)));
    };
    let inner = input.ty.inner_named_type();
    if depth_of(input.ty) != 1 {
        let help = format!("make it a list of single values: `[{inner}!]!`");
        return refuse(
            format!("`{}` of type `{}` is not a list of single values", input.name, input.ty),
            Some(help.into()),
        );
    }
    if !input.ty.item_type().is_non_null() {
        let help = format!("make its elements non-null: `[{inner}!]{}`", if input.ty.is_non_null() { "!" } else { "" });
        return refuse(format!("an element of `{}` may be null", input.name), Some(help.into()));
    }
    let own = element_arguments(writing, &input);
    let arguments = || own.iter().chain(&writing.field.arguments);
    let word = arguments().find(|argument| is_word(&argument.name) && !is_made(argument));
    if let Some(word) = word {
        let message =
            format!("`{}` is a word beside `each:`, so no argument and no field of one has this name", word.name);
        return refuse(message, Some("rename it".into()));
    }
    let names: Vec<String> = own.iter().map(|argument| argument.name.to_string()).collect();
    let mut field = writing.field.clone();
    let is_left = |argument: &Node<InputValueDefinition>| {
        argument.name != each.value.as_str() && !own.iter().any(|own| own.name == argument.name)
    };
    let others = field.arguments.iter().filter(|argument| is_left(argument)).cloned().collect::<Vec<_>>();
    field.arguments = own.into_iter().chain(others).collect();
    Some(ElementList { path: each.value.clone(), field, names, item: item.map(str::to_owned) })
}

/// What an element of a list is seen as: the fields of an input object or the scalar itself, and its position.
fn element_arguments(writing: &Writing, input: &Input) -> Vec<Node<InputValueDefinition>> {
    let inner = input.ty.inner_named_type();
    let mut own: Vec<Node<InputValueDefinition>> = match writing.draft.schema.types.get(inner) {
        Some(ExtendedType::InputObject(object)) => object.fields.values().map(|field| field.node.clone()).collect(),
        _ => vec![made(ELEMENT, Type::NonNullNamed(inner.clone()))],
    };
    own.push(made(INDEX, Type::NonNullNamed(name!("Int"))));
    own
}

/// An argument that no schema declares.
fn made(name: &str, ty: Type) -> Node<InputValueDefinition> {
    let definition = InputValueDefinition {
        description: None,
        name: Name::new_unchecked(name),
        ty: ty.into(),
        default_value: None,
        directives: Default::default(),
    };
    Node::new(definition)
}

fn is_made(argument: &Node<InputValueDefinition>) -> bool {
    argument.location().is_none()
}

impl ElementList {
    /// Gives the names that an action uses in their whole form.
    pub fn name_action(&self, action: &mut Action) {
        action.rename(&|argument| self.name(argument), &|_| {});
        action.each = Some(self.path.clone());
    }

    /// Gives the names that a find uses in their whole form.
    pub fn name_find(&self, find: &mut Find) {
        find.rename(&|argument| self.name(argument), &|_| {});
    }

    /// Gives an argument's name in its whole form.
    pub fn name(&self, argument: &mut String) {
        if let Some(whole) = self.whole_name(argument) {
            *argument = whole;
        }
    }
}
