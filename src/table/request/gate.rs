//! One bound for the calls in flight of all requests of a process, shared fairly: a request and the size of its next
//! call in; a place for the call out, when it is its turn. Must not know calls.
//!
//! A free place goes to the request that has had the least, its next call included; among equals, to the one that has
//! waited longest. So a request with one small call passes those with large calls or with many. Every fourth place goes
//! to the request that has waited longest, so that small requests do not stop a large one. Large calls never have all
//! places.

use foldhash::quality::RandomState;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// One place of this many goes to the request that has waited longest.
const LONGEST_WAIT_EVERY: u64 = 4;
/// The most items of a small call: a usual page.
const SMALL: u64 = 25;

/// Hands out the places. All requests share it.
#[derive(Debug)]
pub struct CallGate {
    turns: Mutex<Turns>,
    places: usize,
}

/// One request at the gate.
#[derive(Debug)]
pub struct Turnstile {
    gate: Arc<CallGate>,
    request: u64,
}

/// The right to have one call in flight. Dropping it returns it.
#[derive(Debug)]
pub struct CallPlace {
    gate: Arc<CallGate>,
    large: bool,
}

#[derive(Debug, Default)]
struct Turns {
    free: usize,
    /// How many more large calls may have a place: three quarters of the places at most.
    free_for_large: usize,
    /// The number of the next request, and of the next turn.
    next: u64,
    /// How many places were given to requests that waited.
    given: u64,
    /// The requests that have had a place or wait for one.
    requests: HashMap<u64, Share, RandomState>,
    /// The requests that wait with a small call, and those with a large one.
    lanes: [Lane; 2],
}

/// Requests that wait.
#[derive(Debug, Default)]
struct Lane {
    /// What each has had, its next call included; its turn; its number. The first has had the least.
    least: BTreeSet<(u64, u64, u64)>,
    /// The same requests: turn and number. The first has waited longest.
    longest: BTreeSet<(u64, u64)>,
}

/// Where a request waits in a lane: what it has had, its next call included, and its turn.
type Rank = (u64, u64);

/// A request's part of the places.
#[derive(Debug, Default)]
struct Share {
    /// The sum of the sizes of its calls so far.
    had: u64,
    /// Its calls that wait in each lane.
    waiting: [WaitingCalls; 2],
}

/// Calls of one request that wait in a lane.
#[derive(Debug, Default)]
struct WaitingCalls {
    turn: u64,
    /// Their sizes and those who wait for them.
    calls: VecDeque<(u64, oneshot::Sender<CallPlace>)>,
}

impl CallGate {
    /// A gate with this many places, at least one.
    pub fn new(places: usize) -> Arc<Self> {
        let free = places.max(1);
        let free_for_large = (free - free / 4).min(free - 1).max(1);
        Arc::new(Self { turns: Mutex::new(Turns { free, free_for_large, ..Turns::default() }), places: free })
    }

    /// How many places there are.
    pub fn places(&self) -> usize {
        self.places
    }

    /// How many of them are taken.
    pub fn taken(&self) -> usize {
        self.places.saturating_sub(self.turns().free)
    }

    /// A further request.
    pub fn turnstile(self: &Arc<Self>) -> Turnstile {
        Turnstile { gate: self.clone(), request: self.turns().number() }
    }

    fn turns(&self) -> MutexGuard<'_, Turns> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Turnstile {
    /// Waits for a place for a call that reads or writes up to this many items. A caller that stops waiting loses only
    /// its turn.
    pub async fn place(&self, items: usize) -> CallPlace {
        loop {
            let asked = self.gate.turns().ask(self.request, items as u64);
            match asked {
                None => return CallPlace { gate: self.gate.clone(), large: is_large(items as u64) },
                // The sender is kept until a place is sent. If it were lost, asking again would be right.
                Some(place) => match place.await {
                    Ok(place) => return place,
                    Err(_) => continue,
                },
            }
        }
    }
}

impl Drop for Turnstile {
    fn drop(&mut self) {
        self.gate.turns().leave(self.request);
    }
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        let next = self.gate.turns().give_back(self.large);
        if let Some((large, waiter)) = next {
            // If the waiter has just left, its place is dropped here and goes to the next one.
            let _ = waiter.send(CallPlace { gate: self.gate.clone(), large });
        }
    }
}

fn is_large(size: u64) -> bool {
    size > SMALL
}

/// The position of the lane of calls of a size.
fn lane(size: u64) -> usize {
    usize::from(is_large(size))
}

impl Turns {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Takes a free place, or waits for one.
    fn ask(&mut self, request: u64, size: u64) -> Option<oneshot::Receiver<CallPlace>> {
        let turn = self.number();
        if self.take(size) {
            self.change(request, |share| share.had += size);
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        self.change(request, |share| {
            let waiting = &mut share.waiting[lane(size)];
            if waiting.calls.is_empty() {
                waiting.turn = turn;
            }
            waiting.calls.push_back((size, sender));
        });
        Some(receiver)
    }

    /// Takes a place for a call of this size, if one is free for it.
    fn take(&mut self, size: u64) -> bool {
        let large = is_large(size);
        let may_go = self.free > 0 && (!large || self.free_for_large > 0);
        if may_go {
            self.free -= 1;
            self.free_for_large -= usize::from(large);
        }
        may_go
    }

    /// Takes a place back. Gives the waiter whose turn it is, and whether its call is large.
    fn give_back(&mut self, large: bool) -> Option<(bool, oneshot::Sender<CallPlace>)> {
        self.free += 1;
        self.free_for_large += usize::from(large);
        while let Some((lane, request)) = self.next_request() {
            let turn = self.number();
            if let Some((size, waiter)) = self.change(request, |share| share.next_call(lane, turn)) {
                self.take(size);
                self.given += 1;
                return Some((is_large(size), waiter));
            }
        }
        None
    }

    /// The lane and the request that have the next place.
    fn next_request(&self) -> Option<(usize, u64)> {
        let lanes = if self.free_for_large > 0 { &self.lanes[..] } else { &self.lanes[..1] };
        let by_wait = self.given % LONGEST_WAIT_EVERY == LONGEST_WAIT_EVERY - 1;
        let first = lanes.iter().enumerate().filter_map(|(lane, waiting)| Some((waiting.first(by_wait)?, lane))).min();
        first.map(|((_, request), lane)| (lane, request))
    }

    /// Changes what is known of a request, and where it waits with it. Nothing else may change it, or it would be
    /// looked for where it is not.
    fn change<T>(&mut self, request: u64, change: impl FnOnce(&mut Share) -> T) -> T {
        let share = self.requests.entry(request).or_default();
        let before = share.ranks();
        let changed = change(share);
        let after = share.ranks();
        self.move_in_lanes(request, before, after);
        changed
    }

    /// Forgets a request, and the calls that wait with it.
    fn leave(&mut self, request: u64) {
        if let Some(share) = self.requests.remove(&request) {
            self.move_in_lanes(request, share.ranks(), [None; 2]);
        }
    }

    fn move_in_lanes(&mut self, request: u64, before: [Option<Rank>; 2], after: [Option<Rank>; 2]) {
        for (lane, (before, after)) in self.lanes.iter_mut().zip(before.into_iter().zip(after)) {
            if before == after {
                continue;
            }
            if let Some((had, turn)) = before {
                lane.least.remove(&(had, turn, request));
                lane.longest.remove(&(turn, request));
            }
            if let Some((had, turn)) = after {
                lane.least.insert((had, turn, request));
                lane.longest.insert((turn, request));
            }
        }
    }
}

impl Lane {
    /// The rank and the number of the request that has waited longest, or of the one that has had the least.
    fn first(&self, by_wait: bool) -> Option<(Rank, u64)> {
        match by_wait {
            true => self.longest.first().map(|(turn, request)| ((0, *turn), *request)),
            false => self.least.first().map(|(had, turn, request)| ((*had, *turn), *request)),
        }
    }
}

impl Share {
    /// Where the request waits in each lane; `None` where it does not.
    fn ranks(&self) -> [Option<Rank>; 2] {
        self.waiting.each_ref().map(|waiting| waiting.calls.front().map(|(size, _)| (self.had + size, waiting.turn)))
    }

    /// Takes the call that waits first in a lane: its size and its waiter. If callers have stopped waiting, it takes
    /// their calls away, and none: the call behind them may have another rank.
    fn next_call(&mut self, lane: usize, turn: u64) -> Option<(u64, oneshot::Sender<CallPlace>)> {
        let waiting = &mut self.waiting[lane];
        let left = waiting.calls.iter().take_while(|(_, waiter)| waiter.is_closed()).count();
        if left > 0 {
            waiting.calls.drain(..left);
            return None;
        }
        let (size, waiter) = waiting.calls.pop_front()?;
        waiting.turn = turn;
        self.had += size;
        Some((size, waiter))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures_util::future::{FutureExt, LocalBoxFuture};
    use futures_util::stream::{FuturesUnordered, StreamExt};
    use proptest::prelude::*;

    #[tokio::test]
    async fn a_request_with_one_call_passes_those_with_many() {
        let gate = CallGate::new(4);
        let (many, few) = (gate.turnstile(), gate.turnstile());
        let mut taken: Vec<CallPlace> = Vec::new();
        for _ in 0..4 {
            taken.push(many.place(1).await);
        }
        let mut waiting: FuturesUnordered<_> = (0..1000).map(|_| many.place(1)).collect();
        assert!(waiting.next().now_or_never().is_none());
        let mut late = Box::pin(few.place(1));
        assert!(late.as_mut().now_or_never().is_none());
        taken.pop();
        let place = late.now_or_never().unwrap();
        assert!(waiting.next().now_or_never().is_none());
        drop(place);
        taken.extend(waiting.next().now_or_never().unwrap());
    }

    #[tokio::test]
    async fn a_waiter_that_leaves_keeps_no_place() {
        let gate = CallGate::new(1);
        let (first, second, third) = (gate.turnstile(), gate.turnstile(), gate.turnstile());
        let place = first.place(1).await;
        let mut leaves = Box::pin(second.place(1));
        let mut stays = Box::pin(third.place(1));
        assert!(leaves.as_mut().now_or_never().is_none() && stays.as_mut().now_or_never().is_none());
        drop(leaves);
        drop(place);
        drop(stays.now_or_never().unwrap());
        // One that leaves after it was given a place, and before it took it.
        let place = first.place(1).await;
        let mut leaves = Box::pin(second.place(1));
        assert!(leaves.as_mut().now_or_never().is_none());
        drop(place);
        drop(leaves);
        drop(first.place(1).now_or_never().unwrap());
        drop((first, second, third));
        let turns = gate.turns();
        assert!(
            turns.requests.is_empty()
                && turns.lanes.iter().all(|lane| lane.least.is_empty() && lane.longest.is_empty())
        );
    }

    /// Which requests have the places of a gate with two of them, in order. The first request has both at the start,
    /// and each has one call after the other of its size.
    async fn order(sizes: &[usize], calls: &[usize]) -> Vec<usize> {
        let gate = CallGate::new(2);
        let requests: Vec<Turnstile> = sizes.iter().map(|_| gate.turnstile()).collect();
        let mut running = VecDeque::from([requests[0].place(1).await, requests[0].place(1).await]);
        let mut waiting: Vec<_> =
            calls.iter().map(|request| (*request, Box::pin(requests[*request].place(sizes[*request])))).collect();
        assert!(waiting.iter_mut().all(|(_, place)| place.as_mut().now_or_never().is_none()));
        let mut order = Vec::new();
        while !waiting.is_empty() {
            drop(running.pop_front());
            let next = waiting
                .iter_mut()
                .position(|(_, place)| place.as_mut().now_or_never().map(|place| running.push_back(place)).is_some());
            order.extend(next.map(|next| waiting.remove(next).0));
        }
        order
    }

    #[tokio::test]
    async fn requests_take_turns() {
        assert_eq!(order(&[1, 1, 1], &[0, 0, 1, 1, 2, 2]).await, [1, 2, 1, 0, 2, 0]);
    }

    #[tokio::test]
    async fn a_small_call_passes_large_ones() {
        assert_eq!(order(&[1000, 1000, 1000, 20], &[1, 2, 3, 3, 1]).await, [3, 3, 1, 2, 1]);
    }

    #[tokio::test]
    async fn large_calls_leave_a_place_to_small_ones() {
        for (places, most) in [(1, 1), (2, 1), (3, 2), (256, 192)] {
            let gate = CallGate::new(places);
            let (many, few) = (gate.turnstile(), gate.turnstile());
            let mut large: Vec<_> = (0..places + 1).map(|_| Box::pin(many.place(1000))).collect();
            let held: Vec<_> = large.iter_mut().filter_map(|place| place.as_mut().now_or_never()).collect();
            assert_eq!((held.len(), few.place(1).now_or_never().is_some()), (most, places > 1), "{places}");
        }
    }

    #[tokio::test]
    async fn small_calls_do_not_stop_a_large_one() {
        let calls: Vec<usize> = (1..=20).collect();
        let (sizes, calls) = ([vec![1000], vec![1; 20]].concat(), [vec![0], calls].concat());
        assert_eq!(order(&sizes, &calls).await.iter().position(|request| *request == 0), Some(3));
    }

    #[tokio::test]
    async fn a_small_call_goes_while_a_large_one_of_its_request_waits() {
        let gate = CallGate::new(2);
        let request = gate.turnstile();
        let large = request.place(100).await;
        let mut waits = Box::pin(request.place(100));
        assert!(waits.as_mut().now_or_never().is_none());
        let small = request.place(1).await;
        drop(large);
        drop(waits.now_or_never().unwrap());
        drop(small);
        assert_eq!(gate.taken(), 0);
    }

    /// What a caller does.
    #[derive(Debug, Clone)]
    enum Step {
        /// A request asks for a place for a call of a size.
        Ask(usize, usize),
        /// One of those that wait stops waiting.
        Leave(usize),
        /// One of the places comes back.
        GiveBack(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        let size = prop::sample::select(vec![1, 25, 26, 100]);
        prop_oneof![
            3 => (0..4_usize, size).prop_map(|(request, size)| Step::Ask(request, size)),
            1 => any::<usize>().prop_map(Step::Leave),
            2 => any::<usize>().prop_map(Step::GiveBack),
        ]
    }

    proptest! {
        #[test]
        fn nobody_waits_for_a_place_that_is_free(places in 1..6_usize, steps in prop::collection::vec(step(), 0..60)) {
            let gate = CallGate::new(places);
            let requests: [Turnstile; 4] = std::array::from_fn(|_| gate.turnstile());
            let mut waiting: Vec<(usize, LocalBoxFuture<'_, CallPlace>)> = Vec::new();
            let mut held: Vec<CallPlace> = Vec::new();
            for step in steps {
                match step {
                    Step::Ask(request, size) => waiting.push((size, Box::pin(requests[request].place(size)))),
                    Step::Leave(at) if !waiting.is_empty() => drop(waiting.swap_remove(at % waiting.len())),
                    Step::GiveBack(at) if !held.is_empty() => drop(held.swap_remove(at % held.len())),
                    Step::Leave(_) | Step::GiveBack(_) => {}
                }
                waiting.retain_mut(|(_, place)| place.as_mut().now_or_never().map(|place| held.push(place)).is_none());
                prop_assert_eq!(gate.taken(), held.len());
                let large = held.iter().filter(|place| place.large).count();
                let free_for_large = places > large + usize::from(places > 1) * (places / 4).max(1);
                for (size, _) in &waiting {
                    let must_wait = held.len() == places || *size > 25 && !free_for_large;
                    prop_assert!(must_wait, "{} of {} are taken", held.len(), places);
                }
                let turns = gate.turns();
                for (position, lane) in turns.lanes.iter().enumerate() {
                    let requests = turns.requests.iter();
                    let ranks = requests.filter_map(|(request, share)| Some((*request, share.ranks()[position]?)));
                    let least: BTreeSet<_> = ranks.map(|(request, (had, turn))| (had, turn, request)).collect();
                    let longest: BTreeSet<_> = least.iter().map(|(_, turn, request)| (*turn, *request)).collect();
                    prop_assert_eq!((&lane.least, &lane.longest), (&least, &longest));
                }
            }
            drop((waiting, held));
            drop(requests);
            let turns = gate.turns();
            prop_assert_eq!((turns.free, turns.requests.len()), (places, 0));
        }
    }
}
