//! A projection expression and an item in; the part of the item that it names out.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::error::Answer;
use crate::store::expressions::path::{Path, Step};
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::tokens::Tokens;
use std::collections::BTreeMap;

/// The paths of a projection.
pub fn paths(text: &str, placeholders: &Placeholders) -> Answer<Vec<Path>> {
    let mut tokens = Tokens::new("ProjectionExpression", text)?;
    let mut paths = vec![Path::parse(&mut tokens, placeholders)?];
    while tokens.take(",") {
        paths.push(Path::parse(&mut tokens, placeholders)?);
    }
    tokens.need_end()?;
    for (at, path) in paths.iter().enumerate() {
        if paths[..at].iter().any(|other| other.overlaps(path) || other.conflicts(path)) {
            return Err(tokens.error("Two document paths overlap with each other"));
        }
    }
    Ok(paths)
}

/// What is at the paths. The elements of a list that are left move together.
pub fn project(item: &Item, paths: &[Path]) -> Item {
    let mut wanted: BTreeMap<&str, Vec<&[Step]>> = BTreeMap::new();
    for path in paths {
        wanted.entry(&path.attribute).or_default().push(&path.steps);
    }
    let part = |(name, ways): (&str, Vec<&[Step]>)| Some((name.to_owned(), part(item.get(name)?, &ways)?));
    wanted.into_iter().filter_map(part).collect()
}

/// What is of a value at the ends of these ways; `None` if nothing is.
fn part(value: &Attribute, ways: &[&[Step]]) -> Option<Attribute> {
    if ways.iter().any(|way| way.is_empty()) {
        return Some(value.clone());
    }
    let through =
        |step: &Step| -> Vec<&[Step]> { ways.iter().filter(|way| way[0] == *step).map(|way| &way[1..]).collect() };
    match value {
        Attribute::M(members) => {
            let kept = |(name, value): (&String, &Attribute)| {
                let ways = through(&Step::Member(name.clone()));
                (!ways.is_empty()).then(|| Some((name.clone(), part(value, &ways)?))).flatten()
            };
            let kept: Item = members.iter().filter_map(kept).collect();
            (!kept.is_empty()).then_some(Attribute::M(kept))
        }
        Attribute::L(elements) => {
            let kept = |(index, value): (usize, &Attribute)| {
                let ways = through(&Step::Element(index));
                if ways.is_empty() { None } else { part(value, &ways) }
            };
            let kept: Vec<Attribute> = elements.iter().enumerate().filter_map(kept).collect();
            (!kept.is_empty()).then_some(Attribute::L(kept))
        }
        _ => None,
    }
}
