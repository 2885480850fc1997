//! The embedded store in a directory, and its expiry of items.

use crate::fixture::{deadline, fill, get, item, query, s, sort_key, table};
use keyfold::schema::table::Table;
use keyfold::table::data::attribute::Attribute;
use keyfold::table::data::call::Query;
use keyfold::table::data::error::TableErrorKind;
use keyfold::table::data_store::DataStore;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use std::time::{Duration, SystemTime};

#[tokio::test]
async fn data_survives_a_restart_and_a_second_process_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("made/when missing");
    let store = TableStore::in_directory(&directory).unwrap();
    fill(&store, 30).await;

    let refused = TableStore::in_directory(&directory).err().unwrap();
    assert_eq!(refused.kind, TableErrorKind::Unavailable);
    assert!(
        refused.detail.contains("in use by another process") && refused.detail.contains("when missing"),
        "{refused}"
    );

    let clone = store.clone();
    drop(store);
    assert!(TableStore::in_directory(&directory).is_err(), "a clone holds the directory too");
    drop(clone);

    let store = TableStore::in_directory(&directory).unwrap();
    assert!(store.create_missing(&[table("things")]).await.unwrap().is_empty(), "the table is there");
    let page = Loaders::new(&store, deadline()).query(&query("things", "p")).await.unwrap();
    let keys: Vec<Attribute> = page.items.iter().map(|item| item["SK"].clone()).collect();
    assert_eq!(keys, (0..30).map(|i| s(sort_key(i))).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_reported() {
    let parent = tempfile::tempdir().unwrap();
    let file = parent.path().join("file");
    std::fs::write(&file, "no directory").unwrap();
    let error = TableStore::in_directory(&file).err().unwrap();
    assert!(error.detail.contains("cannot create the data directory"), "{error}");
}

/// Damages of a data file, and the message for each.
#[tokio::test]
async fn a_broken_data_file_is_reported_at_once() {
    let parent = tempfile::tempdir().unwrap();
    let store = TableStore::in_directory(parent.path()).unwrap();
    fill(&store, 2000).await;
    drop(store);
    let file = parent.path().join("keyfold.db");
    let whole = std::fs::read(&file).unwrap();
    let damaged = |from: usize, to: usize| {
        let mut bytes = whole.clone();
        bytes[from..to].fill(0xab);
        bytes
    };
    let pages = whole.len() / 4096;
    for (bytes, words) in [
        (Vec::new(), "is empty; replace it with a copy"),
        (whole[..whole.len() / 2].to_vec(), "is cut off: it has "),
        (b"this is no database, however long one reads on in it".repeat(50), "is not a database of Keyfold"),
        (damaged(16, 24), "its header is broken"),
        (damaged(100, 4096), "the data file is damaged"),
        (damaged(4096, pages / 2 * 4096), "the data file is damaged"),
        (damaged(pages / 2 * 4096, pages * 4096), "the data file is damaged"),
    ] {
        std::fs::write(&file, bytes).unwrap();
        let error = TableStore::in_directory(parent.path()).err().unwrap_or_else(|| panic!("{words}: it was opened"));
        assert!(error.detail.contains(words), "{words}: {error}");
        assert_eq!(error.detail.lines().count(), 1, "{error}");
    }
    std::fs::write(&file, whole).unwrap();
    assert!(TableStore::in_directory(parent.path()).is_ok(), "nothing was changed");
}

#[test]
fn a_store_can_be_made_outside_a_run_time() {
    let store = TableStore::in_memory().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        fill(&store, 1).await;
        assert!(
            Loaders::new(&store, deadline()).get(&[get("things", "p", "s#0000")]).await[0].as_ref().unwrap().is_some()
        );
    });
}

#[tokio::test(start_paused = true)]
async fn expired_items_are_deleted_and_others_stay() {
    let store = TableStore::in_memory().unwrap();
    fill(&store, 0).await;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let expiring = |sk: &str, at: u64| {
        let mut item = item("p", sk);
        item.insert("ttl", Attribute::N(at.to_string().into()));
        item
    };
    let items = vec![expiring("expired", now - 3600), expiring("later", now + 360_000), item("p", "never")];
    store.load(&table("things"), items, deadline()).await.unwrap();
    let keys = async || {
        let page = Loaders::new(&store, deadline()).query(&query("things", "p")).await.unwrap();
        page.items.iter().map(|item| item["SK"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(keys().await.len(), 3);
    // Time is paused: this lets the store's own timer fire, and its sweep finish.
    tokio::time::sleep(Duration::from_secs(90)).await;
    assert_eq!(keys().await, [s("later"), s("never")]);
}

/// A page of one item may be the last one without saying so. The next one is empty.
#[tokio::test]
async fn pages_of_a_table_without_a_sort_key_end() {
    let store = TableStore::in_memory().unwrap();
    let flat = Table { sort: None, indexes: Vec::new(), ..table("flat") };
    store.create_missing(std::slice::from_ref(&flat)).await.unwrap();
    let mut only = item("p", "s");
    only.remove("SK");
    store.load(&flat, vec![only], deadline()).await.unwrap();
    let first = Query { limit: 1, ..query("flat", "p") };
    let (page, _) = DataStore::read_page(&store, &first, deadline().into()).await.unwrap();
    assert_eq!((page.items.len(), page.last_key.is_some()), (1, true));
    let next = Query { start: page.last_key, ..first };
    let (page, units) = DataStore::read_page(&store, &next, deadline().into()).await.unwrap();
    assert_eq!((page.items.len(), page.last_key, units), (0, None, 0.0));
}
