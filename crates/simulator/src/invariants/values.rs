//! Value samples: what they say of cash and costs is the sum of all bookings before them.

use std::collections::BTreeMap;

use domain::{Decimal, Event, RiskScope, Transaction, TransactionKind, ValueSample};

use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, ensure};

pub(crate) const SAMPLES_ARE_SUMS: &str = "a value sample is not the sum of bookings";

/// Cash and costs of a scope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct ScopeSums {
    cash: Decimal,
    commissions: Decimal,
    fees: Decimal,
}

/// Sums of all bookings so far, by scope.
#[derive(Default)]
pub(crate) struct ValueSums {
    sums: BTreeMap<RiskScope, ScopeSums>,
    /// How many were compared.
    pub(crate) samples: u64,
}

impl ValueSums {
    /// Every sample of the journal behind a sequence.
    pub(crate) fn extend(&mut self, books: &JournalBooks, behind: u64) -> InvariantResult {
        let events = books.events.range(behind + 1..);
        for (sequence, event) in events.flat_map(|(sequence, events)| events.iter().map(move |event| (sequence, event)))
        {
            match event {
                Event::Transaction(transaction) => self.add(transaction),
                Event::ValueSample(sample) => {
                    self.samples += 1;
                    self.compare(*sequence, sample)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add(&mut self, transaction: &Transaction) {
        let commissions = transaction.execution_commission.0 + transaction.clearing_commission.0;
        let fees = transaction.fee.0;
        let value = transaction.quantity.0 * transaction.price.0;
        let is_trade = matches!(transaction.kind, TransactionKind::Buy | TransactionKind::Sell);
        let cash = if is_trade { -value } else { value } - commissions - fees;
        let scopes = [
            Some(RiskScope::Platform),
            Some(RiskScope::Account(transaction.account)),
            Some(RiskScope::Strategy(transaction.strategy)),
            transaction.security.map(RiskScope::Security),
        ];
        for scope in scopes.into_iter().flatten() {
            let sums = self.sums.entry(scope).or_default();
            sums.cash += cash;
            sums.commissions += commissions;
            sums.fees += fees;
        }
    }

    /// All is in one currency here, so a figure is absent only where a price is missing, or where a security has no cash.
    fn compare(&self, sequence: u64, sample: &ValueSample) -> InvariantResult {
        let sums = self.sums.get(&sample.scope).copied().unwrap_or_default();
        let has_cash = !matches!(sample.scope, RiskScope::Security(_));
        let told = |amount: Option<domain::Amount>| amount.map(|amount| amount.0);
        let is_sum = told(sample.cash_balance) == has_cash.then_some(sums.cash)
            && told(sample.commissions) == Some(sums.commissions)
            && told(sample.fees) == Some(sums.fees);
        ensure(is_sum, SAMPLES_ARE_SUMS, || format!("input {sequence}: {sample:?} instead of {sums:?}"))?;
        let parts = told(sample.cash_balance).zip(told(sample.market_value)).map(|(cash, held)| cash + held);
        ensure(told(sample.net_liq_value) == parts, SAMPLES_ARE_SUMS, || {
            format!("input {sequence}: {sample:?}, cash and positions are {parts:?}")
        })
    }
}
