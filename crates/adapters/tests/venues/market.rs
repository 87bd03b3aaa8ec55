//! The market of all stories: one stock, opened at 10.00, round the clock, and nobody acts but us.

use std::sync::Arc;

use domain::reference::TradingHours;
use domain::{Currency, Decimal, Exchange, ExchangeId, Security, SecurityId, SecurityKind, Timestamp};
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
        exchange: Arc::new(exchange()),
        listings: vec![Listing { security: Arc::new(stock()), opening }],
        seed: 1,
        activity: Activity::Off,
        latency_nanos: LATENCY_NANOS,
        fees: None,
        self_trade: SelfTrade::CancelNewest,
        faults: Faults::default(),
    }
}

fn exchange() -> Exchange {
    let (open, close) = ("00:00".parse().unwrap(), "24:00".parse().unwrap());
    Exchange {
        id: ExchangeId(1),
        name: "Test Exchange".into(),
        code: None,
        mic: None,
        bloomberg_code: None,
        time_zone: "UTC".into(),
        trading_hours: vec![TradingHours { open, close, days: (1..=7).collect() }],
        holidays: Vec::new(),
        opening_auction_minutes: 0,
        closing_auction_minutes: 0,
    }
}

fn stock() -> Security {
    Security {
        id: SecurityId(7),
        kind: SecurityKind::Stock,
        symbol: "TEST".into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: None,
        exchange: ExchangeId(1),
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        min_qty: None,
        max_qty: None,
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: Decimal::new(1, 2),
        min_notional: None,
        tradeable: true,
    }
}
