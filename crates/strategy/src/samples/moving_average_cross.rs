//! Moving average cross: long while a fast average is above a slow one, short while it is below. Each cross reverses
//! the position by one market order.

use domain::{Bar, BarSize, Quantity, SecurityId, Side, Tick};
use ta_lib::{Core, EmaStream, RetCode};

use super::target;
use crate::parameter::{InvalidParameter, Parameter, StrategySettings};
use crate::{Context, PriceHistory, PriceKind, Strategy, StrategyDefinition, rounding};

/// The strategy `moving-average-cross`.
#[derive(Debug)]
pub struct MovingAverageCross {
    security: SecurityId,
    quantity: Quantity,
    source: AverageInput,
    slow_period: usize,
    fast: Average,
    slow: Average,
    seen: usize,
    /// Whether the fast average was above at the last price; none until both are warm.
    was_above: Option<bool>,
    /// The side of the last cross, until an order is placed for it.
    wanted: Option<Side>,
}

/// Input of the averages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AverageInput {
    Ticks,
    Bars(BarSize),
}

impl MovingAverageCross {
    /// Name and parameters.
    pub const DEFINITION: StrategyDefinition = StrategyDefinition {
        name: "moving-average-cross",
        about: "flat until the fast exponential average first crosses the slow one, then long where it crosses upwards, short where downwards",
        parameters: &[
            Parameter::security("security", "what to trade"),
            Parameter::integer("fast", "10", 2, PERIOD_MAX, "period of the fast average, in prices"),
            Parameter::integer("slow", "20", 2, PERIOD_MAX, "period of the slow average, more than fast"),
            Parameter::decimal("quantity", "1", "0.00000001", "1000000000", "position to hold, long or short"),
            Parameter::choice(
                "prices",
                "TICKS",
                &["TICKS", "SEC_1", "MIN_1", "MIN_5", "MIN_15", "HOUR_1", "DAY_1"],
                "what the averages are made of: middles of quotes, or closes of bars of a size",
            ),
        ],
        build: |settings| Self::new(settings).map(|strategy| Box::new(strategy) as Box<dyn Strategy>),
    };

    fn new(settings: &StrategySettings) -> Result<Self, InvalidParameter> {
        let (fast, slow) = (settings.integer("fast"), settings.integer("slow"));
        if fast >= slow {
            return Err(InvalidParameter::new("fast", format!("{fast} is not less than slow, which is {slow}")));
        }
        let bars = BarSize::ALL.into_iter().find(|size| size.name() == settings.text("prices"));
        Ok(Self {
            security: settings.security("security"),
            quantity: settings.quantity("quantity"),
            source: bars.map_or(AverageInput::Ticks, AverageInput::Bars),
            slow_period: settings.count("slow"),
            fast: Average::new(fast),
            slow: Average::new(slow),
            seen: 0,
            was_above: None,
            wanted: None,
        })
    }

    /// The first price fades slowly from the averages, so they are warmed up with three times the longer period.
    fn subscribe(&self, prices: PriceKind, context: &mut Context<'_>) {
        context.subscribe(self.security, prices);
        context.request_prices(self.security, prices, self.slow_period * 3);
    }

    /// Updates the averages; a cross is kept until it was traded.
    #[inline]
    fn update(&mut self, price: f64) {
        let (Some(fast), Some(slow)) = (self.fast.update(price), self.slow.update(price)) else { return };
        self.seen += 1;
        if self.seen < self.slow_period {
            return;
        }
        let is_above = fast > slow;
        if self.was_above.replace(is_above).is_some_and(|was_above| was_above != is_above) {
            self.wanted = Some(if is_above { Side::Buy } else { Side::Sell });
        }
    }

    #[inline]
    fn trade(&mut self, context: &mut Context<'_>) {
        if let Some(side) = self.wanted
            && target::move_to_target(context, self.security, side.signed(self.quantity))
        {
            self.wanted = None;
        }
    }
}

impl Strategy for MovingAverageCross {
    fn init(&mut self, context: &mut Context<'_>) {
        match self.source {
            AverageInput::Ticks => self.subscribe(PriceKind::Ticks, context),
            AverageInput::Bars(size) => self.subscribe(PriceKind::Bars(size), context),
        }
    }

    fn prefeed(&mut self, history: &PriceHistory, _: &mut Context<'_>) {
        match self.source {
            AverageInput::Ticks => {
                history.ticks(self.security).iter().filter_map(rounding::mid).for_each(|price| self.update(price));
            }
            AverageInput::Bars(size) => {
                history.bars(self.security, size).iter().for_each(|bar| self.update(rounding::to_f64(bar.close.0)));
            }
        }
        // A cross in the history is no reason to trade now.
        self.wanted = None;
    }

    fn on_tick(&mut self, tick: &Tick, context: &mut Context<'_>) {
        if let Some(price) = rounding::mid(tick) {
            self.update(price);
            self.trade(context);
        }
    }

    fn on_bar(&mut self, bar: &Bar, context: &mut Context<'_>) {
        self.update(rounding::to_f64(bar.close.0));
        self.trade(context);
    }
}

/// The longest useful average.
pub(crate) const PERIOD_MAX: i64 = 10_000;

#[derive(Debug, Clone)]
pub(crate) struct Average {
    period: i32,
    stream: Option<EmaStream>,
}

impl Average {
    /// `period` is from 2 to [`PERIOD_MAX`], by the range of the parameter.
    pub(crate) fn new(period: i64) -> Self {
        Self { period: i32::try_from(period.clamp(2, PERIOD_MAX)).unwrap_or(2), stream: None }
    }

    /// The average including this price; none for a price that is not a number.
    pub(crate) fn update(&mut self, price: f64) -> Option<f64> {
        match &mut self.stream {
            Some(stream) => stream.update(price).ok(),
            None => self.open(price).ok(),
        }
    }

    /// TA-Lib begins with the mean of a first period: a period of equal first prices makes the average start there.
    fn open(&mut self, price: f64) -> Result<f64, RetCode> {
        let flat = vec![price; usize::try_from(self.period).unwrap_or(0)];
        let (stream, value) = Core::new().ema_open(&flat, self.period)?;
        self.stream = Some(stream);
        Ok(value)
    }
}
