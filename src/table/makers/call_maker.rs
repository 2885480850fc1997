//! What makes one attempt of a call: the AWS SDK, the direct client, or the embedded engine. The SDK's requests differ
//! by the kind of call, which makes them itself.

use super::call::Call;
use super::direct::DirectMaker;
use super::embedded::EmbeddedMaker;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use crate::table::data_store::Metered;
use aws_sdk_dynamodb::Client;
use futures_util::future::BoxFuture;

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

impl<'a> CallMaker<'a> {
    /// Makes one attempt. Gives what the answer says, and the capacity units consumed. The tally keeps the id of the
    /// answer, but for answers of the SDK.
    pub(in crate::table) fn make<'c, C: Call>(
        self,
        call: &'c C,
        tally: Option<&'c CallTally>,
    ) -> BoxFuture<'c, Result<Metered<C::Answer>, AttemptFailure>>
    where
        'a: 'c,
    {
        match self {
            Self::Sdk(client) => Box::pin(call.by_sdk(client)),
            Self::Direct(direct) => Box::pin(direct.make(call, tally)),
            Self::Embedded(embedded) => Box::pin(embedded.make(call)),
        }
    }
}
