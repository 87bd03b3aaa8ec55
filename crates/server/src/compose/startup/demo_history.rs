//! The days before a demo's first: bars made up once, so that charts and strategies have a past from the start. They end
//! where the simulated markets begin. A future or a swap has the past of what it follows, at its own price.

use std::sync::Arc;

use domain::{Bar, BarSize, Decimal, Price, Quantity, Security, SecurityId, SeededRng, Timestamp};
use storage::BarFiles;

use crate::config::Config;
use crate::exit_failure::{Exit, ExitFailure};
use crate::reference::{OpeningQuote, ReferenceSet};

/// The newest of each size that are made.
const BARS_PER_SIZE: usize = 480;
const STEPS_PER_MINUTE: u32 = 6;
/// The root of the steps in a year: so much less than in a year does a price move in one step.
const ROOT_OF_STEPS_PER_YEAR: i64 = 1_776;
/// A step is as likely to be any within the root of three deviations, in thousandths.
const WIDTH_IN_DEVIATIONS: i64 = 1_732;
const MILLI: i64 = 1_000;
/// A walk counts in parts of the price at which it arrives.
const WALK_UNIT: i64 = 1_000_000_000;
/// It never falls below a tenth of where it arrives.
const WALK_FLOOR: i64 = WALK_UNIT / 10;
/// The most that a minute trades, in typical quotes.
const QUOTES_PER_MINUTE_MAX: u64 = 9;
const SECONDS_PER_DAY: i64 = 86_400;
/// Daily bars reach back a year; shorter ones only as far as `demo.historyDays`.
const DAYS_OF_DAILY_BARS: i64 = 365;
/// Before the days that have minutes, a day is walked in hours. An hour has 360 steps of ten seconds, whose root is 19.
const HOURS_PER_DAY: u32 = 24;
const ROOT_OF_STEPS_PER_HOUR: u64 = 19;
const MINUTES_PER_DAY: i64 = 1_440;

const SIZES: [BarSize; 5] = [BarSize::Min1, BarSize::Min5, BarSize::Min15, BarSize::Hour1, BarSize::Day1];

/// Makes up the past of every security that has an opening quote.
pub(crate) fn generate(
    config: &Config,
    reference: &ReferenceSet,
    now: Timestamp,
    files: &BarFiles,
) -> Result<(), ExitFailure> {
    let days = config.demo_history_days.0;
    if days == 0 || config.history_bars_kept.0 == 0 {
        return Ok(());
    }
    for opening in &reference.openings {
        let Some(security) = reference.data.securities.get(&opening.security) else { continue };
        let bars = bars_before(
            opening,
            security.price_incr,
            days,
            PriceWalk::for_leader(walk_leader(opening, security, reference), config),
            now,
        );
        files.append(&bars).map_err(|error| ExitFailure::new(Exit::Failed, format!("can't store bars: {error}")))?;
    }
    Ok(())
}

/// Whose walk a security shares: two prices of one thing move together.
fn walk_leader<'a>(opening: &'a OpeningQuote, security: &Security, reference: &'a ReferenceSet) -> &'a OpeningQuote {
    let followed = security.underlying.filter(|_| security.is_margined());
    reference.openings.iter().find(|other| Some(other.security) == followed).unwrap_or(opening)
}

/// Oldest first, size by size. Only bars that are over by now, and none that begins before the first day.
fn bars_before(opening: &OpeningQuote, tick: Decimal, days: i64, mut walk: PriceWalk, now: Timestamp) -> Vec<Arc<Bar>> {
    let today = BarSize::Day1.start_of(now);
    let from = today.plus_seconds(-days * SECONDS_PER_DAY);
    let minutes = walk.minutes(from, BarSize::Min1.start_of(now));
    let earlier = walk.days(today.plus_seconds(-DAYS_OF_DAILY_BARS * SECONDS_PER_DAY), from);
    let bars = SIZES.iter().flat_map(|size| {
        let before = earlier.iter().filter(|_| *size == BarSize::Day1).copied();
        let all: Vec<PriceSpan> =
            before.chain(spans(&minutes, *size)).filter(|span| span.is_over(*size, now)).collect();
        let newest = all.len().saturating_sub(BARS_PER_SIZE);
        all[newest..].iter().map(|span| span.bar(opening, tick, *size)).collect::<Vec<_>>()
    });
    bars.collect()
}

/// What a price did in a span of time, in parts of where it arrives, and in typical quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PriceSpan {
    at: Timestamp,
    open: i64,
    high: i64,
    low: i64,
    close: i64,
    quotes: i64,
}

impl PriceSpan {
    fn is_over(&self, size: BarSize, now: Timestamp) -> bool {
        self.at.plus_seconds(size.seconds()) <= now
    }

    fn extend(&mut self, later: &Self) {
        (self.high, self.low) = (self.high.max(later.high), self.low.min(later.low));
        self.close = later.close;
        self.quotes += later.quotes;
    }

    fn bar(&self, opening: &OpeningQuote, tick: Decimal, size: BarSize) -> Arc<Bar> {
        let price = |parts: i64| at_tick(opening.mid, parts, tick);
        let vol = opening.size.times(self.quotes.into()).unwrap_or(Quantity::ZERO);
        // Trades are at bid and ask, half a spread from the middle that is walked; so live bars are wider by it too.
        let half_spread = tick * Decimal::from(opening.spread_ticks / 2);
        let (open, close) = (price(self.open), price(self.close));
        let high = Price(price(self.high).0 + half_spread);
        let low = Price((price(self.low).0 - half_spread).max(tick).min(open.0).min(close.0));
        let (security, at, feed): (SecurityId, _, _) = (opening.security, self.at, "DEMO".into());
        Arc::new(Bar { security, feed, at, size, open, high, low, close, vol, vwap: None })
    }
}

/// The price so many parts of another, on the nearest tick and never below the first.
fn at_tick(arrival: Price, parts: i64, tick: Decimal) -> Price {
    let exact = arrival.0 * Decimal::new(parts, WALK_UNIT.ilog10());
    Price(tick * (exact / tick).round().max(Decimal::ONE))
}

fn spans(minutes: &[PriceSpan], size: BarSize) -> Vec<PriceSpan> {
    let mut spans: Vec<PriceSpan> = Vec::new();
    for minute in minutes {
        let at = size.start_of(minute.at);
        match spans.last_mut().filter(|span| span.at == at) {
            Some(span) => span.extend(minute),
            None => spans.push(PriceSpan { at, ..*minute }),
        }
    }
    spans
}

/// A random walk that is walked backwards, from where it must arrive.
struct PriceWalk {
    /// In parts of where it arrives, as everything here.
    price: i64,
    width: u64,
    rng: SeededRng,
}

impl PriceWalk {
    fn for_leader(leader: &OpeningQuote, config: &Config) -> Self {
        Self::new(leader.volatility, config.demo_seed ^ leader.security.0)
    }

    fn new(volatility: Decimal, seed: u64) -> Self {
        let deviation = volatility.checked_mul(WALK_UNIT.into()).unwrap_or_default();
        let width = deviation / Decimal::from(MILLI * ROOT_OF_STEPS_PER_YEAR) * Decimal::from(WIDTH_IN_DEVIATIONS);
        Self { price: WALK_UNIT, width: u64::try_from(width.round()).unwrap_or(0), rng: SeededRng::from_seed(seed) }
    }

    /// Every minute from one instant up to another, oldest first.
    fn minutes(&mut self, from: Timestamp, until: Timestamp) -> Vec<PriceSpan> {
        let mut minutes = Vec::new();
        let mut at = until.plus_seconds(-60);
        while at >= from {
            minutes.push(self.minute(at));
            at = at.plus_seconds(-60);
        }
        minutes.reverse();
        minutes
    }

    /// Every day from one midnight up to another, oldest first.
    fn days(&mut self, from: Timestamp, until: Timestamp) -> Vec<PriceSpan> {
        self.width *= ROOT_OF_STEPS_PER_HOUR;
        let mut days = Vec::new();
        let mut at = until.plus_seconds(-SECONDS_PER_DAY);
        while at >= from {
            let day = self.span(at, HOURS_PER_DAY);
            days.push(PriceSpan { quotes: day.quotes * MINUTES_PER_DAY, ..day });
            at = at.plus_seconds(-SECONDS_PER_DAY);
        }
        days.reverse();
        days
    }

    fn minute(&mut self, at: Timestamp) -> PriceSpan {
        self.span(at, STEPS_PER_MINUTE)
    }

    fn span(&mut self, at: Timestamp, steps: u32) -> PriceSpan {
        let close = self.price;
        let mut span = PriceSpan { at, open: close, high: close, low: close, close, quotes: 0 };
        for _ in 0..steps {
            self.step();
            span.open = self.price;
            (span.high, span.low) = (span.high.max(span.open), span.low.min(span.open));
        }
        span.quotes = 1 + self.random_below(QUOTES_PER_MINUTE_MAX);
        span
    }

    fn step(&mut self) {
        let step = self.random_below(2 * self.width + 1) - i64::try_from(self.width).unwrap_or(0);
        self.price = (self.price + step).max(WALK_FLOOR);
    }

    fn random_below(&mut self, bound: u64) -> i64 {
        i64::try_from(self.rng.below(bound)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIX_IN_THE_MORNING: Timestamp = Timestamp(1_735_711_200_000_000_000);

    fn opening() -> OpeningQuote {
        OpeningQuote {
            security: SecurityId(1),
            mid: Price(Decimal::new(2724, 1)),
            spread_ticks: 2,
            size: Quantity::from(300),
            volatility: Decimal::new(27, 2),
        }
    }

    fn bars(size: BarSize) -> Vec<Arc<Bar>> {
        let now = SIX_IN_THE_MORNING.plus_seconds(7 * 60 + 30);
        let all = bars_before(&opening(), Decimal::new(1, 2), 7, PriceWalk::new(opening().volatility, 1), now);
        all.into_iter().filter(|bar| bar.size == size).collect()
    }

    #[test]
    fn the_past_is_as_long_as_asked_for_and_ends_with_the_last_span_that_is_over() {
        let ends = |size: BarSize| {
            let bars = bars(size);
            let last = bars.last().unwrap().at.plus_seconds(size.seconds());
            (bars.len(), last.seconds_since(SIX_IN_THE_MORNING) / 60)
        };
        assert_eq!(
            SIZES.map(ends),
            [(480, 7), (480, 5), (480, 0), (174, 0), (365, -360)],
            "bars, and minutes from six o'clock to the end of the last one"
        );
    }

    #[test]
    fn it_ends_where_the_market_begins_and_every_bar_begins_where_the_one_before_ended() {
        let minutes = bars(BarSize::Min1);
        assert_eq!(minutes.last().unwrap().close, opening().mid);
        assert!(minutes.windows(2).all(|pair| pair[0].close == pair[1].open));
        assert!(minutes.iter().all(|bar| bar.low <= bar.open.min(bar.close) && bar.high >= bar.open.max(bar.close)));
        assert!(minutes.iter().all(|bar| bar.vol.is_positive()));
    }

    #[test]
    fn a_year_of_daily_bars_joins_the_days_that_have_minutes() {
        let days = bars(BarSize::Day1);
        assert!(days.windows(2).all(|pair| pair[0].close == pair[1].open));
        assert!(days.windows(2).all(|pair| pair[1].at == pair[0].at.plus_seconds(SECONDS_PER_DAY)));
    }

    #[test]
    fn every_bar_is_as_wide_as_the_spread_at_least() {
        let spread = Decimal::new(2, 2);
        assert!(bars(BarSize::Min1).iter().all(|bar| bar.high.0 - bar.low.0 >= spread));
    }

    #[test]
    fn longer_bars_are_made_of_the_shorter_ones() {
        let (minutes, fives) = (bars(BarSize::Min1), bars(BarSize::Min5));
        let last = fives.last().unwrap();
        let parts: Vec<_> = minutes.iter().filter(|bar| BarSize::Min5.start_of(bar.at) == last.at).collect();
        let high = parts.iter().map(|bar| bar.high).max().unwrap();
        assert_eq!((parts.len(), last.open, last.high, last.close), (5, parts[0].open, high, parts[4].close));
    }

    #[test]
    fn the_same_seed_makes_the_same_past() {
        assert_eq!(bars(BarSize::Hour1), bars(BarSize::Hour1));
    }

    /// How far a security of the demo's desk was from its opening, bar by bar, in parts of it.
    fn ways(reference: &ReferenceSet, symbol: &str) -> Vec<Decimal> {
        let security = reference.data.securities.values().find(|security| &*security.symbol == symbol).unwrap();
        let opening = reference.openings.iter().find(|opening| opening.security == security.id).unwrap();
        let leader = walk_leader(opening, security, reference);
        let walk = PriceWalk::new(leader.volatility, leader.security.0);
        let bars = bars_before(opening, security.price_incr, 7, walk, SIX_IN_THE_MORNING);
        bars.iter().map(|bar| bar.close.0 / opening.mid.0).collect()
    }

    fn widest_gap(one: &[Decimal], other: &[Decimal]) -> Decimal {
        one.iter().zip(other).map(|(one, other)| (one - other).abs()).max().unwrap()
    }

    #[test]
    fn a_swap_has_the_past_of_what_it_follows_at_its_own_price() {
        let reference = crate::reference::demo();
        let [swap, spot, ether] = ["BTC.USDT", "BTC.USD", "ETH.USD"].map(|symbol| ways(&reference, symbol));
        let a_tick_or_two = Decimal::new(3, 6);
        assert!(widest_gap(&swap, &spot) < a_tick_or_two, "{}", widest_gap(&swap, &spot));
        assert!(widest_gap(&ether, &spot) > Decimal::new(1, 2), "another coin goes its own way");
    }

    #[test]
    fn an_option_does_not_move_as_its_underlying_does() {
        let reference = crate::reference::demo();
        let gap = widest_gap(&ways(&reference, "AAPL270319C280"), &ways(&reference, "AAPL"));
        assert!(gap > Decimal::new(1, 2), "{gap}");
    }
}
