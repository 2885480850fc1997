//! A call of any kind in; its answer, or the attempt's failure, out: written, sent once over a connection, and read.

use super::connection::DynamoConnection;
use super::refusal::unreadable;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::calls::call::Call;
use crate::table::data_store::Metered;

/// Makes calls without the AWS SDK.
pub(in crate::table) struct DirectMaker {
    /// Sends them.
    pub(in crate::table) connection: DynamoConnection,
}

impl DirectMaker {
    /// Makes one attempt. Gives what the answer tells, and the capacity units consumed.
    pub(in crate::table) async fn make<C: Call>(&self, call: &C, tally: Option<&CallTally>) -> Result<Metered<C::Answer>, AttemptFailure> {
        let answer = self.connection.send(call.operation(), call.json(), tally).await?;
        // The text is checked as a whole, not string by string. Bytes that are no text are read for the error.
        let json = std::str::from_utf8(&answer).map_or_else(|_| serde_json::from_slice(&answer), serde_json::from_str);
        call.answer(json.map_err(|error| unreadable(&error))?)
    }
}
