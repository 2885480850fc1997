//! Many items at once.

use crate::fixture::{deadline, fill, get, item, query, s, sort_key, table};
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::data::error::TableErrorKind;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;

/// All items by pages of `limit`, in order of their sort keys.
async fn all(store: &TableStore, limit: u32) -> Vec<Item> {
    let (mut items, mut start) = (Vec::new(), None);
    loop {
        let page = store.scan_page("things", start, limit, deadline()).await.unwrap();
        assert!(page.items.len() <= limit as usize);
        items.extend(page.items);
        start = page.last_key;
        if start.is_none() {
            break;
        }
    }
    items.sort_by_key(|item| format!("{:?}", item["SK"]));
    items
}

#[tokio::test]
async fn items_go_in_and_come_out_by_either_way() {
    for count in [0, 1, 25, 26, 1001] {
        for bulk in [true, false] {
            let store = TableStore::in_memory().unwrap();
            fill(&store, 0).await;
            assert!(store.is_empty("things", deadline()).await.unwrap());
            let items: Vec<Item> = (0..count).map(|i| item("p", &sort_key(i))).collect();
            let table = table("things");
            match bulk {
                true => store.load(&table, items.clone(), deadline()).await.unwrap(),
                false => store.put_batch(&table, items.clone(), deadline()).await.unwrap(),
            }
            assert_eq!(all(&store, 400).await, items, "{count} {bulk}");
            assert_eq!(store.is_empty("things", deadline()).await.unwrap(), count == 0);
        }
    }
}

#[tokio::test]
async fn items_with_one_key_last_stays_and_indexes_follow() {
    for bulk in [true, false] {
        let store = TableStore::in_memory().unwrap();
        fill(&store, 3).await;
        let with = |group: &str| {
            let mut item = item("p", "s#0001");
            item.insert("GroupId", s(group));
            item
        };
        let items = vec![with("first"), item("p", "new"), with("last")];
        match bulk {
            true => store.load(&table("things"), items, deadline()).await.unwrap(),
            false => store.put_batch(&table("things"), items, deadline()).await.unwrap(),
        }
        assert_eq!(all(&store, 100).await.len(), 4);
        let loaders = Loaders::new(&store, deadline());
        for (group, count) in [("first", 0), ("last", 1)] {
            let mut by_group = query("things", "p");
            by_group.index = Some("ByGroup".into());
            by_group.partition = Some(("GroupId".into(), keyfold::table::data::attribute::KeyValue::S(group.into())));
            by_group.projection = None;
            assert_eq!(loaders.query(&by_group).await.unwrap().count, count, "{group} {bulk}");
        }
    }
}

#[tokio::test]
async fn items_that_the_table_cannot_take_are_refused() {
    let store = TableStore::in_memory().unwrap();
    fill(&store, 1).await;
    let mut no_key = item("p", "a");
    no_key.remove("SK");
    let mut large = item("p", "a");
    large.insert("text", s("x".repeat(400 * 1024)));
    let mut wrong_type = item("p", "a");
    wrong_type.insert("SK", Attribute::N("1".into()));
    for bulk in [true, false] {
        for refused in [no_key.clone(), large.clone(), wrong_type.clone()] {
            let table = table("things");
            let error = match bulk {
                true => store.load(&table, vec![refused], deadline()).await.unwrap_err(),
                false => store.put_batch(&table, vec![refused], deadline()).await.unwrap_err(),
            };
            assert_eq!(error.kind, TableErrorKind::Invalid, "{bulk} {error}");
        }
        let mut missing = table("things");
        missing.name = "missing".into();
        let error = match bulk {
            true => store.load(&missing, vec![item("p", "a")], deadline()).await.unwrap_err(),
            false => store.put_batch(&missing, vec![item("p", "a")], deadline()).await.unwrap_err(),
        };
        assert_eq!(error.kind, TableErrorKind::NoSuchTable, "{bulk} {error}");
    }
    let found = Loaders::new(&store, deadline()).get(&[get("things", "p", "a"), get("things", "p", "s#0000")]).await;
    assert!(found[0].as_ref().unwrap().is_none() && found[1].as_ref().unwrap().is_some());
}
