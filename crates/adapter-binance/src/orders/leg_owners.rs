//! Whose the venue's orders are. A listed trade names the venue's order only, so what events and lists have shown is
//! remembered; the rest is asked for.

use std::collections::BTreeMap;

use domain::OrderId;

use crate::protocol::wire_values::WireInteger;

/// Orders that are remembered; one that is forgotten is asked for again.
pub const LEG_OWNERS_MAX: usize = 200_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegOwner {
    /// A leg of this order of ours.
    Own(OrderId),
    /// Placed elsewhere.
    External,
}

/// By symbol and the venue's order id.
#[derive(Debug, Default)]
pub struct LegOwners {
    legs: BTreeMap<(String, i64), Vec<OwnedSince>>,
}

/// The venue may issue an id again, so an owner has it from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OwnedSince {
    owner: LegOwner,
    since: WireInteger,
}

impl LegOwners {
    /// `since`: when the order was created, or the earliest instant at which it was seen.
    pub fn add(&mut self, symbol: &str, order_id: WireInteger, since: WireInteger, owner: LegOwner) {
        if self.legs.len() >= LEG_OWNERS_MAX {
            self.forget_older_half();
        }
        let owners = self.legs.entry((symbol.to_owned(), order_id.0)).or_default();
        match owners.iter_mut().find(|known| known.owner == owner) {
            Some(known) => known.since = known.since.min(since),
            None => owners.push(OwnedSince { owner, since }),
        }
        // An order of ours may also be shown under the id of its cancel, as if it were placed elsewhere: it is ours.
        owners.sort_by_key(|known| (known.since, matches!(known.owner, LegOwner::Own(_))));
    }

    fn forget_older_half(&mut self) {
        let newest = |owners: &Vec<OwnedSince>| owners.last().map(|known| known.since);
        let mut instants: Vec<_> = self.legs.values().filter_map(newest).collect();
        let half = instants.len() / 2;
        if instants.is_empty() {
            return;
        }
        let middle = *instants.select_nth_unstable(half).1;
        self.legs.retain(|_, owners| newest(owners).is_some_and(|since| since > middle));
    }

    /// The owner of the order that traded at that instant.
    pub fn owner_at(&self, symbol: &str, order_id: WireInteger, at: WireInteger) -> Option<LegOwner> {
        let owners = self.legs.get(&(symbol.to_owned(), order_id.0))?;
        owners.iter().rev().find(|known| known.since <= at).map(|known| known.owner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_is_issued_again_has_another_owner_from_then_on() {
        let (id, own) = (WireInteger(7), |order| LegOwner::Own(OrderId(order)));
        let mut owners = LegOwners::default();
        owners.add("BTCUSDT", id, WireInteger(50), own(1));
        owners.add("BTCUSDT", id, WireInteger(20), own(1));
        owners.add("BTCUSDT", id, WireInteger(90), LegOwner::External);
        let at = |at| owners.owner_at("BTCUSDT", id, WireInteger(at));
        assert_eq!([at(19), at(20), at(89), at(90)], [None, Some(own(1)), Some(own(1)), Some(LegOwner::External)]);
        assert_eq!(owners.owner_at("ETHUSDT", id, WireInteger(90)), None, "ids are of one symbol");
    }

    #[test]
    fn an_order_of_ours_stays_ours_and_the_oldest_are_forgotten_first() {
        let mut owners = LegOwners::default();
        owners.add("ZECUSDT", WireInteger(1), WireInteger(0), LegOwner::Own(OrderId(1)));
        owners.add("ZECUSDT", WireInteger(1), WireInteger(0), LegOwner::External);
        assert_eq!(owners.owner_at("ZECUSDT", WireInteger(1), WireInteger(5)), Some(LegOwner::Own(OrderId(1))));
        let number = |place: usize| WireInteger(i64::try_from(place).unwrap());
        for place in 1..=LEG_OWNERS_MAX {
            owners.add("AAVEUSDT", number(place), number(place), LegOwner::External);
        }
        assert_eq!(owners.owner_at("ZECUSDT", WireInteger(1), WireInteger(5)), None);
        let newest = number(LEG_OWNERS_MAX);
        assert_eq!(owners.owner_at("AAVEUSDT", newest, newest), Some(LegOwner::External));
        assert!(owners.legs.len() <= LEG_OWNERS_MAX);
    }
}
