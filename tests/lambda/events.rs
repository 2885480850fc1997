//! HTTP requests in, the events that API Gateway, function URLs and load balancers make of them out; and answers in,
//! what their senders give to the client out. The forms are those of the AWS documentation.

use crate::callers::{AIKO, key};
use crate::runtime::Answer;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Who sends an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A REST API of API Gateway: version 1.0.
    Rest,
    /// An HTTP API of API Gateway with a stage: version 2.0.
    HttpApi,
    /// A function URL: version 2.0.
    FunctionUrl,
    /// An Application Load Balancer.
    LoadBalancer,
    /// The same with multi value headers.
    MultiValue,
}

pub const FORMS: [Form; 5] = [Form::Rest, Form::HttpApi, Form::FunctionUrl, Form::LoadBalancer, Form::MultiValue];

/// A request of a client.
#[derive(Debug, Clone)]
pub struct Asked {
    pub method: &'static str,
    pub path: String,
    /// Names and values, as the client means them.
    pub query: Vec<(String, String)>,
    pub headers: Vec<(String, String)>,
    pub body: Option<Vec<u8>>,
    /// Whether the body is in base64. A REST API has it so if its binary media types match.
    pub base64: bool,
}

/// A response, as the client gets it.
#[derive(Debug)]
pub struct Got {
    pub status: u64,
    pub headers: BTreeMap<String, Vec<String>>,
    pub body: Vec<u8>,
    /// Whether the body was in base64.
    pub base64: bool,
}

impl Asked {
    /// An operation by POST, as a caller.
    pub fn post(query: &str, variables: &Value, sub: Option<&str>) -> Self {
        let body = json!({ "query": query, "variables": variables }).to_string().into_bytes();
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(sub.map(|sub| ("x-api-key".to_owned(), key(sub))));
        Self {
            method: "POST",
            path: "/graphql".to_owned(),
            query: Vec::new(),
            headers,
            body: Some(body),
            base64: false,
        }
    }

    /// A GET of a path.
    pub fn get(path: &str) -> Self {
        Self { method: "GET", path: path.to_owned(), query: Vec::new(), headers: Vec::new(), body: None, base64: false }
    }

    /// The same with another header.
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same as Aiko.
    pub fn by_aiko(self) -> Self {
        self.with("x-api-key", &key(AIKO))
    }

    /// The event of this request.
    pub fn event(&self, form: Form) -> Value {
        let body = self.body.as_ref().map(|body| match self.base64 {
            true => STANDARD.encode(body),
            false => String::from_utf8(body.clone()).unwrap(),
        });
        let forwarded = [
            ("X-Forwarded-For", "198.51.100.7, 203.0.113.9"),
            ("X-Forwarded-Port", "443"),
            ("X-Forwarded-Proto", "https"),
        ];
        let forwarded = forwarded.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers: Vec<(String, String)> = self.headers.iter().cloned().chain(forwarded).collect();
        match form {
            Form::Rest => self.rest(&headers, &body),
            Form::HttpApi => {
                self.version_2(&headers, &body, "abcdef1234.execute-api.eu-west-1.amazonaws.com", Some("dev"))
            }
            Form::FunctionUrl => self.version_2(&headers, &body, "abcdef1234567890.lambda-url.eu-west-1.on.aws", None),
            Form::LoadBalancer | Form::MultiValue => self.load_balancer(&headers, &body, form == Form::MultiValue),
        }
    }

    fn rest(&self, headers: &[(String, String)], body: &Option<String>) -> Value {
        let host = "wxyz123456.execute-api.eu-west-1.amazonaws.com";
        let headers: Vec<_> = headers.iter().cloned().chain([("Host".to_owned(), host.to_owned())]).collect();
        let none = |map: Value| if map.as_object().is_some_and(Map::is_empty) { Value::Null } else { map };
        json!({
            "resource": "/{proxy+}", "path": self.path, "httpMethod": self.method,
            "headers": last(&headers), "multiValueHeaders": all(&headers),
            "queryStringParameters": none(last(&self.query)), "multiValueQueryStringParameters": none(all(&self.query)),
            "pathParameters": { "proxy": self.path.trim_start_matches('/') }, "stageVariables": null,
            "requestContext": {
                "resourceId": "2gxmpl", "resourcePath": "/{proxy+}", "httpMethod": self.method, "extendedRequestId": "JJbxmplHYosFVYQ=",
                "requestTime": "10/Mar/2026:00:03:59 +0000", "path": format!("/prod{}", self.path), "accountId": "123456789012",
                "protocol": "HTTP/1.1", "stage": "prod", "domainPrefix": "wxyz123456",
                "requestTimeEpoch": 1583798639428_i64,
                "requestId": "77375676-xmpl-4b79-853a-f982474efe18",
                "identity": {
                    "cognitoIdentityPoolId": null, "accountId": null, "cognitoIdentityId": null, "caller": null, "sourceIp": "203.0.113.9",
                    "principalOrgId": null, "accessKey": null, "cognitoAuthenticationType": null, "cognitoAuthenticationProvider": null,
                    "userArn": null, "userAgent": "tests", "user": null,
                },
                "domainName": host, "apiId": "wxyz123456",
            },
            "body": body, "isBase64Encoded": self.base64,
        })
    }

    fn version_2(&self, headers: &[(String, String)], body: &Option<String>, host: &str, stage: Option<&str>) -> Value {
        // Version 2.0 joins the values of a header and of a parameter, and has cookies apart.
        let headers: Vec<_> = headers.iter().cloned().chain([("host".to_owned(), host.to_owned())]).collect();
        let path = stage.map_or_else(|| self.path.clone(), |stage| format!("/{stage}{}", self.path));
        let query: String = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        let mut event = json!({
            "version": "2.0", "routeKey": "$default", "rawPath": path, "rawQueryString": query,
            "cookies": ["a=1", "b=2"], "headers": joined(&headers), "queryStringParameters": joined(&self.query),
            "requestContext": {
                "accountId": "123456789012", "apiId": host.split('.').next(),
                "domainName": host, "domainPrefix": host.split('.').next(),
                "http": { "method": self.method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "203.0.113.9", "userAgent": "tests" },
                "requestId": "JKJaXmPLvHcESHA=", "routeKey": "$default", "stage": stage.unwrap_or("$default"),
                "time": "10/Mar/2026:05:16:23 +0000", "timeEpoch": 1583817383220_i64,
            },
            "isBase64Encoded": self.base64,
        });
        if let Some(body) = body {
            event["body"] = json!(body);
        }
        event
    }

    fn load_balancer(&self, headers: &[(String, String)], body: &Option<String>, multi_value: bool) -> Value {
        let host = "lambda-846800462-eu-west-1.elb.amazonaws.com";
        let headers: Vec<_> = headers.iter().cloned().chain([("host".to_owned(), host.to_owned())]).collect();
        // A load balancer does not decode the query.
        let encode = |text: &String| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
        let query: Vec<_> = self.query.iter().map(|(name, value)| (encode(name), encode(value))).collect();
        let mut event = json!({
            "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/pantry/49e9d65c45c6791a" } },
            "httpMethod": self.method, "path": self.path,
            "body": body.clone().unwrap_or_default(), "isBase64Encoded": self.base64,
        });
        let maps = if multi_value {
            [("multiValueHeaders", all(&headers)), ("multiValueQueryStringParameters", all(&query))]
        } else {
            [("headers", last(&headers)), ("queryStringParameters", last(&query))]
        };
        maps.into_iter().for_each(|(name, map)| event[name] = map);
        event
    }
}

fn last(pairs: &[(String, String)]) -> Value {
    Value::Object(pairs.iter().map(|(name, value)| (name.clone(), json!(value))).collect())
}

fn all(pairs: &[(String, String)]) -> Value {
    let mut map: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    pairs.iter().for_each(|(name, value)| map.entry(name).or_default().push(value));
    json!(map)
}

fn joined(pairs: &[(String, String)]) -> Value {
    let values = |name: &str| {
        pairs.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
    };
    Value::Object(pairs.iter().map(|(name, _)| (name.clone(), json!(values(name).join(",")))).collect())
}

impl Answer {
    /// What the sender of the event gives to its client.
    pub fn got(&self, form: Form) -> Got {
        assert!(!self.failed, "{self:?}");
        let answer: Value = serde_json::from_slice(&self.body).unwrap();
        let object = |name: &str| answer[name].as_object().cloned().unwrap_or_default();
        let (single, multi_value) = (object("headers"), object("multiValueHeaders"));
        // Each sender reads the headers in its own form, and a REST API in both.
        let is_single =
            |(name, value): (String, Value)| (name.to_lowercase(), vec![value.as_str().unwrap().to_owned()]);
        let is_many = |(name, value): (String, Value)| (name.to_lowercase(), serde_json::from_value(value).unwrap());
        let headers: BTreeMap<String, Vec<String>> = match form {
            Form::Rest => single.into_iter().map(is_single).chain(multi_value.into_iter().map(is_many)).collect(),
            Form::MultiValue => {
                assert!(single.is_empty(), "{answer}");
                multi_value.into_iter().map(is_many).collect()
            }
            Form::HttpApi | Form::FunctionUrl | Form::LoadBalancer => {
                assert!(multi_value.is_empty(), "{answer}");
                single.into_iter().map(is_single).collect()
            }
        };
        let status = answer["statusCode"].as_u64().unwrap();
        if matches!(form, Form::LoadBalancer | Form::MultiValue) {
            assert!(answer["statusDescription"].as_str().unwrap().starts_with(&format!("{status} ")), "{answer}");
            assert!(self.body.len() <= 1 << 20, "a load balancer takes 1 MB");
        }
        let (text, base64) =
            (answer["body"].as_str().unwrap_or_default(), answer["isBase64Encoded"].as_bool().unwrap_or_default());
        let body = if base64 { STANDARD.decode(text).unwrap() } else { text.as_bytes().to_vec() };
        Got { status, headers, body, base64 }
    }

    /// What a streamed answer gives to its client: a JSON object with status and headers, eight bytes of zero, and the
    /// body.
    pub fn streamed(&self) -> Got {
        assert!(!self.failed, "{self:?}");
        assert_eq!(self.headers["lambda-runtime-function-response-mode"], "streaming");
        assert_eq!(self.headers["content-type"], "application/vnd.awslambda.http-integration-response");
        let end = self.body.windows(8).position(|bytes| bytes == [0; 8]).unwrap();
        let prelude: Value = serde_json::from_slice(&self.body[..end]).unwrap();
        let headers = prelude["headers"].as_object().unwrap().iter();
        let headers = headers.map(|(name, value)| (name.clone(), vec![value.as_str().unwrap().to_owned()])).collect();
        Got {
            status: prelude["statusCode"].as_u64().unwrap(),
            headers,
            body: self.body[end + 8..].to_vec(),
            base64: false,
        }
    }
}

impl Got {
    /// The body.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|values| values[0].as_str())
    }

    /// Status and code of the first error.
    pub fn error(&self) -> (u64, String) {
        let body = self.json();
        (self.status, body["errors"][0]["extensions"]["code"].as_str().unwrap_or_else(|| panic!("{body:#}")).to_owned())
    }
}
