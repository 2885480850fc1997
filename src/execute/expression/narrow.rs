//! A condition without claims and arguments, and those attributes of an item that are known, in; out: whether it holds,
//! or what remains to be asked of the item. Must not know rules.
//!
//! A comparison of a known attribute with one that is not known becomes a comparison with its value. If the language of
//! conditions has no form for that, the comparison counts as not met: what is not known lets nobody in.

use super::evaluate;
use super::scope::Scope;
use super::settle::{Residual, by_leaves};
use crate::execute::values::decode;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::operand::{ArgumentType, Comparator, Operand, Path};
use crate::schema::scalar::value_type::ValueType;
use crate::table::data::attribute::{Attribute, Item, Key};
use std::collections::BTreeSet;

/// The attributes of an item that are known.
#[derive(Debug, Clone, Default)]
pub struct KnownAttributes {
    values: Item,
    names: BTreeSet<String>,
}

impl KnownAttributes {
    /// Those of an item's primary key.
    pub fn from_key(key: &Key) -> Self {
        let mut known = Self::default();
        for (name, value) in std::iter::once(&key.partition).chain(&key.sort) {
            known.set(name, Some(value.clone().into()));
        }
        known
    }

    /// Those of a part of an item.
    pub fn from_item(part: &Item) -> Self {
        let mut known = Self::default();
        part.iter().for_each(|(name, value)| known.set(name, Some(value.clone())));
        known
    }

    /// The item of these attributes.
    pub fn into_item(self) -> Item {
        self.values
    }

    /// The attribute has this value; `None`: the item lacks it.
    pub fn set(&mut self, name: &str, value: Option<Attribute>) {
        self.names.insert(name.to_owned());
        match value {
            Some(value) => _ = self.values.insert(name.to_owned(), value),
            None => _ = self.values.remove(name),
        }
    }
}

/// What remains of what was settled before.
pub fn narrowed(settled: &Residual, known: &KnownAttributes, scope: &Scope<'_>) -> Residual {
    match settled {
        Residual::Open(condition) => narrow(condition, known, scope),
        decided => decided.clone(),
    }
}

/// What remains of a condition.
fn narrow(condition: &Condition, known: &KnownAttributes, scope: &Scope<'_>) -> Residual {
    let narrower = Narrower { known, scope };
    by_leaves(condition, true, &|leaf, wanted| narrower.leaf(leaf).unwrap_or_else(|| Residual::known(!wanted)))
}

struct Narrower<'a> {
    known: &'a KnownAttributes,
    scope: &'a Scope<'a>,
}

/// An operand of which some attributes are known.
enum NarrowedOperand {
    Operand(Operand),
    /// It is an attribute that the item lacks.
    Missing,
}

impl Narrower<'_> {
    /// A comparison or a function. `None` if there is no form for what remains.
    fn leaf(&self, leaf: &Condition) -> Option<Residual> {
        let attributes = leaf.attributes();
        let is_known = |name: &&str| self.known.names.contains(*name);
        if !attributes.iter().any(is_known) {
            return Some(Residual::Open(Box::new(leaf.clone())));
        }
        if attributes.iter().all(is_known) {
            return evaluate::holds(leaf, Some(&self.known.values), self.scope).ok().map(Residual::known);
        }
        let narrowed = match leaf {
            Condition::Compare(left, comparator, right) => match (self.operand(left)?, self.operand(right)?) {
                (NarrowedOperand::Operand(left), NarrowedOperand::Operand(right)) => {
                    Condition::Compare(left, *comparator, right)
                }
                _ => return Some(Residual::known(*comparator == Comparator::NotEqual)),
            },
            Condition::Between(value, low, high) => {
                match (self.operand(value)?, self.operand(low)?, self.operand(high)?) {
                    (
                        NarrowedOperand::Operand(value),
                        NarrowedOperand::Operand(low),
                        NarrowedOperand::Operand(high),
                    ) => Condition::Between(value, low, high),
                    _ => return Some(Residual::Never),
                }
            }
            Condition::In(value, list) => {
                let NarrowedOperand::Operand(value) = self.operand(value)? else { return Some(Residual::Never) };
                let list: Vec<NarrowedOperand> =
                    list.iter().map(|operand| self.operand(operand)).collect::<Option<_>>()?;
                let there =
                    |operand| if let NarrowedOperand::Operand(operand) = operand { Some(operand) } else { None };
                match list.into_iter().filter_map(there).collect::<Vec<_>>() {
                    none if none.is_empty() => return Some(Residual::Never),
                    list => Condition::In(value, list),
                }
            }
            Condition::BeginsWith(path, operand) if !self.knows(path) => match self.operand(operand)? {
                NarrowedOperand::Operand(operand) => Condition::BeginsWith(path.clone(), operand),
                NarrowedOperand::Missing => return Some(Residual::Never),
            },
            Condition::Contains(path, operand) if !self.knows(path) => match self.operand(operand)? {
                NarrowedOperand::Operand(operand) => Condition::Contains(path.clone(), operand),
                NarrowedOperand::Missing => return Some(Residual::Never),
            },
            _ => return None,
        };
        Some(Residual::Open(Box::new(narrowed)))
    }

    fn knows(&self, path: &Path) -> bool {
        path.attribute().is_some_and(|name| self.known.names.contains(name))
    }

    /// The operand, with its value in place of a known attribute.
    fn operand(&self, operand: &Operand) -> Option<NarrowedOperand> {
        let (Operand::Path(path) | Operand::Size(path)) = operand else {
            return Some(NarrowedOperand::Operand(operand.clone()));
        };
        if !self.knows(path) {
            return Some(NarrowedOperand::Operand(operand.clone()));
        }
        let Some(value) = evaluate::value(operand, &self.known.values, self.scope) else {
            return Some(NarrowedOperand::Missing);
        };
        let kind = match value {
            Attribute::S(_) => ValueType::String,
            Attribute::N(_) => ValueType::Decimal,
            Attribute::B(_) => ValueType::Binary,
            Attribute::Bool(_) => ValueType::Boolean,
            _ => return None,
        };
        Some(NarrowedOperand::Operand(Operand::Literal(decode::scalar(&kind, &value)?, ArgumentType(kind))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::execute::caller::Caller;
    use crate::execute::expression::condition::lettered;
    use crate::execute::expression::request_time::RequestTime;
    use crate::schema::expression::operand::{KeyField, KeyText, Segment};
    use serde_json::{Map, Value, json};
    use std::sync::Arc;

    fn path(name: &str) -> Operand {
        Operand::Path(Path { segments: vec![Segment::Attribute(name.to_owned())] })
    }

    fn remains(condition: &Condition, known: &[(&str, Option<Attribute>)]) -> String {
        let mut attributes = KnownAttributes::default();
        known.iter().for_each(|(name, value)| attributes.set(name, value.clone()));
        let (arguments, caller) = (Map::new(), Caller::anonymous());
        let scope = Scope { arguments: &arguments, now: &RequestTime::at(1_795_305_600_000), caller: &caller };
        match narrow(condition, &attributes, &scope) {
            Residual::Always => "always".to_owned(),
            Residual::Never => "never".to_owned(),
            Residual::Open(open) => open.to_string(),
        }
    }

    #[test]
    fn known_attributes_take_the_place_of_their_names() {
        let (s, n) = (|text: &str| Some(Attribute::S(text.into())), |text: &str| Some(Attribute::N(text.into())));
        let compare = |left, comparator, right| Condition::Compare(path(left), comparator, path(right));
        let same = compare("a", Comparator::Equal, "b");
        assert_eq!(remains(&same, &[]), "a = b");
        assert_eq!(remains(&same, &[("a", s("x"))]), "'x' = b");
        assert_eq!(remains(&same, &[("a", s("x")), ("b", s("x"))]), "always");
        assert_eq!(remains(&same, &[("a", s("x")), ("b", s("y"))]), "never");
        assert_eq!(remains(&same, &[("a", None)]), "never");
        assert_eq!(remains(&compare("a", Comparator::NotEqual, "b"), &[("a", None)]), "always");
        assert_eq!(remains(&compare("a", Comparator::Less, "b"), &[("b", n("3"))]), "a < 3");
        let not = Condition::Not(Box::new(Condition::In(path("a"), vec![path("b"), path("c")])));
        assert_eq!(remains(&not, &[("b", s("x")), ("c", None)]), "NOT a IN ('x')");
        let both = Condition::And(vec![same.clone(), compare("c", Comparator::Equal, "c2")]);
        assert_eq!(remains(&both, &[("a", s("x")), ("b", s("x"))]), "c = c2");
        assert_eq!(remains(&Condition::Or(vec![same, both]), &[("a", s("x")), ("b", s("y"))]), "never");
    }

    /// The text of a key is the field after a `#`.
    #[derive(Debug)]
    struct AfterHash;

    impl KeyText for AfterHash {
        fn read(&self, key: &str) -> Option<Value> {
            key.split_once('#').map(|(_, field)| json!(field))
        }
    }

    fn in_key(name: &str, value: ValueType) -> Operand {
        let field = KeyField { name: name.to_owned(), key: "PK".to_owned(), value, text: Arc::new(AfterHash) };
        Operand::Path(Path { segments: vec![Segment::InKey(field)] })
    }

    #[test]
    fn a_known_key_takes_the_place_of_the_field_in_it() {
        let key = |text: &str| [("PK", Some(Attribute::S(text.into())))];
        let same = Condition::Compare(in_key("id", ValueType::Id), Comparator::Equal, path("a"));
        assert_eq!(remains(&same, &[]), "id = a");
        assert_eq!(remains(&same, &key("P#ann")), "'ann' = a");
        assert_eq!(remains(&same, &key("ann")), "never");
        let literal = Operand::Literal(json!(10), ArgumentType(ValueType::Int));
        let more = Condition::Compare(in_key("number", ValueType::Int), Comparator::Greater, literal);
        assert_eq!(remains(&more, &[("PK", Some(Attribute::S("N#9".into())))]), "never");
        assert_eq!(remains(&more, &key("N#ten")), "never");
    }

    #[test]
    fn no_call_asks_for_a_field_in_a_key() {
        let (arguments, caller) = (Map::new(), Caller::anonymous());
        let scope = Scope { arguments: &arguments, now: &RequestTime::at(1_795_305_600_000), caller: &caller };
        let other = Condition::Compare(in_key("id", ValueType::Id), Comparator::NotEqual, path("a"));
        assert!(lettered(&other, &scope, 'r').is_err());
        assert!(lettered(&Condition::Or(vec![Condition::Not(Box::new(other))]), &scope, 'r').is_err());
    }

    #[test]
    fn what_has_no_form_is_not_met_and_neither_is_its_negation() {
        let list = Some(Attribute::L(vec![Attribute::S("x".into())]));
        let contains = Condition::Contains(Path { segments: vec![Segment::Attribute("tags".to_owned())] }, path("a"));
        assert_eq!(remains(&contains, &[("tags", list.clone())]), "never");
        assert_eq!(remains(&Condition::Not(Box::new(contains.clone())), &[("tags", list)]), "never");
        assert_eq!(remains(&contains, &[("a", Some(Attribute::S("x".into())))]), "contains(tags, 'x')");
    }
}
