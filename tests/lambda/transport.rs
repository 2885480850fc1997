//! What of a request gets through an event, and what of a response gets through an answer.

use crate::callers::AIKO;
use crate::events::{Asked, FORMS, Form};
use crate::runtime::Lambda;
use crate::store::Store;
use crate::support;
use flate2::read::GzDecoder;
use keyfold::table::bulk::export_lines::parse_line;
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

pub const FLAT: &str = "22222222-2222-4222-8222-222222222222";
pub const CONTAINERS: &str =
    "{ group(id: \"22222222-2222-4222-8222-222222222222\") { containers { nodes { id name foods { id name } } } } }";

/// An operation whose answer is worth compressing.
const EVERYTHING: &str = "{ me { groups { nodes { id name users { nodes { id name email } } containers { nodes { id name foods { id name } } } } } } }";

fn me() -> Asked {
    Asked::post("{ me { name } }", &json!({}), Some(AIKO))
}

fn aiko() -> Value {
    json!({ "data": { "me": { "name": "Aiko Tanaka" } } })
}

pub async fn a_query_by_get_is_read_in_every_form() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    for form in FORMS {
        let mut asked = Asked::get("/graphql").by_aiko();
        let query =
            "query ($id: ID!, $other: String = \"a&b=c+d%20é\") { user(id: $id) { name } __typename @skip(if: false) }";
        let query = query.replace(", $other: String = \"a&b=c+d%20é\"", "").replace("{ user", "# a&b=c+d%20é\n{ user");
        let pairs = [("query", query), ("variables", json!({ "id": AIKO }).to_string()), ("unknown", String::new())];
        asked.query = pairs.map(|(name, value)| (name.to_owned(), value)).to_vec();
        let got = lambda.invoke(&asked.event(form)).await.got(form);
        assert_eq!(
            got.json(),
            json!({ "data": { "user": { "name": "Aiko Tanaka" }, "__typename": "Query" } }),
            "{form:?}"
        );
        asked.query[0].1 = "mutation { renameUser(name: \"a\") { id } }".to_owned();
        let got = lambda.invoke(&asked.event(form)).await.got(form);
        assert_eq!((got.status, got.header("allow")), (405, Some("POST")), "{form:?}");
        // HEAD is GET without the body.
        let asked = Asked { method: "HEAD", ..Asked::get("/health/live") };
        let got = lambda.invoke(&asked.event(form)).await.got(form);
        assert_eq!((got.status, got.body.len()), (200, 0), "{form:?}");
    }
}

pub async fn a_body_in_base64_is_read() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    for form in FORMS {
        let asked = Asked { base64: true, ..me() };
        assert_eq!(lambda.invoke(&asked.event(form)).await.got(form).json(), aiko(), "{form:?}");
        // A body in gzip is not text.
        let mut packed = Vec::new();
        flate2::read::GzEncoder::new(&asked.body.as_ref().unwrap()[..], flate2::Compression::fast())
            .read_to_end(&mut packed)
            .unwrap();
        let asked = Asked { body: Some(packed), ..asked }.with("content-encoding", "gzip");
        assert_eq!(lambda.invoke(&asked.event(form)).await.got(form).json(), aiko(), "{form:?}");
    }
}

pub async fn a_compressed_answer_reaches_the_client_in_every_form() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    for form in FORMS {
        let plain = Asked::post(EVERYTHING, &json!({}), Some(AIKO));
        let expected = lambda.invoke(&plain.event(form)).await.got(form);
        assert!(expected.body.len() > 2000 && !expected.base64, "{form:?}: {}", expected.body.len());
        let packed = Asked { base64: true, ..plain.clone().with("accept-encoding", "gzip") };
        let got = lambda.invoke(&packed.event(form)).await.got(form);
        assert_eq!((got.status, got.header("content-encoding"), got.base64), (200, Some("gzip"), true), "{form:?}");
        assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()), "{form:?}");
        let mut body = String::new();
        GzDecoder::new(&got.body[..]).read_to_string(&mut body).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected.json(), "{form:?}");
        // A REST API without binary media types would give the base64 itself to the client.
        let got = lambda.invoke(&plain.with("accept-encoding", "gzip").event(form)).await.got(form);
        assert_eq!(got.base64, form != Form::Rest, "{form:?}");
        if form == Form::Rest {
            assert_eq!((got.header("content-encoding"), got.json()), (None, expected.json()));
        }
    }
}

pub async fn other_paths_have_their_own_answers() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    for form in FORMS {
        let got = lambda.invoke(&Asked::get("/nothing").event(form)).await.got(form);
        assert_eq!(got.error(), (404, "NOT_FOUND".to_owned()), "{form:?}");
        let got = lambda.invoke(&Asked::get("/health/ready").event(form)).await.got(form);
        assert_eq!(got.status, 200, "{form:?}");
        let upgrade = Asked::get("/graphql/ws").with("upgrade", "websocket").with("connection", "upgrade");
        let got = lambda.invoke(&upgrade.event(form)).await.got(form);
        assert_eq!(got.error(), (404, "NOT_FOUND".to_owned()), "{form:?}");
        assert!(got.json()["errors"][0]["message"].as_str().unwrap().contains("text/event-stream"), "{form:?}");
    }
    // The health check of a load balancer has almost no headers (Application Load Balancer user guide, "Enable health
    // checks").
    let check = json!({
        "requestContext": { "elb": { "targetGroupArn": "arn:aws:elasticloadbalancing:eu-west-1:123456789012:targetgroup/pantry/49e9" } },
        "httpMethod": "GET", "path": "/health/ready", "queryStringParameters": {}, "headers": { "user-agent": "ELB-HealthChecker/2.0" },
        "body": "", "isBase64Encoded": false,
    });
    assert_eq!(lambda.invoke(&check).await.got(Form::LoadBalancer).status, 200);
}

pub async fn a_route_or_a_stage_is_not_part_of_the_path() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    // A custom domain with a base path.
    let mut event = me().event(Form::Rest);
    event["path"] = json!("/base/graphql");
    assert_eq!(lambda.invoke(&event).await.got(Form::Rest).json(), aiko());
    event["resource"] = json!("/graphql");
    event["pathParameters"] = Value::Null;
    assert_eq!(lambda.invoke(&event).await.got(Form::Rest).json(), aiko());
    let mut event = me().event(Form::HttpApi);
    event["routeKey"] = json!("ANY /{proxy+}");
    event["rawPath"] = json!("/base/graphql");
    event["pathParameters"] = json!({ "proxy": "graphql" });
    assert_eq!(lambda.invoke(&event).await.got(Form::HttpApi).json(), aiko());
    // A path that only begins as the stage does.
    let mut event = me().event(Form::HttpApi);
    event["rawPath"] = json!("/developers/graphql");
    assert_eq!(lambda.invoke(&event).await.got(Form::HttpApi).status, 404);
}

pub async fn rate_limit_counts_by_the_address_that_the_sender_saw() {
    for (proxies, addresses) in
        [("0", ["198.51.100.1, 203.0.113.9", "198.51.100.2, 203.0.113.9"]), ("1", ["203.0.113.7", "203.0.113.8"])]
    {
        let (lambda, store) = (Lambda::start().await, Store::start());
        let (_function, _directory) =
            lambda.function(&store.url(), &["--rate-limit", "1/h", "--trusted-proxies", proxies]);
        let mut statuses = Vec::new();
        for address in addresses {
            let mut event = Asked::post("{ __typename }", &json!({}), None).event(Form::LoadBalancer);
            event["headers"]["X-Forwarded-For"] = json!(address);
            statuses.push(lambda.invoke(&event).await.got(Form::LoadBalancer).status);
        }
        // What a client writes itself into the header does not matter: the load balancer adds the last address.
        assert_eq!(statuses, if proxies == "0" { [200, 429] } else { [200, 200] }, "{proxies}");
        let mut event = Asked::post("{ __typename }", &json!({}), None).event(Form::Rest);
        event["requestContext"]["identity"]["sourceIp"] = json!("192.0.2.4");
        event["multiValueHeaders"]["X-Forwarded-For"] = json!(["192.0.2.4"]);
        event["headers"]["X-Forwarded-For"] = json!("192.0.2.4");
        assert_eq!(lambda.invoke(&event).await.got(Form::Rest).status, 200);
        assert_eq!(lambda.invoke(&event).await.got(Form::Rest).status, 429);
    }
}

pub async fn headers_keep_all_their_values() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let options =
        ["--allow-origin", "https://app.example.com", "--allow-host", "lambda-846800462-eu-west-1.elb.amazonaws.com"];
    let (_function, _directory) = lambda.function(&store.url(), &options);
    for form in [Form::LoadBalancer, Form::MultiValue] {
        let got = lambda.invoke(&me().with("origin", "https://app.example.com").event(form)).await.got(form);
        assert_eq!(
            (got.json(), got.header("access-control-allow-origin")),
            (aiko(), Some("https://app.example.com")),
            "{form:?}"
        );
        let vary = got.headers["vary"].join(", ");
        assert!(vary.contains("origin") && vary.contains("accept-encoding"), "{form:?}: {vary}");
        // Without an id of the client's own, the log and the response have Lambda's.
        assert!(got.header("x-request-id").unwrap().starts_with("8476a536-e9f4-11e8-9739-"), "{form:?}");
        let got = lambda.invoke(&me().with("x-request-id", "mine").event(form)).await.got(form);
        assert_eq!(got.header("x-request-id"), Some("mine"), "{form:?}");
    }
    // Of two values of Accept, the second one is acceptable.
    let two = me().with("accept", "text/html").with("accept", "application/graphql-response+json");
    for form in [Form::Rest, Form::HttpApi, Form::MultiValue] {
        let mut event = two.event(form);
        if form != Form::MultiValue {
            // These have another host.
            let host = json!("lambda-846800462-eu-west-1.elb.amazonaws.com");
            if form == Form::Rest {
                event["multiValueHeaders"]["Host"] = json!([host]);
            }
            event["headers"][if form == Form::Rest { "Host" } else { "host" }] = host;
        }
        let got = lambda.invoke(&event).await.got(form);
        assert_eq!(
            (got.status, got.header("content-type")),
            (200, Some("application/graphql-response+json; charset=utf-8")),
            "{form:?}"
        );
    }
    let got = lambda.invoke(&me().event(Form::FunctionUrl)).await.got(Form::FunctionUrl);
    assert_eq!(got.error(), (421, "FORBIDDEN".to_owned()));
}

pub async fn what_is_no_request_is_refused() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &["--body-limit", "10000"]);
    for form in FORMS {
        let mut event = me().event(form);
        event["isBase64Encoded"] = json!(true);
        let got = lambda.invoke(&event).await.got(form);
        assert_eq!(got.error(), (400, "BAD_USER_INPUT".to_owned()), "{form:?}");
        let large = Asked { body: Some(vec![b' '; 10_001]), ..me() };
        assert_eq!(
            lambda.invoke(&large.event(form)).await.got(form).error(),
            (413, "LIMIT_EXCEEDED".to_owned()),
            "{form:?}"
        );
        let nobody =
            Asked::post("{ me { name } }", &json!({}), None).with("x-api-key", "a key that nobody has, 32 bytes.");
        assert_eq!(
            lambda.invoke(&nobody.event(form)).await.got(form).error(),
            (401, "UNAUTHENTICATED".to_owned()),
            "{form:?}"
        );
    }
    for path in ["/graph ql", "graphql\u{7f}", "\n"] {
        let mut event = me().event(Form::LoadBalancer);
        event["path"] = json!(path);
        let got = lambda.invoke(&event).await.got(Form::LoadBalancer);
        assert!(matches!(got.error().0, 400 | 404), "{path:?}: {got:?}");
    }
    // An odd host is no panic.
    let mut event = me().event(Form::LoadBalancer);
    event["headers"]["host"] = json!("a b");
    assert_eq!(lambda.invoke(&event).await.got(Form::LoadBalancer).error(), (400, "BAD_USER_INPUT".to_owned()));
    // What is no event of HTTP is an error of the function, which goes on.
    let answer = lambda.invoke(&json!({ "Records": [{ "eventSource": "aws:sqs" }] })).await;
    assert!(answer.failed);
    assert_eq!(lambda.invoke(&me().event(Form::Rest)).await.got(Form::Rest).json(), aiko());
}

pub async fn an_operation_ends_before_lambda_ends_it() {
    let (lambda, mut store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    assert_eq!(lambda.invoke(&me().event(Form::Rest)).await.got(Form::Rest).json(), aiko());
    let _silent = store.hang();
    for form in FORMS {
        let began = Instant::now();
        let asked =
            Asked::post("{ user(id: \"11111111-1111-4111-8111-111111111111\") { name } }", &json!({}), Some(AIKO));
        let got = lambda.invoke_within(&asked.event(form), Duration::from_secs(3)).await.got(form);
        let took = began.elapsed();
        let code = got.json()["errors"][0]["extensions"]["code"].clone();
        assert!(code == "TIMEOUT" || code == "UNAVAILABLE", "{form:?}: {}", got.json());
        assert!(took < Duration::from_millis(2900), "{form:?}: {took:?}");
        assert!(code != "TIMEOUT" || took > Duration::from_millis(1500), "{form:?}: {took:?}");
    }
}

/// Puts containers with so many bytes of foods into Aiko's flat.
pub async fn enlarge(store: &Store, containers: usize, bytes: usize) {
    let model = support::model("pantry");
    let item = |item: Value| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap();
    let food = json!({ "M": {
        "FoodId": { "S": "f" }, "Name": { "S": "\"x\"".repeat(bytes / 3) }, "Category": { "S": "other" }, "CreatedAt": { "S": "2026-01-01T00:00:00.000Z" },
    } });
    let items = (0..containers).flat_map(|number| {
        let id = format!("large{number:03}");
        let key = format!("Container#{id}");
        let member = item(json!({ "PK": { "S": FLAT }, "SK": { "S": key }, "ContainerId": { "S": id } }));
        let name = format!("Large {number}");
        [member, item(json!({ "PK": { "S": id }, "SK": { "S": "Container" }, "ContainerName": { "S": name }, "Foods": { "L": [food] } }))]
    });
    let table = model.tables.iter().find(|table| table.name == "nishiki-table-dev-db").unwrap();
    store.client().await.load(table, items.collect(), support::deadline()).await.unwrap();
}

pub async fn an_answer_that_is_too_large_says_so() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (mut function, _directory) = lambda.function(&store.url(), &["--allow-origin", "*"]);
    // As a response 2 MB, with each quotation mark in two bytes; as an object almost 3 MB.
    enlarge(&store, 6, 250_000).await;
    for form in FORMS {
        let asked = Asked::post(CONTAINERS, &json!({}), Some(AIKO)).with("origin", "https://a.example.com");
        let answer = lambda.invoke(&asked.event(form)).await;
        let got = answer.got(form);
        if matches!(form, Form::LoadBalancer | Form::MultiValue) {
            // A load balancer takes 1 MB.
            assert_eq!(got.error(), (400, "LIMIT_EXCEEDED".to_owned()), "{form:?}");
            assert_eq!(got.header("access-control-allow-origin"), Some("*"), "{form:?}");
            assert!(got.header("x-request-id").is_some() && got.header("content-encoding").is_none());
        } else {
            assert!(
                got.status == 200 && got.body.len() > 2_000_000 && answer.body.len() > got.body.len(),
                "{form:?}: {}",
                got.body.len()
            );
        }
        // Compressed, it fits.
        let packed = Asked { base64: true, ..asked }.with("accept-encoding", "gzip");
        assert_eq!(lambda.invoke(&packed.event(form)).await.got(form).status, 200, "{form:?}");
    }
    enlarge(&store, 18, 250_000).await;
    for form in FORMS {
        let asked = Asked::post(CONTAINERS, &json!({}), Some(AIKO));
        let got = lambda.invoke(&asked.event(form)).await.got(form);
        assert_eq!(got.error(), (400, "LIMIT_EXCEEDED".to_owned()), "{form:?}");
        assert!(got.json()["errors"][0]["message"].as_str().unwrap().contains("larger than the"), "{form:?}");
    }
    function.wait_for("a response is larger than Lambda takes");
}
