//! The strategy of an order that was not placed here, as a request.

use domain::{ReferenceData, StrategyId};

use crate::fields::{BadBody, FieldError, Fields};
use crate::strategy_name::STRATEGY_NAME_LENGTH_MAX;

pub struct ClaimBody {
    strategy: String,
}

impl ClaimBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let strategy = fields.text("strategy", STRATEGY_NAME_LENGTH_MAX);
        let strategy = fields.require("strategy", strategy);
        fields.finish_strict(strategy.map(|strategy| Self { strategy }))
    }

    pub fn find(&self, reference: &ReferenceData) -> Result<StrategyId, BadBody> {
        let unknown = || {
            let reason = format!("strategy {} is not known", self.strategy);
            BadBody::Fields(vec![FieldError::new("strategy", "unknown-strategy", reason)])
        };
        reference.strategy_named(&self.strategy).map(|strategy| strategy.id).ok_or_else(unknown)
    }
}
