//! The headers of a request in; the span that the request is a part of out. Must not know spans.

use crate::execute::report::TraceContext;
use axum::http::HeaderMap;

/// The header of W3C Trace Context.
const TRACEPARENT: &str = "traceparent";
/// The header of AWS X-Ray.
const XRAY: &str = "x-amzn-trace-id";

/// Which headers are read. The first that names a span counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Propagators {
    /// `traceparent`.
    pub tracecontext: bool,
    /// `x-amzn-trace-id`.
    pub xray: bool,
}

impl Propagators {
    /// Those that `OTEL_PROPAGATORS` names (OpenTelemetry specification, "Environment variable specification", "General
    /// SDK configuration"). Unknown ones are left out: they are for other data.
    pub fn named(list: Option<&str>) -> Self {
        let list = list.filter(|list| !list.trim().is_empty()).unwrap_or("tracecontext");
        let has = |name: &str| list.split(',').any(|item| item.trim() == name);
        Self { tracecontext: has("tracecontext"), xray: has("xray") }
    }

    /// The span that these headers name.
    pub fn parent(self, headers: &HeaderMap) -> Option<TraceContext> {
        let text = |name: &str| headers.get(name)?.to_str().ok();
        let w3c = self.tracecontext.then(|| traceparent(text(TRACEPARENT)?)).flatten();
        w3c.or_else(|| self.xray.then(|| xray(text(XRAY)?)).flatten())
    }
}

/// Reads `traceparent` (W3C Trace Context, section 3.2). Later versions may have more fields at the end.
fn traceparent(text: &str) -> Option<TraceContext> {
    let mut fields = text.trim().split('-');
    let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let [version_number] = bytes::<1>(version)?;
    if version_number == 0xff || (version_number == 0 && fields.next().is_some()) {
        return None;
    }
    let [flags] = bytes::<1>(flags)?;
    context(bytes(trace)?, bytes(span)?, flags & 1 == 1)
}

/// Reads `x-amzn-trace-id` (AWS X-Ray developer guide, "Tracing header"):
/// `Root=1-5759e988-bd862e3fe1be46a994272793;Parent=…;Sampled=1`.
fn xray(text: &str) -> Option<TraceContext> {
    let field = |name: &str| text.split(';').find_map(|field| field.trim().strip_prefix(name)?.strip_prefix('='));
    let root = field("Root")?.strip_prefix("1-")?;
    let (time, random) = root.split_once('-')?;
    context(bytes(&format!("{time}{random}"))?, bytes(field("Parent")?)?, field("Sampled") == Some("1"))
}

/// Ids of zeros name nothing.
fn context(trace_id: [u8; 16], span_id: [u8; 8], is_sampled: bool) -> Option<TraceContext> {
    (trace_id != [0; 16] && span_id != [0; 8]).then_some(TraceContext { trace_id, span_id, is_sampled })
}

/// Reads bytes in hexadecimal digits, of which letters are small.
fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let is_small = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    (is_small && hex::decode_to_slice(text, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_traceparent_is_read_as_the_standard_says() {
        let (trace, span) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let read = traceparent(&format!("00-{trace}-{span}-01"));
        assert_eq!(
            read.map(|read| (hex::encode(read.trace_id), hex::encode(read.span_id), read.is_sampled)),
            Some((trace.into(), span.into(), true))
        );
        assert_eq!(traceparent(&format!("00-{trace}-{span}-00")).map(|read| read.is_sampled), Some(false));
        assert_eq!(
            traceparent(&format!("cc-{trace}-{span}-01-what-comes-later")).map(|read| read.is_sampled),
            Some(true)
        );
        for odd in [
            String::new(),
            format!("ff-{trace}-{span}-01"),
            format!("00-{trace}-{span}-01-more"),
            format!("00-{}-{span}-01", trace.to_uppercase()),
            format!("00-{}-{span}-01", "0".repeat(32)),
            format!("00-{trace}-{}-01", "0".repeat(16)),
            format!("00-{trace}-{span}"),
            format!("00-{trace}-{span}-1"),
            format!("00-{trace}x-{span}-01"),
        ] {
            assert_eq!(traceparent(&odd), None, "{odd}");
        }
    }

    #[test]
    fn the_header_of_xray_is_read_where_it_is_wanted() {
        let mut headers = HeaderMap::new();
        let header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled=1;Lineage=a87bd80c:0";
        headers.insert(XRAY, axum::http::HeaderValue::from_static(header));
        assert_eq!(Propagators::named(None).parent(&headers), None);
        let read = Propagators::named(Some("tracecontext, xray")).parent(&headers);
        assert_eq!(read.map(|read| hex::encode(read.trace_id)), Some("5759e988bd862e3fe1be46a994272793".to_owned()));
        assert_eq!(
            read.map(|read| (hex::encode(read.span_id), read.is_sampled)),
            Some(("53995c3f42cd8ad8".to_owned(), true))
        );
        assert_eq!(xray("Root=1-5759e988-bd862e3fe1be46a994272793"), None, "it names no span");
    }
}
