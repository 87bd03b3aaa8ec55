//! Breakout: long when a bar closes above the highest price of the last bars, and flat, or short, when one closes below
//! the lowest.

use domain::{Bar, BarSize, Quantity, SecurityId};
use ta_lib::{Core, DonchianStream};

use super::target;
use crate::parameter::{InvalidParameter, Parameter, StrategySettings};
use crate::{Context, PriceHistory, PriceKind, Strategy, StrategyDefinition, rounding};

/// The strategy `breakout`.
#[derive(Debug)]
pub struct Breakout {
    security: SecurityId,
    size: BarSize,
    quantity: Quantity,
    goes_short: bool,
    channel: Channel,
    /// The target position of the last breakout, until an order is placed for it.
    wanted: Option<Quantity>,
}

impl Breakout {
    /// Name and parameters.
    pub const DEFINITION: StrategyDefinition = StrategyDefinition {
        name: "breakout",
        about: "long when a bar closes above the range of the bars before it, out or short when below",
        parameters: &[
            Parameter::security("security", "what to trade"),
            Parameter::bar_size("bars", "MIN_1", "size of the bars"),
            Parameter::integer("period", "20", 2, 1_000, "bars that make the range"),
            Parameter::decimal("quantity", "1", "0.00000001", "1000000000", "position to hold"),
            Parameter::flag("short", "false", "whether to go short below the range, instead of out"),
        ],
        build: |settings| Self::new(settings).map(|strategy| Box::new(strategy) as Box<dyn Strategy>),
    };

    fn new(settings: &StrategySettings) -> Result<Self, InvalidParameter> {
        Ok(Self {
            security: settings.security("security"),
            size: settings.bar_size("bars"),
            quantity: settings.quantity("quantity"),
            goes_short: settings.flag("short"),
            channel: Channel::new(settings.count("period")),
            wanted: None,
        })
    }

    fn below_the_range(&self) -> Quantity {
        if self.goes_short { self.quantity.negated() } else { Quantity::ZERO }
    }
}

impl Strategy for Breakout {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(self.security, PriceKind::Bars(self.size));
        context.request_history(self.security, self.size, self.channel.period);
    }

    fn prefeed(&mut self, history: &PriceHistory, _: &mut Context<'_>) {
        for bar in history.bars(self.security, self.size) {
            self.channel.update(bar);
        }
    }

    fn on_bar(&mut self, bar: &Bar, context: &mut Context<'_>) {
        let close = rounding::to_f64(bar.close.0);
        match self.channel.update(bar) {
            Some((highest, _)) if close > highest => self.wanted = Some(self.quantity),
            Some((_, lowest)) if close < lowest => self.wanted = Some(self.below_the_range()),
            _ => {}
        }
        if self.wanted.is_some_and(|wanted| target::move_to_target(context, self.security, wanted)) {
            self.wanted = None;
        }
    }
}

/// The range of the last bars.
#[derive(Debug)]
struct Channel {
    period: usize,
    highs: Vec<f64>,
    lows: Vec<f64>,
    stream: Option<DonchianStream>,
}

impl Channel {
    fn new(period: usize) -> Self {
        Self { period, highs: vec![], lows: vec![], stream: None }
    }

    /// The highest and the lowest price of the bars before this one, once there are enough.
    fn update(&mut self, bar: &Bar) -> Option<(f64, f64)> {
        let (high, low) = (rounding::to_f64(bar.high.0), rounding::to_f64(bar.low.0));
        let Some(stream) = &mut self.stream else {
            self.open(high, low);
            return None;
        };
        let (highest, _, lowest) = stream.value();
        stream.update(high, low).ok()?;
        Some((highest, lowest))
    }

    fn open(&mut self, high: f64, low: f64) {
        self.highs.push(high);
        self.lows.push(low);
        if self.highs.len() == self.period {
            let period = i32::try_from(self.period).unwrap_or(i32::MAX);
            self.stream = Core::new().donchian_open(&self.highs, &self.lows, period).ok().map(|(stream, _)| stream);
        }
    }
}
