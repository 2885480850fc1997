//! Albums whose pages are written together, by `each:` and by `many: true`. All pages of an album come and go at once,
//! so what a write finds is what there is.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};

const PAGES: [&str; 4] = ["1", "2", "3", "4"];

#[derive(Debug, Clone)]
pub enum AlbumOperation {
    /// With the text of this number.
    Open(usize),
    Write(usize),
    Fill(usize),
    Clear,
    /// This page, with the text of a number.
    Set(usize, usize),
    Read,
}

impl AlbumOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        match rng.usize(..9) {
            0 | 1 => Self::Open(position),
            2..4 => Self::Fill(position),
            4 => Self::Clear,
            5 => Self::Write(position),
            6 | 7 => Self::Set(rng.usize(..PAGES.len()), position),
            _ => Self::Read,
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Open(text) => (
                "mutation ($p: [PageInput!]!) { w: openAlbum(albumId: \"m\", pages: $p) }",
                json!({ "p": pages_with(*text) }),
            ),
            Self::Write(text) => (
                "mutation ($p: [PageInput!]!) { w: writeAlbum(albumId: \"m\", pages: $p) }",
                json!({ "p": pages_with(*text) }),
            ),
            Self::Fill(text) => {
                ("mutation ($t: String!) { w: fillAlbum(albumId: \"m\", text: $t) }", json!({ "t": text_with(*text) }))
            }
            Self::Clear => ("mutation { w: clearAlbum(albumId: \"m\") }", json!({})),
            Self::Set(page, text) => (
                "mutation ($p: ID!, $t: String!) { w: setPage(albumId: \"m\", id: $p, text: $t) { text } }",
                json!({ "p": PAGES[*page], "t": text_with(*text) }),
            ),
            Self::Read => ("{ w: pages(albumId: \"m\") { text } }", json!({})),
        }
    }
}

fn text_with(number: usize) -> String {
    format!("t{number}")
}

/// Every page, with the text of a number.
fn pages_with(text: usize) -> Vec<Value> {
    PAGES.iter().map(|page| json!({ "id": page, "text": text_with(text) })).collect()
}

impl Sequential for AlbumOperation {
    /// The texts of the pages.
    type State = Option<[usize; PAGES.len()]>;

    fn apply(&self, pages: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (*pages, CallerOutcome::Refused(code.to_owned()));
        let all = |text: &usize| Some([*text; PAGES.len()]);
        match (self, pages) {
            (Self::Open(_), Some(_)) => refused("CONFLICT"),
            (Self::Open(text), None) | (Self::Write(text) | Self::Fill(text), Some(_)) => {
                (all(text), CallerOutcome::Done)
            }
            (Self::Fill(_), None) => (None, CallerOutcome::Done),
            (Self::Clear, _) => (None, CallerOutcome::Done),
            (Self::Set(..) | Self::Write(_), None) => refused("NOT_FOUND"),
            (Self::Set(page, text), Some(texts)) => {
                let mut texts = *texts;
                texts[*page] = *text;
                (Some(texts), CallerOutcome::Value(json!({ "text": text_with(*text) })))
            }
            (Self::Read, _) => {
                let page = |text: &usize| json!({ "text": text_with(*text) });
                let shown: Vec<Value> = pages.iter().flatten().map(page).collect();
                (*pages, CallerOutcome::Value(shown.into()))
            }
        }
    }
}
