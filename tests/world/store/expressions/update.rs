//! An update and an item in; the new item out. All values are those of the item before the update.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::path::{Path, Step};
use crate::store::expressions::update_text::{NewValue, Sum, Update};

impl Update {
    pub fn apply(&self, old: &Item) -> Answer<Item> {
        let mut sets = Vec::new();
        for (path, sum) in &self.set {
            sets.push((path, sum.value(old)?));
        }
        for (path, value) in &self.add {
            sets.push((path, added(path.find(old), value)?));
        }
        let mut removes: Vec<&Path> = self.remove.iter().collect();
        for (path, value) in &self.delete {
            match path.find(old).map(|set| without(set, value)).transpose()? {
                None => {}
                Some(Some(left)) => sets.push((path, left)),
                Some(None) => removes.push(path),
            }
        }
        let mut item = old.clone();
        // Elements behind the end of a list are appended in the order of their indexes.
        sets.sort_by_key(|(path, _)| (*path).clone());
        for (path, value) in sets {
            set(&mut item, path, value)?;
        }
        // From the last element of a list to the first, so that each index still says what it said.
        removes.sort();
        for path in removes.into_iter().rev() {
            remove(&mut item, path)?;
        }
        Ok(item)
    }
}

impl Sum {
    fn value(&self, item: &Item) -> Answer<Attribute> {
        let (left, right, is_plus) = match self {
            Self::One(value) => return value.value(item),
            Self::Plus(left, right) => (left, right, true),
            Self::Minus(left, right) => (left, right, false),
        };
        match (left.value(item)?, right.value(item)?) {
            (Attribute::N(left), Attribute::N(right)) if is_plus => left.plus(&right).map(Attribute::N),
            (Attribute::N(left), Attribute::N(right)) => left.minus(&right).map(Attribute::N),
            _ => Err(wrong_type()),
        }
    }
}

impl NewValue {
    fn value(&self, item: &Item) -> Answer<Attribute> {
        match self {
            Self::Value(value) => Ok(value.clone()),
            Self::Path(path) => path.find(item).cloned().ok_or_else(|| {
                ModelError::invalid("The provided expression refers to an attribute that does not exist in the item")
            }),
            Self::IfNotExists(path, other) => match path.find(item) {
                Some(value) => Ok(value.clone()),
                None => other.value(item),
            },
            Self::ListAppend(first, second) => match (first.value(item)?, second.value(item)?) {
                (Attribute::L(mut elements), Attribute::L(more)) => {
                    elements.extend(more);
                    Ok(Attribute::L(elements))
                }
                _ => Err(wrong_type()),
            },
        }
    }
}

/// The value after an ADD.
fn added(old: Option<&Attribute>, value: &Attribute) -> Answer<Attribute> {
    match (old, value) {
        (None, value) => Ok(value.clone()),
        (Some(Attribute::N(old)), Attribute::N(more)) => old.plus(more).map(Attribute::N),
        (Some(Attribute::Ss(old)), Attribute::Ss(more)) => Ok(Attribute::Ss(old | more)),
        (Some(Attribute::Ns(old)), Attribute::Ns(more)) => Ok(Attribute::Ns(old | more)),
        (Some(Attribute::Bs(old)), Attribute::Bs(more)) => Ok(Attribute::Bs(old | more)),
        _ => Err(wrong_type()),
    }
}

/// The set after a DELETE; `None` if nothing is left of it.
fn without(old: &Attribute, value: &Attribute) -> Answer<Option<Attribute>> {
    Ok(match (old, value) {
        (Attribute::Ss(old), Attribute::Ss(less)) => {
            Some(old - less).filter(|left| !left.is_empty()).map(Attribute::Ss)
        }
        (Attribute::Ns(old), Attribute::Ns(less)) => {
            Some(old - less).filter(|left| !left.is_empty()).map(Attribute::Ns)
        }
        (Attribute::Bs(old), Attribute::Bs(less)) => {
            Some(old - less).filter(|left| !left.is_empty()).map(Attribute::Bs)
        }
        _ => return Err(wrong_type()),
    })
}

fn set(item: &mut Item, path: &Path, value: Attribute) -> Answer<()> {
    let Some((last, parents)) = path.steps.split_last() else {
        item.insert(path.attribute.clone(), value);
        return Ok(());
    };
    match (parent(item, &path.attribute, parents)?, last) {
        (Attribute::M(members), Step::Member(name)) => {
            members.insert(name.clone(), value);
        }
        (Attribute::L(elements), Step::Element(index)) => match elements.get_mut(*index) {
            Some(element) => *element = value,
            None => elements.push(value),
        },
        _ => return Err(wrong_path()),
    }
    Ok(())
}

fn remove(item: &mut Item, path: &Path) -> Answer<()> {
    let Some((last, parents)) = path.steps.split_last() else {
        item.remove(&path.attribute);
        return Ok(());
    };
    match (parent(item, &path.attribute, parents)?, last) {
        (Attribute::M(members), Step::Member(name)) => {
            members.remove(name);
        }
        (Attribute::L(elements), Step::Element(index)) => {
            if *index < elements.len() {
                elements.remove(*index);
            }
        }
        _ => return Err(wrong_path()),
    }
    Ok(())
}

/// The map or list at the end of these steps, which must be there.
fn parent<'a>(item: &'a mut Item, attribute: &str, steps: &[Step]) -> Answer<&'a mut Attribute> {
    let mut value = item.get_mut(attribute).ok_or_else(wrong_path)?;
    for step in steps {
        let next = match (value, step) {
            (Attribute::M(members), Step::Member(name)) => members.get_mut(name),
            (Attribute::L(elements), Step::Element(index)) => elements.get_mut(*index),
            _ => None,
        };
        value = next.ok_or_else(wrong_path)?;
    }
    Ok(value)
}

fn wrong_type() -> ModelError {
    ModelError::invalid("An operand in the update expression has an incorrect data type")
}

fn wrong_path() -> ModelError {
    ModelError::invalid("The document path provided in the update expression is invalid for update")
}
