//! The steps of a world → its history, and what is wrong with it.

use crate::bus::{LEASES, Wires};
use crate::cells::CellOperation;
use crate::copies::Copies;
use crate::copy::{Parts, REQUEST_LIMIT};
use crate::gates::TakenGate;
use crate::history::{CallerOutcome, Explanation, HistoryEvent, Sequential, explain};
use crate::network::Network;
use crate::program::{COPIES, Step, program};
use crate::seams;
use crate::step_report::StepReport;
use crate::store::ModelStore;
use crate::store::data::attribute::Attribute;
use crate::store::state::StreamClock;
use crate::watch::Subscriber;
use crate::weather::{Weather, rng_for};
use crate::work::Work;
use crate::work::accounts::AccountOperation;
use crate::work::albums::AlbumOperation;
use crate::work::books::{self, BookOperation};
use crate::work::cards::CardOperation;
use crate::work::counters::CounterOperation;
use crate::work::diaries::DiaryOperation;
use crate::work::polls::PollOperation;
use crate::work::posters::PosterOperation;
use crate::work::purses::{self, PurseOperation};
use crate::work::rooms::RoomOperation;
use crate::work::{ladders, menus, tickets};
use keyfold::cli::selftest::histories::people::PersonOperation;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::admin::definition::create_table_input;
use keyfold::table::stream::shared::lease_table;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

const SCHEMA: &str = include_str!("world.graphql");

/// How long a world is calm before it is looked at: longer than anything that was on its way.
const CALM: Duration = Duration::from_secs(30);

/// How often a client sends a request with a key before it gives up.
const ATTEMPTS: usize = 8;

/// The longest time for which a call is on its way to the store.
const ON_THE_WAY: Duration = Duration::from_secs(2);

/// The most states that the search for an order visits: it takes a second or two.
const MAX_STATES: usize = 8_000;

/// The models of all worlds, made by the chance of none of them: as the schema has it, without its rules, and with a
/// cache in which everything stays.
static MODELS: LazyLock<[Arc<Model>; 3]> = LazyLock::new(|| {
    let load = |text: &str| {
        seams::seed(0);
        match schema::load("world.graphql", text, &|_| None) {
            Ok((model, _)) => model,
            Err(mistakes) => panic!("{}", mistakes.render(false)),
        }
    };
    let ageless = SCHEMA.replace("maxAge: 1", "maxAge: 1000");
    let load_all = move || [load(SCHEMA), load(SCHEMA).without_rules(), load(&ageless)].map(Arc::new);
    std::thread::spawn(load_all).join().unwrap()
});

/// A world: its seed, its steps, and the gate that its copies do without.
#[derive(Debug, Clone)]
pub struct World {
    pub seed: u64,
    pub weather: Weather,
    pub steps: Vec<Step>,
    pub taken: Option<TakenGate>,
}

/// What happened in a world.
#[derive(Debug, Default)]
pub struct Ran {
    /// What is wrong, if anything is.
    pub wrong: Vec<String>,
    /// What callers got, in the order of the ends.
    pub history: Vec<String>,
    /// What happened to calls and copies.
    pub schedule: Vec<String>,
    /// How many operations were run.
    pub operations: usize,
    /// How many histories the search for an order gave up.
    pub undecided: usize,
}

/// What clients got so far.
#[derive(Default)]
struct Recorder {
    clock: AtomicU64,
    events: Mutex<Vec<HistoryEvent<Step>>>,
    reports: Mutex<Vec<StepReport>>,
}

impl World {
    /// The world of a seed.
    pub fn new(seed: u64, taken: Option<TakenGate>) -> Self {
        let weather = Weather::new(&mut rng_for(seed, "weather"));
        let steps = program(&mut rng_for(seed, "steps"), weather);
        Self { seed, weather, steps, taken }
    }

    /// Lets the world happen, on a thread of its own.
    pub fn run(&self) -> Ran {
        let world = self.clone();
        let thread = std::thread::Builder::new().name(format!("world {}", self.seed));
        thread.spawn(move || world.happen()).unwrap().join().unwrap_or_else(|panic| {
            let said = panic.downcast_ref::<String>().cloned();
            let said = said.or_else(|| panic.downcast_ref::<&str>().map(|said| (*said).to_owned()));
            Ran::broken(format!("a panic: {}", said.unwrap_or_default()))
        })
    }

    fn happen(self) -> Ran {
        // What all worlds share is made by the first.
        let model = match self.taken {
            Some(TakenGate::Rules) => MODELS[1].clone(),
            Some(TakenGate::CacheAge) => MODELS[2].clone(),
            _ => MODELS[0].clone(),
        };
        seams::seed(self.seed);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let ran = runtime.block_on(async {
            seams::begin();
            self.live(model).await
        });
        seams::end();
        ran
    }

    async fn live(self, model: Arc<Model>) -> Ran {
        let leases = lease_table::definition(LEASES);
        let tables: Vec<Value> = model.tables.iter().chain([&leases]).map(create_table_input).collect();
        let store = ModelStore::new(&tables, seams::BEGIN * 1000);
        let network = Network::new((self.seed, self.weather), store, self.taken);
        let caches = self.steps.iter().any(|step| matches!(step.work, Work::Menu(_)));
        let follows = rng_for(self.seed, "hubs").bool();
        let wires = self.weather.bus.map(|_| Wires::new(network.clone()));
        let copies = Copies::start(Parts { network: network.clone(), model, caches, follows, wires: wires.clone() });
        let recorder = Arc::<Recorder>::default();
        network
            .store
            .lock()
            .unwrap()
            .set_stream_clock(StreamClock { behind: self.weather.stream_behind, rounded: self.weather.stream_rounded });
        let deaths = tokio::spawn(copies.clone().die_and_begin());
        let splits = tokio::spawn(network.clone().split());
        if let Some(wires) = wires {
            tokio::spawn(wires.leave_and_come_back());
        }
        let mut rng = rng_for(self.seed, "subscribers");
        let cells = self.cells();
        let watched = cells.iter().filter(|_| self.weather.bus.is_some() || rng.u8(..4) == 0).collect::<Vec<_>>();
        let subscribers: Vec<_> = watched.into_iter().map(|id| Subscriber::new(id, rng.bool())).collect();
        let followers: Vec<_> = subscribers
            .iter()
            .enumerate()
            .map(|(number, one)| tokio::spawn(one.clone().follow(number, (copies.clone(), network.clone()))))
            .collect();
        let mut clients = JoinSet::new();
        let numbers: BTreeSet<usize> = self.steps.iter().map(|step| step.client).collect();
        for number in numbers {
            let own: Vec<Step> = self.steps.iter().filter(|step| step.client == number).cloned().collect();
            clients.spawn(client(own, (copies.clone(), network.clone()), recorder.clone()));
        }
        while let Some(ended) = clients.join_next().await {
            ended.unwrap();
        }
        network.is_calm.store(true, Ordering::Relaxed);
        deaths.abort();
        splits.abort();
        if subscribers.is_empty() {
            // Nobody follows changes any more.
            copies.close_hubs();
        }
        sleep(CALM).await;
        followers.iter().for_each(JoinHandle::abort);
        let broken_off = copies.broken_off(&self.steps);
        (0..COPIES).for_each(|number| copies.replace(number));
        let events = std::mem::take(&mut *recorder.events.lock().unwrap());
        let last = self.last_reads(&events);
        client(last, (copies.clone(), network.clone()), recorder.clone()).await;
        let events = [events, std::mem::take(&mut *recorder.events.lock().unwrap())].concat();
        let mut checked = check(&events);
        let misses = subscribers.iter().filter_map(|one| one.check(&network.store.lock().unwrap()));
        checked.wrong.extend(misses);
        checked.wrong.extend(broken_off);
        checked.wrong.extend(self.check_reports(
            &network,
            &copies,
            std::mem::take(&mut *recorder.reports.lock().unwrap()),
        ));
        checked.wrong.extend(books::misplaced(&network.store.lock().unwrap()));
        checked.wrong.extend(orphans(&network.store.lock().unwrap(), &events));
        let schedule = std::mem::take(&mut *network.log.lock().unwrap());
        Ran { schedule, operations: events.len(), history: events.iter().map(shown).collect(), ..checked }
    }

    /// What is wrong with what steps sent, when they were answered, and what they left.
    fn check_reports(&self, network: &Network, copies: &Copies, mut reports: Vec<StepReport>) -> Vec<String> {
        for one in &mut reports {
            one.made = one.answer.clone().or_else(|| copies.answered(one.step.number));
        }
        let crowds = self.steps.iter().filter(|step| matches!(step.work, Work::Crowd(_)));
        let mut wrong: Vec<String> = reports.iter().filter_map(StepReport::gave_up_early).collect();
        wrong.extend(network.sent.too_many(&crowds.map(|step| step.number).collect()));
        wrong.extend(tickets::mixed_up(network, &reports));
        wrong.extend(ladders::misplaced(&network.store.lock().unwrap(), &reports));
        wrong.extend(menus::outdated(network, &reports));
        wrong.extend(purses::mixed_up(&network.store.lock().unwrap(), &reports));
        wrong
    }

    /// The cells that its steps are about.
    fn cells(&self) -> BTreeSet<String> {
        let cell = |step: &Step| if let Work::Cell(id, _) = &step.work { Some(id.clone()) } else { None };
        self.steps.iter().filter_map(cell).collect()
    }

    /// What reads the state that the events left, and repeats what has a key.
    fn last_reads(&self, events: &[HistoryEvent<Step>]) -> Vec<Step> {
        let kinds: BTreeSet<&str> = events.iter().map(|event| event.operation.work.kind()).collect();
        let mut reads: Vec<Work> = self.cells().into_iter().map(|id| Work::Cell(id, CellOperation::Read)).collect();
        reads.extend(AccountOperation::reads().map(Work::Account));
        reads.extend(PersonOperation::reads().map(Work::Person));
        reads.push(Work::Counter(CounterOperation::Read));
        reads.extend(CardOperation::reads().map(Work::Card));
        reads.extend(PosterOperation::reads().map(Work::Poster));
        reads.extend(DiaryOperation::reads().map(Work::Diary));
        reads.extend(BookOperation::reads().map(Work::Book));
        reads.push(Work::Album(AlbumOperation::Read));
        reads.extend(PollOperation::reads().map(Work::Poll));
        reads.extend(PurseOperation::last(events).into_iter().map(Work::Purse));
        reads.retain(|read| kinds.contains(read.kind()));
        let first = events.iter().map(|event| event.operation.number).max().unwrap_or_default() + 1;
        let step = |(number, work)| Step { number, client: 0, copy: 0, pause: Duration::ZERO, patience: None, work };
        (first..).zip(reads).map(step).collect()
    }
}

impl Ran {
    fn broken(wrong: String) -> Self {
        Self { wrong: vec![wrong], ..Self::default() }
    }

    /// A text that is the same for the same happenings.
    pub fn digest(&self) -> String {
        let all = [&self.wrong[..], &self.history, &self.schedule].concat().join("\n");
        Sha256::digest(all).iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Runs the steps of one client, one after another.
async fn client(steps: Vec<Step>, (copies, network): (Arc<Copies>, Arc<Network>), recorder: Arc<Recorder>) {
    for step in steps {
        sleep(step.pause).await;
        let begun = recorder.clock.fetch_add(1, Ordering::Relaxed);
        let has_key = matches!(&step.work, Work::Purse(operation) if operation.has_key());
        let (copies, network, recorder) = (&copies, &network, &*recorder);
        let outcome = match has_key {
            true => repeat(&step, (copies, network), recorder).await,
            false => ask(&step, (copies, network), recorder).await,
        };
        let ended = recorder.clock.fetch_add(1, Ordering::Relaxed);
        recorder.events.lock().unwrap().push(HistoryEvent { begun, ended, outcome, operation: step });
    }
}

/// Asks for a step once.
async fn ask(step: &Step, (copies, network): (&Copies, &Network), recorder: &Recorder) -> CallerOutcome {
    let begun = network.now();
    let (copy, answer) = copies.answer(step).await;
    let outcome = step.work.outcome(answer.as_ref());
    let report = StepReport { step: step.clone(), copy, begun, ended: network.now(), answer, made: None };
    recorder.reports.lock().unwrap().push(report);
    outcome
}

/// Asks for a step with a key, by one copy after the other, until the outcome is certain.
async fn repeat(step: &Step, (copies, network): (&Copies, &Network), recorder: &Recorder) -> CallerOutcome {
    let mut is_open = false;
    for attempt in 0..ATTEMPTS {
        let step = Step { copy: (step.copy + attempt) % COPIES, ..step.clone() };
        let outcome = ask(&step, (copies, network), recorder).await;
        if !purses::is_certain(&outcome) {
            is_open = true;
        } else if is_open && purses::may_be_overtaken(&outcome) {
            // An earlier attempt may be at work yet.
            sleep(REQUEST_LIMIT + ON_THE_WAY).await;
            is_open = false;
        } else {
            return outcome;
        }
    }
    CallerOutcome::Open
}

fn shown(event: &HistoryEvent<Step>) -> String {
    let HistoryEvent { begun, ended, operation: Step { number, client, copy, work, .. }, outcome } = event;
    format!("{begun:3}–{ended:3} client {client}, copy {copy}, step {number}: {work:?} → {outcome:?}")
}

/// What is wrong with what callers got.
fn check(events: &[HistoryEvent<Step>]) -> Ran {
    let mut ran = Ran::default();
    let mut cells: BTreeMap<&str, Vec<HistoryEvent<CellOperation>>> = BTreeMap::new();
    let (mut accounts, mut people, mut counters) = (Vec::new(), Vec::new(), Vec::new());
    let (mut cards, mut posters, mut diaries) = (Vec::new(), Vec::new(), Vec::new());
    let (mut books, mut albums) = (Vec::new(), Vec::new());
    let (mut polls, mut purses) = (Vec::new(), Vec::new());
    for event in events {
        let refused = match &event.outcome {
            CallerOutcome::Refused(code) => code.as_str(),
            _ => "",
        };
        match &event.operation.work {
            // Nothing was written.
            _ if ["THROTTLED", "CONTENTION"].contains(&refused) => {}
            Work::Cell(id, operation) => cells.entry(id).or_default().push(with(event, operation)),
            Work::Account(operation) => accounts.push(with(event, operation)),
            Work::Person(operation) => people.push(with(event, operation)),
            Work::Counter(operation) => counters.push(with(event, operation)),
            Work::Card(operation) => cards.push(with(event, operation)),
            Work::Poster(operation) => posters.push(with(event, operation)),
            Work::Diary(operation) => diaries.push(with(event, operation)),
            Work::Book(operation) => books.push(with(event, operation)),
            Work::Album(operation) => albums.push(with(event, operation)),
            Work::Poll(operation) => polls.push(with(event, operation)),
            Work::Purse(operation) => purses.push(with(event, operation)),
            Work::Room(_) | Work::Ticket(_) | Work::Ladder(_) | Work::Crowd(_) | Work::Menu(_) => {}
        }
        let may_be_reused = matches!(&event.operation.work, Work::Purse(operation) if operation.has_key());
        let is_expected = ["", "CONFLICT", "NOT_FOUND", "THROTTLED", "CONTENTION"].contains(&refused)
            || may_be_reused && refused == "IDEMPOTENCY_KEY_REUSED";
        if !is_expected {
            ran.wrong.push(format!("step {} is refused with {refused}", event.operation.number));
        }
    }
    cells.iter().for_each(|(id, events)| judge(&mut ran, &format!("the cell {id}"), events));
    judge(&mut ran, "the accounts", &accounts);
    judge(&mut ran, "the people", &people);
    judge(&mut ran, "the counter", &counters);
    judge(&mut ran, "the cards", &cards);
    judge(&mut ran, "the poster", &posters);
    judge(&mut ran, "the diary", &diaries);
    judge(&mut ran, "the books", &books);
    judge(&mut ran, "the album", &albums);
    judge(&mut ran, "the polls", &polls);
    judge(&mut ran, "the purses", &purses);
    ran
}

fn with<O: Clone>(event: &HistoryEvent<Step>, operation: &O) -> HistoryEvent<O> {
    let HistoryEvent { begun, ended, outcome, .. } = event;
    HistoryEvent { begun: *begun, ended: *ended, operation: operation.clone(), outcome: outcome.clone() }
}

fn judge<O: Sequential>(ran: &mut Ran, what: &str, events: &[HistoryEvent<O>]) {
    match explain(events, MAX_STATES) {
        Explanation::Explained => {}
        Explanation::NotExplained => ran.wrong.push(format!("no order explains what callers got of {what}")),
        Explanation::Undecided => ran.undecided += 1,
    }
}

/// Letters without their room. A copy that dies while it deletes a room cannot look for letters that came in meanwhile.
fn orphans(store: &ModelStore, events: &[HistoryEvent<Step>]) -> Vec<String> {
    let is_left_open = |room: &str| {
        events.iter().any(|event| {
            let closes = matches!(&event.operation.work, Work::Room(RoomOperation::Close(id)) if *id == room);
            closes && event.outcome == CallerOutcome::Open
        })
    };
    let table = store.table("world").expect("the table of the schema");
    let text = |value: Option<&Attribute>| match value {
        Some(Attribute::S(text)) => text.clone(),
        _ => String::new(),
    };
    let present = table.keys().filter_map(|key| table.item(key));
    let keys: BTreeSet<(String, String)> = present.map(|item| (text(item.get("PK")), text(item.get("SK")))).collect();
    let letters = keys.iter().filter(|(_, sort)| sort.starts_with("LETTER#"));
    let lost = letters.filter(|(room, _)| !keys.contains(&(room.clone(), "ROOM".to_owned())));
    let lost = lost.filter(|(room, _)| !is_left_open(room.trim_start_matches("ROOM#")));
    lost.map(|(room, letter)| format!("{letter} is left of {room}, which is closed")).collect()
}
