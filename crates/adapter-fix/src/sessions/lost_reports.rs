//! Sequence numbers that the venue skips or begins anew, on the order session or the drop copy: reports under them are lost, and orders are asked about.

use adapters::ReportSink;
use domain::Timestamp;
use domain::report::ReportKind;
use fix::SeqNum;

use crate::adapter::FixAdapter;
use crate::dialect::OrderQuery;

impl FixAdapter {
    /// A report or a price may have been among what was skipped: the engine asks about its orders, and books begin again.
    pub(crate) fn on_skipped(&mut self, now: Timestamp, sink: &mut dyn ReportSink) {
        tracing::warn!(venue = %self.setup.venue, "the venue skips sequence numbers: what it sent under them is lost");
        sink.on_report(None, ReportKind::Gap);
        if self.prices.as_ref().is_some_and(|prices| prices.own.is_none()) {
            self.on_prices_lost(now, sink);
        }
    }

    /// Books have not begun. A venue that answers no questions can only be waited for.
    pub(crate) fn on_reset(&self, (expected, received): (SeqNum, SeqNum), sink: &mut dyn ReportSink) {
        let venue = &self.setup.venue;
        tracing::error!(%venue, expected, received, "the venue has begun its sequence numbers anew: what it reported before and did not arrive is lost, and orders are asked about");
        let answers = matches!(self.setup.dialect.recovery.orders, OrderQuery::Status | OrderQuery::MassStatus);
        sink.on_report(None, if answers { ReportKind::ReportsLost } else { ReportKind::Gap });
    }
}
