//! A service with its bounds: a call in; its answer out, in bounded time, with bounded calls in flight, and with
//! further attempts where the service allows them.

use super::call::{ServiceAnswer, ServiceCaller, ServiceError, ServiceErrorKind, ServiceRequest};
use super::circuit::Circuit;
use crate::schema::model::service::Service;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until, timeout_at};

/// The most attempts of a call that may be repeated.
const ATTEMPTS: u32 = 3;
/// The time before the second attempt. It doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// A service and its bounds.
#[derive(Debug)]
pub struct GuardedService {
    declared: Service,
    /// Its name, which the reports of its calls share.
    name: Arc<str>,
    caller: Option<Arc<dyn ServiceCaller>>,
    places: Semaphore,
    circuit: Circuit,
}

/// What a call took.
#[derive(Debug, Clone)]
pub struct ServiceCallReport {
    /// The service's name.
    pub service: Arc<str>,
    /// The coordinate of the field.
    pub field: String,
    /// How many objects it was for.
    pub items: usize,
    /// The wave of the request in which it was made, from 1.
    pub wave: usize,
    /// When it began, counted from the beginning of the run.
    pub start: Duration,
    /// How long it took, with all attempts.
    pub lasted: Duration,
    /// The attempts; 0 if it was not sent.
    pub attempts: u32,
    /// Why it failed; `None` if it was answered.
    pub failure: Option<ServiceErrorKind>,
}

impl GuardedService {
    /// A service that a caller reaches; without one, its calls fail.
    pub fn new(declared: Service, caller: Option<Arc<dyn ServiceCaller>>) -> Self {
        let places = Semaphore::new(declared.in_flight.min(Semaphore::MAX_PERMITS));
        let name = declared.name.as_str().into();
        Self { declared, name, caller, places, circuit: Circuit::default() }
    }

    /// Makes a call of a run that began and ends at these times, until its time or the run's has ended. The report
    /// lacks the field and the wave.
    pub async fn call(
        &self,
        request: &ServiceRequest,
        (run_began, deadline): (Instant, Instant),
    ) -> (Result<ServiceAnswer, ServiceError>, ServiceCallReport) {
        let (began, mut attempts) = (Instant::now(), 0);
        let ends = deadline.min(began + self.declared.timeout);
        let answer = self.answer(request, (began, ends), &mut attempts).await;
        let report = ServiceCallReport {
            service: self.name.clone(),
            field: String::new(),
            items: request.items.len(),
            wave: 0,
            start: began - run_began,
            lasted: began.elapsed(),
            attempts,
            failure: answer.as_ref().err().map(|error| error.kind),
        };
        (answer, report)
    }

    /// Waits for a place among the calls in flight.
    async fn place(&self, ends: Instant) -> Result<SemaphorePermit<'_>, ServiceError> {
        let place = timeout_at(ends, self.places.acquire()).await;
        place.ok().and_then(Result::ok).ok_or_else(|| {
            let Service { in_flight, name, .. } = &self.declared;
            ServiceError::new(ServiceErrorKind::Timeout, format!("{in_flight} calls of {name} are in flight"))
        })
    }

    async fn answer(
        &self,
        request: &ServiceRequest,
        (began, ends): (Instant, Instant),
        attempts: &mut u32,
    ) -> Result<ServiceAnswer, ServiceError> {
        let name = &self.declared.name;
        let Some(caller) = &self.caller else {
            let detail = format!("the service {name} has no address, and no code is registered under its name");
            return Err(ServiceError::new(ServiceErrorKind::Unavailable, detail));
        };
        let late = || {
            let detail = format!("{name} does not answer within {:?}", self.declared.timeout);
            ServiceError::new(ServiceErrorKind::Timeout, detail)
        };
        let left_alone = || {
            let detail = format!("{name} has not answered lately, so it is left alone for a while");
            ServiceError::new(ServiceErrorKind::Unavailable, detail)
        };
        if self.circuit.is_open(began) {
            return Err(left_alone());
        }
        // What is rare is boxed, so that the future of a call is small enough for malloc's cache.
        let _place = match self.places.try_acquire() {
            Ok(place) => place,
            Err(_) => Box::pin(self.place(ends)).await?,
        };
        let has_whole_time = ends >= began + self.declared.timeout;
        let most = if self.declared.idempotent || request.key.is_some() { ATTEMPTS } else { 1 };
        let mut pause = FIRST_PAUSE;
        loop {
            if !self.circuit.lets_through(Instant::now()) {
                return Err(left_alone());
            }
            *attempts += 1;
            let answer = timeout_at(ends, caller.call(request)).await.unwrap_or_else(|_| Err(late()));
            let answer = answer.and_then(|answer| checked(answer, request, self.declared.max_bytes));
            let failed = answer.as_ref().err().map(|error| error.kind);
            match failed {
                // The request's own time was over.
                Some(ServiceErrorKind::Timeout) if !has_whole_time => {}
                Some(ServiceErrorKind::Unavailable | ServiceErrorKind::Timeout) => {
                    if self.circuit.failed(Instant::now()) {
                        tracing::warn!(service = name, "the service does not answer, so it is left alone for a while");
                    }
                }
                _ => self.circuit.answered(),
            }
            let may_repeat = failed == Some(ServiceErrorKind::Unavailable) && *attempts < most;
            if !may_repeat || Instant::now() + pause >= ends {
                return answer;
            }
            Box::pin(sleep_until(Instant::now() + pause)).await;
            pause *= 2;
        }
    }
}

/// An answer has a result for each item.
fn checked(answer: ServiceAnswer, request: &ServiceRequest, max_bytes: usize) -> Result<ServiceAnswer, ServiceError> {
    let (results, items) = (answer.results.len(), request.items.len());
    if answer.bytes > max_bytes {
        let detail = format!("the answer has {} bytes, more than {max_bytes}", answer.bytes);
        return Err(ServiceError::new(ServiceErrorKind::TooLarge, detail));
    }
    if results != items {
        let detail = format!("the answer has {results} results for {items} items");
        return Err(ServiceError::new(ServiceErrorKind::Unreadable, detail));
    }
    Ok(answer)
}
