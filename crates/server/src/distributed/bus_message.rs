//! Channels and messages of the strategy bus, whatever carries them.

use domain::Text;

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BusChannel {
    /// From a strategy's process to the server.
    Request { strategy: Text },
    /// To one process: each has its own, so that none receives messages for another.
    Delivery { strategy: Text, address: Text },
}

/// What an end of the line hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BusSource {
    Requests,
    Own,
    Prices,
    GenericEvents,
    /// Meant for a process that has ended.
    Stale,
}

pub(super) struct BusMessage {
    pub(super) source: BusSource,
    /// Of the event; 0 where it has none.
    pub(super) sequence: u64,
    /// The strategy that the sender may speak for, where the line knows it.
    pub(super) signed_by: Option<String>,
    pub(super) body: Vec<u8>,
}
