//! Venue reports of a test run: always on orders that exist, not always legal ones.

use domain::order::OrderTerms;
use domain::report::{ReportKind, SessionState, VenueFill, VenueOrder, VenueOrderState, VenueSnapshot};
use domain::{Quantity, Text};
use engine::Outbox;
use proptest::sample::Index;

use crate::engine_fixture::price_of;
use crate::model::Order;
use crate::model_reports::venue_fill;
use crate::steps::{RandomReport, RandomSnapshot};
use crate::trial::Trial;

impl Trial {
    pub(crate) fn venue(&mut self, order: &Index, word: RandomReport) -> Outbox {
        let Some(place) = self.pick(order) else { return Outbox::default() };
        self.venue_says(place, word)
    }

    pub(crate) fn venue_says(&mut self, place: usize, word: RandomReport) -> Outbox {
        let order = self.model.orders[place].clone();
        let said = self.words(&order, word);
        self.said.push((order.adapter(), said.clone()));
        self.report(order.adapter(), said)
    }

    pub(crate) fn report(&mut self, adapter: usize, said: ReportKind) -> Outbox {
        self.model.on_report(adapter, &said);
        self.desk.report(adapter, said)
    }

    pub(crate) fn say_again(&mut self, index: &Index) -> Outbox {
        if self.said.is_empty() {
            return Outbox::default();
        }
        let (adapter, said) = self.said[index.index(self.said.len())].clone();
        self.report(adapter, said)
    }

    fn words(&mut self, order: &Order, word: RandomReport) -> ReportKind {
        let (id, reason) = (order.id, Text::from("as it is"));
        match word {
            RandomReport::Accepts => ReportKind::Accepted { order: id, ext_id: Some(format!("V{id}").into()) },
            RandomReport::Rejects => ReportKind::Rejected { order: id, reason },
            RandomReport::Fills { quantity, ticks } => ReportKind::Filled(self.new_fill(order, quantity, ticks)),
            RandomReport::FillsUp { ticks } => {
                let rest = i64::try_from(order.remaining()).unwrap();
                ReportKind::Filled(self.new_fill(order, rest.max(1), ticks))
            }
            RandomReport::Cancels => ReportKind::Canceled { order: id, reason: None },
            RandomReport::Expires => ReportKind::Expired { order: id, reason: Some(reason) },
            RandomReport::Replaces { quantity } => {
                ReportKind::Replaced { order: id, terms: replaced(order, quantity), ext_id: None }
            }
            RandomReport::RefusesCancel => ReportKind::CancelRejected { order: id, reason },
            RandomReport::RefusesReplace => ReportKind::ReplaceRejected { order: id, reason },
            RandomReport::Busts(which) => {
                ReportKind::Busted { order: id, exec_id: self.known_execution(order, which), reason: None }
            }
            RandomReport::Corrects { which, quantity, ticks } => {
                let exec_id = self.known_execution(order, which);
                ReportKind::Corrected { exec_id, by: self.new_fill(order, quantity, ticks) }
            }
            RandomReport::Loses => ReportKind::DeliveryUnknown { order: id, reason, dead_after: None },
        }
    }

    fn new_fill(&mut self, order: &Order, quantity: i64, ticks: i64) -> VenueFill {
        self.executions += 1;
        venue_fill(order.id, &format!("x{}", self.executions), quantity, price_of(order.security, ticks))
    }

    /// One of the order's executions, or the one that will come next.
    fn known_execution(&self, order: &Order, which: Index) -> Text {
        let known = order.executions.iter().map(|execution| execution.exec_id.clone());
        let mut ids: Vec<_> = known.collect();
        ids.push(format!("x{}", self.executions + 2));
        ids[which.index(ids.len())].clone().into()
    }

    pub(crate) fn disconnect(&mut self, adapter: usize) -> Outbox {
        self.report(adapter, ReportKind::Session(SessionState::Disconnected))
    }

    pub(crate) fn reconnect(&mut self, adapter: usize, complete: bool, shown: &[RandomSnapshot]) -> Outbox {
        let picture = self.picture(adapter, complete, shown);
        let steps = [
            ReportKind::Session(SessionState::Connected),
            ReportKind::Snapshot(picture),
            ReportKind::Session(SessionState::LoggedOn),
        ];
        let mut all = Outbox::default();
        for said in steps {
            let out = self.report(adapter, said);
            all.events.extend(out.events);
            all.instructions.extend(out.instructions);
        }
        all
    }

    fn picture(&mut self, adapter: usize, complete: bool, shown: &[RandomSnapshot]) -> VenueSnapshot {
        let is_open = |order: &&Order| order.is_open() && order.adapter() == adapter;
        let orders: Vec<_> = self.model.orders.iter().filter(is_open).cloned().collect();
        let mut picture = VenueSnapshot { complete, ..VenueSnapshot::default() };
        for (order, shown) in orders.iter().zip(shown.iter().cycle()) {
            let Some(seen) = seen(order, *shown) else { continue };
            picture.orders.push(seen);
            let known = order.valid_executions();
            picture.fills.extend(known.map(|execution| VenueFill {
                order: order.id,
                exec_id: execution.exec_id.as_str().into(),
                quantity: Quantity(execution.quantity),
                price: domain::Price(execution.price),
                at: None,
                fee: None,
                charges: vec![],
                ext_order: None,
                liquidity: None,
            }));
            if matches!(shown, RandomSnapshot::LiveFilled) && order.is_working() {
                picture.fills.push(self.new_fill(order, 1, 0));
            }
        }
        picture
    }
}

/// With the requested terms, else with another quantity of the venue's own.
fn replaced(order: &Order, quantity: i64) -> OrderTerms {
    order.asked.terms().unwrap_or(OrderTerms { quantity: quantity.into(), ..order.terms })
}

fn seen(order: &Order, shown: RandomSnapshot) -> Option<VenueOrder> {
    let (fate, terms) = match (shown, order.asked.terms()) {
        (RandomSnapshot::Nowhere, _) => return None,
        (RandomSnapshot::LiveReplaced, Some(terms)) => (VenueOrderState::Live, terms),
        (RandomSnapshot::Live | RandomSnapshot::LiveReplaced | RandomSnapshot::LiveFilled, _) => {
            (VenueOrderState::Live, order.terms)
        }
        (RandomSnapshot::Canceled, asked) => (VenueOrderState::Canceled, asked.unwrap_or(order.terms)),
        (RandomSnapshot::Expired, _) => (VenueOrderState::Expired, order.terms),
        (RandomSnapshot::Rejected, _) => (VenueOrderState::Rejected, order.terms),
    };
    Some(VenueOrder {
        order: order.id,
        ext_id: Some(format!("V{}", order.id).into()),
        terms,
        state: fate,
        reason: None,
    })
}
