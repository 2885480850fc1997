//! A document in Markdown in, HTML out that no browser takes for a program. Must not know which document it is.

use pulldown_cmark::html::push_html;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

/// A document as HTML. Its headings have the ids that its links lead to. HTML in it is shown as text. A link leads to a
/// page, or to what `own` knows.
pub fn to_html(markdown: &str, own: &dyn Fn(&str) -> bool) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(markdown, Options::ENABLE_TABLES)
        .map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            other => other,
        })
        .collect();
    for event in &mut events {
        if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = event
            && !leads_to_a_page(dest_url)
            && !own(dest_url)
        {
            *dest_url = CowStr::from("#");
        }
    }
    let headings: Vec<usize> =
        (0..events.len()).filter(|at| matches!(events.get(*at), Some(Event::Start(Tag::Heading { .. })))).collect();
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

/// Whether a URL is that of a page, a place on this page, or a mail. One with `javascript:` is none of these.
fn leads_to_a_page(url: &str) -> bool {
    let lower = url.to_ascii_lowercase();
    ["#", "https://", "http://", "mailto:"].iter().any(|beginning| lower.starts_with(beginning))
}

/// The id of a heading, as GitHub makes it: small letters, hyphens for spaces, no punctuation.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|sign| sign.is_alphanumeric() || matches!(sign, ' ' | '-' | '_'));
    kept.map(|sign| if sign == ' ' { '-' } else { sign }).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str) -> String {
        to_html(markdown, &|_| false)
    }

    #[test]
    fn headings_have_the_ids_that_links_lead_to() {
        let html = shown("# Design\n\n- [2 item types](#item-types)\n\n## Item types\n\n### `Query.user`, by id\n");
        assert!(html.contains("<h2 id=\"item-types\">") && html.contains("href=\"#item-types\""), "{html}");
        assert!(html.contains("<h3 id=\"queryuser-by-id\"><code>Query.user</code>, by id</h3>"), "{html}");
    }

    #[test]
    fn html_in_a_document_is_shown_as_text() {
        let html = shown("A <b>bold</b> word.\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| `<i>` |\n");
        assert!(!html.contains("<script") && !html.contains("<b>") && !html.contains("<i>"), "{html}");
        assert!(html.contains("&lt;b&gt;bold") && html.contains("<table>"), "{html}");
    }

    #[test]
    fn links_lead_to_pages() {
        let html = shown(
            "[a](jAvAsCrIpT:alert(1)) <javascript:alert(2)> ![i](data:text/html,x) [b](https://example.com/) [c](#top)\n",
        );
        assert!(!html.to_lowercase().contains("=\"javascript:") && !html.contains("data:text"), "{html}");
        assert!(html.contains("href=\"https://example.com/\"") && html.contains("href=\"#top\""), "{html}");
    }
}
