//! The bundle that the build makes of goldens, examples and schemas with their items in, their texts by path out. Must
//! not know what they mean.

use anyhow::{Context, Result};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::Read;

/// The bundle of this release, in gzip.
const PACKED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/selftest.gz"));

/// Texts by their paths from the root of the repository, with `/`.
#[derive(Debug)]
pub struct Bundle {
    texts: BTreeMap<String, String>,
}

impl Bundle {
    /// That of this release. An error is a mistake of the build.
    pub fn embedded() -> Result<Self> {
        let mut all = String::new();
        GzDecoder::new(PACKED).read_to_string(&mut all).context("the bundle of goldens is broken")?;
        Self::parse(&all).context("the bundle of goldens is cut off")
    }

    /// Reads the form that `build.rs` writes.
    fn parse(mut rest: &str) -> Option<Self> {
        let mut texts = BTreeMap::new();
        while !rest.is_empty() {
            let (head, after) = rest.split_once('\n')?;
            let (path, length) = head.split_once('\t')?;
            let (text, next) = after.split_at_checked(length.parse().ok()?)?;
            texts.insert(path.to_owned(), text.to_owned());
            rest = next;
        }
        Some(Self { texts })
    }

    /// The text of a file.
    pub fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// The files below a folder whose names have this ending, with their texts, sorted.
    pub fn below<'b>(&'b self, folder: &str, ending: &'b str) -> impl Iterator<Item = (&'b str, &'b str)> {
        let folder = format!("{folder}/");
        let texts = self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()));
        texts.filter(move |(path, _)| path.starts_with(&folder) && path.ends_with(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_read_as_it_is_written() {
        let bundle = Bundle::parse("a/b.graphql\t4\nx\n\tya/c.json\t0\n");
        let texts = bundle.map(|bundle| bundle.texts.into_iter().collect::<Vec<_>>());
        let expected = [("a/b.graphql", "x\n\ty"), ("a/c.json", "")];
        let expected = expected.map(|(path, text)| (path.to_owned(), text.to_owned()));
        assert_eq!(texts.as_deref(), Some(&expected[..]));
        for cut_off in ["a/b\t5\nx\n\ty", "a/b", "a/b\n", "a/b\tx\n"] {
            assert!(Bundle::parse(cut_off).is_none(), "{cut_off:?}");
        }
    }
}
