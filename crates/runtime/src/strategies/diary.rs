//! Delivery log: every event a strategy received, in order and with its time, journalled so that the strategy can be
//! replayed. Which prices a strategy gets, and when, depends on the speed of its thread.

use domain::command::Phase;
use domain::{Bar, Command, Published, StrategyId, Text, Timestamp};
use minicbor::{Decode, Encode};
use strategy::{Past, Refused, Who};

use super::event_bytes;
use super::protocol::encoded;

/// Bytes after which a record is written.
const LEAF_BYTES: usize = 8 * 1_024;
/// Time after which a record is written, however small it is.
const LEAF_NANOS: i64 = 1_000_000_000;
/// Deliveries of one record: past bars come by the thousand, and a record must fit a broker frame.
const LINES_MAX: usize = 512;
/// Approximate size of a delivery besides its payload.
const LINE_BYTES: usize = 16;

/// Consecutive deliveries. A record is in the journal before the commands that it caused.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct Leaf {
    #[n(0)]
    pub(crate) strategy: StrategyId,
    #[n(1)]
    pub(crate) run: u64,
    #[n(2)]
    pub(crate) told: Vec<Told>,
}

/// One delivery. Only the last of a record can have caused commands.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(crate) enum Told {
    #[n(0)]
    Event {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        class: u8,
        #[cbor(n(2), with = "minicbor::bytes")]
        payload: Vec<u8>,
    },
    /// A past bar, for the next phase.
    #[n(1)]
    Past(#[n(0)] Bar),
    #[n(2)]
    Entered(#[n(0)] Phase, #[n(1)] Timestamp),
    #[n(3)]
    Refused {
        #[n(0)]
        at: Timestamp,
        #[n(1)]
        command: Box<Command>,
        #[n(2)]
        code: Text,
        #[n(3)]
        reason: Text,
    },
    /// Timers that were due by then fired.
    #[n(4)]
    Advanced(#[n(0)] Timestamp),
    /// The oldest command that the journal does not have was refused at the inbox: it will never be there.
    #[n(5)]
    TurnedAway,
    /// It has gone through EXIT, and all its commands are in the journal.
    #[n(6)]
    Left,
}

impl Leaf {
    /// One command was refused at the inbox.
    pub(crate) fn turned_away(strategy: StrategyId, run: u64) -> Self {
        Self { strategy, run, told: vec![Told::TurnedAway] }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        encoded(self)
    }

    /// The strategy and run that the record names.
    pub fn signature(bytes: &[u8]) -> Option<(StrategyId, u64)> {
        minicbor::decode(bytes).ok().map(|leaf: Self| (leaf.strategy, leaf.run))
    }
}

/// The open record.
#[derive(Debug)]
pub(super) struct Diary {
    leaf: Leaf,
    bytes: usize,
    /// The time of its first delivery.
    begun: Option<Timestamp>,
}

impl Diary {
    pub(super) fn of(who: &Who) -> Self {
        let leaf = Leaf { strategy: who.id, run: who.run, told: vec![] };
        Self { leaf, bytes: 0, begun: None }
    }

    pub(super) fn event(&mut self, published: &Published) {
        if let Some((class, payload)) = event_bytes::to_bytes(&published.event) {
            self.bytes += payload.len();
            self.note(published.at, Told::Event { at: published.at, class, payload });
        }
    }

    pub(super) fn refused(&mut self, at: Timestamp, refused: &Refused) {
        let Refused { command, code, reason } = refused.clone();
        self.note(at, Told::Refused { at, command: Box::new(command), code, reason });
    }

    pub(super) fn entered(&mut self, phase: Phase, at: Timestamp, past: &Past) {
        past.all_bars().for_each(|bar| self.note(at, Told::Past((**bar).clone())));
        self.note(at, Told::Entered(phase, at));
    }

    pub(super) fn advanced(&mut self, now: Timestamp) {
        self.note(now, Told::Advanced(now));
    }

    pub(super) fn left(&mut self, now: Timestamp) {
        self.note(now, Told::Left);
    }

    fn note(&mut self, at: Timestamp, told: Told) {
        self.bytes += LINE_BYTES;
        self.begun.get_or_insert(at);
        self.leaf.told.push(told);
    }

    /// Whether a record is due, though there was no command.
    pub(super) fn is_due(&self, now: Timestamp) -> bool {
        let is_old = self.begun.is_some_and(|begun| now.nanos_since(begun) >= LEAF_NANOS);
        is_old || self.bytes >= LEAF_BYTES
    }

    /// The deliveries since the last call, in records for the journal.
    pub(super) fn take(&mut self) -> Vec<Vec<u8>> {
        (self.bytes, self.begun) = (0, None);
        let (strategy, run) = (self.leaf.strategy, self.leaf.run);
        let told = std::mem::take(&mut self.leaf.told);
        told.chunks(LINES_MAX).map(|told| Leaf { strategy, run, told: told.to_vec() }.to_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::command::CancelOrder;
    use domain::{BarSize, Event, SecurityId};

    use super::*;

    fn diary() -> Diary {
        Diary::of(&Who { id: StrategyId(7), name: "ONE".into(), run: 3 })
    }

    fn bar(minute: i64) -> Bar {
        let (one, at) = (domain::Price::from(1), Timestamp(minute * 60_000_000_000));
        let (security, size, feed) = (SecurityId(1), BarSize::Min1, "test".into());
        Bar { security, feed, at, size, open: one, high: one, low: one, close: one, vol: 1.into(), vwap: None }
    }

    #[test]
    fn all_deliveries_are_decoded_unchanged_from_records_that_fit_a_frame() {
        let mut diary = diary();
        let order = Published { sequence: 4, at: Timestamp(2), event: Event::Order(Arc::new(samples::order(1))) };
        let command = Command::Cancel(CancelOrder::of("A-1".parse().unwrap()));
        diary.entered(Phase::Prefeed, Timestamp(1), &(0..600).map(bar).collect());
        diary.event(&order);
        diary.refused(Timestamp(3), &Refused { command: command.clone(), code: "busy".into(), reason: "later".into() });
        diary.advanced(Timestamp(4));
        let leaves: Vec<Leaf> = diary.take().iter().map(|bytes| minicbor::decode(bytes).unwrap()).collect();
        assert_eq!(leaves.iter().map(|leaf| leaf.told.len()).collect::<Vec<_>>(), [512, 92]);
        assert!(leaves.iter().all(|leaf| (leaf.strategy, leaf.run) == (StrategyId(7), 3)));
        let told: Vec<Told> = leaves.into_iter().flat_map(|leaf| leaf.told).collect();
        assert!(told[..600].iter().eq((0..600).map(|minute| Told::Past(bar(minute))).collect::<Vec<_>>().iter()));
        let Told::Event { at, class, payload } = &told[601] else { panic!("an event") };
        assert_eq!((*at, event_bytes::from_bytes(*class, payload)), (order.at, Some(order.event)));
        let (code, reason, command) = ("busy".into(), "later".into(), Box::new(command));
        let refused = Told::Refused { at: Timestamp(3), command, code, reason };
        assert_eq!(
            [&told[600], &told[602], &told[603]],
            [&Told::Entered(Phase::Prefeed, Timestamp(1)), &refused, &Told::Advanced(Timestamp(4))]
        );
        assert!(diary.take().is_empty());
    }

    #[test]
    fn a_record_is_written_when_it_is_full_or_a_second_old() {
        let mut diary = diary();
        assert!(!diary.is_due(Timestamp(i64::MAX)));
        diary.advanced(Timestamp(5));
        assert_eq!([1_000_000_004, 1_000_000_005].map(|now| diary.is_due(Timestamp(now))), [false, true]);
        (0..LEAF_BYTES / LINE_BYTES).for_each(|_| diary.advanced(Timestamp(5)));
        assert!(diary.is_due(Timestamp(5)));
    }
}
