//! Options and environment variables of metrics and slow operations in, plain settings out. Traces have the `OTEL_*` variables of OpenTelemetry.

use crate::serve::settings::duration;
use clap::Args;
use std::time::Duration;

/// What an operator sees.
#[derive(Debug, Clone, Default, Args)]
pub struct TelemetrySettings {
    /// Address and port at which Prometheus gets the metrics, at /metrics; keep it from the internet, as it asks nobody to sign in [default:
    /// no metrics]
    #[arg(long, env = "KEYFOLD_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<String>,

    /// Log operations that take longer than this, with their plan [default: none]
    #[arg(long, env = "KEYFOLD_SLOW", value_name = "TIME", value_parser = duration)]
    pub slow: Option<Duration>,
}
