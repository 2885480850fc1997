//! `keyfold serve` as a Lambda function, on an emulation of the runtime API: events of every form in, the answers that
//! their senders need out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod callers;
mod cold_start;
#[path = "../support/collector.rs"]
mod collector;
mod events;
mod goldens;
#[path = "../support/process.rs"]
mod process;
mod runtime;
mod starts;
mod store;
mod streams;
#[path = "../support/mod.rs"]
mod support;
mod transport;

/// Runs each scenario.
macro_rules! scenarios {
    ($($module:ident::$scenario:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $scenario() { $module::$scenario().await }
        )*
    };
}

/// `cargo test --release --test lambda cold_start -- --ignored --nocapture`
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it measures"]
async fn cold_start() {
    cold_start::the_first_answer_comes_soon().await;
}

scenarios! {
    goldens::every_golden_answers_the_same_in_every_form,
    transport::a_query_by_get_is_read_in_every_form,
    transport::a_body_in_base64_is_read,
    transport::a_compressed_answer_reaches_the_client_in_every_form,
    transport::other_paths_have_their_own_answers,
    transport::a_route_or_a_stage_is_not_part_of_the_path,
    transport::rate_limit_counts_by_the_address_that_the_sender_saw,
    transport::headers_keep_all_their_values,
    transport::what_is_no_request_is_refused,
    transport::an_operation_ends_before_lambda_ends_it,
    transport::an_answer_that_is_too_large_says_so,
    streams::a_large_answer_is_streamed,
    streams::senders_that_cannot_stream_get_an_object,
    streams::events_are_streamed_until_the_time_is_over,
    streams::without_streaming_there_are_no_events,
    starts::what_is_wrong_at_the_start_is_reported_to_lambda,
    starts::without_arguments_a_function_serves,
    starts::a_function_that_is_asked_to_stop_ends,
    starts::after_a_freeze_a_function_goes_on,
    starts::spans_are_sent_before_lambda_stops_the_process,
    starts::a_part_of_lambda_s_environment_is_a_mistake,
    starts::listen_has_no_effect,
}
