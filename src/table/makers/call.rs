//! What every kind of call says of itself, so that whatever makes calls needs no method for each kind. Must not know
//! who makes them.

use crate::table::attempt::failure::AttemptFailure;
use crate::table::data_store::Metered;
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::json::decode::AnswerJson;
use crate::table::json::encode::BodyWriter;
use aws_sdk_dynamodb::Client;
use dynoxide::DynoxideError;

/// One call of a kind, as plain data.
pub(in crate::table) trait Call: Sync {
    /// What an answer says.
    type Answer: Send + 'static;
    /// The JSON of an answer.
    type Json: AnswerJson;

    /// The name of the DynamoDB operation.
    fn operation(&self) -> &'static str;

    /// Writes the members of the request's body, but for `ReturnConsumedCapacity`, which every request has.
    fn body(&self, body: &mut BodyWriter);

    /// The request's body.
    fn json(&self) -> Vec<u8> {
        let mut body = BodyWriter::begin();
        self.body(&mut body);
        body.text("ReturnConsumedCapacity", "TOTAL");
        body.end()
    }

    /// The JSON of an answer before it is read: what the call knows of its members.
    fn unread(&self) -> Self::Json {
        Self::Json::default()
    }

    /// Reads the result of an answer, and the capacity units consumed, from its JSON.
    fn answer(&self, json: Self::Json) -> Result<Metered<Self::Answer>, AttemptFailure>;

    /// Makes one attempt by the AWS SDK.
    fn by_sdk(&self, client: &Client) -> impl Future<Output = Result<Metered<Self::Answer>, AttemptFailure>> + Send;

    /// How long the embedded engine takes for it.
    fn length(&self) -> Length;

    /// The call on the embedded engine, which runs it when its turn has come.
    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<Self::Answer> + Send + 'static;
}

/// What an answer of the embedded engine says, and the capacity units consumed; or the engine's refusal.
pub(in crate::table) type EngineAnswer<T> = Result<Metered<T>, DynoxideError>;
