//! Settings of a replay venue, and what it does not support.

use domain::{Decimal, Text, TimeInForce, Timestamp};

use super::rule::FillRule;

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
