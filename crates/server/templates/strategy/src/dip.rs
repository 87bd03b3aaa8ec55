//! Buys when the price falls away from its average, and sells when it is back.

use strategy::domain::{Quantity, SecurityId, Tick};
use strategy::ta_lib::{Core, EmaStream};
use strategy::{StrategyDefinition, Context, Parameter, PriceKind, CommandRejection, StrategySettings, Strategy, rounding};

pub struct Dip {
    security: SecurityId,
    quantity: Quantity,
    /// How far the price must fall below its average, as a part of it.
    fall: f64,
    period: usize,
    /// The first prices, until there are enough for an average.
    first: Vec<f64>,
    average: Option<EmaStream>,
}

impl Dip {
    /// By this the configuration finds it: `strategies.instances = ["MINE:{{name}} security=EUR.USD fall=0.5"]`.
    pub const DEFINITION: StrategyDefinition = StrategyDefinition {
        name: "{{name}}",
        about: "buys when the price falls away from its average, and sells when it is back",
        parameters: &[
            Parameter::security("security", "what to trade"),
            Parameter::decimal("quantity", "1", "0.00000001", "1000000", "how much to buy"),
            Parameter::decimal("fall", "0.5", "0.01", "50", "how far the price must fall, in percent"),
            Parameter::integer("period", "50", 2, 10_000, "prices that make the average"),
        ],
        build: |settings| Ok(Box::new(Self::new(settings))),
    };

    fn new(settings: &StrategySettings) -> Self {
        Self {
            security: settings.security("security"),
            quantity: settings.quantity("quantity"),
            fall: rounding::to_f64(settings.decimal("fall")) / 100.0,
            period: settings.count("period"),
            first: vec![],
            average: None,
        }
    }

    /// The average of the prices before this one, once there are enough.
    fn average_before(&mut self, price: f64) -> Option<f64> {
        if let Some(average) = &mut self.average {
            let before = average.value();
            average.update(price).ok()?;
            return Some(before);
        }
        self.first.push(price);
        if self.first.len() == self.period {
            let period = i32::try_from(self.period).ok()?;
            self.average = Core::new().ema_open(&self.first, period).ok().map(|(average, _)| average);
        }
        None
    }
}

impl Strategy for Dip {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(self.security, PriceKind::Ticks);
    }

    fn on_tick(&mut self, tick: &Tick, context: &mut Context<'_>) {
        let Some(price) = rounding::mid(tick) else { return };
        let Some(average) = self.average_before(price) else { return };
        // One order at a time: what is on its way is neither held nor absent.
        if context.is_working(self.security) {
            return;
        }
        let held = context.position(self.security);
        if held.is_zero() && price < average * (1.0 - self.fall) {
            context.buy(self.security, self.quantity);
        } else if held.is_positive() && price >= average {
            context.sell(self.security, held);
        }
    }

    fn on_refusal(&mut self, refused: &CommandRejection, context: &mut Context<'_>) {
        context.publish("refused", format!("{}: {}", refused.code, refused.reason));
    }
}
