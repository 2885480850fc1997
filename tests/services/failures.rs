//! What a service does wrong: the error is at its field, within its time, and nothing else is lost.

use crate::scripted::{Act, Scripted, answer, items, refused, shop};
use keyfold::execute::service::call::{ServiceError, ServiceErrorKind};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

const QUERY: &str = "{ orders { id total } }";

/// The answer to a query of three orders while a service does something, and the codes and paths of its errors.
async fn while_it(
    act: impl Fn(&keyfold::execute::service::call::ServiceRequest) -> Act + Send + Sync + 'static,
) -> (Value, Vec<(String, String)>) {
    let (gateway, _) = shop(3, Some(Arc::new(Scripted::new(act)))).await;
    let response = answer(&gateway, QUERY).await;
    let orders = response["data"]["orders"].as_array().unwrap();
    assert_eq!(orders.iter().map(|order| order["id"].as_str().unwrap()).collect::<Vec<_>>(), ["000", "001", "002"]);
    let errors = errors(&response);
    (response, errors)
}

fn errors(response: &Value) -> Vec<(String, String)> {
    let errors = response["errors"].as_array().into_iter().flatten();
    errors.map(|error| (error["extensions"]["code"].as_str().unwrap().to_owned(), error["path"].to_string())).collect()
}

/// The same error at the field of each order.
fn everywhere(code: &str) -> Vec<(String, String)> {
    (0..3).map(|place| (code.to_owned(), format!("[\"orders\",{place},\"total\"]"))).collect()
}

fn prices(count: usize) -> Vec<keyfold::execute::service::call::ServiceResult> {
    (0..count).map(|price| Ok(json!(format!("{price}")))).collect()
}

#[tokio::test]
async fn some_items_may_fail() {
    let (response, errors) = while_it(|request| {
        Act::Answer(
            items(request)
                .iter()
                .map(|item| match item["id"].as_str().unwrap() {
                    "001" => refused("NO_PRICE", "This order has no price."),
                    _ => Ok(json!("1")),
                })
                .collect(),
        )
    })
    .await;
    assert_eq!(
        response["data"]["orders"],
        json!([{ "id": "000", "total": "1" }, { "id": "001", "total": null }, { "id": "002", "total": "1" }])
    );
    assert_eq!(errors, [("SERVICE_REFUSED".to_owned(), "[\"orders\",1,\"total\"]".to_owned())]);
    let error = &response["errors"][0];
    assert_eq!(
        (&error["message"], &error["extensions"]["serviceCode"]),
        (&json!("This order has no price."), &json!("NO_PRICE"))
    );
}

#[tokio::test]
async fn a_result_too_few_or_too_many_fails_the_call() {
    for count in [0, 2, 4, 1000] {
        let (_, errors) = while_it(move |_| Act::Answer(prices(count))).await;
        assert_eq!(errors, everywhere("INTERNAL"), "{count} results");
    }
}

#[tokio::test]
async fn a_value_of_another_type_fails_alone() {
    for garbage in [json!(true), json!({ "a": 1 }), json!([1]), json!("twelve"), json!("1e999")] {
        let (response, errors) = while_it(move |_| {
            let mut prices = prices(3);
            prices[2] = Ok(garbage.clone());
            Act::Answer(prices)
        })
        .await;
        assert_eq!(errors, [("INTERNAL".to_owned(), "[\"orders\",2,\"total\"]".to_owned())], "{response}");
        assert_eq!(response["data"]["orders"][1]["total"], "1");
    }
}

#[tokio::test]
async fn too_many_bytes_fail_the_call() {
    let (_, errors) = while_it(|_| Act::Bytes(prices(3), 100_001)).await;
    assert_eq!(errors, everywhere("INTERNAL"));
    let (_, errors) = while_it(|_| Act::Bytes(prices(3), 100_000)).await;
    assert_eq!(errors, []);
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_fails_within_its_time() {
    let begun = Instant::now();
    let (_, errors) = while_it(|_| Act::Late(Duration::from_secs(30), prices(3))).await;
    assert_eq!(errors, everywhere("TIMEOUT"));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    let (_, errors) = while_it(|_| Act::Late(Duration::from_millis(400), prices(3))).await;
    assert_eq!(errors, []);
}

#[tokio::test]
async fn nobody_answers() {
    let (gateway, _) = shop(3, None).await;
    let response = answer(&gateway, QUERY).await;
    assert_eq!(errors(&response), everywhere("UNAVAILABLE"));
    assert_eq!(response["data"]["orders"][2]["id"], "002");
}

#[tokio::test(start_paused = true)]
async fn only_a_service_that_says_so_is_asked_again() {
    let down = || ServiceError::new(ServiceErrorKind::Unavailable, "down");
    let services = Scripted::new(move |_| Act::Fail(down()));
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    answer(&gateway, QUERY).await;
    assert_eq!(services.take().len(), 1);
    let response = answer(&gateway, "{ orders { tags } }").await;
    assert_eq!((services.take().len(), errors(&response).len()), (3, 1));

    let tries = AtomicUsize::new(0);
    let services = Scripted::new(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => Act::Fail(down()),
        _ => Act::Answer(vec![Ok(json!(["x"]))]),
    });
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    assert_eq!(answer(&gateway, "{ orders { tags } }").await, json!({ "data": { "orders": [{ "tags": ["x"] }] } }));
    assert_eq!(services.take().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_is_left_alone() {
    let services = Scripted::new(|_| Act::Fail(ServiceError::new(ServiceErrorKind::Unavailable, "down")));
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    for _ in 0..50 {
        assert_eq!(errors(&answer(&gateway, QUERY).await).len(), 1);
    }
    assert_eq!(services.take().len(), 5);
    tokio::time::advance(Duration::from_secs(1)).await;
    answer(&gateway, QUERY).await;
    assert_eq!(services.take().len(), 1);
}

#[tokio::test]
async fn a_null_of_a_non_null_field_is_an_error_of_its_object() {
    let services = Scripted::by_item(|_, _| Ok(Value::Null));
    let (gateway, _) = shop(1, Some(Arc::new(services))).await;
    let response = answer(&gateway, "{ order(id: \"000\") { id greeting } }").await;
    assert_eq!(response["data"], json!({ "order": null }));
    assert_eq!(errors(&response), [("INTERNAL".to_owned(), "[\"order\",\"greeting\"]".to_owned())]);
    let response = answer(&gateway, "{ order(id: \"000\") { id total tags } }").await;
    assert_eq!(response, json!({ "data": { "order": { "id": "000", "total": null, "tags": null } } }));
}
