//! The connection of the market streams, as the adapter knows it.

use domain::Timestamp;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

use crate::market_streams::StreamCommand;

/// The venue ends a connection after 24 hours; a new one is opened so long after the last one.
const RENEW_SECONDS: i64 = 23 * 3_600;
/// Where none has taken over by then, it is asked for again.
const RENEW_AGAIN_SECONDS: i64 = 300;

pub(in crate::adapter) struct PriceLine {
    commands: mpsc::Sender<StreamCommand>,
    pub(in crate::adapter) is_up: bool,
    pub(in crate::adapter) renewals: u64,
    renew_at: Timestamp,
}

impl PriceLine {
    pub(in crate::adapter) fn open(commands: mpsc::Sender<StreamCommand>, now: Timestamp) -> Self {
        Self { commands, is_up: true, renewals: 0, renew_at: now.plus_seconds(RENEW_SECONDS) }
    }

    pub(in crate::adapter) fn try_send(&self, command: StreamCommand) -> Result<(), TrySendError<StreamCommand>> {
        self.commands.try_send(command)
    }

    pub(in crate::adapter) fn on_begun(&mut self, now: Timestamp) {
        self.renew_at = now.plus_seconds(RENEW_SECONDS);
    }

    /// Whether a new connection is to be asked for now.
    pub(in crate::adapter) fn is_due(&mut self, now: Timestamp) -> bool {
        let is_due = self.renew_at <= now;
        if is_due {
            self.renew_at = now.plus_seconds(RENEW_AGAIN_SECONDS);
        }
        is_due
    }
}
