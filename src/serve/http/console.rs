//! The page for browsers: a schema in; `/` and the files of the page out. Other clients get a line of text at `/`.
//!
//! The page loads GraphiQL from a CDN, at fixed versions and with the hashes of its files, and nothing else from elsewhere. Its own
//! modules are in `console/`. Their path holds their hash, so that browsers keep them until they change.

use super::media_type::wants_html;
use crate::schema::model::Model;
use apollo_compiler::Node;
use apollo_compiler::ast::FieldDefinition;
use apollo_compiler::schema::{ExtendedType, Schema};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::sync::Arc;

/// The page.
const PAGE: &str = include_str!("../../../console/index.html");
/// The page's own files: the name, the media type and the text of each.
const FILES: [(&str, &str, &str); 7] = [
    ("sample_callers.js", JAVASCRIPT, include_str!("../../../console/sample_callers.js")),
    ("console.js", JAVASCRIPT, include_str!("../../../console/console.js")),
    ("graphiql.js", JAVASCRIPT, include_str!("../../../console/graphiql.js")),
    ("make.js", JAVASCRIPT, include_str!("../../../console/make.js")),
    ("plain_editor.js", JAVASCRIPT, include_str!("../../../console/plain_editor.js")),
    ("plan.js", JAVASCRIPT, include_str!("../../../console/plan.js")),
    ("console.css", "text/css; charset=utf-8", include_str!("../../../console/console.css")),
];
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

/// What the page may load and where it may send (Content Security Policy Level 3). GraphiQL adds `style` elements while it runs.
const POLICY: &str = "default-src 'none'; script-src 'self' https://unpkg.com; style-src 'self' https://unpkg.com 'unsafe-inline'; \
    font-src https://unpkg.com data:; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// A path with a hash never changes its content. A year is what caches take for ever (RFC 9111 section 4.2.1 has no bound).
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// Most root fields that the starting text names.
const NAMED: usize = 30;
/// Most fields that its first operation selects.
const SELECTED: usize = 5;

/// The page for browsers.
pub struct Console {
    page: String,
    /// The hash of the page's own files, as their path has it.
    version: String,
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
    /// The page for a schema. With `explain` it shows the plan of each operation.
    pub fn new(model: &Model, explain: bool, callers: CallerChoice) -> Self {
        Self::of(&starting_text(&model.api), explain, callers)
    }

    /// The page whose editor starts with this text.
    pub fn of(starting_text: &str, explain: bool, callers: CallerChoice) -> Self {
        let version = version();
        let settings = json!({ "startingText": starting_text, "explain": explain, "callers": callers });
        // No text ends a script element that has no `<`.
        let settings = settings.to_string().replace('<', "\\u003c");
        Self { page: PAGE.replace("{version}", &version).replace("{settings}", &settings), version }
    }
}

/// The response to GET `/`: the page, if there is one and a browser asks for it.
pub async fn root(State(console): State<Option<Arc<Console>>>, headers: HeaderMap) -> Response {
    match console {
        Some(console) if wants_html(&headers) => {
            let headers = [
                (header::CONTENT_TYPE, "text/html; charset=utf-8"),
                (header::VARY, "accept"),
                (header::CACHE_CONTROL, "no-cache"),
                (header::CONTENT_SECURITY_POLICY, POLICY),
                (header::REFERRER_POLICY, "no-referrer"),
                (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            ];
            (headers, console.page.clone()).into_response()
        }
        _ => ([(header::VARY, "accept")], "Keyfold. Send GraphQL operations to /graphql.\n").into_response(),
    }
}

/// The response to GET `/console/{version}/{file}`.
pub async fn file(State(console): State<Option<Arc<Console>>>, Path((version, name)): Path<(String, String)>) -> Response {
    let is_current = console.is_some_and(|console| console.version == version);
    match FILES.iter().find(|file| is_current && file.0 == name) {
        Some((_, media_type, text)) => {
            let headers = [
                (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
                (header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER)),
                (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            ];
            (headers, *text).into_response()
        }
        None => (StatusCode::NOT_FOUND, "The page has no such file. Load the page again.\n").into_response(),
    }
}

/// The hash of the page's own files, in hexadecimal digits.
fn version() -> String {
    let hash = FILES.iter().fold(Sha256::new(), |hash, (name, _, text)| hash.chain_update(name).chain_update(text)).finalize();
    hash.iter().take(8).fold(String::new(), |mut version, byte| {
        let _ = write!(version, "{byte:02x}");
        version
    })
}

/// The text in the editor at the start: the queries of the API, and one that runs.
fn starting_text(api: &Schema) -> String {
    let mut text = String::from("# Ctrl-Space shows what fits at the cursor. Ctrl-Enter runs the operation.\n#\n# Queries of this API:\n");
    let query = api.schema_definition.query.as_ref().and_then(|name| api.get_object(name));
    let fields: Vec<_> = query.iter().flat_map(|query| query.fields.values()).collect();
    for field in fields.iter().take(NAMED) {
        let arguments: Vec<_> = field.arguments.iter().map(|argument| format!("{}: {}", argument.name, argument.ty)).collect();
        let arguments = if arguments.is_empty() { String::new() } else { format!("({})", arguments.join(", ")) };
        let _ = writeln!(text, "#   {}{arguments}: {}", field.name, field.ty);
    }
    if fields.len() > NAMED {
        let _ = writeln!(text, "#   and {} more", fields.len() - NAMED);
    }
    let free = fields.iter().find(|field| field.arguments.iter().all(|argument| !argument.is_required()));
    let selected = free.and_then(|field| Some(format!("{}{}", field.name, selection(api, field, "  ")?)));
    let _ = write!(text, "\n{{\n  {}\n}}\n", selected.as_deref().unwrap_or("__typename"));
    text
}

/// The selection set of a field: scalars of its type, or of the nodes of its connection. `None` where the type has none.
fn selection(api: &Schema, field: &Node<FieldDefinition>, indent: &str) -> Option<String> {
    let deeper = format!("{indent}  ");
    let lines = match api.types.get(field.ty.inner_named_type())? {
        ExtendedType::Scalar(_) | ExtendedType::Enum(_) => return Some(String::new()),
        ExtendedType::Object(object) => match object.fields.get("nodes") {
            Some(nodes) => vec![format!("nodes{}", selection(api, nodes, &deeper)?)],
            None => {
                let plain = |field: &&Node<FieldDefinition>| {
                    let is_leaf = api.types.get(field.ty.inner_named_type()).is_some_and(ExtendedType::is_leaf);
                    is_leaf && field.arguments.is_empty()
                };
                object.fields.values().map(|field| &field.node).filter(plain).take(SELECTED).map(|field| field.name.to_string()).collect()
            }
        },
        _ => vec!["__typename".to_owned()],
    };
    let lines: String = lines.iter().map(|line| format!("{deeper}{line}\n")).collect();
    (!lines.is_empty()).then(|| format!(" {{\n{lines}{indent}}}"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn console() -> Option<Arc<Console>> {
        Some(Arc::new(Console::of("{ __typename } # </script>", true, CallerChoice::None)))
    }

    fn accept(types: &str) -> HeaderMap {
        HeaderMap::from_iter([(header::ACCEPT, types.parse().unwrap())])
    }

    #[test]
    fn the_page_holds_its_settings_and_names_its_files() {
        let Console { page, version } = Console::of("{ __typename } # </script>", true, CallerChoice::Samples);
        assert!(page.contains(r##"{"startingText":"{ __typename } # \u003c/script>","explain":true,"callers":"samples"}"##), "{page}");
        assert!(page.contains(&format!("src=\"console/{version}/console.js\"")) && !page.contains("{version}"), "{page}");
        // A file from elsewhere has a fixed version and a hash.
        assert_eq!(page.matches("https://").count(), page.matches("integrity=\"sha384-").count());
    }

    #[test]
    fn every_import_of_a_module_is_served() {
        for (name, _, text) in FILES {
            for (_, imported) in text.lines().filter_map(|line| line.strip_prefix("import ")?.split_once("from \"./")) {
                assert!(FILES.iter().any(|file| format!("{}\";", file.0) == imported), "{name}: {imported}");
            }
        }
    }

    #[tokio::test]
    async fn only_browsers_get_the_page() {
        let type_for = async |console, types: &str| root(State(console), accept(types)).await.headers()[header::CONTENT_TYPE].clone();
        assert_eq!(type_for(console(), "text/html,application/xhtml+xml,*/*;q=0.8").await, "text/html; charset=utf-8");
        assert_eq!(type_for(console(), "*/*").await, "text/plain; charset=utf-8");
        assert_eq!(type_for(None, "text/html").await, "text/plain; charset=utf-8");
    }

    #[tokio::test]
    async fn files_are_served_in_their_version_only() {
        let status = async |console, version: &str, name: &str| file(State(console), Path((version.into(), name.into()))).await.status();
        assert_eq!(status(console(), &version(), "plan.js").await, StatusCode::OK);
        assert_eq!(status(console(), "0000000000000000", "plan.js").await, StatusCode::NOT_FOUND);
        assert_eq!(status(console(), &version(), "index.html").await, StatusCode::NOT_FOUND);
        assert_eq!(status(None, &version(), "plan.js").await, StatusCode::NOT_FOUND);
    }

    #[test]
    fn the_editor_starts_with_an_operation_that_needs_no_argument() {
        let starting_text = |text: &str| starting_text(&Schema::parse_and_validate(text, "a.graphql").unwrap());
        let first = "type Query { user(id: ID!): User users(first: Int): Users } type Users { nodes: [User!]! } type User { name: Int list: [User] }";
        let text = starting_text(first);
        assert!(
            text.contains("#   user(id: ID!): User\n") && text.ends_with("{\n  users {\n    nodes {\n      name\n    }\n  }\n}\n"),
            "{text}"
        );
        assert!(starting_text("type Query { a(b: Int!): Int }").ends_with("{\n  __typename\n}\n"));
        assert!(starting_text("type Query { a: Int }").ends_with("{\n  a\n}\n"));
    }
}
