//! A payments service as a test has it: a charge is made once for each key, and what is undone is not made any more.

use crate::scripted::{items, refused};
use crate::unsteady::{Chances, Fate};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use keyfold::execute::service::call::{
    ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest, ServiceResult,
};
use keyfold::schema::model::service::Service;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// What the service knows of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Charge {
    Made(Standing),
    Undone,
}

/// A charge that stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    pub id: String,
    pub amount: i64,
    /// The field for which it was made.
    pub field: String,
    /// Whether it is a parcel.
    pub is_parcel: bool,
}

/// The service, whose calls have trouble by chance.
#[derive(Clone)]
pub struct Till {
    charges: Arc<Mutex<BTreeMap<String, Charge>>>,
    given_back: Arc<Mutex<usize>>,
    chances: Chances,
}

impl Till {
    pub fn new(chances: Chances) -> Self {
        Self { charges: Arc::default(), given_back: Arc::default(), chances }
    }

    /// The charges that stand, by their ids.
    pub fn standing(&self) -> BTreeMap<String, Standing> {
        let charges = self.charges.lock().unwrap();
        let standing = charges.values().filter_map(|charge| match charge {
            Charge::Made(standing) => Some((standing.id.clone(), standing.clone())),
            Charge::Undone => None,
        });
        standing.collect()
    }

    /// How many charges were made and given back.
    pub fn given_back(&self) -> usize {
        *self.given_back.lock().unwrap()
    }

    fn make(&self, request: &ServiceRequest) -> ServiceResult {
        let key = request.key.clone().unwrap();
        let mut charges = self.charges.lock().unwrap();
        let count = charges.len();
        if request.undo.is_some() {
            let before = charges.insert(key, Charge::Undone);
            *self.given_back.lock().unwrap() += usize::from(matches!(before, Some(Charge::Made(_))));
            return Ok(json!({}));
        }
        let item = &items(request)[0];
        let amount = item["amount"].as_i64().unwrap_or_default();
        if item["token"] == "bad" {
            return refused("DECLINED", "The card is declined.");
        }
        let is_parcel = item.get("charge").is_some();
        let new = || Standing { id: format!("ch{count}"), amount, field: request.field.clone(), is_parcel };
        match charges.entry(key).or_insert_with(|| Charge::Made(new())) {
            Charge::Made(before) if before.amount != amount || before.field != request.field => {
                refused("MISMATCH", "Another charge.")
            }
            Charge::Made(Standing { id, .. }) => {
                Ok(json!({ "id": id, "amount": amount, "method": "card", "balance": 17, "code": id }))
            }
            Charge::Undone => refused("UNDONE", "This charge was given back."),
        }
    }
}

impl ServiceCaller for Till {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        async move {
            let fail = |kind| Err(ServiceError::new(kind, "lost"));
            match self.chances.next() {
                Fate::Answered => Ok(ServiceAnswer { results: vec![self.make(request)], bytes: 100 }),
                Fate::Lost => fail(ServiceErrorKind::Unavailable),
                Fate::Unanswered => {
                    let _ = self.make(request);
                    fail(ServiceErrorKind::Unreadable)
                }
                Fate::Late(time) => {
                    let (till, request) = (self.clone(), request.clone());
                    tokio::spawn(async move {
                        tokio::time::sleep(time).await;
                        let _: Result<Value, _> = till.make(&request);
                    });
                    fail(ServiceErrorKind::Timeout)
                }
            }
        }
        .boxed()
    }
}

impl ServiceConnector for Till {
    fn connect(&self, _: &Service) -> Option<Arc<dyn ServiceCaller>> {
        Some(Arc::new(self.clone()))
    }
}
