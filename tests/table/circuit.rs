//! A table that does not answer: who gets an error at once, who continues, and how the store notices its return. Time
//! is paused.

use crate::applied::Applied;
use crate::fixture::{count_up, deadline, query, table};
use crate::scripted::{Reply, Server};
use futures_util::future::join_all;
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn no_items() -> Reply {
    Reply::ok(json!({ "Items": [], "Count": 0, "ScannedCount": 0 }))
}

/// A server that answers as long as the switch is on, and otherwise does what `reply` says.
fn switched(reply: fn() -> Reply) -> (Arc<AtomicBool>, Server) {
    let on = Arc::new(AtomicBool::new(true));
    let switch = on.clone();
    (on, Server::new(move |_, _, _| if switch.load(Ordering::SeqCst) { no_items() } else { reply() }))
}

/// The outcome of a Query of another request, and how long it took.
async fn ask(store: &TableStore) -> (Option<TableError>, Duration) {
    let begun = Instant::now();
    let page = Loaders::new(store, deadline()).query(&query("things", "p")).await;
    (page.err(), begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn others_get_an_error_at_once_until_the_table_is_back() {
    for reply in [(|| Reply::Never) as fn() -> Reply, || Reply::Reset, || Reply::Refused] {
        let (on, server) = switched(reply);
        let store = TableStore::over(server.clone());
        assert!(ask(&store).await.0.is_none());
        on.store(false, Ordering::SeqCst);
        let first = join_all((0..20).map(|_| ask(&store))).await;
        for (error, time) in first {
            assert!(error.is_some() && time <= Duration::from_secs(8), "those that found out waited {time:?}");
        }
        // One attempt a second, whatever the number of requests.
        let (begun, before) = (Instant::now(), server.requests());
        let mut slow = 0;
        for _ in 0..200 {
            let (error, time) = ask(&store).await;
            let error = error.unwrap();
            if time > Duration::ZERO {
                slow += 1;
            } else {
                assert_eq!(error.kind, TableErrorKind::Unavailable);
                assert!(error.detail.contains("table things has not answered for "), "{error}");
            }
            sleep(Duration::from_millis(50)).await;
        }
        let probes = begun.elapsed().as_secs() as usize + 1;
        assert!(
            slow <= probes && server.requests() - before <= probes,
            "{slow} probes of {} requests",
            server.requests() - before
        );
        assert!(server.requests() > before, "it is asked");
        let error = store.ready(&[table("things")]).await.unwrap_err();
        assert!(error.detail.contains("has not answered for "), "{error}");
        on.store(true, Ordering::SeqCst);
        sleep(Duration::from_secs(1)).await;
        let answers = join_all((0..20).map(|_| ask(&store))).await;
        assert!(answers.iter().filter(|(error, _)| error.is_none()).count() >= 1, "the first is the probe");
        assert!(ask(&store).await.0.is_none(), "and its answer lets all through");
    }
}

#[tokio::test(start_paused = true)]
async fn answers_of_any_kind_open_nothing() {
    for reply in [
        (|| Reply::error(400, "ThrottlingException")) as fn() -> Reply,
        || Reply::error(400, "ValidationException"),
        || Reply::error(400, "AccessDeniedException"),
        || Reply::error(500, "InternalServerError"),
        || Reply::Body(503, "<html>busy</html>".into()),
    ] {
        let (on, server) = switched(reply);
        let store = TableStore::over(server);
        on.store(false, Ordering::SeqCst);
        let soon = Instant::now() + Duration::from_secs(8);
        join_all((0..20).map(|_| async { Loaders::new(&store, soon).query(&query("things", "p")).await.unwrap_err() }))
            .await;
        on.store(true, Ordering::SeqCst);
        assert!(ask(&store).await.0.is_none());
    }
}

#[tokio::test(start_paused = true)]
async fn few_calls_that_are_late_open_nothing() {
    let server = Server::new(|before, _, _| if before % 3 == 0 { Reply::Never } else { no_items() });
    let store = TableStore::over(server);
    for _ in 0..50 {
        assert!(ask(&store).await.0.is_none());
    }
}

/// A transaction that may have been made continues until the table shows whether it was.
#[tokio::test(start_paused = true)]
async fn what_is_in_doubt_goes_on() {
    let begun = Instant::now();
    let applied = Arc::new(Applied::new());
    let engine = applied.clone();
    let server = Server::new(move |before, operation, body: Value| {
        let answer = engine.apply(operation, body);
        // The first one is made, and its answer is delayed.
        if begun.elapsed() < Duration::from_secs(12) || before == 0 { Reply::Reset } else { answer }
    });
    let store = TableStore::over(server);
    let loaders = Loaders::new(&store, deadline());
    loaders.transact(&[count_up("a"), count_up("b")], "token").await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(16), "{:?}", begun.elapsed());
    assert_eq!((applied.count("a"), applied.count("b")), (Some("1".into()), Some("1".into())), "once");
}
