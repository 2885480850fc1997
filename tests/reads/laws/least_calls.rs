//! Queries take the fewest round trips, calls and read units that the oracle finds, whatever the schema and the items:
//! with rules and without, with a cache, and with indexes that lack some items. Each difference is printed by its kind.
//!
//! Of 10,298 operations (800 schemas from the seed 7000 on), 15 take a call or a round trip more, none takes two more
//! of either, and 2 take more read units:
//!
//! | operations | difference | why |
//! |---|---|---|
//! | 8 | a round trip or a call more | an earlier list has the item, and did not ask for all of its attributes |
//! | 3 | a round trip more | a page keeps to its wave, although what it waits for turns out to be known |
//! | 2 | a call more | one Query may fail to reach the second of two ranges, and something waits for it |
//! | 1 | a call more | what is below an object is read before that turns out to be missing |
//! | 1 | a call more | a list is read after a page of its range |
//! | 2 | half a unit or a unit more | an earlier list has the item, and a batch of Gets is made anyway |

use super::world::block_on;
use crate::naive::binding::Rules;
use crate::naive::document::Document;
use crate::naive::executor::Naive;
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::oracle::least::{Best, Search};
use crate::oracle::seen::{Call, Cost, Measured, Seen};
use crate::oracle::walk::Walk;
use crate::random::operations::{Maker, Pool, write};
use crate::random_operations::cases;
use crate::random_schema::{Rng, rules};
use crate::random_schemas::Made;
use crate::support;
use crate::support::lagging::Lagging;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::{Gateway, plan};
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::table::Table;
use keyfold::table::data::attribute::Item;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// How many operations of each schema are tried.
const EACH: u64 = 20;

/// A schema with items, and what else a law varies.
struct Setting {
    made: Made,
    caller: Caller,
    cache_bytes: u64,
    /// The items that indexes lack.
    late: HashSet<*const Item>,
}

impl Setting {
    fn random(seed: u64) -> Option<Self> {
        let mut rng = Rng::with_seed(seed ^ 0x6c_6561_7374);
        let (lags, is_cached, is_ruled) = (rng.bool(), rng.bool(), rng.u8(..3) == 0);
        let (made, caller) = match is_ruled {
            true => (Made::ruled(seed)?, support::caller(rules::claims(&mut rng))),
            false => (Made::of(seed)?, Caller::anonymous()),
        };
        let made = if is_cached { made.cached() } else { made };
        let late = if lags { late_items(&made, &mut rng) } else { HashSet::new() };
        Some(Self { made, caller, cache_bytes: if is_cached { 1 << 20 } else { 0 }, late })
    }

    /// A schema with computed fields, whose indexes lack nothing.
    fn computed(seed: u64) -> Option<Self> {
        let (made, caller) = (Made::computed(seed)?, Caller::anonymous());
        Some(Self { made, caller, cache_bytes: 0, late: HashSet::new() })
    }

    async fn store(&self, is_there: &dyn Fn(&Item) -> bool) -> TableStore {
        let store = TableStore::in_memory().unwrap();
        store.create_missing(&self.made.model.tables).await.unwrap();
        for (table, items) in self.made.model.tables.iter().zip(&self.made.items) {
            let items = items.iter().filter(|item| is_there(item)).cloned().collect();
            store.load(table, items, support::deadline()).await.unwrap();
        }
        store
    }

    fn measured(&self) -> Arc<Measured> {
        block_on(async {
            let now = self.store(&|_| true).await;
            let then = self.store(&|item| !self.late.contains(&std::ptr::from_ref(item))).await;
            Measured::new(Lagging::new((now, then), 0))
        })
    }
}

/// Items of which an index is behind. The replicas of an item are late together, because a read may take any of them.
fn late_items(made: &Made, rng: &mut Rng) -> HashSet<*const Item> {
    let mut late = HashMap::new();
    let mut is_late = |table: &Table, item: &Item| {
        let of_indexes = || (0..table.indexes.len()).flat_map(|index| table.keys_of(Some(index)).all());
        let is_key = |name: &str| table.primary_key().chain(of_indexes()).any(|key| key.name == name);
        let rest: BTreeMap<_, _> = item.members().filter(|(name, _)| !is_key(name)).collect();
        *late.entry(format!("{rest:?}")).or_insert_with(|| rng.u8(..8) == 0)
    };
    let tables = made.model.tables.iter().zip(&made.items);
    let items = tables.flat_map(|(table, items)| items.iter().map(move |item| (table, item)));
    items.filter(|(table, item)| is_late(table, item)).map(|(_, item)| std::ptr::from_ref(item)).collect()
}

/// What an operation takes, and the fewest; or why it is left out.
type Compared = Result<(Seen, Best), &'static str>;

fn compare(setting: &Setting, world: &World<'_>, measured: &Arc<Measured>, request: &Request) -> Compared {
    let document = Document::parse(&setting.made.model.api, &request.query, request.variables.clone());
    let document = document.map_err(|_| "no valid operation")?;
    let store: Arc<dyn DataStore> = measured.clone();
    let settings = Settings { max_aliases: 10_000, cache_bytes: setting.cache_bytes, ..support::settings() };
    let gateway = Gateway::new(setting.made.model.clone(), store, settings);
    let response = block_on(support::run(&gateway, request, false));
    let seen = measured.take();
    if response.get("errors").is_some() {
        return Err("errors");
    }
    let again = block_on(support::run(&gateway, request, false));
    let Cost { calls, .. } = measured.take().cost;
    assert!(again == response && calls <= seen.cost.calls, "{}: {calls} calls the second time", request.query);
    let cursors = Cursors::default();
    let needs = Walk::needs(Naive::new(world, &document, &cursors), (world, &document), &setting.late)?;
    let best = Search { world, late: &setting.late, needs: &needs }.best()?;
    Ok((seen, best))
}

#[test]
fn a_query_takes_the_fewest_calls() {
    take_the_fewest_calls(40, &Setting::random);
}

#[test]
fn a_query_of_computed_fields_takes_the_fewest_calls() {
    take_the_fewest_calls(20, &Setting::computed);
}

fn take_the_fewest_calls(usual: u64, setting: &dyn Fn(u64) -> Option<Setting>) {
    let (mut count, mut tried, mut more) = (BTreeMap::<String, usize>::new(), 0, 0);
    let (mut waiting, mut saved, mut far) = (0, 0, 0);
    let range = cases(usual);
    let schemas = range.end - range.start;
    for seed in range {
        let Some(setting) = setting(seed) else { continue };
        let Setting { made, caller, .. } = &setting;
        if made.sdl.contains("@auth(exists: ") {
            *count.entry("left out: rules that look up".to_owned()).or_default() += 1;
            continue;
        }
        let rules = Rules::of(&made.sdl);
        let world = World { model: &made.model, rules: &rules, items: &made.items, caller };
        let pool = Pool::of(&made.model, &made.items);
        let mut maker = Maker::new(&made.model, &pool, Rng::with_seed(seed));
        let measured = setting.measured();
        for _ in 0..EACH {
            let written = write(&maker.operation());
            let (query, variables) = (written.text, written.variables);
            let request = Request { caller: caller.clone(), query, variables, ..Request::default() };
            let (kind, by) = match compare(&setting, &world, &measured, &request) {
                Err(why) => (format!("left out: {why}"), 0),
                Ok((seen, best)) => {
                    tried += 1;
                    waiting += usize::from(best.by_waiting > 0);
                    saved += best.by_waiting;
                    let (kind, by) = difference(&seen, &best);
                    if by > 0 {
                        show((seed, &setting), &request, (&kind, &seen, &best));
                        more += 1;
                    }
                    (kind, by)
                }
            };
            far += usize::from(by > 1);
            *count.entry(kind).or_default() += 1;
        }
    }
    eprintln!("least calls: {count:#?}");
    eprintln!("least calls: {saved} calls fewer in {waiting} operations, if Gets waited for later ones");
    assert!(more * 100 <= tried, "{more} of {tried} operations take more than the fewest calls");
    assert_eq!(far, 0, "operations of {tried} that take several calls or round trips more");
    assert!(tried as u64 > 12 * schemas, "the law tries only {tried} operations");
}

/// How an operation differs from the fewest calls, and by how many calls or round trips at most.
fn difference(seen: &Seen, best: &Best) -> (String, usize) {
    let (own, least) = (&seen.cost, &best.cost);
    let above = |own: usize, least: usize| own.saturating_sub(least);
    let by = above(own.waves, least.waves).max(above(own.calls, least.calls));
    let (what, by) = match () {
        _ if own.waves > least.waves => ("a round trip more", by),
        _ if own.calls > least.calls => ("a call more", by),
        _ if (own.waves, own.calls) != (least.waves, least.calls) => return ("fewer".to_owned(), 0),
        _ if own.units > least.units + 0.1 => ("more read units", 1),
        _ if own.units < least.units - 0.1 => return ("fewer".to_owned(), 0),
        _ => return ("equal".to_owned(), 0),
    };
    (format!("{what}: {}", reason(&seen.calls)), by)
}

/// Why an operation takes more than the fewest calls.
fn reason(calls: &[Call]) -> &'static str {
    let pairs = || calls.iter().enumerate().flat_map(|(at, one)| calls[..at].iter().map(move |other| (other, one)));
    let queries = || pairs().filter(|(_, one)| !one.partition.is_empty());
    let beside = || queries().filter(|(other, one)| other.partition == one.partition);
    let again = || beside().filter(|(other, one)| other.range == one.range);
    match () {
        _ if calls.iter().any(|call| call.goes_on) => "a second page",
        _ if again().any(|(other, one)| other.wave != one.wave) => "a range again, in a later round trip",
        _ if again().next().is_some() => "a range twice in one round trip",
        _ if beside().any(|(other, one)| other.wave == one.wave) => "ranges of a partition in two Queries",
        _ => "another",
    }
}

/// Prints a difference.
fn show((seed, setting): (u64, &Setting), request: &Request, (kind, seen, best): (&str, &Seen, &Best)) {
    let model = &setting.made.model;
    let planned = plan(model, request, &support::settings()).map(|(plan, _)| plan.to_text(model)).unwrap_or_default();
    let calls: String = seen.calls.iter().map(|call| format!("{} {}\n", call.wave, call.text)).collect();
    let fewest: String = best.calls.iter().map(|(wave, text)| format!("{wave} {text}\n")).collect();
    let Request { query, variables, .. } = request;
    eprintln!("=== {seed}: {kind}\n{query}\n{variables:?}\n{:?}\n{calls}{:?}\n{fewest}{planned}", seen.cost, best.cost);
}
