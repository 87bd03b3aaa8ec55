//! Keys of orders that are no longer kept, so that no id is used twice and repeated reports are recognised. What an index on
//! disk has is forgotten here (decision 0040).

use std::collections::BTreeMap;

use domain::lookup_map::fingerprint;
use domain::order::Order;
use domain::{AccountId, OrderId, RecalledKeys, Text};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::codec::{decode_keys, encode_keys};
use crate::shared::shared_map::SharedMap;
use crate::shared::shared_set::SharedSet;

/// Numbers of generated ids never come near it, so of ids with higher ones nothing is noted: they stay.
const NUMBER_NOTED_MAX: u64 = 1_000_000_000_000_000_000;

/// Keys of retired orders that an index has to take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetiredKeys {
    /// The sequence that the engine is told when all of them are durable.
    pub through: u64,
    /// Fingerprints of order ids.
    pub ids: Vec<u128>,
    /// Keys of ClOrdIDs, executions and accounts.
    pub others: Vec<u128>,
}

/// An index of keys that the engine has forgotten.
pub trait RetiredKeyLookup {
    /// Whether it has the fingerprint of an order id.
    fn has_id(&self, key: u128) -> bool;
    /// Whether it has the key of a session's ClOrdID.
    fn has_name(&self, key: u128) -> bool;
    /// Whether it has the key of an execution, or of the account of an order.
    fn has_fill(&self, key: u128) -> bool;
}

#[derive(Debug, Clone, Default)]
pub(super) struct RetiredOrderKeys {
    /// Fingerprints of the ids.
    pub(super) ids: SharedSet<u128>,
    /// A venue may repeat its reports on these orders.
    pub(super) accounts: SharedMap<OrderId, AccountId>,
    /// Fingerprints of ClOrdIDs, of orders and of mass cancels.
    pub(super) names: SharedSet<u128>,
    /// Absent where no index takes what is here.
    pub(super) indexed: Option<IndexedOrders>,
}

/// What must be known of orders whose keys are in the index, or will be.
#[derive(Debug, Clone, Default)]
pub(super) struct IndexedOrders {
    /// Fingerprints of ids that do not go to the index.
    lasting_ids: SharedSet<u128>,
    /// The highest number of the ids that are retired and not forgotten, by prefix: it may not have been generated yet.
    numbered: BTreeMap<Text, u64>,
    /// Orders whose keys are forgotten.
    forgotten: NumberRuns,
    /// The sequence of the input that added the newest key; 0 where nothing is to be stored.
    through: u64,
    /// Keys up to this sequence are forgotten.
    forgotten_through: u64,
}

impl RetiredOrderKeys {
    pub(super) fn contains_id(&self, key: u128) -> bool {
        self.ids.contains(&key) || self.indexed.as_ref().is_some_and(|indexed| indexed.lasting_ids.contains(&key))
    }

    pub(super) fn is_known(&self, order: OrderId) -> bool {
        self.accounts.contains_key(&order) || self.is_forgotten(order)
    }

    pub(super) fn is_forgotten(&self, order: OrderId) -> bool {
        self.indexed.as_ref().is_some_and(|indexed| indexed.forgotten.contains(order.0))
    }

    pub(super) fn insert(&mut self, key: u128, order: &Order) {
        self.accounts.insert(order.id, order.account);
        let number = numbered(order.int_id.as_str());
        match (&mut self.indexed, number) {
            (Some(indexed), Some((_, number))) if number > NUMBER_NOTED_MAX => {
                indexed.lasting_ids.insert(key);
            }
            (Some(indexed), Some((prefix, number))) => {
                indexed.note(prefix, number);
                self.ids.insert(key);
            }
            _ => {
                self.ids.insert(key);
            }
        }
    }

    /// Which numbers are among the ids that are here already was not noted, so they stay.
    pub(super) fn begin(&mut self) {
        if self.indexed.is_none() {
            let lasting_ids = std::mem::take(&mut self.ids);
            self.indexed = Some(IndexedOrders { lasting_ids, ..IndexedOrders::default() });
        }
    }

    /// An input has added keys.
    pub(super) fn mark_added(&mut self, sequence: u64) {
        if let Some(indexed) = &mut self.indexed {
            indexed.through = sequence;
        }
    }

    /// The sequence up to which keys are to be stored.
    pub(super) fn to_store(&self) -> Option<u64> {
        self.indexed.as_ref().map(|indexed| indexed.through).filter(|through| *through > 0)
    }

    /// The index must have all keys up to this sequence.
    pub(super) fn forgotten_through(&self) -> u64 {
        self.indexed.as_ref().map_or(0, |indexed| indexed.forgotten_through)
    }

    /// Drops everything where nothing was added since that sequence. Returns the numbers that no generated id may have.
    pub(super) fn forget(&mut self, through: u64) -> Option<BTreeMap<Text, u64>> {
        let indexed = self.indexed.as_mut().filter(|indexed| indexed.through == through && through > 0)?;
        indexed.through = 0;
        indexed.forgotten_through = through;
        self.ids.clear();
        self.names.clear();
        self.accounts.take().for_each(|(order, _)| indexed.forgotten.insert(order.0));
        Some(std::mem::take(&mut indexed.numbered))
    }

    pub(super) fn recall(&mut self, keys: &RecalledKeys) {
        self.ids.extend(keys.ids.0.iter().copied());
        self.names.extend(keys.names.0.iter().copied());
        self.accounts.extend(keys.accounts.iter().copied());
    }

    /// Keys that the index takes beside those of ids and executions.
    pub(super) fn other_keys(&self) -> impl Iterator<Item = u128> {
        let accounts = self.accounts.iter().map(|(order, account)| account_key(*order, *account));
        self.names.iter().copied().chain(accounts)
    }
}

impl IndexedOrders {
    fn note(&mut self, prefix: &str, number: u64) {
        match self.numbered.get_mut(prefix) {
            Some(highest) => *highest = number.max(*highest),
            None => drop(self.numbered.insert(prefix.into(), number)),
        }
    }
}

/// Of which account an order was.
pub(crate) fn account_key(order: OrderId, account: AccountId) -> u128 {
    fingerprint(&[b"account", &order.0.to_le_bytes(), &account.0.to_le_bytes()])
}

/// Prefix and number of an id that looks like a generated one.
fn numbered(id: &str) -> Option<(&str, u64)> {
    let (prefix, digits) = id.rsplit_once('-')?;
    let is_plain = digits.bytes().all(|digit| digit.is_ascii_digit()) && !digits.starts_with('0');
    Some((prefix, digits.parse().ok().filter(|_| is_plain)?))
}

impl<C> Encode<C> for IndexedOrders {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(5)?;
        encode_keys(&self.lasting_ids, e)?;
        self.numbered.encode(e, ctx)?;
        self.forgotten.encode(e, ctx)?;
        self.through.encode(e, ctx)?;
        self.forgotten_through.encode(e, ctx)
    }
}

impl<'b, C> Decode<'b, C> for IndexedOrders {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        d.array()?;
        Ok(Self {
            lasting_ids: decode_keys(d)?,
            numbered: BTreeMap::decode(d, ctx)?,
            forgotten: NumberRuns::decode(d, ctx)?,
            through: u64::decode(d, ctx)?,
            forgotten_through: u64::decode(d, ctx)?,
        })
    }
}

/// The last number of each run, by its first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
#[cbor(transparent)]
pub(super) struct NumberRuns(#[n(0)] BTreeMap<u64, u64>);

impl NumberRuns {
    pub(super) fn contains(&self, number: u64) -> bool {
        self.run_at(number).is_some_and(|(_, last)| last >= number)
    }

    pub(super) fn insert(&mut self, number: u64) {
        if self.contains(number) {
            return;
        }
        let before = self.run_at(number).filter(|(_, last)| last.checked_add(1) == Some(number));
        let after = number.checked_add(1).and_then(|next| self.0.remove(&next));
        let first = before.map_or(number, |(first, _)| first);
        self.0.insert(first, after.unwrap_or(number));
    }

    /// The run that begins at the number or before it.
    fn run_at(&self, number: u64) -> Option<(u64, u64)> {
        self.0.range(..=number).next_back().map(|(first, last)| (*first, *last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ids_as_they_are_generated_have_a_number() {
        let ids = ["SIM-57", "A-B-3", "SIM-057", "SIM-+5", "SIM-", "57", "SIM-99999999999999999999", "-4"];
        let found = ids.map(numbered);
        assert_eq!(found[..2], [Some(("SIM", 57)), Some(("A-B", 3))]);
        assert_eq!(found[2..7], [None; 5]);
        assert_eq!(found[7], Some(("", 4)));
    }

    #[test]
    fn neighbours_become_one_run() {
        let mut runs = NumberRuns::default();
        [5, 1, 2, 9, 8, 3, 3, u64::MAX].into_iter().for_each(|number| runs.insert(number));
        assert_eq!(runs.0, BTreeMap::from([(1, 3), (5, 5), (8, 9), (u64::MAX, u64::MAX)]));
        runs.insert(4);
        assert_eq!(runs.0.first_key_value(), Some((&1, &5)));
        let known = [0, 1, 5, 6, 7, 8, 9, 10].map(|number| runs.contains(number));
        assert_eq!(known, [false, true, true, false, false, true, true, false]);
    }
}
