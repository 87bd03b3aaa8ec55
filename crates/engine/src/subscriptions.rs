//! Market data subscriptions of strategies. A security is subscribed at its venues while at least one strategy
//! subscribes.

use std::collections::BTreeSet;

use domain::command::MarketDataSubscription;
use domain::query::{Answer, EngineResult};
use domain::{Event, Instruction, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use crate::outbox::Outbox;
use crate::trading::Trading;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct MarketDataSubscriptions {
    /// Ordered by security, so that all subscriptions of one security are adjacent.
    #[n(0)]
    by_security: BTreeSet<(SecurityId, StrategyId)>,
}

impl MarketDataSubscriptions {
    pub(crate) fn list(&self) -> Vec<MarketDataSubscription> {
        self.by_security
            .iter()
            .map(|(security, strategy)| MarketDataSubscription { strategy: *strategy, security: *security })
            .collect()
    }

    pub(crate) fn securities(&self) -> impl Iterator<Item = SecurityId> {
        let securities: BTreeSet<_> = self.by_security.iter().map(|(security, _)| *security).collect();
        securities.into_iter()
    }

    fn has_subscribers(&self, security: SecurityId) -> bool {
        self.by_security.range((security, StrategyId(0))..=(security, StrategyId(u64::MAX))).next().is_some()
    }
}

impl Trading {
    pub(crate) fn subscribe(&mut self, wish: MarketDataSubscription, out: &mut Outbox) -> EngineResult {
        self.reference.security(wish.security)?;
        self.reference.strategy(wish.strategy)?;
        let first = !self.subscriptions.has_subscribers(wish.security);
        if self.subscriptions.by_security.insert((wish.security, wish.strategy)) {
            out.publish(Event::Subscription(wish, true));
        }
        if first {
            self.instruct_feeds(wish.security, Instruction::Subscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    pub(crate) fn unsubscribe(&mut self, wish: MarketDataSubscription, out: &mut Outbox) -> EngineResult {
        self.reference.security(wish.security)?;
        self.reference.strategy(wish.strategy)?;
        if !self.subscriptions.by_security.remove(&(wish.security, wish.strategy)) {
            return Ok(Answer::Done);
        }
        out.publish(Event::Subscription(wish, false));
        if !self.subscriptions.has_subscribers(wish.security) {
            self.instruct_feeds(wish.security, Instruction::Unsubscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    fn instruct_feeds(&self, security: SecurityId, instruction: Instruction, out: &mut Outbox) {
        let Ok(security) = self.reference.security(security) else { return };
        for adapter in self.adapters.adapters_for(security.exchange) {
            out.instruct(adapter, instruction.clone());
        }
    }
}
