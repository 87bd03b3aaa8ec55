//! Reports of venues: the match over all of them.

use domain::OrderId;
use domain::order::ExecType;
use domain::report::{LineState, Report, ReportKind};

use crate::orders::ticket::OrderReport;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

impl Trading {
    pub(crate) fn on_report(&mut self, moment: Moment, report: &Report, out: &mut Outbox) {
        if let Some(order) = report.kind.order()
            && self.orders.get(order).is_none_or(|known| known.adapter != report.adapter)
        {
            if !self.owns_order(&report.adapter, order, out) {
                return;
            }
            self.halt_for_unknown(moment, &report.adapter, [order], out);
        }
        let word = |order: OrderId| OrderReport { moment, order, ext_at: report.ext_at };
        match &report.kind {
            ReportKind::Attached(profile) => self.on_adapter_attached(moment, &report.adapter, profile, out),
            ReportKind::Session(state) => self.on_session_change(moment, &report.adapter, *state, out),
            ReportKind::Snapshot(snapshot) => self.reconcile(moment, &report.adapter, snapshot, out),
            ReportKind::Accepted { order, ext_id } => self.on_accepted(word(*order), ext_id.as_ref(), out),
            ReportKind::Rejected { order, reason } | ReportKind::NotSent { order, reason } => {
                self.on_rejected(word(*order), reason, out);
            }
            ReportKind::Filled(fill) => self.on_fill(moment, &report.adapter, fill, report.ext_at, out),
            ReportKind::Canceled { order, reason } => {
                self.on_ended(word(*order), ExecType::Canceled, reason.as_ref(), out);
            }
            ReportKind::Expired { order, reason } => {
                self.on_ended(word(*order), ExecType::Expired, reason.as_ref(), out);
            }
            ReportKind::Replaced { order, terms, ext_id } => {
                self.on_replaced(word(*order), *terms, ext_id.as_ref(), out);
            }
            ReportKind::CancelRejected { order, reason } => self.on_cancel_rejected(word(*order), reason, out),
            ReportKind::ReplaceRejected { order, reason } => self.on_replace_rejected(word(*order), reason, out),
            ReportKind::Busted { order, exec_id, reason } => {
                self.on_bust(word(*order), &report.adapter, exec_id, reason.as_ref(), out);
            }
            ReportKind::Corrected { exec_id, by } => {
                self.on_correction(word(by.order), &report.adapter, exec_id, by, out);
            }
            ReportKind::TakenBack { order, exec_id, by, at } => {
                let word = OrderReport { ext_at: at.or(report.ext_at), ..word(*order) };
                self.on_taken_back(word, &report.adapter, exec_id, by.as_deref(), out);
            }
            ReportKind::DeliveryUnknown { order, reason, dead_after } => {
                self.on_delivery_unknown(word(*order), reason, *dead_after, out);
            }
            ReportKind::UnclearReport { order, reason } => self.on_unclear_report(word(*order), reason, out),
            ReportKind::FilledInAll { order, quantity } => self.on_filled_in_all(word(*order), *quantity, out),
            ReportKind::External(seen) => self.on_external(moment, &report.adapter, seen, report.ext_at, out),
            ReportKind::Gap => self.on_gap(moment, &report.adapter, out),
            ReportKind::ReportsLost => self.on_reports_lost(moment, &report.adapter, out),
            ReportKind::Line { line, up, reason } => {
                let state = LineState { line: *line, up: *up, reason: reason.clone() };
                self.on_line_change(moment, &report.adapter, &state, out);
            }
            ReportKind::Inquiry(answer) => self.on_inquiry_answer(moment, answer, out),
            ReportKind::Entry(entry) => self.on_entry(moment, &report.adapter, entry, out),
            ReportKind::Statement(statement) => self.on_statement(moment, &report.adapter, statement, out),
            ReportKind::OpenOrders(page) => self.on_open_orders(moment, &report.adapter, page, out),
            ReportKind::Fills(page) => self.on_fills(moment, &report.adapter, page, out),
            ReportKind::Listed { security, listing } => {
                self.on_listed(moment, &report.adapter, (*security, *listing), out);
            }
            ReportKind::CancelReplaced(told) => self.on_cancel_replaced(word(told.order), told, out),
            ReportKind::Leg(seen) => self.on_leg_report(moment, seen, out),
            ReportKind::ListingFailed { scope, reason } => {
                self.on_listing_failed(moment, &report.adapter, *scope, reason, out);
            }
        }
    }
}
