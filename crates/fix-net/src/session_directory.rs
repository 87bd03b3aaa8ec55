//! Session directory: the sessions that a port accepts, by their CompIDs. Sessions come and go while the port is open.

use crate::session_queue::SessionHandle;
use fix::{ConnectionType, SessionId, SessionSettings};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Copies are of the same directory.
#[derive(Clone, Default)]
pub struct SessionDirectory(Arc<RwLock<BTreeMap<SessionId, SessionEntry>>>);

#[derive(Clone)]
pub(crate) struct SessionEntry {
    pub handle: SessionHandle,
    allowed_addresses: Arc<[IpAddr]>,
}

impl SessionEntry {
    /// Without a list any address may connect.
    pub(crate) fn allows(&self, caller: IpAddr) -> bool {
        self.allowed_addresses.is_empty() || self.allowed_addresses.contains(&caller)
    }
}

impl SessionDirectory {
    /// From now on its connections are accepted. One of the same CompIDs is replaced.
    pub fn insert(&self, settings: &SessionSettings, handle: SessionHandle) {
        if let ConnectionType::Acceptor { allowed_addresses, .. } = &settings.role {
            let entry = SessionEntry { handle, allowed_addresses: allowed_addresses.as_slice().into() };
            self.write().insert(settings.id.clone(), entry);
        }
    }

    /// From now on its connections are refused; one that is open stays.
    pub fn remove(&self, id: &SessionId) {
        self.write().remove(id);
    }

    pub(crate) fn get(&self, id: &SessionId) -> Option<SessionEntry> {
        self.read().get(id).cloned()
    }

    /// Whether any session allows this address.
    pub(crate) fn allows(&self, caller: IpAddr) -> bool {
        self.read().values().any(|entry| entry.allows(caller))
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<SessionId, SessionEntry>> {
        // Each entry is consistent on its own.
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<SessionId, SessionEntry>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FromIterator<(Arc<SessionSettings>, SessionHandle)> for SessionDirectory {
    fn from_iter<T: IntoIterator<Item = (Arc<SessionSettings>, SessionHandle)>>(sessions: T) -> Self {
        let directory = Self::default();
        sessions.into_iter().for_each(|(settings, handle)| directory.insert(&settings, handle));
        directory
    }
}
