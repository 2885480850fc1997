//! An attack on a server in; its effect on the server's memory, and on an innocent client meanwhile, out.
//!
//! Memory and answers are asserted. The latency of the innocent client is printed, and asserted only if
//! `KEYFOLD_ATTACK_LATENCY` says how much an attack may add to its 99th percentile (`100ms`): it also depends on what
//! else the machine does.

use super::machine::{self, Machine, parts};
use super::process::KEY;
use super::server::Server;
use keyfold::serve::router::Parts;
use keyfold::serve::settings::RequestLimits;
use std::any::Any;
use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Mutex, MutexGuard};

/// The most memory that an attack may cost, in bytes.
const MAX_MEMORY: u64 = 50 << 20;
/// The longest that a client waits for anything, on a machine that does other things too.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// How long the innocent client rests between two requests.
const REST: Duration = Duration::from_millis(3);
/// The requests of the innocent client before an attack, and during one that is repeated: enough for a 99th percentile.
const REQUESTS: usize = 100;
/// The address of every attacker. The innocent client has another one.
const ATTACKER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Concurrent attacks would disturb each other.
pub static TURN: Mutex<()> = Mutex::const_new(());

/// A server to attack.
pub struct Target {
    address: SocketAddr,
    process: u32,
    /// The operation of the innocent client.
    innocent: String,
    /// The server, which ends with this value.
    _server: Box<dyn Any>,
    _turn: MutexGuard<'static, ()>,
}

/// The effect of an attack.
#[derive(Debug)]
pub struct Harm {
    /// The most memory of the server during the attack, less that before it, in bytes.
    pub memory: u64,
    /// The 99th percentile of the innocent client before the attack.
    pub quiet: Duration,
    /// The same during the attack.
    pub attacked: Duration,
    /// The requests of the innocent client during the attack.
    pub requests: usize,
    /// The status of each of them that failed.
    pub failed: Vec<u16>,
}

impl Target {
    /// `keyfold dev` on the project's samples, with these additional options. The innocent client asks for a user by
    /// id.
    pub async fn dev(options: &[&str]) -> Self {
        let samples = super::server::samples();
        let options = [&["--sample", samples.to_str().unwrap()], options].concat();
        Self::keyfold(|| Server::dev(&options), r#"{ user(id: \"11111111-1111-4111-8111-111111111111\") { name } }"#)
            .await
    }

    /// A new `keyfold`. The innocent client sends this operation, which has no errors.
    pub async fn keyfold(start: impl FnOnce() -> Server, innocent: &str) -> Self {
        let turn = TURN.lock().await;
        let server = start();
        let address = server.url.trim_start_matches("http://").parse().unwrap();
        Self {
            address,
            process: server.process.id(),
            innocent: operation(innocent),
            _server: Box::new(server),
            _turn: turn,
        }
    }

    /// A server in this process, with a backend that answers by the text of the operation. The innocent client sends
    /// `echo`.
    pub async fn machine(limits: RequestLimits) -> Self {
        let turn = TURN.lock().await;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let parts = Parts { limits, ..parts(Machine::default()) };
        let running = runtime.spawn(machine::start(parts)).await.unwrap();
        let address = running.address;
        // A runtime cannot be dropped on the thread of another one.
        let server = (running, Ended(Some(runtime)));
        Self {
            address,
            process: std::process::id(),
            innocent: operation("echo"),
            _server: Box::new(server),
            _turn: turn,
        }
    }

    /// Opens a connection as an attacker.
    pub async fn connect(&self) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((ATTACKER, 0).into()).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// Runs an attack while an innocent client continues.
    pub async fn under<T>(&self, attack: impl Future<Output = T>) -> (T, Harm) {
        let mut innocent = Innocent::begin(self).await;
        let done = attack.await;
        (done, innocent.end().await)
    }

    /// Repeats a short attack until the innocent client has sent its requests.
    pub async fn under_each<T, F: Future<Output = T>>(&self, attack: impl Fn() -> F) -> (Vec<T>, Harm) {
        let (mut innocent, mut done) = (Innocent::begin(self).await, Vec::new());
        while innocent.requests.load(Ordering::Relaxed) < REQUESTS {
            done.push(attack().await);
        }
        (done, innocent.end().await)
    }
}

/// An innocent client on its own thread: the attackers' work does not delay it.
struct Innocent {
    requests: Arc<AtomicUsize>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<Harm>>,
}

impl Innocent {
    /// Starts to ask, and returns when the latency without an attack is known.
    async fn begin(target: &Target) -> Self {
        let (process, address, request) = (target.process, target.address, target.innocent.clone());
        let (stop, stopped) = channel::<()>();
        let (ready, quiet) = tokio::sync::oneshot::channel();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = requests.clone();
        let thread = std::thread::spawn(move || {
            let mut client = Client::new(address, request, process);
            let ask = |client: &mut Client| {
                client.ask();
                matches!(stopped.recv_timeout(REST), Err(RecvTimeoutError::Timeout))
            };
            // The first requests find empty caches.
            for times in [REQUESTS / 4, REQUESTS] {
                client.seen.clear();
                (0..times).for_each(|_| {
                    let _ = ask(&mut client);
                });
            }
            let (quiet, before) = (client.p99(), resident(process));
            client.seen.clear();
            client.memory = before;
            ready.send(()).unwrap();
            while ask(&mut client) {
                counted.fetch_add(1, Ordering::Relaxed);
            }
            let failed = client.seen.iter().map(|seen| seen.1).filter(|status| *status != 200).collect();
            Harm { memory: client.memory - before, quiet, attacked: client.p99(), requests: client.seen.len(), failed }
        });
        quiet.await.unwrap();
        Self { requests, stop: Some(stop), thread: Some(thread) }
    }

    async fn end(&mut self) -> Harm {
        drop(self.stop.take());
        let thread = self.thread.take().unwrap();
        tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap()
    }
}

struct Ended(Option<Runtime>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

impl Harm {
    /// Asserts that only the attackers noticed.
    pub fn is_small(&self) {
        println!("{self:?}");
        assert!(self.requests > 0 && self.failed.is_empty(), "{self:?}");
        assert!(self.memory < MAX_MEMORY, "{} MB more memory: {self:?}", self.memory >> 20);
        if let Ok(added) = std::env::var("KEYFOLD_ATTACK_LATENCY") {
            let added = Duration::from_millis(added.trim_end_matches("ms").parse().unwrap());
            assert!(self.attacked <= self.quiet + added, "{self:?}");
        }
    }
}

/// A client that sends one request after the other over one connection.
struct Client {
    address: SocketAddr,
    connection: BufReader<std::net::TcpStream>,
    request: String,
    process: u32,
    /// Time and status of each request.
    seen: Vec<(Duration, u16)>,
    /// The most memory of the process at any of them, in bytes.
    memory: u64,
}

impl Client {
    fn new(address: SocketAddr, request: String, process: u32) -> Self {
        Self { address, connection: Self::connect(address), request, process, seen: Vec::new(), memory: 0 }
    }

    fn connect(address: SocketAddr) -> BufReader<std::net::TcpStream> {
        let connection = std::net::TcpStream::connect(address).unwrap();
        connection.set_nodelay(true).unwrap();
        connection.set_read_timeout(Some(PATIENCE)).unwrap();
        BufReader::new(connection)
    }

    /// Asks once.
    fn ask(&mut self) {
        let began = Instant::now();
        let status = self.send().or_else(|_| {
            // The server closes a connection on which nothing is asked for some time.
            self.connection = Self::connect(self.address);
            self.send()
        });
        self.seen.push((began.elapsed(), status.unwrap()));
        self.memory = self.memory.max(resident(self.process));
    }

    fn send(&mut self) -> std::io::Result<u16> {
        self.connection.get_mut().write_all(self.request.as_bytes())?;
        let (mut status, mut length) = (0, 0);
        loop {
            let mut line = String::new();
            if self.connection.read_line(&mut line)? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            status = if let Some(rest) = line.strip_prefix("HTTP/1.1 ") { rest[..3].parse().unwrap() } else { status };
            length = line.strip_prefix("content-length: ").map_or(length, |text| text.trim().parse().unwrap());
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        self.connection.read_exact(&mut body)?;
        // GraphQL over HTTP with `application/json`: a failed operation has the status 200, too.
        Ok(if status == 200 && body.windows(9).any(|bytes| bytes == b"\"errors\":") { 599 } else { status })
    }

    fn p99(&self) -> Duration {
        let mut times: Vec<Duration> = self.seen.iter().map(|seen| seen.0).collect();
        times.sort_unstable();
        // The nearest rank.
        times[(times.len() * 99).div_ceil(100) - 1]
    }
}

/// The resident memory of a process without the pages of its program file, in bytes; 0 where the system has no `/proc`.
pub fn resident(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    line.map_or(0, |line| line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10)
}

/// The request that posts an operation, in which a quote is written `\\"`.
pub fn operation(text: &str) -> String {
    post(&format!("{{\"query\": \"{text}\"}}"))
}

/// The request that posts a body to `/graphql`.
pub fn post(body: &str) -> String {
    format!("{}{body}", head(body.len()))
}

/// The header of a request by Aiko that posts a body of this length.
pub fn head(length: usize) -> String {
    let what = "POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    format!("{what}\r\nx-api-key: {KEY}\r\ncontent-length: {length}\r\n\r\n")
}

/// Opens a WebSocket by hand, up to the acknowledgement of the handshake. False if the server closes it first: on a
/// loaded machine, a client may be too slow for the server's time limits.
pub async fn upgrade(stream: &mut TcpStream) -> bool {
    let head = "GET /graphql/ws HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: MDEyMzQ1Njc4OWFiY2RlZg==\r\nsec-websocket-protocol: graphql-transport-ws\r\n\r\n";
    if stream.write_all(head.as_bytes()).await.is_err() || answer(stream).await.0 != 101 {
        return false;
    }
    let begun = stream.write_all(&text_frame(r#"{"type": "connection_init"}"#)).await;
    begun.is_ok() && text(stream).await.is_some_and(|message| message == r#"{"type":"connection_ack"}"#)
}

/// The header of a client's text message of this length, whose mask changes nothing (RFC 6455 section 5.2).
pub fn frame_head(length: usize) -> Vec<u8> {
    [&[0x81, 0xff][..], &(length as u64).to_be_bytes(), &[0; 4]].concat()
}

/// A client's text message.
pub fn text_frame(text: &str) -> Vec<u8> {
    [frame_head(text.len()), text.as_bytes().to_vec()].concat()
}

/// The next text message of the server, if it does not close the socket.
pub async fn text(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut head = [0; 2];
    stream.read_exact(&mut head).await.ok()?;
    let length = match head[1] {
        126 => u64::from(stream.read_u16().await.ok()?),
        127 => stream.read_u64().await.ok()?,
        short => u64::from(short),
    };
    let mut payload = vec![0; usize::try_from(length).unwrap()];
    stream.read_exact(&mut payload).await.ok()?;
    (head[0] == 0x81).then(|| String::from_utf8(payload).unwrap())
}

/// Reads the next response from a connection: its status and its body. Status 0 is a connection that was closed without
/// one.
pub async fn answer(stream: &mut TcpStream) -> (u16, String) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return (0, String::new()),
        }
    }
    let head = String::from_utf8(head).unwrap();
    let status = head["HTTP/1.1 ".len()..][..3].parse().unwrap();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |text| text.parse().unwrap());
    let mut body = vec![0; length];
    let read = stream.read_exact(&mut body).await;
    (if read.is_ok() { status } else { 0 }, String::from_utf8_lossy(&body).into_owned())
}
