//! Calls of services before a write: what they get, when they are made, and what follows if the write is not.

use crate::charges::model;
use crate::scripted::{Act, Scripted, items, refused};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::service::call::{ServiceError, ServiceErrorKind, ServiceRequest, ServiceResult};
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

const PAY: &str = "mutation { pay(orderId: \"1\", token: \"t\", key: \"k\") { chargeId amount fee method } }";

/// A shop with an order of 7, and the calls of its table from now on.
async fn shop(services: &Scripted) -> (Gateway, Arc<Recorder>) {
    let (model, recorder) = (model(), Arc::new(Recorder::default()));
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    // Another program has written its amount as a text.
    let amount = json!({ "S": "70" });
    let item = json!({ "PK": { "S": "ORDER#9" }, "SK": { "S": "ORDER" }, "amount": amount, "status": { "S": "OPEN" } });
    let item = parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap();
    store.load(&model.tables[0], vec![item], support::deadline()).await.unwrap();
    let settings = Settings { services: Some(Arc::new(services.clone())), ..support::settings() };
    let gateway = Gateway::new(model, store, settings);
    let response = ask(&gateway, "mutation { addOrder(id: \"1\", amount: 7) { id } }").await;
    assert_eq!(response["data"]["addOrder"]["id"], "1");
    recorder.take();
    (gateway, recorder)
}

async fn ask(gateway: &Gateway, query: &str) -> Value {
    ask_as(gateway, json!({ "sub": "u1", "email": "u1@example.com" }), query).await
}

async fn ask_as(gateway: &Gateway, claims: Value, query: &str) -> Value {
    let caller = support::caller(claims);
    let mut response = support::run(gateway, &Request { caller, ..support::request(query, json!({})) }, true).await;
    assert_eq!(support::costs_more(&response), None, "{response:#}");
    response["extensions"].as_object_mut().map(|extensions| extensions.remove("keyfold"));
    if response["extensions"].as_object().is_some_and(serde_json::Map::is_empty) {
        response.as_object_mut().unwrap().remove("extensions");
    }
    response
}

fn charge(request: &ServiceRequest) -> ServiceResult {
    match &request.undo {
        Some(_) => Ok(json!({})),
        None => {
            Ok(json!({ "id": "ch1", "amount": items(request)[0]["amount"], "method": null, "balance": 3, "code": "c" }))
        }
    }
}

fn charging() -> Scripted {
    Scripted::new(|request| Act::Answer(vec![charge(request)]))
}

/// The operations of the calls of a table.
fn operations(recorder: &Recorder) -> Vec<String> {
    recorder.take().into_iter().map(|(operation, _)| operation).collect()
}

/// An error's code and what it says of calls.
fn refusal(response: &Value) -> (String, Value) {
    let extensions = &response["errors"][0]["extensions"];
    (extensions["code"].as_str().unwrap_or_default().to_owned(), extensions.get("calls").cloned().unwrap_or_default())
}

/// What a service was asked for: what it undoes, or else its input.
fn asked(services: &Scripted) -> Vec<Value> {
    let requests = services.take_requests();
    requests.iter().map(|request| request.undo.clone().map_or_else(|| items(request)[0].clone(), Value::from)).collect()
}

#[tokio::test]
async fn a_service_is_called_before_the_write_which_has_its_result() {
    let services = charging();
    let (gateway, recorder) = shop(&services).await;
    let response = ask(&gateway, PAY).await;
    assert_eq!(response, json!({ "data": { "pay": { "chargeId": "ch1", "amount": 7, "fee": 0, "method": null } } }));
    let requests = services.take_requests();
    let [request] = requests.as_slice() else { panic!("{requests:?}") };
    assert_eq!(items(request), [json!({ "amount": 7, "token": "t", "order": "1", "test": true })]);
    assert_eq!((request.field.as_str(), &request.undo), ("Mutation.pay", &None));
    assert_eq!(request.caller.clone().map(Value::Object), Some(json!({ "sub": "u1" })));
    assert_eq!(request.key.as_ref().unwrap().len(), 64);
    // The order is found; the record is begun; the order is read again after the call; the write.
    assert_eq!(operations(&recorder), ["GetItem", "PutItem", "GetItem", "TransactWriteItems"]);
    // A repeat writes and calls nothing.
    assert_eq!(ask(&gateway, PAY).await, response);
    assert_eq!(services.take_requests().len(), 0);
}

#[tokio::test]
async fn nothing_is_called_for_what_is_refused_before() {
    let services = charging();
    let (gateway, recorder) = shop(&services).await;
    let missing = ask(&gateway, &PAY.replace("\"1\"", "\"2\"")).await;
    assert_eq!(refusal(&missing), ("NOT_FOUND".to_owned(), Value::Null));
    ask(&gateway, PAY).await;
    services.take();
    let paid = ask(&gateway, &PAY.replace("\"k\"", "\"other\"")).await;
    assert_eq!(refusal(&paid), ("CONFLICT".to_owned(), Value::Null));
    assert_eq!(paid["errors"][0]["message"], "The order is not open.");
    let reused = ask(&gateway, &PAY.replace("\"t\"", "\"u\"")).await;
    assert_eq!(refusal(&reused).0, "IDEMPOTENCY_KEY_REUSED");
    assert!(services.take().is_empty());
    let writes = operations(&recorder).into_iter().filter(|operation| operation != "GetItem").collect::<Vec<_>>();
    assert_eq!(writes, ["PutItem", "TransactWriteItems"], "only the first one writes");
}

#[tokio::test]
async fn what_an_update_demands_is_checked_before_the_call_whose_result_it_takes() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    let query = "mutation { settle(id: \"1\", key: \"a\") { note status } }";
    assert_eq!(ask(&gateway, query).await["data"]["settle"], json!({ "note": "ch1", "status": "PAID" }));
    assert_eq!(services.take().len(), 1);
    assert_eq!(refusal(&ask(&gateway, &query.replace("\"a\"", "\"b\"")).await), ("CONFLICT".to_owned(), Value::Null));
    assert!(services.take().is_empty());
}

#[tokio::test]
async fn a_refusal_of_the_service_is_the_answer_and_the_key_stays() {
    let services = Scripted::new(|request| match items(request)[0]["token"].as_str() {
        Some("bad") => Act::Answer(vec![refused("DECLINED", "The card is declined.")]),
        _ => Act::Answer(vec![charge(request)]),
    });
    let (gateway, _) = shop(&services).await;
    let declined = ask(&gateway, &PAY.replace("\"t\"", "\"bad\"")).await;
    assert_eq!(refusal(&declined), ("SERVICE_REFUSED".to_owned(), Value::Null));
    assert_eq!(declined["errors"][0]["message"], "The card is declined.");
    assert_eq!(declined["errors"][0]["extensions"]["serviceCode"], "DECLINED");
    assert_eq!(asked(&services).len(), 1, "nothing is undone");
}

#[tokio::test]
async fn a_call_without_an_answer_leaves_the_request_open() {
    let fails = Arc::new(Mutex::new(true));
    let services = {
        let fails = fails.clone();
        Scripted::new(move |request| match *fails.lock().unwrap() {
            true => Act::Fail(ServiceError::new(ServiceErrorKind::Timeout, "late")),
            false => Act::Answer(vec![charge(request)]),
        })
    };
    let (gateway, _) = shop(&services).await;
    let open = ask(&gateway, PAY).await;
    assert_eq!(refusal(&open), ("TIMEOUT".to_owned(), json!([{ "as": "charge", "made": null }])));
    let keys: Vec<Option<String>> = services.take_requests().iter().map(|request| request.key.clone()).collect();
    *fails.lock().unwrap() = false;
    assert_eq!(ask(&gateway, PAY).await["data"]["pay"]["chargeId"], "ch1");
    let again: Vec<Option<String>> = services.take_requests().iter().map(|request| request.key.clone()).collect();
    assert_eq!(keys, again);
}

#[tokio::test]
async fn what_another_changes_meanwhile_undoes_the_call_and_spends_the_key() {
    let changes: Arc<Mutex<Option<Gateway>>> = Arc::default();
    let services = {
        let changes = changes.clone();
        Scripted::new(move |request| {
            if let Some(gateway) = changes.lock().unwrap().take() {
                let change = "mutation { reprice(id: \"1\", amount: 9) { id } }".to_owned();
                let thread = std::thread::spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async { ask(&gateway, &change).await })
                });
                assert_eq!(thread.join().unwrap()["data"]["reprice"]["id"], "1");
            }
            Act::Answer(vec![charge(request)])
        })
    };
    let (gateway, _) = shop(&services).await;
    *changes.lock().unwrap() = Some(gateway.clone());
    let changed = ask(&gateway, PAY).await;
    assert_eq!(refusal(&changed), ("CONFLICT".to_owned(), Value::Null), "{changed}");
    let all = asked(&services);
    assert_eq!((all.len(), &all[1]), (2, &json!("refund")), "{all:?}");
    // The key has its refusal for good, although the order could be paid now.
    assert_eq!(refusal(&ask(&gateway, PAY).await), ("CONFLICT".to_owned(), Value::Null));
    assert!(services.take().is_empty());
    let paid = ask(&gateway, &PAY.replace("\"k\"", "\"new\"")).await;
    assert_eq!(paid["data"]["pay"]["amount"], 9);
}

#[tokio::test]
async fn an_undo_without_an_answer_is_sent_again() {
    let undoes = Arc::new(Mutex::new(false));
    let services = {
        let undoes = undoes.clone();
        Scripted::new(move |request| match (&request.undo, *undoes.lock().unwrap()) {
            (Some(_), false) => Act::Fail(ServiceError::new(ServiceErrorKind::Unreadable, "garbage")),
            (Some(_), true) => Act::Answer(vec![Ok(json!({}))]),
            // It does not fit.
            (None, _) => Act::Answer(vec![Ok(json!({ "id": "ch1", "amount": 100_001 }))]),
        })
    };
    let (gateway, _) = shop(&services).await;
    let open = ask(&gateway, PAY).await;
    assert_eq!(refusal(&open), ("UNAVAILABLE".to_owned(), json!([{ "as": "charge", "made": null }])), "{open}");
    *undoes.lock().unwrap() = true;
    let certain = ask(&gateway, PAY).await;
    assert_eq!(refusal(&certain), ("INTERNAL".to_owned(), Value::Null), "{certain}");
    assert_eq!(ask(&gateway, PAY).await, certain);
    let all = asked(&services);
    let undone = all.iter().filter(|asked| **asked == "refund").count();
    assert_eq!((all.len(), undone), (3, 2), "{all:?}");
}

#[tokio::test]
async fn a_call_that_nothing_undoes_is_named() {
    let services = Scripted::new(|request| {
        Act::Answer(vec![Ok(
            json!({ "id": "ch1", "amount": if request.undo.is_none() { json!("many") } else { json!(1) } }),
        )])
    });
    let (gateway, _) = shop(&services).await;
    let query = "mutation { payForGood(orderId: \"1\", key: \"k\") { id } }";
    let refused = ask(&gateway, query).await;
    assert_eq!(refusal(&refused), ("INTERNAL".to_owned(), json!([{ "as": "charge", "made": true }])));
    assert!(asked(&services).iter().all(|asked| *asked != "refund"));
}

#[tokio::test]
async fn calls_are_made_in_order_and_undone_in_reverse() {
    let services = Scripted::new(|request| match (&request.undo, request.field.as_str()) {
        (Some(_), _) => Act::Answer(vec![Ok(json!({}))]),
        _ if items(request)[0].get("charge").is_some() => Act::Answer(vec![refused("FULL", "No parcel is left.")]),
        _ => Act::Answer(vec![charge(request)]),
    });
    let (gateway, _) = shop(&services).await;
    // Not worth a parcel.
    let query = "mutation { send(orderId: \"1\", key: \"a\") { status note } }";
    assert_eq!(ask(&gateway, query).await["data"]["send"], json!({ "status": "SENT", "note": null }));
    assert_eq!(asked(&services), [json!({ "amount": 7 })]);
    ask(&gateway, "mutation { addOrder(id: \"2\", amount: 70) { id } }").await;
    let refused = ask(&gateway, "mutation { send(orderId: \"2\", key: \"b\") { status } }").await;
    assert_eq!(refusal(&refused), ("SERVICE_REFUSED".to_owned(), Value::Null));
    assert_eq!(refused["errors"][0]["extensions"]["serviceCode"], "FULL");
    let all = asked(&services);
    assert_eq!(all, [json!({ "amount": 70 }), json!({ "charge": "ch1" }), json!("cancel"), json!("refund")]);
    let open = ask(&gateway, "{ order(id: \"2\") { status } }").await;
    assert_eq!(open["data"]["order"]["status"], "OPEN");
}

#[tokio::test]
async fn a_key_of_arguments_is_the_same_for_equal_requests() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    let query = "mutation { label(orderId: \"1\") { code } }";
    assert_eq!(ask(&gateway, query).await["data"]["label"]["code"], "c");
    // The parcel is there, which is seen before the call only by a read.
    let again = ask(&gateway, query).await;
    assert_eq!(refusal(&again), ("CONFLICT".to_owned(), json!([{ "as": "label", "made": true }])), "{again}");
    ask(&gateway, &query.replace("\"1\"", "\"2\"")).await;
    let keys: Vec<String> = services.take_requests().into_iter().filter_map(|request| request.key).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] == keys[1] && keys[1] != keys[2], "{keys:?}");
}

#[tokio::test]
async fn nobody_calls_for_what_a_rule_keeps_from_him() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    let [draw, seize] =
        ["draw", "seize"].map(|field| format!("mutation {{ {field}(id: \"p\", key: \"k\") {{ chargeId }} }}"));
    ask(&gateway, "mutation { openPurse(id: \"p\", amount: 3) { id } }").await;
    let stranger = ask_as(&gateway, json!({ "sub": "u2" }), &draw).await;
    assert_eq!(refusal(&stranger), ("FORBIDDEN".to_owned(), Value::Null));
    for claims in [json!({ "sub": "u1" }), json!({ "sub": "u2", "role": "guest" }), json!({ "role": "clerk" })] {
        let response = ask_as(&gateway, claims, &seize).await;
        assert!(["FORBIDDEN", "UNAUTHENTICATED", "NOT_FOUND"].contains(&refusal(&response).0.as_str()), "{response}");
        assert_eq!(refusal(&response).1, Value::Null);
    }
    assert!(services.take().is_empty());
    assert_eq!(ask(&gateway, &draw).await["data"]["draw"]["chargeId"], "ch1");
}

#[tokio::test]
async fn the_same_key_of_another_caller_is_another_key_at_the_service() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    let good = "mutation { payForGood(orderId: \"1\", key: \"k\") { chargeId } }";
    ask_as(&gateway, json!({ "sub": "u1" }), good).await;
    ask_as(&gateway, json!({ "sub": "u2" }), good).await;
    ask_as(&gateway, json!({ "sub": "u2", "iss": "other" }), good).await;
    let keys: Vec<String> = services.take_requests().into_iter().filter_map(|request| request.key).collect();
    assert_eq!(keys.len(), 3);
    assert!(keys[0] != keys[1] && keys[1] != keys[2] && keys[0] != keys[2], "{keys:?}");
}

#[tokio::test]
async fn one_key_in_two_fields_is_two_keys_at_the_service() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    ask(&gateway, "mutation { addOrder(id: \"2\", amount: 7) { id } }").await;
    ask(&gateway, PAY).await;
    ask(&gateway, "mutation { settle(id: \"2\", key: \"k\") { id } }").await;
    let keys: Vec<String> = services.take_requests().into_iter().filter_map(|request| request.key).collect();
    assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
}

#[tokio::test]
async fn a_repeat_that_cannot_call_says_that_an_earlier_call_may_stand() {
    let fate = Arc::new(Mutex::new("loses"));
    let services = {
        let fate = fate.clone();
        Scripted::new(move |request| match *fate.lock().unwrap() {
            "loses" => Act::Fail(ServiceError::new(ServiceErrorKind::Unavailable, "lost")),
            _ => Act::Answer(vec![charge(request)]),
        })
    };
    let (gateway, _) = shop(&services).await;
    // Each sends the call three times, so the service is left alone after the second.
    for key in ["a", "b"] {
        ask(&gateway, &PAY.replace("\"k\"", &format!("\"{key}\""))).await;
    }
    let sent = services.take().len();
    let again = ask(&gateway, &PAY.replace("\"k\"", "\"a\"")).await;
    assert_eq!((refusal(&again), sent), (("UNAVAILABLE".to_owned(), json!([{ "as": "charge", "made": null }])), 5));
    let new = ask(&gateway, &PAY.replace("\"k\"", "\"c\"")).await;
    assert_eq!(refusal(&new), ("UNAVAILABLE".to_owned(), Value::Null));
    assert!(services.take().is_empty());
}

#[tokio::test]
async fn a_condition_on_what_cannot_be_read_makes_no_write() {
    let services = charging();
    let (gateway, _) = shop(&services).await;
    let refused = ask(&gateway, "mutation { send(orderId: \"9\", key: \"k\") { id } }").await;
    assert_eq!(refusal(&refused), ("INTERNAL".to_owned(), Value::Null), "{refused}");
    assert!(services.take().is_empty());
}
