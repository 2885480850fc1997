//! An address in, a connection to its server out: through the proxy that the environment names, or directly. Must not
//! know requests.
//!
//! `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` are read, in capitals or in small letters, as curl does. Only `https://`
//! goes through a proxy, by a tunnel: the proxy sees no request. `http://` is for this machine.

use axum::http::Uri;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower::Service;

/// Connects to servers, through a proxy where one is named.
#[derive(Debug, Clone)]
pub struct ProxiedConnector {
    direct: HttpConnector,
    proxies: Arc<Matcher>,
}

impl ProxiedConnector {
    /// Connects through the proxies that the environment names.
    pub fn from_environment() -> Self {
        let mut direct = HttpConnector::new();
        // The address of a server may be `https`: TLS is the caller's.
        direct.enforce_http(false);
        Self { direct, proxies: Arc::new(Matcher::from_env()) }
    }
}

impl Service<Uri> for ProxiedConnector {
    type Response = <HttpConnector as Service<Uri>>::Response;
    type Error = Box<dyn Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Service::<Uri>::poll_ready(&mut self.direct, context).map_err(Into::into)
    }

    fn call(&mut self, server: Uri) -> Self::Future {
        let proxy = self.proxies.intercept(&server).filter(|_| server.scheme_str() == Some("https"));
        let mut direct = self.direct.clone();
        let Some(proxy) = proxy else {
            return direct.call(server).map(|connected| connected.map_err(Into::into)).boxed();
        };
        if proxy.uri().scheme_str() != Some("http") {
            // A tunnel by another protocol is not made, and credentials for it are not sent in clear.
            let trouble = "the proxy of the environment is not an http:// one".into();
            return std::future::ready(Err(trouble)).boxed();
        }
        let mut tunnel = Tunnel::new(proxy.uri().clone(), direct);
        if let Some(credentials) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(credentials.clone());
        }
        async move { tunnel.call(server).await.map_err(Into::into) }.boxed()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
    use tokio::net::TcpListener;

    fn by(proxy: &str) -> ProxiedConnector {
        let proxies = Matcher::builder().all(proxy).no("direct.example").build();
        ProxiedConnector { proxies: Arc::new(proxies), ..ProxiedConnector::from_environment() }
    }

    #[tokio::test]
    async fn a_server_of_keys_is_reached_by_a_tunnel() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let proxy = format!("http://user:word@{}", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let mut connection = BufReader::new(listener.accept().await.unwrap().0);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                connection.read_line(&mut head).await.unwrap();
            }
            connection.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
            head
        });
        by(&proxy).call(Uri::from_static("https://keys.example/jwks")).await.unwrap();
        let head = asked.await.unwrap();
        assert!(
            head.starts_with("CONNECT keys.example:443 HTTP/1.1\r\n")
                && head.to_lowercase().contains("proxy-authorization: basic "),
            "{head}"
        );
    }

    #[tokio::test]
    async fn a_proxy_of_another_protocol_gets_nothing() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        for scheme in ["https", "socks5"] {
            let proxy = format!("{scheme}://user:word@{}", listener.local_addr().unwrap());
            let trouble = by(&proxy).call(Uri::from_static("https://keys.example/jwks")).await.unwrap_err();
            assert!(trouble.to_string().contains("is not an http:// one"), "{trouble}");
        }
        assert!(listener.accept().now_or_never().is_none(), "nobody has connected");
    }

    #[tokio::test]
    async fn this_machine_is_reached_without_a_proxy() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks", listener.local_addr().unwrap());
        // Nothing listens where the proxy would be.
        by("http://127.0.0.1:1").call(url.parse().unwrap()).await.unwrap();
    }
}
