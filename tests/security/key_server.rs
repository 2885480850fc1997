//! A server of keys that answers by a script: an address out, and the number of requests that it got.

use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

/// What the server does with a request for keys.
#[derive(Debug, Clone)]
pub enum Script {
    /// Gives these keys.
    Keys(Value),
    /// Gives these keys when it is released.
    Held(Value),
    /// Gives this text.
    Text(&'static str),
    /// Never answers.
    Silent,
    /// Closes the connection.
    Closed,
    /// Answers with this status, and with these keys all the same.
    Status(&'static str, Value),
    /// Sends to another path, where these keys are.
    Redirect(Value),
    /// Gives these keys after two megabytes of spaces.
    Huge(Value),
    /// Ends in the middle of these keys.
    Cut(Value),
    /// Has the metadata of another issuer, which leads to these keys.
    OtherIssuer(Value),
    /// Has metadata that lead to keys without TLS on another machine.
    Unprotected,
}

/// A running server of keys.
#[derive(Clone)]
pub struct KeyServer {
    pub address: SocketAddr,
    script: Arc<Mutex<Script>>,
    requests: Arc<AtomicUsize>,
    /// One notice for each request that is held.
    pub held: Arc<Notify>,
    /// Releases a request.
    pub release: Arc<Notify>,
}

impl KeyServer {
    pub async fn start(script: Script) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (held, release) = (Arc::<Notify>::default(), Arc::<Notify>::default());
        let server = Self { address, script: Arc::new(Mutex::new(script)), requests: Arc::default(), held, release };
        let accepting = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = accepting.clone();
                tokio::spawn(async move { server.answer(stream).await });
            }
        });
        server
    }

    /// Answers by another script from now on.
    pub fn play(&self, script: Script) {
        *self.script.lock().unwrap() = script;
    }

    /// The issuer at a path of this server.
    pub fn issuer(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many requests for keys it got, or for metadata that lead nowhere.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    /// Answers one request. Each has a connection of its own.
    async fn answer(&self, mut stream: TcpStream) {
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => request.push(byte),
                Err(_) => return,
            }
        }
        let request = String::from_utf8(request).unwrap();
        let path = request.split(' ').nth(1).unwrap();
        let script = self.script.lock().unwrap().clone();
        if let Some(issuer) = path.strip_suffix("/.well-known/openid-configuration") {
            // An issuer whose name ends with a slash has the same address.
            let name = if issuer.is_empty() { self.issuer("/") } else { self.issuer(issuer) };
            let metadata = match script {
                Script::OtherIssuer(_) => json!({"issuer": "https://other.example", "jwks_uri": self.issuer("/keys")}),
                Script::Unprotected => json!({"issuer": name, "jwks_uri": "http://192.0.2.1/keys"}),
                _ => json!({"issuer": name, "jwks_uri": self.issuer("/keys"), "token_endpoint": "https://a.example"}),
            };
            if matches!(script, Script::OtherIssuer(_) | Script::Unprotected) {
                self.requests.fetch_add(1, Ordering::SeqCst);
            }
            return send(&mut stream, "200 OK", &metadata.to_string()).await;
        }
        if path == "/elsewhere" {
            let Script::Redirect(keys) = script else { return };
            return send(&mut stream, "200 OK", &keys.to_string()).await;
        }
        self.requests.fetch_add(1, Ordering::SeqCst);
        match script {
            Script::Keys(keys) | Script::OtherIssuer(keys) => send(&mut stream, "200 OK", &keys.to_string()).await,
            Script::Held(keys) => {
                self.held.notify_one();
                self.release.notified().await;
                send(&mut stream, "200 OK", &keys.to_string()).await;
            }
            Script::Text(text) => send(&mut stream, "200 OK", text).await,
            Script::Status(status, keys) => send(&mut stream, status, &keys.to_string()).await,
            Script::Redirect(_) => send(&mut stream, "302 Found\r\nlocation: /elsewhere", "").await,
            Script::Huge(keys) => send(&mut stream, "200 OK", &format!("{}{keys}", " ".repeat(2 << 20))).await,
            Script::Cut(keys) => {
                let (text, whole) = (keys.to_string(), keys.to_string().len());
                let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {whole}\r\n\r\n{}", &text[..whole / 2]);
                let _ = stream.write_all(answer.as_bytes()).await;
            }
            Script::Silent => std::future::pending().await,
            Script::Closed | Script::Unprotected => {}
        }
    }
}

/// The other side may leave earlier.
async fn send(stream: &mut TcpStream, status: &str, body: &str) {
    let answer = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len());
    let _ = stream.write_all(answer.as_bytes()).await;
}
