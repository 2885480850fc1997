//! The path of a file of the page in, the file out: the page's own modules, and GraphiQL where the binary holds it.

use crate::serve::http::body::accepted::{AcceptedCodings, ContentCoding};
use axum::extract::Path;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::io::Read;
use std::sync::LazyLock;

/// The page, with places for its settings.
pub const PAGE: &str = include_str!("../../../console/index.html");

/// The page's own files: the name and the text of each.
const OWN: &[(&str, &str)] = &[
    ("argument_inputs.js", include_str!("../../../console/argument_inputs.js")),
    ("change_form.js", include_str!("../../../console/change_form.js")),
    ("console.css", include_str!("../../../console/console.css")),
    ("console.js", include_str!("../../../console/console.js")),
    ("data.css", include_str!("../../../console/data.css")),
    ("data.js", include_str!("../../../console/data.js")),
    ("design.css", include_str!("../../../console/design.css")),
    ("design.js", include_str!("../../../console/design.js")),
    ("design_model.js", include_str!("../../../console/design_model.js")),
    ("diagrams.js", include_str!("../../../console/diagrams.js")),
    ("graphiql.js", include_str!("../../../console/graphiql.js")),
    ("item_table.js", include_str!("../../../console/item_table.js")),
    ("item_uses.js", include_str!("../../../console/item_uses.js")),
    ("key_values.js", include_str!("../../../console/key_values.js")),
    ("keys.js", include_str!("../../../console/keys.js")),
    ("make.js", include_str!("../../../console/make.js")),
    ("mistakes.css", include_str!("../../../console/mistakes.css")),
    ("mistakes.js", include_str!("../../../console/mistakes.js")),
    ("operations.js", include_str!("../../../console/operations.js")),
    ("plain_editor.js", include_str!("../../../console/plain_editor.js")),
    ("plan.css", include_str!("../../../console/plan.css")),
    ("plan.js", include_str!("../../../console/plan.js")),
    ("plan_calls.js", include_str!("../../../console/plan_calls.js")),
    ("plan_events.js", include_str!("../../../console/plan_events.js")),
    ("plan_links.js", include_str!("../../../console/plan_links.js")),
    ("plan_rows.js", include_str!("../../../console/plan_rows.js")),
    ("sample_callers.js", include_str!("../../../console/sample_callers.js")),
    ("schema_news.js", include_str!("../../../console/schema_news.js")),
    ("search.js", include_str!("../../../console/search.js")),
    ("selected_fields.js", include_str!("../../../console/selected_fields.js")),
    ("write_demands.js", include_str!("../../../console/write_demands.js")),
    ("write_targets.js", include_str!("../../../console/write_targets.js")),
];

/// The files of GraphiQL, in gzip; none where `console/embedded` had none when the binary was built.
pub const EMBEDDED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A path with a hash never changes its content. A year is what caches take for ever (RFC 9111 section 4.2.1 has no
/// bound).
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// The hash of all files, in hexadecimal digits. The page holds those of GraphiQL's files, so these are not hashed
/// again.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let page = Sha256::new_with_prefix(PAGE);
    let hash = OWN.iter().fold(page, |hash, (name, text)| hash.chain_update(name).chain_update(text)).finalize();
    hash.iter().take(8).fold(String::new(), |mut version, byte| {
        let _ = write!(version, "{byte:02x}");
        version
    })
});

/// The response to GET `/console/{version}/{file}`.
pub async fn file(Path((version, name)): Path<(String, String)>, headers: HeaderMap) -> Response {
    let of_version = |known: &str| *VERSION == version && known == name;
    if let Some(&(name, text)) = OWN.iter().find(|file| of_version(file.0)) {
        return (file_headers(name), text).into_response();
    }
    let Some(&(name, compressed)) = EMBEDDED.iter().find(|file| of_version(file.0)) else {
        return (StatusCode::NOT_FOUND, "The page has no such file. Load the page again.\n").into_response();
    };
    let vary = [(header::VARY, HeaderValue::from_static("accept-encoding"))];
    if AcceptedCodings::from_headers(&headers).is_some_and(AcceptedCodings::gzip) {
        let coding = [(header::CONTENT_ENCODING, ContentCoding::Gzip.header_value())];
        return (file_headers(name), vary, coding, compressed).into_response();
    }
    match decompressed(compressed) {
        Ok(text) => (file_headers(name), vary, text).into_response(),
        Err(error) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("The binary's file is damaged: {error}\n")).into_response()
        }
    }
}

/// The headers of a file.
fn file_headers(name: &str) -> [(HeaderName, HeaderValue); 3] {
    [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type(name))),
        (header::CACHE_CONTROL, HeaderValue::from_static(FOR_EVER)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ]
}

/// A file of the binary as it was before gzip.
pub fn decompressed(file: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut text = Vec::new();
    GzDecoder::new(file).read_to_end(&mut text)?;
    Ok(text)
}

fn media_type(name: &str) -> &'static str {
    if name.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use axum::body::{Bytes, to_bytes};

    #[test]
    fn every_import_of_a_module_is_served() {
        for (name, text) in OWN {
            for (_, imported) in text.lines().filter_map(|line| line.strip_prefix("import ")?.split_once("from \"./")) {
                assert!(OWN.iter().any(|file| format!("{}\";", file.0) == imported), "{name}: {imported}");
            }
        }
    }

    #[tokio::test]
    async fn files_are_served_in_their_version_only() {
        let status = async |version: &str, name: &str| {
            file(Path((version.into(), name.into())), HeaderMap::new()).await.status()
        };
        assert_eq!(status(&VERSION, "plan.js").await, StatusCode::OK);
        assert_eq!(status("0000000000000000", "plan.js").await, StatusCode::NOT_FOUND);
        assert_eq!(status(&VERSION, "index.html").await, StatusCode::NOT_FOUND);
    }

    #[tokio::test]
    async fn files_of_graphiql_are_sent_as_they_are_stored_or_plain() {
        for (name, compressed) in EMBEDDED {
            let sent = async |accepted: &'static str| {
                let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
                let response = file(Path((VERSION.clone(), (*name).to_owned())), headers).await;
                assert_eq!(response.headers()[header::VARY], "accept-encoding");
                let coding = response.headers().get(header::CONTENT_ENCODING).cloned();
                (coding, to_bytes(response.into_body(), 1 << 24).await.unwrap_or_default())
            };
            assert_eq!(
                sent("br;q=1, gzip;q=0.5").await,
                (Some("gzip".parse().unwrap()), Bytes::from_static(compressed))
            );
            let (coding, plain) = sent("gzip;q=0").await;
            assert!(
                coding.is_none() && plain.len() > compressed.len() && plain == decompressed(compressed).unwrap(),
                "{name}"
            );
        }
    }
}
