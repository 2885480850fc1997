//! A group of items in, the parts of its keys and the fields in them out.
//!
//! A part is a field if an attribute repeats it or if it varies, and a label otherwise. Two parts are one field if one
//! attribute repeats both, or if their texts are equal and their labels agree: equal numbers under different labels are
//! chance.

use super::align::{Alignment, Likeness, Texts};
use super::names;
use crate::infer::questions::{AnswerChoice, Answers, Question};
use crate::infer::shape::atoms::{Atom, atom};
use crate::infer::shape::columns::Columns;
use crate::infer::shape::groups::{RowGroup, Skeleton, Slot};
use crate::infer::shape::row::Row;
use crate::infer::shape::tokens::KeyToken;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::table::data::attribute::Item;
use std::collections::{BTreeMap, BTreeSet};

/// From how many equal texts on two parts are one field, whatever their labels are.
const ENOUGH: usize = 5;

/// The keys of a group.
#[derive(Debug, Default)]
pub struct GroupKeys {
    /// The name of its type.
    name: String,
    /// Each key attribute that items of the group have.
    pub keys: Vec<GuessedKey>,
    /// The fields in them.
    pub fields: Vec<KeyedField>,
    /// Parts of which it is open whether they are labels or values.
    pub questions: Vec<Question>,
}

/// A key attribute of a group.
#[derive(Debug)]
pub struct GuessedKey {
    /// The attribute.
    pub attribute: String,
    /// Its parts, in their order.
    pub parts: Vec<GroupPart>,
    /// How many items have it in another form.
    pub odd: usize,
}

/// A part of a key.
#[derive(Debug)]
pub enum GroupPart {
    /// This text.
    Literal(String),
    /// The field at this position, as the key has it.
    Field(usize, Option<Likeness>, Vec<String>),
}

/// A field in the keys of a group.
#[derive(Debug, Clone)]
pub struct KeyedField {
    /// The attribute that has it as well.
    pub attribute: Option<String>,
    /// The label before it, where it was found first.
    pub label: Option<String>,
    /// The key attribute, if it is the field itself.
    pub own: Option<String>,
    /// The name that the key attribute gives it, as `Status` in `Status#Time`.
    pub named: Option<String>,
    /// Whether it is in the table's own key.
    pub primary: bool,
    /// Its text in each row that has it.
    texts: BTreeMap<usize, String>,
}

/// What the keys of a group are made from.
pub struct Templates<'r, 'i> {
    /// The table.
    pub table: &'i Table,
    /// Its attributes.
    pub columns: &'r Columns<'i>,
    /// All rows.
    pub rows: &'r [Row<'i>],
    /// The group.
    pub group: &'r RowGroup<'i>,
    /// The name that a source has for its type.
    pub described: Option<String>,
    /// What a person answered.
    pub answers: &'r Answers,
}

/// A part that is looked at: where it stands and what it holds.
struct Part<'a> {
    key: &'a KeyAttribute,
    position: usize,
    length: usize,
    label: Option<&'a str>,
    follows_field: bool,
    rows: Vec<usize>,
    texts: Vec<&'a str>,
}

impl Part<'_> {
    /// The name of the part in the name of the key attribute, if that lists its parts.
    fn name(&self) -> Option<&str> {
        let names: Vec<&str> = self.key.name.split(['#', '|', ':']).collect();
        names
            .get(self.position)
            .copied()
            .filter(|name| names.len() == self.length && names.len() > 1 && !name.is_empty())
    }
}

impl<'i> Templates<'_, 'i> {
    /// The keys of the group, whose type has this name.
    pub fn keys(&self, name: &str) -> GroupKeys {
        let mut found = GroupKeys { name: name.to_owned(), ..GroupKeys::default() };
        for key in self.table.key_attributes() {
            let having: Vec<usize> =
                self.group.rows.iter().copied().filter(|row| self.rows[*row].item.contains_key(&key.name)).collect();
            if having.is_empty() {
                continue;
            }
            self.add_key(&mut found, key, &having);
        }
        found
    }

    fn add_key(&self, found: &mut GroupKeys, key: &'i KeyAttribute, having: &[usize]) {
        if key.kind != KeyType::S || self.columns.natural.contains(key.name.as_str()) {
            let field = self.own_field(found, key, having);
            let parts = vec![GroupPart::Field(field, None, Vec::new())];
            found.keys.push(GuessedKey { attribute: key.name.clone(), parts, odd: 0 });
            return;
        }
        let frame = |row: usize| -> Vec<&str> {
            self.tokens(row, &key.name).iter().map(|token| token.before.as_str()).collect()
        };
        let mut frames: BTreeMap<Vec<&str>, usize> = BTreeMap::new();
        having.iter().for_each(|row| *frames.entry(frame(*row)).or_default() += 1);
        let Some((usual, _)) = frames.into_iter().max_by_key(|(_, count)| *count) else { return };
        let rows: Vec<usize> = having.iter().copied().filter(|row| frame(*row) == usual).collect();
        let (mut parts, mut label, mut follows_field, mut short) = (Vec::new(), None, false, 0);
        for (position, before) in usual.iter().enumerate() {
            push_literal(&mut parts, before);
            let texts: Vec<&str> =
                rows.iter().map(|row| self.tokens(*row, &key.name)[position].text.as_str()).collect();
            let length = usual.len();
            let part = Part { key, position, length, label, follows_field, rows: rows.clone(), texts };
            let alignment = self.alignment(&part);
            let is_known = rows.iter().all(|row| self.tokens(*row, &key.name)[position].label);
            if is_known || self.is_decided_label(found, (&part, alignment.as_ref())) {
                push_literal(&mut parts, part.texts[0]);
                label = Some(part.texts[0]).filter(|text| !text.is_empty()).or(label);
                follows_field = false;
            } else {
                // A key that ends early is another form.
                short = short.max(part.texts.iter().filter(|text| text.is_empty()).count());
                parts.push(self.field_part(found, &part, alignment));
                (label, follows_field) = (None, true);
            }
        }
        let odd = having.len() - rows.len() + short;
        found.keys.push(GuessedKey { attribute: key.name.clone(), parts, odd });
    }

    fn tokens(&self, row: usize, key: &str) -> &[KeyToken] {
        self.rows[row].keys.get(key).map_or(&[], Vec::as_slice)
    }

    fn alignment(&self, part: &Part<'_>) -> Option<Alignment> {
        let rows = part.rows.iter().map(|row| &self.rows[*row]).collect();
        let primary = self.columns.primary.contains(&part.key.name.as_str());
        Texts { rows, texts: part.texts.clone(), label: part.label, key: &part.key.name, primary }.alignment()
    }

    /// The name of a type: a source's, unless that is the plural of what the items say.
    pub fn type_name(&self) -> String {
        let own = self.own_name();
        let is_plural = |name: &String| names::plain(name) == names::plain(&names::plural(&own));
        self.described.clone().filter(|name| !is_plural(name)).unwrap_or(own)
    }

    /// What the items say of their type's name: the discriminator, or the label that says most.
    fn own_name(&self) -> String {
        let signature = &self.group.signature;
        if let Some(kind) = &signature.kind {
            return names::type_name(kind);
        }
        let empty = Skeleton::new();
        let partition = signature.keys.first().unwrap_or(&empty);
        let sort = signature.keys.get(1).unwrap_or(&empty);
        let before_value = |key: &Skeleton| {
            let mut labels = key.windows(2).filter_map(|pair| match (&pair[0].1, &pair[1].1) {
                (Slot::Label(text), Slot::Value) if !text.is_empty() => Some(text.clone()),
                _ => None,
            });
            labels.next_back()
        };
        let alone = |key: &Skeleton| {
            let mut labels = key.iter().filter_map(|(_, slot)| match slot {
                Slot::Label(text) if !text.is_empty() => Some(text.clone()),
                _ => None,
            });
            labels.next_back()
        };
        let of_partition = before_value(partition).or_else(|| alone(partition));
        let of_sort = before_value(sort);
        let label = match (of_sort, alone(sort), of_partition) {
            (Some(label), _, _) => label,
            (None, Some(label), Some(partition))
                if !names::is_telling(&label) || label.eq_ignore_ascii_case(&partition) =>
            {
                partition
            }
            (None, Some(label), Some(partition)) => format!("{partition} {label}"),
            (None, Some(label), None) if names::is_telling(&label) => label,
            (None, _, Some(partition)) => partition,
            (None, _, None) => self.table.name.strip_suffix('s').unwrap_or(&self.table.name).to_owned(),
        };
        names::type_name(&label)
    }

    /// Whether a part is a label, by a person's answer or by a guess.
    fn is_decided_label(&self, found: &mut GroupKeys, (part, alignment): (&Part<'_>, Option<&Alignment>)) -> bool {
        let guess = self.is_label(part, alignment);
        if alignment.is_some() || part.name().is_some() || !self.is_open(part) {
            return guess;
        }
        let (text, key, items) = (part.texts[0], &part.key.name, part.texts.len());
        let (begin, name) = (self.text_before(part), &found.name);
        let mut choices = vec![
            AnswerChoice::new("constant", format!("always `{text}`: a part of the template")),
            AnswerChoice::new("value", "another text in other items: a field"),
        ];
        if !guess {
            choices.reverse();
        }
        let number = if items == 1 { "its 1 item".to_owned() } else { format!("all {items} items") };
        let asked =
            format!("`{key}` of {name} begins with `{begin}{text}` in {number}. Could `{text}` be another text?");
        let question = Question { id: format!("{name}.{key} {begin}{text}"), text: asked, items, choices };
        let is_label = self.answers.word(&question) == "constant";
        found.questions.push(question);
        is_label
    }

    /// Whether items leave open what a part is: all have one text there, no other group has another, and the type has
    /// fields without it.
    fn is_open(&self, part: &Part<'_>) -> bool {
        let Some(text) = part.texts.first().copied().filter(|text| !text.is_empty()) else { return false };
        let key = part.key.name.as_str();
        let is_alone = part.length == 1 && self.columns.primary.first() == Some(&key);
        if !matches!(atom(text), Atom::Word | Atom::Code) || part.position == 0 && !is_alone {
            return false;
        }
        let has_other_text = |row: &Row<'_>| {
            let other = row.keys.get(key).and_then(|tokens| tokens.get(part.position));
            other.is_some_and(|token| token.text != text)
        };
        let has_fields = self.group.names.iter().any(|name| self.columns.shows_values(name));
        has_fields && part.texts.iter().all(|other| *other == text) && !self.rows.iter().any(has_other_text)
    }

    /// What stands before a part in its key, as the items have it: `…` for texts that differ.
    fn text_before(&self, part: &Part<'_>) -> String {
        let mut text = String::new();
        for position in 0..=part.position {
            let tokens = |row: &usize| self.tokens(*row, &part.key.name).get(position);
            let mut tokens = part.rows.iter().filter_map(tokens);
            let Some(first) = tokens.next() else { break };
            text.push_str(&first.before);
            if position < part.position {
                text.push_str(if tokens.all(|token| token.text == first.text) { &first.text } else { "…" });
            }
        }
        text
    }

    /// Whether a part is a label: the same text in all items, which looks like a word.
    fn is_label(&self, part: &Part<'_>, alignment: Option<&Alignment>) -> bool {
        let Some(first) = part.texts.first() else { return false };
        if part.texts.iter().any(|text| text != first) {
            return false;
        }
        if first.is_empty() {
            return true;
        }
        if part.name().is_some() {
            return false;
        }
        // `0` or `000` in every partition is where its first item stands.
        let is_zero = first.chars().all(|letter| letter == '0') && part.length == 1 && self.partitions(&part.rows) > 2;
        let is_word =
            is_zero || matches!(atom(first), Atom::Word) || part.position == 0 && matches!(atom(first), Atom::Code);
        let is_first = part.position == 0;
        let followed = part.position + 1 < part.length;
        let is_primary = self.columns.primary.contains(&part.key.name.as_str());
        if !is_word || alignment.is_some() && !(is_first && followed && part.texts.len() > 1) {
            return false;
        }
        let partitions = self.partitions(&part.rows);
        let is_partition = self.columns.primary.first() == Some(&part.key.name.as_str());
        match (part.length == 1, followed) {
            // The only part of a partition key names somebody, unless other partitions have labels.
            (true, _) => {
                !is_partition
                    || self.rows.iter().any(|row| row.keys.get(part.key.name.as_str()).is_some_and(|key| key.len() > 1))
            }
            (_, true) => true,
            _ if is_partition => part.label.is_none() || part.follows_field,
            _ if is_primary => true,
            _ => part.label.is_none() || part.follows_field || partitions > 1 && part.texts.len() > 2,
        }
    }

    /// How many partitions of the table the rows are in.
    fn partitions(&self, rows: &[usize]) -> usize {
        let key = self.columns.primary[0];
        let mut texts = BTreeSet::new();
        for row in rows {
            texts.insert(format!("{:?}", self.rows[*row].item.get(key)));
        }
        texts.len()
    }

    /// The field that a key attribute is by itself.
    fn own_field(&self, found: &mut GroupKeys, key: &KeyAttribute, having: &[usize]) -> usize {
        let primary = self.columns.primary.contains(&key.name.as_str());
        let text = |row: &usize| Some((*row, shown(self.rows[*row].item, &key.name)?));
        let texts: BTreeMap<usize, String> = having.iter().filter_map(text).collect();
        let own = Some(key.name.clone());
        if let Some(known) = found.fields.iter().position(|field| field.own == own || field.attribute == own) {
            found.fields[known].primary |= primary;
            return known;
        }
        found.fields.push(KeyedField { attribute: None, label: None, own, named: None, primary, texts });
        found.fields.len() - 1
    }

    fn field_part(&self, found: &mut GroupKeys, part: &Part<'_>, alignment: Option<Alignment>) -> GroupPart {
        let texts: BTreeMap<usize, String> =
            part.rows.iter().copied().zip(part.texts.iter().map(|text| (*text).to_owned())).collect();
        let attribute = alignment.as_ref().map(|alignment| alignment.attribute.clone());
        let known = match &attribute {
            Some(name) => found
                .fields
                .iter()
                .position(|field| field.attribute.as_ref() == Some(name) || field.own.as_ref() == Some(name)),
            None => found.fields.iter().position(|field| self.is_same(field, part, &texts)),
        };
        let primary = self.columns.primary.contains(&part.key.name.as_str());
        let field = known.unwrap_or_else(|| {
            let label = part.label.map(str::to_owned);
            // A key that is one value is the field itself.
            let own = (part.length == 1 && attribute.is_none()).then(|| part.key.name.clone());
            let named = part.name().map(str::to_owned);
            found.fields.push(KeyedField { attribute, label, own, named, primary, texts: texts.clone() });
            found.fields.len() - 1
        });
        found.fields[field].primary |= primary;
        let mut distinct: Vec<String> = texts.into_values().collect();
        distinct.sort_unstable();
        distinct.dedup();
        GroupPart::Field(field, alignment.map(|alignment| alignment.likeness), distinct)
    }

    /// Whether a part without an attribute repeats a field.
    fn is_same(&self, field: &KeyedField, part: &Part<'_>, texts: &BTreeMap<usize, String>) -> bool {
        if field.attribute.is_some() {
            return false;
        }
        let common: Vec<(&String, &String)> =
            texts.iter().filter_map(|(row, text)| Some((text, field.texts.get(row)?))).collect();
        let distinct: BTreeSet<&&String> = common.iter().map(|(text, _)| text).collect();
        let plain = |label: Option<&str>| names::plain(label.unwrap_or_default());
        let (one, other) = (plain(field.label.as_deref()), plain(part.label));
        let agree = one == other || one.is_empty() || other.is_empty();
        !common.is_empty() && common.iter().all(|(one, other)| one == other) && (agree || distinct.len() >= ENOUGH)
    }
}

/// The text of a key of any type.
fn shown(item: &Item, key: &str) -> Option<String> {
    item.get(key).and_then(crate::infer::shape::row::text).map(|text| text.into_owned())
}

fn push_literal(parts: &mut Vec<GroupPart>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(GroupPart::Literal(last)) => last.push_str(text),
        _ => parts.push(GroupPart::Literal(text.to_owned())),
    }
}
