//! Trades that the venue busts or corrects after their orders have ended. What is open again of a filled order does not go back to the
//! book: the order is cancelled.

use domain::report::{ReportKind, VenueFill};
use domain::{OrderId, Price, Side, Text, Timestamp};

use super::statements::{costs, settlement};
use super::{VenueOutput, VenueSimulator};
use crate::client_orders::BUSTED;
use crate::client_orders::client_order::{ClientOrder, RevisedFill};
use crate::record::{CorrectedExecution, ExecutionRevision, TradeSettlement, VenueRecord};

/// What the venue does about trades of the past.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradeRevision {
    /// One of the newest trades does not count any more; which one follows from the draw.
    Bust(u64),
    /// Another price counts, a tick above.
    Correct(u64),
    /// All busts and corrections are told once more.
    Repeat,
}

impl VenueSimulator {
    /// Nothing happens where no order with a trade has ended.
    pub fn revise(&mut self, at: Timestamp, revision: TradeRevision, out: &mut Vec<VenueOutput>) {
        self.run_due(at, out);
        let told = match revision {
            TradeRevision::Bust(draw) => self.revise_execution(draw, false, out),
            TradeRevision::Correct(draw) => self.revise_execution(draw, true, out),
            TradeRevision::Repeat => self.orders.revised().flat_map(told_revisions).collect(),
        };
        told.into_iter().for_each(|said| self.send_told(said, out));
    }

    fn revise_execution(&mut self, draw: u64, is_correction: bool, out: &mut Vec<VenueOutput>) -> Vec<ReportKind> {
        let fills = self.orders.revisable_fills();
        let chosen = usize::try_from(draw % fills.len().max(1) as u64).unwrap_or(0);
        let Some((held, fill)) = fills.get(chosen) else { return vec![] };
        let (order, exec_id) = (held.submission.order, fill.exec_id.clone());
        let Some(market) = self.markets.get(&held.security()) else { return vec![] };
        let price = Price(fill.price.0 + market.security.price_incr);
        let by = is_correction.then(|| CorrectedExecution {
            exec_id: self.exec_id(self.orders.executions() + 1),
            price,
            settlement: self.settled(held, held.submission.side, &VenueFill { price, ..(*fill).clone() }),
        });
        let undone = self.settled(held, held.submission.side.opposite(), fill);
        let undone = undone.map(|undone| TradeSettlement { costs: undone.costs.negated(), ..undone });
        let (at, security) = (self.now, held.security());
        let revision = ExecutionRevision { at, order, security, exec_id: exec_id.clone(), settlement: undone, by };
        self.record(VenueRecord::Revised(Box::new(revision)), out);
        self.told_of(order, &exec_id)
    }

    fn settled(&self, held: &ClientOrder, side: Side, fill: &VenueFill) -> Option<TradeSettlement> {
        let market = self.markets.get(&held.security())?;
        let costs = costs(market.costs, fill.quantity, fill.fee)?;
        settlement((held.submission.account, side), &market.security, (fill.quantity, fill.price), costs)
    }

    fn told_of(&self, order: OrderId, exec_id: &Text) -> Vec<ReportKind> {
        let of_order = self.orders.get(order).into_iter().flat_map(told_revisions);
        of_order.filter(|said| is_about(said, exec_id)).collect()
    }
}

/// Everything that the client is told about fills of an order that were busted or corrected.
fn told_revisions(held: &ClientOrder) -> Vec<ReportKind> {
    let order = held.client_order();
    let all = || held.fills().chain(held.revised_fills().map(|revised| &revised.fill));
    let said = |revised: &RevisedFill| {
        let exec_id = revised.fill.exec_id.clone();
        Some(match &revised.corrected_by {
            None => ReportKind::Busted { order, exec_id, reason: Some(BUSTED.into()) },
            Some(by) => ReportKind::Corrected { exec_id, by: all().find(|fill| fill.exec_id == *by)?.clone() },
        })
    };
    let mut told: Vec<_> = held.revised_fills().filter_map(said).collect();
    if held.reason.as_deref() == Some(BUSTED) {
        told.push(ReportKind::Canceled { order, reason: Some(BUSTED.into()) });
    }
    told
}

fn is_about(said: &ReportKind, id: &Text) -> bool {
    match said {
        ReportKind::Busted { exec_id, .. } | ReportKind::Corrected { exec_id, .. } => exec_id == id,
        _ => true,
    }
}
