//! What may surprise about an item in, a line for a person and an object of JSON out.

use crate::schema::template::part::Misspelling;
use serde_json::{Value, json};

/// What may surprise about an item: of one kind and place is one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Surprise {
    /// What.
    pub kind: SurpriseKind,
    /// The coordinate of its field, the type with its key attribute, or the types.
    pub place: String,
}

/// The kinds of surprises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SurpriseKind {
    /// Its key has a value in another spelling, so it is not of the type.
    Key,
    /// It has a value in another spelling elsewhere.
    Value,
    /// It has a time elsewhere that its field cannot read.
    Unread,
    /// It has a value that its field cannot read, which is no time.
    Misfit,
    /// It has a field in a key only, and that in a form that no template has.
    Formless,
    /// It lacks a value of a field that is never null.
    Null,
    /// It lacks the constants that distinguish these types.
    Constants,
    /// A field in its key has another value in an attribute.
    Differs,
    /// Its fields make another key: those of this type, and this attribute.
    Misplaced,
    /// Its fields make another value of this key attribute of an index.
    Stale,
    /// It lacks this key attribute of an index, which its fields make.
    Missing,
    /// It has this key attribute of an index although a field of it is null.
    Left,
}

/// How many items are of one kind, and the first of them.
#[derive(Debug)]
pub struct FirstOfKind {
    /// How many.
    pub count: u64,
    /// What the first has, and what Keyfold would write.
    pub misspelling: Misspelling,
    /// Its key.
    pub key: String,
}

impl SurpriseKind {
    /// The word for it in JSON.
    fn word(self) -> &'static str {
        match self {
            Self::Key => "keyInAnotherSpelling",
            Self::Value => "valueInAnotherSpelling",
            Self::Unread | Self::Misfit | Self::Formless => "misfit",
            Self::Null => "null",
            Self::Constants => "withoutConstants",
            Self::Differs => "keyAndAttributeDiffer",
            Self::Misplaced => "keyOfOtherFields",
            Self::Stale => "staleIndexKey",
            Self::Missing => "missingIndexKey",
            Self::Left => "indexKeyOfNull",
        }
    }

    /// That of a place.
    pub fn at(self, place: impl Into<String>) -> Surprise {
        Surprise { kind: self, place: place.into() }
    }
}

impl Surprise {
    /// It and its items as JSON.
    pub fn json(&self, FirstOfKind { count, misspelling, key }: &FirstOfKind) -> Value {
        json!({
            "kind": self.kind.word(), "place": self.place, "items": count, "example": key,
            "found": misspelling.found, "expected": misspelling.own,
        })
    }

    /// It and its items in a line.
    pub fn line(&self, FirstOfKind { count, misspelling, key }: &FirstOfKind) -> String {
        let items = match count {
            1 => format!("1 item ({key})"),
            count => format!("{count} items (such as {key})"),
        };
        let (place, found) = (&self.place, &misspelling.found);
        let fitting = misspelling.fitting();
        let own = misspelling.own.as_deref().unwrap_or_default();
        match self.kind {
            SurpriseKind::Key if misspelling.own.is_some() => {
                let remedy = fitting.map(|form| format!("; `{form}` in its template reads it")).unwrap_or_default();
                format!(
                    "{items} will not be seen: `{place}` is \"{found}\" in a key, which Keyfold writes as \"{own}\", so nothing would find the item by its fields{remedy}"
                )
            }
            SurpriseKind::Key => {
                format!("{items} will not be seen: `{place}` cannot be \"{found}\", which a key has")
            }
            SurpriseKind::Unread => {
                let form = fitting
                    .as_deref()
                    .and_then(|form| form.split_once(':'))
                    .map(|(_, form)| form.trim_end_matches('}'));
                let remedy = form.map(|form| format!("; `@attribute(form: \"{form}\")` reads it")).unwrap_or_default();
                format!("{items} with an error at `{place}`: \"{found}\" is not in its form{remedy}")
            }
            SurpriseKind::Misfit => {
                format!("{items} with an error at `{place}`: it is {found}, which the type of the field cannot read")
            }
            SurpriseKind::Formless => {
                format!("{items} with an error at `{place}`: only a key has it, and no template has the form of that")
            }
            SurpriseKind::Null => {
                format!("{items} with an error at `{place}`: it is null, and the schema says that it never is")
            }
            SurpriseKind::Value => format!(
                "{items} with `{place}` in another spelling, such as \"{found}\": it is read, but conditions, ranges and relations compare it as a text with \"{own}\""
            ),
            SurpriseKind::Constants => {
                format!("{items} could be {place}, and will be either: the constants that tell them apart are missing")
            }
            SurpriseKind::Differs => format!(
                "{items} with two values of `{place}`: \"{found}\" in the attribute, and \"{own}\" in the key, which is the one that is read"
            ),
            SurpriseKind::Misplaced => format!(
                "{items} will not be found by the fields: the key `{place}` is \"{found}\", and the fields make \"{own}\""
            ),
            SurpriseKind::Stale => {
                format!("{items} with a stale index key: `{place}` is \"{found}\", and the fields make \"{own}\"")
            }
            SurpriseKind::Missing => format!(
                "{items} without the index key `{place}`, which the fields make (\"{own}\"), so the index does not list them"
            ),
            SurpriseKind::Left => format!(
                "{items} with the index key `{place}` \"{found}\" although a field of it is null, so the index still lists them"
            ),
        }
    }
}
