//! TLS to the database. The certificate of the server is always checked, by the system's authorities or by those of a file.

use std::fs;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use tokio_rustls::TlsConnector;

/// Makes TLS connections; cloned for each.
#[derive(Clone)]
pub(crate) struct DatabaseTls(Arc<ClientConfig>);

impl DatabaseTls {
    pub(crate) fn new(root_certificates: Option<&Path>) -> Result<Self, String> {
        let roots = root_certificates.map_or_else(system_roots, file_roots)?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
        let builder = builder.map_err(|reason| format!("TLS cannot be set up: {reason}"))?;
        Ok(Self(Arc::new(builder.with_root_certificates(roots).with_no_client_auth())))
    }
}

/// A machine without authorities can connect without TLS all the same: then no certificate is trusted.
fn system_roots() -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    Ok(store)
}

fn file_roots(path: &Path) -> Result<RootCertStore, String> {
    let unreadable = |reason: String| format!("sslrootcert: {} cannot be read: {reason}", path.display());
    let text = fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(&text) {
        let certificate = certificate.map_err(|reason| unreadable(reason.to_string()))?;
        store.add(certificate).map_err(|reason| unreadable(reason.to_string()))?;
    }
    if store.is_empty() { Err(unreadable("there is no certificate in it".to_owned())) } else { Ok(store) }
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> MakeTlsConnect<S> for DatabaseTls {
    type Stream = DatabaseTlsStream<S>;
    type TlsConnect = DatabaseTlsConnect;
    type Error = io::Error;

    fn make_tls_connect(&mut self, host: &str) -> io::Result<DatabaseTlsConnect> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        Ok(DatabaseTlsConnect { connector: TlsConnector::from(self.0.clone()), name })
    }
}

/// One handshake.
pub(crate) struct DatabaseTlsConnect {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl<S: AsyncRead + AsyncWrite + Unpin + Send + 'static> TlsConnect<S> for DatabaseTlsConnect {
    type Stream = DatabaseTlsStream<S>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<DatabaseTlsStream<S>>> + Send>>;

    fn connect(self, stream: S) -> Self::Future {
        Box::pin(async move { self.connector.connect(self.name, stream).await.map(DatabaseTlsStream) })
    }
}

pub(crate) struct DatabaseTlsStream<S>(tokio_rustls::client::TlsStream<S>);

impl<S: AsyncRead + AsyncWrite + Unpin> TlsStream for DatabaseTlsStream<S> {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for DatabaseTlsStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, into)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for DatabaseTlsStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
