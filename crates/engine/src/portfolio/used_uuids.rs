//! Used transaction uuids, in little memory.

use std::collections::BTreeSet;

use domain::{TransactionId, Uuid};
use minicbor::{Decode, Encode};

/// A uuid that we generated contains its transaction's id, which is never given twice, so it need not be kept: it is
/// enough that no client may use the space of its issuer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(super) struct UsedUuids {
    /// The instances that generated uuids, as in the upper half of their uuids.
    #[n(0)]
    issuers: BTreeSet<u64>,
    /// Chosen by clients.
    #[n(1)]
    foreign: BTreeSet<Uuid>,
}

impl UsedUuids {
    pub(super) fn contains(&self, uuid: Uuid, id: TransactionId) -> bool {
        let (issuer, is_minted) = parts(uuid, id);
        !is_minted && (self.issuers.contains(&issuer) || self.foreign.contains(&uuid))
    }

    pub(super) fn insert(&mut self, uuid: Uuid, id: TransactionId) {
        let (issuer, is_minted) = parts(uuid, id);
        if is_minted {
            self.issuers.insert(issuer);
        } else {
            self.foreign.insert(uuid);
        }
    }
}

/// The upper half, and whether the whole is what the issuer of that half generates for a transaction.
fn parts(uuid: Uuid, id: TransactionId) -> (u64, bool) {
    let issuer = u64::try_from(uuid.0 >> 64).expect("64 bits are left");
    (issuer, Uuid::mint(issuer, id.0) == uuid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uuid(text: &str) -> Uuid {
        text.parse().unwrap()
    }

    #[test]
    fn a_clients_uuid_is_taken_once() {
        let mut taken = UsedUuids::default();
        let theirs = uuid("b2c3b0d8-6c55-4e0a-9c55-1b6f0c6f9e01");
        assert!(!taken.contains(theirs, TransactionId(1)));
        taken.insert(theirs, TransactionId(1));
        assert!(taken.contains(theirs, TransactionId(2)));
    }

    #[test]
    fn a_generated_uuid_is_used_by_its_own_transaction_only() {
        let mut taken = UsedUuids::default();
        taken.insert(Uuid::mint(7, 1), TransactionId(1));
        assert!(taken.contains(Uuid::mint(7, 1), TransactionId(2)), "a client repeats a minted one");
        assert!(taken.contains(Uuid::mint(7, 9), TransactionId(2)), "a client takes one that we shall mint");
        assert!(!taken.contains(Uuid::mint(7, 2), TransactionId(2)), "the next one of ours");
        assert!(!taken.contains(Uuid::mint(8, 1), TransactionId(2)), "of a stranger");
    }

    #[test]
    fn a_thousand_generated_uuids_take_no_more_memory_than_one() {
        let mut taken = UsedUuids::default();
        (1..=1_000).for_each(|id| taken.insert(Uuid::mint(7, id), TransactionId(id)));
        let mut once = UsedUuids::default();
        once.insert(Uuid::mint(7, 1), TransactionId(1));
        assert_eq!(taken, once);
    }
}
