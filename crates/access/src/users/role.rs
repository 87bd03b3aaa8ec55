//! Roles: a viewer reads, a trader also trades, an admin does everything, and a strategy is a trader bound to one
//! strategy's name.

use std::fmt;

use domain::Text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserRole {
    Viewer,
    Trader,
    /// A trader for this strategy only.
    Strategy(Text),
    Admin,
}

/// Why a role and a strategy do not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidRole {
    Unknown,
    StrategyMissing,
    StrategyNotNeeded,
}

impl UserRole {
    pub const NAMES: [&'static str; 4] = ["viewer", "trader", "strategy", "admin"];

    /// From a name in any case and, for the role strategy alone, a strategy.
    pub fn new(name: &str, strategy: Option<&str>) -> Result<Self, InvalidRole> {
        let role = match (name.to_ascii_lowercase().as_str(), strategy) {
            ("strategy", Some(strategy)) if !strategy.is_empty() => return Ok(Self::Strategy(strategy.into())),
            ("strategy", _) => return Err(InvalidRole::StrategyMissing),
            ("viewer", _) => Self::Viewer,
            ("trader", _) => Self::Trader,
            ("admin", _) => Self::Admin,
            _ => return Err(InvalidRole::Unknown),
        };
        if strategy.is_none() { Ok(role) } else { Err(InvalidRole::StrategyNotNeeded) }
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Trader => "trader",
            Self::Strategy(_) => "strategy",
            Self::Admin => "admin",
        }
    }

    pub fn strategy(&self) -> Option<&Text> {
        match self {
            Self::Strategy(strategy) => Some(strategy),
            Self::Viewer | Self::Trader | Self::Admin => None,
        }
    }
}

/// `trader`, or `strategy MOMENTUM`.
impl fmt::Display for UserRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        self.strategy().map_or(Ok(()), |strategy| write!(f, " {strategy}"))
    }
}

impl fmt::Display for InvalidRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => write!(f, "must be one of {}", UserRole::NAMES.join(", ")),
            Self::StrategyMissing => write!(f, "the role strategy needs the name of a strategy"),
            Self::StrategyNotNeeded => write!(f, "only the role strategy is bound to a strategy"),
        }
    }
}

impl std::error::Error for InvalidRole {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_role_strategy_is_bound_to_one() {
        assert_eq!(UserRole::new("TRADER", None), Ok(UserRole::Trader));
        assert_eq!(UserRole::new("strategy", Some("MOMENTUM")), Ok(UserRole::Strategy("MOMENTUM".into())));
        assert_eq!(UserRole::new("strategy", None), Err(InvalidRole::StrategyMissing));
        assert_eq!(UserRole::new("strategy", Some("")), Err(InvalidRole::StrategyMissing));
        assert_eq!(UserRole::new("admin", Some("MOMENTUM")), Err(InvalidRole::StrategyNotNeeded));
        assert_eq!(UserRole::new("root", None), Err(InvalidRole::Unknown));
    }

    #[test]
    fn every_role_has_its_name() {
        for name in UserRole::NAMES {
            let strategy = (name == "strategy").then_some("MOMENTUM");
            assert_eq!(UserRole::new(name, strategy).unwrap().name(), name);
        }
    }
}
