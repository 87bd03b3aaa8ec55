//! Self-trade prevention: an order against the orders of its account that rest on the other side or wait for the same
//! auction. Orders that cannot rest, such as a market order already sent, are not checked.

use std::sync::Arc;

use domain::order::{Order, OrderTerms, Side};
use domain::risk::{RiskScope, SelfTradePrevention};
use domain::{AccountId, Activation, MarketPhase, OrderId, Price, Refusal, TimeInForce, WorkingPrice};

use super::candidate::Candidate;
use super::scopes::ApplicableLimits;
use crate::orders::registry::resting::best_working_price;
use crate::outbox::Moment;
use crate::trading::Trading;

/// When an order may trade.
#[derive(Debug, Clone, Copy)]
struct TradablePhases {
    continuous: bool,
    opening: bool,
    closing: bool,
}

impl Trading {
    /// The orders of the same account that must be cancelled before it is sent. New terms of an open order cannot wait,
    /// so they are refused whatever the policy; so is what would trade with an order that its venue cannot cancel.
    pub(super) fn check_self_trade(
        &self,
        moment: Moment,
        candidate: &Candidate<'_>,
        binding: &ApplicableLimits<'_>,
    ) -> Result<Vec<OrderId>, Refusal> {
        let policy = policy(binding);
        match (policy, candidate.terms.kind.activation()) {
            (SelfTradePrevention::Allow, _) | (_, Activation::AtStop(_)) => return Ok(Vec::new()),
            (_, Activation::AtOnce) => {}
        }
        let mut met = self.self_trade_candidates(moment, candidate);
        let Some(first) = met.next() else { return Ok(Vec::new()) };
        if policy == SelfTradePrevention::RejectNewest || candidate.replaces.is_some() || self.waiting_orders.is_full()
        {
            return Err(Refusal::SelfTrade(first.int_id.clone()));
        }
        let can_end = |order: &Arc<Order>| match self.can_cancel(order) {
            true => Ok(order.id),
            false => Err(Refusal::SelfTrade(order.int_id.clone())),
        };
        std::iter::once(first).chain(met).map(can_end).collect()
    }

    /// Whether an order of the account that would trade with a resting one is cancelled together with it.
    pub(crate) fn cancels_both(&self, account: AccountId) -> bool {
        let scopes = [RiskScope::Account(account), RiskScope::Platform];
        let mut policies = scopes.iter().filter_map(|scope| self.risk.limits.get(scope)?.self_trade);
        policies.next() == Some(SelfTradePrevention::CancelBoth)
    }

    /// Orders of the same account that it could trade with, best priced first.
    fn self_trade_candidates<'a>(
        &'a self,
        moment: Moment,
        candidate: &'a Candidate<'_>,
    ) -> impl Iterator<Item = &'a Arc<Order>> + use<'a> {
        let route = candidate.route;
        let phase = self.reference.phase(route.exchange, moment.at);
        let in_call = matches!(phase, MarketPhase::OpeningCall | MarketPhase::ClosingCall);
        let sessions = TradablePhases::from_terms(&candidate.terms, phase);
        let own = self.orders.resting(route.account, route.security.id, candidate.side.opposite(), in_call);
        // Behind the first limit that is not reached, none is.
        let own = own.take_while(move |own| own.terms.kind.never_rests() || self.crosses(candidate, own));
        own.filter(move |own| {
            self.crosses(candidate, own) && sessions.overlap(TradablePhases::from_terms(&own.terms, phase))
        })
    }

    /// Whether the prices of both cross, also those that a resting order is about to get. A market order takes the best price, so it trades with a limit only where that
    /// is the best of its side.
    fn crosses(&self, candidate: &Candidate<'_>, own: &Order) -> bool {
        use WorkingPrice::{Any, Limit};
        match (candidate.terms.kind.working_price(), best_working_price(own)) {
            (Limit(limit), Limit(resting)) => is_through(candidate.side, limit, resting),
            (Limit(limit), Any) => self.is_best(candidate, candidate.side, limit),
            (Any, Limit(resting)) => self.is_best(candidate, own.side, resting),
            (Any, Any) => true,
        }
    }

    /// Also true where no better price is known.
    fn is_best(&self, candidate: &Candidate<'_>, side: Side, limit: Price) -> bool {
        let best = self.marks.get(candidate.route.security.id).and_then(|mark| match side {
            Side::Buy => mark.bid,
            Side::Sell => mark.ask,
        });
        best.is_none_or(|best| is_through(side, limit, best))
    }
}

impl TradablePhases {
    fn from_terms(terms: &OrderTerms, phase: MarketPhase) -> Self {
        match (terms.tif, terms.kind) {
            (TimeInForce::Ato, _) => Self { continuous: false, opening: true, closing: false },
            (TimeInForce::Atc, _) => Self { continuous: false, opening: false, closing: true },
            (TimeInForce::Ioc | TimeInForce::Fok, _) => Self { continuous: true, opening: false, closing: false },
            // It trades in the current session, and its remainder then ends.
            (_, kind) if kind.never_rests() => Self {
                continuous: phase == MarketPhase::Continuous,
                opening: phase == MarketPhase::OpeningCall,
                closing: phase == MarketPhase::ClosingCall,
            },
            _ => Self { continuous: true, opening: true, closing: true },
        }
    }

    fn overlap(self, other: Self) -> bool {
        (self.continuous && other.continuous) || (self.opening && other.opening) || (self.closing && other.closing)
    }
}

/// The account's policy, else the platform's, else none.
fn policy(binding: &ApplicableLimits<'_>) -> SelfTradePrevention {
    let said = binding.each(|limits| limits.self_trade);
    let said = said.filter(|(scope, _)| matches!(scope, RiskScope::Platform | RiskScope::Account(_)));
    // The platform comes first.
    said.last().map_or(SelfTradePrevention::Allow, |(_, policy)| policy)
}

/// Whether an order of that side with that limit would trade at the price.
fn is_through(side: Side, limit: Price, price: Price) -> bool {
    match side {
        Side::Buy => limit >= price,
        Side::Sell => limit <= price,
    }
}
