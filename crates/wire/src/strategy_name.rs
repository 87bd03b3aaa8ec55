//! Strategy of a request, by id or by name.

use domain::{ReferenceData, StrategyId};

use crate::fields::FieldError;

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
