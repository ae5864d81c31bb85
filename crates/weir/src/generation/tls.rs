//! HTTPS: reads certificate and key, offers HTTP/2 and HTTP/1.1.

use crate::config;
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;

/// Builds the acceptor of a configuration.
/// # Errors
/// A file cannot be read or has no certificate or key; the message names it.
pub(crate) fn acceptor(tls: &config::Tls) -> Result<TlsAcceptor, String> {
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&tls.certificate)
        .and_then(Iterator::collect)
        .map_err(|cause| unreadable("certificate", &tls.certificate, &cause))?;
    if chain.is_empty() {
        return Err(format!("tls.certificate: {} holds no certificate in PEM", tls.certificate.display()));
    }
    let key = PrivateKeyDer::from_pem_file(&tls.key).map_err(|cause| unreadable("key", &tls.key, &cause))?;
    let mut server = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|it| it.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|cause| format!("tls: certificate and key do not work together: {cause}"))?;
    server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(server)))
}

fn unreadable(what: &str, file: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("tls.{what}: {} cannot be read: {cause}", file.display())
}
