//! The signals of the system in, what they ask for out: to stop, or to load the schema again.

use anyhow::{Context, Result};

/// The signals that ask a process to stop.
pub struct StopSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl StopSignals {
    /// Keeps the signals from here on. An error is the system's.
    #[cfg(unix)]
    pub fn new() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let what = "cannot listen for signals";
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context(what)?,
            interrupt: signal(SignalKind::interrupt()).context(what)?,
        })
    }

    /// Waits for the next one. Gives its name.
    #[cfg(unix)]
    pub async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }

    /// Waits for Ctrl-C when it is asked.
    #[cfg(not(unix))]
    pub fn new() -> Result<Self> {
        Ok(Self {})
    }

    /// Waits for the next one. Gives its name.
    #[cfg(not(unix))]
    pub async fn next(&mut self) -> &'static str {
        match tokio::signal::ctrl_c().await {
            Ok(()) => "Ctrl-C",
            Err(_) => std::future::pending().await,
        }
    }
}

/// The signals that ask a process to load its schema again: SIGHUP. Several that come during a reload are one.
pub struct Hangups {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl Hangups {
    /// Keeps the signal from here on, and does not let it end the process. An error is the system's.
    #[cfg(unix)]
    pub fn listen() -> Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self { signal: Some(signal(SignalKind::hangup()).context("cannot listen for signals")?) })
    }

    /// There is no such signal.
    #[cfg(not(unix))]
    pub fn listen() -> Result<Self> {
        Ok(Self {})
    }

    /// Leaves the signal to the system, which ends the process by it.
    pub fn none() -> Self {
        Self {
            #[cfg(unix)]
            signal: None,
        }
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}
