//! Settings of a replay venue: its fill rule, and what it does not support. The names of the rules are used in configurations
//! and on every fill.

use std::fmt;
use std::str::FromStr;

use domain::{Decimal, Text, TimeInForce, Timestamp};

/// A taker is a market order, a triggered stop, or a limit that is at or beyond the other side when it arrives. Every
/// other limit order is resting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillRule {
    /// Takers wait for the open of the next bar. A resting order is filled at that price where it is as good, else at
    /// its limit when the bar goes beyond it.
    NextBarOpen,
    /// Takers trade in full at the other side's quote, or at the last price before the first quote. A resting order is
    /// filled at its limit as soon as the other side, a trade or a bar touches it.
    Touch,
    /// As touch, but a resting order is filled only when the market goes beyond its limit.
    Cross,
    /// Takers trade level by level with the shown book; the remainder of a market order is cancelled. A resting order
    /// is filled at its limit by what the other side shows there or better, or by trades there.
    Depth,
    /// As depth for takers. A resting order waits behind the quantity that its level showed on arrival, until trades or
    /// a shrinking level have moved it to the front, the other side's quote reaches it, or a trade goes beyond it.
    QueuePosition,
}

impl FillRule {
    pub const ALL: [Self; 5] = [Self::NextBarOpen, Self::Touch, Self::Cross, Self::Depth, Self::QueuePosition];

    pub fn name(self) -> &'static str {
        match self {
            Self::NextBarOpen => "next-bar-open",
            Self::Touch => "touch",
            Self::Cross => "cross",
            Self::Depth => "depth",
            Self::QueuePosition => "queue-position",
        }
    }

    /// Whether a taker gets no more than the shown quantity.
    pub(super) fn respects_size(self) -> bool {
        matches!(self, Self::Depth | Self::QueuePosition)
    }
}

/// A text that is not a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidFillRule;

impl FromStr for FillRule {
    type Err = InvalidFillRule;

    fn from_str(text: &str) -> Result<Self, InvalidFillRule> {
        Self::ALL.into_iter().find(|rule| rule.name() == text).ok_or(InvalidFillRule)
    }
}

impl fmt::Display for FillRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone)]
pub struct ReplayConfig {
    /// Prefix of every id that the venue generates.
    pub name: Text,
    pub rule: FillRule,
    /// From us to the market, and the same for the way back.
    pub order_latency_nanos: i64,
    /// How many ticks worse than by the rule market and stop orders are filled.
    pub slippage_ticks: u32,
    /// Fee as a fraction of the traded value; absent: the fee of the security's family.
    pub fee_rate: Option<Decimal>,
}

/// Why a time in force is not supported, where only prices are recorded.
pub(super) fn unsupported_tif(tif: TimeInForce, at: Timestamp) -> Option<&'static str> {
    match tif {
        TimeInForce::Ato | TimeInForce::Atc => Some("tif: auctions are not recorded"),
        TimeInForce::Gtd { until } if until <= at => Some("tif: the date has passed"),
        _ => None,
    }
}
