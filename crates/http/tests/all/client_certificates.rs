//! Services that ask for a client certificate: which one they see, and what is wrong with files.

use crate::wire_kit::{Service, answer, get};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use weir_http::call::{CallPolicy, ClientCertificate, Protocol, TlsFiles, Upstream, UpstreamSettings};

/// A folder for the files of one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("weir-certificates-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// A certificate for `localhost` with its key, as files.
    fn certificate(&self, name: &str) -> (rcgen::Certificate, rcgen::KeyPair, ClientCertificate) {
        let key = rcgen::KeyPair::generate().unwrap();
        let parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = parameters.self_signed(&key).unwrap();
        let files = ClientCertificate {
            certificate: self.write(&format!("{name}.pem"), &certificate.pem()),
            key: self.write(&format!("{name}.key"), &key.serialize_pem()),
        };
        (certificate, key, files)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap_or_default();
    }
}

/// A service that answers only to who shows `client`.
fn guarded(client: &rcgen::Certificate, own: &rcgen::Certificate, key: &rcgen::KeyPair) -> Service {
    let provider = Arc::new(ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(client.der().clone()).unwrap();
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider));
    let server = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![own.der().clone()],
            rustls_pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    Service::start_private(TlsAcceptor::from(Arc::new(server)), |_| answer("200 OK", "", "well"))
}

fn open(base: &str, ca: &Path, client: Option<&ClientCertificate>) -> Result<Upstream, String> {
    let tls = TlsFiles { ca: Some(ca.into()), client: client.cloned() };
    let policy = CallPolicy { retries: 0, ..CallPolicy::USUAL };
    let settings =
        UpstreamSettings { base: base.parse().unwrap(), tls, protocol: Protocol::Negotiated, policy };
    Upstream::new(&settings).map_err(|it| it.to_string())
}

#[tokio::test]
async fn a_service_sees_the_certificate_that_is_configured_for_it() {
    let folder = Folder::new("shown");
    let (own, own_key, own_files) = folder.certificate("service");
    let (client, _, client_files) = folder.certificate("client");
    let (_, _, stranger_files) = folder.certificate("stranger");
    let service = guarded(&client, &own, &own_key);
    let base = format!("https://localhost:{}", service.address.port());
    let ask = async |shown: Option<&ClientCertificate>| {
        let upstream = open(&base, &own_files.certificate, shown).unwrap();
        upstream.call(&get("/")).await.map(|it| it.body)
    };
    assert_eq!(ask(Some(&client_files)).await.unwrap(), "well");
    assert!(ask(None).await.is_err(), "nothing is shown");
    assert!(ask(Some(&stranger_files)).await.is_err(), "it is another's");
    assert_eq!(service.calls(), 1);
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let folder = Folder::new("files");
    let (_, _, good) = folder.certificate("good");
    let (_, _, other) = folder.certificate("other");
    let empty = folder.write("empty.pem", "");
    let junk = folder.write("junk.key", "-----BEGIN PRIVATE KEY-----\naGVsbG8=\n-----END PRIVATE KEY-----\n");
    let missing = folder.0.join("missing.pem");
    let check = |certificate: &PathBuf, key: &PathBuf, named: &Path, expected: &str| {
        let shown = ClientCertificate { certificate: certificate.clone(), key: key.clone() };
        let error = open("https://localhost", &good.certificate, Some(&shown)).unwrap_err();
        assert!(error.contains(&named.display().to_string()) && error.contains(expected), "{error}");
    };
    check(&missing, &good.key, &missing, "certificate: ");
    check(&empty, &good.key, &empty, "it holds no certificate in PEM");
    check(&good.certificate, &missing, &missing, "key: ");
    check(&good.certificate, &empty, &empty, "it holds no private key in PEM");
    check(&good.certificate, &good.certificate, &good.certificate, "it holds no private key in PEM");
    check(&good.certificate, &other.key, &other.key, "it does not fit the certificate");
    check(&good.certificate, &junk, &junk, "it does not fit the certificate");
    let error = open("http://localhost", &good.certificate, Some(&good)).unwrap_err();
    assert!(error.ends_with("a client certificate is shown to `https` alone"), "{error}");
}
