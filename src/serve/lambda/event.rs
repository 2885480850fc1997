//! An event of API Gateway, a function URL or a load balancer in; the HTTP request that it describes out. Must not know
//! how requests are answered.
//!
//! `lambda_http` reads the events. Its own requests lose headers that occur twice, have the stage in their paths, and
//! panic on what a client may send.

use crate::serve::client::ClientAddress;
use crate::serve::http::status::HttpRefusal;
use axum::body::{Body, Bytes};
use axum::http::uri::PathAndQuery;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Uri, Version, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lambda_http::aws_lambda_events::alb::AlbTargetGroupRequest;
use lambda_http::aws_lambda_events::apigw::{ApiGatewayProxyRequest, ApiGatewayV2httpRequest};
use lambda_http::aws_lambda_events::query_map::QueryMap;
use lambda_http::request::LambdaRequest;
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use url::form_urlencoded;

/// The name of the stage that is in no path.
const DEFAULT_STAGE: &str = "$default";
/// A part of the domain of every function URL (Lambda developer guide, "Creating and managing Lambda function URLs").
const FUNCTION_URL: &str = ".lambda-url.";

/// Who sends an event, and so in which form the answer goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventForm {
    /// A REST API of API Gateway, or another one that sends events of version 1.0.
    Rest,
    /// An HTTP API of API Gateway, with events of version 2.0.
    HttpApi,
    /// A function URL, with events of version 2.0.
    FunctionUrl,
    /// An Application Load Balancer.
    LoadBalancer {
        /// Whether its target group has "multi value headers" on: the answer must have them in the same form.
        multi_value: bool,
    },
}

/// An HTTP request, as an event describes it.
#[derive(Debug)]
pub struct HttpEvent {
    /// Who sends it.
    pub form: EventForm,
    /// Whether it is certain that an answer in base64 reaches the client as bytes. A REST API decodes it only for its
    /// binary media types, and those also decide whether the body of a request is in base64.
    pub takes_binary: bool,
    /// The header.
    pub headers: HeaderMap,
    method: Method,
    path: String,
    query: String,
    /// The address of the peer, if the event has it.
    peer: Option<IpAddr>,
    body: Option<String>,
    is_base64: bool,
}

impl EventForm {
    /// Whether it can stream an answer (Lambda developer guide, "Response streaming for Lambda functions").
    pub fn can_stream(self) -> bool {
        matches!(self, Self::Rest | Self::FunctionUrl)
    }
}

impl HttpEvent {
    /// Reads an event.
    pub fn new(event: LambdaRequest) -> Option<Self> {
        match event {
            LambdaRequest::ApiGatewayV1(event) => Some(Self::from_rest(event)),
            LambdaRequest::ApiGatewayV2(event) => Some(Self::from_http_api(event)),
            LambdaRequest::Alb(event) => Some(Self::from_load_balancer(event)),
            _ => None,
        }
    }

    fn from_rest(event: ApiGatewayProxyRequest) -> Self {
        let context = event.request_context;
        let queries = [event.multi_value_query_string_parameters, event.query_string_parameters];
        let mut query = form_urlencoded::Serializer::new(String::new());
        // These values are decoded.
        query.extend_pairs(queries.iter().find(|query| !query.is_empty()).into_iter().flat_map(QueryMap::iter));
        let route = Route {
            template: event.resource.as_deref(),
            parameters: &event.path_parameters,
            stage: context.stage.as_deref(),
        };
        Self {
            form: EventForm::Rest,
            takes_binary: event.is_base64_encoded && event.body.is_some(),
            headers: with_host(merged(event.multi_value_headers, event.headers), context.domain_name.as_deref()),
            method: event.http_method,
            path: route.path(event.path),
            query: query.finish(),
            peer: context.identity.source_ip.and_then(|address| address.parse().ok()),
            body: event.body,
            is_base64: event.is_base64_encoded,
        }
    }

    fn from_http_api(event: ApiGatewayV2httpRequest) -> Self {
        let context = event.request_context;
        let template = event.route_key.as_deref().and_then(|key| key.split_once(' ')).map(|(_, template)| template);
        let route = Route { template, parameters: &event.path_parameters, stage: context.stage.as_deref() };
        let mut headers = with_host(event.headers, context.domain_name.as_deref());
        if let Some(Ok(cookies)) = event.cookies.map(|cookies| HeaderValue::try_from(cookies.join("; "))) {
            headers.insert(header::COOKIE, cookies);
        }
        let is_function_url = context.domain_name.is_some_and(|name| name.contains(FUNCTION_URL));
        Self {
            form: if is_function_url { EventForm::FunctionUrl } else { EventForm::HttpApi },
            takes_binary: true,
            headers,
            method: context.http.method,
            path: route.path(event.raw_path),
            query: event.raw_query_string.unwrap_or_default(),
            peer: context.http.source_ip.and_then(|address| address.parse().ok()),
            body: event.body,
            is_base64: event.is_base64_encoded,
        }
    }

    fn from_load_balancer(event: AlbTargetGroupRequest) -> Self {
        let multi_value = !event.multi_value_headers.is_empty();
        let queries = [event.multi_value_query_string_parameters, event.query_string_parameters];
        let query = queries.iter().find(|query| !query.is_empty()).into_iter().flat_map(QueryMap::iter);
        // These are as the client has encoded them.
        let pairs: Vec<String> = query.map(|(name, value)| format!("{name}={value}")).collect();
        Self {
            form: EventForm::LoadBalancer { multi_value },
            takes_binary: true,
            headers: merged(event.multi_value_headers, event.headers),
            method: event.http_method,
            path: event.path.unwrap_or_else(root),
            query: pairs.join("&"),
            peer: None,
            body: event.body,
            is_base64: event.is_base64_encoded,
        }
    }

    /// The request, with its client. `proxies` is how many proxies are trusted, the sender of the event included. A
    /// load balancer says only in `X-Forwarded-For` who its client is.
    pub fn into_request(self, proxies: usize) -> Result<Request<Body>, HttpRefusal> {
        let body = match self.body {
            Some(body) if self.is_base64 => {
                STANDARD.decode(body).map(Bytes::from).map_err(|_| malformed("The body is not base64."))?
            }
            Some(body) => body.into(),
            None => Bytes::new(),
        };
        let target = if self.query.is_empty() { self.path } else { format!("{}?{}", self.path, self.query) };
        let target = PathAndQuery::try_from(target).map_err(|_| malformed("The path and the query cannot be read."))?;
        let proxies = if matches!(self.form, EventForm::LoadBalancer { .. }) { proxies.max(1) } else { proxies };
        let peer = self.peer.unwrap_or(Ipv4Addr::UNSPECIFIED.into());
        let client = ClientAddress::behind_proxies(peer, &self.headers, proxies);
        let mut request = Request::new(Body::from(body));
        *request.method_mut() = self.method;
        *request.uri_mut() = Uri::from(target);
        // The health check of a load balancer has no host. Only HTTP/1.0 has such requests.
        if !self.headers.contains_key(header::HOST) {
            *request.version_mut() = Version::HTTP_10;
        }
        *request.headers_mut() = self.headers;
        request.extensions_mut().insert(client);
        Ok(request)
    }
}

/// The route of API Gateway that an event took.
struct Route<'e> {
    /// The path of the route with its parameters in braces, such as `/{proxy+}`.
    template: Option<&'e str>,
    parameters: &'e HashMap<String, String>,
    stage: Option<&'e str>,
}

impl Route<'_> {
    /// The path in the API. The path of an event may begin with the stage, or with the base path of a custom domain.
    /// Where a route says the path, neither is in it.
    fn path(&self, written: Option<String>) -> String {
        let of_route =
            self.template.filter(|template| template.starts_with('/')).and_then(|template| self.filled(template));
        let written = written.filter(|path| !path.is_empty()).unwrap_or_else(root);
        let without_stage = || {
            let rest = written.strip_prefix('/')?.strip_prefix(self.stage.filter(|stage| *stage != DEFAULT_STAGE)?)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| if rest.is_empty() { root() } else { rest.to_owned() })
        };
        of_route.or_else(without_stage).unwrap_or(written)
    }

    fn filled(&self, template: &str) -> Option<String> {
        let part = |part| match str::strip_prefix(part, '{').and_then(|part| part.strip_suffix('}')) {
            Some(name) => self.parameters.get(name.trim_end_matches('+')).map(String::as_str),
            None => Some(part),
        };
        Some(template.split('/').map(part).collect::<Option<Vec<&str>>>()?.join("/"))
    }
}

fn root() -> String {
    "/".to_owned()
}

fn malformed(sentence: &str) -> HttpRefusal {
    HttpRefusal::Malformed(sentence.into())
}

/// The headers of an event that has them in one or in both forms. Those with all values come first.
fn merged(mut multi_value: HeaderMap, single: HeaderMap) -> HeaderMap {
    for (name, value) in &single {
        if !multi_value.contains_key(name) {
            multi_value.insert(name, value.clone());
        }
    }
    multi_value
}

fn with_host(mut headers: HeaderMap, domain: Option<&str>) -> HeaderMap {
    if let Some(Ok(domain)) = domain.map(HeaderValue::from_str)
        && !headers.contains_key(header::HOST)
    {
        headers.insert(header::HOST, domain);
    }
    headers
}
