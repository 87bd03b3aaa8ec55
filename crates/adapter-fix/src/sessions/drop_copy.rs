//! Drop copy: a session that only receives the reports of the account. It has its own numbers and its own state, and stays up while the
//! order session is away, so that what is executed meanwhile is not lost.

use adapters::ReportSink;
use domain::report::{LineKind, ReportKind};
use domain::{Text, Timestamp};

use crate::sessions::number_store::SharedNumbers;
use crate::sessions::report_confirmation::ReportConfirmation;
use crate::sessions::side_session::SideSession;

pub(crate) struct DropCopy {
    pub(crate) session: SideSession,
    pub(crate) numbers: SharedNumbers,
    pub(crate) confirmation: ReportConfirmation,
    /// What was said of the line.
    told_up: Option<bool>,
    pub(crate) down_reason: Text,
}

impl DropCopy {
    pub(crate) fn new(session: SideSession, numbers: SharedNumbers) -> Self {
        let (confirmation, down_reason) = (ReportConfirmation::default(), "not logged on yet".into());
        Self { session, numbers, confirmation, told_up: None, down_reason }
    }

    pub(crate) fn next_due(&self) -> Option<Timestamp> {
        [self.session.next_due(), self.confirmation.due()].into_iter().flatten().min()
    }

    /// The order session has ended: the next one is told the state of the line again.
    pub(crate) fn on_orders_lost(&mut self) {
        self.told_up = None;
    }

    pub(crate) fn tell_line(&mut self, sink: &mut dyn ReportSink) {
        let up = self.session.is_up();
        if self.told_up.replace(up) != Some(up) {
            let reason = (!up).then(|| self.down_reason.clone());
            sink.on_report(None, ReportKind::Line { line: LineKind::Private, up, reason });
        }
    }
}
