//! Strategy of a request, by id or by name; and the claim of an order that was not placed here, for a strategy.

use domain::{ReferenceData, StrategyId};

use crate::bodies::fields::{BadBody, FieldError, Fields};

/// Longest name of a strategy.
pub(crate) const STRATEGY_NAME_LENGTH_MAX: usize = 256;

/// As it was given; without id and name the engine chooses.
pub(crate) struct NamedStrategy<'a> {
    pub(crate) id: Option<StrategyId>,
    pub(crate) name: Option<&'a str>,
}

impl NamedStrategy<'_> {
    pub(crate) fn find(&self, reference: &ReferenceData) -> Result<Option<StrategyId>, FieldError> {
        let fault = |code, reason: String| FieldError::new("strategyName", code, reason);
        let Some(name) = self.name else {
            return Ok(self.id);
        };
        let unknown = || fault("unknown-strategy", format!("strategy {name} is not known"));
        let named = reference.strategy_named(name).ok_or_else(unknown)?.id;
        match self.id {
            Some(id) if id != named => {
                Err(fault("conflicting-fields", format!("is not strategy {id}, which strategyId names")))
            }
            _ => Ok(Some(named)),
        }
    }
}

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
