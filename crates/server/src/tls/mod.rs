//! Certificate of the TLS ports: our own from the first start, or the one that the configuration names. It can change while
//! the server runs; open connections keep the one they began with.

pub(crate) mod pinned_tls;

/// Certificates that we make ourselves.
mod self_signed;
/// The two files: a certificate and its key.
mod key_pair;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use rustls::pki_types::{CertificateDer, ServerName};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::sync::Notify;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use key_pair::{KeyPairFiles, PemTexts};

/// The folder of our own certificate, inside the data folder.
const FOLDER: &str = "tls";
/// So often the files are looked at.
const CHECK_EVERY: Duration = Duration::from_secs(60);
/// Names that every certificate of ours carries.
const OUR_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// What the configuration says about certificates.
#[derive(Debug, Clone)]
pub struct CertificateSource {
    files: KeyPairFiles,
    /// The names of a certificate that we make ourselves; none where one is given.
    names: Option<Vec<String>>,
}

/// The certificate that is served now.
#[derive(Debug)]
pub struct Certificate {
    source: CertificateSource,
    served: RwLock<Arc<CertifiedKey>>,
    /// The files as they were last looked at, good or bad, so that each change is told once.
    last_read: Mutex<PemTexts>,
}

impl CertificateSource {
    pub fn of(config: &Config) -> Result<Self, ExitFailure> {
        match (&config.https_certificate, &config.https_key) {
            (Some(certificate), Some(key)) => {
                Ok(Self { files: KeyPairFiles::new(&certificate.0, &key.0), names: None })
            }
            (None, None) => Ok(Self::self_signed(config)),
            _ => {
                Err(ExitFailure::new(Exit::Refused, "https.certificate and https.key are given together or not at all"))
            }
        }
    }

    /// Of these files, in PEM.
    pub fn from_files(certificate: &Path, key: &Path) -> Self {
        Self { files: KeyPairFiles::new(certificate, key), names: None }
    }

    fn self_signed(config: &Config) -> Self {
        let folder = config.data_dir.join(FOLDER);
        // Where every address is bound, which ones these are is not known.
        let bound = Some(config.bind.0).filter(|address| !address.is_unspecified()).map(|address| address.to_string());
        let mut names: Vec<_> = OUR_NAMES.map(String::from).into();
        names.extend(config.hosts().into_iter().chain(bound));
        // Not every host that a browser may send can stand in a certificate.
        names.retain(|name| ServerName::try_from(name.as_str()).is_ok());
        names.sort_unstable();
        names.dedup();
        Self { files: KeyPairFiles::new(&folder.join("cert.pem"), &folder.join("key.pem")), names: Some(names) }
    }

    /// Whether files that are given can be used; ours are made when the server starts.
    pub fn check(&self) -> Result<(), ExitFailure> {
        match self.names {
            Some(_) => Ok(()),
            None => self.files.read().and_then(|texts| self.files.parse(&texts)).map(drop).map_err(refused),
        }
    }

    /// The certificate that a server of this configuration shows.
    pub fn current(&self) -> Result<CertificateDer<'static>, ExitFailure> {
        let texts = self.files.read().map_err(refused)?;
        let chain = self.files.chain(&texts.certificate).map_err(refused)?;
        Ok(chain.into_iter().next().expect("a chain is not empty"))
    }

    /// What the files hold, made or renewed first where they are ours.
    fn read(&self, now: SystemTime) -> Result<PemTexts, String> {
        if let Some(names) = &self.names {
            self_signed::renew_if_due(&self.files, names, now)?;
        }
        self.files.read()
    }
}

impl Certificate {
    pub fn open(wanted: CertificateSource) -> Result<Arc<Self>, ExitFailure> {
        let texts = wanted.read(SystemTime::now()).map_err(refused)?;
        let served = wanted.files.parse(&texts).map_err(refused)?;
        wanted.files.announce(&served);
        Ok(Arc::new(Self { source: wanted, served: RwLock::new(Arc::new(served)), last_read: Mutex::new(texts) }))
    }

    /// Looks at the files each minute, and when somebody asks.
    pub async fn watch_files(self: Arc<Self>, asked: Arc<Notify>) {
        loop {
            // Whether time passed or somebody asked: the work is the same.
            let _ = tokio::time::timeout(CHECK_EVERY, asked.notified()).await;
            let certificate = self.clone();
            if tokio::task::spawn_blocking(move || certificate.refresh(SystemTime::now())).await.is_err() {
                tracing::error!("the certificate could not be looked at");
            }
        }
    }

    /// Serves what the files hold now; where they can't be used, what was served before.
    fn refresh(&self, now: SystemTime) {
        match self.source.read(now) {
            Ok(texts) => self.apply(texts),
            Err(reason) => self.reject_new(PemTexts::default(), &reason),
        }
    }

    fn apply(&self, texts: PemTexts) {
        if *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) == texts {
            return;
        }
        match self.source.files.parse(&texts) {
            Ok(fresh) => {
                let fresh = Arc::new(fresh);
                *self.served.write().unwrap_or_else(PoisonError::into_inner) = fresh.clone();
                *self.last_read.lock().unwrap_or_else(PoisonError::into_inner) = texts;
                // Whoever reads the line may count on it.
                self.source.files.announce(&fresh);
            }
            Err(reason) => self.reject_new(texts, &reason),
        }
    }

    fn reject_new(&self, texts: PemTexts, reason: &str) {
        let mut seen = self.last_read.lock().unwrap_or_else(PoisonError::into_inner);
        if *seen != texts {
            tracing::error!("the certificate stays as it was: {reason}");
            *seen = texts;
        }
    }
}

impl ResolvesServerCert for Certificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.served.read().unwrap_or_else(PoisonError::into_inner).clone())
    }
}

fn refused(reason: String) -> ExitFailure {
    ExitFailure::new(Exit::Refused, format!("the certificate can't be used: {reason}"))
}
