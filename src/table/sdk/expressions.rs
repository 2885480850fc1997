//! Conditions and attribute names as plain data in, DynamoDB expressions with placeholders out.
//!
//! Every attribute name has a placeholder: it may be one of the 573 reserved words, or contain a dot or a dash (DynamoDB developer guide,
//! "Expression attribute names (aliases)"). Projections use `#p0 …`, key conditions `#k0 …` and `:k0 …`. Filters bring their own
//! placeholders (`#n0`, `:v0`); if one of them collides, ours change. If a placeholder means different things in the condition and in the
//! update of a write, the update's is renamed.

use super::convert::{attribute_to_sdk, key_value_to_sdk};
use crate::table::data::attribute::KeyValue;
use crate::table::data::call::{Expression, SortCondition};
use aws_sdk_dynamodb::types::AttributeValue;
use std::collections::HashMap;

/// The expressions of one call, as the SDK's builders take them.
#[derive(Debug, Default, Clone, PartialEq)]
pub(super) struct Expressions {
    /// `KeyConditionExpression`.
    pub(super) key_condition: Option<String>,
    /// `ProjectionExpression`.
    pub(super) projection: Option<String>,
    /// `FilterExpression`.
    pub(super) filter: Option<String>,
    /// `ConditionExpression`.
    pub(super) condition: Option<String>,
    /// `UpdateExpression`.
    pub(super) update: Option<String>,
    names: HashMap<String, String>,
    values: HashMap<String, AttributeValue>,
}

impl Expressions {
    /// Only a filter, or nothing.
    pub(super) fn with_filter(filter: Option<&Expression>) -> Self {
        let Some(filter) = filter else { return Self::default() };
        Self {
            filter: Some(filter.text.clone()),
            names: filter.names.iter().map(|(placeholder, name)| (placeholder.clone(), name.clone())).collect(),
            values: filter.values.iter().map(|(placeholder, value)| (placeholder.clone(), attribute_to_sdk(value.clone()))).collect(),
            ..Self::default()
        }
    }

    /// The condition and the update of a write.
    pub(super) fn of_write(condition: Option<&Expression>, update: Option<&Expression>) -> Self {
        let mut built = Self::default();
        built.condition = condition.map(|condition| built.take_in(condition));
        built.update = update.map(|update| built.take_in(update));
        built
    }

    /// Adds the placeholders of an expression and gives its text. A placeholder that already means something else gets a new name.
    fn take_in(&mut self, expression: &Expression) -> String {
        let mut renamed: HashMap<&str, String> = HashMap::new();
        let (names, values) = (self.free_prefix("#u"), self.free_prefix(":u"));
        for (placeholder, name) in &expression.names {
            let taken = self.names.get(placeholder).is_some_and(|known| known != name);
            let ours = if taken { format!("{names}_{}", renamed.len()) } else { placeholder.clone() };
            self.names.insert(ours.clone(), name.clone());
            renamed.insert(placeholder, ours);
        }
        for (placeholder, value) in &expression.values {
            let value = attribute_to_sdk(value.clone());
            let taken = self.values.get(placeholder).is_some_and(|known| *known != value);
            let ours = if taken { format!("{values}_{}", renamed.len()) } else { placeholder.clone() };
            self.values.insert(ours.clone(), value);
            renamed.insert(placeholder, ours);
        }
        replace_placeholders(&expression.text, &renamed)
    }

    /// Adds the attributes to read. None means no projection: the expression may not be empty, and without it every attribute is returned.
    pub(super) fn project(mut self, attributes: &[String]) -> Self {
        if !attributes.is_empty() {
            let prefix = self.free_prefix("#p");
            let placeholders: Vec<String> = (0..attributes.len()).map(|i| format!("{prefix}{i}")).collect();
            self.projection = Some(placeholders.join(", "));
            self.names.extend(placeholders.into_iter().zip(attributes.iter().cloned()));
        }
        self
    }

    /// Adds the key condition: the partition, and a condition on the sort key.
    pub(super) fn key_condition(mut self, partition: &(String, KeyValue), sort: Option<(&str, &SortCondition)>) -> Self {
        use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let (names, values) = (self.free_prefix("#k"), self.free_prefix(":k"));
        self.names.insert(format!("{names}0"), partition.0.clone());
        self.values.insert(format!("{values}0"), key_value_to_sdk(&partition.1));
        let mut text = format!("{names}0 = {values}0");
        if let Some((name, condition)) = sort {
            let (sort, first, second) = (format!("{names}1"), format!("{values}1"), format!("{values}2"));
            let (condition, operands) = match condition {
                Equal(value) => (format!("{sort} = {first}"), vec![value]),
                Less(value) => (format!("{sort} < {first}"), vec![value]),
                LessOrEqual(value) => (format!("{sort} <= {first}"), vec![value]),
                Greater(value) => (format!("{sort} > {first}"), vec![value]),
                GreaterOrEqual(value) => (format!("{sort} >= {first}"), vec![value]),
                Between(low, high) => (format!("{sort} BETWEEN {first} AND {second}"), vec![low, high]),
                BeginsWith(value) => (format!("begins_with({sort}, {first})"), vec![value]),
            };
            text = format!("{text} AND {condition}");
            self.values.extend([first, second].into_iter().zip(operands.into_iter().map(key_value_to_sdk)));
            self.names.insert(sort, name.to_owned());
        }
        self.key_condition = Some(text);
        self
    }

    /// `ExpressionAttributeNames`; `None` if there are none, because the map may not be empty.
    pub(super) fn names(&self) -> Option<HashMap<String, String>> {
        (!self.names.is_empty()).then(|| self.names.clone())
    }

    /// `ExpressionAttributeValues`; `None` if there are none.
    pub(super) fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        (!self.values.is_empty()).then(|| self.values.clone())
    }

    /// A prefix that no placeholder begins with yet.
    fn free_prefix(&self, prefix: &str) -> String {
        let mut prefix = prefix.to_owned();
        while self.names.keys().chain(self.values.keys()).any(|taken| taken.starts_with(&prefix)) {
            prefix.push('x');
        }
        prefix
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
    use crate::table::data::attribute::Attribute;

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
            let built = Expressions::default().key_condition(&partition(), Some(("SK", &condition)));
            assert_eq!(built.key_condition.as_deref(), Some(text));
            assert_eq!(built.values().unwrap().len(), 1 + operands);
            assert_eq!(built.names().unwrap()["#k1"], "SK");
        }
        let bare = Expressions::default().key_condition(&partition(), None);
        assert_eq!((bare.key_condition.as_deref(), bare.names().unwrap().len()), (Some("#k0 = :k0"), 1));
    }

    #[test]
    fn projections_name_every_attribute_by_a_placeholder() {
        let built = Expressions::default().project(&["PK".into(), "a.b".into(), "name".into()]);
        assert_eq!(built.projection.as_deref(), Some("#p0, #p1, #p2"));
        assert_eq!(built.names().unwrap()["#p1"], "a.b");
        assert_eq!(built.values(), None);
        assert_eq!(Expressions::default().project(&[]), Expressions::default());
    }

    #[test]
    fn placeholders_of_a_filter_are_kept_apart() {
        let filter = Expression {
            text: "#p0 = :k1 AND #k0 = :v0".into(),
            names: [("#p0".to_owned(), "title".to_owned()), ("#k0".to_owned(), "state".to_owned())].into(),
            values: [(":k1".to_owned(), Attribute::N("1".into())), (":v0".to_owned(), Attribute::Bool(true))].into(),
        };
        let built = Expressions::with_filter(Some(&filter))
            .project(&["name".into()])
            .key_condition(&partition(), Some(("SK", &SortCondition::Equal(s("a")))));
        assert_eq!(built.filter.as_deref(), Some("#p0 = :k1 AND #k0 = :v0"));
        assert_eq!(built.projection.as_deref(), Some("#px0"));
        assert_eq!(built.key_condition.as_deref(), Some("#kx0 = :kx0 AND #kx1 = :kx1"));
        let (names, values) = (built.names().unwrap(), built.values().unwrap());
        assert_eq!((names["#p0"].as_str(), names["#px0"].as_str(), names["#kx1"].as_str()), ("title", "name", "SK"));
        assert_eq!((names.len(), values.len()), (5, 4));
    }

    #[test]
    fn the_condition_and_the_update_of_a_write_share_what_means_the_same_and_no_more() {
        let expression = |text: &str, names: &[(&str, &str)], values: &[(&str, &str)]| Expression {
            text: text.into(),
            names: names.iter().map(|(placeholder, name)| (placeholder.to_string(), name.to_string())).collect(),
            values: values.iter().map(|(placeholder, value)| (placeholder.to_string(), Attribute::S(value.to_string()))).collect(),
        };
        let condition = expression("#f0 = :f0 AND #f1 = :f1", &[("#f0", "state"), ("#f1", "name")], &[(":f0", "new"), (":f1", "x")]);
        let update = expression(
            "SET #f0 = :f0, #f1.#f10 = :f1 REMOVE #f10[1]",
            &[("#f0", "other"), ("#f1", "name"), ("#f10", "ten")],
            &[(":f0", "old"), (":f1", "x")],
        );
        let built = Expressions::of_write(Some(&condition), Some(&update));
        assert_eq!(built.condition.as_deref(), Some("#f0 = :f0 AND #f1 = :f1"));
        assert_eq!(built.update.as_deref(), Some("SET #u_0 = :u_3, #f1.#f10 = :f1 REMOVE #f10[1]"));
        let (names, values) = (built.names().unwrap(), built.values().unwrap());
        assert_eq!((names["#u_0"].as_str(), names["#f0"].as_str(), names.len()), ("other", "state", 4));
        assert_eq!((&values[":u_3"], values.len()), (&AttributeValue::S("old".into()), 3));

        // A condition that uses our own prefix makes us step aside.
        let condition = expression("#u_0 = #u", &[("#u_0", "a"), ("#u", "b")], &[]);
        let update = expression("REMOVE #u, #u_0", &[("#u_0", "c"), ("#u", "d")], &[]);
        let built = Expressions::of_write(Some(&condition), Some(&update));
        assert_eq!(built.update.as_deref(), Some("REMOVE #ux_0, #ux_1"));
        assert_eq!(Expressions::of_write(None, None), Expressions::default());
    }
}
