//! The pantry over HTTP, as clients use it: each test has its own `keyfold`, on the embedded store and, with the same
//! code, over a socket to a DynamoDB-compatible server.
//!
//! `http` are the server's protocol and its limits, in this process; `telemetry` is what an operator sees of a running
//! server; `commands` are the commands that end by themselves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod asked_server;
mod backend;
#[path = "../support/collector.rs"]
mod collector;
mod commands;
mod data;
mod dev;
mod disk;
#[path = "../support/dynamo.rs"]
mod dynamo;
mod first_schema;
mod golden;
#[path = "../support/golden_file.rs"]
mod golden_file;
mod http;
mod in_program;
mod large;
mod late;
#[path = "../support/machine.rs"]
mod machine;
mod mistakes;
mod pages;
#[path = "../support/process.rs"]
mod process;
mod proxies;
mod reload;
#[path = "../support/server.rs"]
mod server;
mod slips;
mod telemetry;
mod tls;
mod watched;
mod waves;

/// Runs each scenario on both stores.
macro_rules! on_both_stores {
    ($($module:ident::$scenario:ident),* $(,)?) => {
        mod embedded {
            $(#[tokio::test] async fn $scenario() { super::$module::$scenario(super::server::Behind::Embedded).await })*
        }
        mod socket {
            $(#[tokio::test] async fn $scenario() { super::$module::$scenario(super::server::Behind::Socket).await })*
        }
    };
}

on_both_stores! {
    golden::every_golden_answers_the_same,
    mistakes::a_mistake_is_reported_with_its_code_and_place,
    mistakes::odd_values_are_values,
    mistakes::too_much_is_refused_at_once,
    mistakes::what_is_reported_has_a_bound,
    pages::page_by_page_is_all_at_once,
    pages::a_cursor_is_good_where_it_came_from,
    pages::sizes_have_their_bounds,
    waves::three_waves_and_six_calls,
    waves::a_deep_query_reads_each_key_and_asks_each_question_once,
    waves::people_in_three_tables_cost_a_batch_a_wave,
    waves::an_explanation_tells_plan_calls_and_capacity,
}
