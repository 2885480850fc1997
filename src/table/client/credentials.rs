//! A source of credentials in; credentials that are valid now out. They are kept until they expire, and refreshed ahead
//! of that.

use aws_credential_types::Credentials;
use aws_credential_types::provider::error::CredentialsError;
use aws_credential_types::provider::{ProvideCredentials, SharedCredentialsProvider};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

/// How long before they expire credentials are refreshed. AWS hands out new ones at least five minutes ahead (Amazon
/// EC2 user guide, "Retrieve security credentials from instance metadata").
const AHEAD: Duration = Duration::from_secs(5 * 60);
/// Longest wait for credentials. An attempt lasts longer: it must not end as one that the table did not answer.
const LOAD_LIMIT: Duration = Duration::from_secs(4);
/// How long after a refresh the next one begins. A source may give the same credentials again for a while.
const REFRESH_PAUSE: Duration = Duration::from_secs(5);

/// Credentials and where they come from; cheap to clone.
#[derive(Clone)]
pub(super) struct CredentialsCache {
    inner: Arc<Inner>,
}

struct Inner {
    provider: SharedCredentialsProvider,
    known: RwLock<Option<Arc<Credentials>>>,
    /// Held while credentials are loaded, so that one caller loads for all.
    loading: Mutex<()>,
    /// Whether credentials are refreshed in the background, or were a moment ago.
    is_refreshing: AtomicBool,
}

impl CredentialsCache {
    /// A cache that has loaded nothing yet.
    pub(super) fn new(provider: SharedCredentialsProvider) -> Self {
        Self {
            inner: Arc::new(Inner {
                provider,
                known: RwLock::new(None),
                loading: Mutex::new(()),
                is_refreshing: AtomicBool::new(false),
            }),
        }
    }

    /// Credentials that are valid now. Where they expire soon, it refreshes them in the background and gives the
    /// present ones.
    pub(super) async fn get(&self) -> Result<Arc<Credentials>, CredentialsError> {
        let now = SystemTime::now();
        match self.inner.known() {
            Some(known) if lasts(&known, now + AHEAD) => Ok(known),
            Some(known) if lasts(&known, now) => {
                if !self.inner.is_refreshing.swap(true, Ordering::Relaxed) {
                    tokio::spawn(self.inner.clone().refresh());
                }
                Ok(known)
            }
            _ => {
                let in_turn = async {
                    let _loading = self.inner.loading.lock().await;
                    match self.inner.known() {
                        Some(known) if lasts(&known, SystemTime::now()) => Ok(known),
                        _ => self.inner.load().await,
                    }
                };
                in_time(in_turn).await
            }
        }
    }

    /// Forgets credentials that the server refused, unless others have come since.
    pub(super) fn forget(&self, refused: &Credentials) {
        let mut known = self.inner.known.write().unwrap_or_else(PoisonError::into_inner);
        if known.as_ref().is_some_and(|known| known.access_key_id() == refused.access_key_id()) {
            *known = None;
        }
    }
}

impl Inner {
    fn known(&self) -> Option<Arc<Credentials>> {
        self.known.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn refresh(self: Arc<Self>) {
        if let Err(error) = in_time(self.load()).await {
            tracing::warn!(%error, "the credentials could not be refreshed yet");
        }
        sleep(REFRESH_PAUSE).await;
        self.is_refreshing.store(false, Ordering::Relaxed);
    }

    async fn load(&self) -> Result<Arc<Credentials>, CredentialsError> {
        let loaded = Arc::new(self.provider.provide_credentials().await?);
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(loaded.clone());
        Ok(loaded)
    }
}

/// Credentials, or that they did not come in time.
async fn in_time<C>(loaded: impl Future<Output = Result<C, CredentialsError>>) -> Result<C, CredentialsError> {
    timeout(LOAD_LIMIT, loaded).await.unwrap_or_else(|_| Err(CredentialsError::provider_timed_out(LOAD_LIMIT)))
}

/// Whether credentials are valid at a time.
fn lasts(credentials: &Credentials, until: SystemTime) -> bool {
    credentials.expiry().is_none_or(|expiry| expiry > until)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::attempt::attempts::ATTEMPT_LIMIT;
    use aws_credential_types::provider::future;
    use std::sync::atomic::AtomicUsize;
    use tokio::task::yield_now;
    use tokio::time::Instant;

    /// A source that gives credentials of a minute and counts how often, or never answers.
    #[derive(Debug, Default)]
    struct Source(Option<Arc<AtomicUsize>>);

    impl ProvideCredentials for Source {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let Some(asked) = &self.0 else { return future::ProvideCredentials::new(std::future::pending()) };
            asked.fetch_add(1, Ordering::Relaxed);
            let expiry = SystemTime::now() + Duration::from_secs(60);
            future::ProvideCredentials::ready(Ok(Credentials::new("id", "secret", None, Some(expiry), "test")))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_that_keeps_giving_credentials_that_end_soon_is_asked_now_and_then() {
        let asked = Arc::new(AtomicUsize::new(0));
        let cache = CredentialsCache::new(SharedCredentialsProvider::new(Source(Some(asked.clone()))));
        for expected in [2, 3] {
            for _ in 0..100 {
                cache.get().await.unwrap();
                yield_now().await;
            }
            assert_eq!(asked.load(Ordering::Relaxed), expected);
            sleep(REFRESH_PAUSE * 2).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_waits_for_a_silent_source_gets_an_error_before_an_attempt_ends() {
        let (cache, begun) = (CredentialsCache::new(SharedCredentialsProvider::new(Source::default())), Instant::now());
        let all = futures_util::future::join_all((0..3).map(|_| cache.get())).await;
        assert!(all.iter().all(|got| matches!(got, Err(CredentialsError::ProviderTimedOut(_)))), "{all:?}");
        assert!(begun.elapsed() < ATTEMPT_LIMIT);
    }
}
