//! Scopes of limits and trading states, and the table of risk limits. A row gives a limit its number in the journal, its names,
//! its unit, the scopes that can have it and its configured default. From the table follow the limits of a scope, the keys of
//! the configuration and of REST, and the schemas.

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

/// Calls the given macro with every row of the table:
/// `number Name field key: type, scopes, "default of the configuration";`, the description before it.
#[macro_export]
macro_rules! risk_limits {
    ($each:ident) => {
        $each! {
            /// Largest quantity of one order.
            0 MaxOrderQuantity max_order_quantity maxOrderQuantity: $crate::Quantity, Every, "";
            /// Largest value of one order, in base currency like every value here.
            1 MaxOrderNotional max_order_notional maxOrderNotional: $crate::Amount, Every, "";
            /// How far a price may lie on the aggressive side of the market, in percent.
            2 PriceCollarPercent price_collar_percent priceCollarPercent: $crate::Amount, Every, "50";
            /// An order that needs a price is refused when the newest one is older.
            3 StaleAfterSeconds stale_after_seconds staleAfterSeconds: u32, Every, "";
            /// Open orders at a time.
            4 MaxOpenOrders max_open_orders maxOpenOrders: u32, Every, "";
            /// Worst case value of positions together with open orders of one side.
            5 MaxOpenNotional max_open_notional maxOpenNotional: $crate::Amount, Every, "";
            /// Largest long position.
            6 MaxLong max_long maxLong: $crate::Quantity, Every, "";
            /// Largest short position, written without a sign.
            7 MaxShort max_short maxShort: $crate::Quantity, Every, "";
            /// Largest sum of all positions' values, long and short.
            8 MaxGrossExposure max_gross_exposure maxGrossExposure: $crate::Amount, Every, "";
            /// Whether buys, futures and short sales need cash.
            9 CashCheck cash_check cashCheck: bool, Every, "true";
            /// Orders and modifications a second.
            10 OrdersPerSecond orders_per_second ordersPerSecond: u32, Every, "1000";
            /// One more order of the same content within the time is refused.
            11 DuplicateGuard duplicate_guard duplicateGuard: $crate::BurstLimit, Every, "";
            /// So many rejects of venues within the time halt trading.
            12 RejectBreaker reject_breaker rejectBreaker: $crate::BurstLimit, Every, "100 in 10000ms";
            /// Loss of a day at which only orders that reduce exposure pass.
            13 MaxDayLoss max_day_loss maxDayLoss: $crate::Amount, Every, "";
            /// Fall from the day's highest value at which trading halts.
            14 MaxDrawdown max_drawdown maxDrawdown: $crate::Amount, Every, "";
            /// What happens to an order that would meet a resting one of the same account.
            15 SelfTrade self_trade selfTrade: $crate::SelfTradePrevention, AccountOrPlatform, "refuse-newest";
            /// Orders, modifications and cancels of one session (FIX session, or user of REST) a second; cancels count and always pass.
            16 MessagesPerSecond messages_per_second messagesPerSecond: u32, Every, "";
            /// So many executed orders within the time halt trading.
            17 ExecutionBreaker execution_breaker executionBreaker: $crate::BurstLimit, Every, "";
            /// Ids of securities in which only cancels are allowed.
            18 RestrictedSecurities restricted_securities restrictedSecurities: std::collections::BTreeSet<$crate::SecurityId>, NotSecurity, "";
            /// No position is opened where an open break is worth more.
            19 BreakLimit break_limit breakLimit: $crate::Amount, Every, "";
        }
    };
}

macro_rules! define_limits {
    ($(
        $(#[doc = $doc:literal])+
        $number:tt $name:ident $field:ident $key:ident: $type:ty, $scopes:ident, $default:literal;
    )+) => {
        /// The limits of one scope; an absent limit does not apply.
        #[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
        pub struct RiskLimits {
            $( $(#[doc = $doc])+ #[n($number)] pub $field: Option<$type>, )+
        }

        /// Names of the limits, each with the number of its field in [`RiskLimits`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Encode, Decode)]
        #[cbor(index_only)]
        pub enum RiskLimitName {
            $( $(#[doc = $doc])+ #[n($number)] $name, )+
        }

        impl RiskLimitName {
            /// All limits, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The key in REST bodies; in the configuration `risk.` stands before it.
            pub fn key(self) -> &'static str {
                match self {
                    $( Self::$name => stringify!($key), )+
                }
            }

            /// The scopes that can have it.
            pub fn scopes(self) -> LimitScopes {
                match self {
                    $( Self::$name => LimitScopes::$scopes, )+
                }
            }
        }

        impl RiskLimits {
            fn set_one(&mut self, name: RiskLimitName, from: &Self) {
                match name {
                    $( RiskLimitName::$name => self.$field.clone_from(&from.$field), )+
                }
            }
        }
    };
}

risk_limits!(define_limits);

/// The scopes that can have a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LimitScopes {
    /// All of them.
    Every,
    /// A setting of accounts.
    AccountOrPlatform,
    /// All but a security, whose trading state says the same.
    NotSecurity,
}

impl LimitScopes {
    /// Why the limit cannot be set in this scope.
    pub fn reason_against(self, scope: RiskScope) -> Option<&'static str> {
        match (self, scope) {
            (Self::AccountOrPlatform, RiskScope::Strategy(_) | RiskScope::Security(_)) => {
                Some("belongs to an account or to the platform")
            }
            (Self::NotSecurity, RiskScope::Security(_)) => Some("belongs to an account, a strategy or the platform"),
            (Self::Every | Self::AccountOrPlatform | Self::NotSecurity, _) => None,
        }
    }
}

/// A change of some limits of a scope: the named ones are set to the value in `limits`, or removed; the others keep
/// their value.
#[derive(Debug, Clone, PartialEq, Eq, Default, Encode, Decode)]
pub struct RiskLimitsChange {
    /// The new values; a limit that is named and absent here is removed.
    #[n(0)]
    pub limits: RiskLimits,
    /// The limits that change.
    #[n(1)]
    pub named: Vec<RiskLimitName>,
}

impl RiskLimits {
    /// These limits after a change.
    pub fn changed_by(&self, change: &RiskLimitsChange) -> Self {
        let mut changed = self.clone();
        for name in &change.named {
            changed.set_one(*name, &change.limits);
        }
        changed
    }
}

macro_rules! risk_controls {
    ($( $(#[doc = $doc:literal])+ $name:ident, $code:literal, $meaning:literal; )+) => {
        /// A numeric control of the risk gate: a value that the order would lead to, and a limit that it may not exceed.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum RiskControl {
            $( $(#[doc = $doc])+ $name, )+
        }

        impl RiskControl {
            /// All controls, in the order of the checks.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The stable code of the refusal.
            pub const fn code(self) -> &'static str {
                match self {
                    $( Self::$name => $code, )+
                }
            }

            /// What the code means, for the documentation.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $( Self::$name => $meaning, )+
                }
            }
        }
    };
}

risk_controls! {
    /// Quantity of one order.
    MaxOrderQuantity, "max-order-quantity", "above the largest quantity of one order";
    /// Value of one order in base currency.
    MaxOrderNotional, "max-order-notional", "above the largest value of one order";
    /// Number of open orders.
    MaxOpenOrders, "max-open-orders", "above the number of orders that may be open";
    /// Value of the positions and open orders of one side, in base currency.
    MaxOpenNotional, "max-open-notional", "above the value of orders that may be open";
    /// Quantity of a long or short position if everything open were filled.
    MaxPosition, "max-position", "above the largest position";
    /// Value of all positions and open orders without their signs, in base currency.
    MaxGrossExposure, "max-gross-exposure", "above the largest exposure";
    /// New orders and modifications in a second.
    OrderRate, "order-rate", "more orders and modifications a second than allowed";
    /// Messages of one session in a second.
    MessageRate, "message-rate",
        "one session sends more orders, modifications and cancels a second than allowed; cancels pass";
    /// Orders of the same content within a time.
    DuplicateContent, "duplicate-content", "too many equal orders in a short time";
}

/// A number of occurrences within a time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct BurstLimit {
    /// How many of them trigger it.
    #[n(0)]
    pub count: u32,
    /// The length of the window in milliseconds.
    #[n(1)]
    pub millis: u32,
}

/// Policy for an order that would trade with a resting one of the same account. The account's policy comes before the
/// platform's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
#[cbor(index_only)]
pub enum SelfTradePrevention {
    /// Accepted: the venue prevents self-trades, or they may happen.
    #[n(0)]
    Allow,
    /// The new order is refused.
    #[n(1)]
    RejectNewest,
    /// The resting one is cancelled first; the new one is sent when the venue has confirmed that.
    #[n(2)]
    CancelResting,
    /// The resting one is cancelled, and the new one is never sent.
    #[n(3)]
    CancelBoth,
}
