//! Scopes of limits and trading states.

use std::fmt;

use minicbor::{Decode, Encode};

use crate::ids::{AccountId, SecurityId, StrategyId};

/// Scope of a limit or a trading state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
pub enum RiskScope {
    /// Every order.
    #[n(0)]
    Platform,
    /// Orders of one account.
    #[n(1)]
    Account(#[n(0)] AccountId),
    /// Orders of one strategy.
    #[n(2)]
    Strategy(#[n(0)] StrategyId),
    /// Orders in one security.
    #[n(3)]
    Security(#[n(0)] SecurityId),
}

impl fmt::Display for RiskScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Platform => write!(f, "PLATFORM"),
            Self::Account(id) => write!(f, "ACCOUNT-{id}"),
            Self::Strategy(id) => write!(f, "STRATEGY-{id}"),
            Self::Security(id) => write!(f, "SECURITY-{id}"),
        }
    }
}

impl std::str::FromStr for RiskScope {
    type Err = InvalidRiskScope;

    fn from_str(text: &str) -> Result<Self, InvalidRiskScope> {
        if text == "PLATFORM" {
            return Ok(Self::Platform);
        }
        let (kind, id) = text.split_once('-').ok_or(InvalidRiskScope)?;
        let id = id.parse().map_err(|_| InvalidRiskScope)?;
        match kind {
            "ACCOUNT" => Ok(Self::Account(AccountId(id))),
            "STRATEGY" => Ok(Self::Strategy(StrategyId(id))),
            "SECURITY" => Ok(Self::Security(SecurityId(id))),
            _ => Err(InvalidRiskScope),
        }
    }
}

/// A text that is not `PLATFORM`, `ACCOUNT-<id>`, `STRATEGY-<id>` or `SECURITY-<id>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidRiskScope;
