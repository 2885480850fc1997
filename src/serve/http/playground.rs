//! `/`: a request in; GraphiQL for browsers, a line of text for other clients out.

use super::media_type::wants_html;
use crate::schema::model::Model;
use apollo_compiler::schema::ExtendedType;
use async_graphql::http::GraphiQLSource;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};

/// The version of GraphiQL: the last whose page needs no module loader.
const GRAPHIQL: &str = "4.1.2";

/// Most root fields that the starting text names.
const NAMED: usize = 30;

/// GraphiQL as a page that finds the API next to itself, whatever path a proxy puts before both.
pub fn page(starting_text: &str) -> String {
    let page = GraphiQLSource::build().version(GRAPHIQL).title("Keyfold").endpoint("graphql").finish();
    // The builder has no option for these. It resolves the endpoint from the host's root, starts with GraphiQL's own text, and shows
    // "Loading..." for ever in a browser that cannot reach the scripts.
    page.replace("new URL(endpoint, window.location.origin)", "new URL(endpoint, window.location.href)")
        .replace(">Loading...<", ">GraphiQL is being loaded from unpkg.com. If this message stays, the browser cannot reach that site.<")
        .replace(
            "defaultEditorToolsVisibility: true,",
            &format!("defaultEditorToolsVisibility: true,\n          defaultQuery: {},", script_text(starting_text)),
        )
}

/// The text in the editor at the start: the queries of the API, and one that runs.
pub fn starting_text(model: &Model) -> String {
    let mut text = String::from("# Ctrl-Space shows what fits at the cursor. Ctrl-Enter runs the operation.\n#\n# Queries of this API:\n");
    let query = model.api.schema_definition.query.as_ref().and_then(|name| model.api.types.get(name.as_str()));
    if let Some(ExtendedType::Object(query)) = query {
        for field in query.fields.values().take(NAMED) {
            let arguments: Vec<_> = field.arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty)).collect();
            let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
            text.push_str(&format!("#   {}{arguments}: {}\n", field.name, field.ty));
        }
        if query.fields.len() > NAMED {
            text.push_str(&format!("#   and {} more\n", query.fields.len() - NAMED));
        }
    }
    text.push_str("\n{\n  __typename\n}\n");
    text
}

/// The response to GET `/`: the page, if there is one and a browser asks for it.
pub fn answer(page: Option<&str>, headers: &HeaderMap) -> Response {
    let (content_type, body) = match page {
        Some(page) if wants_html(headers) => ("text/html; charset=utf-8", page.to_owned()),
        _ => ("text/plain; charset=utf-8", "Keyfold. Send GraphQL operations to /graphql.\n".to_owned()),
    };
    let headers = [(header::CONTENT_TYPE, HeaderValue::from_static(content_type)), (header::VARY, HeaderValue::from_static("accept"))];
    (headers, body).into_response()
}

/// The text as a JavaScript string that cannot end its script.
fn script_text(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_page_finds_the_api_beside_itself_and_starts_with_our_text() {
        let page = page("{ __typename } # </script>");
        assert!(page.contains("createUrl('graphql')") && page.contains("loaded from unpkg.com"));
        assert!(page.contains("new URL(endpoint, window.location.href)") && !page.contains("location.origin)"));
        assert!(page.contains(r##"defaultQuery: "{ __typename } # \u003c/script>","##));
    }

    #[test]
    fn only_browsers_get_the_page() {
        let type_for = |page, accept: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            answer(page, &headers).headers()[header::CONTENT_TYPE].clone()
        };
        assert_eq!(type_for(Some("<p>"), "text/html,application/xhtml+xml,*/*;q=0.8"), "text/html; charset=utf-8");
        assert_eq!(type_for(Some("<p>"), "*/*"), "text/plain; charset=utf-8");
        assert_eq!(type_for(None, "text/html"), "text/plain; charset=utf-8");
    }
}
