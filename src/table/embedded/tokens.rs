//! A transaction with its token in; its answer out, and the same answer for the same token without running the
//! transaction again.
//!
//! The engine itself keeps every token for ten minutes, however many there are, and searches all of them at each
//! transaction. A token is needed only until its answer has arrived, which takes seconds. So it is kept for a minute,
//! within a bound in bytes.

use dynoxide::DynoxideError;
use dynoxide::actions::transact_write_items::TransactWriteItemsResponse;
use dynoxide::types::ConsumedCapacity;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long a token is kept.
const KEPT: Duration = Duration::from_secs(60);
/// The most memory of all tokens and their answers, in bytes.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// The approximate memory of a token besides its text and its answer.
const OVERHEAD: usize = 160;

/// The transactions of a moment.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    made: Mutex<TokenAnswers>,
}

#[derive(Debug, Default)]
struct TokenAnswers {
    answers: HashMap<String, Answer>,
    /// The tokens in the order in which they came.
    order: VecDeque<(Instant, String)>,
    bytes: usize,
}

#[derive(Debug)]
struct Answer {
    /// A hash of the request.
    request: u64,
    response: TransactWriteItemsResponse,
}

impl Tokens {
    /// Runs a transaction unless one with this token has run. A failed transaction may run again. `request` is a hash
    /// of it.
    pub(super) fn once(
        &self,
        token: &str,
        request: u64,
        make: impl FnOnce() -> Result<TransactWriteItemsResponse, DynoxideError>,
    ) -> Result<TransactWriteItemsResponse, DynoxideError> {
        // Held while the transaction runs, so that a second attempt waits for the first. The engine runs one at a time
        // anyway.
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.forget(Instant::now());
        match made.answers.get(token) {
            Some(answer) if answer.request == request => Ok(answer.response.clone()),
            Some(_) => Err(DynoxideError::IdempotentParameterMismatchException(
                "The token belongs to another request.".to_owned(),
            )),
            None => {
                let response = make()?;
                made.keep(token, Answer { request, response: response.clone() });
                Ok(response)
            }
        }
    }
}

impl TokenAnswers {
    fn keep(&mut self, token: &str, answer: Answer) {
        self.bytes += weight(token, &answer);
        self.order.push_back((Instant::now(), token.to_owned()));
        self.answers.insert(token.to_owned(), answer);
    }

    /// Forgets old tokens, and the oldest ones beyond the bound.
    fn forget(&mut self, now: Instant) {
        while let Some((at, token)) = self.order.front()
            && (now.duration_since(*at) >= KEPT || self.bytes > MAX_BYTES)
        {
            if let Some(answer) = self.answers.remove(token) {
                self.bytes -= weight(token, &answer);
            }
            self.order.pop_front();
        }
    }
}

fn weight(token: &str, answer: &Answer) -> usize {
    let capacity = answer.response.consumed_capacity.iter().flatten();
    2 * token.len()
        + capacity.map(|part| size_of::<ConsumedCapacity>() + part.table_name.len()).sum::<usize>()
        + OVERHEAD
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn answer(table: &str) -> TransactWriteItemsResponse {
        let part = ConsumedCapacity { table_name: table.to_owned(), ..ConsumedCapacity::default() };
        TransactWriteItemsResponse { consumed_capacity: Some(vec![part]), ..TransactWriteItemsResponse::default() }
    }

    #[test]
    fn a_transaction_is_made_once_and_a_failed_one_again() {
        let tokens = Tokens::default();
        let made = |token: &str, request: u64, table: &str| {
            tokens
                .once(token, request, || Ok(answer(table)))
                .map(|answer| answer.consumed_capacity.unwrap().remove(0).table_name)
        };
        assert!(tokens.once("t", 1, || Err(DynoxideError::InternalServerError("no".to_owned()))).is_err());
        assert_eq!(made("t", 1, "one").unwrap(), "one");
        assert_eq!(made("t", 1, "two").unwrap(), "one");
        assert!(matches!(made("t", 2, "three"), Err(DynoxideError::IdempotentParameterMismatchException(_))));
        assert_eq!(made("u", 2, "four").unwrap(), "four");
    }

    #[test]
    fn tokens_are_forgotten_after_a_minute_or_when_they_are_too_much() {
        let tokens = Tokens::default();
        for n in 0..20_000 {
            tokens.once(&format!("token {n}"), 0, || Ok(answer(&"t".repeat(1000)))).unwrap();
        }
        let mut made = tokens.made.lock().unwrap();
        assert!(made.bytes <= MAX_BYTES + 2000 && made.bytes > MAX_BYTES / 2, "{}", made.bytes);
        assert_eq!(made.answers.len(), made.order.len());
        made.forget(Instant::now() + KEPT);
        assert_eq!((made.bytes, made.answers.len(), made.order.len()), (0, 0, 0));
    }
}
