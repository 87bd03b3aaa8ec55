//! Whether, when and at what price an order is filled. The names stand in configurations and on every fill.

use std::fmt;
use std::str::FromStr;

/// What a taker is: a market order, a triggered stop, or a limit that is at or beyond the other side when it arrives.
/// What rests is a limit order that is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FillRule {
    /// Takers wait for the first price of the next bar. What rests is filled at that price where it is as good, else at its
    /// limit when the bar goes beyond it.
    NextBarOpen,
    /// Takers trade in full at the other side's quote, or at the last price where nobody has quoted yet. What rests is filled
    /// at its limit as soon as the other side, a trade or a bar touches it.
    Touch,
    /// As touch, but what rests is filled only when the market goes beyond its limit.
    Cross,
    /// Takers trade level by level with what the book shows; a market order's rest is canceled. What rests is filled at its
    /// limit by what the other side shows there or better, or by what is traded there.
    Depth,
    /// As depth for takers. What rests waits behind what its level showed when it arrived, until trades or a shrinking level
    /// have let it to the front, the other side's quote reaches it, or a trade goes beyond it.
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

    /// Whether a taker gets no more than what is shown.
    pub(super) fn minds_size(self) -> bool {
        matches!(self, Self::Depth | Self::QueuePosition)
    }
}

/// A text that names no rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotARule;

impl FromStr for FillRule {
    type Err = NotARule;

    fn from_str(text: &str) -> Result<Self, NotARule> {
        Self::ALL.into_iter().find(|rule| rule.name() == text).ok_or(NotARule)
    }
}

impl fmt::Display for FillRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
