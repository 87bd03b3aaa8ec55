//! Market data subscription of a strategy, in both directions.

use domain::command::MarketDataSubscription;
use domain::{ReferenceData, SecurityId};

use crate::fields::{BadBody, FieldError, Fields};
use crate::strategy_name::{NamedStrategy, STRATEGY_NAME_LENGTH_MAX};
use crate::value_object::value_object;

/// The body of a request to subscribe or to unsubscribe; the path decides which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionBody {
    strategy_name: String,
    security: SecurityId,
    subscribe: Option<bool>,
}

impl SubscriptionBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let strategy_name = fields.text("strategyName", STRATEGY_NAME_LENGTH_MAX);
        let security = fields.id("securityId").map(SecurityId);
        let subscribe = fields.flag("subscribe");
        let (name, security) = (fields.require("strategyName", strategy_name), fields.require("securityId", security));
        fields.finish(name.zip(security).map(|(strategy_name, security)| Self { strategy_name, security, subscribe }))
    }

    /// At the path that subscribes the flag may be absent, but not false.
    pub fn to_subscribe(&self, reference: &ReferenceData) -> Result<MarketDataSubscription, Vec<FieldError>> {
        if self.subscribe == Some(false) {
            let reason = "is false, but this path subscribes; the other one unsubscribes";
            return Err(vec![FieldError::new("subscribe", "not-subscribing", reason)]);
        }
        self.to_unsubscribe(reference)
    }

    /// At the path that unsubscribes the flag is ignored.
    pub fn to_unsubscribe(&self, reference: &ReferenceData) -> Result<MarketDataSubscription, Vec<FieldError>> {
        let named = NamedStrategy { id: None, name: Some(&self.strategy_name) };
        let strategy = named.find(reference).map_err(|fault| vec![fault])?;
        let strategy = strategy.ok_or_else(|| vec![FieldError::missing("strategyName")])?;
        Ok(MarketDataSubscription { strategy, security: self.security })
    }
}

value_object! {
    /// A market data subscription of a strategy, when it begins or ends.
    pub struct SubscriptionVO<'a> ("SubscriptionVO", golden)
    from (wish: MarketDataSubscription, is_wanted: bool, reference: &'a ReferenceData) {
        strategyName: Option<&'a str> = reference.strategies.get(&wish.strategy).map(|strategy| &*strategy.name),
        securityId: u64 = wish.security.0,
        subscribe: bool = is_wanted,
    }
}
