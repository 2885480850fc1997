//! Bindings in, every way to read the table and its indexes with them out. Must not choose between them.
//!
//! A partition key must be bound whole. A sort key is bound from the front, as far as its template allows: the leading
//! text, then fields that are bound by equality, then at most one range (DynamoDB developer guide, "Key condition
//! expressions").
//!
//! The number of a shard or a replica needs no binding. Without one, a path reads every shard, or the one that the key
//! determines ([`AccessPath::reading`]). With one, a path whose keys have no such number does not serve.

use super::alternatives::{PassedOver, UsedFields, has_all, known_values, passed_over, said_fields};
use super::wanted::{Binding, Bindings, Bounds, FindContext, Need};
use crate::schema::expression::condition::Condition;
use crate::schema::keys::order::{ends_itself, keeps_order};
use crate::schema::model::find::{Access, AccessPath, Range, Returns, SortAccess};
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyType};
use crate::schema::template::Template;
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::{Part, claim_of, spread_of};
use crate::schema::types::fields;
use indexmap::IndexMap;

/// What a candidate must do.
pub struct Ask<'a> {
    /// Whether an argument is given.
    pub present: &'a dyn Fn(&str) -> bool,
    /// The field that the items must be sorted by.
    pub order: Option<&'a str>,
    /// The condition, which may read only what an index holds.
    pub filter: Option<&'a Condition>,
    /// The bare names that may bind.
    pub bare: BareNames,
    /// Whether a path may leave out required bindings, so that a finding can list the paths there are.
    pub lax: bool,
    /// Whether a path may read fewer alternatives of a key than hold what it binds, so that a finding can say so.
    pub some_alternatives: bool,
}

/// The bare names (rule 7) that a path may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BareNames {
    /// Those of type `ID`.
    Ids,
    /// Also those in the primary key of the parent.
    KeyParts,
    /// Also all others: the fallback.
    All,
}

/// A way to read the items.
#[derive(Debug)]
pub struct Candidate {
    /// The access path. The caller fills in `when` and `order_by`.
    pub path: AccessPath,
    /// How many fields of the sort key are bound.
    pub sort_fields: usize,
    /// Whether the table or index holds everything stored of the item.
    pub covers: bool,
    /// Whether the table or index has every item that is meant. A sparse index leaves out items with a null in a field
    /// of its key.
    pub complete: bool,
    /// The fields without which an item is not in the index. The bound ones are not among them.
    pub sparse: Vec<String>,
    /// An alternative of a key that also holds what is bound, but that the path does not read.
    pub passed_over: Option<PassedOver>,
}

/// Every candidate: first the table's, then those of the indexes in the order of their declaration.
pub fn candidates(wanted: &FindContext, bindings: &Bindings, ask: &Ask) -> Vec<Candidate> {
    let forced = wanted.directive.index.as_ref().map(|name| &name.value);
    let places = std::iter::once(None).chain((0..wanted.table.indexes.len()).map(Some));
    places
        .filter(|place| match (forced, place.map(|index| &wanted.table.indexes[index])) {
            (Some(forced), index) => index.is_some_and(|index| index.name == *forced),
            (None, _) => true,
        })
        .filter(|place| place.is_none_or(|index| wanted.table.indexes[index].local) || !wanted.directive.consistent)
        .filter(|place| ask.filter.is_none_or(|filter| can_filter(wanted, *place, filter)))
        .flat_map(|place| at_place(wanted, bindings, ask, place))
        .filter(|candidate| ask.some_alternatives || candidate.passed_over.is_none())
        .collect()
}

/// A filter reads only attributes that the table or index holds, and none of the key attributes that are queried
/// (DynamoDB API reference, Query, FilterExpression: "does not allow key attributes").
fn can_filter(wanted: &FindContext, place: Option<usize>, filter: &Condition) -> bool {
    let keys = wanted.table.keys_of(place);
    filter.attributes().into_iter().all(|attribute| wanted.table.holds(place, attribute) && !keys.contains(attribute))
}

/// Whether items of other types may be dropped after the read. A list or a page can drop them, but a single item or a
/// count would be wrong.
pub fn sifts(wanted: &FindContext) -> bool {
    matches!(wanted.target.returns, Returns::List | Returns::Connection)
}

/// Whether the table or index tells which of its items are there and of the type.
pub fn tells_items(wanted: &FindContext, place: Option<usize>) -> bool {
    tells_expiry(wanted, place) && distinguishes(wanted, place)
}

/// Whether the table or index tells which items have expired: none do, or it holds their time.
pub fn tells_expiry(wanted: &FindContext, place: Option<usize>) -> bool {
    wanted.keys.expires.as_ref().is_none_or(|attribute| wanted.table.holds(place, attribute))
}

/// Whether the table or index distinguishes the type's items from others in it: their keys differ, or it holds the
/// type's constants.
fn distinguishes(wanted: &FindContext, place: Option<usize>) -> bool {
    let of = |keys: &ItemKeys, key: &str| keys.keys.get(key).cloned().unwrap_or_default();
    let overlaps = |others: &ItemKeys, key: &str| {
        let others = of(others, key);
        of(wanted.keys, key).iter().any(|ours| others.iter().any(|theirs| ours.overlaps(theirs)))
    };
    let keys: Vec<&KeyAttribute> = wanted.table.primary_key().chain(wanted.table.keys_of(place).all()).collect();
    let mut others = wanted
        .draft
        .items
        .iter()
        .filter(|(name, other)| **name != wanted.target.item && other.table == wanted.keys.table);
    wanted.keys.constants.iter().all(|(attribute, _)| wanted.table.holds(place, attribute))
        || !others.any(|(_, other)| keys.iter().all(|key| overlaps(other, &key.name)))
}

/// The templates of the key attributes of a table or an index. Only keys of one attribute each have alternatives.
struct PlaceKeys<'a> {
    /// Those of the first attribute of the partition key.
    partitions: &'a [Template],
    /// That of each further attribute.
    further: Vec<&'a Template>,
    /// Those of each attribute of the sort key.
    sorts: Vec<(&'a KeyAttribute, &'a [Template])>,
}

impl<'a> PlaceKeys<'a> {
    /// `None` if the type's items are not there.
    fn new(wanted: &FindContext<'a>, place: Option<usize>) -> Option<Self> {
        let keys = wanted.table.keys_of(place);
        let templates = |key: &KeyAttribute| wanted.keys.keys.get(&key.name).map(Vec::as_slice);
        let (first, further) = keys.partition.split_first()?;
        Some(Self {
            partitions: templates(first)?,
            further: further.iter().map(|key| templates(key)?.first()).collect::<Option<_>>()?,
            sorts: keys.sort.iter().map(|key| Some((key, templates(key)?))).collect::<Option<_>>()?,
        })
    }

    /// What a path binds of the key: the sort key from the left, and of its last attribute perhaps a part. `None` if
    /// the partition key is not bound whole.
    fn bound(&self, active: &IndexMap<&str, &Binding>) -> Option<BoundKeys<'a>> {
        let mut equal = self.further.clone();
        equal.iter().all(|template| is_bound(template, active)).then_some(())?;
        let mut sorts = self.sorts.iter().copied();
        let mut sort = sorts.next();
        for next in sorts {
            match sort {
                Some((_, [template])) if is_bound(template, active) => equal.push(template),
                _ => break,
            }
            sort = Some(next);
        }
        Some(BoundKeys { equal, sort })
    }
}

/// Whether a template is bound whole.
fn is_bound(template: &Template, active: &IndexMap<&str, &Binding>) -> bool {
    template.is_read_back() && template.fields().iter().all(|field| active.contains_key(field))
}

/// What a path binds of a key.
struct BoundKeys<'a> {
    /// The templates that it binds whole beside the first of the partition key ([`AccessPath::equal`]).
    equal: Vec<&'a Template>,
    /// The attribute of the sort key after them.
    sort: SortTemplates<'a>,
}

/// An attribute of a sort key with its templates.
type SortTemplates<'a> = Option<(&'a KeyAttribute, &'a [Template])>;

/// The candidates of the table, or of one of its indexes.
fn at_place(wanted: &FindContext, bindings: &Bindings, ask: &Ask, place: Option<usize>) -> Vec<Candidate> {
    let Some(keys) = PlaceKeys::new(wanted, place) else { return Vec::new() };
    let active: IndexMap<&str, &Binding> = bindings
        .equal
        .iter()
        .filter(|(_, bound)| may_bind(wanted, bound, ask.bare) && is_there(bound, ask))
        .map(|(name, bound)| (name.as_str(), bound))
        .collect();
    let wish = Wish { wanted, bindings, ask, active };
    let Some(bound) = keys.bound(&wish.active) else { return Vec::new() };
    let mut found = Vec::new();
    for (position, template) in keys.partitions.iter().enumerate() {
        if is_bound(template, &wish.active) {
            for sort in sort_choices(&wish.active, bindings, ask, bound.sort) {
                found.extend(wish.candidate((&keys, place), &bound, position, sort));
            }
        }
    }
    found
}

/// What may be bound, and what a path must do.
struct Wish<'a> {
    wanted: &'a FindContext<'a>,
    bindings: &'a Bindings,
    ask: &'a Ask<'a>,
    /// The bindings that are there.
    active: IndexMap<&'a str, &'a Binding>,
}

impl Wish<'_> {
    /// The candidate that uses the partition key's template at a position and the sort key in one way.
    fn candidate(
        &self,
        (keys, place): (&PlaceKeys<'_>, Option<usize>),
        bound: &BoundKeys<'_>,
        position: usize,
        sort: SortChoice<'_>,
    ) -> Option<Candidate> {
        let (wanted, active) = (self.wanted, &self.active);
        let template = keys.partitions.get(position)?;
        let is_hidden = |part: &&Part| spread_of(part).is_some() || claim_of(part).is_some();
        let whole_ones = || std::iter::once(template).chain(bound.equal.iter().copied());
        let hidden = whole_ones().flat_map(|template| &template.parts).filter(is_hidden);
        let hidden = hidden.filter_map(|part| bound_name(part, active));
        let own = whole_ones().flat_map(Template::fields);
        let used: Vec<&str> = own.chain(hidden).chain(sort.fields.iter().copied()).collect();
        let whole = matches!(sort.access, SortAccess::Equal { .. }) || bound.sort.is_none();
        let known = known_values(wanted, self.ask.filter, active);
        let chosen = sort.access.template().and_then(|chosen| bound.sort.and_then(|(_, all)| all.get(chosen)));
        let read = || whole_ones().chain(chosen);
        let sorts = keys.sorts.iter().map(|(_, all)| *all);
        // Whoever names an index means the items that it has.
        if wanted.directive.index.is_none() && !has_all(read(), sorts, &known) {
            return None;
        }
        let said = said_fields(read(), active);
        if !self.is_served((&used, &said), &sort, whole && place.is_none()) {
            return None;
        }
        let of_sort = bound.equal.iter().skip(keys.further.len()).flat_map(|template| template.fields());
        let own_fields =
            of_sort.chain(sort.fields.iter().copied()).filter(|field| wanted.record.contains_key(*field)).count();
        let sort_fields = own_fields + usize::from(sort.ranged.is_some());
        let access = access(wanted, self.ask, place, (position, sort.access));
        let of_key: Vec<&str> = used.iter().copied().chain(sort.ranged).collect();
        let alternatives = (keys.partitions, bound.sort.map_or(&[][..], |(_, all)| all));
        let passed_over = passed_over(wanted, &access, alternatives, &UsedFields { fields: &of_key, known: &known });
        let path =
            AccessPath { equal: vec![0; bound.equal.len()], ..build_path(wanted, place, access, (&used, active)) };
        let free = keys.sorts.iter().skip(bound.equal.len() - keys.further.len()).map(|(_, all)| *all);
        let sparse = if place.is_none() { Vec::new() } else { sparse(wanted, template, free, active) };
        let cannot_be = |earlier: &Template| earlier.when.as_ref().is_some_and(|when| when.contradicts(&known));
        let is_first = keys.partitions.iter().take(position).all(cannot_be);
        let complete = place.is_none() || (is_first && sparse.is_empty());
        Some(Candidate { path, sort_fields, covers: covers(wanted, place), complete, sparse, passed_over })
    }

    /// Whether a path uses every binding that it must, and gives the order that is asked for. A condition of its keys
    /// may say what one binds. `whole` says whether it binds the whole primary key.
    fn is_served(&self, (used, said): (&[&str], &[&str]), sort: &SortChoice<'_>, whole: bool) -> bool {
        let Self { wanted, bindings, ask, active } = self;
        let single = matches!(wanted.target.returns, Returns::One | Returns::Exists);
        let determined = whole && is_determined(wanted, used.iter().filter_map(|field| active.get(field).copied()));
        let mut needed = active.iter().filter(|(_, bound)| !ask.lax && !may_stay(bound, determined));
        let mut ranged = bindings.ranges.iter().filter(|(_, bounds)| bounds.all().any(|bound| is_there(bound, ask)));
        needed.all(|(field, _)| used.contains(field) || said.contains(field))
            && (ask.lax || ranged.all(|(field, _)| sort.ranged == Some(field.as_str())))
            && ask.order.is_none_or(|field| sort.next == Some(field) || used.contains(&field) || (single && whole))
    }
}

/// The path of an access, with the bindings that it uses.
fn build_path(
    wanted: &FindContext,
    index: Option<usize>,
    access: Access,
    (used, active): (&[&str], &IndexMap<&str, &Binding>),
) -> AccessPath {
    let bound = || used.iter().filter_map(|field| Some(((*field).to_owned(), *active.get(field)?)));
    AccessPath {
        when: Vec::new(),
        order_by: None,
        index,
        access,
        equal: Vec::new(),
        bindings: bound().map(|(field, bound)| (field, bound.source.clone())).collect(),
        rules: bound().map(|(field, bound)| (field, bound.rule)).collect(),
        prefix_alternatives: Vec::new(),
        descending: wanted.directive.descending,
    }
}

/// Whether a path may use a binding.
fn may_bind(wanted: &FindContext, bound: &Binding, bare: BareNames) -> bool {
    !bound.fallback || bare == BareNames::All || bare == BareNames::KeyParts && wanted.is_key_part(bound)
}

/// Whether the parent alone determines which item is meant, if these bindings make up its whole primary key.
pub fn is_determined<'b>(wanted: &FindContext, mut key: impl Iterator<Item = &'b Binding>) -> bool {
    let single = matches!(wanted.target.returns, Returns::One | Returns::Exists | Returns::Count);
    single && wanted.parent_record.is_some() && key.all(|bound| bound.arguments.is_empty())
}

/// Whether a path may leave a binding out. `determined` says whether the parent determines the item by its whole
/// primary key.
pub fn may_stay(bound: &Binding, determined: bool) -> bool {
    match bound.need {
        Need::Always => false,
        Need::Named => determined,
        Need::Free => true,
    }
}

/// A whole primary key is read with GetItem, unless a page, a count or an order needs a Query. A filter needs none: the
/// gateway evaluates it on the items that come.
pub fn access(wanted: &FindContext, ask: &Ask, place: Option<usize>, (partition, sort): (usize, SortAccess)) -> Access {
    let listed = wanted.target.returns == Returns::List && ask.order.is_none();
    let gettable = place.is_none() && (listed || matches!(wanted.target.returns, Returns::One | Returns::Exists));
    match sort {
        SortAccess::Equal { template } if gettable => Access::Get { partition, sort: Some(template) },
        SortAccess::All if gettable && wanted.table.sort.is_none() => Access::Get { partition, sort: None },
        sort => Access::Query { partition, sort },
    }
}

/// One way to use a sort key.
struct SortChoice<'a> {
    access: SortAccess,
    /// The fields that are bound by equality.
    fields: Vec<&'a str>,
    /// The field that is ranged.
    ranged: Option<&'a str>,
    /// The field that the items come sorted by.
    next: Option<&'a str>,
}

fn sort_choices<'a>(
    active: &IndexMap<&str, &Binding>,
    bindings: &Bindings,
    ask: &Ask,
    sorts: SortTemplates<'a>,
) -> Vec<SortChoice<'a>> {
    let all = SortChoice { access: SortAccess::All, fields: Vec::new(), ranged: None, next: None };
    let Some((key, templates)) = sorts else { return vec![all] };
    let mut choices: Vec<SortChoice> = templates
        .iter()
        .enumerate()
        .map(|(position, template)| sort_choice(active, bindings, ask, (key.kind, position, template)))
        .collect();
    if templates.len() > 1 {
        // Unless a bound field selects one alternative, items of all alternatives are wanted. A leading text alone
        // would drop the others.
        choices.retain(|choice| !choice.fields.is_empty() || choice.ranged.is_some());
        choices.push(all);
    }
    choices
}

fn sort_choice<'a>(
    active: &IndexMap<&str, &Binding>,
    bindings: &Bindings,
    ask: &Ask,
    (kind, position, template): (KeyType, usize, &'a Template),
) -> SortChoice<'a> {
    let mut fields: Vec<&str> = Vec::new();
    let mut parts: usize = 0;
    let mut open: Option<(&str, &Part)> = None;
    for part in &template.parts {
        match part {
            Part::Placeholder { field, .. } if part.end() == Some(TextEnd::Unread) => {
                open = Some((field.as_str(), part));
                break;
            }
            Part::Placeholder { field, .. } if active.contains_key(field.as_str()) => fields.push(field),
            Part::Placeholder { value: ValueType::Spread(_), .. } => {}
            Part::Placeholder { field, .. } => {
                open = Some((field.as_str(), part));
                break;
            }
            Part::Literal(_) => {}
        }
        parts += 1;
    }
    // The prefix must match only this value: `A` also matches `AB`, unless a literal or the value's own form ends it.
    if open.is_some()
        && let Some(part @ Part::Placeholder { field, .. }) =
            parts.checked_sub(1).and_then(|last| template.parts.get(last))
        && !ends_itself(part)
    {
        fields.pop();
        parts -= 1;
        open = Some((field.as_str(), part));
    }
    if !template.is_read_back() && template.runs_on(parts) {
        // Only reading the keys back would distinguish other values.
        return SortChoice { access: SortAccess::All, fields: Vec::new(), ranged: None, next: None };
    }
    let range = open
        .and_then(|(field, _)| Some((field, bindings.ranges.get(field)?)))
        .filter(|(_, bounds)| template.is_read_back() || bounds.begins_with.is_none())
        .filter(|(.., bounds)| allows_range(template.parts.get(parts..).unwrap_or_default(), kind, bounds))
        .and_then(|(field, bounds)| Some((field, range(bounds, ask)?)));
    let next = open.filter(|(_, part)| keeps_order(part, kind)).map(|(field, _)| field);
    let ranged = range.as_ref().map(|(field, _)| *field);
    let access = match (open, range) {
        (None, _) => SortAccess::Equal { template: position },
        (Some(_), Some((_, range))) => SortAccess::Range { template: position, parts, range },
        (Some(_), None) if parts == 0 => SortAccess::All,
        (Some(_), None) => SortAccess::Prefix { template: position, parts },
    };
    SortChoice { access, fields, ranged, next }
}

/// The name of a part, if it is bound.
fn bound_name<'a>(part: &'a Part, active: &IndexMap<&str, &Binding>) -> Option<&'a str> {
    match part {
        Part::Placeholder { field, .. } if active.contains_key(field.as_str()) => Some(field),
        _ => None,
    }
}

/// The bounds whose arguments are given.
fn range(bounds: &Bounds, ask: &Ask) -> Option<Range> {
    let side = |side: &Option<(Binding, bool)>| {
        side.as_ref()
            .filter(|(bound, _)| is_there(bound, ask))
            .map(|(bound, inclusive)| (bound.source.clone(), *inclusive))
    };
    if let Some(prefix) = bounds.begins_with.as_ref().filter(|bound| is_there(bound, ask)) {
        return Some(Range::BeginsWith(prefix.source.clone()));
    }
    match (side(&bounds.lower), side(&bounds.upper)) {
        (None, None) => None,
        (lower, upper) => Some(Range::Between { lower, upper }),
    }
}

pub fn is_there(bound: &Binding, ask: &Ask) -> bool {
    bound.arguments.iter().all(|argument| (ask.present)(argument))
}

/// Whether a range of the values of the first of these parts is a range of keys. For free text, `beginsWith` is one
/// anywhere, other ranges only at the end of the key or if the text has one length.
pub fn allows_range(parts: &[Part], kind: KeyType, bounds: &Bounds) -> bool {
    let Some((part @ Part::Placeholder { value, width, .. }, after)) = parts.split_first() else { return false };
    let is_exact = || after.is_empty() || part.has_one_length(after.first());
    match value {
        _ if part.end() == Some(TextEnd::Unread) => false,
        ValueType::Id | ValueType::String if bounds.begins_with.is_some() => true,
        _ if kind != KeyType::S => true,
        ValueType::DateTime(_) | ValueType::Date => true,
        ValueType::Id | ValueType::String => is_exact(),
        ValueType::InForm(..) if value.case().is_some() => bounds.begins_with.is_some() || is_exact(),
        ValueType::Int | ValueType::Long => width.is_some(),
        ValueType::InForm(_, form) => form.sorts(),
        _ => false,
    }
}

/// The other fields of an index's key that may be null: those of the first attribute of the partition key, and of the
/// `sorts` that are not bound whole. The index has every item with the bound values if there are none (DynamoDB
/// developer guide, "Take advantage of sparse indexes").
fn sparse<'t>(
    wanted: &FindContext,
    partition: &Template,
    sorts: impl Iterator<Item = &'t [Template]>,
    active: &IndexMap<&str, &Binding>,
) -> Vec<String> {
    let never_null = |field: &str| wanted.record.get(field).is_some_and(|declared| declared.ty.is_non_null());
    let absent = |template: &Template| -> Vec<String> {
        let fields = template.fields().into_iter().filter(|field| !active.contains_key(field) && !never_null(field));
        fields.map(str::to_owned).collect()
    };
    let mut all = absent(partition);
    for templates in sorts {
        let of_sorts: Vec<Vec<String>> = templates.iter().map(absent).collect();
        if !of_sorts.iter().any(Vec::is_empty) {
            all.extend(of_sorts.into_iter().flatten());
        }
    }
    all.sort();
    all.dedup();
    all
}

/// Whether the table or index holds everything stored of the item.
fn covers(wanted: &FindContext, place: Option<usize>) -> bool {
    let holds = |attribute: &str| wanted.table.holds(place, attribute);
    let constants = wanted.keys.constants.iter().all(|(name, _)| holds(name));
    constants
        && wanted.record.iter().all(|(name, declared)| {
            let stored = fields::place(name, declared, wanted.record, wanted.keys, wanted.table);
            stored.attribute.as_deref().is_some_and(holds) || stored.keys.iter().any(|key| holds(key))
        })
}
