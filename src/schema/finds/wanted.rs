//! The parts of a find, gathered once and read by the passes in this folder. Must not decide anything.

use super::target::FindTarget;
use crate::schema::diagnostics::span::Span;
use crate::schema::model::find::Returns;
use crate::schema::model::keys::ItemKeys;
use crate::schema::model::page::PageForm;
use crate::schema::model::source::{BindingRule, Source};
use crate::schema::scalar::spread::Spread;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::table::Table;
use crate::schema::template::part::Part;
use crate::schema::types::draft::{SchemaDraft, StoredFields};
use apollo_compiler::ast::{FieldDefinition, InputValueDefinition};
use indexmap::IndexMap;
use std::collections::HashSet;

/// A find that is being checked.
pub struct FindContext<'a> {
    /// The schema that is being checked.
    pub draft: &'a SchemaDraft<'a>,
    /// The type that has the field.
    pub parent: &'a str,
    /// The parent's stored fields; `None` for a root type.
    pub parent_record: Option<&'a StoredFields>,
    /// The field.
    pub field: &'a FieldDefinition,
    /// Its `@find`.
    pub directive: FindDirective,
    /// What it looks for.
    pub target: FindTarget,
    /// The target's keys.
    pub keys: &'a ItemKeys,
    /// The target's stored fields.
    pub record: &'a StoredFields,
    /// The target's table.
    pub table: &'a Table,
    /// The names and the stored fields of the items that are found before it, for the same field of a mutation.
    pub found: Vec<(String, &'a StoredFields)>,
}

/// The form of the page that a find returns, if it returns one.
pub fn page_form(draft: &SchemaDraft, field: &FieldDefinition, returns: Returns) -> Option<PageForm> {
    let page = draft.schema.get_object(field.ty.inner_named_type()).filter(|_| returns == Returns::Connection);
    page.map(|page| PageForm::recognise(|name| page.fields.contains_key(name)))
}

impl<'a> FindContext<'a> {
    /// `Type.field`.
    pub fn coordinate(&self) -> String {
        format!("{}.{}", self.parent, self.field.name)
    }

    /// An argument of the field.
    pub fn argument(&self, name: &str) -> Option<&'a InputValueDefinition> {
        self.field.arguments.iter().find(|argument| argument.name == name).map(|argument| &**argument)
    }

    /// The form of the page that it returns, if it returns one.
    pub fn page_form(&self) -> Option<PageForm> {
        page_form(self.draft, self.field, self.target.returns)
    }

    /// Whether an argument's name is one of those that page and sort. Those of AppSync's form are so on such a page
    /// only: elsewhere they are names like others.
    pub fn is_paging(&self, name: &str) -> bool {
        let words = PageForm::Connection.arguments().iter().chain(&["orderBy", "order"]);
        let of_form = self.page_form().map(PageForm::arguments).unwrap_or_default();
        words.chain(of_form).any(|word| *word == name)
    }

    /// The target's spread, if this word (`shard` or `replica`) binds it. A field of the same name comes first.
    pub fn spread(&self, word: &str) -> Option<Spread> {
        self.keys.spread().filter(|spread| spread.kind.word() == word && !self.record.contains_key(word))
    }

    /// Whether a field or a claim is part of a key of the target, so that a path can use it.
    pub fn in_keys(&self, field: &str) -> bool {
        let holds = |part: &Part| matches!(part, Part::Placeholder { field: name, .. } if name == field);
        self.keys.keys.values().flatten().any(|template| template.parts.iter().any(holds))
    }

    /// Whether a binding is by a bare name of a field in the parent's primary key.
    pub fn is_key_part(&self, bound: &Binding) -> bool {
        let (Source::Parent(own), BindingRule::SameName) = (&bound.source, bound.rule) else { return false };
        let parent =
            self.draft.items.get(self.parent).and_then(|keys| Some((keys, self.draft.tables.get(keys.table)?)));
        parent.is_some_and(|(keys, table)| keys.primary_fields(table).contains(&own.as_str()))
    }

    /// The claims in the target's keys, each bound to the caller's. Every path uses them all, so that no caller names
    /// another's key.
    pub fn claims(&self) -> impl Iterator<Item = (String, Binding)> {
        let (rule, need) = (BindingRule::Template, Need::Always);
        let bound =
            move |claim| Binding { source: Source::Claim(claim), arguments: Vec::new(), rule, fallback: false, need };
        self.keys.claims().into_iter().map(move |claim| (claim.to_string(), bound(claim)))
    }

    /// The name of the table (`None`) or of the index at a position, for messages and `describe`.
    pub fn place_name(&self, index: Option<usize>) -> &str {
        index.and_then(|index| self.table.indexes.get(index)).map_or(self.table.name.as_str(), |index| &index.name)
    }
}

/// What binds a field of the target.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Where the value comes from.
    pub source: Source,
    /// The arguments that the value is made of. If one is null, nothing is bound.
    pub arguments: Vec<String>,
    /// The rule by which it binds.
    pub rule: BindingRule,
    /// Whether it is used only if no access path exists without it.
    pub fallback: bool,
    /// Whether an access path has to use it.
    pub need: Need,
}

/// Whether an access path has to use a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Always: the author wrote it down for this field, as an argument or in `where:`.
    Always,
    /// Unless the parent determines the item by its whole primary key. The name of the parent's field contains a type
    /// or the find's field.
    Named,
    /// Not at all: the two types merely have a field of the same name.
    Free,
}

/// A range over a field of the target.
#[derive(Debug, Clone, Default)]
pub struct Bounds {
    /// The lower bound and whether it is inclusive.
    pub lower: Option<(Binding, bool)>,
    /// The upper bound and whether it is inclusive.
    pub upper: Option<(Binding, bool)>,
    /// The text that the value begins with.
    pub begins_with: Option<Binding>,
    /// The place of the field's name in `where:`.
    pub span: Span,
}

impl Bounds {
    /// Every bound that is set.
    pub fn all(&self) -> impl Iterator<Item = &Binding> {
        let pair = [&self.lower, &self.upper].into_iter().filter_map(|bound| bound.as_ref().map(|(bound, _)| bound));
        pair.chain(&self.begins_with)
    }
}

/// Everything that is bound.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    /// Field of the target → what it equals.
    pub equal: IndexMap<String, Binding>,
    /// Field of the target → its range.
    pub ranges: IndexMap<String, Bounds>,
    /// Fields of the target that stay unbound, because `where:` sets them to null.
    pub hidden: HashSet<String>,
}

impl Bindings {
    /// Whether an argument takes part in a binding or a range.
    pub fn uses(&self, argument: &str) -> bool {
        let ranged = self.ranges.values().flat_map(Bounds::all);
        self.equal.values().chain(ranged).any(|bound| bound.arguments.iter().any(|name| name == argument))
    }

    /// Whether a field of the parent takes part in a binding or a range.
    pub fn uses_parent(&self, field: &str) -> bool {
        let ranged = self.ranges.values().flat_map(Bounds::all);
        self.equal
            .values()
            .chain(ranged)
            .any(|bound| bound.source.leaves().contains(&&Source::Parent(field.to_owned())))
    }
}
