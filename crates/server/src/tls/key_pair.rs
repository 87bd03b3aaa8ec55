//! The two files: a certificate, with the chain to its authority behind it, and its private key; both as PEM.

use std::fs;
use std::path::{Path, PathBuf};

use ring::digest::{SHA256, digest};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

#[derive(Debug, Clone)]
pub(super) struct KeyPairFiles {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// What the files hold, not looked into.
#[derive(Default, PartialEq, Eq)]
pub(super) struct PemTexts {
    pub(super) certificate: Vec<u8>,
    key: Vec<u8>,
}

/// A key is for nobody's eyes.
impl std::fmt::Debug for PemTexts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}

impl KeyPairFiles {
    pub(super) fn new(certificate: &Path, key: &Path) -> Self {
        Self { certificate: certificate.to_owned(), key: key.to_owned() }
    }

    pub(super) fn read(&self) -> Result<PemTexts, String> {
        let read = |path: &Path| fs::read(path).map_err(|error| format!("{}: {error}", path.display()));
        Ok(PemTexts { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    pub(super) fn parse(&self, texts: &PemTexts) -> Result<CertifiedKey, String> {
        let chain = self.chain(&texts.certificate)?;
        let key = PrivateKeyDer::from_pem_slice(&texts.key).map_err(|error| self.key_error(error))?;
        CertifiedKey::from_der(chain, key, &default_provider()).map_err(|error| self.pair_error(&error))
    }

    pub(super) fn chain(&self, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
        let place = self.certificate.display();
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
        let chain = chain.map_err(|error| format!("{place}: {error}"))?;
        if chain.is_empty() { Err(format!("{place}: holds no certificate in PEM form")) } else { Ok(chain) }
    }

    fn key_error(&self, error: PemError) -> String {
        let place = self.key.display();
        match error {
            PemError::NoItemsFound => format!("{place}: holds no private key in PEM form, or one with a password"),
            other => format!("{place}: {other}"),
        }
    }

    fn pair_error(&self, error: &rustls::Error) -> String {
        let (certificate, key) = (self.certificate.display(), self.key.display());
        match error {
            rustls::Error::InconsistentKeys(_) => format!("{key}: is not the key of {certificate}"),
            rustls::Error::InvalidCertificate(reason) => format!("{certificate}: is not a certificate ({reason:?})"),
            other => format!("{key}: {other}"),
        }
    }

    /// Says which certificate is served; people compare the fingerprint with what their browser shows.
    pub(super) fn announce(&self, pair: &CertifiedKey) {
        let fingerprint = pair.cert.first().map(|certificate| fingerprint(certificate)).unwrap_or_default();
        tracing::info!("certificate {}, SHA-256 fingerprint {fingerprint}", self.certificate.display());
    }
}

/// In pairs of digits, as browsers and `openssl x509 -fingerprint` show it.
pub(super) fn fingerprint(certificate: &[u8]) -> String {
    let pairs: Vec<_> = digest(&SHA256, certificate).as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
    pairs.join(":")
}
