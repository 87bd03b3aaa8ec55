//! One client's order at the venue, as it was submitted and as it is.

use domain::order::OrderTerms;
use domain::report::{ExternalFill, ExternalOrder, VenueFill, VenueOrder, VenueOrderState};
use domain::{
    AccountId, Activation, ExchangeId, OrderId, OrderProperties, Quantity, SecurityId, Side, Text, TimeInForce,
    Timestamp,
};
use minicbor::{Decode, Encode};

/// An order as submitted.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct SubmittedOrder {
    #[n(0)]
    pub at: Timestamp,
    #[n(1)]
    pub order: OrderId,
    #[n(2)]
    pub account: AccountId,
    #[n(3)]
    pub exchange: ExchangeId,
    #[n(4)]
    pub security: SecurityId,
    #[n(5)]
    pub side: Side,
    #[n(6)]
    pub terms: OrderTerms,
    #[n(7)]
    pub properties: OrderProperties,
    /// The client's order that it is a later leg of.
    #[n(8)]
    pub leg_of: Option<OrderId>,
}

/// A client's order.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ClientOrder {
    #[n(0)]
    pub(crate) submission: SubmittedOrder,
    #[n(1)]
    pub(crate) terms: OrderTerms,
    /// When it got its current terms: a DAY order ends with that day.
    #[n(2)]
    pub(crate) terms_at: Timestamp,
    #[n(3)]
    pub(crate) ext_id: Option<Text>,
    #[n(4)]
    pub(crate) stage: OrderStage,
    #[n(5)]
    pub(crate) filled: Quantity,
    /// What an iceberg shows of its open quantity.
    #[n(6)]
    pub(crate) shown: Option<Quantity>,
    /// Its time priority: the number of the record that gave it.
    #[n(7)]
    pub(crate) priority: u64,
    /// With the number of each among all executions.
    #[n(8)]
    pub(crate) fills: Vec<(u64, VenueFill)>,
    #[n(9)]
    pub(crate) reason: Option<Text>,
    /// Fills that were busted or corrected; absent where none was.
    #[n(10)]
    pub(crate) revised: Option<Vec<RevisedFill>>,
}

/// A fill that counts no longer.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct RevisedFill {
    /// Among all executions.
    #[n(0)]
    pub(crate) number: u64,
    #[n(1)]
    pub fill: VenueFill,
    /// The id of the fill that counts instead; absent where it was busted.
    #[n(2)]
    pub corrected_by: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub(crate) enum OrderStage {
    /// Between entry and book.
    #[n(0)]
    InFlight,
    /// A stop that is not triggered.
    #[n(1)]
    StopPending,
    /// Not in the book: for the closing auction, or to be traded at once.
    #[n(2)]
    OutsideBook,
    #[n(3)]
    Book,
    #[n(4)]
    Filled,
    #[n(5)]
    Ended(#[n(0)] VenueOrderState),
}

impl OrderStage {
    /// Where an accepted order is before it is activated or traded.
    pub(crate) fn from_terms(terms: &OrderTerms) -> Self {
        match (terms.kind.activation(), terms.tif) {
            (Activation::AtStop(_), _) => Self::StopPending,
            (Activation::AtOnce, TimeInForce::Atc | TimeInForce::Ioc | TimeInForce::Fok) => Self::OutsideBook,
            (Activation::AtOnce, _) => Self::Book,
        }
    }

    pub(crate) fn is_done(self) -> bool {
        matches!(self, Self::Filled | Self::Ended(_))
    }
}

/// Orders that somebody else placed on a client's account have numbers from here on; a client's own never has one.
pub(crate) const STRANGERS_FROM: u64 = 1 << 62;

/// Later legs of a client's order have numbers from here on: the client knows them by the number of the first.
pub(crate) const LEGS_FROM: u64 = 1 << 61;

/// A number that the venue gave, which no client sends.
pub(crate) fn is_internal(order: OrderId) -> bool {
    (LEGS_FROM..1 << 63).contains(&order.0)
}

/// A number that does not fit 63 bits is a client's mistake, and told to it.
pub(crate) fn is_stranger(order: OrderId) -> bool {
    (STRANGERS_FROM..1 << 63).contains(&order.0)
}

impl ClientOrder {
    pub fn submission(&self) -> &SubmittedOrder {
        &self.submission
    }

    /// The terms that apply now.
    pub fn terms(&self) -> &OrderTerms {
        &self.terms
    }

    pub fn fills(&self) -> impl Iterator<Item = &VenueFill> {
        self.fills.iter().map(|(_, fill)| fill)
    }

    /// Fills that were busted or corrected.
    pub fn revised_fills(&self) -> impl Iterator<Item = &RevisedFill> {
        self.revised.iter().flatten()
    }

    /// The venue's id; none before it was accepted.
    pub fn ext_id(&self) -> Option<&Text> {
        self.ext_id.as_ref()
    }

    /// The number that the client knows it by.
    pub(crate) fn client_order(&self) -> OrderId {
        self.submission.leg_of.unwrap_or(self.submission.order)
    }

    pub(crate) fn security(&self) -> SecurityId {
        self.submission.security
    }

    pub(crate) fn remaining(&self) -> Quantity {
        self.terms.quantity.minus(self.filled).expect("no order is filled beyond its quantity")
    }

    /// The last reported state, besides fills.
    pub fn final_state(&self) -> (VenueOrderState, Option<&Text>) {
        match self.stage {
            OrderStage::Ended(fate) => (fate, self.reason.as_ref()),
            _ => (VenueOrderState::Live, None),
        }
    }

    pub(crate) fn submitted(submission: SubmittedOrder) -> Self {
        Self {
            terms: submission.terms,
            terms_at: submission.at,
            ext_id: None,
            stage: OrderStage::InFlight,
            filled: Quantity::ZERO,
            shown: None,
            priority: 0,
            fills: Vec::new(),
            reason: None,
            revised: None,
            submission,
        }
    }

    /// The next part of an iceberg is shown.
    pub(crate) fn refill(&mut self) {
        self.shown = self.submission.properties.display_quantity.map(|peak| peak.min(self.remaining()));
    }

    /// What is left of the part that an iceberg shows, after a trade in which it did not take; whether a new part is
    /// shown, which goes to the end of the queue.
    pub(crate) fn deduct_shown(&mut self, traded: Quantity) -> bool {
        let Some(shown) = self.shown else { return false };
        self.shown = Some(shown.minus(traded).unwrap_or_default().max(Quantity::ZERO));
        let is_used_up = self.shown.is_some_and(Quantity::is_zero) && !self.remaining().is_zero();
        if is_used_up {
            self.refill();
        }
        is_used_up
    }

    /// As an order that its client did not place; only once the venue has accepted it.
    pub(crate) fn to_external(&self) -> Option<ExternalOrder> {
        let (fate, reason) = self.final_state();
        let fills = self.fills().map(|fill| ExternalFill {
            exec_id: fill.exec_id.clone(),
            quantity: fill.quantity,
            price: fill.price,
            at: fill.at,
            fee: fill.fee,
            charges: fill.charges.clone(),
            liquidity: fill.liquidity,
        });
        let ext_id = self.ext_id.clone()?;
        Some(ExternalOrder {
            client_id: Some(format!("elsewhere-{ext_id}").into()),
            ext_id,
            account: self.submission.account,
            security: self.submission.security,
            side: self.submission.side,
            terms: self.terms,
            state: fate,
            fills: fills.collect(),
            reason: reason.cloned(),
        })
    }

    pub(crate) fn to_snapshot(&self) -> VenueOrder {
        let (fate, reason) = self.final_state();
        let (order, ext_id) = (self.client_order(), self.ext_id.clone());
        VenueOrder { order, ext_id, terms: self.terms, state: fate, reason: reason.cloned() }
    }
}
