//! Pairs trading: the cheaper of two related securities against the dearer. The logarithm of the ratio of their closes
//! is compared with its Bollinger bands: outside of them the strategy trades towards the middle, and at the middle it
//! is flat.

use domain::{Bar, BarSize, Quantity, SecurityId, Timestamp};
use ta_lib::{BbandsStream, Core, MAType};

use super::target;
use crate::parameter::{InvalidParameter, Parameter, StrategySettings};
use crate::{Context, PriceHistory, PriceKind, Strategy, StrategyDefinition, rounding};

/// The strategy `pairs`.
#[derive(Debug)]
pub struct Pairs {
    first: Leg,
    second: Leg,
    size: BarSize,
    bands: Bands,
    stance: PairPosition,
}

#[derive(Debug)]
struct Leg {
    security: SecurityId,
    quantity: Quantity,
    /// The newest close and the start of its bar.
    close: Option<(Timestamp, f64)>,
}

/// The target position of the pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairPosition {
    Out,
    /// The first is cheap: buy it, sell the second.
    FirstLong,
    FirstShort,
}

impl Pairs {
    /// Name and parameters.
    pub const DEFINITION: StrategyDefinition = StrategyDefinition {
        name: "pairs",
        about: "trades the ratio of two securities back towards its average",
        parameters: &[
            Parameter::security("first", "the one"),
            Parameter::security("second", "the other"),
            Parameter::decimal("quantity", "1", "0.00000001", "1000000000", "position in the first"),
            Parameter::decimal("hedge", "1", "0.00000001", "1000000000", "opposite position in the second"),
            Parameter::bar_size("bars", "MIN_1", "size of the bars"),
            Parameter::integer("period", "20", 2, 1_000, "bars that make average and bands"),
            Parameter::decimal("width", "2", "0.1", "10", "distance of the bands, in standard deviations"),
        ],
        build: |settings| Self::new(settings).map(|strategy| Box::new(strategy) as Box<dyn Strategy>),
    };

    fn new(settings: &StrategySettings) -> Result<Self, InvalidParameter> {
        let leg = |security, quantity| Leg {
            security: settings.security(security),
            quantity: settings.quantity(quantity),
            close: None,
        };
        let (first, second) = (leg("first", "quantity"), leg("second", "hedge"));
        if first.security == second.security {
            return Err(InvalidParameter::new("second", "is the same security as first"));
        }
        let bands = Bands::new(settings.count("period"), rounding::to_f64(settings.decimal("width")));
        Ok(Self { first, second, size: settings.bar_size("bars"), bands, stance: PairPosition::Out })
    }

    /// Updates the ratio once both bars of a span have closed.
    fn update(&mut self, bar: &Bar) {
        for leg in [&mut self.first, &mut self.second] {
            if leg.security == bar.security {
                leg.close = Some((bar.at, rounding::to_f64(bar.close.0)));
            }
        }
        if let (Some((one_at, one)), Some((other_at, other))) = (self.first.close, self.second.close)
            && one_at == other_at
            && let Some((upper, middle, lower)) = self.bands.update((one / other).ln())
        {
            self.stance = self.stance.after((one / other).ln(), upper, middle, lower);
        }
    }

    fn trade(&self, context: &mut Context<'_>) {
        let (one, other) = (self.first.quantity, self.second.quantity);
        let (one, other) = match self.stance {
            PairPosition::Out => (Quantity::ZERO, Quantity::ZERO),
            PairPosition::FirstLong => (one, other.negated()),
            PairPosition::FirstShort => (one.negated(), other),
        };
        target::move_to_target(context, self.first.security, one);
        target::move_to_target(context, self.second.security, other);
    }
}

impl PairPosition {
    fn after(self, ratio: f64, upper: f64, middle: f64, lower: f64) -> Self {
        match self {
            _ if ratio > upper => Self::FirstShort,
            _ if ratio < lower => Self::FirstLong,
            Self::FirstShort if ratio <= middle => Self::Out,
            Self::FirstLong if ratio >= middle => Self::Out,
            same => same,
        }
    }
}

impl Strategy for Pairs {
    fn init(&mut self, context: &mut Context<'_>) {
        for security in [self.first.security, self.second.security] {
            context.subscribe(security, PriceKind::Bars(self.size));
            context.request_history(security, self.size, self.bands.period);
        }
    }

    fn prefeed(&mut self, history: &PriceHistory, _: &mut Context<'_>) {
        let [one, other] =
            [self.first.security, self.second.security].map(|security| history.bars(security, self.size));
        let mut both: Vec<_> = one.iter().chain(other).collect();
        both.sort_by_key(|bar| bar.at);
        both.into_iter().for_each(|bar| self.update(bar));
        // A signal in the history is no reason to trade now.
        self.stance = PairPosition::Out;
    }

    fn on_bar(&mut self, bar: &Bar, context: &mut Context<'_>) {
        self.update(bar);
        self.trade(context);
    }
}

/// Average and bands of the last values.
#[derive(Debug)]
struct Bands {
    period: usize,
    width: f64,
    values: Vec<f64>,
    stream: Option<BbandsStream>,
}

impl Bands {
    fn new(period: usize, width: f64) -> Self {
        Self { period, width, values: vec![], stream: None }
    }

    /// The bands of the values before this one, once there are enough: upper, middle, lower.
    fn update(&mut self, value: f64) -> Option<(f64, f64, f64)> {
        let Some(stream) = &mut self.stream else {
            self.open(value);
            return None;
        };
        let bands = stream.value();
        stream.update(value).ok()?;
        Some(bands)
    }

    fn open(&mut self, value: f64) {
        self.values.push(value);
        if self.values.len() == self.period {
            let period = i32::try_from(self.period).unwrap_or(i32::MAX);
            let opened = Core::new().bbands_open(&self.values, period, self.width, self.width, MAType::SMA);
            self.stream = opened.ok().map(|(stream, _)| stream);
        }
    }
}
