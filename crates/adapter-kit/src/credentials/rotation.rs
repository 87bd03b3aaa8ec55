//! Rotation of credentials without a restart: the source is read again, and the old key stays until the venue has
//! accepted the new one.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;

use super::{CredentialEnvironment, CredentialError, CredentialSource, VenueCredentials};

/// Identity and times of a file: another value means that it was changed, replaced or given another mode.
type FileStamp = (u64, u64, u64, [i64; 4]);

/// Credentials in use, and those that they replaced until the venue accepts the new ones.
#[derive(Debug)]
pub struct CredentialWatch {
    source: CredentialSource,
    current: Arc<VenueCredentials>,
    previous: Option<Arc<VenueCredentials>>,
    stamp: Option<FileStamp>,
}

impl CredentialWatch {
    pub fn start(source: CredentialSource, environment: CredentialEnvironment<'_>) -> Result<Self, CredentialError> {
        let stamp = stamp(&source, environment);
        let current = Arc::new(source.load(environment)?);
        Ok(Self { source, current, previous: None, stamp })
    }

    pub fn current(&self) -> Arc<VenueCredentials> {
        Arc::clone(&self.current)
    }

    /// Cheap, for a timer: reads the source again only where its file has changed. One that cannot be read is told once.
    pub fn poll(&mut self, environment: CredentialEnvironment<'_>) -> Result<bool, CredentialError> {
        let found = stamp(&self.source, environment);
        if found == self.stamp {
            return Ok(false);
        }
        self.stamp = found;
        self.reload(environment)
    }

    /// Reads the source again (SIGHUP). Where it cannot be read, the credentials in use stay.
    pub fn reload(&mut self, environment: CredentialEnvironment<'_>) -> Result<bool, CredentialError> {
        let read = self.source.load(environment)?;
        if read.is_same(&self.current) {
            return Ok(false);
        }
        tracing::info!(old = %self.current, new = %read, "venue credentials changed; used from the next log-on");
        let replaced = std::mem::replace(&mut self.current, Arc::new(read));
        // Of two rotations without a log-on between, the key that the venue knows is the older one.
        self.previous.get_or_insert(replaced);
        Ok(true)
    }

    /// The venue accepted the current credentials: the old ones are wiped.
    pub fn on_accepted(&mut self) {
        self.previous = None;
    }

    /// The venue refused the current credentials: back to the old ones, where there are any.
    pub fn on_refused(&mut self) -> bool {
        let Some(previous) = self.previous.take() else { return false };
        tracing::warn!(refused = %self.current, used = %previous, "the venue refused the new credentials; the old ones stay");
        self.current = previous;
        true
    }
}

fn stamp(source: &CredentialSource, environment: CredentialEnvironment<'_>) -> Option<FileStamp> {
    let metadata = fs::metadata(source.path(environment)?).ok()?;
    let times = [metadata.mtime(), metadata.mtime_nsec(), metadata.ctime(), metadata.ctime_nsec()];
    Some((metadata.dev(), metadata.ino(), metadata.len(), times))
}
