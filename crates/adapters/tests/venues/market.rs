//! The market of all tests: one stock, opened at 10.00, open round the clock, without participants.

use std::sync::Arc;

use domain::{Decimal, Timestamp};
use venue_sim::{Activity, Faults, Listing, Opening, SelfTrade, VenueConfig};

/// A Thursday noon.
pub(crate) const START: Timestamp = Timestamp(1_780_574_400_000_000_000);
pub(crate) const LATENCY_NANOS: i64 = 1_000_000;

pub(crate) fn venue() -> VenueConfig {
    let mid = "10".parse().unwrap();
    let opening = Opening { mid, spread_ticks: 2, size: 10_000.into(), volatility: Decimal::new(2, 1) };
    VenueConfig {
        name: "SIM".into(),
        feed: "SIM".into(),
        exchange: Arc::new(samples::exchange()),
        listings: vec![Listing { security: Arc::new(samples::stock(7, "TEST")), opening }],
        seed: 1,
        activity: Activity::Off,
        latency_nanos: LATENCY_NANOS,
        fees: None,
        self_trade: SelfTrade::CancelNewest,
        faults: Faults::default(),
    }
}
