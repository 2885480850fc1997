//! Random operations on the items of every system return what the naive executor returns.

use crate::goldens::{items, named, rules_of};
use crate::naive::model_check::disagreements;
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::random::operations::{Maker, Pool};
use crate::random::trial::{Seen, Trial};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::table::store::TableStore;

pub const SYSTEMS: [&str; 13] = [
    "pantry",
    "timeline",
    "workshop",
    "shards",
    "cycles",
    "patterns",
    "audiobooks",
    "practice",
    "company",
    "editions",
    "contacts",
    "tally",
    "feeds",
];

/// The most failures to search for; each is reduced to the smallest.
pub const MOST: usize = 8;

/// The number of cases of a law: `KEYFOLD_LAW_CASES` from `KEYFOLD_LAW_SEED` on, or this many from 0.
pub fn cases(usual: u64) -> std::ops::Range<u64> {
    let set = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = set("KEYFOLD_LAW_SEED").unwrap_or(0);
    first..first + set("KEYFOLD_LAW_CASES").unwrap_or(usual)
}

/// Limits that no random operation reaches, and plans with any of their savings.
pub fn settings(rng: &mut fastrand::Rng) -> Settings {
    Settings { max_aliases: 10_000, ..support::any_settings(rng) }
}

/// Tries a law on this number of operations on a system's items, each on a gateway of its own.
pub fn on_system(system: &str, usual: u64, law: &mut dyn FnMut(u64, &Trial<'_>, &mut Maker<'_>)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let model = support::unruled_model(system);
    let store = TableStore::in_memory().unwrap();
    runtime.block_on(support::fill(&store, &model, system));
    let caller = support::first_caller(system);
    let items = named(&model, &caller, items(system, &model));
    let rules = rules_of(system);
    let otherwise = disagreements(&model, &rules);
    assert!(otherwise.is_empty(), "{system}: {otherwise:#?}");
    let world = World { model: &model, rules: &rules, items: &items, caller: &caller };
    let pool = Pool::of(&model, &items);
    for seed in cases(usual) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let gateway = Gateway::new(model.clone(), store.clone(), settings(&mut rng));
        let trial = Trial { gateway: &gateway, world: &world, runtime: &runtime };
        law(seed, &trial, &mut Maker::new(&model, &pool, rng));
    }
}

#[test]
fn a_query_gives_what_reading_field_by_field_gives() {
    let mut all = Seen::default();
    let mut failures: Vec<String> = Vec::new();
    for system in SYSTEMS {
        let mut seen = Seen::default();
        on_system(system, 60, &mut |seed, trial, maker| {
            let mut set = maker.operation();
            let mut cursors = Cursors::default();
            for _ in 0..3 {
                if failures.len() >= MOST {
                    break;
                }
                let before = cursors.clone();
                if trial.differs(&set, &mut cursors, &mut seen).is_some() {
                    failures.push(format!("{system}, seed {seed}: {}", trial.minimised(&set, &before)));
                    break;
                }
                set = trial.turned(&set, &cursors, &mut maker.rng);
            }
        });
        eprintln!("{system}: {seen:?}");
        all.add(&seen);
    }
    assert!(failures.is_empty(), "{} operations differ:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(all.there * 3 > all.roots, "most root fields give nothing: {all:?}");
    assert!(all.errors > 0 && all.going_on * 20 > all.pages && all.pages > 0, "{all:?}");
}
