//! What every kind of call says of itself, so that whatever makes calls needs no method for each kind. Must not know who makes them.

use crate::table::attempt::failure::AttemptFailure;
use crate::table::client::encode::BodyWriter;
use crate::table::data_store::Metered;
use aws_sdk_dynamodb::Client;
use serde::de::DeserializeOwned;

/// One call of a kind, as plain data.
pub(in crate::table) trait Call: Sync {
    /// What an answer tells.
    type Answer: Send;
    /// The JSON of an answer.
    type Json: DeserializeOwned;

    /// The name of the DynamoDB operation.
    fn operation(&self) -> &'static str;

    /// Writes the members of the request's body, but for `ReturnConsumedCapacity`, which every request has.
    fn body(&self, body: &mut BodyWriter);

    /// Reads the result of an answer, and the capacity units consumed, from its JSON.
    fn answer(&self, json: Self::Json) -> Result<Metered<Self::Answer>, AttemptFailure>;

    /// Makes one attempt by the AWS SDK.
    fn by_sdk(&self, client: &Client) -> impl Future<Output = Result<Metered<Self::Answer>, AttemptFailure>> + Send;
}
