//! One bound for the calls in flight of all requests of a process, shared fairly: a request in; a place for one call out, when it is its
//! turn. Must not know calls.
//!
//! A free place goes to the request with the fewest calls in flight; among equals, to the one that has waited longest. So a request with
//! one call never waits behind another's thousand.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// Hands out the places. All requests share it.
#[derive(Debug)]
pub struct CallGate {
    turns: Mutex<Turns>,
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
    request: u64,
}

#[derive(Debug, Default)]
struct Turns {
    free: usize,
    /// The number of the next request, and of the next turn.
    next: u64,
    /// The requests that have calls in flight or wait.
    requests: HashMap<u64, Share>,
    /// The requests that wait: calls in flight, turn, request. The first has the next place.
    order: BTreeSet<(usize, u64, u64)>,
}

/// A request's part of the places.
#[derive(Debug, Default)]
struct Share {
    in_flight: usize,
    turn: u64,
    waiting: VecDeque<oneshot::Sender<CallPlace>>,
}

impl CallGate {
    /// A gate with this many places, at least one.
    pub fn new(places: usize) -> Arc<Self> {
        Arc::new(Self { turns: Mutex::new(Turns { free: places.max(1), ..Turns::default() }) })
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
    /// Waits for a place. A caller that stops waiting loses only its turn.
    pub async fn place(&self) -> CallPlace {
        let request = self.request;
        loop {
            let asked = self.gate.turns().ask(request);
            match asked {
                None => return CallPlace { gate: self.gate.clone(), request },
                // The sender is kept until a place is sent. If it were lost, asking again would be right.
                Some(place) => match place.await {
                    Ok(place) => return place,
                    Err(_) => continue,
                },
            }
        }
    }
}

impl Drop for CallPlace {
    fn drop(&mut self) {
        let next = self.gate.turns().give_back(self.request);
        if let Some((request, waiter)) = next {
            // If the waiter has just left, its place is dropped here and goes to the next one.
            let _ = waiter.send(CallPlace { gate: self.gate.clone(), request });
        }
    }
}

impl Turns {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Takes a free place, or waits for one.
    fn ask(&mut self, request: u64) -> Option<oneshot::Receiver<CallPlace>> {
        let turn = self.number();
        let share = self.requests.entry(request).or_default();
        // While a place is free, nobody waits.
        if self.free > 0 {
            self.free -= 1;
            share.in_flight += 1;
            return None;
        }
        let (sender, receiver) = oneshot::channel();
        if share.waiting.is_empty() {
            share.turn = turn;
            self.order.insert((share.in_flight, turn, request));
        }
        share.waiting.push_back(sender);
        Some(receiver)
    }

    /// Takes a place back. Gives the next request, and the waiter of that request.
    fn give_back(&mut self, request: u64) -> Option<(u64, oneshot::Sender<CallPlace>)> {
        if let Some(share) = self.requests.get_mut(&request) {
            self.order.remove(&(share.in_flight, share.turn, request));
            share.in_flight -= 1;
            self.line_up(request);
        }
        while let Some((_, _, request)) = self.order.pop_first() {
            let turn = self.number();
            let Some(share) = self.requests.get_mut(&request) else { continue };
            while share.waiting.front().is_some_and(oneshot::Sender::is_closed) {
                share.waiting.pop_front();
            }
            let waiter = share.waiting.pop_front();
            share.in_flight += usize::from(waiter.is_some());
            share.turn = turn;
            self.line_up(request);
            if let Some(waiter) = waiter {
                return Some((request, waiter));
            }
        }
        self.free += 1;
        None
    }

    /// Puts a request into the order if it waits, and forgets it if it has no call left.
    fn line_up(&mut self, request: u64) {
        let Some(share) = self.requests.get(&request) else { return };
        if !share.waiting.is_empty() {
            self.order.insert((share.in_flight, share.turn, request));
        } else if share.in_flight == 0 {
            self.requests.remove(&request);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures_util::future::FutureExt;
    use futures_util::stream::{FuturesUnordered, StreamExt};

    #[tokio::test]
    async fn a_request_with_one_call_passes_those_with_many() {
        let gate = CallGate::new(4);
        let (many, few) = (gate.turnstile(), gate.turnstile());
        let mut taken: Vec<CallPlace> = Vec::new();
        for _ in 0..4 {
            taken.push(many.place().await);
        }
        let mut waiting: FuturesUnordered<_> = (0..1000).map(|_| many.place()).collect();
        assert!(waiting.next().now_or_never().is_none());
        let mut late = Box::pin(few.place());
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
        let place = first.place().await;
        let mut leaves = Box::pin(second.place());
        let mut stays = Box::pin(third.place());
        assert!(leaves.as_mut().now_or_never().is_none() && stays.as_mut().now_or_never().is_none());
        drop(leaves);
        drop(place);
        drop(stays.now_or_never().unwrap());
        // One that leaves after it was given a place, and before it took it.
        let place = first.place().await;
        let mut leaves = Box::pin(second.place());
        assert!(leaves.as_mut().now_or_never().is_none());
        drop(place);
        drop(leaves);
        drop(first.place().now_or_never().unwrap());
        assert!(gate.turns().requests.is_empty() && gate.turns().order.is_empty());
    }

    #[tokio::test]
    async fn requests_take_turns() {
        let gate = CallGate::new(2);
        let requests = [gate.turnstile(), gate.turnstile(), gate.turnstile()];
        let held = [requests[0].place().await, requests[0].place().await];
        let mut waiting: Vec<_> = [0, 0, 1, 1, 2, 2].iter().map(|request| Box::pin(requests[*request].place())).collect();
        assert!(waiting.iter_mut().all(|place| place.as_mut().now_or_never().is_none()));
        let mut order = Vec::new();
        let mut running: VecDeque<CallPlace> = held.into();
        while !waiting.is_empty() {
            drop(running.pop_front());
            let next = waiting.iter_mut().enumerate().find_map(|(position, place)| Some((position, place.as_mut().now_or_never()?)));
            let (position, place) = next.unwrap();
            order.push(place.request - requests[0].request);
            running.push_back(place);
            drop(waiting.remove(position));
        }
        assert_eq!(order, [1, 0, 2, 1, 0, 2]);
    }
}
