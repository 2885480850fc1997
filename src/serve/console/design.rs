//! The design document of a schema in, a page that shows it out. `keyfold dev` has it; `keyfold serve` does not.

use super::files::VERSION;
use super::page::html;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::future::BoxFuture;
use pulldown_cmark::html::push_html;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};
use std::sync::Arc;

/// The page around the document.
const PAGE: &str = include_str!("../../../console/design.html");
/// What the page may load: nothing but its style sheet.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Writes the design document.
pub trait DesignDocument: Send + Sync + 'static {
    /// The document in Markdown; the error is a text for the developer.
    fn markdown(&self) -> BoxFuture<'_, Result<Arc<str>, String>>;
}

/// The response to GET `/design`: the document as a page.
pub async fn page(State(document): State<Arc<dyn DesignDocument>>) -> Response {
    let text = match document.markdown().await {
        Ok(text) => text,
        Err(trouble) => return failed(trouble),
    };
    let page = PAGE.replace("{console}", &format!("console/{}", *VERSION)).replace("{document}", &to_html(&text));
    html(HeaderValue::from_static(POLICY), page)
}

/// The response to GET `/design.md`: the document itself.
pub async fn file(State(document): State<Arc<dyn DesignDocument>>) -> Response {
    match document.markdown().await {
        Ok(text) => ([(header::CONTENT_TYPE, "text/markdown; charset=utf-8")], text.to_string()).into_response(),
        Err(trouble) => failed(trouble),
    }
}

fn failed(trouble: String) -> Response {
    (StatusCode::INTERNAL_SERVER_ERROR, [(header::CONTENT_TYPE, "text/plain; charset=utf-8")], trouble).into_response()
}

/// A document as HTML. Its headings have the ids that its links lead to. HTML in it is shown as text.
fn to_html(markdown: &str) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES)
        .map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            other => other,
        })
        .collect();
    let headings: Vec<usize> = (0..events.len()).filter(|at| matches!(events.get(*at), Some(Event::Start(Tag::Heading { .. })))).collect();
    for at in headings {
        let text: String = events[at..]
            .iter()
            .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
            .filter_map(|event| match event {
                Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
                _ => None,
            })
            .collect();
        if let Some(Event::Start(Tag::Heading { id, .. })) = events.get_mut(at) {
            *id = Some(CowStr::from(anchor(&text)));
        }
    }
    let mut page = String::with_capacity(2 * markdown.len());
    push_html(&mut page, events.into_iter());
    // What is wide scrolls by itself, and by the keyboard.
    let page = page.replace("<pre>", "<pre tabindex=\"0\">");
    page.replace("<table>", "<div class=\"wide\" tabindex=\"0\"><table>").replace("</table>", "</table></div>")
}

/// The id of a heading, as GitHub makes it: small letters, hyphens for spaces, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_have_the_ids_that_links_lead_to() {
        let html = to_html("# Design\n\n- [2 item types](#item-types)\n\n## Item types\n\n### `Query.user`, by id\n");
        assert!(html.contains("<h2 id=\"item-types\">") && html.contains("href=\"#item-types\""), "{html}");
        assert!(html.contains("<h3 id=\"queryuser-by-id\"><code>Query.user</code>, by id</h3>"), "{html}");
    }

    #[test]
    fn html_in_a_document_is_shown_as_text() {
        let html = to_html("A <b>bold</b> word.\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| `<i>` |\n");
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("<i>"), "{html}");
        assert!(html.contains("&lt;b&gt;bold") && html.contains("<table>"), "{html}");
    }
}
