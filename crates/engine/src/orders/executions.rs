//! Booked executions by key, so that a repeated execution report is recognised.

use std::collections::BTreeSet;

use domain::lookup_map::fingerprint;
use domain::{AccountId, AdapterName, Amount, Charge, ChargeKind, LookupMap, OrderId, Overflow, Price, Quantity};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::codec::{decode_keyed, decode_keys, encode_keyed, encode_keys};

#[derive(Debug, Clone, Default)]
pub(crate) struct ExecutionStore {
    booked: Vec<(u128, BookedExecution)>,
    /// Keys of executions of orders that are no longer kept.
    retired: BTreeSet<u128>,
    /// Index, derived from the booked executions.
    index: LookupMap<u128, usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct BookedExecution {
    #[n(0)]
    pub(crate) order: OrderId,
    #[n(1)]
    pub(crate) quantity: Quantity,
    #[n(2)]
    pub(crate) price: Price,
    /// Busted since.
    #[n(3)]
    pub(crate) busted: bool,
    #[n(4)]
    pub(crate) costs: Costs,
    /// Charges in other currencies.
    #[n(5)]
    #[cbor(default)]
    pub(crate) charges: Vec<Charge>,
}

/// What an execution costs besides its price, in the security's currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Encode, Decode)]
pub(crate) struct Costs {
    #[n(0)]
    pub(crate) execution: Amount,
    #[n(1)]
    pub(crate) clearing: Amount,
    #[n(2)]
    pub(crate) fee: Amount,
}

impl Costs {
    pub(super) fn of_kind(&mut self, kind: ChargeKind) -> &mut Amount {
        match kind {
            ChargeKind::ExecutionCommission => &mut self.execution,
            ChargeKind::ClearingCommission => &mut self.clearing,
            ChargeKind::Fee => &mut self.fee,
        }
    }

    pub(crate) fn total(self) -> Result<Amount, Overflow> {
        self.execution.plus(self.clearing)?.plus(self.fee)
    }

    pub(crate) fn negated(self) -> Self {
        Self { execution: self.execution.negated(), clearing: self.clearing.negated(), fee: self.fee.negated() }
    }
}

/// The key of an execution: a repeated report has the same key.
pub(crate) fn execution_key(adapter: &AdapterName, account: AccountId, exec_id: &str) -> u128 {
    fingerprint(&[adapter.0.as_bytes(), &account.0.to_le_bytes(), exec_id.as_bytes()])
}

impl ExecutionStore {
    fn from_booked(booked: Vec<(u128, BookedExecution)>, retired: BTreeSet<u128>) -> Self {
        let index = booked.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        Self { booked, retired, index }
    }

    pub(crate) fn contains(&self, key: u128) -> bool {
        self.index.contains(&key) || self.retired.contains(&key)
    }

    pub(crate) fn get(&self, key: u128) -> Option<&BookedExecution> {
        self.index.get(&key).map(|place| &self.booked[*place].1)
    }

    pub(crate) fn get_mut(&mut self, key: u128) -> Option<&mut BookedExecution> {
        self.index.get(&key).map(|place| &mut self.booked[*place].1)
    }

    pub(crate) fn insert(&mut self, key: u128, execution: BookedExecution) {
        self.index.insert(key, self.booked.len());
        self.booked.push((key, execution));
    }

    /// Drops the executions of these orders and keeps only their keys.
    pub(super) fn retire(&mut self, orders: &BTreeSet<OrderId>) {
        let Self { mut booked, mut retired, .. } = std::mem::take(self);
        let old = booked.extract_if(.., |(_, execution)| orders.contains(&execution.order));
        retired.extend(old.map(|(key, _)| key));
        *self = Self::from_booked(booked, retired);
    }
}

impl<C> Encode<C> for ExecutionStore {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(2)?;
        encode_keyed(&self.booked, e, ctx)?;
        encode_keys(&self.retired, e)
    }
}

impl<'b, C> Decode<'b, C> for ExecutionStore {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        Ok(Self::from_booked(decode_keyed(d, ctx)?, decode_keys(d)?))
    }
}
