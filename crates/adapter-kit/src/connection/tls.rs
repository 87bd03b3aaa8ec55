//! TLS of a client: the roots that it trusts, and its own certificate where a venue wants one.

use std::fmt;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Which certificates a venue's own must come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRoots {
    /// Those of the operating system.
    System,
    /// Those of a PEM text, and no others: for a lab or a venue with a certificate of its own.
    Pem(Vec<u8>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsRootsError {
    /// The system has none, or none that can be read.
    NoSystemRoots(String),
    UnreadablePem(String),
    /// The client's own certificate or key.
    Identity(String),
    Unusable(String),
}

/// Certificate and key of the client, each as PEM.
pub struct ClientIdentity {
    pub certificates: Vec<u8>,
    pub key: Vec<u8>,
}

impl fmt::Debug for ClientIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientIdentity(***)")
    }
}

/// The configuration of all connections of an adapter; it is made once.
pub fn tls_config(roots: &TlsRoots) -> Result<Arc<ClientConfig>, TlsRootsError> {
    tls_config_of(roots, None)
}

/// The same, with a certificate of the client for venues that want one.
pub fn tls_config_of(roots: &TlsRoots, identity: Option<&ClientIdentity>) -> Result<Arc<ClientConfig>, TlsRootsError> {
    let store = match roots {
        TlsRoots::System => system_roots()?,
        TlsRoots::Pem(text) => pem_roots(text)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|reason| TlsRootsError::Unusable(reason.to_string()))?;
    let builder = builder.with_root_certificates(store);
    let config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => {
            let bad = |reason: String| TlsRootsError::Identity(reason);
            let chain = CertificateDer::pem_slice_iter(&identity.certificates).collect::<Result<Vec<_>, _>>();
            let chain = chain.map_err(|reason| bad(format!("the certificate: {reason}")))?;
            let key =
                PrivateKeyDer::from_pem_slice(&identity.key).map_err(|reason| bad(format!("the key: {reason}")))?;
            builder.with_client_auth_cert(chain, key).map_err(|reason| bad(reason.to_string()))?
        }
    };
    Ok(Arc::new(config))
}

fn system_roots() -> Result<RootCertStore, TlsRootsError> {
    let found = rustls_native_certs::load_native_certs();
    let mut store = RootCertStore::empty();
    let (added, _) = store.add_parsable_certificates(found.certs);
    if added == 0 {
        let reasons: Vec<_> = found.errors.iter().map(ToString::to_string).collect();
        return Err(TlsRootsError::NoSystemRoots(reasons.join("; ")));
    }
    Ok(store)
}

fn pem_roots(text: &[u8]) -> Result<RootCertStore, TlsRootsError> {
    let unreadable = |reason: String| TlsRootsError::UnreadablePem(reason);
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(text) {
        let certificate = certificate.map_err(|reason| unreadable(reason.to_string()))?;
        store.add(certificate).map_err(|reason| unreadable(reason.to_string()))?;
    }
    if store.is_empty() { Err(unreadable("there is no certificate in it".to_owned())) } else { Ok(store) }
}

impl fmt::Display for TlsRootsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSystemRoots(reason) => {
                write!(
                    f,
                    "the system has no root certificates ({reason}); install ca-certificates or set SSL_CERT_FILE"
                )
            }
            Self::UnreadablePem(reason) => write!(f, "the root certificates cannot be read: {reason}"),
            Self::Identity(reason) => write!(f, "the client certificate cannot be used: {reason}"),
            Self::Unusable(reason) => write!(f, "TLS cannot be set up: {reason}"),
        }
    }
}

impl std::error::Error for TlsRootsError {}
