//! Tables over TLS: the server's certificate must be of an authority that the machine trusts, and of the server's name.

use super::asked_server::{AskedServer, import, requests};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use std::io::Write;
use std::sync::Arc;
use tempfile::NamedTempFile;

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
