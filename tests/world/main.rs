//! A simulated world: copies of the gateway, their clients, the store and what is between them, in one thread on a
//! clock of its own, as one seed has it. What callers get is checked: some order explains it, and nothing is left over.
//!
//! | file | what it is |
//! |---|---|
//! | `seams` | the chance and the time of the system, which a world makes its own |
//! | `weather` | how bad a world is |
//! | `store` | DynamoDB, as a model |
//! | `network` | what happens to calls on their way |
//! | `copies`, `copy` | the copies of the gateway, which die and begin |
//! | `bus` | what copies that share a stream say to each other |
//! | `program`, `work` | what clients do |
//! | `watch` | who subscribes to what they change |
//! | `run` | a world from its begin to its check |
//! | `shorten` | a failure with as few steps as can be |
//! | `step_report`, `sent`, `stored` | what steps got, what copies sent, and what the items of a table were, for the checks |
//! | `gates`, `clauses` | what is taken out, to see that it is missed |
//!
//! `cargo test --test world` runs the worlds of the corpus, and new ones for 20 seconds, or `KEYFOLD_WORLD_SECONDS`.
//! `-- --hours 1` runs new ones for an hour, `-- --seeds 1000` so many, and `-- --seed 7` one, and prints all of it.
//! `-- --gate tokens` takes a gate out of any of these.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod bus;
mod clauses;
mod copies;
mod copy;
mod gates;
mod network;
mod program;
mod run;
mod seams;
mod sent;
mod shorten;
mod step_report;
mod store;
mod stored;
mod watch;
mod weather;
mod work;

use gates::{GATES, TakenGate};
use keyfold::cli::selftest::histories::{cells, history};
use libtest_mimic::{Arguments, Failed, Trial};
use run::World;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Seeds in whose worlds something was wrong once.
const CORPUS: &str = include_str!("corpus.txt");

/// How many worlds may pass before one misses a gate.
const MAX_WORLDS_TO_MISS: u64 = 1000;

/// A world that takes longer is named.
const SLOW: Duration = Duration::from_secs(5);

/// How often a search says how far it is.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(60);

/// What a search for failures went through.
#[derive(Debug)]
struct Searched {
    worlds: u64,
    operations: usize,
    undecided: usize,
    lasted: Duration,
    failed: Option<u64>,
}

/// Runs the worlds of seeds, side by side on all processors, until one fails or `goes_on` says no.
fn search(first: u64, taken: Option<TakenGate>, goes_on: &(dyn Fn(u64) -> bool + Sync)) -> Searched {
    let begun_at = Instant::now();
    let (next, worlds) = (AtomicU64::new(0), AtomicU64::new(0));
    let (operations, undecided, failed) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(None::<u64>));
    let next_line = Mutex::new(begun_at + PROGRESS_INTERVAL);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if failed.lock().unwrap().is_some() || !goes_on(number) {
                        break;
                    }
                    let seed = first.wrapping_add(number);
                    let begun = Instant::now();
                    let ran = World::new(seed, taken).run();
                    if begun.elapsed() > SLOW {
                        println!("seed {seed} took {:.1} s", begun.elapsed().as_secs_f64());
                    }
                    let ended = worlds.fetch_add(1, Ordering::Relaxed) + 1;
                    let mut next_line = next_line.lock().unwrap();
                    if Instant::now() > *next_line {
                        println!("{ended} worlds from seed {first} in {:.0} s", begun_at.elapsed().as_secs_f64());
                        *next_line += PROGRESS_INTERVAL;
                    }
                    drop(next_line);
                    operations.fetch_add(ran.operations, Ordering::Relaxed);
                    undecided.fetch_add(ran.undecided, Ordering::Relaxed);
                    if !ran.wrong.is_empty() {
                        let mut failed = failed.lock().unwrap();
                        *failed = Some(failed.map_or(seed, |other| other.min(seed)));
                    }
                }
            });
        }
    });
    Searched {
        worlds: worlds.into_inner(),
        operations: operations.into_inner(),
        undecided: undecided.into_inner(),
        lasted: begun_at.elapsed(),
        failed: failed.into_inner().unwrap(),
    }
}

impl Searched {
    /// What was gone through, in a line.
    fn line(&self) -> String {
        let Self { worlds, operations, undecided, lasted, .. } = self;
        let rate = *operations as f64 / lasted.as_secs_f64();
        format!("{worlds} worlds, {operations} operations ({rate:.0} a second), {undecided} histories undecided")
    }

    fn result(&self, taken: Option<TakenGate>) -> Result<(), Failed> {
        println!("{}", self.line());
        match self.failed {
            Some(seed) => Err(shorten::report(World::new(seed, taken)).into()),
            None => Ok(()),
        }
    }
}

fn seconds() -> u64 {
    std::env::var("KEYFOLD_WORLD_SECONDS").map_or(20, |seconds| seconds.parse().expect("KEYFOLD_WORLD_SECONDS"))
}

fn corpus() -> Result<(), Failed> {
    let seeds = CORPUS.lines().filter_map(|line| line.split_whitespace().next()).filter(|word| *word != "#");
    for seed in seeds {
        let world = World::new(seed.parse().map_err(|error| format!("{seed}: {error}"))?, None);
        if !world.run().wrong.is_empty() {
            return Err(shorten::report(world).into());
        }
    }
    Ok(())
}

fn new_worlds() -> Result<(), Failed> {
    let end = Instant::now() + Duration::from_secs(seconds());
    search(fastrand::u64(..) >> 16, None, &|_| Instant::now() < end).result(None)
}

fn the_same_seed_is_the_same_world() -> Result<(), Failed> {
    for seed in 0..20 {
        let [one, other] = [(), ()].map(|()| World::new(seed, None).run());
        if one.digest() != other.digest() {
            let [one, other] = [one, other].map(|ran| [ran.wrong, ran.history, ran.schedule].concat());
            let same = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
            let lines = (one.get(same), other.get(same));
            return Err(format!("seed {seed} is two worlds: {lines:#?}").into());
        }
    }
    Ok(())
}

fn is_missed(name: &str, gate: TakenGate) -> Result<(), Failed> {
    let searched = search(gate.first_seed(), Some(gate), &|number| number < MAX_WORLDS_TO_MISS);
    println!("{name}: {}", searched.line());
    let Some(seed) = searched.failed else { return Err("no world misses it".into()) };
    // A call that is refused as wrong is not what the gate keeps from happening.
    let wrong = World::new(seed, Some(gate)).run().wrong;
    let is_missed = wrong.iter().any(|wrong| !wrong.contains("INTERNAL"));
    if is_missed { Ok(()) } else { Err(format!("seed {seed}: {}", wrong.join("\n")).into()) }
}

/// The value of an option, which is taken out of the arguments.
fn taken(arguments: &mut Vec<String>, option: &str) -> Option<String> {
    let at = arguments.iter().position(|argument| argument == option)?;
    arguments.remove(at);
    (at < arguments.len()).then(|| arguments.remove(at))
}

fn main() -> ExitCode {
    let mut arguments: Vec<String> = std::env::args().collect();
    let gate = taken(&mut arguments, "--gate");
    let gate = gate.map(|name| GATES.iter().find(|(known, _)| *known == name).expect("a gate").1);
    let number = |arguments: &mut Vec<String>, option| -> Option<u64> {
        taken(arguments, option).map(|number| number.parse().expect("a number"))
    };
    let hours = taken(&mut arguments, "--hours").map(|hours| hours.parse::<f64>().expect("a number of hours"));
    let first = number(&mut arguments, "--from").unwrap_or_else(|| fastrand::u64(..) >> 16);
    let found = if let Some(seed) = number(&mut arguments, "--seed") {
        let ran = World::new(seed, gate).run();
        println!("{}\n\n{}\n\n{}", ran.history.join("\n"), ran.schedule.join("\n"), ran.wrong.join("\n"));
        if ran.wrong.is_empty() { Ok(()) } else { Err(shorten::report(World::new(seed, gate)).into()) }
    } else if let Some(seeds) = number(&mut arguments, "--seeds") {
        search(first, gate, &|number| number < seeds).result(gate)
    } else if let Some(hours) = hours {
        let end = Instant::now() + Duration::from_secs_f64(hours * 3600.0);
        search(first, gate, &|_| Instant::now() < end).result(gate)
    } else {
        let mut trials = vec![
            Trial::test("the_same_seed_is_the_same_world", the_same_seed_is_the_same_world),
            Trial::test("corpus", corpus),
            Trial::test("new_worlds", new_worlds),
        ];
        trials.extend(GATES.map(|(name, gate)| Trial::test(format!("gates::{name}"), move || is_missed(name, gate))));
        // A search uses all processors.
        let arguments = Arguments { test_threads: Some(1), ..Arguments::from_iter(arguments) };
        libtest_mimic::run(&arguments, trials).exit();
    };
    let Err(failed): Result<(), Failed> = found else { return ExitCode::SUCCESS };
    println!("{}", failed.message().unwrap_or_default());
    ExitCode::FAILURE
}
