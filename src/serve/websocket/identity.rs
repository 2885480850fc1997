//! The sign-in of a WebSocket: the header of its request and its first message in; who sends its operations, and when
//! the socket must be closed for it, out. Must not know operations.

use super::protocol::{FORBIDDEN, close};
use crate::serve::sign_in::authenticator::{Authenticator, Identity};
use crate::serve::sign_in::credentials::Credentials;
use crate::serve::sign_in::fault::RefusedCaller;
use crate::serve::sign_in::origin::RequestOrigin;
use axum::extract::ws::{CloseCode, CloseFrame};
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::watch;
use tokio::time::sleep_until;

/// The code of a socket that is closed because the server cannot do its work now (IANA, "WebSocket Close Code Number
/// Registry").
pub const TRY_AGAIN_LATER: CloseCode = 1013;

/// Who has a WebSocket. Copies share it.
#[derive(Clone)]
pub struct SocketIdentity {
    authenticator: Authenticator,
    origin: Arc<RequestOrigin>,
    state: Arc<watch::Sender<State>>,
}

#[derive(Clone)]
enum State {
    Known(Identity),
    Refused(CloseFrame),
}

impl SocketIdentity {
    /// The identity that the header of the request gave.
    pub fn new(authenticator: Authenticator, origin: RequestOrigin, identity: Identity) -> Self {
        Self { authenticator, origin: Arc::new(origin), state: Arc::new(watch::Sender::new(State::Known(identity))) }
    }

    /// Who sends the operations that begin now.
    pub fn current(&self) -> Identity {
        match &*self.state.borrow() {
            State::Known(identity) => identity.clone(),
            State::Refused(_) => Identity::default(),
        }
    }

    /// Checks what the first message shows, which replaces what the header showed. `false` if the client is not let in.
    pub async fn initialise(&self, payload: Value) -> bool {
        let shown = Credentials::from_payload(&payload);
        if shown == Ok(Credentials::None) {
            return true;
        }
        let state = match self.authenticator.identify(shown, &self.origin).await {
            Ok(identity) => State::Known(identity),
            Err(refused) if refused.fault.passes() => {
                State::Refused(close(TRY_AGAIN_LATER, "Tokens cannot be checked now."))
            }
            // A reason is too short for a whole advice.
            Err(RefusedCaller { fault, advice: Some(_) }) => {
                State::Refused(close(FORBIDDEN, &format!("The sign-in is refused: {fault}.")))
            }
            Err(_) => State::Refused(close(FORBIDDEN, "Forbidden")),
        };
        let known = matches!(state, State::Known(_));
        self.state.send_replace(state);
        known
    }

    /// Waits until the client is refused, or until its token ends: then the socket must be closed with this frame.
    pub async fn over(&self) -> CloseFrame {
        let mut states = self.state.subscribe();
        loop {
            let ends = match &*states.borrow_and_update() {
                State::Refused(frame) => return frame.clone(),
                State::Known(identity) => identity.ends,
            };
            let ended = async {
                match ends {
                    Some(ends) => sleep_until(ends).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = ended => return close(FORBIDDEN, "The token has expired."),
                // The sender is part of this value.
                _ = states.changed() => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::caller::Caller;
    use crate::serve::client::ClientAddress;
    use crate::serve::sign_in::api_keys::ApiKeys;
    use crate::serve::sign_in::watched_file::WatchedFile;
    use futures_util::FutureExt;
    use serde_json::json;
    use std::time::Duration;
    use tokio::time::Instant;

    fn socket(authenticator: Authenticator, ends: Option<Instant>) -> SocketIdentity {
        let origin =
            RequestOrigin { client: ClientAddress::new([127, 0, 0, 1].into()), request_id: None, caller: None };
        SocketIdentity::new(
            authenticator,
            origin,
            Identity { caller: Caller::signed_in(serde_json::Map::new()), issuer: None, ends },
        )
    }

    #[tokio::test(start_paused = true)]
    async fn a_socket_is_closed_when_its_token_ends() {
        let begin = Instant::now();
        let socket = socket(Authenticator::off(), Some(begin + Duration::from_secs(60)));
        assert_eq!((socket.over().await.code, begin.elapsed().as_secs()), (FORBIDDEN, 60));
    }

    #[tokio::test]
    async fn a_wrong_first_message_closes_the_socket_and_none_changes_nothing() {
        let socket = socket(Authenticator::new(vec![], WatchedFile::fixed(ApiKeys::default())), None);
        assert!(socket.initialise(json!({"lang": "en"})).await && socket.current().caller.is_signed_in());
        assert!(socket.over().now_or_never().is_none());
        assert!(!socket.initialise(json!({"token": "wrong"})).await && !socket.current().caller.is_signed_in());
        assert_eq!(socket.over().await.code, FORBIDDEN);
    }
}
