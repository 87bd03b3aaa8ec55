//! Configuration of a simulated venue.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use domain::calendar::UnknownTimeZone;
use domain::report::ReplaceKind;
use domain::{Amount, Decimal, Exchange, Price, Quantity, Security, SecurityId, SecurityKind, Text};

use crate::accounts::account::Deposit;
use crate::book::SelfTradeRule;
use crate::faults::Faults;
use crate::market::grid::Grid;

/// Most orders that rest in one book; a further one is rejected.
pub const BOOK_ORDERS_MAX: u32 = 1_000_000;

/// Most requests between the client and the books; a further one is refused as `busy`.
pub const REQUESTS_UNDERWAY_MAX: usize = 100_000;

/// Parts in which an iceberg is shown; one with more is rejected, because each part is a trade of its own.
pub const ICEBERG_PARTS_MAX: u32 = 100;

#[derive(Debug, Clone)]
pub struct VenueConfig {
    /// Prefix of every id that the venue generates, so it is unique among venues and never changes.
    pub name: Text,
    /// The name of its market data feed.
    pub feed: Text,
    pub exchange: Arc<Exchange>,
    pub listings: Vec<ListedSecurity>,
    pub seed: u64,
    pub activity: ParticipantActivity,
    /// From order entry to the book.
    pub latency_nanos: i64,
    /// How late a request may arrive under the fault *late*: one that was sent before that long can no longer take effect.
    pub request_life_nanos: i64,
    /// None: the venue reports no fees, and those of the security's family apply.
    pub fees: Option<VenueFees>,
    /// Which of two orders of one account is cancelled when they would trade with each other.
    pub self_trade: SelfTradeRule,
    /// How orders are replaced: in place, by cancelling one and placing another, or not, or only to lower the quantity.
    pub replace: ReplaceKind,
    /// What the accounts begin with, in a new ledger.
    pub deposits: Vec<Deposit>,
    pub faults: Faults,
}

/// A security that trades here, and its initial market.
#[derive(Debug, Clone)]
pub struct ListedSecurity {
    pub security: Arc<Security>,
    pub opening: OpeningQuotes,
    pub costs: UnitCosts,
}

/// What a client pays per unit besides the price, in the security's currency: statements know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UnitCosts {
    pub commission: Amount,
    /// Where the venue itself charges none.
    pub fee: Amount,
}

/// The first quotes of a security. An index has only a mid and a volatility.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpeningQuotes {
    /// On a tick.
    pub mid: Price,
    pub spread_ticks: u32,
    /// Of the best quotes; those behind are larger.
    pub size: Quantity,
    /// Standard deviation of a year's returns, as a fraction.
    pub volatility: Decimal,
}

impl OpeningQuotes {
    /// Where prices of another venue are followed.
    pub const NONE: Self =
        Self { mid: Price(Decimal::ZERO), spread_ticks: 0, size: Quantity::ZERO, volatility: Decimal::ZERO };
}

/// Fees of the venue, as fractions of the value of a trade; below zero it pays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VenueFees {
    /// Of an order that rested, and of both orders in an auction, where there is no taker.
    pub maker: Decimal,
    pub taker: Decimal,
}

/// How active the seeded participants are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParticipantActivity {
    /// Only the opening quotes; no participant acts, and traded quotes are not renewed until the venue restarts.
    #[default]
    Off,
    /// A few actions a second in each security.
    Calm,
    /// About fifty a second in each.
    Busy,
    /// Nobody quotes here: prices of another venue are followed, and there are no opening quotes.
    Followed,
}

/// Why a configuration is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigError {
    UnknownZone(String),
    NegativeLatency(i64),
    ListedTwice(SecurityId),
    /// The security is listed on another exchange.
    ListedElsewhere(SecurityId),
    Listing {
        security: Text,
        field: &'static str,
        reason: &'static str,
    },
}

impl VenueConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if let Some(negative) = [self.latency_nanos, self.request_life_nanos].into_iter().find(|nanos| *nanos < 0) {
            return Err(ConfigError::NegativeLatency(negative));
        }
        let mut seen = BTreeSet::new();
        for listing in &self.listings {
            let id = listing.security.id;
            if !seen.insert(id) {
                return Err(ConfigError::ListedTwice(id));
            }
            if listing.security.exchange != self.exchange.id {
                return Err(ConfigError::ListedElsewhere(id));
            }
        }
        Ok(())
    }
}

impl ListedSecurity {
    pub(crate) fn is_index(&self) -> bool {
        self.security.kind == SecurityKind::Index
    }

    pub(crate) fn grid(&self) -> Result<Grid, ConfigError> {
        Grid::new(&self.security).map_err(|field| self.error(field, "too fine, too coarse or negative"))
    }

    /// The opening in whole numbers: mid in ticks, size in lots.
    pub(crate) fn opening(&self, grid: &Grid) -> Result<(i64, u64), ConfigError> {
        let mid = grid.ticks(self.opening.mid).ok_or_else(|| self.error("mid", "not on a tick"))?;
        if !(1..=MID_TICKS_MAX).contains(&mid) {
            return Err(self.error("mid", "out of range"));
        }
        if self.opening.volatility.is_sign_negative() || self.opening.volatility > Decimal::TEN {
            return Err(self.error("volatility", "not between 0 and 10"));
        }
        let size = grid.lots(self.opening.size).ok_or_else(|| self.error("size", "not a whole number of lots"))?;
        self.check_quotes(size)?;
        Ok((mid, size))
    }

    fn check_quotes(&self, size: u64) -> Result<(), ConfigError> {
        if self.is_index() {
            return Ok(());
        }
        if !(1..=SIZE_LOTS_MAX).contains(&size) {
            return Err(self.error("size", "out of range"));
        }
        if !(1..=SPREAD_TICKS_MAX).contains(&self.opening.spread_ticks) {
            return Err(self.error("spreadTicks", "out of range"));
        }
        Ok(())
    }

    fn error(&self, field: &'static str, reason: &'static str) -> ConfigError {
        ConfigError::Listing { security: self.security.symbol.clone(), field, reason }
    }
}

/// Bounds within which the participants' arithmetic cannot overflow.
const MID_TICKS_MAX: i64 = 1_000_000_000_000;
const SIZE_LOTS_MAX: u64 = 1_000_000_000_000_000;
const SPREAD_TICKS_MAX: u32 = 1_000_000;

impl From<UnknownTimeZone> for ConfigError {
    fn from(UnknownTimeZone(name): UnknownTimeZone) -> Self {
        Self::UnknownZone(name)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownZone(name) => write!(f, "timeZone: {name} is no zone"),
            Self::NegativeLatency(nanos) => write!(f, "latency: {nanos} ns is negative"),
            Self::ListedTwice(id) => write!(f, "listings: security {id} is there twice"),
            Self::ListedElsewhere(id) => write!(f, "listings: security {id} belongs to another exchange"),
            Self::Listing { security, field, reason } => write!(f, "{security}: {field}: {reason}"),
        }
    }
}

impl std::error::Error for ConfigError {}
