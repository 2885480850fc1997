//! An item that an operation has read is not asked for again in a later wave.

use crate::support;
use crate::support::golden::Case;
use crate::support::rereads::{Rereads, Seen};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::plan::passes::Passes;
use keyfold::schema::model::Model;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use std::sync::Arc;

/// What an operation's calls do. Those that write get a store of their own.
async fn seen(case: &Case, model: &Arc<Model>, shared: &TableStore, passes: Passes) -> Seen {
    let request = case.request().unwrap();
    let store = match request.query.contains("mutation") {
        true => {
            let own = TableStore::in_memory().unwrap();
            support::fill(&own, model, &case.system).await;
            own
        }
        false => shared.clone(),
    };
    let rereads = Rereads::new(store);
    let store: Arc<dyn DataStore> = rereads.clone();
    let gateway = Gateway::new(model.clone(), store, Settings { passes, ..support::settings() });
    support::run(&gateway, &request, false).await;
    rereads.take()
}

#[test]
fn no_golden_asks_again_for_what_it_has_read() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let without = Passes { known_items: false, ..Passes::default() };
    let (mut gets, mut unknown, mut again) = (0, 0, String::new());
    let cases = support::golden::cases();
    for cases in cases.chunk_by(|one, other| one.system == other.system) {
        let model = support::model(&cases[0].system);
        let shared = TableStore::in_memory().unwrap();
        runtime.block_on(support::fill(&shared, &model, &cases[0].system));
        for case in cases {
            let known = runtime.block_on(seen(case, &model, &shared, Passes::default()));
            gets += known.gets;
            again.extend(known.again.iter().map(|key| format!("{case:?} {key}\n")));
            if !case.request().unwrap().query.contains("mutation") {
                again.extend(known.in_vain.iter().map(|key| format!("{case:?} {key}, for nothing\n")));
                let other = runtime.block_on(seen(case, &model, &shared, without));
                unknown += other.again.len() + other.in_vain.len();
            }
        }
    }
    eprintln!("known: {gets} Gets; {unknown} more ask again without what is known");
    assert!(again.is_empty(), "asked for again:\n{again}");
    assert!(gets > 700 && unknown > 20, "{gets} Gets, {unknown} more without what is known");
}
