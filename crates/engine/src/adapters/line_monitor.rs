//! Since when each line of an adapter is up or down, and when it was last heard. Seen since the start; not journalled, and no
//! decision depends on it.

use std::collections::BTreeMap;

use domain::query::{AdapterStatus, LineStatus};
use domain::report::{LineKind, LineState, Report, ReportKind};
use domain::{AdapterName, Timestamp};

#[derive(Debug, Default)]
pub(crate) struct LineMonitor(BTreeMap<AdapterName, Vec<SeenLine>>);

#[derive(Debug)]
struct SeenLine {
    line: LineKind,
    up: bool,
    since: Timestamp,
    last_heard: Option<Timestamp>,
}

impl LineMonitor {
    /// A report was applied; `lines` are those of its adapter since.
    pub(crate) fn on_report(&mut self, at: Timestamp, report: &Report, lines: impl FnOnce() -> Vec<LineState>) {
        if matches!(report.kind, ReportKind::Attached(_) | ReportKind::Session(_) | ReportKind::Line { .. }) {
            self.update(at, &report.adapter, lines());
        }
        let Some(seen) = self.0.get_mut(&report.adapter) else { return };
        for line in seen.iter_mut().filter(|line| line.up && is_heard(line.line, &report.kind)) {
            line.last_heard = Some(at);
        }
    }

    fn update(&mut self, at: Timestamp, adapter: &AdapterName, lines: Vec<LineState>) {
        let seen = self.0.entry(adapter.clone()).or_default();
        for LineState { line, up, .. } in lines {
            match seen.iter_mut().find(|seen| seen.line == line) {
                Some(known) if known.up == up => {}
                Some(known) => (known.up, known.since) = (up, at),
                None => seen.push(SeenLine { line, up, since: at, last_heard: None }),
            }
        }
    }

    /// Adds what was seen; prices come by another way than reports.
    pub(crate) fn complete(
        &self,
        statuses: &mut [AdapterStatus],
        last_price: impl Fn(&AdapterStatus) -> Option<Timestamp>,
    ) {
        for status in statuses {
            let priced_at = last_price(status);
            let seen = self.0.get(&status.adapter).map_or(&[][..], Vec::as_slice);
            status.lines.iter_mut().for_each(|line| complete_line(line, seen, priced_at));
        }
    }
}

fn complete_line(line: &mut LineStatus, seen: &[SeenLine], priced_at: Option<Timestamp>) {
    let seen = seen.iter().find(|seen| seen.line == line.state.line);
    line.since = seen.map(|seen| seen.since);
    line.last_heard = seen.and_then(|seen| seen.last_heard);
    if line.state.line == LineKind::Prices {
        line.last_heard = line.last_heard.max(priced_at);
    }
}

/// Answers to requests come on the trading line, what happens to orders on the private one.
fn is_heard(line: LineKind, said: &ReportKind) -> bool {
    match said {
        ReportKind::Line { line: of, .. } => *of == line,
        ReportKind::Session(_) => true,
        ReportKind::Attached(_) | ReportKind::NotSent { .. } | ReportKind::DeliveryUnknown { .. } => false,
        ReportKind::Accepted { .. }
        | ReportKind::Filled(_)
        | ReportKind::Canceled { .. }
        | ReportKind::Expired { .. }
        | ReportKind::Replaced { .. }
        | ReportKind::Busted { .. }
        | ReportKind::Corrected { .. }
        | ReportKind::Entry(_)
        | ReportKind::External(_)
        | ReportKind::Gap
        | ReportKind::ReportsLost
        | ReportKind::FilledInAll { .. }
        | ReportKind::UnclearReport { .. } => line == LineKind::Private,
        _ => line == LineKind::Trading,
    }
}
