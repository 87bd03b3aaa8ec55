//! Pulse of a cluster's leader: a record that proves its lead while nothing else is journalled, and now and then has the digest of
//! its state.

use std::time::Duration;

use domain::Timestamp;

use super::LiveLoop;
use super::stamped_batch::{StampedBatch, StopCause};
use crate::journal_records::{self, Pulse};

/// How often a leader proves that it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PulseOptions {
    /// A pulse follows when nothing was journalled for so long.
    pub every: Duration,
    /// So often a pulse has the digest of the state.
    pub digest_every: Duration,
    /// The epoch that it leads.
    pub epoch: u64,
    /// Bars that had closed by then are not answered: the engine made them as a follower's, of a part of the prices.
    pub bars_from: Timestamp,
}

impl LiveLoop {
    /// When the next pulse is due; none while a record is on its way, which proves as much.
    pub(super) fn next_pulse_at(&self) -> Option<Timestamp> {
        let PulseOptions { every, .. } = self.options.pulse?;
        // A record that only standbys lack proves nothing any more: the log has had it for however long they take.
        let is_idle = self.parts.journal.committed() >= self.visible_sequence();
        is_idle.then(|| plus(self.journalled_at, every).min(self.next_digest_at))
    }

    /// It comes before the other records of its batch, so its digest is that of everything before.
    pub(super) fn stamp_pulse(&mut self, batch: &mut StampedBatch, now: Timestamp) {
        let Some(PulseOptions { digest_every, .. }) = self.options.pulse else { return };
        // A leader that is never idle has its digests compared too.
        let is_digest_due = self.next_digest_at <= now;
        if !is_digest_due && self.next_pulse_at().is_none_or(|due| due > now) {
            return;
        }
        if is_digest_due {
            self.next_digest_at = plus(now, digest_every);
        }
        let digest = self.digest.clone().filter(|_| is_digest_due);
        let digest = digest.map(|digest| digest.finish(&self.parts.engine, self.journalled_at, self.applied_sequence));
        batch.push_record(journal_records::pulse(self.sequencer.next(), &Pulse { digest, resigns: None }));
    }

    /// The last record of a leader that stops in order. Its adapters have ended before, so a follower need not wait for the end of
    /// the lease.
    pub(super) fn resign(&mut self, cause: StopCause) -> Result<(), String> {
        if cause == StopCause::Abandoned {
            return Ok(());
        }
        let Some(PulseOptions { epoch, .. }) = self.options.pulse else { return Ok(()) };
        self.applied_sequence = self.sequencer.last();
        let digest = self.digest.clone();
        let digest = digest.map(|digest| digest.finish(&self.parts.engine, self.journalled_at, self.applied_sequence));
        let last = journal_records::pulse(self.sequencer.next(), &Pulse { digest, resigns: Some(epoch) });
        self.applied_sequence = self.sequencer.last();
        self.journal((self.parts.clock)(), vec![last])
    }
}

fn plus(at: Timestamp, duration: Duration) -> Timestamp {
    at.plus_millis(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}
