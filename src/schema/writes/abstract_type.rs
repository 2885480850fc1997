//! A directive on an interface or a union in; out: its item types, and the field as the directive sees it for one of
//! them. Must not know what a directive does.
//!
//! Such a directive is checked once for each item type, as if the schema named that type. The write makes the one whose
//! type the item has that is found.

use super::acting::{Acting, ElementList, InScope, Writing, found_by_alias};
use super::directive::{ActionDirective, Verb};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::target::is_abstract;
use crate::schema::model::find::AccessPath;
use crate::schema::model::source::Source;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use apollo_compiler::ast::{Argument, FieldDefinition, Type, Value};
use apollo_compiler::{Name, Node};
use indexmap::IndexMap;

/// The item types of an interface or a union.
#[derive(Clone)]
pub struct MemberTypes {
    /// Its name.
    pub of: String,
    /// The item types, in the order of the schema; at least one.
    pub items: Vec<String>,
}

/// The interface or the union of a directive: `item:`, or the field's own type. The inner `None` if it is neither; the
/// outer is a mistake.
pub fn read_members(
    writing: &Writing,
    item: Option<&At<String>>,
    span: &Span,
    findings: &mut Findings,
) -> Option<Option<MemberTypes>> {
    let draft = writing.draft;
    let name = item.map_or(writing.field.ty.inner_named_type().as_str(), |item| &item.value);
    if !is_abstract(draft, name) {
        return Some(None);
    }
    let all = draft.objects().map(|object| object.name.as_str()).filter(|own| draft.schema.is_subtype(name, own));
    let (items, others): (Vec<&str>, Vec<&str>) = all.partition(|own| draft.kind(own) == Some(&Kind::Item));
    if !others.is_empty() || items.is_empty() {
        let message = match others.len() {
            0 => format!("`{name}` has no item types, so there is nothing to write"),
            1 => format!("{} of `{name}` is not an item type", list(&others)),
            _ => format!("{} of `{name}` are not item types", list(&others)),
        };
        let help = "add `@item` to every type, or name one of them: `item: …`".to_owned();
        findings.error(rules::KF0701, item.map_or(span, |item| &item.span), message, Some(help.into()));
        return None;
    }
    check_table(draft, (name, &items), item.map_or(span, |item| &item.span), findings)?;
    Some(Some(MemberTypes { of: name.to_owned(), items: items.into_iter().map(str::to_owned).collect() }))
}

/// The keys of one table tell its types apart. In two tables, one key may be that of two items.
fn check_table(
    draft: &SchemaDraft,
    (name, items): (&str, &[&str]),
    place: &Span,
    findings: &mut Findings,
) -> Option<()> {
    let table = |item: &str| draft.items.get(item).and_then(|keys| draft.tables.get(keys.table));
    let mut tables = items.iter().filter_map(|item| Some((item, &table(item)?.name)));
    let (first, of_first) = tables.next()?;
    let Some((other, of_other)) = tables.find(|(_, table)| *table != of_first) else { return Some(()) };
    let message = format!(
        "`{first}` is in the table `{of_first}` and `{other}` in `{of_other}`, but a directive on `{name}` is about items of one table"
    );
    findings.error(rules::KF0701, place, message, Some("name one of the types: `item: …`".into()));
    None
}

impl MemberTypes {
    /// A field as if the schema named this member instead.
    pub fn field_of_member(&self, field: &FieldDefinition, member: &str) -> FieldDefinition {
        let mut own = field.clone();
        let Ok(name) = Name::new(member) else { return own };
        if own.ty.inner_named_type() == self.of.as_str() {
            rename(&mut own.ty, &name);
        }
        for directive in own.directives.iter_mut() {
            let is_it = |argument: &Node<Argument>| {
                argument.name == "item" && argument.value.as_enum().is_some_and(|item| *item == self.of.as_str())
            };
            if directive.arguments.iter().any(is_it) {
                let all = directive.make_mut().arguments.iter_mut();
                all.filter(|argument| is_it(argument))
                    .for_each(|argument| argument.make_mut().value = Node::new(Value::Enum(name.clone())));
            }
        }
        own
    }

    /// A list as if the schema named this member instead.
    pub fn list_of_member(&self, list: &ElementList, member: &str) -> ElementList {
        ElementList {
            path: list.path.clone(),
            field: self.field_of_member(&list.field, member),
            names: list.names.clone(),
            item: list.item.clone().map(|item| if item == self.of { member.to_owned() } else { item }),
        }
    }
}

fn rename(ty: &mut Type, name: &Name) {
    match ty {
        Type::Named(own) | Type::NonNullNamed(own) => *own = name.clone(),
        Type::List(inner) | Type::NonNullList(inner) => rename(inner, name),
    }
}

/// The stored fields that all members have with the same type.
pub fn common_fields(draft: &SchemaDraft, members: &MemberTypes) -> StoredFields {
    let mut records = members.items.iter().filter_map(|item| draft.records.get(item));
    let mut common = records.next().cloned().unwrap_or_default();
    for other in records {
        common.retain(|name, own| other.get(name).is_some_and(|is| is.ty == own.ty));
    }
    common
}

/// The names of a field, and of the list for whose elements its directive is made, for one item type of an interface or
/// a union.
pub struct OwnNames {
    field: FieldDefinition,
    list: Option<ElementList>,
}

impl OwnNames {
    /// The names that a directive sees for a member.
    pub fn new(seen: &Writing, members: &MemberTypes, item: &str) -> Self {
        let list = seen.list.map(|list| members.list_of_member(list, item));
        Self { field: members.field_of_member(seen.field, item), list }
    }

    /// The field as the directive sees it for the member.
    pub fn seen<'o>(&'o self, seen: &Writing<'o>) -> Writing<'o> {
        Writing { field: &self.field, list: self.list.as_ref(), ..*seen }
    }
}

/// The fields that all item types of an interface or a union have, for each that a find names.
pub fn common_records(writing: &Writing, finds: &[FindDirective]) -> IndexMap<String, StoredFields> {
    let mut unread = Findings::default();
    let members =
        finds.iter().filter_map(|find| read_members(writing, find.item.as_ref(), &find.span, &mut unread).flatten());
    let members: Vec<MemberTypes> = members.collect();
    members.into_iter().map(|members| (members.of.clone(), common_fields(writing.draft, &members))).collect()
}

/// The item types of the interface or the union that an action is about, by its `item:`, by the alias of a found item
/// or by the field's own type. The inner `None` if it is about one item type.
pub fn members_of(
    writing: &Writing,
    directive: &ActionDirective,
    scope: &[InScope],
    findings: &mut Findings,
) -> Option<Option<MemberTypes>> {
    if directive.verb == Verb::Put {
        return Some(None);
    }
    let found =
        found_by_alias(directive, scope).map(|found| At { value: found.item.clone(), span: directive.span.clone() });
    let members = read_members(writing, found.as_ref().or(directive.item.as_ref()), &directive.span, findings)?;
    if let Some(members) = members.as_ref().filter(|_| directive.upsert) {
        let message = format!("`upsert:` may create an item, but `{}` is several types", members.of);
        let help = format!("name one of them: {}", list(&members.items.iter().map(String::as_str).collect::<Vec<_>>()));
        findings.error(rules::KF0701, &directive.span, message, Some(help.into()));
        return None;
    }
    Some(members)
}

/// `item:` as if the schema named this type.
pub fn named_as(directive: &FindDirective, item: &str) -> At<String> {
    let span = directive.item.as_ref().map_or(&directive.span, |item| &item.span);
    At { value: item.to_owned(), span: span.clone() }
}

/// What a lookup is bound to must be of an item whose type is known at load.
pub fn check_type_is_known(acting: &Acting, path: &AccessPath, findings: &mut Findings) -> Option<()> {
    let leaves = path.sources().into_iter().flat_map(Source::leaves);
    let is_of_several =
        |name: &str| acting.scope.iter().any(|item| item.name == name && is_abstract(acting.writing.draft, &item.item));
    let named = leaves.filter_map(|leaf| if let Source::Item(name, field) = leaf { Some((name, field)) } else { None });
    let Some((name, field)) = named.into_iter().find(|(name, _)| is_of_several(name)) else { return Some(()) };
    let message = format!(
        "`{name}` may be of several types, so no `{}` is looked up by its `{field}`: only a whole key is made of it",
        acting.item
    );
    let help = format!("bind the whole key of `{}`, or find an item of one type: `@find(item: …)`", acting.item);
    findings.error(rules::KF0706, &acting.directive.span, message, Some(help.into()));
    None
}
