//! Options and environment variables in, the settings of the server out. `--help` comes from here.

use crate::execute::request;
use crate::plan::cost::limits::CostLimits;
use crate::plan::tree::SingleWrites;
use crate::serve::documents::settings::DocumentSettings;
use crate::serve::sign_in::rate_limit::{Rate, rate};
use crate::serve::sign_in::settings::SignInSettings;
use axum::http::uri::Authority;
use clap::{Args, ValueEnum};
use std::time::Duration;

/// Shortest secret that protects cursors, in bytes (128 bits).
const SHORTEST_KEY: usize = 16;
/// Longest time of a setting.
const HOUR: Duration = Duration::from_secs(3_600);

/// The settings of `keyfold dev` and `keyfold serve`.
#[derive(Debug, Clone, Args)]
pub struct ServerSettings {
    /// Address and port to listen on [default: 127.0.0.1:4000 in dev, 0.0.0.0:4000 in serve]
    #[arg(long, env = "KEYFOLD_LISTEN", value_name = "ADDRESS")]
    pub listen: Option<String>,

    /// Secret of at least 16 bytes that encrypts cursors; all copies of a gateway must share it [default: random in
    /// serve, derived from the schema in dev]
    #[arg(long, env = "KEYFOLD_CURSOR_KEY", value_name = "SECRET", hide_env_values = true, value_parser = cursor_key)]
    pub cursor_key: Option<String>,

    /// Let pages of this origin call the API, such as `https://app.example.com`; repeat it for several, * for all
    #[arg(long = "allow-origin", env = "KEYFOLD_ALLOW_ORIGIN", value_name = "ORIGIN", value_delimiter = ',')]
    pub allow_origins: Vec<String>,

    /// Let pages of localhost, 127.0.0.1 and ::1 on any port call the API [default: on in dev, off in serve]
    #[arg(long, env = "KEYFOLD_LOCAL_ORIGINS", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub local_origins: Option<bool>,

    /// What clients may see besides data.
    #[command(flatten)]
    pub features: Features,

    /// Serve requests for this host, such as `api.example.com`; repeat it for several [default: in dev, the address,
    /// localhost and loopback addresses only; in serve, every host]
    #[arg(long = "allow-host", env = "KEYFOLD_ALLOW_HOST", value_name = "HOST",
          value_delimiter = ',', value_parser = host_name)]
    pub allow_hosts: Vec<String>,

    /// Who may sign in.
    #[command(flatten)]
    pub sign_in: SignInSettings,

    /// Documents that requests may name.
    #[command(flatten)]
    pub documents: DocumentSettings,

    /// Bounds of one request and of its connection.
    #[command(flatten)]
    pub limits: RequestLimits,

    /// Bounds of one operation.
    #[command(flatten)]
    pub budgets: Budgets,

    /// Logs.
    #[command(flatten)]
    pub log: LogSettings,

    /// Metrics and slow operations.
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}

/// What clients may see besides data. By default, all three are on in dev and off in serve.
#[derive(Debug, Clone, Default, Args)]
pub struct Features {
    /// Let clients introspect the schema [default: on in dev, off in serve]
    #[arg(long, env = "KEYFOLD_INTROSPECTION", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub introspection: Option<bool>,

    /// Forbid introspection
    #[arg(long)]
    pub no_introspection: bool,

    /// Show GraphiQL to browsers at / [default: on in dev, off in serve]
    #[arg(long, env = "KEYFOLD_PLAYGROUND", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub playground: Option<bool>,

    /// Explain the plan and the calls to clients that send X-Keyfold-Explain: 1 [default: on in dev, off in serve]
    #[arg(long, env = "KEYFOLD_EXPLAIN", value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pub explain: Option<bool>,
}

/// Bounds of one request and of its connection.
#[derive(Debug, Clone, Args)]
pub struct RequestLimits {
    /// Largest request body, in bytes
    #[arg(long, env = "KEYFOLD_BODY_LIMIT", value_name = "BYTES", default_value_t = 2 * 1024 * 1024)]
    pub body_limit: usize,

    /// Most operations of one request, as a list; 1 for no lists
    #[arg(long, env = "KEYFOLD_MAX_BATCH", value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    pub max_batch: usize,

    /// Time for a client to send the header of a request
    #[arg(long, env = "KEYFOLD_HEADER_TIMEOUT", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub header_timeout: Duration,

    /// Time for which a connection of HTTP/1.1 stays open between two requests; behind a load balancer, choose more
    /// than its idle timeout (60s for AWS)
    #[arg(long, env = "KEYFOLD_KEEP_ALIVE", value_name = "TIME", default_value = "75s", value_parser = duration)]
    pub keep_alive: Duration,

    /// Time for a client to send a body, or a message over a WebSocket; after two seconds, it must send at least 1 kB a
    /// second
    #[arg(long, env = "KEYFOLD_BODY_TIMEOUT", value_name = "TIME", default_value = "10s", value_parser = duration)]
    pub body_timeout: Duration,

    /// Time for one operation, once its request has arrived: 30s, 500ms, 2m
    #[arg(long, env = "KEYFOLD_REQUEST_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub request_timeout: Duration,

    /// Time over which a client must take at least 8 KiB of its response a second
    #[arg(long, env = "KEYFOLD_WRITE_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub write_timeout: Duration,

    /// Time for running requests to finish when the server is asked to stop
    #[arg(long, env = "KEYFOLD_SHUTDOWN_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = duration)]
    pub shutdown_timeout: Duration,

    /// Bounds that clients share.
    #[command(flatten)]
    pub shared: SharedLimits,
}

/// Bounds of all clients together, and of the part that one of them may have.
#[derive(Debug, Clone, Args)]
pub struct SharedLimits {
    /// Connections that are open at once; others wait. One client may have a quarter, unless it comes through
    /// --trusted-proxies
    #[arg(long, env = "KEYFOLD_MAX_CONNECTIONS", value_name = "N",
          default_value_t = Self::default().max_connections, value_parser = at_least_one)]
    pub max_connections: usize,

    /// Operations that run at once; others get 503
    #[arg(long, env = "KEYFOLD_MAX_REQUESTS", value_name = "N",
          default_value_t = Self::default().max_requests, value_parser = at_least_one)]
    pub max_requests: usize,

    /// Operations of one client that run at once; others get 429 [default: a quarter of --max-requests]
    #[arg(long, env = "KEYFOLD_MAX_REQUESTS_PER_CLIENT", value_name = "N", value_parser = at_least_one)]
    pub max_requests_per_client: Option<usize>,

    /// Operations that one caller may begin, such as 50/s or 1000/m; who is not signed in counts by address. Others get
    /// 429 [default: no limit]
    #[arg(long, env = "KEYFOLD_RATE_LIMIT", value_name = "RATE", value_parser = rate)]
    pub rate_limit: Option<Rate>,

    /// Queries and mutations of one WebSocket that run at once; others wait
    #[arg(long, env = "KEYFOLD_MAX_SOCKET_OPERATIONS", value_name = "N",
          default_value_t = Self::default().max_socket_operations, value_parser = at_least_one)]
    pub max_socket_operations: usize,

    /// Subscriptions of one WebSocket; others get an error
    #[arg(long, env = "KEYFOLD_MAX_SOCKET_SUBSCRIPTIONS", value_name = "N",
          default_value_t = Self::default().max_socket_subscriptions, value_parser = at_least_one)]
    pub max_socket_subscriptions: usize,

    /// Memory for requests that arrive or run, of which one client may have a quarter
    #[arg(long, env = "KEYFOLD_REQUEST_MEMORY", value_name = "BYTES", default_value_t = Self::default().request_memory)]
    pub request_memory: usize,

    /// Memory for responses that clients have not taken yet, of which one client may have a quarter
    #[arg(long, env = "KEYFOLD_RESPONSE_MEMORY", value_name = "BYTES",
          default_value_t = Self::default().response_memory)]
    pub response_memory: usize,

    /// Memory for subscriptions besides their events, of which one client may have a quarter; each takes 5 kB and its
    /// request
    #[arg(long, env = "KEYFOLD_SUBSCRIPTION_MEMORY", value_name = "BYTES",
          default_value_t = Self::default().subscription_memory)]
    pub subscription_memory: usize,

    /// Proxies in front of this server that append the address of their client to X-Forwarded-For
    #[arg(long, env = "KEYFOLD_TRUSTED_PROXIES", value_name = "N", default_value_t = Self::default().trusted_proxies)]
    pub trusted_proxies: usize,
}

/// Bounds of one operation.
#[derive(Debug, Clone, Args)]
pub struct Budgets {
    /// Deepest nesting of fields in an operation
    #[arg(long, env = "KEYFOLD_MAX_DEPTH", value_name = "N", default_value_t = 20)]
    pub max_depth: usize,

    /// Most fields of an operation, counted after its fragments are spread
    #[arg(long, env = "KEYFOLD_MAX_FIELDS", value_name = "N", default_value_t = 5_000)]
    pub max_fields: usize,

    /// Most aliases of an operation
    #[arg(long, env = "KEYFOLD_MAX_ALIASES", value_name = "N", default_value_t = 30)]
    pub max_aliases: usize,

    /// Most objects in a response
    #[arg(long, env = "KEYFOLD_MAX_NODES", value_name = "N", default_value_t = 100_000)]
    pub max_nodes: usize,

    /// Most bytes of a response
    #[arg(long, env = "KEYFOLD_MAX_RESPONSE_BYTES", value_name = "BYTES", default_value_t = 10 << 20)]
    pub max_response_bytes: usize,

    /// Most bytes that the table reads for a response, including those that filters and counts look at
    #[arg(long, env = "KEYFOLD_MAX_READ_BYTES", value_name = "BYTES", default_value_t = 64 << 20)]
    pub max_read_bytes: u64,

    /// Memory for what running operations have read, of which one client may have a quarter; operations that take more
    /// than 256 KiB wait beyond it
    #[arg(long, env = "KEYFOLD_READ_MEMORY", value_name = "BYTES", default_value_t = 64 << 20)]
    pub read_memory: u64,

    /// Most calls that an operation may make, by its plan; `keyfold explain` shows them [default: no limit]
    #[arg(long, env = "KEYFOLD_MAX_CALLS", value_name = "N")]
    pub max_calls: Option<u64>,

    /// Most capacity units that an operation may consume, by its plan [default: no limit]
    #[arg(long, env = "KEYFOLD_MAX_CAPACITY", value_name = "UNITS")]
    pub max_capacity: Option<u64>,

    /// Calls of all requests that are in flight at once; others take turns, request by request [default: 64 for each
    /// processor, 44 on the embedded store]
    #[arg(long, env = "KEYFOLD_MAX_CALLS_IN_FLIGHT", value_name = "N", value_parser = at_least_one)]
    pub max_calls_in_flight: Option<usize>,

    /// Read as many items for the first page of a filter, and of a type among others, as the pages before it needed
    #[arg(long, env = "KEYFOLD_LEARNED_PAGES", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          action = clap::ArgAction::Set, default_value_t = true, default_missing_value = "true")]
    pub learned_pages: bool,

    /// How a write of one item is sent. If the answer to a call is lost, the caller hears that the change may have been
    /// made. A transaction is repeated until it is certain, and costs twice the write units
    #[arg(long, env = "KEYFOLD_SINGLE_WRITES", value_name = "FORM", default_value = "call")]
    pub single_writes: SingleWriteForm,

    /// Most bytes of an operation's plan
    #[arg(long, env = "KEYFOLD_MAX_PLAN_BYTES", value_name = "BYTES", default_value_t = 4 << 20)]
    pub max_plan_bytes: u64,

    /// Memory for parsed operations and their plans
    #[arg(long, env = "KEYFOLD_PLAN_CACHE_BYTES", value_name = "BYTES", default_value_t = 64 << 20)]
    pub plan_cache_bytes: u64,

    /// Memory for what reads of types and fields with @cacheControl found; 0 keeps nothing
    #[arg(long, env = "KEYFOLD_CACHE_SIZE", value_name = "BYTES", default_value_t = 64 << 20)]
    pub cache_size: u64,
}

/// Logs.
#[derive(Debug, Clone, Args)]
pub struct LogSettings {
    /// Form of the log lines on standard error
    #[arg(long, env = "KEYFOLD_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,

    /// What to log: error, warn, info, debug, trace, or a filter such as info,keyfold=debug
    #[arg(
        long = "log",
        env = "KEYFOLD_LOG",
        value_name = "FILTER",
        default_value = "info,aws_config=error,h2=error,async_nats=off"
    )]
    pub log_filter: String,
}

/// What an operator sees.
#[derive(Debug, Clone, Default, Args)]
pub struct TelemetrySettings {
    /// Address and port at which Prometheus gets the metrics, at /metrics; keep it from the internet, as it asks nobody
    /// to sign in [default: no metrics]
    #[arg(long, env = "KEYFOLD_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<String>,

    /// Log operations that take longer than this, with their plan [default: none]
    #[arg(long, env = "KEYFOLD_SLOW", value_name = "TIME", value_parser = duration)]
    pub slow: Option<Duration>,
}

/// Form of the log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// The form of a write of one item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SingleWriteForm {
    /// PutItem, UpdateItem or DeleteItem.
    Call,
    /// TransactWriteItems with a token.
    Transaction,
}

impl From<SingleWriteForm> for SingleWrites {
    fn from(form: SingleWriteForm) -> Self {
        match form {
            SingleWriteForm::Call => Self::Call,
            SingleWriteForm::Transaction => Self::Transaction,
        }
    }
}

impl Default for RequestLimits {
    /// Those of a server without options.
    fn default() -> Self {
        let [ten, thirty, keep_alive] = [10, 30, 75].map(Duration::from_secs);
        Self {
            body_limit: 2 << 20,
            max_batch: 1,
            header_timeout: ten,
            keep_alive,
            body_timeout: ten,
            request_timeout: thirty,
            write_timeout: thirty,
            shutdown_timeout: thirty,
            shared: SharedLimits::default(),
        }
    }
}

impl Default for SharedLimits {
    fn default() -> Self {
        Self {
            max_connections: 8192,
            max_requests: 1024,
            max_requests_per_client: None,
            rate_limit: None,
            max_socket_operations: 32,
            max_socket_subscriptions: 256,
            request_memory: 64 << 20,
            response_memory: 64 << 20,
            subscription_memory: 256 << 20,
            trusted_proxies: 0,
        }
    }
}

impl Features {
    /// These features with their defaults: on for development, otherwise off.
    pub fn or(&self, development: bool) -> Features {
        Features {
            introspection: Some(!self.no_introspection && self.introspection.unwrap_or(development)),
            no_introspection: self.no_introspection,
            playground: Some(self.playground.unwrap_or(development)),
            explain: Some(self.explain.unwrap_or(development)),
        }
    }
}

impl Budgets {
    /// The settings of a gateway with these budgets.
    pub fn gateway(&self, introspection: bool, cursor_key: Vec<u8>) -> request::Settings {
        request::Settings {
            max_depth: self.max_depth,
            max_fields: self.max_fields,
            max_aliases: self.max_aliases,
            max_nodes: self.max_nodes,
            max_response_bytes: self.max_response_bytes,
            max_read_bytes: self.max_read_bytes,
            read_memory: self.read_memory,
            cost: CostLimits { calls: self.max_calls, units: self.max_capacity },
            max_calls_in_flight: self.max_calls_in_flight,
            max_plan_bytes: self.max_plan_bytes,
            plan_cache_bytes: self.plan_cache_bytes,
            cache_bytes: self.cache_size,
            learned_pages: self.learned_pages,
            single_writes: self.single_writes.into(),
            introspection,
            cursor_key,
            passes: Default::default(),
            observer: None,
            services: None,
        }
    }
}

/// Reads a time of at most an hour.
fn duration(text: &str) -> Result<Duration, String> {
    time_of_at_most(HOUR, "an hour", text)
}

/// Reads a time: digits and `ms`, `s`, `m`, `h` or `d`; without a unit, seconds. It is more than zero and at most
/// `longest`, which messages call by its name.
pub fn time_of_at_most(longest: Duration, name: &str, text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number: u64 = digits.parse().map_err(|_| "write a number and a unit: 500ms, 30s, 2m, 1h, 7d".to_owned())?;
    let unit = match &text[digits.len()..] {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        unit => return Err(format!("unknown unit \"{unit}\": ms, s, m, h or d")),
    };
    match number.checked_mul(unit).map(Duration::from_millis) {
        Some(time) if !time.is_zero() && time <= longest => Ok(time),
        _ => Err(format!("write a time that is more than zero and at most {name}")),
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    // Tokio's semaphores hold no more than this.
    match text.parse() {
        Ok(number @ 1..=1_000_000) => Ok(number),
        _ => Err("write a number from 1 to 1000000".to_owned()),
    }
}

/// Reads a host, as a `Host` header without a port has it.
fn host_name(text: &str) -> Result<String, String> {
    match text.parse::<Authority>() {
        Ok(host) if host.as_str() == host.host() => Ok(text.to_owned()),
        _ => Err("write a host without a scheme, a port and a path: api.example.com".to_owned()),
    }
}

fn cursor_key(text: &str) -> Result<String, String> {
    if text.len() < SHORTEST_KEY {
        return Err(format!(
            "{} bytes are too short; use at least {SHORTEST_KEY}, as `openssl rand -hex 32` prints",
            text.len()
        ));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30s"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(HOUR));
        for wrong in [
            "",
            "s",
            "0",
            "-1s",
            "1.5s",
            "2h",
            "61m",
            "1d",
            "1w",
            "99999999999999999999s",
            "18446744073709551615m",
            "1é",
        ] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn unset_features_are_on_in_development_only() {
        let unset = Features::default();
        assert_eq!((unset.or(true).introspection, unset.or(false).introspection), (Some(true), Some(false)));
        assert_eq!((unset.or(true).playground, unset.or(false).playground), (Some(true), Some(false)));
        let forbidden = Features { introspection: Some(true), no_introspection: true, ..Features::default() };
        assert_eq!(forbidden.or(true).introspection, Some(false));
        let asked = Features { introspection: Some(true), explain: Some(true), ..Features::default() };
        assert_eq!((asked.or(false).introspection, asked.or(false).explain), (Some(true), Some(true)));
    }

    #[test]
    fn a_host_has_no_port() {
        assert_eq!(host_name("api.example.com"), Ok("api.example.com".to_owned()));
        for wrong in ["", "api.local:4000", "http://api.local", "api.local/", "me@api.local", "a b"] {
            assert!(host_name(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_short_cursor_key_is_refused() {
        assert!(cursor_key("too short").is_err());
        assert!(cursor_key("sixteen bytes ok").is_ok());
    }
}
