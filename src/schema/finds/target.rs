//! A `@find` field in, the item type that it reads and what the field returns out. Must not know keys.

use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::{At, Span};
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::model::find::Returns;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::types::draft::{Kind, SchemaDraft, is_find};
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::ExtendedType;

/// What a find looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindTarget {
    /// The item type, or an interface or union, which stands for all of its item types.
    pub item: String,
    /// What the field returns.
    pub returns: Returns,
}

/// Why a find has no valid target.
#[derive(Debug)]
pub struct NoTarget {
    /// The rule that it breaks.
    pub rule: &'static Rule,
    /// The place.
    pub span: Span,
    /// One sentence.
    pub message: String,
    /// The valid choices.
    pub help: Option<Help>,
}

/// The target of a `@find` field on a type. `Ok(None)` if the field's type has a mistake, which is reported elsewhere.
pub fn target_of(
    draft: &SchemaDraft,
    type_name: &str,
    field: &FieldDefinition,
) -> Result<Option<FindTarget>, NoTarget> {
    let Some(directive) = field.directives.get("find").map(FindDirective::from_directive) else { return Ok(None) };
    let coordinate = format!("{type_name}.{}", field.name);
    let find = FindField { draft, field, coordinate, named: directive.item.as_ref() };
    let Some(returned) = find.read_type()? else { return Ok(None) };
    let item = find.choose_item(returned.item)?;
    Ok(Some(FindTarget { item, returns: returned.returns }))
}

/// What the type of a field says of its find.
struct ReturnType {
    /// The items; none if the field returns no objects, or if `item:` chooses among those of its type.
    item: Option<String>,
    returns: Returns,
}

/// A field with a `@find`.
struct FindField<'a> {
    draft: &'a SchemaDraft<'a>,
    field: &'a FieldDefinition,
    coordinate: String,
    /// `item:`
    named: Option<&'a At<String>>,
}

impl FindField<'_> {
    /// `Ok(None)` if the type has a mistake, which is reported elsewhere.
    fn read_type(&self) -> Result<Option<ReturnType>, NoTarget> {
        let Self { draft, field, coordinate, named } = self;
        let type_name = coordinate.split('.').next().unwrap_or_default();
        let inner = field.ty.inner_named_type().as_str();
        let Some(definition) = draft.schema.types.get(inner) else { return Ok(None) };
        if field.ty.is_list() && field.ty.item_type().is_list() {
            let message = format!("`{coordinate}` is a list of lists, but a find cannot return one");
            return Err(self.refuse(rules::KF0402, message, "make it a list"));
        }
        let many = if field.ty.is_list() { Returns::List } else { Returns::One };
        let is_all = |own: &str| named.is_none_or(|named| named.value == own);
        let (item, returns) = match (draft.kind(inner), definition) {
            (Some(Kind::Misshapen), _) => return Ok(None),
            (Some(Kind::Item), _) => (Some(inner.to_owned()), many),
            (Some(Kind::Connection(_)), _) if many == Returns::List => {
                let message = format!("`{coordinate}` is a list of connections");
                return Err(self.refuse(rules::KF0402, message, "make it one connection"));
            }
            (Some(Kind::Connection(node)), _) => {
                let is_own = draft.kind(node) == Some(&Kind::Item) || is_all(node);
                (is_own.then(|| node.clone()), Returns::Connection)
            }
            (None, ExtendedType::Interface(_) | ExtendedType::Union(_)) => {
                (is_all(inner).then(|| inner.to_owned()), many)
            }
            (None, ExtendedType::Scalar(_)) if inner == "Boolean" && many == Returns::One => (None, Returns::Exists),
            (None, ExtendedType::Scalar(_)) if inner == "Int" && many == Returns::One => (None, Returns::Count),
            _ => {
                let message = format!("`{coordinate}` of type `{}` is not a type that a find can return", field.ty);
                let help = "a find returns an item type, a list or connection of one, `Boolean` (does an item exist?) or `Int` (how many items exist?)";
                let is_value = matches!(definition, ExtendedType::Scalar(_) | ExtendedType::Enum(_));
                let help = match (is_value, draft.records.contains_key(type_name)) {
                    (true, true) => format!("leave `@find` out if the field is stored; {help}"),
                    (true, false) => format!("return the item, of which clients select the field; {help}"),
                    (false, _) => help.to_owned(),
                };
                return Err(self.refuse(rules::KF0402, message, &help));
            }
        };
        Ok(Some(ReturnType { item, returns }))
    }

    /// The field's own item type, or the one that `item:` names.
    fn choose_item(&self, own: Option<String>) -> Result<String, NoTarget> {
        let Self { draft, field, coordinate, named } = self;
        match (own, named) {
            (Some(own), None) => Ok(own),
            (Some(own), Some(named)) if own == named.value => Ok(own),
            (Some(own), Some(named)) => Err(NoTarget {
                rule: rules::KF0403,
                span: named.span.clone(),
                message: format!("`item:` names `{}`, but `{coordinate}` returns `{own}`", named.value),
                help: Some("leave `item:` out".into()),
            }),
            (None, Some(named)) => concrete(draft, named, field.ty.inner_named_type().as_str()),
            (None, None) => {
                let message = format!("`{coordinate}` of type `{}` does not name an item type", field.ty);
                let items: Vec<&str> = item_types(draft).collect();
                let name = field.name.to_lowercase();
                let base = name.trim_end_matches("count").trim_end_matches('s');
                let speaks = |item: &&&str| {
                    let item = item.to_lowercase();
                    name.starts_with(&item) || (base.len() > 2 && item.starts_with(base))
                };
                let meant = items.iter().filter(speaks).max_by_key(|item| item.len());
                let help = match (meant, items.as_slice()) {
                    (Some(one), _) | (None, [one]) => format!("name it: `@find(item: {one})`"),
                    (None, _) => format!("name it, `@find(item: …)`: {}", list(&items)),
                };
                Err(self.refuse(rules::KF0403, message, &help))
            }
        }
    }

    fn refuse(&self, rule: &'static Rule, message: String, help: &str) -> NoTarget {
        let span = span::from_location(self.field.name.location());
        NoTarget { rule, span, message, help: Some(help.to_owned().into()) }
    }
}

/// The type that `item:` names. It is a member if the field's type is abstract, and an item type or an abstract type if
/// the field returns no object.
fn concrete(draft: &SchemaDraft, named: &At<String>, inner: &str) -> Result<String, NoTarget> {
    let node = match draft.kind(inner) {
        Some(Kind::Connection(node)) => node.as_str(),
        _ => inner,
    };
    let abstract_type = is_abstract(draft, node);
    // A find of `Boolean` or `Int` may cover several types.
    if !abstract_type && is_abstract(draft, &named.value) {
        return Ok(named.value.clone());
    }
    let member = |name: &str| !abstract_type || draft.schema.is_subtype(node, name);
    if draft.kind(&named.value) == Some(&Kind::Item) && member(&named.value) {
        return Ok(named.value.clone());
    }
    let items =
        draft.kinds.iter().filter(|(name, kind)| **kind == Kind::Item && member(name)).map(|(name, _)| name.as_str());
    let message = format!(
        "`{}` is not an item type{}",
        named.value,
        if abstract_type { format!(" of `{node}`") } else { String::new() }
    );
    Err(NoTarget { rule: rules::KF0403, span: named.span.clone(), message, help: suggest(&named.value, items) })
}

fn item_types<'d>(draft: &'d SchemaDraft) -> impl Iterator<Item = &'d str> {
    draft.kinds.iter().filter(|(_, kind)| **kind == Kind::Item).map(|(name, _)| name.as_str())
}

/// Whether a type is an interface or a union.
pub fn is_abstract(draft: &SchemaDraft, type_name: &str) -> bool {
    matches!(draft.schema.types.get(type_name), Some(ExtendedType::Interface(_) | ExtendedType::Union(_)))
}

/// The target of a relation by name. `None` if the relation has a mistake, which is reported at the relation itself.
pub fn from_relation(draft: &SchemaDraft, type_name: &str, field_name: &str) -> Option<FindTarget> {
    let field = draft.schema.get_object(type_name)?.fields.get(field_name).filter(|field| is_find(field))?;
    target_of(draft, type_name, field).ok().flatten()
}
