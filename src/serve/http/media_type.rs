//! An `Accept` header in, the media type of the response out (RFC 9110 section 12.5.1; GraphQL over HTTP, "Media
//! Types").

use axum::http::{HeaderMap, HeaderValue, header};

/// The media types that a GraphQL response may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// `application/graphql-response+json`: the status says whether the request failed.
    GraphqlResponse,
    /// `application/json`: every well-formed request is answered with 200.
    Json,
    /// `text/event-stream`: a stream of responses. Refusals before there is one are [`MediaType::Json`].
    EventStream,
}

/// How much a client prefers a media type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Preference {
    /// The q-value in thousandths; 0 is "not acceptable".
    quality: u16,
    /// How exactly the range names the type: 0 `*/*`, 1 `application/*`, 2 the type itself.
    precision: u8,
}

/// A range of an `Accept` header: `application/*;q=0.8`.
struct MediaRange<'a> {
    name: &'a str,
    quality: u16,
}

impl MediaType {
    /// The value of `Content-Type`.
    pub fn content_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::GraphqlResponse => "application/graphql-response+json; charset=utf-8",
            Self::Json => "application/json; charset=utf-8",
            Self::EventStream => "text/event-stream; charset=utf-8",
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::GraphqlResponse => "application/graphql-response+json",
            Self::Json => "application/json",
            Self::EventStream => "text/event-stream",
        }
    }

    /// The most precise range that names this type decides, as RFC 9110 says.
    fn preference(self, ranges: &[MediaRange<'_>]) -> Option<Preference> {
        ranges
            .iter()
            .filter_map(|range| {
                let precision = match range.name {
                    "*/*" => 0,
                    "application/*" if self != Self::EventStream => 1,
                    name if name == self.name() => 2,
                    _ => return None,
                };
                Some(Preference { quality: range.quality, precision })
            })
            .max_by_key(|preference| (preference.precision, preference.quality))
            .filter(|preference| preference.quality > 0)
    }
}

/// Chooses the media type of the response; `None` if the client accepts neither.
///
/// Without a header, or with a wildcard only, it is `application/json`, which every client understands. If the header
/// names both, `application/graphql-response+json` wins. A stream of events is what a client gets that names it and
/// likes it best, or accepts nothing else: clients that know subscriptions name it beside the others.
pub fn negotiate(headers: &HeaderMap) -> Option<MediaType> {
    let text = joined(headers)?;
    let ranges: Vec<_> = text.split(',').filter_map(range).collect();
    if ranges.is_empty() && text.trim().is_empty() {
        return Some(MediaType::Json);
    }
    let graphql = MediaType::GraphqlResponse.preference(&ranges);
    let json = MediaType::Json.preference(&ranges);
    let events = MediaType::EventStream.preference(&ranges).filter(|events| events.precision == 2);
    let others = graphql.into_iter().chain(json).map(|preference| preference.quality).max().unwrap_or(0);
    if events.is_some_and(|events| events.quality > others) {
        return Some(MediaType::EventStream);
    }
    match (graphql, json) {
        (None, None) => None,
        (Some(_), None) => Some(MediaType::GraphqlResponse),
        (None, Some(_)) => Some(MediaType::Json),
        (Some(graphql), Some(json)) if graphql > json || (graphql == json && graphql.precision == 2) => {
            Some(MediaType::GraphqlResponse)
        }
        (Some(_), Some(_)) => Some(MediaType::Json),
    }
}

/// Whether a browser asks for a page: the header names `text/html` and does not refuse it.
pub fn wants_html(headers: &HeaderMap) -> bool {
    let text = joined(headers).unwrap_or_default();
    text.split(',').filter_map(range).any(|range| range.name == "text/html" && range.quality > 0)
}

/// All `Accept` headers as one, in lower case; `None` if one of them is not text.
fn joined(headers: &HeaderMap) -> Option<String> {
    let values: Option<Vec<_>> = headers.get_all(header::ACCEPT).iter().map(|value| value.to_str().ok()).collect();
    Some(values?.join(",").to_ascii_lowercase())
}

/// Reads one range; `None` if it is malformed or asks for another charset than UTF-8.
fn range(text: &str) -> Option<MediaRange<'_>> {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().filter(|name| !name.is_empty())?;
    let mut quality = 1000;
    for (key, value) in parts.filter_map(|part| part.split_once('=')) {
        match key.trim() {
            "q" => quality = thousandths(value.trim())?,
            "charset" if !is_utf8(value) => return None,
            _ => {}
        }
    }
    Some(MediaRange { name, quality })
}

/// Whether the value of a `charset` parameter is UTF-8.
pub(super) fn is_utf8(charset: &str) -> bool {
    let charset = charset.trim().trim_matches('"');
    charset.eq_ignore_ascii_case("utf-8") || charset.eq_ignore_ascii_case("utf8")
}

/// A q-value in thousandths (RFC 9110 section 12.4.2).
pub(super) fn thousandths(text: &str) -> Option<u16> {
    let quality: f32 = text.parse().ok()?;
    (0.0..=1.0).contains(&quality).then_some((quality * 1000.0) as u16)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn media_type(accept: &[&str]) -> Option<MediaType> {
        let mut headers = HeaderMap::new();
        for value in accept {
            headers.append(header::ACCEPT, value.parse().unwrap());
        }
        negotiate(&headers)
    }

    const GRAPHQL: Option<MediaType> = Some(MediaType::GraphqlResponse);
    const JSON: Option<MediaType> = Some(MediaType::Json);

    #[test]
    fn nothing_or_a_wildcard_gives_json() {
        assert_eq!(media_type(&[]), JSON);
        assert_eq!(media_type(&[""]), JSON);
        assert_eq!(media_type(&["*/*"]), JSON);
        assert_eq!(media_type(&["application/*"]), JSON);
        assert_eq!(media_type(&["text/html, application/xhtml+xml, */*;q=0.8"]), JSON);
    }

    #[test]
    fn a_named_type_is_given() {
        assert_eq!(media_type(&["application/json"]), JSON);
        assert_eq!(media_type(&["application/graphql-response+json"]), GRAPHQL);
        assert_eq!(media_type(&["Application/GraphQL-Response+JSON; charset=UTF-8"]), GRAPHQL);
        assert_eq!(media_type(&["application/json; charset=utf-16"]), None);
    }

    #[test]
    fn side_by_side_the_newer_type_wins_unless_q_says_otherwise() {
        assert_eq!(media_type(&["application/json, application/graphql-response+json"]), GRAPHQL);
        assert_eq!(media_type(&["application/json", "application/graphql-response+json"]), GRAPHQL);
        assert_eq!(media_type(&["application/json, application/graphql-response+json;q=0.9"]), JSON);
        assert_eq!(media_type(&["application/json;q=0.5, application/graphql-response+json;q=0.6"]), GRAPHQL);
        assert_eq!(media_type(&["application/graphql-response+json, */*"]), GRAPHQL);
        assert_eq!(media_type(&["application/json, */*"]), JSON);
    }

    #[test]
    fn the_most_precise_range_decides() {
        assert_eq!(media_type(&["application/json;q=0.1, application/*;q=0.5"]), GRAPHQL);
        assert_eq!(media_type(&["application/json;q=0, */*"]), GRAPHQL);
        assert_eq!(media_type(&["application/graphql-response+json;q=0, */*"]), JSON);
    }

    #[test]
    fn what_we_cannot_give_is_not_acceptable() {
        for accept in [
            "text/plain",
            "application/xml",
            "application/json;q=0",
            "*/*;q=0",
            "application/json;q=nonsense",
            ";",
            "text/event-stream;q=0",
        ] {
            assert_eq!(media_type(&[accept]), None, "{accept}");
        }
    }

    #[test]
    fn events_are_for_clients_that_like_them_best() {
        const EVENTS: Option<MediaType> = Some(MediaType::EventStream);
        assert_eq!(media_type(&["text/event-stream"]), EVENTS);
        assert_eq!(media_type(&["text/event-stream, application/json;q=0.9"]), EVENTS);
        assert_eq!(
            media_type(&["application/graphql-response+json, application/json, text/event-stream, multipart/mixed"]),
            GRAPHQL
        );
        assert_eq!(media_type(&["text/event-stream, */*"]), JSON);
        assert_eq!(media_type(&["text/event-stream, */*;q=0.1"]), EVENTS);
    }

    #[test]
    fn an_accept_header_that_is_not_text_is_not_acceptable() {
        let mut headers = HeaderMap::new();
        headers.append(header::ACCEPT, HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(negotiate(&headers), None);
    }
}
