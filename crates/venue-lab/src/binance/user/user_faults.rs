//! Faults that strike an account's events, whichever way they are sent.

use std::sync::Arc;

use serde_json::Value;

use crate::faults::LabFaults;
use crate::faults::catalogue::Fault;

/// Events of trades that a connection keeps; older ones are dropped.
const SENT_TRADES_MAX: usize = 1_000;

/// An event, and the subscription that it is for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UserEvent<K> {
    pub(crate) subscription: K,
    pub(crate) event: Value,
}

impl<K> UserEvent<K> {
    fn is_trade(&self) -> bool {
        self.event["x"] == "TRADE"
    }
}

/// What faults make of the events of one connection.
pub(crate) struct UserFaults<K> {
    faults: Arc<LabFaults>,
    /// Events of trades that were sent, for the fault that sends them once more.
    sent_trades: Vec<UserEvent<K>>,
}

impl<K: Clone> UserFaults<K> {
    pub(crate) fn new(faults: Arc<LabFaults>) -> Self {
        Self { faults, sent_trades: Vec::new() }
    }

    /// The events of one command as they are sent; none where there are none, or they are muted.
    pub(crate) fn strike(&mut self, mut events: Vec<UserEvent<K>>) -> Option<Vec<UserEvent<K>>> {
        if events.is_empty() || self.faults.strikes(Fault::StreamMute) {
            return None;
        }
        if self.faults.strikes(Fault::EventsShuffled) {
            events.reverse();
            events.extend(events.clone());
        }
        events.retain(|event| !event.is_trade() || !self.faults.strikes(Fault::FillOnlyInList));
        self.add_odd_fill(&mut events);
        self.replay_fills(&mut events);
        Some(events)
    }

    /// Before an event of a trade one with quantity 0 and the same trade id.
    fn add_odd_fill(&self, events: &mut Vec<UserEvent<K>>) {
        let Some(at) = events.iter().position(UserEvent::is_trade) else { return };
        if self.faults.strikes(Fault::OddFills) {
            let mut odd = events[at].clone();
            for (name, value) in [("l", "0.00000000"), ("Y", "0.00000000"), ("n", "0")] {
                odd.event[name] = value.into();
            }
            events.insert(at, odd);
        }
    }

    fn replay_fills(&mut self, events: &mut Vec<UserEvent<K>>) {
        let trades: Vec<_> = events.iter().filter(|event| event.is_trade()).cloned().collect();
        if trades.is_empty() {
            return;
        }
        self.sent_trades.extend(trades);
        self.sent_trades.drain(..self.sent_trades.len().saturating_sub(SENT_TRADES_MAX));
        if self.faults.strikes(Fault::FillsReplayed) {
            events.extend(self.sent_trades.clone());
        }
    }
}
