//! The rows of docs/systems.md, and checks of the rows that no golden can show.

use futures_util::StreamExt;
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::scalar::spread::{MAX_SPREAD, MIN_SPREAD};
use libtest_mimic::Failed;
use serde_json::Value;

/// A row: `| id | what it is | access path | operations |`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub id: String,
    /// The text before the last column, with its bars.
    before: String,
    /// The parts of the access path in code style, each a part of a plan.
    pub paths: Vec<String>,
    /// The last column.
    pub proof: String,
}

impl Row {
    /// The row of a line; `None` if the line is no row, or is the head of a table.
    pub fn of(line: &str) -> Option<Self> {
        let columns: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').collect();
        let [id, what, access, proof] = columns.as_slice() else { return None };
        let number = id.trim().strip_prefix(|letter: char| letter.is_ascii_uppercase())?;
        number.parse::<u8>().ok()?;
        let paths = access.split('`').skip(1).step_by(2).map(str::to_owned).collect();
        Some(Self {
            id: id.trim().to_owned(),
            before: format!("|{id}|{what}|{access}|"),
            paths,
            proof: proof.trim().to_owned(),
        })
    }

    /// The line with another last column.
    pub fn with_proof(&self, proof: &str) -> String {
        format!("{} {proof} |", self.before)
    }
}

/// The rows of a page.
pub fn read(page: &str) -> Vec<Row> {
    page.lines().filter_map(Row::of).collect()
}

/// A check: its row, its name, and its function.
type Check = (&'static str, &'static str, fn() -> Result<(), Failed>);

/// Checks of rows about the cache, subscriptions, numbers of shards or costs.
pub const CHECKS: [Check; 4] = [
    ("D9", "a_popular_product_is_read_once", d09),
    ("D10", "a_price_that_is_set_reaches_those_who_listen", d10),
    ("D11", "shards_are_reckoned_as_in_the_deck", d11),
    ("D12", "an_operation_tells_what_it_costs", d12),
];

/// Of three requests, the first reads the table. The others get the same from the cache, which consumes nothing.
fn d09() -> Result<(), Failed> {
    let file = super::places("patterns").0.with_file_name("operations").join("d09_popular_product.graphql");
    let request = super::request(&std::fs::read_to_string(file)?, Value::Null);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (responses, calls) = runtime.block_on(async {
        let (gateway, recorder) = super::system("patterns").await;
        let mut responses = Vec::new();
        for _ in 0..3 {
            responses.push(super::run(&gateway, &request, true).await);
        }
        (responses, recorder.take().len())
    });
    let seen = |response: &Value| {
        let keyfold = &response["extensions"]["keyfold"];
        (response["data"].clone(), keyfold["calls"][0]["cached"] == true, keyfold["capacity"]["read"].as_f64())
    };
    let data = responses[0]["data"].clone();
    let expected = [(data.clone(), false, Some(0.5)), (data.clone(), true, Some(0.0)), (data, true, Some(0.0))];
    let is: Vec<_> = responses.iter().map(seen).collect();
    match (is == expected, calls) {
        (true, 1) => Ok(()),
        _ => Err(format!("{calls} calls gave {is:?}").into()),
    }
}

/// The operation of D10 that sets a price is one change of the product and one event, each for those who watch it.
fn d10() -> Result<(), Failed> {
    let file = super::places("patterns").0.with_file_name("operations").join("d10_set_price.graphql");
    let set_price = super::request(&std::fs::read_to_string(file)?, Value::Null);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let heard = runtime.block_on(async {
        let (gateway, _) = super::system("patterns").await;
        let hub = Hub::new(&gateway);
        let mut listeners = Vec::new();
        for field in [
            "priceChanges(productId: \"B00TSUGXKE\") { change node { price } previous { price } }",
            "productEvents(productId: \"B00TSUGXKE\") { kind price }",
        ] {
            let request = super::request(&format!("subscription {{ {field} }}"), Value::Null);
            let prepared = gateway.prepare(&request).await.map_err(|errors| format!("{errors:?}"))?;
            let mut responses = hub.subscribe(&gateway, prepared, request);
            // It begins to listen when it is asked.
            if tokio::time::timeout(std::time::Duration::from_millis(200), responses.next()).await.is_ok() {
                return Err(Failed::from("something was received before the price was set"));
            }
            listeners.push(responses);
        }
        super::run(&gateway, &set_price, false).await;
        let mut heard = Vec::new();
        for responses in &mut listeners {
            let response = tokio::time::timeout(std::time::Duration::from_secs(60), responses.next())
                .await
                .map_err(|_| "nothing is received")?;
            let body: Value = serde_json::from_slice(&response.ok_or("the subscription ended")?.body)?;
            heard.push(body["data"].clone());
        }
        Ok(heard)
    })?;
    let change = &heard[0]["priceChanges"];
    let is_right =
        change["change"] == "MODIFY" && change["node"]["price"] == "29.99" && change["previous"]["price"] != "29.99";
    match is_right && heard[1]["productEvents"] == serde_json::json!({ "kind": "PRICE_SET", "price": "29.99" }) {
        true => Ok(()),
        false => Err(format!("heard {heard:?}").into()),
    }
}

/// The loads of docs/operations.md need as many shards as it says. Among them are the deck's: 17 partitions for its
/// reads, and 100 for its writes.
fn d11() -> Result<(), Failed> {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/operations.md"))?;
    let section = page
        .split("\n## ")
        .find(|section| section.starts_with("Shards\n"))
        .ok_or("the page has no section about shards")?;
    let loads: Vec<Vec<&str>> = section.lines().filter_map(columns).collect();
    for load in &loads {
        let [items, size, reads, consistency, writes, by_reads, by_writes, shards] = load.as_slice() else {
            return Err(format!("{load:?} is no load").into());
        };
        let number = |text: &str| text.replace(',', "").parse::<u64>();
        let (items, size, reads, writes) = (number(items)?, number(size)?, number(reads)?, number(writes)?);
        let served: u64 = if *consistency == "eventual" { 6000 } else { 3000 };
        let held = served.checked_div(reads).map(|units| units * 4096 / size);
        let reading = held.map_or(Some(0), |held| (held > 0).then(|| items.div_ceil(held)));
        let writing = (size.div_ceil(1024) * writes).div_ceil(1000);
        let text = |number: Option<u64>| number.map_or_else(|| "none".to_owned(), |number| number.to_string());
        let reckoned = [text(reading), text(Some(writing)), text(reading.map(|reading| reading.max(writing)))];
        if reckoned != [*by_reads, *by_writes, *shards] {
            return Err(format!("{load:?} needs {reckoned:?}").into());
        }
    }
    let is_there = |load: &[&str]| loads.iter().any(|row| row == load);
    let reads = is_there(&["100,000", "200", "10", "strong", "0", "17", "0", "17"]);
    let writes = is_there(&["1", "200", "0", "strong", "100,000", "0", "100", "100"]);
    let bounds = [MIN_SPREAD, MAX_SPREAD] == [2, 100] && section.contains("more than 100");
    if reads && writes && bounds {
        Ok(())
    } else {
        Err("the page lacks a load of the deck, or the bounds of `{shard:n}`".into())
    }
}

/// The columns of a table's row that begins with a number.
fn columns(line: &str) -> Option<Vec<&str>> {
    let row = line.strip_prefix("| ")?.strip_suffix(" |")?;
    row.starts_with(|first: char| first.is_ascii_digit()).then(|| row.split(" | ").collect())
}

/// Summaries of three reports are one Query of 0.5 units. With the bodies of two, it is 1.5 units, because DynamoDB
/// rounds each body up separately. A transaction of two items is 4 write units. Its result is read strongly, for 1 read
/// unit.
fn d12() -> Result<(), Failed> {
    let cost = |operation: &str| -> Result<Value, Failed> {
        let file = super::places("patterns").0.with_file_name("operations").join(operation).with_extension("graphql");
        let request = super::request(&std::fs::read_to_string(file)?, Value::Null);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let response = runtime.block_on(async {
            let (gateway, _) = super::system("patterns").await;
            super::run(&gateway, &request, true).await
        });
        Ok(response["extensions"]["keyfold"]["capacity"].clone())
    };
    for (operation, read, write) in
        [("d05_inbox", 0.5, 0.0), ("d05_inbox_with_bodies", 1.5, 0.0), ("d06_buy_health", 1.0, 4.0)]
    {
        let is = cost(operation)?;
        if (is["read"].as_f64(), is["write"].as_f64()) != (Some(read), Some(write)) {
            return Err(format!("{operation} costs {is}, not {read} to read and {write} to write").into());
        }
    }
    Ok(())
}
