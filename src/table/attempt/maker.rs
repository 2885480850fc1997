//! What makes one attempt of a call: the AWS SDK, the direct client, or the embedded engine. Must not know kinds of calls, nor attempts before or after it.

use super::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::calls::call::Call;
use crate::table::client::maker::DirectMaker;
use crate::table::data_store::Metered;
use crate::table::embedded::maker::EmbeddedMaker;
use aws_sdk_dynamodb::Client;

/// Makes attempts.
#[derive(Clone, Copy)]
pub(in crate::table) enum CallMaker<'a> {
    /// By the AWS SDK.
    Sdk(&'a Client),
    /// Without it.
    Direct(&'a DirectMaker),
    /// By the engine in this process.
    Embedded(&'a EmbeddedMaker),
}

impl CallMaker<'_> {
    /// Makes one attempt. Gives what the answer tells, and the capacity units consumed. The tally keeps the id of the answer, but for
    /// answers of the SDK.
    pub(super) async fn make<C: Call>(self, call: &C, tally: Option<&CallTally>) -> Result<Metered<C::Answer>, AttemptFailure> {
        match self {
            // The futures are large, and whoever makes attempts has room for all three.
            Self::Sdk(client) => Box::pin(call.by_sdk(client)).await,
            Self::Direct(direct) => Box::pin(direct.make(call, tally)).await,
            Self::Embedded(embedded) => Box::pin(embedded.make(call)).await,
        }
    }
}
