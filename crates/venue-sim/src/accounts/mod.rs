//! Cash and positions of the clients' accounts: a fold over the ledger, the same live and after a restart.

pub(crate) mod account;

use std::collections::BTreeMap;

use domain::{AccountId, SecurityId};

use self::account::{Deposit, TradeSettlement, VenueAccount};
use crate::record::{VenueRecord, VenueTrade};

/// All accounts. A ledger that does not begin with their opening was written by an earlier build, and a trade without a
/// settlement is missing in the sums: then nothing is known.
#[derive(Debug, Default)]
pub(crate) struct VenueAccounts {
    is_opened: bool,
    accounts: BTreeMap<AccountId, VenueAccount>,
}

impl VenueAccounts {
    pub(crate) fn apply(&mut self, record: &VenueRecord) {
        match record {
            VenueRecord::Compacted(_) => *self = Self::default(),
            VenueRecord::Accounts(kept) => {
                *self = Self { is_opened: true, accounts: kept.iter().cloned().collect() };
            }
            VenueRecord::Opened { deposits, .. } => self.open(deposits),
            VenueRecord::Traded(trade) => self.settle(trade),
            VenueRecord::Revised(revision) => {
                self.settle_side(revision.security, revision.settlement.as_ref());
                if let Some(by) = &revision.by {
                    self.settle_side(revision.security, by.settlement.as_ref());
                }
            }
            _ => {}
        }
    }

    /// None where its records do not go back to the opening.
    pub(crate) fn get(&self, account: AccountId) -> Option<VenueAccount> {
        let known = self.accounts.get(&account).cloned().unwrap_or_default();
        (self.is_opened && known.is_known()).then_some(known)
    }

    /// The record of a compacted ledger that gives the same accounts.
    pub(crate) fn compacted(&self) -> Option<VenueRecord> {
        let kept = || self.accounts.iter().map(|(account, held)| (*account, held.clone())).collect();
        self.is_opened.then(|| VenueRecord::Accounts(kept()))
    }

    fn open(&mut self, deposits: &[Deposit]) {
        self.is_opened = true;
        for deposit in deposits {
            self.accounts.entry(deposit.account).or_default().change_cash(deposit.currency, Ok(deposit.amount));
        }
    }

    fn settle(&mut self, trade: &VenueTrade) {
        for execution in &trade.executions {
            self.settle_side(trade.security, execution.settlement.as_ref());
        }
    }

    fn settle_side(&mut self, security: SecurityId, settlement: Option<&TradeSettlement>) {
        match settlement {
            Some(settlement) => self.accounts.entry(settlement.account).or_default().settle(security, settlement),
            // From here on the sums are wrong.
            None => self.is_opened = false,
        }
    }
}
