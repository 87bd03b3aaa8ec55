//! Market data: ticks, trades, bars, order books, and subscriptions to them.

use domain::command::MarketDataSubscription;
use domain::market::BookLevel;
use domain::{Bar, OrderBook, ReferenceData, SecurityId, StaleCause, Tick, Trade};

use crate::bodies::fields::{BadBody, FieldError, Fields};
use crate::bodies::strategy_name::{NamedStrategy, STRATEGY_NAME_LENGTH_MAX};
use crate::json::{ExactDecimal, Millis, exact};
use crate::trading::order::side;
use crate::value_object::value_object;

value_object! {
    /// The newest prices of a security.
    pub struct TickVO<'a> ("Tick", golden)
    from (tick: &'a Tick) {
        objectType: &'static str [OneOf(&["Tick"])] = "Tick",
        securityId: u64 = tick.security.0,
        feed: &'a str = &tick.feed,
        dateTime: Millis = tick.at.into(),
        last: Option<ExactDecimal> = exact(tick.last),
        lastDateTime: Option<Millis> = tick.last_at.map(Into::into),
        volLast: Option<ExactDecimal> = exact(tick.vol_last),
        bid: Option<ExactDecimal> = exact(tick.bid),
        ask: Option<ExactDecimal> = exact(tick.ask),
        volBid: Option<ExactDecimal> = exact(tick.vol_bid),
        volAsk: Option<ExactDecimal> = exact(tick.vol_ask),
        vol: Option<ExactDecimal> = exact(tick.vol),
        stale: Option<&'static str> [Maybe(&OneOf(STALE_CAUSES))] = tick.stale.map(StaleCause::name),
    }
}

value_object! {
    /// The trades of a span of time.
    pub struct BarVO<'a> ("Bar", golden)
    from (bar: &'a Bar) {
        objectType: &'static str [OneOf(&["Bar"])] = "Bar",
        securityId: u64 = bar.security.0,
        feed: &'a str = &bar.feed,
        dateTime: Millis = bar.at.into(),
        barSize: &'static str [OneOf(BAR_SIZES)] = bar.size.name(),
        open: ExactDecimal = bar.open.into(),
        high: ExactDecimal = bar.high.into(),
        low: ExactDecimal = bar.low.into(),
        close: ExactDecimal = bar.close.into(),
        vol: ExactDecimal = bar.vol.into(),
        vwap: Option<ExactDecimal> = exact(bar.vwap),
    }
}

value_object! {
    /// A trade of the market.
    pub struct TradeVO<'a> ("Trade", golden)
    from (trade: &'a Trade) {
        objectType: &'static str [OneOf(&["Trade"])] = "Trade",
        securityId: u64 = trade.security.0,
        feed: &'a str = &trade.feed,
        dateTime: Millis = trade.at.into(),
        price: ExactDecimal = trade.price.into(),
        quantity: ExactDecimal = trade.quantity.into(),
        aggressorSide: Option<&'static str> [Maybe(&OneOf(SIDES))] = trade.aggressor.map(side),
        extId: Option<&'a str> = trade.ext_id.as_deref(),
    }
}

value_object! {
    /// The levels of both sides, best first.
    pub struct OrderBookVO<'a> ("OrderBook", golden)
    from (book: &'a OrderBook) {
        objectType: &'static str [OneOf(&["OrderBook"])] = "OrderBook",
        securityId: u64 = book.security.0,
        feed: &'a str = &book.feed,
        dateTime: Millis = book.at.into(),
        bids: Vec<LevelVO> = book.bids.iter().map(LevelVO::from_domain).collect(),
        asks: Vec<LevelVO> = book.asks.iter().map(LevelVO::from_domain).collect(),
    }
}

value_object! {
    /// Quantity at a price.
    pub(crate) struct LevelVO ("PriceLevel")
    from (level: &BookLevel) {
        price: ExactDecimal = level.price.into(),
        quantity: ExactDecimal = level.quantity.into(),
    }
}

/// The body of a request to subscribe or to unsubscribe; the path decides which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubscriptionBody {
    strategy_name: String,
    security: SecurityId,
    subscribe: Option<bool>,
}

impl SubscriptionBody {
    pub fn parse(body: &[u8]) -> Result<Self, BadBody> {
        let mut fields = Fields::parse(body)?;
        let strategy_name = fields.text("strategyName", STRATEGY_NAME_LENGTH_MAX);
        let security = fields.id("securityId").map(SecurityId);
        let subscribe = fields.flag("subscribe");
        let (name, security) = (fields.require("strategyName", strategy_name), fields.require("securityId", security));
        fields.finish(name.zip(security).map(|(strategy_name, security)| Self { strategy_name, security, subscribe }))
    }

    /// At the path that subscribes the flag may be absent, but not false.
    pub fn to_subscribe(&self, reference: &ReferenceData) -> Result<MarketDataSubscription, Vec<FieldError>> {
        if self.subscribe == Some(false) {
            let reason = "is false, but this path subscribes; the other one unsubscribes";
            return Err(vec![FieldError::new("subscribe", "not-subscribing", reason)]);
        }
        self.to_unsubscribe(reference)
    }

    /// At the path that unsubscribes the flag is ignored.
    pub fn to_unsubscribe(&self, reference: &ReferenceData) -> Result<MarketDataSubscription, Vec<FieldError>> {
        let named = NamedStrategy { id: None, name: Some(&self.strategy_name) };
        let strategy = named.find(reference).map_err(|fault| vec![fault])?;
        let strategy = strategy.ok_or_else(|| vec![FieldError::missing("strategyName")])?;
        Ok(MarketDataSubscription { strategy, security: self.security })
    }
}

value_object! {
    /// A market data subscription of a strategy, when it begins or ends.
    pub struct SubscriptionVO<'a> ("SubscriptionVO", golden)
    from (wish: MarketDataSubscription, is_wanted: bool, reference: &'a ReferenceData) {
        strategyName: Option<&'a str> = reference.strategies.get(&wish.strategy).map(|strategy| &*strategy.name),
        securityId: u64 = wish.security.0,
        subscribe: bool = is_wanted,
    }
}
