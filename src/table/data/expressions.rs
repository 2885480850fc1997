//! Conditions and attribute names as plain data in, DynamoDB expressions with placeholders out.
//!
//! Every attribute name has a placeholder: it may be one of the 573 reserved words, or contain a dot or a dash
//! (DynamoDB developer guide, "Expression attribute names (aliases)"). Projections use `#p0 …`, key conditions `#k0 …`
//! and `:k0 …`. Filters bring their own placeholders (`#n0`, `:v0`); if one of them collides, ours change. If a
//! placeholder means different things in the condition and in the update of a write, the update's is renamed.

use super::attribute::{Attribute, KeyValue};
use super::call::{Expression, SortCondition};
use std::borrow::Cow;
use std::collections::HashMap;

/// The expressions of one call, with what their placeholders stand for.
#[derive(Debug, Default, Clone, PartialEq)]
pub(in crate::table) struct Expressions<'a> {
    /// `KeyConditionExpression`.
    pub(in crate::table) key_condition: Option<Cow<'static, str>>,
    /// `ProjectionExpression`.
    pub(in crate::table) projection: Option<Cow<'static, str>>,
    /// `FilterExpression`.
    pub(in crate::table) filter: Option<Cow<'a, str>>,
    /// `ConditionExpression`.
    pub(in crate::table) condition: Option<Cow<'a, str>>,
    /// `UpdateExpression`.
    pub(in crate::table) update: Option<Cow<'a, str>>,
    /// `ExpressionAttributeNames`: placeholder and attribute name. A call without names has no such map.
    pub(in crate::table) names: Vec<(Cow<'a, str>, &'a str)>,
    /// `ExpressionAttributeValues`: placeholder and value. A call without values has no such map.
    pub(in crate::table) values: Vec<(Cow<'a, str>, PlaceholderValue<'a>)>,
}

/// What a placeholder of a value stands for.
#[derive(Debug, Clone, Copy)]
pub(in crate::table) enum PlaceholderValue<'a> {
    /// The value of a key attribute.
    Key(&'a KeyValue),
    /// Any value.
    Attribute(&'a Attribute),
}

impl PartialEq for PlaceholderValue<'_> {
    fn eq(&self, other: &Self) -> bool {
        use KeyValue::{B, N, S};
        match (*self, *other) {
            (Self::Key(left), Self::Key(right)) => left == right,
            (Self::Attribute(left), Self::Attribute(right)) => left == right,
            (Self::Key(key), Self::Attribute(value)) | (Self::Attribute(value), Self::Key(key)) => match (key, value) {
                (S(key), Attribute::S(value)) | (N(key), Attribute::N(value)) => value == key,
                (B(key), Attribute::B(value)) => key == value,
                _ => false,
            },
        }
    }
}

impl<'a> Expressions<'a> {
    /// Only a filter, or nothing.
    pub(in crate::table) fn with_filter(filter: Option<&'a Expression>) -> Self {
        let mut built = Self::default();
        built.filter = filter.map(|filter| built.take_in(filter));
        built
    }

    /// The condition and the update of a write.
    pub(in crate::table) fn for_write(condition: Option<&'a Expression>, update: Option<&'a Expression>) -> Self {
        let mut built = Self::default();
        built.condition = condition.map(|condition| built.take_in(condition));
        built.update = update.map(|update| built.take_in(update));
        built
    }

    /// Adds the placeholders of an expression and gives its text. A placeholder that already means something else gets
    /// a new name.
    fn take_in(&mut self, expression: &'a Expression) -> Cow<'a, str> {
        let mut renamed: HashMap<&str, String> = HashMap::new();
        let (names, values) = (self.free_prefix("#u"), self.free_prefix(":u"));
        let mut position = 0;
        for (placeholder, name) in &expression.names {
            let ours = add(&mut self.names, placeholder, name.as_str(), || format!("{names}_{position}"));
            renamed.extend(ours.map(|ours| (placeholder.as_str(), ours)));
            position += 1;
        }
        for (placeholder, value) in &expression.values {
            let value = PlaceholderValue::Attribute(value);
            let ours = add(&mut self.values, placeholder, value, || format!("{values}_{position}"));
            renamed.extend(ours.map(|ours| (placeholder.as_str(), ours)));
            position += 1;
        }
        match renamed.is_empty() {
            true => Cow::Borrowed(&expression.text),
            false => Cow::Owned(replace_placeholders(&expression.text, &renamed)),
        }
    }

    /// Adds the attributes to read. None means no projection: the expression may not be empty, and without it every
    /// attribute is returned.
    pub(in crate::table) fn project(mut self, attributes: impl Iterator<Item = &'a str>) -> Self {
        let (prefix, others) = (self.free_prefix("#p"), self.names.len());
        // Most key conditions have two names at most.
        self.names.reserve(attributes.size_hint().0 + 2);
        self.names.extend(attributes.enumerate().map(|(position, attribute)| (numbered(&prefix, position), attribute)));
        let projected = &self.names[others..];
        self.projection = match (projected.len(), usual_projection(projected.len())) {
            (0, _) => None,
            (_, Some(usual)) if prefix == "#p" => Some(usual.into()),
            _ => Some(projected.iter().map(|(placeholder, _)| &**placeholder).collect::<Vec<_>>().join(", ").into()),
        };
        self
    }

    /// Adds the key condition: the partition, what else is equal to a value, and a condition on the sort key.
    pub(in crate::table) fn key_condition(
        self,
        partition: &'a (String, KeyValue),
        equal: &'a [(String, KeyValue)],
        sort: Option<(&'a str, &'a SortCondition)>,
    ) -> Self {
        match equal {
            [] => self.short_key_condition(partition, sort),
            _ => self.long_key_condition(partition, equal, sort),
        }
    }

    /// Adds the key condition of an index whose keys have several attributes.
    fn long_key_condition(
        mut self,
        partition: &'a (String, KeyValue),
        equal: &'a [(String, KeyValue)],
        sort: Option<(&'a str, &'a SortCondition)>,
    ) -> Self {
        use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let (names, values) = (self.free_prefix("#k"), self.free_prefix(":k"));
        let whole: Vec<&(String, KeyValue)> = std::iter::once(partition).chain(equal).collect();
        let (count, next) = (whole.len(), whole.len() + 1);
        let mut parts: Vec<String> = (0..count).map(|at| format!("{names}{at} = {values}{at}")).collect();
        let (own, first, second) = (format!("{names}{count}"), format!("{values}{count}"), format!("{values}{next}"));
        let compared = |sign: &str| format!("{own} {sign} {first}");
        let (text, low, high) = match sort.map(|(_, condition)| condition) {
            None => (None, None, None),
            Some(Equal(value)) => (Some(compared("=")), Some(value), None),
            Some(Less(value)) => (Some(compared("<")), Some(value), None),
            Some(LessOrEqual(value)) => (Some(compared("<=")), Some(value), None),
            Some(Greater(value)) => (Some(compared(">")), Some(value), None),
            Some(GreaterOrEqual(value)) => (Some(compared(">=")), Some(value), None),
            Some(Between(low, high)) => (Some(format!("{own} BETWEEN {first} AND {second}")), Some(low), Some(high)),
            Some(BeginsWith(value)) => (Some(format!("begins_with({own}, {first})")), Some(value), None),
        };
        parts.extend(text);
        self.key_condition = Some(parts.join(" AND ").into());
        let attributes = whole.iter().map(|(name, _)| name.as_str()).chain(sort.map(|(name, _)| name)).enumerate();
        self.names.extend(attributes.map(|(number, name)| (numbered(&names, number), name)));
        let operands = whole.iter().map(|(_, value)| value).chain(low).chain(high).enumerate();
        self.values.extend(operands.map(|(number, value)| (numbered(&values, number), PlaceholderValue::Key(value))));
        self
    }

    /// Adds the key condition of keys of one attribute each.
    fn short_key_condition(
        mut self,
        partition: &'a (String, KeyValue),
        sort: Option<(&'a str, &'a SortCondition)>,
    ) -> Self {
        use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let (names, values) = (self.free_prefix("#k"), self.free_prefix(":k"));
        let (text, low, high) = match sort.map(|(_, condition)| condition) {
            None => ("#k0 = :k0", None, None),
            Some(Equal(value)) => ("#k0 = :k0 AND #k1 = :k1", Some(value), None),
            Some(Less(value)) => ("#k0 = :k0 AND #k1 < :k1", Some(value), None),
            Some(LessOrEqual(value)) => ("#k0 = :k0 AND #k1 <= :k1", Some(value), None),
            Some(Greater(value)) => ("#k0 = :k0 AND #k1 > :k1", Some(value), None),
            Some(GreaterOrEqual(value)) => ("#k0 = :k0 AND #k1 >= :k1", Some(value), None),
            Some(Between(low, high)) => ("#k0 = :k0 AND #k1 BETWEEN :k1 AND :k2", Some(low), Some(high)),
            Some(BeginsWith(value)) => ("#k0 = :k0 AND begins_with(#k1, :k1)", Some(value), None),
        };
        let is_usual = (&*names, &*values) == ("#k", ":k");
        self.key_condition =
            Some(if is_usual { text.into() } else { text.replace("#k", &names).replace(":k", &values).into() });
        let attributes = [Some(partition.0.as_str()), sort.map(|(name, _)| name)].into_iter().flatten().enumerate();
        self.names.extend(attributes.map(|(number, name)| (numbered(&names, number), name)));
        let operands = [Some(&partition.1), low, high].into_iter().flatten().enumerate();
        self.values.extend(operands.map(|(number, value)| (numbered(&values, number), PlaceholderValue::Key(value))));
        self
    }

    /// `ExpressionAttributeNames` as a map; `None` if there are none, because the map may not be empty.
    pub(in crate::table) fn names_map(&self) -> Option<HashMap<String, String>> {
        let names = || self.names.iter().map(|(placeholder, name)| (placeholder.to_string(), (*name).to_owned()));
        (!self.names.is_empty()).then(|| names().collect())
    }

    /// A prefix that no placeholder begins with yet: this one, as a rule.
    fn free_prefix(&self, prefix: &'static str) -> Cow<'static, str> {
        let taken = |prefix: &str| {
            let names = self.names.iter().map(|(taken, _)| taken);
            names.chain(self.values.iter().map(|(taken, _)| taken)).any(|taken| taken.starts_with(prefix))
        };
        let mut free = Cow::Borrowed(prefix);
        while taken(&free) {
            free.to_mut().push('x');
        }
        free
    }
}

/// The text of an expression, for a request that owns its parts.
pub(in crate::table) fn text(expression: &Option<Cow<'_, str>>) -> Option<String> {
    expression.as_deref().map(str::to_owned)
}

/// The projection of so many attributes by the usual placeholders. Of more than most items have, it is not there
/// already.
fn usual_projection(attributes: usize) -> Option<&'static str> {
    const TEN: &str = "#p0, #p1, #p2, #p3, #p4, #p5, #p6, #p7, #p8, #p9";
    TEN.get(..(attributes * "#p0, ".len()).checked_sub(", ".len())?)
}

/// The placeholder of a prefix and a number. The usual ones are there already.
fn numbered(prefix: &str, number: usize) -> Cow<'static, str> {
    const PROJECTED: [&str; 16] = [
        "#p0", "#p1", "#p2", "#p3", "#p4", "#p5", "#p6", "#p7", "#p8", "#p9", "#p10", "#p11", "#p12", "#p13", "#p14",
        "#p15",
    ];
    let usual: &[&'static str] = match prefix {
        "#p" => &PROJECTED,
        "#k" => &["#k0", "#k1"],
        ":k" => &[":k0", ":k1", ":k2"],
        _ => &[],
    };
    usual.get(number).map_or_else(|| Cow::Owned(format!("{prefix}{number}")), |usual| Cow::Borrowed(*usual))
}

/// Adds a placeholder with its meaning. If the placeholder already means something else, it gets this other name, which
/// is the result.
fn add<'a, T: PartialEq>(
    known: &mut Vec<(Cow<'a, str>, T)>,
    placeholder: &'a str,
    meaning: T,
    other_name: impl FnOnce() -> String,
) -> Option<String> {
    let taken = known.iter().find(|(taken, _)| taken == placeholder);
    let same = taken.map(|(_, known)| *known == meaning);
    match same {
        Some(true) => None,
        Some(false) => {
            let name = other_name();
            known.push((name.clone().into(), meaning));
            Some(name)
        }
        None => {
            known.push((placeholder.into(), meaning));
            None
        }
    }
}

/// The text with its placeholders replaced. An expression has `#` and `:` only in placeholders.
fn replace_placeholders(text: &str, renamed: &HashMap<&str, String>) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['#', ':']) {
        let (before, from) = rest.split_at(start);
        let length = from[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(from.len(), |end| end + 1);
        let (placeholder, after) = from.split_at(length);
        replaced.push_str(before);
        replaced.push_str(renamed.get(placeholder).map_or(placeholder, String::as_str));
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    fn names<'a>(built: &Expressions<'a>) -> HashMap<String, &'a str> {
        built.names.iter().map(|(placeholder, name)| (placeholder.to_string(), *name)).collect()
    }

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    fn partition() -> (String, KeyValue) {
        ("PK".to_owned(), s("p"))
    }

    #[test]
    fn every_sort_condition_has_its_text() {
        use SortCondition::*;
        for (condition, text, operands) in [
            (Equal(s("a")), "#k0 = :k0 AND #k1 = :k1", 1),
            (Less(s("a")), "#k0 = :k0 AND #k1 < :k1", 1),
            (LessOrEqual(s("a")), "#k0 = :k0 AND #k1 <= :k1", 1),
            (Greater(s("a")), "#k0 = :k0 AND #k1 > :k1", 1),
            (GreaterOrEqual(s("a")), "#k0 = :k0 AND #k1 >= :k1", 1),
            (Between(s("a"), s("b")), "#k0 = :k0 AND #k1 BETWEEN :k1 AND :k2", 2),
            (BeginsWith(s("a")), "#k0 = :k0 AND begins_with(#k1, :k1)", 1),
        ] {
            let partition = partition();
            let built = Expressions::default().key_condition(&partition, &[], Some(("SK", &condition)));
            assert_eq!(built.key_condition.as_deref(), Some(text));
            assert_eq!(built.values.len(), 1 + operands);
            assert_eq!(names(&built)["#k1"], "SK");
        }
        let partition = partition();
        let bare = Expressions::default().key_condition(&partition, &[], None);
        assert_eq!((bare.key_condition.as_deref(), bare.names.len()), (Some("#k0 = :k0"), 1));
    }

    #[test]
    fn what_is_equal_comes_before_the_condition_on_the_next_attribute() {
        let equal = [("region".to_owned(), s("EU")), ("round".to_owned(), s("final"))];
        let condition = SortCondition::Between(s("a"), s("b"));
        let partition = partition();
        let built = Expressions::default().key_condition(&partition, &equal, Some(("bracket", &condition)));
        let text = "#k0 = :k0 AND #k1 = :k1 AND #k2 = :k2 AND #k3 BETWEEN :k3 AND :k4";
        assert_eq!(built.key_condition.as_deref(), Some(text));
        assert_eq!((names(&built)["#k1"], names(&built)["#k3"]), ("region", "bracket"));
        assert_eq!(built.values.len(), 5);
        let whole = Expressions::default().key_condition(&partition, &equal[..1], None);
        assert_eq!(whole.key_condition.as_deref(), Some("#k0 = :k0 AND #k1 = :k1"));
    }

    #[test]
    fn projections_name_every_attribute_by_a_placeholder() {
        for count in 1..20 {
            let built = Expressions::default().project(["a"; 20].into_iter().take(count));
            let text: Vec<String> = (0..count).map(|number| format!("#p{number}")).collect();
            assert_eq!(built.projection, Some(text.join(", ").into()));
            assert!(built.names.iter().map(|(placeholder, _)| &**placeholder).eq(text.iter().map(String::as_str)));
        }
        let built = Expressions::default().project(["PK", "a.b", "name"].into_iter());
        assert_eq!(built.projection.as_deref(), Some("#p0, #p1, #p2"));
        assert_eq!(names(&built)["#p1"], "a.b");
        assert!(built.values.is_empty());
        assert_eq!(Expressions::default().project([].into_iter()), Expressions::default());
    }

    #[test]
    fn placeholders_of_a_filter_are_kept_apart() {
        let filter = Expression {
            text: "#p0 = :k1 AND #k0 = :v0".into(),
            names: [("#p0".to_owned(), "title".to_owned()), ("#k0".to_owned(), "state".to_owned())].into(),
            values: [(":k1".to_owned(), Attribute::N("1".into())), (":v0".to_owned(), Attribute::Bool(true))].into(),
        };
        let (partition, condition) = (partition(), SortCondition::Equal(s("a")));
        let built = Expressions::with_filter(Some(&filter)).project(["name"].into_iter()).key_condition(
            &partition,
            &[],
            Some(("SK", &condition)),
        );
        assert_eq!(built.filter.as_deref(), Some("#p0 = :k1 AND #k0 = :v0"));
        assert_eq!(built.projection.as_deref(), Some("#px0"));
        assert_eq!(built.key_condition.as_deref(), Some("#kx0 = :kx0 AND #kx1 = :kx1"));
        let names = names(&built);
        assert_eq!((names["#p0"], names["#px0"], names["#kx1"]), ("title", "name", "SK"));
        assert_eq!((names.len(), built.values.len()), (5, 4));
    }

    #[test]
    fn the_condition_and_the_update_of_a_write_share_what_means_the_same_and_no_more() {
        let expression = |text: &str, names: &[(&str, &str)], values: &[(&str, &str)]| Expression {
            text: text.into(),
            names: names.iter().map(|(placeholder, name)| (placeholder.to_string(), name.to_string())).collect(),
            values: values
                .iter()
                .map(|(placeholder, value)| (placeholder.to_string(), Attribute::S(value.to_string().into())))
                .collect(),
        };
        let condition = expression(
            "#f0 = :f0 AND #f1 = :f1",
            &[("#f0", "state"), ("#f1", "name")],
            &[(":f0", "new"), (":f1", "x")],
        );
        let update = expression(
            "SET #f0 = :f0, #f1.#f10 = :f1 REMOVE #f10[1]",
            &[("#f0", "other"), ("#f1", "name"), ("#f10", "ten")],
            &[(":f0", "old"), (":f1", "x")],
        );
        let built = Expressions::for_write(Some(&condition), Some(&update));
        assert_eq!(built.condition.as_deref(), Some("#f0 = :f0 AND #f1 = :f1"));
        assert_eq!(built.update.as_deref(), Some("SET #u_0 = :u_3, #f1.#f10 = :f1 REMOVE #f10[1]"));
        let names = names(&built);
        assert_eq!((names["#u_0"], names["#f0"], names.len()), ("other", "state", 4));
        let old = Attribute::S("old".into());
        assert_eq!(
            built.values.iter().find(|(placeholder, _)| placeholder == ":u_3").unwrap().1,
            PlaceholderValue::Attribute(&old)
        );
        assert_eq!(built.values.len(), 3);

        // A condition that uses our own prefix makes us step aside.
        let condition = expression("#u_0 = #u", &[("#u_0", "a"), ("#u", "b")], &[]);
        let update = expression("REMOVE #u, #u_0", &[("#u_0", "c"), ("#u", "d")], &[]);
        let built = Expressions::for_write(Some(&condition), Some(&update));
        assert_eq!(built.update.as_deref(), Some("REMOVE #ux_0, #ux_1"));
        assert_eq!(Expressions::for_write(None, None), Expressions::default());
    }
}
