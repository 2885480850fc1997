//! The documentation in, its pages out: `/docs` of `keyfold dev`. Must not know what the pages say.

use super::document::to_html;
use super::files::VERSION;
use super::page::html;
use axum::extract::Path;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use flate2::read::GzDecoder;
use std::collections::BTreeMap;
use std::io::{Error, Read, Result};
use std::sync::LazyLock;

/// The pages of docs/, in gzip: of each a line with its path and its length in bytes, and its text.
const BUNDLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/docs.gz"));
/// The page around a document.
const PAGE: &str = include_str!("../../../console/docs.html");
/// What a page may load: its own style sheets.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The pages by their paths below docs/. An unreadable bundle has none; a test reads it.
static PAGES: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| unpacked(BUNDLE).unwrap_or_default());

/// The response to GET `/docs`: the way to the contents.
pub async fn contents() -> Redirect {
    Redirect::temporary("docs/language/README.md")
}

/// The response to GET `/docs/{path}`: a page.
pub async fn page(Path(path): Path<String>) -> Response {
    let Some(text) = PAGES.get(&path) else {
        return (StatusCode::NOT_FOUND, "There is no such page.\n").into_response();
    };
    let root = "../".repeat(path.matches('/').count() + 1);
    let document = to_html(text, &|url| target(&path, url).is_some_and(|target| PAGES.contains_key(&target)));
    let page = PAGE.replace("{root}", &root).replace("{console}", &format!("{root}console/{}", *VERSION));
    html(HeaderValue::from_static(POLICY), page.replace("{document}", &document))
}

/// The text of a page by its path below docs/.
pub fn text(path: &str) -> Option<&'static str> {
    PAGES.get(path).map(String::as_str)
}

/// The paths below docs/ of the pages that hold a text.
pub fn holding<'t>(text: &'t str) -> impl Iterator<Item = &'static str> + 't {
    PAGES.iter().filter(move |(_, page)| page.contains(text)).map(|(path, _)| path.as_str())
}

/// The path below docs/ to which a relative link of a page leads. `None` if it leads out of docs/.
fn target(from: &str, url: &str) -> Option<String> {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in url.split('#').next()?.split('/') {
        match part {
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// The files of a bundle.
fn unpacked(bundle: &[u8]) -> Result<BTreeMap<String, String>> {
    let mut all = String::new();
    GzDecoder::new(bundle).read_to_string(&mut all)?;
    let mut pages = BTreeMap::new();
    let mut rest = all.as_str();
    while let Some((line, after)) = rest.split_once('\n') {
        let (path, length) = line.split_once('\t').ok_or_else(|| Error::other("a line without a length"))?;
        let length: usize = length.parse().map_err(Error::other)?;
        let (text, next) = after.split_at_checked(length).ok_or_else(|| Error::other("a text that is cut off"))?;
        pages.insert(path.trim_start_matches("docs/").to_owned(), text.to_owned());
        rest = next;
    }
    Ok(pages)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_bundle_has_the_contents_and_what_they_lead_to() {
        let pages = unpacked(BUNDLE).unwrap();
        let contents = "language/README.md";
        let links: Vec<&str> = pages[contents].split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
        assert!(links.len() > 50, "{links:?}");
        let lost: Vec<&&str> =
            links.iter().filter(|link| target(contents, link).is_none_or(|path| !pages.contains_key(&path))).collect();
        assert!(lost.is_empty(), "{lost:?}");
    }

    #[test]
    fn links_lead_from_page_to_page() {
        assert_eq!(target("language/directives/find.md", "../binding.md#ranges").unwrap(), "language/binding.md");
        assert_eq!(target("language/README.md", "../errors.md").unwrap(), "errors.md");
        assert_eq!(target("errors.md", "../../README.md"), None);
    }
}
