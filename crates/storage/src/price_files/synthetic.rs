//! Synthetic prices from a seed: a random walk with a spread, written as price files. The same plan gives the same
//! bytes everywhere.

use std::io::{self, Write};

use domain::time::InvalidTimestamp;
use domain::{BarSize, Decimal, SeededRng, Timestamp};

use super::PriceFileKind;

/// Levels of a made-up book on each side.
const BOOK_LEVELS: i64 = 5;
/// Steps of the walk within one bar.
const STEPS_PER_BAR: u32 = 12;
const NANOS_PER_SECOND: i64 = 1_000_000_000;

/// Plan of a synthetic file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SyntheticPlan {
    pub kind: PriceFileKind,
    pub rows: u64,
    pub seed: u64,
    pub from: Timestamp,
    /// Between two rows; of bars it is their size.
    pub every_nanos: i64,
    /// The first price.
    pub price: Decimal,
    pub tick_size: Decimal,
    /// The widest step of the walk, in ticks.
    pub step_ticks: u32,
}

impl Default for SyntheticPlan {
    fn default() -> Self {
        Self {
            kind: PriceFileKind::Tick,
            rows: 10_000,
            seed: 42,
            // 2025-01-01 in UTC.
            from: Timestamp(1_735_689_600 * NANOS_PER_SECOND),
            every_nanos: NANOS_PER_SECOND,
            price: Decimal::ONE_HUNDRED,
            tick_size: Decimal::new(1, 2),
            step_ticks: 2,
        }
    }
}

impl SyntheticPlan {
    /// Whether every row has an instant that can be read again.
    pub fn check_range(&self) -> Result<(), InvalidTimestamp> {
        // Days of a weekend are passed over.
        let weekends = if self.kind == PriceFileKind::Bar(BarSize::Day1) { self.rows / 5 * 2 + 2 } else { 0 };
        let steps = self.rows.checked_add(weekends).and_then(|steps| i64::try_from(steps).ok());
        let span = steps.and_then(|steps| steps.checked_mul(self.every()));
        let last = span.and_then(|span| self.from.0.checked_add(span)).map(Timestamp);
        last.ok_or(InvalidTimestamp::OutOfRange)?.checked_range().map(|_| ())
    }

    fn every(&self) -> i64 {
        match self.kind {
            PriceFileKind::Bar(size) => size.seconds() * NANOS_PER_SECOND,
            PriceFileKind::Tick | PriceFileKind::Trade | PriceFileKind::Book => self.every_nanos,
        }
    }
}

pub fn write(plan: &SyntheticPlan, file: &mut dyn Write) -> io::Result<()> {
    let mut walk = RandomWalk::new(plan);
    writeln!(file, "{}", header(plan.kind))?;
    let mut at = plan.from;
    for _ in 0..plan.rows {
        write!(file, "{}", at.millis())?;
        match plan.kind {
            PriceFileKind::Tick => walk.tick(file)?,
            PriceFileKind::Trade => walk.trade(file)?,
            PriceFileKind::Book => walk.book(file)?,
            PriceFileKind::Bar(_) => walk.bar(file)?,
        }
        at = next_instant(plan.kind, at, plan.every());
    }
    Ok(())
}

/// Days of a weekend have no daily bar.
fn next_instant(kind: PriceFileKind, at: Timestamp, every: i64) -> Timestamp {
    let next = Timestamp(at.0.saturating_add(every));
    let day_of_week = next.0.div_euclid(86_400 * NANOS_PER_SECOND).rem_euclid(7);
    // The first of January 1970 was a Thursday, so Saturday is 2 and Sunday 3.
    match (kind, day_of_week) {
        (PriceFileKind::Bar(BarSize::Day1), 2 | 3) => next_instant(kind, next, every),
        _ => next,
    }
}

fn header(kind: PriceFileKind) -> String {
    match kind {
        PriceFileKind::Tick => "dateTime,bid,ask,volBid,volAsk".into(),
        PriceFileKind::Trade => "dateTime,price,quantity,aggressorSide".into(),
        PriceFileKind::Book => {
            let level = |level| format!(",bid{level},volBid{level},ask{level},volAsk{level}");
            format!("dateTime{}", (1..=BOOK_LEVELS).map(level).collect::<String>())
        }
        PriceFileKind::Bar(_) => "dateTime,open,high,low,close,vol".into(),
    }
}

struct RandomWalk {
    /// In ticks.
    price: i64,
    floor: i64,
    step: u64,
    tick_size: Decimal,
    rng: SeededRng,
}

impl RandomWalk {
    fn new(plan: &SyntheticPlan) -> Self {
        let ticks = plan.price.checked_div(plan.tick_size).map(|ticks| ticks.round());
        let price = ticks.and_then(|ticks| i64::try_from(ticks).ok()).unwrap_or(1).max(1);
        Self {
            price,
            floor: (price / 10).max(BOOK_LEVELS + 1),
            step: plan.step_ticks.into(),
            tick_size: plan.tick_size,
            rng: SeededRng::from_seed(plan.seed),
        }
    }

    fn tick(&mut self, file: &mut dyn Write) -> io::Result<()> {
        self.step();
        let spread = 1 + self.below(3);
        let (bid, ask) = (self.shown(self.price), self.shown(self.price + spread));
        let (vol_bid, vol_ask) = (self.lots(), self.lots());
        writeln!(file, ",{bid},{ask},{vol_bid},{vol_ask}")
    }

    fn trade(&mut self, file: &mut dyn Write) -> io::Result<()> {
        self.step();
        let side = if self.below(2) == 0 { "BUY" } else { "SELL" };
        let (price, quantity) = (self.shown(self.price), self.lots());
        writeln!(file, ",{price},{quantity},{side}")
    }

    fn book(&mut self, file: &mut dyn Write) -> io::Result<()> {
        self.step();
        let spread = 1 + self.below(2);
        for level in 0..BOOK_LEVELS {
            let (bid, ask) = (self.shown(self.price - level), self.shown(self.price + spread + level));
            let (vol_bid, vol_ask) = (self.lots(), self.lots());
            write!(file, ",{bid},{vol_bid},{ask},{vol_ask}")?;
        }
        writeln!(file)
    }

    fn bar(&mut self, file: &mut dyn Write) -> io::Result<()> {
        let open = self.price;
        let (mut high, mut low) = (open, open);
        for _ in 0..STEPS_PER_BAR {
            self.step();
            (high, low) = (high.max(self.price), low.min(self.price));
        }
        let [open, high, low, close] = [open, high, low, self.price].map(|ticks| self.shown(ticks));
        let vol = self.lots() * 10;
        writeln!(file, ",{open},{high},{low},{close},{vol}")
    }

    fn step(&mut self) {
        let span = 2 * self.step + 1;
        let step = self.below(span) - i64::try_from(self.step).unwrap_or(0);
        self.price = (self.price + step).max(self.floor);
    }

    fn shown(&self, ticks: i64) -> Decimal {
        (Decimal::from(ticks) * self.tick_size).normalize()
    }

    fn lots(&mut self) -> i64 {
        (1 + self.below(50)) * 100
    }

    fn below(&mut self, bound: u64) -> i64 {
        i64::try_from(self.rng.below(bound)).unwrap_or(0)
    }
}
