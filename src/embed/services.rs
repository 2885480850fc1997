//! The services of a program: code under the names of the schema's services. Those without code are reached by their
//! addresses.

use crate::execute::service::call::{
    ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest, ServiceResult,
};
use crate::schema::model::service::Service;
use crate::serve::outbound::service::HttpServices;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;
use std::collections::HashMap;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

/// The services of a program.
#[derive(Default)]
pub struct OwnServices {
    code: HashMap<String, Arc<dyn ServiceCaller>>,
    others: HttpServices,
}

impl OwnServices {
    /// Registers code under a name.
    pub fn register<Code, Answer>(&mut self, name: String, code: Code)
    where
        Code: Fn(ServiceRequest) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Vec<ServiceResult>> + Send + 'static,
    {
        self.code.insert(name, Arc::new(OwnService(code)));
    }
}

impl OwnServices {
    /// The names for which there is code.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.code.keys()
    }
}

impl ServiceConnector for OwnServices {
    fn connect(&self, service: &Service) -> Option<Arc<dyn ServiceCaller>> {
        self.code.get(&service.name).cloned().or_else(|| self.others.connect(service))
    }
}

/// A service that is code.
struct OwnService<Code>(Code);

impl<Code, Answer> ServiceCaller for OwnService<Code>
where
    Code: Fn(ServiceRequest) -> Answer + Send + Sync,
    Answer: Future<Output = Vec<ServiceResult>> + Send + 'static,
{
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        let answer = async move { (self.0)(request.clone()).await };
        // What goes wrong in the code of a service is an error at its fields.
        let answer = AssertUnwindSafe(answer).catch_unwind().map(|answer| match answer {
            Ok(results) => {
                let bytes = results.iter().map(bytes_of_result).sum();
                Ok(ServiceAnswer { results, bytes })
            }
            Err(_) => Err(ServiceError::new(ServiceErrorKind::Unavailable, "the code of the service panicked")),
        });
        answer.boxed()
    }
}

/// How many bytes a result has as JSON, about: escapes and spaces do not count.
fn bytes_of_result(result: &ServiceResult) -> usize {
    match result {
        Ok(value) => bytes_of(value),
        Err(refused) => refused.code.len() + refused.message.len(),
    }
}

fn bytes_of(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.as_str().len(),
        Value::String(text) => text.len() + 2,
        Value::Array(elements) => 2 + elements.iter().map(|element| bytes_of(element) + 1).sum::<usize>(),
        Value::Object(members) => {
            2 + members.iter().map(|(name, value)| name.len() + 4 + bytes_of(value)).sum::<usize>()
        }
    }
}
