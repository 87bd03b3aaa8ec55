//! TLS 1.2 and 1.3 by ring.

use std::sync::Arc;

use rustls::server::ResolvesServerCert;
use rustls::{Error, ServerConfig};

/// Each handshake asks for the certificate anew, so it can change. `protocols` are offered by ALPN, the preferred one
/// first.
pub fn server_config(
    certificates: Arc<dyn ResolvesServerCert>,
    protocols: &[&[u8]],
) -> Result<Arc<ServerConfig>, Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(certificates);
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(Arc::new(config))
}
