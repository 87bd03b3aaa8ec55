//! The connection of the WebSocket API, the one before it, and the next one.

use domain::Timestamp;
use tokio::sync::mpsc;

use crate::network::TaggedRequest;

/// Between attempts to open a connection while there is none: the first pause, and the longest.
const REOPEN_MILLIS_FIRST: i64 = 200;
const REOPEN_MILLIS_MAX: i64 = 30_000;
/// The venue ends a connection after 24 hours; a new one is opened so long after the last one.
const RENEW_SECONDS: i64 = 23 * 3_600;
/// Between attempts to renew a connection that is still up.
const RENEW_AGAIN_SECONDS: i64 = 300;

pub(super) struct ApiLine {
    /// Numbered from 0 in each session.
    pub(super) connection: u64,
    pub(super) requests: mpsc::Sender<TaggedRequest>,
    pub(super) is_up: bool,
    /// A further connection that is being opened.
    pub(super) opening: Option<(u64, mpsc::Sender<TaggedRequest>)>,
    /// The one before, for a while, and as long as requests on it have no answer.
    pub(super) retiring: Option<RetiringConnection>,
    pub(super) newest: u64,
    pub(super) failures: u32,
    pub(super) open_at: Option<Timestamp>,
}

pub(super) struct RetiringConnection {
    pub(super) number: u64,
    pub(super) since: Timestamp,
    /// Dropping it ends the connection.
    pub(super) _requests: mpsc::Sender<TaggedRequest>,
}

impl ApiLine {
    pub(super) fn open(requests: mpsc::Sender<TaggedRequest>) -> Self {
        Self {
            connection: 0,
            requests,
            is_up: true,
            opening: None,
            retiring: None,
            newest: 0,
            failures: 0,
            open_at: None,
        }
    }

    pub(super) fn try_send(&self, sent: TaggedRequest) -> Result<(), mpsc::error::TrySendError<TaggedRequest>> {
        self.requests.try_send(sent)
    }

    /// A line that is up is renewed in time, one that is down is opened again.
    pub(super) fn is_due(&self, now: Timestamp, begun: Timestamp) -> bool {
        let usual = if self.is_up { begun.plus_seconds(RENEW_SECONDS) } else { now };
        self.opening.is_none() && now >= self.open_at.unwrap_or(usual)
    }

    pub(super) fn retry(&mut self, now: Timestamp) {
        let millis = REOPEN_MILLIS_FIRST.saturating_mul(1_i64.checked_shl(self.failures).unwrap_or(i64::MAX));
        self.failures = self.failures.saturating_add(1).min(20);
        let pause = if self.is_up { RENEW_AGAIN_SECONDS * 1_000 } else { millis.min(REOPEN_MILLIS_MAX) };
        self.open_at = Some(now.plus_millis(pause));
    }
}
