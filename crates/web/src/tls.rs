//! TLS of the HTTPS port: 1.2 and 1.3 by ring, with HTTP/2 or HTTP/1.1 negotiated in the handshake.

use std::sync::Arc;

use rustls::server::ResolvesServerCert;
use rustls::{Error, ServerConfig};

pub(crate) const HTTP2_PROTOCOL: &[u8] = b"h2";
const HTTP1_PROTOCOL: &[u8] = b"http/1.1";

/// Each handshake queries the certificates anew, so they can change.
pub(crate) fn server_config(certificates: Arc<dyn ResolvesServerCert>) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut configuration = builder.with_no_client_auth().with_cert_resolver(certificates);
    configuration.alpn_protocols = vec![HTTP2_PROTOCOL.to_vec(), HTTP1_PROTOCOL.to_vec()];
    Ok(Arc::new(configuration))
}
