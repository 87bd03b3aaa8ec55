//! Venue reports of a test run: always on orders that exist, not always legal ones.

use domain::order::Terms;
use domain::report::{Fate, Picture, Said, SessionState, VenueFill, VenueOrder};
use domain::{Quantity, Text};
use engine::Outbox;
use proptest::sample::Index;

use crate::desk::price_of;
use crate::hearing::venue_fill;
use crate::model::Order;
use crate::steps::{Shown, Word};
use crate::trial::Trial;

impl Trial {
    pub(crate) fn venue(&mut self, order: &Index, word: Word) -> Outbox {
        let Some(place) = self.pick(order) else { return Outbox::default() };
        self.venue_says(place, word)
    }

    pub(crate) fn venue_says(&mut self, place: usize, word: Word) -> Outbox {
        let order = self.model.orders[place].clone();
        let said = self.words(&order, word);
        self.said.push((order.adapter(), said.clone()));
        self.report(order.adapter(), said)
    }

    pub(crate) fn report(&mut self, adapter: usize, said: Said) -> Outbox {
        self.model.hear(adapter, &said);
        self.desk.say(adapter, said)
    }

    pub(crate) fn say_again(&mut self, index: &Index) -> Outbox {
        if self.said.is_empty() {
            return Outbox::default();
        }
        let (adapter, said) = self.said[index.index(self.said.len())].clone();
        self.report(adapter, said)
    }

    fn words(&mut self, order: &Order, word: Word) -> Said {
        let (id, reason) = (order.id, Text::from("as it is"));
        match word {
            Word::Accepts => Said::Accepted { order: id, ext_id: Some(format!("V{id}").into()) },
            Word::Rejects => Said::Rejected { order: id, reason },
            Word::Fills { quantity, ticks } => Said::Filled(self.new_fill(order, quantity, ticks)),
            Word::FillsUp { ticks } => {
                let rest = i64::try_from(order.remaining()).unwrap();
                Said::Filled(self.new_fill(order, rest.max(1), ticks))
            }
            Word::Cancels => Said::Canceled { order: id, reason: None },
            Word::Expires => Said::Expired { order: id, reason: Some(reason) },
            Word::Replaces { quantity } => Said::Replaced { order: id, terms: replaced(order, quantity), ext_id: None },
            Word::RefusesCancel => Said::CancelRejected { order: id, reason },
            Word::RefusesReplace => Said::ReplaceRejected { order: id, reason },
            Word::Busts(which) => Said::Busted { order: id, exec_id: self.known_execution(order, which), reason: None },
            Word::Corrects { which, quantity, ticks } => {
                let exec_id = self.known_execution(order, which);
                Said::Corrected { exec_id, by: self.new_fill(order, quantity, ticks) }
            }
            Word::Loses => Said::Lost { order: id, reason },
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
        self.report(adapter, Said::Session(SessionState::Disconnected))
    }

    pub(crate) fn reconnect(&mut self, adapter: usize, complete: bool, shown: &[Shown]) -> Outbox {
        let picture = self.picture(adapter, complete, shown);
        let steps =
            [Said::Session(SessionState::Connected), Said::Picture(picture), Said::Session(SessionState::LoggedOn)];
        let mut all = Outbox::default();
        for said in steps {
            let out = self.report(adapter, said);
            all.events.extend(out.events);
            all.instructions.extend(out.instructions);
        }
        all
    }

    fn picture(&mut self, adapter: usize, complete: bool, shown: &[Shown]) -> Picture {
        let is_open = |order: &&Order| order.is_open() && order.adapter() == adapter;
        let orders: Vec<_> = self.model.orders.iter().filter(is_open).cloned().collect();
        let mut picture = Picture { complete, ..Picture::default() };
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
            }));
            if matches!(shown, Shown::LiveFilled) && order.is_working() {
                picture.fills.push(self.new_fill(order, 1, 0));
            }
        }
        picture
    }
}

/// With the requested terms, else with another quantity of the venue's own.
fn replaced(order: &Order, quantity: i64) -> Terms {
    order.asked.terms().unwrap_or(Terms { quantity: quantity.into(), ..order.terms })
}

fn seen(order: &Order, shown: Shown) -> Option<VenueOrder> {
    let (fate, terms) = match (shown, order.asked.terms()) {
        (Shown::Nowhere, _) => return None,
        (Shown::LiveReplaced, Some(terms)) => (Fate::Live, terms),
        (Shown::Live | Shown::LiveReplaced | Shown::LiveFilled, _) => (Fate::Live, order.terms),
        (Shown::Canceled, asked) => (Fate::Canceled, asked.unwrap_or(order.terms)),
        (Shown::Expired, _) => (Fate::Expired, order.terms),
        (Shown::Rejected, _) => (Fate::Rejected, order.terms),
    };
    Some(VenueOrder { order: order.id, ext_id: Some(format!("V{}", order.id).into()), terms, fate, reason: None })
}
