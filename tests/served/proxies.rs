//! `keyfold` behind a proxy that the environment names: what the proxy is asked for.

use super::asked_server::{AskedServer, import, requests};

#[test]
fn calls_go_through_the_proxy_of_the_environment() {
    for client in ["sdk", "direct"] {
        let proxy = AskedServer::start();
        import(client, "http://db.example:8000", &[("HTTP_PROXY", &proxy.url)]).well();
        assert_eq!(
            proxy.asked(),
            requests("POST http://db.example:8000/ HTTP/1.1", &["DescribeTable", "BatchWriteItem"]),
            "{client}"
        );
    }
}

#[test]
fn https_goes_through_a_tunnel() {
    let proxy = AskedServer::start();
    import("direct", "https://db.example", &[("HTTPS_PROXY", &proxy.url)]).badly(1);
    assert_eq!(proxy.asked(), requests("CONNECT db.example:443 HTTP/1.1", &[""]));
}

#[test]
fn hosts_of_no_proxy_are_called_directly() {
    let (proxy, server) = (AskedServer::start(), AskedServer::start());
    import("direct", &server.url, &[("HTTP_PROXY", &proxy.url), ("NO_PROXY", "127.0.0.1")]).well();
    assert_eq!(proxy.asked(), []);
    assert_eq!(server.asked(), requests("POST / HTTP/1.1", &["DescribeTable", "BatchWriteItem"]));
}
