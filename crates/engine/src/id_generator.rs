//! Id generator: ids follow from the state, so a replay generates the same. No id is given twice.

use std::collections::BTreeMap;

use domain::command::AcceptedLoss;
use domain::{IntId, PlantedBug, Text, TransactionId, Uuid};
use minicbor::{Decode, Encode};

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct IdGenerator {
    #[n(0)]
    orders: u64,
    #[n(1)]
    bookings: u64,
    /// The last number of each prefix of order ids.
    #[n(2)]
    int_ids: BTreeMap<Text, u64>,
    /// Numbers of order ids up to here may be out in the world: those of a prefix that is not known yet begin above.
    #[n(3)]
    #[cbor(default)]
    int_ids_above: u64,
}

/// So many numbers are left out where the end of the journal was lost: more than can have been given behind what is known.
const NUMBERS_SKIPPED: u64 = 1_000_000;

impl IdGenerator {
    pub(crate) fn last_order(&self) -> u64 {
        self.orders
    }

    /// No number that may have been given is given again.
    pub(crate) fn skip(&mut self, loss: &AcceptedLoss) {
        self.orders = self.orders.max(loss.order) + NUMBERS_SKIPPED;
        self.bookings = self.bookings.max(loss.transaction) + NUMBERS_SKIPPED;
        let highest = self.int_ids.values().copied().fold(self.int_ids_above.max(loss.order), u64::max);
        self.int_ids_above = highest + NUMBERS_SKIPPED;
        self.int_ids.values_mut().for_each(|last| *last = self.int_ids_above);
    }

    /// Clients chose ids with numbers up to these, and nothing here remembers the ids any longer.
    pub(crate) fn skip_numbers(&mut self, chosen: &BTreeMap<Text, u64>) {
        for (prefix, number) in chosen {
            let last = self.int_ids.get_mut(prefix).unwrap_or(&mut self.int_ids_above);
            *last = number.max(last).to_owned();
        }
    }

    pub(crate) fn next_order(&mut self) -> u64 {
        if PlantedBug::ReuseOrderNumber.is_planted() && self.orders % 20 == 19 && self.bookings.is_multiple_of(2) {
            return self.orders;
        }
        self.orders += 1;
        self.orders
    }

    /// The id of an order whose client gave none: `<sessionQualifier>-<n>`; ids that clients chose are skipped.
    pub(crate) fn mint_int_id(&mut self, qualifier: Option<&str>, is_known: impl Fn(&IntId) -> bool) -> IntId {
        let prefix = qualifier.filter(|qualifier| is_valid_prefix(qualifier)).unwrap_or("R");
        let last = self.last_number(prefix);
        loop {
            *last += 1;
            let id = int_id(prefix, *last);
            if !is_known(&id) {
                return id;
            }
        }
    }

    fn last_number(&mut self, prefix: &str) -> &mut u64 {
        if !self.int_ids.contains_key(prefix) {
            self.int_ids.insert(prefix.into(), self.int_ids_above);
        }
        self.int_ids.get_mut(prefix).expect("it is there now")
    }

    /// The ids of the planned booking; used up by [`Self::consume_booking_id`].
    pub(crate) fn next_booking(&self, instance: u64) -> (TransactionId, Uuid) {
        let number = self.bookings + 1;
        (TransactionId(number), Uuid::mint(instance, number))
    }

    pub(crate) fn consume_booking_id(&mut self) {
        self.bookings += 1;
    }
}

/// What follows the prefix: a dash and up to twenty digits.
const NUMBER_LENGTH_MAX: usize = 21;

/// A qualifier that cannot be part of an id is replaced by a plain one with its own sequence of numbers.
fn is_valid_prefix(qualifier: &str) -> bool {
    qualifier.len() + NUMBER_LENGTH_MAX <= IntId::LENGTH_MAX && qualifier.bytes().all(|byte| byte.is_ascii_graphic())
}

fn int_id(prefix: &str, number: u64) -> IntId {
    IntId::numbered(&[prefix, "-"], number).expect("the prefix is short and printable")
}
