//! Albums whose pages are written together by `many: true`. All pages of an album come and go at once, so what a write
//! finds is what there is.

use crate::history::{Outcome, Sequential};
use serde_json::{Value, json};

const PAGES: [&str; 4] = ["1", "2", "3", "4"];

#[derive(Debug, Clone)]
pub enum AlbumOperation {
    Open(String),
    Fill(String),
    Clear,
    Set(usize, String),
    Read,
}

impl AlbumOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        match rng.usize(..8) {
            0 | 1 => Self::Open(format!("o{position}")),
            2..4 => Self::Fill(format!("f{position}")),
            4 => Self::Clear,
            5 | 6 => Self::Set(rng.usize(..PAGES.len()), format!("s{position}")),
            _ => Self::Read,
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Open(text) => {
                ("mutation ($t: String!) { w: openAlbum(albumId: \"m\", text: $t) }", json!({ "t": text }))
            }
            Self::Fill(text) => {
                ("mutation ($t: String!) { w: fillAlbum(albumId: \"m\", text: $t) }", json!({ "t": text }))
            }
            Self::Clear => ("mutation { w: clearAlbum(albumId: \"m\") }", json!({})),
            Self::Set(page, text) => (
                "mutation ($p: ID!, $t: String!) { w: setPage(albumId: \"m\", id: $p, text: $t) { text } }",
                json!({ "p": PAGES[*page], "t": text }),
            ),
            Self::Read => ("{ w: pages(albumId: \"m\") { text } }", json!({})),
        }
    }
}

impl Sequential for AlbumOperation {
    /// The texts of the pages.
    type State = Option<[String; PAGES.len()]>;

    fn apply(&self, pages: &Self::State) -> (Self::State, Outcome) {
        let refused = |code: &str| (pages.clone(), Outcome::Refused(code.to_owned()));
        let all = |text: &String| Some(PAGES.map(|_| text.clone()));
        match (self, pages) {
            (Self::Open(_), Some(_)) => refused("CONFLICT"),
            (Self::Open(text), None) | (Self::Fill(text), Some(_)) => (all(text), Outcome::Done),
            (Self::Fill(_), None) => (None, Outcome::Done),
            (Self::Clear, _) => (None, Outcome::Done),
            (Self::Set(..), None) => refused("NOT_FOUND"),
            (Self::Set(page, text), Some(texts)) => {
                let mut texts = texts.clone();
                texts[*page].clone_from(text);
                (Some(texts), Outcome::Value(json!({ "text": text })))
            }
            (Self::Read, _) => {
                let page = |text: &String| json!({ "text": text });
                let shown: Vec<Value> = pages.iter().flatten().map(page).collect();
                (pages.clone(), Outcome::Value(shown.into()))
            }
        }
    }
}
