//! The market of all tests: one stock, opened at 10.00, open round the clock, without participants.

use std::sync::Arc;

use domain::{Decimal, Timestamp};
use venue_sim::{Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, SelfTradeRule, UnitCosts, VenueConfig};

/// A Thursday noon.
pub(crate) const START: Timestamp = Timestamp(1_780_574_400_000_000_000);
pub(crate) const LATENCY_NANOS: i64 = 1_000_000;

pub(crate) fn venue() -> VenueConfig {
    let mid = "10".parse().unwrap();
    let opening = OpeningQuotes { mid, spread_ticks: 2, size: 10_000.into(), volatility: Decimal::new(2, 1) };
    VenueConfig {
        name: "SIM".into(),
        feed: "SIM".into(),
        exchange: Arc::new(samples::exchange()),
        listings: vec![ListedSecurity {
            security: Arc::new(samples::stock(7, "TEST")),
            opening,
            costs: UnitCosts::default(),
        }],
        seed: 1,
        activity: ParticipantActivity::Off,
        latency_nanos: LATENCY_NANOS,
        request_life_nanos: 0,
        fees: None,
        self_trade: SelfTradeRule::CancelNewest,
        deposits: vec![],
        replace: domain::report::ReplaceKind::InPlace,
        faults: Faults::default(),
    }
}
