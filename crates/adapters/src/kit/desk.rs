//! Test client of the conformance kit: sends orders and records reports.

use domain::command::MarketData;
use domain::order::Terms;
use domain::report::{Fate, Picture, Said, VenueFill, VenueOrder};
use domain::{Order, OrderId, SecurityId, Timestamp};

use super::{Aim, Harness, Verdict, Witness};
use crate::venue::{Broken, Sending, Sink};

/// Result of a rule: kept, or the verdict.
pub(super) type Kept<T = ()> = Result<T, Verdict>;

pub(super) struct Desk<H> {
    pub(super) world: H,
    notes: Notes,
}

/// Everything reported since the start, or since it was last read.
#[derive(Default)]
struct Notes {
    said: Vec<Said>,
    fills: Vec<VenueFill>,
    prices: Vec<MarketData>,
    /// Reports that came before the venue had recorded them.
    hasty: Vec<Said>,
    witness: Option<Witness>,
}

impl Sink for Notes {
    fn report(&mut self, _: Option<Timestamp>, said: Said) {
        if self.witness.as_ref().is_some_and(|witness| !is_written(&said, &witness())) {
            self.hasty.push(said.clone());
        }
        if let Said::Filled(fill) = &said {
            self.fills.push(fill.clone());
        }
        self.said.push(said);
    }

    fn price(&mut self, data: MarketData) {
        self.prices.push(data);
    }
}

impl<H: Harness> Desk<H> {
    pub(super) fn new(world: H) -> Self {
        Self { world, notes: Notes::default() }
    }

    pub(super) fn connect(&mut self) -> Kept {
        let at = self.world.now();
        self.world.adapter().connect(at).or_else(|reason| broken(format!("no session: {reason}")))
    }

    pub(super) fn try_connect(&mut self) -> Result<(), Broken> {
        let at = self.world.now();
        self.world.adapter().connect(at)
    }

    pub(super) fn disconnect(&mut self) {
        let at = self.world.now();
        self.world.adapter().disconnect(at);
    }

    pub(super) fn picture(&mut self) -> Kept<Picture> {
        let at = self.world.now();
        self.world.adapter().picture(at).or_else(|reason| broken(format!("no snapshot: {reason}")))
    }

    /// Sends a new order.
    pub(super) fn send(&mut self, aim: Aim) -> Kept<Order> {
        let order = self.world.order(aim);
        sent(&self.submit(&order))?;
        Ok(order)
    }

    pub(super) fn submit(&mut self, order: &Order) -> Sending {
        let at = self.world.now();
        self.world.adapter().submit(at, order)
    }

    pub(super) fn modify(&mut self, order: &Order, terms: Terms) -> Sending {
        let at = self.world.now();
        self.world.adapter().modify(at, order, terms)
    }

    pub(super) fn cancel(&mut self, order: &Order) -> Sending {
        let at = self.world.now();
        self.world.adapter().cancel(at, order)
    }

    pub(super) fn subscribe(&mut self, security: SecurityId) -> Sending {
        let at = self.world.now();
        self.world.adapter().subscribe(at, security)
    }

    pub(super) fn unsubscribe(&mut self, security: SecurityId) -> Sending {
        let at = self.world.now();
        self.world.adapter().unsubscribe(at, security)
    }

    /// Waits for the venue and records its reports.
    pub(super) fn listen(&mut self) -> Result<(), Broken> {
        self.world.pass();
        let at = self.world.now();
        self.world.adapter().deliver(at, &mut self.notes)
    }

    pub(super) fn wait(&mut self) -> Kept {
        self.listen().or_else(|reason| broken(format!("the session was lost: {reason}")))
    }

    /// New reports on the order, as text; several fills in a row are one.
    pub(super) fn hear(&mut self, order: OrderId) -> Kept<Vec<&'static str>> {
        self.wait()?;
        let said = self.take_said();
        let mut words: Vec<_> = said.iter().filter(|said| order_of(said) == Some(order)).map(word).collect();
        words.dedup();
        Ok(words)
    }

    pub(super) fn take_said(&mut self) -> Vec<Said> {
        std::mem::take(&mut self.notes.said)
    }

    pub(super) fn take_prices(&mut self) -> Vec<MarketData> {
        std::mem::take(&mut self.notes.prices)
    }

    /// All fills since the start, except those that only a snapshot has.
    pub(super) fn fills(&self) -> &[VenueFill] {
        &self.notes.fills
    }

    /// From now on each report is compared with the venue's durable state.
    pub(super) fn call_witness(&mut self) -> Kept {
        self.notes.witness = self.world.witness();
        match self.notes.witness {
            Some(_) => Ok(()),
            None => Err(Verdict::NotShown("the harness has no durable view")),
        }
    }

    pub(super) fn hasty(&self) -> &[Said] {
        &self.notes.hasty
    }
}

pub(super) fn broken<T>(seen: impl Into<String>) -> Kept<T> {
    Err(Verdict::Broken(seen.into()))
}

pub(super) fn sent(sending: &Sending) -> Kept {
    match sending {
        Sending::Sent => Ok(()),
        Sending::NotSent(reason) | Sending::Unknown(reason) => broken(format!("was not sent: {reason}")),
    }
}

pub(super) fn order_in(picture: &Picture, order: OrderId) -> Kept<&VenueOrder> {
    let found: Vec<_> = picture.orders.iter().filter(|known| known.order == order).collect();
    match found[..] {
        [known] => Ok(known),
        _ => broken(format!("the snapshot has order {order} {} times", found.len())),
    }
}

fn order_of(said: &Said) -> Option<OrderId> {
    match said {
        Said::Accepted { order, .. }
        | Said::Rejected { order, .. }
        | Said::Canceled { order, .. }
        | Said::Expired { order, .. }
        | Said::Replaced { order, .. }
        | Said::CancelRejected { order, .. }
        | Said::ReplaceRejected { order, .. }
        | Said::Busted { order, .. }
        | Said::Unsent { order, .. }
        | Said::Lost { order, .. } => Some(*order),
        Said::Filled(fill) | Said::Corrected { by: fill, .. } => Some(fill.order),
        Said::Attached(_) | Said::Session(_) | Said::Picture(_) => None,
    }
}

fn word(said: &Said) -> &'static str {
    match said {
        Said::Attached(_) => "attached",
        Said::Session(_) => "session",
        Said::Picture(_) => "picture",
        Said::Accepted { .. } => "accepted",
        Said::Rejected { .. } => "rejected",
        Said::Filled(_) => "filled",
        Said::Canceled { .. } => "canceled",
        Said::Expired { .. } => "expired",
        Said::Replaced { .. } => "replaced",
        Said::CancelRejected { .. } => "cancel rejected",
        Said::ReplaceRejected { .. } => "replace rejected",
        Said::Busted { .. } => "busted",
        Said::Corrected { .. } => "corrected",
        Said::Unsent { .. } => "unsent",
        Said::Lost { .. } => "lost",
    }
}

/// Whether a venue that reports this would still have it after a crash. A reject need not be kept.
fn is_written(said: &Said, picture: &Picture) -> bool {
    let known = |order: &OrderId| picture.orders.iter().find(|known| known.order == *order);
    let ended = |order: &OrderId, fate: Fate| known(order).is_some_and(|known| known.fate == fate);
    match said {
        Said::Accepted { order, .. } => known(order).is_some(),
        Said::Filled(fill) => picture.fills.contains(fill),
        Said::Canceled { order, .. } => ended(order, Fate::Canceled),
        Said::Expired { order, .. } => ended(order, Fate::Expired),
        Said::Replaced { order, terms, .. } => known(order).is_some_and(|known| known.terms == *terms),
        _ => true,
    }
}
