//! Market data subscriptions of strategies. A security is subscribed at its venues while at least one strategy
//! subscribes.

use std::collections::BTreeSet;

use domain::command::Subscription;
use domain::query::{Answer, Reply};
use domain::{Event, Instruction, SecurityId, StrategyId};
use minicbor::{Decode, Encode};

use crate::outbox::Outbox;
use crate::trading::Trading;

#[derive(Debug, Clone, Default, Encode, Decode)]
pub(crate) struct Subscriptions {
    /// Ordered by security, so that all subscriptions of one security are adjacent.
    #[n(0)]
    wishes: BTreeSet<(SecurityId, StrategyId)>,
}

impl Subscriptions {
    pub(crate) fn list(&self) -> Vec<Subscription> {
        self.wishes
            .iter()
            .map(|(security, strategy)| Subscription { strategy: *strategy, security: *security })
            .collect()
    }

    pub(crate) fn securities(&self) -> impl Iterator<Item = SecurityId> {
        let securities: BTreeSet<_> = self.wishes.iter().map(|(security, _)| *security).collect();
        securities.into_iter()
    }

    fn wanted(&self, security: SecurityId) -> bool {
        self.wishes.range((security, StrategyId(0))..=(security, StrategyId(u64::MAX))).next().is_some()
    }
}

impl Trading {
    pub(crate) fn subscribe(&mut self, wish: Subscription, out: &mut Outbox) -> Reply {
        self.directory.security(wish.security)?;
        self.directory.strategy(wish.strategy)?;
        let first = !self.subscriptions.wanted(wish.security);
        if self.subscriptions.wishes.insert((wish.security, wish.strategy)) {
            out.publish(Event::Subscription(wish, true));
        }
        if first {
            self.instruct_feeds(wish.security, Instruction::Subscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    pub(crate) fn unsubscribe(&mut self, wish: Subscription, out: &mut Outbox) -> Reply {
        self.directory.security(wish.security)?;
        self.directory.strategy(wish.strategy)?;
        if !self.subscriptions.wishes.remove(&(wish.security, wish.strategy)) {
            return Ok(Answer::Done);
        }
        out.publish(Event::Subscription(wish, false));
        if !self.subscriptions.wanted(wish.security) {
            self.instruct_feeds(wish.security, Instruction::Unsubscribe(wish.security), out);
        }
        Ok(Answer::Done)
    }

    fn instruct_feeds(&self, security: SecurityId, instruction: Instruction, out: &mut Outbox) {
        let Ok(security) = self.directory.security(security) else { return };
        for adapter in self.desks.serving(security.exchange) {
            out.instruct(adapter, instruction.clone());
        }
    }
}
