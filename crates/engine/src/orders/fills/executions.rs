//! Booked executions, so that one that is reported again is recognised. Trade ids are unique only within one order at
//! the venue: they may repeat across securities, and after a restart of the venue.

use std::collections::BTreeSet;

use domain::lookup_map::fingerprint;
use domain::report::VenueFill;
use domain::{
    AccountId, AdapterName, Amount, Charge, ChargeKind, Decimal, LookupMap, OrderId, Overflow, PlantedBug, Price,
    Quantity, Text, Timestamp,
};
use minicbor::{Decode, Decoder, Encode, Encoder};

use crate::codec::{decode_keyed, decode_keys, encode_keyed, encode_keys};
use crate::shared::shared_list::SharedList;
use crate::shared::shared_set::SharedSet;

/// What makes an execution one and the same: venue, account, order and trade id. The security is the order's. The
/// venue's order tells the legs of one order apart; where it is absent any leg is meant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ExecutionId<'a> {
    pub(crate) adapter: &'a AdapterName,
    pub(crate) account: AccountId,
    pub(crate) order: OrderId,
    pub(crate) ext_order: Option<&'a Text>,
    pub(crate) exec_id: &'a str,
    /// Fingerprint of the rest but the leg; each fill is looked up by it more than once.
    key: u128,
}

impl<'a> ExecutionId<'a> {
    pub(crate) fn new(
        adapter: &'a AdapterName,
        account: AccountId,
        order: OrderId,
        ext_order: Option<&'a Text>,
        exec_id: &'a str,
    ) -> Self {
        let (account_bytes, order_bytes) = (account.0.to_le_bytes(), order.0.to_le_bytes());
        let key = fingerprint(&[adapter.0.as_bytes(), &account_bytes, &order_bytes, exec_id.as_bytes()]);
        Self { adapter, account, order, ext_order, exec_id, key }
    }

    pub(crate) fn key(&self) -> u128 {
        self.key
    }

    /// Of a second execution with the same trade id, from another leg of the order.
    fn leg_key(&self) -> u128 {
        let leg = self.ext_order.map_or(&b""[..], |leg| leg.as_bytes());
        fingerprint(&[&self.key().to_le_bytes(), leg])
    }

    /// Until 0.2 the order was not part of it.
    fn earlier_key(&self) -> u128 {
        let account = self.account.0.to_le_bytes();
        fingerprint(&[self.adapter.0.as_bytes(), &account, self.exec_id.as_bytes()])
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct ExecutionStore {
    /// Those of earlier builds first.
    booked: SharedList<(u128, BookedExecution)>,
    /// Executions of orders that are no longer kept: key, quantity and price in one fingerprint.
    retired: SharedSet<u128>,
    earlier: EarlierExecutions,
    /// Index, derived from the booked executions.
    index: LookupMap<u128, usize>,
    /// Places of the executions of an order, in the order of booking; derived too.
    by_order: LookupMap<OrderId, Vec<usize>>,
    /// Whether any of the booked ones was inferred; derived.
    has_inferred: bool,
}

/// Executions from a snapshot of an earlier build, under its keys.
#[derive(Debug, Clone, Default)]
struct EarlierExecutions {
    /// How many of the booked ones.
    booked: usize,
    /// Keys of executions of orders that are no longer kept.
    retired: SharedSet<u128>,
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
    /// The venue's order, where the fill named it.
    #[n(6)]
    pub(crate) ext_order: Option<Text>,
    /// Where the venue did not report it.
    #[n(7)]
    pub(crate) inferred: Option<Inferred>,
    /// The execution by which it was corrected: a later correction may name this one again.
    #[n(8)]
    pub(crate) replaced_by: Option<Text>,
}

/// Of a booked execution that was inferred, or of one that is part of it: that one counts as busted, since it is not booked by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) struct Inferred {
    /// The venue's time: an execution after it is not part of it.
    #[n(0)]
    pub(crate) until: Option<Timestamp>,
    /// What was not reported since.
    #[n(1)]
    pub(crate) left: Quantity,
}

impl BookedExecution {
    /// Whether it is or was a booking of its own; not part of an inferred one, nor one that must not be booked.
    pub(super) fn is_by_itself(&self) -> bool {
        !self.busted || (self.inferred.is_none() && !self.quantity.is_zero())
    }

    /// Busted, corrected, or taken back before it was booked.
    fn is_taken_back(&self) -> bool {
        self.busted && self.inferred.is_none()
    }

    /// Whether a fill of this venue order can be the same execution.
    fn is_of_leg(&self, leg: Option<&Text>) -> bool {
        self.ext_order.is_none() || leg.is_none() || self.ext_order.as_ref() == leg
    }

    /// Key of the execution when its order is no longer kept.
    fn retired_key(&self, key: u128) -> u128 {
        content_key(key, self.quantity, self.price)
    }
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
    pub(crate) fn of_kind(&mut self, kind: ChargeKind) -> &mut Amount {
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

fn content_key(key: u128, quantity: Quantity, price: Price) -> u128 {
    let bytes = |number: Decimal| number.normalize().serialize();
    fingerprint(&[&key.to_le_bytes(), &bytes(quantity.0), &bytes(price.0)])
}

/// Under which it is known that an execution was taken back, when its order is no longer kept. `key` is that of the execution.
pub(crate) fn taken_back_key(key: u128) -> u128 {
    fingerprint(&[b"taken back", &key.to_le_bytes()])
}

/// The keys under which a fill is known when its order is no longer kept; the last one is of earlier builds.
pub(crate) fn retired_keys(id: &ExecutionId<'_>, fill: &VenueFill) -> [u128; 3] {
    let key = |key| content_key(key, fill.quantity, fill.price);
    [key(id.key()), key(id.leg_key()), id.earlier_key()]
}

impl ExecutionStore {
    /// What is written to disk: the index is made from it.
    pub(crate) fn copy_for_disk(&self) -> Self {
        let Self { booked, retired, earlier, .. } = self;
        let (booked, retired, earlier) = (booked.clone(), retired.clone(), earlier.clone());
        Self { booked, retired, earlier, ..Self::default() }
    }

    fn from_booked(
        booked: SharedList<(u128, BookedExecution)>,
        retired: SharedSet<u128>,
        earlier: EarlierExecutions,
    ) -> Self {
        let index = booked.iter().enumerate().map(|(place, (key, _))| (*key, place)).collect();
        let mut by_order: LookupMap<OrderId, Vec<usize>> = LookupMap::default();
        for (place, (_, execution)) in booked.iter().enumerate() {
            by_order.or_default(execution.order).push(place);
        }
        let has_inferred = booked.iter().any(|(_, execution)| execution.inferred.is_some());
        Self { booked, retired, earlier, index, by_order, has_inferred }
    }

    pub(crate) fn has_inferred(&self) -> bool {
        self.has_inferred
    }

    fn place(&self, id: &ExecutionId<'_>) -> Option<usize> {
        match self.index.get(&id.key()) {
            Some(place) if self.at(*place).is_of_leg(id.ext_order) => Some(*place),
            Some(_) => self.index.get(&id.leg_key()).copied(),
            None => self.place_of_earlier_build(id),
        }
    }

    /// The trade id alone proves nothing there, but the execution knows its order.
    fn place_of_earlier_build(&self, id: &ExecutionId<'_>) -> Option<usize> {
        if self.earlier.booked == 0 {
            return None;
        }
        let place = *self.index.get(&id.earlier_key())?;
        (self.at(place).order == id.order).then_some(place)
    }

    pub(crate) fn get(&self, id: &ExecutionId<'_>) -> Option<&BookedExecution> {
        self.place(id).map(|place| self.at(place))
    }

    fn at(&self, place: usize) -> &BookedExecution {
        &self.booked.get(place).expect("the index names places that exist").1
    }

    pub(crate) fn get_mut(&mut self, id: &ExecutionId<'_>) -> Option<&mut BookedExecution> {
        let place = self.place(id)?;
        self.booked.get_mut(place).map(|(_, execution)| execution)
    }

    /// In the order of booking.
    pub(crate) fn of_order(&self, order: OrderId) -> impl Iterator<Item = &BookedExecution> {
        self.by_order.get(&order).map_or(&[][..], Vec::as_slice).iter().map(|place| self.at(*place))
    }

    /// In place of a busted one with the same id, which it corrects.
    pub(crate) fn insert(&mut self, id: &ExecutionId<'_>, execution: BookedExecution) {
        self.has_inferred |= execution.inferred.is_some();
        let key = id.key();
        let key = match self.index.get(&key).copied() {
            None => key,
            Some(place) if self.at(place).busted && self.at(place).is_of_leg(id.ext_order) => {
                if let Some((_, booked)) = self.booked.get_mut(place) {
                    *booked = execution;
                }
                return;
            }
            Some(_) => id.leg_key(),
        };
        self.index.insert(key, self.booked.len());
        self.by_order.or_default(execution.order).push(self.booked.len());
        self.booked.push((key, execution));
    }

    /// Whether exactly this fill was booked for an order that is no longer kept.
    pub(crate) fn is_retired(&self, id: &ExecutionId<'_>, fill: &VenueFill) -> bool {
        // Three fingerprints of every fill would cost more than booking it.
        if self.retired.is_empty() && self.earlier.retired.is_empty() {
            return false;
        }
        let [whole, leg, earlier] = retired_keys(id, fill);
        [whole, leg].iter().any(|key| self.retired.contains(key)) || self.earlier.retired.contains(&earlier)
    }

    /// Whether an execution of an order that is no longer kept was taken back.
    pub(crate) fn was_taken_back(&self, id: &ExecutionId<'_>) -> bool {
        self.retired.contains(&taken_back_key(id.key()))
    }

    /// Keys of executions of orders that are no longer kept.
    pub(crate) fn retired_keys(&self) -> impl Iterator<Item = u128> {
        self.retired.iter().chain(self.earlier.retired.iter()).copied()
    }

    /// The index on disk has all of them.
    pub(crate) fn forget(&mut self) {
        self.retired.clear();
        self.earlier.retired.clear();
    }

    /// From the index, which does not know of which kind a key is; the kinds share no keys.
    pub(crate) fn recall(&mut self, keys: &[u128]) {
        self.retired.extend(keys.iter().copied());
        self.earlier.retired.extend(keys.iter().copied());
    }

    /// Drops the executions of these orders and keeps only their keys, and of those that were taken back that they were.
    pub(crate) fn retire(&mut self, orders: &BTreeSet<OrderId>, notes_taken_back: bool) {
        let Self { mut booked, mut retired, mut earlier, .. } = std::mem::take(self);
        let mut booked: Vec<_> = booked.take().collect();
        let is_old = |(_, execution): &mut (u128, BookedExecution)| orders.contains(&execution.order);
        let of_earlier: Vec<_> = booked.extract_if(..earlier.booked, is_old).collect();
        earlier.booked -= of_earlier.len();
        earlier.retired.extend(of_earlier.into_iter().map(|(key, _)| key));
        let old: Vec<_> = booked.extract_if(earlier.booked.., is_old).collect();
        let taken_back = old.iter().filter(|(_, execution)| notes_taken_back && execution.is_taken_back());
        retired.extend(taken_back.map(|(key, _)| taken_back_key(*key)));
        retired.extend(old.iter().map(|(key, execution)| execution.retired_key(*key)));
        *self = Self::from_booked(booked.into_iter().collect(), retired, earlier);
    }
}

impl<C> Encode<C> for ExecutionStore {
    fn encode<W: minicbor::encode::Write>(
        &self,
        e: &mut Encoder<W>,
        ctx: &mut C,
    ) -> Result<(), minicbor::encode::Error<W::Error>> {
        e.array(4)?;
        encode_keyed(self.booked.iter(), e, ctx)?;
        encode_keys(&self.retired, e)?;
        e.u64(self.earlier.booked as u64)?;
        encode_keys(&self.earlier.retired, e)
    }
}

impl<'b, C> Decode<'b, C> for ExecutionStore {
    fn decode(d: &mut Decoder<'b>, ctx: &mut C) -> Result<Self, minicbor::decode::Error> {
        let parts = d.array()?;
        let booked: SharedList<_> = decode_keyed(d, ctx)?;
        let retired = decode_keys(d)?;
        // Snapshots of earlier builds end here, and all their keys are of the earlier kind.
        if parts == Some(2) {
            if PlantedBug::ForgetEarlierExecutions.is_planted() {
                return Ok(Self::default());
            }
            let earlier = EarlierExecutions { booked: booked.len(), retired };
            return Ok(Self::from_booked(booked, SharedSet::default(), earlier));
        }
        let count = usize::try_from(d.u64()?).unwrap_or(usize::MAX).min(booked.len());
        let earlier = EarlierExecutions { booked: count, retired: decode_keys(d)? };
        Ok(Self::from_booked(booked, retired, earlier))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VENUE: &str = "SIMULATED:A";

    fn execution(order: u64, ext_order: Option<&str>) -> BookedExecution {
        BookedExecution {
            order: OrderId(order),
            quantity: 5.into(),
            price: 10.into(),
            busted: false,
            costs: Costs::default(),
            charges: vec![],
            ext_order: ext_order.map(Into::into),
            inferred: None,
            replaced_by: None,
        }
    }

    fn fill(order: u64, quantity: i64) -> VenueFill {
        VenueFill {
            order: OrderId(order),
            exec_id: "T1".into(),
            quantity: quantity.into(),
            price: 10.into(),
            at: None,
            fee: None,
            charges: vec![],
            ext_order: None,
            liquidity: None,
        }
    }

    /// Trade id T1 of an order and a leg.
    fn check(order: u64, leg: Option<&str>, look: impl FnOnce(&ExecutionId<'_>)) {
        let (adapter, leg) = (AdapterName(VENUE.into()), leg.map(Text::from));
        look(&ExecutionId::new(&adapter, AccountId(1), OrderId(order), leg.as_ref(), "T1"));
    }

    #[test]
    fn a_trade_id_repeats_across_orders_and_legs_and_an_absent_leg_is_any() {
        let mut store = ExecutionStore::default();
        check(1, Some("V1"), |id| store.insert(id, execution(1, Some("V1"))));
        check(1, Some("V2"), |id| assert_eq!(store.get(id), None));
        check(1, Some("V2"), |id| store.insert(id, execution(1, Some("V2"))));
        for leg in ["V1", "V2"] {
            check(1, Some(leg), |id| assert_eq!(store.get(id), Some(&execution(1, Some(leg)))));
        }
        check(1, None, |id| assert_eq!(store.get(id), Some(&execution(1, Some("V1")))));
        check(2, Some("V1"), |id| assert_eq!(store.get(id), None));
    }

    #[test]
    fn of_an_order_that_is_no_longer_kept_only_the_very_same_fill_is_known() {
        let mut store = ExecutionStore::default();
        check(1, Some("V1"), |id| store.insert(id, execution(1, Some("V1"))));
        store.retire(&BTreeSet::from([OrderId(1)]), true);
        let store: ExecutionStore = minicbor::decode(&minicbor::to_vec(&store).unwrap()).unwrap();
        let known = |order, quantity| {
            let mut is_known = false;
            check(order, Some("V1"), |id| is_known = store.is_retired(id, &fill(order, quantity)));
            is_known
        };
        assert_eq!([known(1, 5), known(1, 6), known(2, 5)], [true, false, false]);
    }

    /// Those of the other orders of a day are not looked through: no more can come than the order has.
    #[test]
    fn the_executions_of_an_order_are_found_in_the_order_of_booking_without_those_of_others() {
        let mut store = ExecutionStore::default();
        for number in 0..1_000 {
            check(2 + number, None, |id| store.insert(id, execution(2 + number, None)));
        }
        for leg in ["V2", "V1"] {
            check(1, Some(leg), |id| store.insert(id, execution(1, Some(leg))));
        }
        let expected = [execution(1, Some("V2")), execution(1, Some("V1"))];
        let check_found = |store: &ExecutionStore| {
            assert_eq!(store.of_order(OrderId(1)).cloned().collect::<Vec<_>>(), expected);
            assert_eq!(store.of_order(OrderId(1)).size_hint().1, Some(2));
            assert_eq!(store.of_order(OrderId(9_999)).size_hint().1, Some(0));
        };
        check_found(&store);
        store.retire(&(2..500).map(OrderId).collect(), true);
        check_found(&store);
        check_found(&minicbor::decode(&minicbor::to_vec(&store).unwrap()).unwrap());
    }

    #[test]
    fn executions_of_an_earlier_build_are_recognised_by_trade_id_and_order() {
        let mut before = Encoder::new(Vec::new());
        before.array(2).unwrap();
        let mut key = 0;
        check(1, None, |id| key = id.earlier_key());
        encode_keyed([(key, execution(1, None))].iter(), &mut before, &mut ()).unwrap();
        encode_keys(&SharedSet::default(), &mut before).unwrap();
        let mut store: ExecutionStore = minicbor::decode(&before.into_writer()).unwrap();
        for leg in [None, Some("V1")] {
            check(1, leg, |id| assert_eq!(store.get(id), Some(&execution(1, None))));
            check(2, leg, |id| assert_eq!(store.get(id), None));
        }
        check(2, None, |id| store.insert(id, execution(2, None)));
        store.retire(&BTreeSet::from([OrderId(1)]), true);
        let store: ExecutionStore = minicbor::decode(&minicbor::to_vec(&store).unwrap()).unwrap();
        check(1, None, |id| assert!(store.is_retired(id, &fill(1, 5))));
        check(2, None, |id| assert_eq!(store.get(id), Some(&execution(2, None))));
    }
}
