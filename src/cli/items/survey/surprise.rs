//! What may surprise about an item in, a line for a person and an object of JSON out.

use crate::schema::template::part::Misspelling;
use serde_json::{Value, json};

/// What may surprise about an item: of one kind is one line.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Surprise {
    /// Its key has a value in another spelling, so it is not of the type.
    Key(String),
    /// It has a value in another spelling elsewhere.
    Value(String),
    /// It has a time elsewhere that its field cannot read.
    Unread(String),
    /// It has a value that its field cannot read, which is no time.
    Misfit(String),
    /// It lacks a value of a field that is never null.
    Null(String),
    /// It lacks the constants that distinguish these types.
    Constants(String),
    /// A field in its key has another value in an attribute.
    Differs(String),
    /// Its fields make another key: those of this type, and this attribute.
    Misplaced(String),
    /// Its fields make another value of this key attribute of an index.
    Stale(String),
    /// It lacks this key attribute of an index, which its fields make.
    Missing(String),
    /// It has this key attribute of an index although a field of it is null.
    Left(String),
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

impl Surprise {
    /// The word for it in JSON.
    fn word(&self) -> &'static str {
        match self {
            Self::Key(_) => "keyInAnotherSpelling",
            Self::Value(_) => "valueInAnotherSpelling",
            Self::Unread(_) | Self::Misfit(_) => "misfit",
            Self::Null(_) => "null",
            Self::Constants(_) => "withoutConstants",
            Self::Differs(_) => "keyAndAttributeDiffer",
            Self::Misplaced(_) => "keyOfOtherFields",
            Self::Stale(_) => "staleIndexKey",
            Self::Missing(_) => "missingIndexKey",
            Self::Left(_) => "indexKeyOfNull",
        }
    }

    /// The coordinate of its field, the type with its key attribute, or the types.
    fn place(&self) -> &str {
        match self {
            Self::Key(place)
            | Self::Value(place)
            | Self::Unread(place)
            | Self::Misfit(place)
            | Self::Null(place)
            | Self::Constants(place)
            | Self::Differs(place)
            | Self::Misplaced(place)
            | Self::Stale(place)
            | Self::Missing(place)
            | Self::Left(place) => place,
        }
    }

    /// It and its items as JSON.
    pub fn json(&self, FirstOfKind { count, misspelling, key }: &FirstOfKind) -> Value {
        json!({
            "kind": self.word(), "place": self.place(), "items": count, "example": key,
            "found": misspelling.found, "expected": misspelling.own,
        })
    }

    /// It and its items in a line.
    pub fn line(&self, FirstOfKind { count, misspelling, key }: &FirstOfKind) -> String {
        let items = match count {
            1 => format!("1 item ({key})"),
            count => format!("{count} items (such as {key})"),
        };
        let (place, found) = (self.place(), &misspelling.found);
        let fitting = misspelling.fitting();
        let own = misspelling.own.as_deref();
        match (self, own) {
            (Self::Key(_), Some(own)) => {
                let remedy = fitting.map(|form| format!("; `{form}` in its template reads it")).unwrap_or_default();
                format!(
                    "{items} will not be seen: `{place}` is \"{found}\" in a key, which Keyfold writes as \"{own}\", so nothing would find the item by its fields{remedy}"
                )
            }
            (Self::Key(_), None) => {
                format!("{items} will not be seen: `{place}` cannot be \"{found}\", which a key has")
            }
            (Self::Unread(_), _) => {
                let form = fitting
                    .as_deref()
                    .and_then(|form| form.split_once(':'))
                    .map(|(_, form)| form.trim_end_matches('}'));
                let remedy = form.map(|form| format!("; `@attribute(form: \"{form}\")` reads it")).unwrap_or_default();
                format!("{items} with an error at `{place}`: \"{found}\" is not in its form{remedy}")
            }
            (Self::Misfit(_), _) => {
                format!("{items} with an error at `{place}`: it is {found}, which the type of the field cannot read")
            }
            (Self::Null(_), _) => {
                format!("{items} with an error at `{place}`: it is null, and the schema says that it never is")
            }
            (Self::Value(_), own) => format!(
                "{items} with `{place}` in another spelling, such as \"{found}\": it is read, but conditions, ranges and relations compare it as a text with \"{}\"",
                own.unwrap_or_default()
            ),
            (Self::Constants(_), _) => {
                format!("{items} could be {place}, and will be either: the constants that tell them apart are missing")
            }
            (Self::Differs(_), own) => format!(
                "{items} with two values of `{place}`: \"{found}\" in the attribute, and \"{}\" in the key, which is the one that is read",
                own.unwrap_or_default()
            ),
            (Self::Misplaced(_), own) => format!(
                "{items} will not be found by the fields: the key `{place}` is \"{found}\", and the fields make \"{}\"",
                own.unwrap_or_default()
            ),
            (Self::Stale(_), own) => format!(
                "{items} with a stale index key: `{place}` is \"{found}\", and the fields make \"{}\"",
                own.unwrap_or_default()
            ),
            (Self::Missing(_), own) => format!(
                "{items} without the index key `{place}`, which the fields make (\"{}\"), so the index does not list them",
                own.unwrap_or_default()
            ),
            (Self::Left(_), _) => format!(
                "{items} with the index key `{place}` \"{found}\" although a field of it is null, so the index still lists them"
            ),
        }
    }
}
