//! Bars (klines), made from the trades that are kept. An interval without a trade repeats the last close.

use serde_json::{Value, json};

use super::super::ApiCall;
use crate::binance::api::encode::{TimeUnit, text};
use crate::binance::api::error::ApiError;
use crate::exchange::{PublicTrade, SpotExchange, SpotMarket, SpotReject, Units};

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// The epoch was a Thursday, weeks begin on Monday.
const MONDAY: i64 = 4 * DAY;
const BARS_USUAL: usize = 500;
const BARS_MAX: usize = 1_000;

/// Length of a bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KlineInterval {
    Fixed(i64),
    Week,
    Month,
}

const INTERVALS: [(&str, KlineInterval); 16] = [
    ("1s", KlineInterval::Fixed(SECOND)),
    ("1m", KlineInterval::Fixed(MINUTE)),
    ("3m", KlineInterval::Fixed(3 * MINUTE)),
    ("5m", KlineInterval::Fixed(5 * MINUTE)),
    ("15m", KlineInterval::Fixed(15 * MINUTE)),
    ("30m", KlineInterval::Fixed(30 * MINUTE)),
    ("1h", KlineInterval::Fixed(HOUR)),
    ("2h", KlineInterval::Fixed(2 * HOUR)),
    ("4h", KlineInterval::Fixed(4 * HOUR)),
    ("6h", KlineInterval::Fixed(6 * HOUR)),
    ("8h", KlineInterval::Fixed(8 * HOUR)),
    ("12h", KlineInterval::Fixed(12 * HOUR)),
    ("1d", KlineInterval::Fixed(DAY)),
    ("3d", KlineInterval::Fixed(3 * DAY)),
    ("1w", KlineInterval::Week),
    ("1M", KlineInterval::Month),
];

impl KlineInterval {
    pub(crate) const SECOND: Self = Self::Fixed(SECOND);

    pub(crate) fn parse(text: &str) -> Option<Self> {
        INTERVALS.iter().find(|(name, _)| *name == text).map(|(_, interval)| *interval)
    }

    /// Beginning of the bar that a time lies in, and of the next one.
    pub(crate) fn bounds(self, at: i64, offset: i64) -> (i64, i64) {
        let local = at + offset;
        let (start, end) = match self {
            Self::Fixed(length) => {
                let start = local.div_euclid(length) * length;
                (start, start + length)
            }
            Self::Week => {
                let start = (local - MONDAY).div_euclid(7 * DAY) * 7 * DAY + MONDAY;
                (start, start + 7 * DAY)
            }
            Self::Month => month_bounds(local),
        };
        (start - offset, end - offset)
    }
}

/// First instants of a month and of the next one.
fn month_bounds(local: i64) -> (i64, i64) {
    let days = local.div_euclid(DAY);
    let (mut year, mut first) = (1970, 0_i64);
    while first + year_days(year) <= days {
        first += year_days(year);
        year += 1;
    }
    let february = year_days(year) - 337;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if first + length > days {
            return (first * DAY, (first + length) * DAY);
        }
        first += length;
    }
    (first * DAY, first * DAY)
}

fn year_days(year: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if is_leap { 366 } else { 365 }
}

/// One bar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kline {
    pub(crate) start: i64,
    pub(crate) end: i64,
    pub(crate) open: Units,
    pub(crate) high: Units,
    pub(crate) low: Units,
    pub(crate) close: Units,
    pub(crate) volume: Units,
    pub(crate) quote: Units,
    pub(crate) trades: u64,
    pub(crate) bought: Units,
    pub(crate) bought_quote: Units,
    /// Ids of the first and the last trade; none in a bar without trades.
    pub(crate) ids: Option<(u64, u64)>,
}

impl Kline {
    fn flat(bounds: (i64, i64), price: Units) -> Self {
        let (start, end) = bounds;
        Self {
            start,
            end,
            open: price,
            high: price,
            low: price,
            close: price,
            volume: Units::ZERO,
            quote: Units::ZERO,
            trades: 0,
            bought: Units::ZERO,
            bought_quote: Units::ZERO,
            ids: None,
        }
    }

    fn add(&mut self, trade: &PublicTrade) {
        if self.trades == 0 {
            (self.open, self.high, self.low) = (trade.price, trade.price, trade.price);
        }
        self.high = self.high.max(trade.price);
        self.low = self.low.min(trade.price);
        self.close = trade.price;
        self.volume.0 += trade.quantity.0;
        self.quote.0 += trade.quote.0;
        self.trades += 1;
        self.ids = Some((self.ids.map_or(trade.id, |(first, _)| first), trade.id));
        if !trade.buyer_is_maker {
            self.bought.0 += trade.quantity.0;
            self.bought_quote.0 += trade.quote.0;
        }
    }

    fn encode(&self, unit: TimeUnit) -> Value {
        json!([
            unit.encode(self.start),
            text(self.open),
            text(self.high),
            text(self.low),
            text(self.close),
            text(self.volume),
            unit.encode(self.end - 1),
            text(self.quote),
            self.trades,
            text(self.bought),
            text(self.bought_quote),
            "0",
        ])
    }
}

/// Bars from one time to another, without gaps, at most so many: the oldest where there is a beginning, else the newest.
pub(crate) fn bars(
    market: &SpotMarket,
    interval: KlineInterval,
    offset: i64,
    range: (Option<i64>, Option<i64>),
    limit: usize,
    now: i64,
) -> Vec<Kline> {
    let Some(first) = market.trades.front() else { return Vec::new() };
    let end = range.1.unwrap_or(now).min(now);
    let mut start = interval.bounds(first.time_micros, offset).0;
    match range.0 {
        Some(wanted) if wanted > start => {
            let (begin, next) = interval.bounds(wanted, offset);
            start = if begin == wanted { begin } else { next };
        }
        Some(_) => {}
        None => start = start.max(newest_start(interval, offset, end, limit)),
    }
    let mut index = market.trades.partition_point(|trade| trade.time_micros < start);
    let mut close = index.checked_sub(1).and_then(|index| market.trades.get(index)).map_or(first.price, |t| t.price);
    let mut bars = Vec::new();
    while start <= end && bars.len() < limit {
        let mut bar = Kline::flat(interval.bounds(start, offset), close);
        while let Some(trade) = market.trades.get(index).filter(|trade| trade.time_micros < bar.end) {
            bar.add(trade);
            index += 1;
        }
        (start, close) = (bar.end, bar.close);
        bars.push(bar);
    }
    bars
}

/// Beginning of the bar that is so many bars before the end.
fn newest_start(interval: KlineInterval, offset: i64, end: i64, limit: usize) -> i64 {
    let mut start = interval.bounds(end, offset).0;
    for _ in 1..limit {
        start = interval.bounds(start - 1, offset).0;
    }
    start
}

impl ApiCall<'_> {
    pub(crate) async fn klines(&self) -> Result<Value, ApiError> {
        let symbol = self.symbol()?;
        let interval = KlineInterval::parse(self.params.required("interval")?)
            .ok_or_else(|| ApiError::bad_request(-1120, "Invalid interval."))?;
        let range = (self.params.time("startTime")?, self.params.time("endTime")?);
        let offset = zone_offset_micros(self.params.text("timeZone")?)?;
        let (limit, unit) = (self.params.limit(BARS_USUAL, BARS_MAX)?, self.unit);
        let answer = move |exchange: &SpotExchange| {
            let market = exchange.market(&symbol)?;
            let bars = bars(market, interval, offset, range, limit, exchange.now_micros);
            Ok::<_, SpotReject>(bars.iter().map(|bar| bar.encode(unit)).collect())
        };
        Ok(self.state.exchange.query(answer).await??)
    }
}

/// `-1:00`, `05:45`, `8`: from -12:00 to +14:00.
pub(crate) fn zone_offset_micros(zone: Option<&str>) -> Result<i64, ApiError> {
    let Some(zone) = zone else { return Ok(0) };
    let error = || ApiError::invalid("timeZone");
    let (sign, digits) = match zone.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, zone.strip_prefix('+').unwrap_or(zone)),
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    let number = |text: &str| text.parse::<u8>().map(i64::from).map_err(|_| error());
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let offset = sign * (hours * HOUR + minutes * MINUTE);
    if minutes > 59 || !(-12 * HOUR..=14 * HOUR).contains(&offset) {
        return Err(error());
    }
    Ok(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let day = |day: i64| day * DAY;
        // 2024-02-29, a Thursday.
        let at = day(19_782) + HOUR;
        assert_eq!(KlineInterval::Week.bounds(at, 0), (day(19_779), day(19_786)));
        assert_eq!(KlineInterval::Month.bounds(at, 0), (day(19_754), day(19_783)));
        assert_eq!(KlineInterval::Fixed(DAY).bounds(at, 8 * HOUR), (day(19_782) - 8 * HOUR, day(19_783) - 8 * HOUR));
    }

    #[test]
    fn zones_are_hours_with_or_without_minutes() {
        let offset = |zone| zone_offset_micros(Some(zone)).ok().map(|micros| micros / MINUTE);
        assert_eq!(offset("-1:00"), Some(-60));
        assert_eq!(offset("05:45"), Some(345));
        assert_eq!(offset("8"), Some(480));
        assert_eq!([offset("15"), offset("-12:01"), offset("1:60"), offset("x")], [None; 4]);
    }
}
