//! The texts that the editor starts with in, the page for browsers at `/` out. Other clients get a line of text.
//!
//! The page has GraphiQL from the binary, or else from a CDN, at fixed versions and with the hashes of its files, and
//! nothing else from elsewhere.

use super::files::{EMBEDDED, PAGE, VERSION};
use super::starting_text::StartingTexts;
use crate::serve::http::media_type::wants_html;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use std::sync::Arc;

/// The CDN that has the files of npm packages.
const CDN: &str = "https://unpkg.com";

/// The page for browsers.
pub struct Console {
    /// The page with a place for its settings.
    page: String,
    parts: PageParts,
    starting_texts: Arc<dyn StartingTexts>,
    policy: HeaderValue,
}

/// The parts of the page.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PageParts {
    /// Whether it shows the plan of each operation.
    pub plan: bool,
    /// Whether it leads to the pages that only a server for development has.
    pub development: bool,
    /// Whom its user may be.
    pub callers: CallerChoice,
}

/// Whom the user of the page may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CallerChoice {
    /// Nobody: no one can sign in.
    None,
    /// Whoever has a token.
    Token,
    /// A caller of the samples, too.
    Samples,
}

impl Console {
    /// The page with these parts. Whenever a browser loads it, its editor starts with the texts of then.
    pub fn new(starting_texts: Arc<dyn StartingTexts>, parts: PageParts) -> Self {
        Self::made(starting_texts, parts, !EMBEDDED.is_empty())
    }

    fn made(starting_texts: Arc<dyn StartingTexts>, parts: PageParts, is_embedded: bool) -> Self {
        let own = format!("console/{}", *VERSION);
        let package = |path: &str| if is_embedded { own.clone() } else { format!("{CDN}/{path}") };
        let page =
            PAGE.replace("{graphiql}", &package("graphiql@4.1.2")).replace("{react}", &package("react@18.3.1/umd"));
        let page = page.replace("{react-dom}", &package("react-dom@18.3.1/umd"));
        let page = page.replace("{console}", &own);
        Self { page, parts, starting_texts, policy: policy(if is_embedded { "" } else { CDN }) }
    }

    async fn page(&self) -> String {
        let settings = json!({ "startingTexts": self.starting_texts.texts().await, "parts": self.parts });
        // No text ends a script element that has no `<`.
        self.page.replace("{settings}", &settings.to_string().replace('<', "\\u003c"))
    }
}

/// What the page may load, and where it may send (Content Security Policy Level 3). GraphiQL adds `style` elements
/// while it runs.
fn policy(elsewhere: &str) -> HeaderValue {
    let policy = format!(
        "default-src 'none'; script-src 'self' {elsewhere}; style-src 'self' 'unsafe-inline' {elsewhere}; font-src data: {elsewhere}; \
         img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"))
}

/// The response to GET `/`: the page, if there is one and a browser asks for it.
pub async fn root(State(console): State<Option<Arc<Console>>>, headers: HeaderMap) -> Response {
    match console {
        Some(console) if wants_html(&headers) => {
            ([(header::VARY, "accept")], html(console.policy.clone(), console.page().await)).into_response()
        }
        _ => ([(header::VARY, "accept")], "Keyfold. Send GraphQL operations to /graphql.\n").into_response(),
    }
}

/// A response that is a page with a policy.
pub fn html(policy: HeaderValue, page: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, page).into_response()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::serve::console::files::decompressed;
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha384};

    const PARTS: PageParts = PageParts { plan: true, development: false, callers: CallerChoice::Samples };

    fn console() -> Option<Arc<Console>> {
        Some(Arc::new(Console::new(Arc::new(vec!["{ __typename } # </script>".to_owned()]), PARTS)))
    }

    fn accept(types: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(types))])
    }

    #[tokio::test]
    async fn the_page_holds_its_settings_and_names_its_files() {
        let page = console().unwrap().page().await;
        let settings = r##"{"startingTexts":["{ __typename } # \u003c/script>"],"parts":{"plan":true,"development":false,"callers":"samples"}}"##;
        assert!(page.contains(settings), "{page}");
        assert!(page.contains(&format!("src=\"console/{}/console.js\"", *VERSION)), "{page}");
        assert!(
            !["{console}", "{graphiql}", "{react}", "{react-dom}"].iter().any(|place| page.contains(place)),
            "{page}"
        );
    }

    #[test]
    fn files_from_elsewhere_have_fixed_versions_and_hashes_and_embedded_ones_the_same_hashes() {
        let page = |is_embedded| Console::made(Arc::new(Vec::new()), PARTS, is_embedded);
        let (embedded, loaded) = (page(true), page(false));
        assert_eq!(
            (loaded.page.matches("https://").count(), loaded.page.matches("integrity=\"sha384-").count()),
            (4, 4)
        );
        assert!(!embedded.page.contains("https://") && embedded.page.matches("integrity=\"sha384-").count() == 4);
        let allows = |console: &Console| String::from_utf8_lossy(console.policy.as_bytes()).contains(CDN);
        assert!(allows(&loaded) && !allows(&embedded));
        for (name, file) in EMBEDDED {
            let hash = STANDARD.encode(Sha384::digest(decompressed(file).unwrap()));
            assert!(embedded.page.contains(&format!("integrity=\"sha384-{hash}\"")), "{name}: {hash}");
        }
    }

    #[tokio::test]
    async fn only_browsers_get_the_page() {
        let type_for =
            async |console, types| root(State(console), accept(types)).await.headers()[header::CONTENT_TYPE].clone();
        assert_eq!(type_for(console(), "text/html,application/xhtml+xml,*/*;q=0.8").await, "text/html; charset=utf-8");
        assert_eq!(type_for(console(), "*/*").await, "text/plain; charset=utf-8");
        assert_eq!(type_for(None, "text/html").await, "text/plain; charset=utf-8");
    }
}
