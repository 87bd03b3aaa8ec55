//! Dry runs of the risk gate: its decision, and the figures in its refusals.

use domain::command::{Command, PlaceOrder};
use domain::order::{OrderKind, OrderTerms, Side};
use domain::query::Answer;
use domain::{
    AccountId, Decimal, Price, Quantity, Query, Refusal, RiskLimits, RiskScope, SecurityId, StrategyId, TimeInForce,
};

use crate::engine_fixture::{FOREX, trader};
use crate::gate::Candidate;
use crate::steps::{RandomReport, RandomSnapshot, Step};
use crate::trial::Trial;

impl Trial {
    /// The verdict of a dry run.
    pub(crate) fn check(&self, candidate: &Candidate) -> Option<Refusal> {
        let ask = PlaceOrder {
            int_id: None,
            cl_ord_id: None,
            security: candidate.security,
            account: Some(candidate.account),
            strategy: Some(candidate.strategy),
            exchange: None,
            side: candidate.side,
            quantity: candidate.terms.quantity,
            kind: candidate.terms.kind,
            tif: candidate.terms.tif,
            exchange_order: false,
            reference: None,
            properties: domain::OrderProperties::default(),
            pass_through: None,
        };
        match self.query(&Query::CheckOrder(ask, trader())) {
            Ok(Answer::PreTradeCheck(verdict)) => verdict.refusal,
            other => panic!("a check is answered by a verdict, not {other:?}"),
        }
    }

    /// The available cash, read from the refusal of an order that is far too large.
    pub(crate) fn told_available(&self, account: AccountId) -> Decimal {
        match self.check(&buy(account, FOREX, Quantity::from(1_000_000), 1_000_000)) {
            Some(Refusal::InsufficientCash { available, .. }) => available,
            other => panic!("an order for a million million was accepted: {other:?}"),
        }
    }

    pub(crate) fn set_limits(&mut self, scope: RiskScope, limits: RiskLimits) {
        self.model.limits.insert(scope, limits.clone());
        self.desk.command(Command::SetLimits { scope, limits }).0.unwrap();
    }

    /// The verdict while a scope has these limits; it must be the model's too.
    pub(crate) fn check_under(
        &mut self,
        scope: RiskScope,
        limits: RiskLimits,
        candidate: &Candidate,
    ) -> Option<Refusal> {
        self.set_limits(scope, limits);
        let refusal = self.check(candidate);
        assert_eq!(refusal, self.model.decide(candidate).err(), "{candidate:?}");
        self.set_limits(scope, RiskLimits::default());
        refusal
    }

    /// Both venues are connected, and know every order as we do.
    pub(crate) fn connect_all(&mut self) {
        for adapter in [0, 1] {
            self.apply(&Step::Reconnect { adapter, complete: true, shown: vec![RandomSnapshot::Live] });
        }
    }

    /// The venues cancel whatever is open.
    pub(crate) fn end_all(&mut self) {
        self.connect_all();
        for place in 0..self.model.orders.len() {
            if self.model.orders[place].is_open() {
                self.venue_says(place, RandomReport::Cancels);
            }
        }
        self.compare();
    }
}

pub(crate) fn buy(account: AccountId, security: SecurityId, quantity: Quantity, limit: i64) -> Candidate {
    Candidate {
        account,
        strategy: StrategyId::SERVER,
        security,
        side: Side::Buy,
        terms: OrderTerms { quantity, kind: OrderKind::Limit { limit: Price::from(limit) }, tif: TimeInForce::Gtc },
        replaces: None,
        reduce_only: false,
        freed: Decimal::ZERO,
        is_released: false,
    }
}
