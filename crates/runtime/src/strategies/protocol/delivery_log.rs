//! Delivery log: every event a strategy received, in order and with its time, journalled so that the strategy can be
//! replayed. Which prices a strategy gets, and when, depends on the speed of its thread.

use domain::command::StrategyPhase;
use domain::{Bar, Command, PublishedEvent, StrategyId, Text, Timestamp};
use minicbor::{Decode, Encode};
use strategy::{CommandRejection, PriceHistory, StrategyIdentity};

use super::event_codec;
use super::event_codec::encode;

/// Bytes after which a record is written.
const RECORD_BYTES: usize = 8 * 1_024;
/// Time after which a record is written, however small it is.
const RECORD_NANOS: i64 = 1_000_000_000;
/// Deliveries of one record: past bars come by the thousand, and a record must fit a broker frame.
const DELIVERIES_PER_RECORD_MAX: usize = 512;
/// Approximate size of a delivery besides its payload.
const DELIVERY_OVERHEAD_BYTES: usize = 16;

/// Consecutive deliveries. A record is in the journal before the commands that it caused.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub struct DeliveryRecord {
    #[n(0)]
    pub(crate) strategy: StrategyId,
    #[n(1)]
    pub(crate) run: u64,
    #[n(2)]
    pub(crate) deliveries: Vec<LoggedDelivery>,
}

/// One delivery. Only the last of a record can have caused commands.
#[derive(Debug, Clone, PartialEq, Encode, Decode)]
pub(crate) enum LoggedDelivery {
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
    HistoryBar(#[n(0)] Bar),
    #[n(2)]
    Entered(#[n(0)] StrategyPhase, #[n(1)] Timestamp),
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
    CommandRejected,
    /// It has gone through EXIT, and all its commands are in the journal.
    #[n(6)]
    Exited,
}

impl DeliveryRecord {
    /// One command was refused at the inbox.
    pub(crate) fn command_rejected(strategy: StrategyId, run: u64) -> Self {
        Self { strategy, run, deliveries: vec![LoggedDelivery::CommandRejected] }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        encode(self)
    }

    /// The strategy and run that the record names.
    pub fn owner(bytes: &[u8]) -> Option<(StrategyId, u64)> {
        minicbor::decode(bytes).ok().map(|record: Self| (record.strategy, record.run))
    }
}

/// The open record.
#[derive(Debug)]
pub(crate) struct DeliveryLog {
    record: DeliveryRecord,
    bytes: usize,
    /// The time of its first delivery.
    first_at: Option<Timestamp>,
}

impl DeliveryLog {
    pub(crate) fn new(who: &StrategyIdentity) -> Self {
        let record = DeliveryRecord { strategy: who.id, run: who.run, deliveries: vec![] };
        Self { record, bytes: 0, first_at: None }
    }

    pub(crate) fn event(&mut self, published: &PublishedEvent) {
        if let Some((class, payload)) = event_codec::to_bytes(&published.event) {
            self.bytes += payload.len();
            self.append(published.at, LoggedDelivery::Event { at: published.at, class, payload });
        }
    }

    pub(crate) fn refused(&mut self, at: Timestamp, refused: &CommandRejection) {
        let CommandRejection { command, code, reason } = refused.clone();
        self.append(at, LoggedDelivery::Refused { at, command: Box::new(command), code, reason });
    }

    pub(crate) fn entered(&mut self, phase: StrategyPhase, at: Timestamp, history: &PriceHistory) {
        history.all_bars().for_each(|bar| self.append(at, LoggedDelivery::HistoryBar((**bar).clone())));
        self.append(at, LoggedDelivery::Entered(phase, at));
    }

    pub(crate) fn advanced(&mut self, now: Timestamp) {
        self.append(now, LoggedDelivery::Advanced(now));
    }

    pub(crate) fn exited(&mut self, now: Timestamp) {
        self.append(now, LoggedDelivery::Exited);
    }

    fn append(&mut self, at: Timestamp, told: LoggedDelivery) {
        self.bytes += DELIVERY_OVERHEAD_BYTES;
        self.first_at.get_or_insert(at);
        self.record.deliveries.push(told);
    }

    /// Whether a record is due, though there was no command.
    pub(crate) fn is_due(&self, now: Timestamp) -> bool {
        let is_old = self.first_at.is_some_and(|begun| now.nanos_since(begun) >= RECORD_NANOS);
        is_old || self.bytes >= RECORD_BYTES
    }

    /// The deliveries since the last call, in records for the journal.
    pub(crate) fn take_records(&mut self) -> Vec<Vec<u8>> {
        (self.bytes, self.first_at) = (0, None);
        let (strategy, run) = (self.record.strategy, self.record.run);
        let told = std::mem::take(&mut self.record.deliveries);
        told.chunks(DELIVERIES_PER_RECORD_MAX)
            .map(|told| DeliveryRecord { strategy, run, deliveries: told.to_vec() }.to_bytes())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::command::CancelOrder;
    use domain::{BarSize, Event, SecurityId};

    use super::*;

    fn diary() -> DeliveryLog {
        DeliveryLog::new(&StrategyIdentity { id: StrategyId(7), name: "ONE".into(), run: 3 })
    }

    fn bar(minute: i64) -> Bar {
        let (one, at) = (domain::Price::from(1), Timestamp(minute * 60_000_000_000));
        let (security, size, feed) = (SecurityId(1), BarSize::Min1, "test".into());
        Bar { security, feed, at, size, open: one, high: one, low: one, close: one, vol: 1.into(), vwap: None }
    }

    #[test]
    fn all_deliveries_are_decoded_unchanged_from_records_that_fit_a_frame() {
        let mut delivery_log = diary();
        let order = PublishedEvent { sequence: 4, at: Timestamp(2), event: Event::Order(Arc::new(samples::order(1))) };
        let command = Command::Cancel(CancelOrder::new("A-1".parse().unwrap()));
        delivery_log.entered(StrategyPhase::Prefeed, Timestamp(1), &(0..600).map(bar).collect());
        delivery_log.event(&order);
        delivery_log.refused(
            Timestamp(3),
            &CommandRejection { command: command.clone(), code: "busy".into(), reason: "later".into() },
        );
        delivery_log.advanced(Timestamp(4));
        let leaves: Vec<DeliveryRecord> =
            delivery_log.take_records().iter().map(|bytes| minicbor::decode(bytes).unwrap()).collect();
        assert_eq!(leaves.iter().map(|record| record.deliveries.len()).collect::<Vec<_>>(), [512, 92]);
        assert!(leaves.iter().all(|record| (record.strategy, record.run) == (StrategyId(7), 3)));
        let told: Vec<LoggedDelivery> = leaves.into_iter().flat_map(|record| record.deliveries).collect();
        assert!(
            told[..600]
                .iter()
                .eq((0..600).map(|minute| LoggedDelivery::HistoryBar(bar(minute))).collect::<Vec<_>>().iter())
        );
        let LoggedDelivery::Event { at, class, payload } = &told[601] else { panic!("an event") };
        assert_eq!((*at, event_codec::from_bytes(*class, payload, &Default::default())), (order.at, Some(order.event)));
        let (code, reason, command) = ("busy".into(), "later".into(), Box::new(command));
        let refused = LoggedDelivery::Refused { at: Timestamp(3), command, code, reason };
        assert_eq!(
            [&told[600], &told[602], &told[603]],
            [
                &LoggedDelivery::Entered(StrategyPhase::Prefeed, Timestamp(1)),
                &refused,
                &LoggedDelivery::Advanced(Timestamp(4))
            ]
        );
        assert!(delivery_log.take_records().is_empty());
    }

    #[test]
    fn a_record_is_written_when_it_is_full_or_a_second_old() {
        let mut delivery_log = diary();
        assert!(!delivery_log.is_due(Timestamp(i64::MAX)));
        delivery_log.advanced(Timestamp(5));
        assert_eq!([1_000_000_004, 1_000_000_005].map(|now| delivery_log.is_due(Timestamp(now))), [false, true]);
        (0..RECORD_BYTES / DELIVERY_OVERHEAD_BYTES).for_each(|_| delivery_log.advanced(Timestamp(5)));
        assert!(delivery_log.is_due(Timestamp(5)));
    }
}
