//! What copies that share a stream say in; what the others hear of it out, after what the weather does to it. Who dies
//! says and hears nothing more, but what it has said is on its way.

use crate::gates::TakenGate;
use crate::network::{Link, Network};
use crate::program::COPIES;
use crate::weather::rng_for;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, ready};
use futures_util::stream::{BoxStream, StreamExt, unfold};
use keyfold::table::data::error::TableError;
use keyfold::table::store::TableStore;
use keyfold::table::stream::shared::bus::Bus;
use keyfold::table::stream::shared::lease::{Lease, LeaseTable, ShardName};
use keyfold::table::stream::shared::lease_table::StoredLeases;
use keyfold::table::stream::shared::source::SharedStreams;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::sleep;

/// The table of leases.
pub const LEASES: &str = "leases";
/// The longest message, in bytes: some records are said in several.
const LONGEST: usize = 2_000;

/// What connects the copies of a world.
pub struct Wires {
    network: Arc<Network>,
    rng: Mutex<fastrand::Rng>,
    ears: Mutex<Vec<Ear>>,
    /// Which copies the bus does not reach now.
    is_away: [AtomicBool; COPIES],
}

/// A copy that listens.
struct Ear {
    place: usize,
    topic: String,
    is_dead: Arc<AtomicBool>,
    messages: UnboundedSender<Bytes>,
}

/// The bus as one copy sees it.
struct CopyBus {
    wires: Arc<Wires>,
    place: usize,
    is_dead: Arc<AtomicBool>,
}

impl Wires {
    pub fn new(network: Arc<Network>) -> Arc<Self> {
        let rng = Mutex::new(rng_for(network.seed, "bus"));
        Arc::new(Self { network, rng, ears: Mutex::default(), is_away: Default::default() })
    }

    /// The streams that the copy at a place shares with the others, until it `is_dead`.
    pub fn share(self: &Arc<Self>, place: usize, (link, is_dead): (Link, Arc<AtomicBool>)) -> SharedStreams {
        let stored = StoredLeases::new(Arc::new(TableStore::over(link)), LEASES.into());
        let leases: Arc<dyn LeaseTable> = match self.network.taken {
            Some(TakenGate::LeaseLapse) => Arc::new(LastingLeases(stored)),
            _ => Arc::new(stored),
        };
        SharedStreams::new(Arc::new(CopyBus { wires: self.clone(), place, is_dead }), leases)
    }

    /// Lets the bus leave copies and come back until the world is calm.
    pub async fn leave_and_come_back(self: Arc<Self>) {
        let (most, mut rng) = (self.network.weather.bus_away, rng_for(self.network.seed, "bus away"));
        while most > 0 && !self.network.is_calm() {
            sleep(Duration::from_micros(rng.u64(1..=most * 1000))).await;
            let place = rng.usize(..COPIES);
            let was_away = self.is_away[place].fetch_xor(true, Ordering::Relaxed);
            self.network.note(&format!("the bus {} copy {place}", if was_away { "reaches" } else { "leaves" }));
        }
    }

    fn reaches(&self, place: usize) -> bool {
        self.network.is_calm() || !self.is_away[place].load(Ordering::Relaxed)
    }

    /// Carries what a copy says to the others.
    fn carry(&self, place: usize, topic: &str, message: &Bytes) {
        let mut ears = self.ears.lock().unwrap();
        ears.retain(|ear| !ear.is_dead.load(Ordering::Relaxed));
        let is_heard = |ear: &&Ear| ear.place != place && ear.topic == topic && self.reaches(ear.place);
        for ear in ears.iter().filter(is_heard) {
            let arrivals = match self.network.is_calm() {
                true => vec![Duration::ZERO],
                false => self.network.weather.arrivals(&mut self.rng.lock().unwrap()),
            };
            let head = message.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let head = String::from_utf8_lossy(head);
            self.network.note(&format!("copy {place} says {head}: copy {} hears it after {arrivals:?}", ear.place));
            for late in arrivals {
                let (messages, message) = (ear.messages.clone(), message.clone());
                if late.is_zero() {
                    let _ = messages.send(message);
                } else {
                    tokio::spawn(async move {
                        sleep(late).await;
                        let _ = messages.send(message);
                    });
                }
            }
        }
    }
}

impl Bus for CopyBus {
    fn publish<'a>(&'a self, topic: &'a str, message: Bytes) -> BoxFuture<'a, bool> {
        let is_up = self.is_up();
        if is_up {
            let message = match self.wires.network.taken {
                Some(gate) => gate.said(message),
                None => message,
            };
            self.wires.carry(self.place, topic, &message);
        }
        ready(is_up).boxed()
    }

    fn listen(&self, topic: &str) -> BoxStream<'static, Bytes> {
        let (messages, heard) = unbounded_channel();
        let ear = Ear { place: self.place, topic: topic.to_owned(), is_dead: self.is_dead.clone(), messages };
        self.wires.ears.lock().unwrap().push(ear);
        unfold(heard, |mut heard| async move { Some((heard.recv().await?, heard)) }).boxed()
    }

    fn is_up(&self) -> bool {
        !self.is_dead.load(Ordering::Relaxed) && self.wires.reaches(self.place)
    }

    fn longest(&self) -> usize {
        LONGEST
    }
}

/// Leases that stay with a copy that is gone.
struct LastingLeases(StoredLeases);

impl LeaseTable for LastingLeases {
    fn read<'a>(&'a self, shards: &'a [ShardName]) -> BoxFuture<'a, Result<Vec<Option<Lease>>, TableError>> {
        self.0.read(shards)
    }

    fn replace<'a>(
        &'a self,
        shard: &'a ShardName,
        seen: Option<&'a Lease>,
        lease: &'a Lease,
    ) -> BoxFuture<'a, Result<bool, TableError>> {
        let owner = seen.and_then(|seen| seen.owner.as_ref());
        match owner.is_some() && lease.owner.is_some() && owner != lease.owner.as_ref() {
            true => ready(Ok(false)).boxed(),
            false => self.0.replace(shard, seen, lease),
        }
    }
}
