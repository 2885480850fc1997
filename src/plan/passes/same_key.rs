//! Key bindings in; whether they surely make equal keys, out. Must not know reads.

use crate::plan::tree::*;
use crate::schema::template::Template;
use crate::schema::template::part::Part;

/// The most reads of a plan that are compared, each with each: the time grows with the square of their number.
pub const MAX_COMPARED: usize = 256;

/// What a plan says of equal values.
#[derive(Clone, Copy)]
pub struct Provenance<'p> {
    /// The arguments of its fields.
    pub arguments: &'p [Arguments],
    /// Classes of reads whose items are the same, because their keys are.
    pub alike: &'p [Vec<ReadId>],
}

impl<'p> Provenance<'p> {
    /// What the arguments tell alone.
    pub fn from_arguments(arguments: &'p [Arguments]) -> Self {
        Self { arguments, alike: &[] }
    }

    /// Whether two holders hold the same items.
    fn same_holder(self, one: Holder, other: Holder) -> bool {
        let are_alike =
            |one: ReadId, other: ReadId| self.alike.iter().any(|class| class.contains(&one) && class.contains(&other));
        match (one, other) {
            (Holder::Read(one), Holder::Read(other)) => one == other || are_alike(one, other),
            _ => one == other,
        }
    }
}

/// Classes of reads that find the same, in their order. `is_alike` says whether a read is of a class, by what the
/// classes so far tell of the items that its key is of.
pub fn classes(
    reads: impl Iterator<Item = ReadId>,
    arguments: &[Arguments],
    is_alike: impl Fn(&[ReadId], ReadId, Provenance<'_>) -> bool,
) -> Vec<Vec<ReadId>> {
    let mut classes: Vec<Vec<ReadId>> = Vec::new();
    for read in reads {
        let from = Provenance { arguments, alike: &classes };
        match classes.iter().position(|class| is_alike(class, read, from)) {
            Some(class) => classes[class].push(read),
            None => classes.push(vec![read]),
        }
    }
    classes
}

/// Whether two keys have the same template and sources for the partition, and for what else they bind whole. Equal
/// values are found when the plan runs.
pub fn same_partition(one: &KeyBinding, other: &KeyBinding, from: Provenance<'_>) -> bool {
    let (Some(left), Some(right)) = (&one.partition, &other.partition) else { return false };
    let same = |left: &Template, right: &Template| same_template((one, left), (other, right), from);
    one.equal.len() == other.equal.len()
        && same(left, right)
        && one.equal.iter().zip(&other.equal).all(|(left, right)| same(&left.template, &right.template))
}

/// Whether two keys have the same partition, and the same template and sources for what they bind of the sort key.
pub fn same_key(one: &KeyBinding, other: &KeyBinding, from: Provenance<'_>) -> bool {
    let same_sort = match (&one.sort, &other.sort) {
        (Some(left), Some(right)) => same_template((one, left), (other, right), from),
        (left, right) => left.is_none() && right.is_none(),
    };
    same_sort && same_partition(one, other, from)
}

/// Whether a sort key surely begins with this many parts of another one. Both are in one partition.
pub fn same_beginning((outer, parts): (&KeyBinding, usize), inner: &KeyBinding, from: Provenance<'_>) -> bool {
    let (Some(beginning), Some(whole)) = (&outer.sort, &inner.sort) else { return false };
    let (beginning, whole) = (beginning.parts.get(..parts), whole.parts.get(..parts));
    beginning.zip(whole).is_some_and(|(left, right)| same_parts((outer, left), (inner, right), from))
}

/// Whether two templates have the same text, with the same sources. Of shards and replicas, the run chooses the number.
fn same_template(
    (one, left): (&KeyBinding, &Template),
    (other, right): (&KeyBinding, &Template),
    from: Provenance<'_>,
) -> bool {
    same_parts((one, &left.parts), (other, &right.parts), from)
}

fn same_parts(
    (one, left): (&KeyBinding, &[Part]),
    (other, right): (&KeyBinding, &[Part]),
    from: Provenance<'_>,
) -> bool {
    let same = |(left, right): (&Part, &Part)| match (left, right) {
        (Part::Literal(left), Part::Literal(right)) => left == right,
        (Part::Placeholder { field: left, .. }, Part::Placeholder { field: right, .. }) => {
            match (one.fields.get(left.as_str()), other.fields.get(right.as_str())) {
                (Some(left), Some(right)) => same_source(left, right, from),
                (None, None) => left == right,
                _ => false,
            }
        }
        _ => false,
    };
    left.len() == right.len() && left.iter().zip(right).all(same)
}

/// Whether two sources surely give the same value.
pub fn same_source(left: &ValueSource, right: &ValueSource, from: Provenance<'_>) -> bool {
    match (left, right) {
        (ValueSource::Argument(left, name), ValueSource::Argument(right, other)) => {
            let value = |of: &ArgumentsId, name: &str| {
                let name = name.split('.').next().unwrap_or_default();
                Some(&from.arguments.get(*of)?.values.get(name)?.1)
            };
            let same_place = left == right && name == other;
            let same_end = || name.split_once('.').map(|(_, end)| end) == other.split_once('.').map(|(_, end)| end);
            same_place || same_end() && value(left, name).is_some_and(|own| value(right, other) == Some(own))
        }
        (ValueSource::Claim(left), ValueSource::Claim(right)) => left == right,
        (ValueSource::Field(left, reader), ValueSource::Field(right, other)) => {
            from.same_holder(*left, *right) && reader.field == other.field
        }
        (ValueSource::Text(left), ValueSource::Text(right)) => {
            let same = |(left, right): (&SourceText, &SourceText)| match (left, right) {
                (SourceText::Literal(left), SourceText::Literal(right)) => left == right,
                (SourceText::Value(left), SourceText::Value(right)) => same_source(left, right, from),
                _ => false,
            };
            left.len() == right.len() && left.iter().zip(right).all(same)
        }
        _ => false,
    }
}
