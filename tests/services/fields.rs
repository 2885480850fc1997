//! Which calls are made, and which values fields have.

use crate::scripted::{Scripted, answer, by, refused, shop};
use crate::support;
use serde_json::{Value, json};
use std::sync::Arc;

/// The price of an order: the sum of its quantities, and a half.
fn price(field: &str, item: Value) -> keyfold::execute::service::call::ServiceResult {
    assert_eq!(field, "Order.total");
    let quantities = item["lines"].as_array().unwrap().iter().map(|line| line["quantity"].as_i64().unwrap());
    Ok(json!(format!("{}.5", quantities.sum::<i64>())))
}

#[tokio::test]
async fn a_hundred_objects_are_one_call_in_the_wave_after_what_it_needs() {
    let services = Scripted::by_item(price);
    let (gateway, recorder) = shop(100, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "{ orders { id total customer { name } } }").await;
    let orders = response["data"]["orders"].as_array().unwrap();
    assert_eq!(orders.len(), 100);
    assert!(orders.iter().all(|order| order["total"] == "3.5" && order["customer"]["name"].is_string()), "{response}");
    let calls = services.take();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0].1.len(), 100);
    let lines = json!([{ "sku": "1", "quantity": 1 }, { "sku": "2", "quantity": 2 }]);
    assert_eq!(calls[0].1[7], json!({ "id": "007", "lines": lines }));
    let table_calls = recorder.take().len();
    // The orders; the lines of each beside the customers.
    assert_eq!(table_calls, 1 + 100 + 1, "{table_calls} calls");
}

#[tokio::test]
async fn equal_inputs_are_asked_once_and_arguments_keep_fields_apart() {
    let services =
        Scripted::by_item(|_, item| Ok(json!(format!("Hello {}", item["customer"]["name"].as_str().unwrap()))));
    let (gateway, _) = shop(10, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "{ orders { greeting again: greeting loudly: greeting(loud: true) } }").await;
    assert_eq!(
        response["data"]["orders"][3],
        json!({ "greeting": "Hello Bob", "again": "Hello Bob", "loudly": "Hello Bob" })
    );
    let mut requests = services.take_requests();
    requests.sort_by_key(|request| request.arguments.as_ref().unwrap()["loud"] == true);
    let items: Vec<(bool, usize)> = requests
        .iter()
        .map(|request| (request.arguments.as_ref().unwrap()["loud"] == true, request.items.len()))
        .collect();
    assert_eq!(items, [(false, 2), (true, 2)]);
}

#[tokio::test]
async fn more_objects_than_a_call_takes_are_several_calls() {
    let services = Scripted::by_item(|_, item| Ok(json!({ "text": item["customerId"], "sku": null })));
    let (gateway, _) = shop(3, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "{ orders { advice { text } } }").await;
    assert_eq!(response["data"]["orders"][1], json!({ "advice": { "text": "c2" } }));
    assert_eq!(services.take().iter().map(|(_, items)| items.len()).collect::<Vec<_>>(), [2]);
}

#[tokio::test]
async fn objects_have_their_own_fields_and_relations() {
    let services = Scripted::by_item(|field, item| match field {
        "Order.advice" => Ok(json!({ "text": "more", "sku": "001" })),
        "Parcel.place" => Ok(json!(format!("shelf {}", item["code"].as_str().unwrap()))),
        _ => Ok(json!(["x", "y"])),
    });
    let (gateway, _) = shop(2, Some(Arc::new(services.clone()))).await;
    let query = "{ order(id: \"001\") { tags parcel { place } parcels { code place } advice { __typename text lines { sku orderId } } } }";
    let response = answer(&gateway, query).await;
    let expected = json!({
        "tags": ["x", "y"],
        "parcel": { "place": "shelf z" },
        "parcels": [{ "code": "a", "place": "shelf a" }, { "code": "001", "place": "shelf 001" }],
        "advice": { "__typename": "Advice", "text": "more", "lines": [{ "sku": "1", "orderId": "001" }, { "sku": "2", "orderId": "001" }] },
    });
    assert_eq!(response, json!({ "data": { "order": expected } }));
}

#[tokio::test]
async fn what_is_not_there_is_not_asked_for() {
    let services = Scripted::by_item(|_, _| refused("NEVER", "Nobody asks."));
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "{ order(id: \"none\") { total greeting parcels { place } } }").await;
    assert_eq!(response, json!({ "data": { "order": null } }));
    let skipped = "query { orders { id total @skip(if: true) } }";
    assert_eq!(answer(&gateway, skipped).await, json!({ "data": { "orders": [{ "id": "000" }] } }));
    assert_eq!(services.take(), []);
}

#[tokio::test]
async fn a_page_asks_for_its_own_objects() {
    let services = Scripted::by_item(price);
    let (gateway, _) = shop(9, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "{ ordersPage(first: 4) { nodes { total } pageInfo { hasNextPage } } }").await;
    assert_eq!(response["data"]["ordersPage"]["nodes"].as_array().unwrap().len(), 4);
    assert_eq!(services.take().iter().map(|(_, items)| items.len()).sum::<usize>(), 4);
}

#[tokio::test]
async fn what_a_mutation_returns_is_computed_of_what_it_wrote() {
    let services = Scripted::by_item(|_, item| Ok(json!(format!("of {}", item["note"].as_str().unwrap()))));
    let (gateway, _) = shop(1, Some(Arc::new(services.clone()))).await;
    let response = answer(&gateway, "mutation { note(id: \"000\", note: \"new\") { fromNote } }").await;
    assert_eq!(response, json!({ "data": { "note": { "fromNote": "of new" } } }));
}

#[tokio::test]
async fn a_plan_says_what_a_service_gets_and_when() {
    let (gateway, _) = shop(2, Some(Arc::new(Scripted::by_item(price)))).await;
    let request = by("clerk", "{ orders { total } }");
    let planned = keyfold::execute::gateway::plan(gateway.model(), &request, &support::settings()).unwrap().0;
    let text = planned.to_text(gateway.model());
    let call = "wave 3\n  call pricing\n     for   Order.total, each of #0\n     rule  Query.orders: signed in\n     gets  id lines { sku quantity }\n     after #0, #1\n     cost  unknown\n";
    assert!(text.ends_with(call), "{text}");
    let explained = support::run(&gateway, &request, true).await;
    let calls = &explained["extensions"]["keyfold"]["plan"]["calls"];
    assert_eq!(
        *calls,
        json!([{
            "wave": 3, "service": "pricing", "field": "Order.total", "gets": "id lines { sku quantity }",
            "after": [0, 1],
        }])
    );
}
