//! A call of any kind in; its answer, or the attempt's failure, out: written, sent once over a connection, and read.

use super::call::Call;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::client::connection::DynamoConnection;
use crate::table::client::refusal::{broken, unreadable};
use crate::table::data_store::Metered;
use crate::table::json::decode::read_answer;
use std::sync::Arc;

/// Makes calls without the AWS SDK.
pub(in crate::table) struct DirectMaker {
    /// Sends them.
    pub(in crate::table) connection: DynamoConnection,
}

impl DirectMaker {
    /// Makes one attempt. Gives what the answer says, and the capacity units consumed.
    pub(in crate::table) async fn make<C: Call>(
        &self,
        call: &C,
        tally: Option<&CallTally>,
    ) -> Result<Metered<C::Answer>, AttemptFailure> {
        let body = self.connection.send(call.operation(), call.json(), tally).await?;
        // The text is checked as a whole, not string by string. It is copied, so that the connection reads into the
        // same memory again, while the items keep no more than they need.
        let text = std::str::from_utf8(&body).map_err(|error| broken(format!("the answer is no text: {error}")))?;
        let text = Arc::new(text.to_owned());
        drop(body);
        call.answer(read_answer(&text, call.unread()).map_err(|error| unreadable(&text, &error))?)
    }
}
