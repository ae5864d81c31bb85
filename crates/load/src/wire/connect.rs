//! Opens connections: names are resolved and certificates are read once.

use super::{Target, WireError};
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

/// A connection, encrypted or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// Opens connections to one target.
pub(crate) struct Dialer {
    pub target: Target,
    addresses: Vec<SocketAddr>,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl Dialer {
    /// Resolves the target. `ca` names more certificates to trust, `protocol` is offered in TLS.
    /// # Errors
    /// A name that cannot be resolved, certificates that cannot be read.
    pub(crate) async fn new(
        target: Target,
        ca: Option<&Path>,
        protocol: &'static [u8],
    ) -> Result<Self, String> {
        let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await;
        let addresses: Vec<SocketAddr> =
            found.map_err(|cause| format!("{} cannot be resolved: {cause}", target.host))?.collect();
        let tls = if target.is_tls {
            let name = ServerName::try_from(target.host.clone())
                .map_err(|cause| format!("{} has no certificate: {cause}", target.host))?;
            Some((connector(ca, protocol)?, name))
        } else {
            None
        };
        Ok(Self { target, addresses, tls })
    }

    /// Opens a connection.
    pub(crate) async fn dial(&self) -> Result<Box<dyn Stream>, WireError> {
        let wrong = |cause: io::Error| WireError::new("connect", cause);
        let socket = TcpStream::connect(self.addresses.as_slice()).await.map_err(wrong)?;
        socket.set_nodelay(true).map_err(wrong)?;
        match &self.tls {
            None => Ok(Box::new(socket)),
            Some((tls, name)) => Ok(Box::new(tls.connect(name.clone(), socket).await.map_err(wrong)?)),
        }
    }
}

fn connector(ca: Option<&Path>, protocol: &'static [u8]) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(file) = ca {
        let wrong = |cause: String| format!("{} cannot be used: {cause}", file.display());
        for certificate in CertificateDer::pem_file_iter(file).map_err(|it| wrong(it.to_string()))? {
            let certificate = certificate.map_err(|it| wrong(it.to_string()))?;
            roots.add(certificate).map_err(|it| wrong(it.to_string()))?;
        }
    }
    if roots.is_empty() {
        return Err("the system trusts no certificates; name a file by `--ca`".into());
    }
    let mut client = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|cause| format!("tls: {cause}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.alpn_protocols = vec![protocol.to_vec()];
    Ok(TlsConnector::from(Arc::new(client)))
}
