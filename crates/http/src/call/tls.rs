//! TLS of calls: trusted certificates, the certificate that is shown, and offered protocols.

use super::settings::{ClientCertificate, Protocol, SettingsError, UpstreamSettings};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WantsClientCert;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, ConfigBuilder, RootCertStore};

/// The system's certificates. They are read once, at the first `https` call, because that is slow.
fn native_roots() -> &'static RootCertStore {
    static ROOTS: OnceLock<RootCertStore> = OnceLock::new();
    ROOTS.get_or_init(|| {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        roots
    })
}

/// Builds the TLS connector of an `https` service.
/// # Errors
/// A file cannot be read or has no certificates, or nothing is trusted.
pub(super) fn connector(settings: &UpstreamSettings) -> Result<TlsConnector, SettingsError> {
    let mut roots = native_roots().clone();
    if let Some(file) = &settings.tls.ca {
        add(&mut roots, file).map_err(|cause| {
            SettingsError(format!("ca: {} cannot be used: {cause}", file.display()).into())
        })?;
    }
    if roots.is_empty() {
        return Err(SettingsError("the system trusts no certificates: name a file by `ca`".into()));
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| SettingsError(format!("tls: {cause}").into()))?
        .with_root_certificates(roots);
    let mut client = match &settings.tls.client {
        Some(shown) => show(builder, shown)?,
        None => builder.with_no_client_auth(),
    };
    client.alpn_protocols = match settings.protocol {
        Protocol::Negotiated => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
        Protocol::Http2 => vec![b"h2".to_vec()],
        Protocol::Http1 => vec![b"http/1.1".to_vec()],
    };
    Ok(TlsConnector::from(Arc::new(client)))
}

/// Adds a client certificate.
fn show(
    builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    shown: &ClientCertificate,
) -> Result<ClientConfig, SettingsError> {
    let ClientCertificate { certificate, key } = shown;
    let wrong = |name: &str, file: &Path, cause: &dyn std::fmt::Display| {
        SettingsError(format!("{name}: {} cannot be used: {cause}", file.display()).into())
    };
    let chain = read_certificates(certificate).map_err(|it| wrong("certificate", certificate, &it))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|it| match it {
        rustls_pki_types::pem::Error::NoItemsFound => {
            wrong("key", key, &"it holds no private key in PEM; an encrypted one cannot be read")
        }
        it => wrong("key", key, &it),
    })?;
    builder.with_client_auth_cert(chain, private).map_err(|it| {
        let certificate = certificate.display();
        wrong("key", key, &format!("it does not fit the certificate {certificate}: {it}"))
    })
}

/// The certificates in `file`, of which there is at least one.
fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Vec<CertificateDer<'static>> =
        CertificateDer::pem_file_iter(file).and_then(Iterator::collect).map_err(|cause| cause.to_string())?;
    if found.is_empty() {
        return Err("it holds no certificate in PEM".into());
    }
    Ok(found)
}

fn add(roots: &mut RootCertStore, file: &Path) -> Result<(), String> {
    let found = read_certificates(file)?;
    found.into_iter().try_for_each(|it| roots.add(it).map_err(|cause| cause.to_string()))
}
