//! Lists for the client: its open orders page by page, and its fills by cursor.

use domain::report::{FillsPage, ListingScope, OpenOrdersPage, ReportKind};
use domain::{Text, Timestamp};

use super::{VenueOutput, VenueSimulator};
use crate::task_queue::VenueTask;

/// Orders on one page.
pub const OPEN_ORDERS_PER_PAGE: usize = 100;
/// Fills on one page.
pub const FILLS_PER_PAGE: usize = 500;

impl VenueSimulator {
    /// Asks for all open orders.
    pub fn list_open_orders(&mut self, at: Timestamp, out: &mut Vec<VenueOutput>) {
        self.ask(at, VenueTask::ListOpenOrders, out);
    }

    /// Asks for the fills after a cursor: the number of the last one that was listed.
    pub fn list_fills(&mut self, at: Timestamp, cursor: Option<&Text>, out: &mut Vec<VenueOutput>) {
        match cursor.map(|cursor| cursor.parse()).transpose() {
            Ok(after) => self.ask(at, |now| VenueTask::ListFills(now, after), out),
            Err(_) => {
                let reason = Text::from("the cursor is not a number");
                let said = ReportKind::ListingFailed { scope: ListingScope::Fills(None), reason };
                self.schedule_report(said, self.now, out);
            }
        }
    }

    pub(super) fn answer_open_orders(&mut self, as_of: Timestamp, out: &mut Vec<VenueOutput>) {
        let orders = self.orders.list_open();
        let pages: Vec<_> =
            if orders.is_empty() { vec![&[][..]] } else { orders.chunks(OPEN_ORDERS_PER_PAGE).collect() };
        for (page, orders) in pages.iter().enumerate() {
            let leaves = self.reports.answer_time(self.now);
            let last = page + 1 == pages.len();
            let page = u32::try_from(page).unwrap_or(u32::MAX);
            let said = OpenOrdersPage { as_of, dead_after: None, page, last, orders: orders.to_vec() };
            self.schedule_report(ReportKind::OpenOrders(said), leaves, out);
        }
    }

    /// From the oldest fill that is kept, where the cursor is older.
    pub(super) fn answer_fills(&mut self, as_of: Timestamp, after: Option<u64>, out: &mut Vec<VenueOutput>) {
        let listed = self.orders.list_fills(after, FILLS_PER_PAGE);
        let from = after.filter(|_| !listed.is_cut).map(|number| number.to_string().into());
        let next_cursor = Some(listed.end.to_string().into());
        let page = FillsPage { security: None, from, fills: listed.fills, next_cursor, last: listed.is_last, as_of };
        let leaves = self.reports.answer_time(self.now);
        self.schedule_report(ReportKind::Fills(page), leaves, out);
    }
}
