//! Which reports of a session need not come again after a crash: those that the journal has on disk.

use adapters::ReportSink;
use domain::{Text, Timestamp};

use crate::sessions::number_store::{PassedNumbers, SharedNumbers};

/// How often incoming numbers are written, once the journal has their reports.
const CONFIRM_EVERY_SECONDS: i64 = 1;

#[derive(Default)]
pub(crate) struct ReportConfirmation {
    /// Numbers whose reports the engine has got, and how far the journal must be for them.
    unconfirmed: Option<(u64, PassedNumbers)>,
    /// When numbers are looked at again.
    due: Option<Timestamp>,
}

impl ReportConfirmation {
    pub(crate) fn due(&self) -> Option<Timestamp> {
        self.due
    }

    /// While the journal takes nothing, nothing is confirmed. `passed` was read before the reports were delivered.
    pub(crate) fn confirm(
        &mut self,
        (venue, numbers): (&Text, &SharedNumbers),
        at: Timestamp,
        passed: Option<PassedNumbers>,
        sink: &dyn ReportSink,
    ) {
        if self.due.is_some_and(|due| at < due) {
            return;
        }
        if let Some((_, durable)) = self.unconfirmed.take_if(|(reports, _)| *reports <= sink.reports_durable())
            && let Err(error) = numbers.confirm_incoming(durable)
        {
            tracing::warn!(%venue, %error, "sequence numbers not saved; the venue may have to resend");
        }
        self.unconfirmed = self.unconfirmed.or(passed.map(|numbers| (sink.reports_passed(), numbers)));
        self.due = self.unconfirmed.map(|_| at.plus_seconds(CONFIRM_EVERY_SECONDS));
    }
}
