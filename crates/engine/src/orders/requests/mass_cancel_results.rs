//! Results of mass cancels, kept so that each is carried out once.

use std::collections::BTreeMap;

use domain::{Source, Text, Timestamp};
use minicbor::{Decode, Encode};

/// Mass cancels kept per session; beyond that the oldest is dropped, because none is refused for that.
const MASS_CANCELS_KEPT_MAX: usize = 1_000;

/// By session, then by ClOrdID.
#[derive(Debug, Clone, Default, Encode, Decode)]
#[cbor(transparent)]
pub(crate) struct MassCancels(#[n(0)] BTreeMap<Text, BTreeMap<Text, MassCancelResult>>);

/// When a mass cancel was carried out, and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct MassCancelResult {
    #[n(0)]
    pub(crate) at: Timestamp,
    #[n(1)]
    pub(crate) affected: u64,
    #[n(2)]
    pub(crate) not_cancellable: u64,
}

impl MassCancels {
    pub(crate) fn get(&self, source: &Source, cl_ord_id: &str) -> Option<MassCancelResult> {
        self.0.get(source.session()?)?.get(cl_ord_id).copied()
    }

    pub(crate) fn insert(&mut self, source: &Source, cl_ord_id: &Text, obeyed: MassCancelResult) {
        let Some(session) = source.session() else { return };
        let own = self.0.entry(session.clone()).or_default();
        own.insert(cl_ord_id.clone(), obeyed);
        let oldest = own.iter().min_by_key(|(_, obeyed)| obeyed.at).map(|(name, _)| name.clone());
        if let Some(oldest) = oldest.filter(|_| own.len() > MASS_CANCELS_KEPT_MAX) {
            own.remove(&oldest);
        }
    }

    /// Removes those from before `kept_since`; returns their sessions and ids.
    pub(crate) fn remove_older_than(&mut self, kept_since: Timestamp) -> Vec<(Text, Text)> {
        let mut old = Vec::new();
        self.0.retain(|session, own| {
            let gone = own.extract_if(.., |_, obeyed| obeyed.at < kept_since);
            old.extend(gone.map(|(name, _)| (session.clone(), name)));
            !own.is_empty()
        });
        old
    }
}
