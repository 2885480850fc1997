//! One candidate for each of several item types in, the one read that finds the items of all of them out, or why there
//! is none. Must not choose between reads.
//!
//! A Query reads one range of one partition. So all partition keys must have the same text, and the Query reads the
//! longest common prefix of the sort keys' conditions. Two templates have the same text as far as their literals are
//! equal and their placeholders have the same form and the same source. The Query may read more than one type's own
//! condition asks for. The surplus is either items of no member, which are skipped, or items that nobody asked to
//! exclude.

use crate::schema::finds::abstract_type::mismatch::Mismatch;
use crate::schema::finds::best::Rank;
use crate::schema::finds::candidates::{Ask, Candidate, access, is_determined, is_there, may_stay};
use crate::schema::finds::wanted::{Bindings, FindContext};
use crate::schema::keys::order::{ends_itself, keeps_order};
use crate::schema::model::find::{Access, AccessPath, PathKeys, Range, SortAccess};
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyType};
use crate::schema::template::Template;
use crate::schema::template::part::{Part, spread_of};
use std::cmp::Reverse;

/// A member with a candidate to read it by.
pub struct Side<'a> {
    /// The member's find.
    pub wanted: &'a FindContext<'a>,
    /// The member's bindings.
    pub bindings: &'a Bindings,
    /// What the member's candidate must do.
    pub ask: &'a Ask<'a>,
    /// The candidate.
    pub candidate: &'a Candidate,
}

/// A read of several item types. Template positions in its path are 0, because `partition` and `sort` are each the only
/// template of their key.
#[derive(Debug)]
pub struct Shared {
    /// The path.
    pub path: AccessPath,
    /// The partition key's template; `None` for a Scan.
    pub partition: Option<Template>,
    /// The templates of the other attributes that the path binds whole.
    pub equal: Vec<Template>,
    /// The sort key's template; `None` if the sort key has no condition.
    pub sort: Option<Template>,
    /// Smaller is better, as for a single type.
    pub rank: Rank,
    /// The fields without which an item is not in the index.
    pub sparse: Vec<String>,
}

/// What the sort keys of all sides have in common.
struct Common<'a> {
    /// How many leading parts are the same in all templates.
    whole: usize,
    /// The common prefix of the literals that follow.
    rest: String,
    /// Whether the next part has the same value in all keys and differs only in its escapes.
    opens: bool,
    sides: Vec<(&'a Side<'a>, Option<&'a Template>, usize)>,
}

/// The read that serves all sides. All sides read the same table, or the same index of it.
pub fn shared_access(sides: &[Side]) -> Result<Shared, Mismatch> {
    let first = sides.first().ok_or(Mismatch::Partitions)?;
    let place = first.candidate.path.index;
    let keys = first.candidate.path.keys(first.wanted.table);
    let heads = heads(sides, &keys)?;
    let lead = heads.first().ok_or(Mismatch::Partitions)?;
    let kind = keys.sort.map_or(KeyType::S, |key| key.kind);
    let common = Common::new(sides, &heads, keys.sort.map(|key| key.name.as_str()), kind);
    common.check_bound(&heads)?;
    let (access_to_sort, sort) = common.condition(kind)?;
    common.check_order(&heads, &access_to_sort, kind)?;
    let bound: Vec<String> = lead.fields().chain(common.fields(0)).map(str::to_owned).collect();
    let further = first.wanted.table.keys_of(place).partition.len() - 1;
    let leading = lead.equal.iter().skip(further).map(|template| fields(Some(template), usize::MAX).count());
    let sort_fields = leading.sum::<usize>()
        + common.fields(0).count()
        + usize::from(matches!(access_to_sort, SortAccess::Range { .. }));
    let access = access(first.wanted, first.ask, place, (0, access_to_sort));
    let get = matches!(access, Access::Get { .. });
    let complete = sides.iter().all(|side| side.candidate.complete);
    let rank =
        (!get, !complete, Reverse(sort_fields), place.is_some(), !sides.iter().all(|side| side.candidate.covers));
    let mut sparse: Vec<String> = sides.iter().flat_map(|side| side.candidate.sparse.clone()).collect();
    sparse.sort();
    sparse.dedup();
    let known = &first.candidate.path;
    let bindings = bound.iter().filter_map(|field| Some((field.clone(), known.bindings.get(field)?.clone()))).collect();
    let rules = bound.iter().filter_map(|field| Some((field.clone(), *known.rules.get(field)?))).collect();
    let path = AccessPath {
        when: Vec::new(),
        order_by: None,
        index: place,
        access,
        equal: known.equal.clone(),
        bindings,
        rules,
        prefix_alternatives: common.prefix_alternatives(),
        descending: known.descending,
    };
    let equal = lead.equal.iter().map(|template| (*template).clone()).collect();
    Ok(Shared { path, partition: Some(lead.partition.clone()), equal, sort, rank, sparse })
}

/// The part of a side's key that its path binds whole, before the attribute of the sort key that it may bind in part.
struct Head<'a> {
    partition: &'a Template,
    equal: Vec<&'a Template>,
}

impl<'a> Head<'a> {
    fn new(side: &Side<'a>, keys: &PathKeys<'_>) -> Option<Self> {
        let path = &side.candidate.path;
        let (Access::Get { partition, .. } | Access::Query { partition, .. }) = &path.access else { return None };
        let template = |key: &KeyAttribute, at: usize| side.wanted.keys.keys.get(&key.name)?.get(at);
        let equal = keys.equal.iter().zip(&path.equal).map(|(key, at)| template(key, *at)).collect::<Option<_>>()?;
        (keys.equal.len() == path.equal.len())
            .then_some(Self { partition: template(keys.partition, *partition)?, equal })
    }

    fn templates(&self) -> impl Iterator<Item = &'a Template> {
        std::iter::once(self.partition).chain(self.equal.iter().copied())
    }

    fn fields(&self) -> impl Iterator<Item = &'a str> {
        self.templates().flat_map(|template| fields(Some(template), usize::MAX))
    }
}

/// The heads of all sides, which have the same texts.
fn heads<'a>(sides: &[Side<'a>], keys: &PathKeys<'_>) -> Result<Vec<Head<'a>>, Mismatch> {
    let heads: Option<Vec<Head>> = sides.iter().map(|side| Head::new(side, keys)).collect();
    let (heads, first) = heads.zip(sides.first()).ok_or(Mismatch::Partitions)?;
    let kinds: Vec<KeyType> = keys.one_valued().map(|key| key.kind).collect();
    let is_same = |(side, head): (&Side<'a>, &Head<'a>)| {
        let lead = heads.iter().take(1).flat_map(Head::templates);
        lead.zip(head.templates()).zip(&kinds).all(|((lead, template), kind)| {
            template.parts.len() == lead.parts.len()
                && (0..template.parts.len()).all(|at| same_part((first, lead), (side, template), at, *kind))
        })
    };
    match sides.iter().zip(&heads).all(is_same) {
        true => Ok(heads),
        false => Err(Mismatch::Partitions),
    }
}

/// A candidate's condition on the sort key.
fn sort_of(side: &Side) -> SortAccess {
    match &side.candidate.path.access {
        Access::Get { sort: Some(template), .. } => SortAccess::Equal { template: *template },
        Access::Query { sort, .. } => sort.clone(),
        Access::Get { sort: None, .. } | Access::Scan => SortAccess::All,
    }
}

impl<'a> Common<'a> {
    fn new(sides: &'a [Side<'a>], heads: &[Head], key: Option<&str>, kind: KeyType) -> Self {
        let sides: Vec<(&Side, Option<&Template>, usize)> = sides.iter().map(|side| template_of(side, key)).collect();
        let templates: Option<Vec<(&Side, &Template)>> =
            sides.iter().map(|(side, template, _)| Some((*side, (*template)?))).collect();
        let mut common = Self { whole: 0, rest: String::new(), opens: false, sides };
        let Some([lead, others @ ..]) = templates.as_deref() else { return common };
        let bound = common.sides.iter().map(|(.., parts)| *parts).min().unwrap_or(0);
        common.whole =
            (0..bound).take_while(|at| others.iter().all(|other| same_part(*lead, *other, *at, kind))).count();
        if common.whole < bound {
            common.rest = common_literal(templates.iter().flatten().map(|(_, template)| *template), common.whole);
        }
        while !common.ends(lead.1) {
            common.whole -= 1;
        }
        // If the field is also in the partition key, it has one value in the whole partition. So the prefix need not
        // mark where the value ends.
        let in_partitions = |field: &str| heads.iter().all(|head| head.fields().any(|own| own == field));
        common.opens = common.whole < bound
            && lead.1.parts.get(common.whole).and_then(field_of).is_some_and(in_partitions)
            && others.iter().all(|other| differ_in_escapes(*lead, *other, common.whole));
        common
    }

    /// Whether the prefix matches no longer value of the last placeholder: a literal or the value's own form ends it,
    /// or nothing follows it in any key.
    fn ends(&self, lead: &Template) -> bool {
        if lead.is_open(self.whole) && !self.are_whole() {
            return false;
        }
        let ended = self.whole == 0 || !self.rest.is_empty() || lead.parts.get(self.whole - 1).is_none_or(ends_itself);
        ended || self.are_whole()
    }

    /// Whether all sort keys are bound whole, with the same text.
    fn are_whole(&self) -> bool {
        let whole = |side: &Side| matches!(sort_of(side), SortAccess::Equal { .. });
        self.sides.iter().all(|(side, template, _)| {
            whole(side) && template.is_some_and(|template| template.parts.len() == self.whole)
        })
    }

    /// The sort key templates of the other sides, if they escape the next part differently.
    fn prefix_alternatives(&self) -> Vec<Template> {
        let others = self.sides.iter().skip(1).filter(|_| self.opens);
        others.filter_map(|(_, template, _)| (*template).cloned()).collect()
    }

    /// The fields in the common parts, under this side's names.
    fn fields(&self, side: usize) -> impl Iterator<Item = &'a str> + use<'a> {
        fields(self.sides.get(side).and_then(|(_, template, _)| *template), self.whole)
    }

    /// Checks that the common parts use every binding that must be used.
    fn check_bound(&self, heads: &[Head]) -> Result<(), Mismatch> {
        for (at, (side, ..)) in self.sides.iter().enumerate() {
            let used: Vec<&str> = heads[at].fields().chain(self.fields(at)).collect();
            let key = used.iter().filter_map(|field| side.bindings.equal.get(*field));
            let determined = self.are_whole() && side.candidate.path.index.is_none() && is_determined(side.wanted, key);
            let mut asked = side
                .bindings
                .equal
                .iter()
                .filter(|(_, bound)| is_there(bound, side.ask) && !may_stay(bound, determined));
            if let Some((field, _)) = asked.find(|(field, _)| !used.contains(&field.as_str())) {
                return Err(Mismatch::Bound(field.clone()));
            }
        }
        Ok(())
    }

    /// The condition on the sort key, and the template that it refers to.
    fn condition(&self, kind: KeyType) -> Result<(SortAccess, Option<Template>), Mismatch> {
        if let Some((range, field)) = self.sides.iter().find_map(|(side, ..)| ranged(side)) {
            return self.range(&range, kind).ok_or(Mismatch::Ranged(field));
        }
        let Some((_, Some(lead), _)) = self.sides.first() else { return Ok((SortAccess::All, None)) };
        if self.are_whole() {
            return Ok((SortAccess::Equal { template: 0 }, Some((*lead).clone())));
        }
        if self.opens {
            return Ok((SortAccess::Prefix { template: 0, parts: self.whole + 1 }, Some((*lead).clone())));
        }
        let mut parts = lead.parts[..self.whole].to_vec();
        parts.extend((!self.rest.is_empty()).then(|| Part::Literal(self.rest.clone())));
        Ok(match parts.len() {
            0 => (SortAccess::All, None),
            count => {
                let mut template = Template::made_of(parts);
                if template.runs_on(count) {
                    // Keys with other values may begin with this prefix too. This placeholder takes the rest of a key,
                    // so that its values can be read back.
                    template.parts.push(Part::Placeholder {
                        field: String::new(),
                        value: ValueType::String,
                        width: None,
                        limits: None,
                    });
                }
                (SortAccess::Prefix { template: 0, parts: count }, Some(template))
            }
        })
    }

    /// The range that all sides share: the same range of the same placeholder after the same prefix. `None` if they
    /// share none.
    fn range(&self, range: &Range, kind: KeyType) -> Option<(SortAccess, Option<Template>)> {
        let (first, lead, _) = self.sides.first()?;
        let lead = (*lead)?;
        let is_same = self.sides.iter().all(|(side, template, parts)| {
            let placeholder =
                template.and_then(|template| same_form((first, lead), (side, template), self.whole, kind));
            *parts == self.whole
                && self.rest.is_empty()
                && placeholder.is_some()
                && ranged(side).is_some_and(|(other, _)| other == *range)
        });
        let templates = || self.sides.iter().filter_map(|(_, template, _)| *template);
        let ends_key = templates().filter(|template| template.parts.len() == self.whole + 1).count();
        let after = common_literal(templates(), self.whole + 1);
        // Either the value ends every key, or a common literal marks where it ends.
        if !is_same || (ends_key < self.sides.len() && after.is_empty()) {
            return None;
        }
        let mut parts = lead.parts[..=self.whole].to_vec();
        if ends_key == 0 {
            // A key's value is read back up to the literal. The placeholder takes the rest, which differs by type.
            parts.extend([
                Part::Literal(after),
                Part::Placeholder { field: String::new(), value: ValueType::String, width: None, limits: None },
            ]);
        }
        Some((
            SortAccess::Range { template: 0, parts: self.whole, range: range.clone() },
            Some(Template::made_of(parts)),
        ))
    }

    /// Checks the order: the sort field is bound, or follows the same prefix in every key.
    fn check_order(&self, heads: &[Head], access: &SortAccess, kind: KeyType) -> Result<(), Mismatch> {
        let first = self.sides.first();
        for (at, (side, template, _)) in self.sides.iter().enumerate() {
            let Some(order) = side.ask.order else { continue };
            let bound = heads[at].fields().chain(self.fields(at)).any(|field| field == order);
            let next = template.zip(first).is_some_and(|(template, (first, lead, _))| {
                let part = template.parts.get(self.whole);
                self.rest.is_empty()
                    && part.is_some_and(|part| field_of(part) == Some(order) && keeps_order(part, kind))
                    && lead.is_some_and(|lead| same_form((first, lead), (side, template), self.whole, kind).is_some())
            });
            if !(bound || next || matches!(access, SortAccess::Equal { .. })) {
                return Err(Mismatch::Unsorted);
            }
        }
        Ok(())
    }
}

/// The template of a side's sort key, and how many of its parts are bound. No template if the key may have any of
/// several.
fn template_of<'a>(side: &'a Side<'a>, key: Option<&str>) -> (&'a Side<'a>, Option<&'a Template>, usize) {
    let templates = key.and_then(|key| side.wanted.keys.keys.get(key)).map(Vec::as_slice).unwrap_or_default();
    let at = |position: usize| templates.get(position);
    let (template, parts) = match sort_of(side) {
        SortAccess::All => (if let [only] = templates { Some(only) } else { None }, 0),
        SortAccess::Equal { template } => (at(template), at(template).map_or(0, |template| template.parts.len())),
        SortAccess::Prefix { template, parts } | SortAccess::Range { template, parts, .. } => (at(template), parts),
    };
    (side, template, parts)
}

/// A side's range and the ranged field.
fn ranged(side: &Side) -> Option<(Range, String)> {
    let SortAccess::Range { range, .. } = sort_of(side) else { return None };
    Some((range, side.bindings.ranges.keys().next().cloned().unwrap_or_default()))
}

/// The fields of a template's first parts.
fn fields(template: Option<&Template>, parts: usize) -> impl Iterator<Item = &str> {
    template.into_iter().flat_map(move |template| template.parts.iter().take(parts)).filter_map(field_of)
}

fn field_of(part: &Part) -> Option<&str> {
    match part {
        Part::Placeholder { field, .. } => Some(field),
        Part::Literal(_) => None,
    }
}

/// Whether both templates write the same text at a position.
fn same_part(left: (&Side, &Template), right: (&Side, &Template), at: usize, kind: KeyType) -> bool {
    if let (Some(Part::Literal(a)), Some(Part::Literal(b))) = (left.1.parts.get(at), right.1.parts.get(at)) {
        return a == b;
    }
    if let (Some(a), Some(b)) = (spread_at(left.1, at), spread_at(right.1, at)) {
        // A Query reads all shards, or those that are bound. A Get of equal keys reads one shard.
        let bound = |(side, _): (&Side, &Template)| side.candidate.path.bindings.get(&a.placeholder()).cloned();
        return a == b && a.kind == SpreadKind::Shard && bound(left) == bound(right);
    }
    same_form(left, right, at, kind).is_some_and(|(a, b)| {
        let source = |(side, _): (&Side, &Template), field: &str| side.candidate.path.bindings.get(field).cloned();
        let (a, b) = (source(left, a), source(right, b));
        a.is_some() && a == b
    })
}

fn spread_at(template: &Template, at: usize) -> Option<Spread> {
    template.parts.get(at).and_then(spread_of)
}

/// Whether both templates have the same free text at a position. Each escapes it as its own next literal demands.
fn differ_in_escapes(left: (&Side, &Template), right: (&Side, &Template), at: usize) -> bool {
    use ValueType::{Id, String};
    let part = |(side, template): (&Side, &Template)| match template.parts.get(at) {
        Some(part @ Part::Placeholder { field, value: Id | String, .. }) if part.needed().is_none() => {
            Some((field.clone(), side.candidate.path.bindings.get(field).cloned()?))
        }
        _ => None,
    };
    part(left).is_some_and(|left| part(right) == Some(left))
}

/// The fields of both templates at a position, if equal values give equal text there.
fn same_form<'t>(
    left: (&Side, &'t Template),
    right: (&Side, &'t Template),
    at: usize,
    kind: KeyType,
) -> Option<(&'t str, &'t str)> {
    use ValueType as V;
    let (
        Part::Placeholder { field: a, value: left_value, width: left_width, .. },
        Part::Placeholder { field: b, value: right_value, width: right_width, .. },
    ) = (left.1.parts.get(at)?, right.1.parts.get(at)?)
    else {
        return None;
    };
    let literal = |template: &'t Template| match template.parts.get(at + 1) {
        Some(Part::Literal(literal)) => Some(literal.as_str()),
        _ => None,
    };
    let needed = |template: &Template| template.parts.get(at).and_then(Part::needed);
    let same = match (left_value, right_value) {
        // The literal that follows free text decides how the text is escaped, and limits whether it is written.
        (V::Id | V::String, V::Id | V::String) => {
            literal(left.1) == literal(right.1) && needed(left.1) == needed(right.1)
        }
        (V::Int | V::Long, V::Int | V::Long) | (V::Claim, V::Claim) => true,
        // A text key writes every instant in the same form, whatever form its attribute has.
        (V::DateTime(a), V::DateTime(b)) => kind == KeyType::S || a == b,
        (V::Enum(a), V::Enum(b)) => a.stored == b.stored,
        (V::InForm(a, a_form), V::InForm(b, b_form)) => {
            a_form == b_form && a.name() == b.name() && needed(left.1) == needed(right.1)
        }
        (V::Date, V::Date)
        | (V::Boolean, V::Boolean)
        | (V::Float, V::Float)
        | (V::Decimal, V::Decimal)
        | (V::Binary, V::Binary) => true,
        _ => false,
    };
    (same && left_width == right_width).then_some((a, b))
}

/// The common prefix of the literals at a position; empty if a template has no literal there.
fn common_literal<'t>(templates: impl Iterator<Item = &'t Template>, at: usize) -> String {
    let mut common: Option<&str> = None;
    for template in templates {
        let Some(Part::Literal(literal)) = template.parts.get(at) else { return String::new() };
        common = Some(match common {
            None => literal,
            Some(common) => {
                let ends = common.char_indices().zip(literal.chars()).find(|((_, a), b)| a != b);
                let end = ends.map_or(common.len().min(literal.len()), |((end, _), _)| end);
                &common[..end]
            }
        });
    }
    common.unwrap_or_default().to_owned()
}
