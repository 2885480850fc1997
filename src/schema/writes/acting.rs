//! The parts of an action, gathered once and read by the passes in this folder. Must not decide anything.

use super::directive::ActionDirective;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::span::Span;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::finds::scope::prefixed;
use crate::schema::finds::target::{FindTarget, is_abstract};
use crate::schema::finds::wanted::FindContext;
use crate::schema::model::find::Returns;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::source::Source;
use crate::schema::model::write::{ELEMENT, GivenValue, INDEX, TypeAlternative};
use crate::schema::syntax::directives::{FindDirective, WRITES};
use crate::schema::table::Table;
use crate::schema::types::draft::{Kind, SchemaDraft, StoredFields};
use crate::schema::types::inputs;
use crate::schema::types::names::ItemNames;
use apollo_compiler::ast::{Directive, FieldDefinition};
use apollo_compiler::{Name, Node};
use indexmap::IndexMap;
use std::collections::HashSet;

/// A field of `Mutation` while it is checked.
#[derive(Clone, Copy)]
pub struct Writing<'a> {
    /// The schema being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The root type's name.
    pub parent: &'a str,
    /// The field, with the arguments that the directive sees.
    pub field: &'a FieldDefinition,
    /// The list for each of whose elements the directive is made.
    pub list: Option<&'a ElementList>,
    /// The arguments that are results of calls. No name alone binds them.
    pub results: &'a [Name],
}

/// A list argument, for each of whose elements directives are made.
pub struct ElementList {
    /// Its name, dotted within an input object.
    pub path: String,
    /// The field as these directives see it: its arguments are the element's fields, then the field's own that these do
    /// not hide.
    pub field: FieldDefinition,
    /// The names of the element's fields, [`INDEX`] and, of a scalar, [`ELEMENT`].
    pub names: Vec<String>,
    /// The item type whose id the `id` of an element is: the only one that the directives name.
    pub item: Option<String>,
}

impl ElementList {
    /// The whole name of an argument that the directives see under this name: `lines.sku` for the element's `sku`.
    pub fn whole_name(&self, name: &str) -> Option<String> {
        let first = name.split('.').next()?;
        self.names.iter().any(|own| own == first).then(|| format!("{}.{name}", self.path))
    }
}

/// The words that a text in braces may hold.
pub const WORDS: [&str; 6] = ["now", "uuid", "uuid7", "auth", ELEMENT, INDEX];

/// Whether a name of an argument is a word that only a text uses.
pub fn is_word(name: &str) -> bool {
    name == INDEX || name == ELEMENT
}

impl Writing<'_> {
    /// Whether an argument, or one that it is a field of, is the result of a call.
    pub fn is_result(&self, argument: &str) -> bool {
        let first = argument.split('.').next().unwrap_or_default();
        self.results.iter().any(|result| result == first)
    }

    /// What a name in braces means: a claim, an argument, a field of one, or a field of an item in scope (`Group.id`,
    /// `groupId`, or just `id`).
    pub fn source(&self, name: &str, scope: &[InScope]) -> Option<Source> {
        if let Some(claim) = ClaimPath::parse(name) {
            return Some(Source::Claim(claim));
        }
        if inputs::input(self.draft.schema, self.field, name).is_some() {
            return Some(Source::Argument(name.to_owned()));
        }
        field_in_scope(scope, name).map(|(item, field)| Source::Item(item.to_owned(), field.to_owned()))
    }

    /// All names that mean something in braces, for suggestions: of arguments, those that are known.
    pub fn choices(&self, scope: &[InScope], is_known: &dyn Fn(&str) -> bool) -> Vec<String> {
        let known = inputs::arguments(self.field).filter(|input| is_known(&input.name));
        let arguments = known.flat_map(|input| {
            let members = inputs::members(self.draft.schema, &input);
            std::iter::once(input.name).chain(members.into_iter().map(|member| member.name))
        });
        let fields = fields_in_scope(scope).map(|(item, field)| format!("{item}.{field}"));
        arguments.chain(fields).collect()
    }

    /// `Mutation.field`.
    pub fn coordinate(&self) -> String {
        format!("{}.{}", self.parent, self.field.name)
    }

    /// The item type whose id a bare `id` is: the field's own, or else the only one that its directives name. The `id`
    /// of an element belongs to the only type that the directives of its list name, and any other to none of them.
    pub fn own_item(&self) -> Option<&str> {
        if let Some(list) = self.list {
            return list.item.as_deref().filter(|_| list.names.iter().any(|name| name == "id"));
        }
        let inner = self.field.ty.inner_named_type().as_str();
        if self.draft.kind(inner) == Some(&Kind::Item) {
            return Some(inner);
        }
        let is_item = |name: &&str| self.draft.kind(name) == Some(&Kind::Item) || is_abstract(self.draft, name);
        // A directive that names no type is about the field's own.
        let acts = |directive: &&Node<Directive>| directive.name == "find" || WRITES.contains(&directive.name.as_str());
        let named = self.field.directives.iter().filter(acts).map(|directive| {
            let named = directive.specified_argument_by_name("item").and_then(|item| item.as_enum());
            named.map_or(inner, |name| name.as_str())
        });
        let mut items = named.filter(is_item);
        items.next().filter(|first| items.all(|other| other == *first))
    }
}

/// An item in scope: found by a `@find` of the field, or made by an earlier `@put`.
#[derive(Clone)]
pub struct InScope<'a> {
    /// Its name: the alias of a found item, the type of a put one.
    pub name: String,
    /// Its type.
    pub item: String,
    /// Its stored fields.
    pub record: &'a StoredFields,
    /// Whether a `@find` found it.
    pub found: bool,
    /// The list for each of whose elements there is one.
    pub each: Option<String>,
}

/// The fields of the items in scope, each with its item's name.
fn fields_in_scope<'s>(scope: &'s [InScope]) -> impl Iterator<Item = (&'s str, &'s str)> {
    scope.iter().flat_map(|item| item.record.keys().map(move |field| (item.name.as_str(), field.as_str())))
}

/// The field of an item in scope that a name means: `Group.id`, `groupId`, or just `id`.
pub fn field_in_scope<'s>(scope: &'s [InScope], name: &str) -> Option<(&'s str, &'s str)> {
    let whole = |item: &str, field: &str| name.split_once('.') == Some((item, field));
    let long = |item: &str, field: &str| prefixed(item, field) == name;
    [&whole as &dyn Fn(&str, &str) -> bool, &long, &|_: &str, field: &str| field == name]
        .into_iter()
        .find_map(|is| fields_in_scope(scope).find(|(item, field)| is(item, field)))
}

/// An action while it is checked.
pub struct Acting<'a> {
    /// The field.
    pub writing: Writing<'a>,
    /// The directive.
    pub directive: &'a ActionDirective,
    /// The item type.
    pub item: String,
    /// Its keys.
    pub keys: &'a ItemKeys,
    /// Its stored fields.
    pub record: &'a StoredFields,
    /// Its table.
    pub table: &'a Table,
    /// The items in scope.
    pub scope: &'a [InScope<'a>],
    /// What `where:` says of the fields that find the item.
    pub finds: Clause,
    /// What `set:` says of the fields that are written.
    pub sets: Clause,
    /// If it is one of several actions on an interface or a union: which.
    pub alternative: Option<TypeAlternative>,
}

/// The item of a find that an action's `item:` names by its alias.
pub fn found_by_alias<'s, 'a>(directive: &ActionDirective, scope: &'s [InScope<'a>]) -> Option<&'s InScope<'a>> {
    let named = directive.item.as_ref()?;
    scope.iter().find(|item| item.found && item.name == named.value && item.name != item.item)
}

/// What `set:` or `where:` says.
#[derive(Default)]
pub struct Clause {
    /// The fields that it binds.
    pub bound: IndexMap<String, FieldBinding>,
    /// The fields for which a value is made: of literals and words such as `{now}`, or by a put's `expression:`.
    /// `where:` has none.
    pub made: IndexMap<String, MadeBinding>,
    /// The fields that stay unbound because it says null.
    pub hidden: HashSet<String>,
}

impl Clause {
    /// Whether it says anything of a field.
    pub fn says(&self, field: &str) -> bool {
        self.binds(field) || self.hidden.contains(field)
    }

    /// Whether it gives a field a value.
    pub fn binds(&self, field: &str) -> bool {
        self.bound.contains_key(field) || self.made.contains_key(field)
    }
}

/// A value that is made for a field.
#[derive(Debug, Clone)]
pub struct MadeBinding {
    /// How it is made.
    pub value: GivenValue,
    /// Whether it may be null or missing.
    pub nullable: bool,
    /// The place in the schema.
    pub span: Span,
}

/// What a field is bound to.
#[derive(Debug, Clone)]
pub struct FieldBinding {
    /// The value.
    pub source: Source,
    /// The arguments that the value is made of, dotted: `input.name`.
    pub arguments: Vec<String>,
    /// Whether it may be null or missing.
    pub nullable: bool,
    /// The place of the binding in the schema.
    pub span: Span,
}

impl<'a> Acting<'a> {
    /// The alias of the found item that the action is about.
    pub fn alias(&self) -> Option<&'a str> {
        found_by_alias(self.directive, self.scope).map(|found| found.name.as_str())
    }

    /// The fields in the templates of the table's own keys.
    pub fn primary_fields(&self) -> Vec<&'a str> {
        self.keys.primary_fields(self.table)
    }

    /// The fields in the templates of any key.
    pub fn key_fields(&self) -> Vec<&'a str> {
        let mut fields = self.primary_fields();
        for field in self.keys.keys.values().flatten().flat_map(|template| template.fields()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// Resolves the names in `if:` and `expression:`.
    pub fn names(&self) -> ItemNames<'a> {
        let Writing { draft, field, .. } = self.writing;
        let found = self.scope.iter().filter(|item| item.found);
        let found = found.map(|item| (item.name.as_str(), item.record)).collect();
        ItemNames { draft, field, record: self.record, keys: self.keys, table: self.table, keys_tell: true, found }
    }

    /// The action's item as the target of a find, to choose its access path.
    pub fn wanted(&self, returns: Returns) -> FindContext<'a> {
        FindContext {
            draft: self.writing.draft,
            parent: self.writing.parent,
            parent_record: None,
            field: self.writing.field,
            directive: FindDirective::bare(self.directive.span.clone()),
            target: FindTarget { item: self.item.clone(), returns },
            keys: self.keys,
            record: self.record,
            table: self.table,
            found: Vec::new(),
        }
    }
}

/// A help that adds an argument to the field, or several with commas between them.
pub fn with_argument(acting: &Acting, argument: &str, help: String) -> Help {
    let field = acting.writing.field;
    match field.arguments.last().map(|last| last.location()) {
        _ if acting.alias().is_some() => help.into(),
        Some(last) => {
            let end = span::from_location(last).end;
            Help::edit(help, end..end, format!(", {argument}"))
        }
        None => {
            let end = span::from_location(field.name.location()).end;
            Help::edit(help, end..end, format!("({argument})"))
        }
    }
}
