//! TLS of the FIX port, with the server's certificate.

use std::sync::Arc;

use fix_net::{SessionStream, TlsWrapper};
use rustls::ServerConfig;
use rustls::server::ResolvesServerCert;
use tokio_rustls::TlsAcceptor;

/// TLS 1.2 and 1.3 by ring.
pub fn tls_acceptor(certificates: Arc<dyn ResolvesServerCert>) -> Result<TlsWrapper, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let acceptor = TlsAcceptor::from(Arc::new(builder.with_no_client_auth().with_cert_resolver(certificates)));
    Ok(Arc::new(move |socket, _| {
        let handshake = acceptor.accept(socket);
        Box::pin(async move {
            let stream: Box<dyn SessionStream> = Box::new(handshake.await?);
            Ok(stream)
        })
    }))
}
