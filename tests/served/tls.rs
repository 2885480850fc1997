//! Tables and services over TLS: the server's certificate must be of an authority that the machine trusts, and of the
//! server's name.

use super::asked_server::{AskedServer, import, requests};
use crate::process::{Process, keyfold};
use axum::http::Version;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::io::Write;
use std::sync::{Arc, Mutex};
use tempfile::NamedTempFile;
use tokio_rustls::TlsAcceptor;

/// An authority that gives certificates, and the file that makes a machine trust it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
        let mut file = NamedTempFile::new().unwrap();
        file.write_all(issuer.pem().as_bytes()).unwrap();
        Self { issuer, file }
    }

    /// A server whose certificate is for a name.
    fn named(&self, name: &str) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let certificate = CertificateParams::new([name.to_owned()]).unwrap().signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_no_client_auth();
        Arc::new(config.with_single_cert(vec![certificate.der().clone()], key).unwrap())
    }

    /// The variable by which a process trusts this authority alone.
    fn trusted(&self) -> [(&'static str, &str); 1] {
        [("SSL_CERT_FILE", self.file.path().to_str().unwrap())]
    }
}

#[test]
fn calls_go_over_tls_to_a_server_that_is_trusted() {
    let authority = Authority::new();
    for client in ["sdk", "direct"] {
        let server = AskedServer::start_tls(vec![authority.named("localhost")]);
        import(client, &server.url, &authority.trusted()).well();
        assert_eq!(server.asked(), requests("POST / HTTP/1.1", &["DescribeTable", "BatchWriteItem"]), "{client}");
    }
}

/// The SDK alone asks for tables, so the second call is the first one of the direct client.
#[test]
fn a_server_with_another_name_or_of_another_authority_is_asked_for_nothing() {
    let (authority, other) = (Authority::new(), Authority::new());
    std::thread::scope(|scope| {
        for client in ["sdk", "direct"] {
            for wrong in [authority.named("db.example"), other.named("localhost")] {
                let (authority, right) = (&authority, authority.named("localhost"));
                scope.spawn(move || {
                    let server = AskedServer::start_tls(vec![right, wrong]);
                    let error = import(client, &server.url, &authority.trusted()).badly(1);
                    assert!(error.contains("certificate"), "{client}: {error}");
                    assert_eq!(server.asked(), requests("POST / HTTP/1.1", &["DescribeTable"]), "{client}");
                });
            }
        }
    });
}

/// A service over TLS that speaks this protocol alone: its address, and the versions of the requests that it gets.
async fn service(config: &ServerConfig, protocol: &[u8]) -> (String, Arc<Mutex<Vec<Version>>>) {
    let mut config = config.clone();
    config.alpn_protocols = vec![protocol.to_vec()];
    let is_second = protocol == b"h2";
    let (acceptor, versions) = (TlsAcceptor::from(Arc::new(config)), Arc::<Mutex<Vec<Version>>>::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    let asked = versions.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let asked = asked.clone();
            let answer = service_fn(move |request: axum::http::Request<Incoming>| {
                asked.lock().unwrap().push(request.version());
                let body = axum::body::Body::from(r#"{"results":[{"data":"over TLS"}]}"#);
                async move { Ok::<_, Infallible>(axum::http::Response::new(body)) }
            });
            let stream = TokioIo::new(stream);
            tokio::spawn(async move {
                match is_second {
                    true => hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                        .serve_connection(stream, answer)
                        .await
                        .ok(),
                    false => hyper::server::conn::http1::Builder::new().serve_connection(stream, answer).await.ok(),
                }
            });
        }
    });
    (url, versions)
}

/// The word of a note by a service, twice.
async fn words(authority: &Authority, url: &str) -> [Value; 2] {
    let directory = tempfile::tempdir().unwrap();
    let schema = format!(
        r#"extend schema @table(name: "notes", partitionKey: "PK") @service(name: "words", url: "{url}")
        type Note @item(keys: {{ PK: "NOTE#{{id}}" }}) {{
          id: ID!
          word: String @resolve(service: "words", requires: "id")
        }}
        type Query {{ note(id: ID!): Note @find }}
        type Mutation {{ put(id: ID!): Note! @put(replace: true) }}"#
    );
    let file = directory.path().join("schema.graphql");
    std::fs::write(&file, schema).unwrap();
    let mut command =
        keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0", "--schema", file.to_str().unwrap()]);
    command.envs(authority.trusted());
    let mut process = Process::start(command);
    let line = process.wait_for("GraphQL   http://");
    let gateway = format!("http://{}", line.split_once("http://").unwrap().1.trim());
    let client = reqwest::Client::new();
    let mut words = Vec::new();
    for operation in ["mutation { put(id: 1) { word } }", "{ put: note(id: 1) { word } }"] {
        let request = client.post(&gateway).header("content-type", "application/json");
        let answer = request.body(json!({ "query": operation }).to_string()).send().await.unwrap();
        let answer: Value = serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap();
        words.push(answer["data"]["put"]["word"].clone());
    }
    words.try_into().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_by_the_protocol_that_it_speaks() {
    let (authority, other) = (Authority::new(), Authority::new());
    for (protocol, version) in [(&b"h2"[..], Version::HTTP_2), (b"http/1.1", Version::HTTP_11)] {
        let (url, versions) = service(&authority.named("localhost"), protocol).await;
        assert_eq!(words(&authority, &url).await, [json!("over TLS"), json!("over TLS")]);
        assert_eq!(*versions.lock().unwrap(), [version, version]);
    }
    let (url, versions) = service(&other.named("localhost"), b"h2").await;
    assert_eq!(words(&authority, &url).await, [Value::Null, Value::Null]);
    assert_eq!(*versions.lock().unwrap(), []);
}
