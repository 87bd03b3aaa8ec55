//! Ticker methods: statistics of a day, of the trading day and of a window, last prices, best quotes.

use serde_json::{Value, json};
use venue_sim::book::BookSide;

use super::super::ApiCall;
use super::klines::zone_offset_micros;
use crate::binance::api::encode::{TimeUnit, text};
use crate::binance::api::error::ApiError;
use crate::exchange::{PublicTrade, SpotExchange, SpotMarket, SpotReject, Units};
use crate::sequencer::now_micros;

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
const WINDOW_SYMBOLS_MAX: usize = 100;

/// Where the statistics of a ticker begin and end, and how much it shows.
#[derive(Clone, Copy)]
struct TickerWindow {
    start: i64,
    end: i64,
    is_mini: bool,
    has_quotes: bool,
    unit: TimeUnit,
}

impl TickerWindow {
    fn day(exchange: &SpotExchange, unit: TimeUnit) -> Self {
        let end = exchange.now_micros;
        Self { start: end - DAY, end, is_mini: false, has_quotes: true, unit }
    }
}

impl ApiCall<'_> {
    pub(crate) async fn ticker_24h(&self) -> Result<Value, ApiError> {
        let (is_mini, unit) = (self.is_mini()?, self.unit);
        self.for_symbols(move |exchange, market| {
            statistics(market, TickerWindow { is_mini, ..TickerWindow::day(exchange, unit) })
        })
        .await
    }

    pub(crate) async fn ticker_day(&self) -> Result<Value, ApiError> {
        self.require_symbols()?;
        let offset = zone_offset_micros(self.params.text("timeZone")?)?;
        let (is_mini, unit) = (self.is_mini()?, self.unit);
        self.for_symbols(move |exchange, market| {
            let start = (exchange.now_micros + offset).div_euclid(DAY) * DAY - offset;
            let end = start + DAY - 1;
            statistics(market, TickerWindow { start, end, is_mini, has_quotes: false, unit })
        })
        .await
    }

    pub(crate) async fn ticker_window(&self) -> Result<Value, ApiError> {
        self.require_symbols()?;
        let length = window_micros(self.params.text("windowSize")?.unwrap_or("1d"))?;
        let (is_mini, unit) = (self.is_mini()?, self.unit);
        self.for_symbols(move |exchange, market| {
            let end = exchange.now_micros;
            let start = (end - length).div_euclid(MINUTE) * MINUTE;
            statistics(market, TickerWindow { start, end, is_mini, has_quotes: false, unit })
        })
        .await
    }

    pub(crate) async fn ticker_price(&self) -> Result<Value, ApiError> {
        self.for_symbols(|_, market| json!({ "symbol": market.rules.name, "price": text(market.last) })).await
    }

    pub(crate) async fn ticker_book(&self) -> Result<Value, ApiError> {
        self.for_symbols(|_, market| {
            let mut ticker = json!({ "symbol": market.rules.name });
            add_quotes(&mut ticker, market);
            ticker
        })
        .await
    }

    /// One object for `symbol`, else a list.
    async fn for_symbols(
        &self,
        encode: impl Fn(&SpotExchange, &SpotMarket) -> Value + Send + 'static,
    ) -> Result<Value, ApiError> {
        let wanted = self.wanted_symbols()?;
        let is_single = self.params.has("symbol");
        let answer = move |exchange: &SpotExchange| {
            let markets: Vec<&SpotMarket> = match &wanted {
                Some(names) => names.iter().map(|name| exchange.market(name)).collect::<Result<_, _>>()?,
                None => exchange.markets.iter().collect(),
            };
            let mut tickers: Vec<Value> = markets.into_iter().map(|market| encode(exchange, market)).collect();
            Ok::<_, SpotReject>(if is_single { tickers.remove(0) } else { Value::Array(tickers) })
        };
        Ok(self.state.exchange.query(answer).await??)
    }

    fn require_symbols(&self) -> Result<(), ApiError> {
        match self.wanted_symbols()? {
            Some(names) if names.len() <= WINDOW_SYMBOLS_MAX => Ok(()),
            Some(_) => Err(ApiError::bad_request(-1101, "Too many parameters sent for this endpoint.")),
            None => {
                Err(ApiError::bad_request(-1102, "Param 'symbol' or 'symbols' must be sent, but both were empty/null!"))
            }
        }
    }

    fn is_mini(&self) -> Result<bool, ApiError> {
        match self.params.text("type")? {
            None | Some("FULL") => Ok(false),
            Some("MINI") => Ok(true),
            Some(_) => Err(ApiError::bad_request(-1139, "Invalid ticker type.")),
        }
    }
}

/// The `miniTicker` event of a stream.
pub(crate) fn mini_event(exchange: &SpotExchange, market: &SpotMarket, unit: TimeUnit) -> Value {
    let day = statistics(market, TickerWindow::day(exchange, unit));
    json!({
        "e": "24hrMiniTicker",
        "E": unit.encode(now_micros()),
        "s": day["symbol"],
        "c": day["lastPrice"],
        "o": day["openPrice"],
        "h": day["highPrice"],
        "l": day["lowPrice"],
        "v": day["volume"],
        "q": day["quoteVolume"],
    })
}

/// The `ticker` event of a stream.
pub(crate) fn full_event(exchange: &SpotExchange, market: &SpotMarket, unit: TimeUnit) -> Value {
    let day = statistics(market, TickerWindow::day(exchange, unit));
    let mut event = mini_event(exchange, market, unit);
    event["e"] = "24hrTicker".into();
    let further = [
        ("p", "priceChange"),
        ("P", "priceChangePercent"),
        ("w", "weightedAvgPrice"),
        ("x", "prevClosePrice"),
        ("Q", "lastQty"),
        ("b", "bidPrice"),
        ("B", "bidQty"),
        ("a", "askPrice"),
        ("A", "askQty"),
        ("O", "openTime"),
        ("C", "closeTime"),
        ("F", "firstId"),
        ("L", "lastId"),
        ("n", "count"),
    ];
    for (name, field) in further {
        event[name] = day[field].clone();
    }
    event
}

/// `1m` to `59m`, `1h` to `23h`, `1d` to `7d`.
fn window_micros(size: &str) -> Result<i64, ApiError> {
    let units = [("m", MINUTE, 59), ("h", 60 * MINUTE, 23), ("d", DAY, 7)];
    let parse = |(suffix, length, most): (&str, i64, i64)| {
        let number: i64 = size.strip_suffix(suffix)?.parse().ok()?;
        (1..=most).contains(&number).then_some(number * length)
    };
    units.into_iter().find_map(parse).ok_or_else(|| ApiError::invalid("windowSize"))
}

fn statistics(market: &SpotMarket, window: TickerWindow) -> Value {
    let first = market.trades.partition_point(|trade| trade.time_micros < window.start);
    let trades = || market.trades.range(first..).filter(move |trade| trade.time_micros <= window.end);
    let price = |trade: Option<&PublicTrade>| trade.map_or(market.last, |trade| trade.price);
    let (open, last) = (price(trades().next()), price(trades().next_back()));
    let sum = |amount: fn(&PublicTrade) -> Units| Units(trades().map(|trade| amount(trade).0).sum());
    let (volume, quote) = (sum(|trade| trade.quantity), sum(|trade| trade.quote));
    let mut ticker = json!({
        "symbol": market.rules.name,
        "openPrice": text(open),
        "highPrice": text(trades().map(|trade| trade.price).max().unwrap_or(last)),
        "lowPrice": text(trades().map(|trade| trade.price).min().unwrap_or(last)),
        "lastPrice": text(last),
        "volume": text(volume),
        "quoteVolume": text(quote),
        "openTime": window.unit.encode(window.start),
        "closeTime": window.unit.encode(window.end),
        "firstId": trades().next().map_or(-1, |trade| trade.id.cast_signed()),
        "lastId": trades().next_back().map_or(-1, |trade| trade.id.cast_signed()),
        "count": trades().count(),
    });
    if !window.is_mini {
        let change = Units(last.0 - open.0);
        ticker["priceChange"] = text(change);
        ticker["priceChangePercent"] = percent(change, open).into();
        ticker["weightedAvgPrice"] = text(quote.over(volume).unwrap_or(last));
    }
    if window.has_quotes && !window.is_mini {
        let before = first.checked_sub(1).and_then(|index| market.trades.get(index));
        ticker["prevClosePrice"] = text(before.map_or(open, |trade| trade.price));
        ticker["lastQty"] = text(trades().next_back().map_or(Units::ZERO, |trade| trade.quantity));
        add_quotes(&mut ticker, market);
    }
    ticker
}

/// With three decimals.
fn percent(change: Units, open: Units) -> String {
    let thousandths = (i128::from(change.0) * 100_000).checked_div(open.0.into()).unwrap_or(0);
    let sign = if thousandths < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", thousandths.abs() / 1_000, thousandths.abs() % 1_000)
}

fn add_quotes(ticker: &mut Value, market: &SpotMarket) {
    for (side, price, quantity) in [(BookSide::Buy, "bidPrice", "bidQty"), (BookSide::Sell, "askPrice", "askQty")] {
        let best = market.book.depth(side).next();
        ticker[price] = text(best.map_or(Units::ZERO, |level| market.rules.price(level.price)));
        ticker[quantity] = text(best.map_or(Units::ZERO, |level| market.rules.quantity(level.lots)));
    }
}
