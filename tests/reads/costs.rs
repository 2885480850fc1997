//! What a query costs is never above what `atMost` says before it runs: its calls and its read units. On random items of random schemas, and
//! on the items of every system.

use crate::goldens::{items, named, rules_of};
use crate::naive::binding::Rules;
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::random::operations::{Maker, Pool};
use crate::random::trial::{Seen, Trial};
use crate::random_operations::{MOST, SYSTEMS, cases, settings};
use crate::random_schema::Rng;
use crate::random_schemas::Made;
use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::table::store::TableStore;

/// Runs random operations, each page by page. Gives the first that costs more than was said.
fn excess(trial: &Trial<'_>, maker: &mut Maker<'_>, operations: usize) -> Option<String> {
    for _ in 0..operations {
        let mut set = maker.operation();
        let mut cursors = Cursors::default();
        for _ in 0..3 {
            if let Some(excess) = trial.costs_more(&set) {
                return Some(excess);
            }
            trial.differs(&set, &mut cursors, &mut Seen::default());
            set = trial.turned(&set, &cursors, &mut maker.rng);
        }
    }
    None
}

#[test]
fn a_query_on_any_schema_costs_at_most_what_is_said_before() {
    let mut failures: Vec<String> = Vec::new();
    for seed in cases(20) {
        let Some(made) = Made::of(seed) else { continue };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = TableStore::in_memory().unwrap();
        runtime.block_on(async {
            store.create_missing(&made.model.tables).await.unwrap();
            for (table, items) in made.model.tables.iter().zip(&made.items) {
                store.load(table, items.clone(), support::deadline()).await.unwrap();
            }
        });
        let gateway = Gateway::new(made.model.clone(), store, settings(&mut Rng::with_seed(seed)));
        let rules = Rules::of(&made.sdl);
        let world = World { model: &made.model, rules: &rules, items: &made.items, caller: &Caller::nobody() };
        let pool = Pool::of(&made.model, &made.items);
        let trial = Trial { gateway: &gateway, world: &world, runtime: &runtime };
        let mut maker = Maker::new(&made.model, &pool, Rng::with_seed(seed));
        failures.extend(excess(&trial, &mut maker, 12).map(|excess| format!("seed {seed}: {excess}\n{}", made.sdl)));
        if failures.len() >= MOST {
            break;
        }
    }
    assert!(failures.is_empty(), "{} operations cost more:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn a_query_costs_at_most_what_is_said_before() {
    let mut failures: Vec<String> = Vec::new();
    for system in SYSTEMS {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let model = support::unruled_model(system);
        let store = TableStore::in_memory().unwrap();
        runtime.block_on(support::fill(&store, &model, system));
        let caller = support::first_caller(system);
        let items = named(&model, &caller, items(system, &model));
        let rules = rules_of(system);
        let world = World { model: &model, rules: &rules, items: &items, caller: &caller };
        let pool = Pool::of(&model, &items);
        for seed in cases(60) {
            let mut rng = Rng::with_seed(seed);
            let gateway = Gateway::new(model.clone(), store.clone(), settings(&mut rng));
            let trial = Trial { gateway: &gateway, world: &world, runtime: &runtime };
            let found = excess(&trial, &mut Maker::new(&model, &pool, rng), 1);
            failures.extend(found.filter(|_| failures.len() < MOST).map(|excess| format!("{system}, seed {seed}: {excess}")));
        }
    }
    assert!(failures.is_empty(), "{} operations cost more:\n\n{}", failures.len(), failures.join("\n\n"));
}
