//! Encryption of a connection: trusted roots, client certificates and checks of the server's certificate.
//!
//! **Invariant:** `verify-full` accepts a certificate only for the host's own name, `verify-ca` for any name, both only from those
//! that are trusted; the weaker modes encrypt without knowing with whom, as libpq's do.

use crate::address::{Settings, TlsMode};
use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme,
};

/// Makes the TLS connector; `None` in modes without encryption.
/// # Errors
/// A file cannot be read or has the wrong contents; the message names it.
pub(crate) fn connector(settings: &Settings) -> Result<Option<TlsConnector>, String> {
    let tls = &settings.tls;
    let look = match tls.mode {
        TlsMode::Disable => return Ok(None),
        TlsMode::Allow | TlsMode::Prefer => Look::Nothing,
        TlsMode::Require if tls.root_certificates.is_none() => Look::Nothing,
        TlsMode::Require | TlsMode::VerifyCa => Look::Issuer,
        TlsMode::VerifyFull => Look::Name,
    };
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|cause| format!("tls: {cause}"))?;
    let builder = match look {
        Look::Name => builder.with_root_certificates(roots(tls.root_certificates.as_deref())?),
        Look::Issuer => {
            let roots = Arc::new(roots(tls.root_certificates.as_deref())?);
            let inner = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(&provider))
                .build()
                .map_err(|cause| format!("sslrootcert: {cause}"))?;
            let verifier = Arc::new(Lenient { provider, issuer: Some(inner) });
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
        Look::Nothing => {
            let verifier = Arc::new(Lenient { provider, issuer: None });
            builder.dangerous().with_custom_certificate_verifier(verifier)
        }
    };
    let config = match &tls.client {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(certificate, "sslcert")?;
            let key = PrivateKeyDer::from_pem_file(key)
                .map_err(|cause| format!("sslkey: {} cannot be read: {cause}", key.display()))?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|cause| format!("sslcert and sslkey do not work together: {cause}"))?
        }
    };
    Ok(Some(TlsConnector::from(Arc::new(config))))
}

/// Checks of a certificate.
enum Look {
    Nothing,
    Issuer,
    Name,
}

fn certificates(file: &Path, name: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable =
        |cause: &dyn std::fmt::Display| format!("{name}: {} cannot be read: {cause}", file.display());
    let found: Vec<_> = CertificateDer::pem_file_iter(file)
        .and_then(Iterator::collect)
        .map_err(|cause| unreadable(&cause))?;
    if found.is_empty() { Err(unreadable(&"it holds no certificate in PEM")) } else { Ok(found) }
}

/// Root certificates of `file`, or of the system.
fn roots(file: Option<&Path>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            for certificate in certificates(file, "sslrootcert")? {
                roots
                    .add(certificate)
                    .map_err(|cause| format!("sslrootcert: {} is not fit: {cause}", file.display()))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if roots.is_empty() {
                return Err("the system trusts no certificates: name a file by sslrootcert".into());
            }
        }
    }
    Ok(roots)
}

/// Looks at the issuer alone, or at nothing; that the server owns its certificate's key is always looked at.
#[derive(Debug)]
struct Lenient {
    provider: Arc<CryptoProvider>,
    issuer: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(issuer) = &self.issuer else { return Ok(ServerCertVerified::assertion()) };
        match issuer.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is the last that is looked at: the chain is good.
            Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) => Ok(ServerCertVerified::assertion()),
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        tokio_rustls::rustls::crypto::verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
