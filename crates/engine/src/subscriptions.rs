//! Market data subscriptions of strategies. A security is subscribed at its venues while at least one strategy
//! subscribes.

use domain::command::MarketDataSubscription;
use domain::query::{Answer, EngineResult};
use domain::{Event, Instruction, SecurityId};

use crate::outbox::Outbox;
use crate::trading::Trading;

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
