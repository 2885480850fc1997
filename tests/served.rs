//! The pantry over HTTP, as clients use it: each test has its own `keyfold`, on the embedded store and, with the same code, over a socket
//! to a DynamoDB-compatible server.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

#[path = "served/asked_server.rs"]
mod asked_server;
#[path = "served/backend.rs"]
mod backend;
#[path = "served/data.rs"]
mod data;
#[path = "served/dev.rs"]
mod dev;
#[path = "served/disk.rs"]
mod disk;
#[path = "served/dynamo.rs"]
mod dynamo;
#[path = "served/golden.rs"]
mod golden;
#[path = "support/golden_file.rs"]
mod golden_file;
#[path = "served/large.rs"]
mod large;
#[path = "served/late.rs"]
mod late;
#[path = "served/mistakes.rs"]
mod mistakes;
#[path = "served/pages.rs"]
mod pages;
#[path = "served/process.rs"]
mod process;
#[path = "served/proxies.rs"]
mod proxies;
#[path = "served/reload.rs"]
mod reload;
#[path = "served/server.rs"]
mod server;
#[path = "served/tls.rs"]
mod tls;
#[path = "served/watched.rs"]
mod watched;
#[path = "served/waves.rs"]
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
    mistakes::a_mistake_is_told_with_its_code_and_place,
    mistakes::odd_values_are_values,
    mistakes::too_much_is_refused_at_once,
    mistakes::what_is_told_has_a_bound,
    pages::page_by_page_is_all_at_once,
    pages::a_cursor_is_good_where_it_came_from,
    pages::sizes_have_their_bounds,
    waves::three_waves_and_six_calls,
    waves::a_deep_query_reads_each_key_and_asks_each_question_once,
    waves::people_in_three_tables_cost_a_batch_a_wave,
    waves::an_explanation_tells_plan_calls_and_capacity,
}
