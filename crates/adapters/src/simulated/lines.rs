//! Lines of the simulated adapter: what is down is told once, and what would come on it is lost.

use domain::Timestamp;
use domain::command::MarketData;
use domain::report::{LineKind, ReportKind};
use venue_sim::LinesDown;

use crate::venue::ReportSink;

/// Why a line is down here.
pub(super) const SWITCHED_OFF: &str = "switched off by a fault of the simulated venue";

/// Tells which lines have failed or are back since they were told last; returns those that are back.
pub(super) fn tell_lines(told: &mut LinesDown, now: LinesDown, sink: &mut dyn ReportSink) -> Vec<LineKind> {
    let changed = LineKind::ALL.into_iter().filter(|line| told.is_down(*line) != now.is_down(*line));
    let changed: Vec<LineKind> = changed.collect();
    for line in &changed {
        let up = !now.is_down(*line);
        let reason = (!up).then(|| SWITCHED_OFF.into());
        sink.on_report(None, ReportKind::Line { line: *line, up, reason });
    }
    *told = now;
    changed.into_iter().filter(|line| !now.is_down(*line)).collect()
}

/// Lets pass what comes on lines that are up.
pub(super) struct OpenLines<'a> {
    pub(super) down: LinesDown,
    pub(super) sink: &'a mut dyn ReportSink,
}

impl ReportSink for OpenLines<'_> {
    fn on_report(&mut self, at: Option<Timestamp>, said: ReportKind) {
        // An answer comes on the line of its question.
        let is_answer = matches!(
            said,
            ReportKind::Inquiry(_)
                | ReportKind::Statement(_)
                | ReportKind::OpenOrders(_)
                | ReportKind::Fills(_)
                | ReportKind::ListingFailed { .. }
        );
        let line = if is_answer { LineKind::Trading } else { LineKind::Private };
        if !self.down.is_down(line) {
            self.sink.on_report(at, said);
        }
    }

    fn on_market_data(&mut self, data: MarketData) {
        if !self.down.prices {
            self.sink.on_market_data(data);
        }
    }
}
