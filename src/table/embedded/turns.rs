//! Pieces of work in; each one's result when its turn has come out. One piece runs at a time, on a thread that may
//! block, and short work comes before long work. Must not know what the work is.
//!
//! The engine works under one lock. So a second thread would only wait for the first, and each change of threads takes
//! some 50 µs. One thread takes what is there and what comes meanwhile, such as all calls of a wave, and then goes.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

/// How many pieces of short work pass one of long work.
const SHORT_BEFORE_LONG: usize = 4;

/// How long a piece of work takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::table) enum Length {
    /// As long as one item, which has at most 400 KB.
    Moment,
    /// As long as a page of a few items.
    Short,
    /// Longer.
    Long,
}

impl Length {
    /// Short or long.
    pub(in crate::table) fn short_if(is_short: bool) -> Self {
        if is_short { Self::Short } else { Self::Long }
    }
}

/// Why a piece of work has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the engine stopped at this call")]
pub(in crate::table) struct EngineStopped;

/// The turns of work.
#[derive(Default)]
pub(super) struct Turns {
    line: Mutex<Line>,
}

type Piece = Box<dyn FnOnce() + Send>;

/// The work that waits.
#[derive(Default)]
struct Line {
    short: VecDeque<Piece>,
    long: VecDeque<Piece>,
    /// How many short pieces have passed the first long one.
    passed: usize,
    /// Whether a thread is at work.
    is_busy: bool,
}

impl Turns {
    /// Runs work when its turn has come. Work that has begun runs to its end even if nobody waits for it; work that has
    /// not is dropped with its caller.
    pub(super) async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        length: Length,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineStopped> {
        let (reply, result) = oneshot::channel();
        let piece = Box::new(move || {
            if !reply.is_closed() {
                // Nobody may wait any more.
                drop(reply.send(work()));
            }
        });
        self.line().add(length, piece);
        if let Some(turn) = self.take() {
            turn.hand_on();
        }
        result.await.map_err(|_| EngineStopped)
    }

    /// The turn, if nothing is at work.
    pub(super) fn take(self: &Arc<Self>) -> Option<EngineTurn> {
        let was_busy = std::mem::replace(&mut self.line().is_busy, true);
        (!was_busy).then(|| EngineTurn { turns: self.clone(), is_over: false })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn add(&mut self, length: Length, piece: Piece) {
        match length {
            Length::Moment | Length::Short => self.short.push_back(piece),
            Length::Long => self.long.push_back(piece),
        }
    }

    fn next(&mut self) -> Option<Piece> {
        if self.short.is_empty() || self.passed == SHORT_BEFORE_LONG {
            self.passed = 0;
            return self.long.pop_front();
        }
        self.passed += usize::from(!self.long.is_empty());
        self.short.pop_front()
    }
}

/// The turn of whoever is at work. If it is dropped before the end, such as with its run time, the work that waits is
/// dropped, too.
pub(super) struct EngineTurn {
    turns: Arc<Turns>,
    is_over: bool,
}

impl EngineTurn {
    /// Runs work here and now.
    pub(super) fn now<T>(self, work: impl FnOnce() -> T) -> Result<T, EngineStopped> {
        let result = catch_unwind(AssertUnwindSafe(work));
        self.hand_on();
        result.map_err(|_| EngineStopped)
    }

    /// Gives the turn to a thread, if anything waits for it.
    fn hand_on(mut self) {
        if let Some(first) = self.next() {
            spawn_blocking(move || {
                let mut piece = Some(first);
                while let Some(work) = piece {
                    // A piece that panics has no result; the others have.
                    let _ = catch_unwind(AssertUnwindSafe(work));
                    piece = self.next();
                }
            });
        }
    }

    fn next(&mut self) -> Option<Piece> {
        let mut line = self.turns.line();
        let piece = line.next();
        self.is_over = piece.is_none();
        line.is_busy = piece.is_some();
        piece
    }
}

impl Drop for EngineTurn {
    fn drop(&mut self) {
        if !self.is_over {
            // The pieces are dropped when the lock is free again.
            let waiting = std::mem::take(&mut *self.turns.line());
            drop(waiting);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;
    use futures_util::future::{join_all, poll_immediate};
    use std::sync::mpsc;

    #[tokio::test]
    async fn short_work_passes_long_work_up_to_a_bound() {
        let turns = Arc::new(Turns::default());
        let done: Arc<Mutex<Vec<String>>> = Arc::default();
        let turn = turns.take().unwrap();
        let names = |kind: &'static str, count: usize| (0..count).map(move |number| (kind, number));
        let piece = |(kind, number): (&'static str, usize)| {
            let done = done.clone();
            let length = if kind == "long" { Length::Long } else { Length::Short };
            turns.run(length, move || done.lock().unwrap().push(format!("{kind} {number}")))
        };
        let mut pieces: Vec<_> = names("long", 3).chain(names("short", 6)).map(piece).map(Box::pin).collect();
        for piece in &mut pieces {
            assert!(poll_immediate(piece).await.is_none(), "another has the turn");
        }
        turn.hand_on();
        assert!(join_all(pieces).await.iter().all(Result::is_ok));
        let order = ["short 0", "short 1", "short 2", "short 3", "long 0", "short 4", "short 5", "long 1", "long 2"];
        assert_eq!(*done.lock().unwrap(), order);
    }

    #[tokio::test]
    async fn work_that_panics_or_that_nobody_waits_for_stops_no_other() {
        let turns = Arc::new(Turns::default());
        let turn = turns.take().unwrap();
        let (begun, begins) = mpsc::channel();
        let mut forgotten = Box::pin(turns.run(Length::Short, move || begun.send(()).unwrap()));
        assert!(poll_immediate(&mut forgotten).await.is_none());
        drop(forgotten);
        assert_eq!(turn.now(|| panic!("as a test")), Err::<(), _>(EngineStopped));
        assert_eq!(turns.run(Length::Long, || panic!("as a test")).await, Err::<(), _>(EngineStopped));
        assert_eq!(turns.run(Length::Moment, || 7).await, Ok(7));
        assert!(begins.recv().is_err(), "it has not begun");
    }

    #[tokio::test]
    async fn a_turn_that_ends_with_its_run_time_leaves_the_line_free() {
        let turns = Arc::new(Turns::default());
        let turn = turns.take().unwrap();
        let mut waiting = Box::pin(turns.run(Length::Short, || 1));
        assert!(poll_immediate(&mut waiting).await.is_none());
        drop(turn);
        assert_eq!(waiting.await, Err(EngineStopped));
        assert_eq!(turns.run(Length::Short, || 2).await, Ok(2));
    }
}
