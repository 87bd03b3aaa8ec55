//! TLS of the FIX port, with the server's certificate.

use std::sync::Arc;

use fix_net::{SessionStream, TlsWrapper};
use rustls::server::ResolvesServerCert;
use tokio_rustls::TlsAcceptor;

pub fn tls_acceptor(certificates: Arc<dyn ResolvesServerCert>) -> Result<TlsWrapper, rustls::Error> {
    let acceptor = TlsAcceptor::from(net::server_config(certificates, &[])?);
    Ok(Arc::new(move |socket, _| {
        let handshake = acceptor.accept(socket);
        Box::pin(async move {
            let stream: Box<dyn SessionStream> = Box::new(handshake.await?);
            Ok(stream)
        })
    }))
}
