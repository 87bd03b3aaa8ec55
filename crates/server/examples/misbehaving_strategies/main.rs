//! `rialto` with strategies that misbehave, one in each way, and one that does not. Tests start it to see that
//! a strategy that panics, hangs or floods is stopped alone.

mod requoter;

use std::process::ExitCode;
use std::time::Duration;

use strategy::domain::{BarSize, Price, Quantity, SecurityId, Side, TimeInForce, Transaction};
use strategy::parameter::StrategySettings;
use strategy::{
    BARS_MAX, Context, Parameter, PriceHistory, PriceKind, Strategy, StrategyDefinition, Timer, order, samples,
};

use requoter::Requoter;

fn main() -> ExitCode {
    let misbehaving = [
        Panicker::BLUEPRINT,
        Hanger::BLUEPRINT,
        Flooder::BLUEPRINT,
        Steady::BLUEPRINT,
        Reporter::BLUEPRINT,
        Historian::BLUEPRINT,
        Requoter::BLUEPRINT,
    ];
    let registry = misbehaving.into_iter().fold(samples::registry(), strategy::StrategyRegistry::with);
    server::run_with(registry, std::env::args_os())
}

const SECURITY: &[Parameter] = &[Parameter::security("security", "what it has orders in")];

/// A buy far below the market, to see what becomes of it.
fn rest(context: &mut Context<'_>, security: SecurityId) {
    let mut resting = order::limit(security, Side::Buy, Quantity::from(1), Price::from(200));
    resting.tif = TimeInForce::Gtc;
    context.place(resting);
}

fn act_soon(context: &mut Context<'_>) {
    context.set_timer("act", context.now().plus_millis(200));
}

struct Panicker(SecurityId);

impl Panicker {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "panicker",
        about: "places an order and panics",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self(settings.security("security")))),
    };
}

impl Strategy for Panicker {
    fn run(&mut self, context: &mut Context<'_>) {
        rest(context, self.0);
        act_soon(context);
    }

    fn on_timer(&mut self, _: &Timer, _: &mut Context<'_>) {
        panic!("the panicker panics");
    }
}

struct Hanger(SecurityId);

impl Hanger {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "hanger",
        about: "places an order and never returns",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self(settings.security("security")))),
    };
}

impl Strategy for Hanger {
    fn run(&mut self, context: &mut Context<'_>) {
        rest(context, self.0);
        act_soon(context);
    }

    fn on_timer(&mut self, _: &Timer, _: &mut Context<'_>) {
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
}

struct Flooder(SecurityId);

impl Flooder {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "flooder",
        about: "places orders without end",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self(settings.security("security")))),
    };
}

impl Strategy for Flooder {
    fn run(&mut self, context: &mut Context<'_>) {
        act_soon(context);
    }

    fn on_timer(&mut self, _: &Timer, context: &mut Context<'_>) {
        (0..50).for_each(|_| rest(context, self.0));
        context.set_timer("act", context.now().plus_millis(50));
    }
}

/// Counts its timers aloud, so that one can see it go on.
struct Steady {
    security: SecurityId,
    beats: u64,
}

impl Steady {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "steady",
        about: "counts aloud",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self { security: settings.security("security"), beats: 0 })),
    };
}

impl Strategy for Steady {
    fn init(&mut self, context: &mut Context<'_>) {
        context.subscribe(self.security, PriceKind::Ticks);
    }

    fn run(&mut self, context: &mut Context<'_>) {
        rest(context, self.security);
        act_soon(context);
    }

    fn on_timer(&mut self, _: &Timer, context: &mut Context<'_>) {
        self.beats += 1;
        context.publish("beat", self.beats.to_string());
        act_soon(context);
    }

    fn exit(&mut self, context: &mut Context<'_>) {
        context.cancel_all();
    }
}

/// Says aloud what it was told of the past.
struct Historian {
    security: SecurityId,
    told: String,
}

impl Historian {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "historian",
        about: "tells how many bars of the past it got, and the last of them",
        parameters: SECURITY,
        build: |settings: &StrategySettings| {
            Ok(Box::new(Self { security: settings.security("security"), told: String::new() }))
        },
    };
}

impl Strategy for Historian {
    fn init(&mut self, context: &mut Context<'_>) {
        context.request_history(self.security, BarSize::Min1, BARS_MAX);
    }

    fn prefeed(&mut self, past: &PriceHistory, _: &mut Context<'_>) {
        let bars = past.bars(self.security, BarSize::Min1);
        let last = bars.last().map_or("none".to_owned(), |bar| bar.close.to_string());
        self.told = format!("{} bars, the last at {last}", bars.len());
    }

    fn run(&mut self, context: &mut Context<'_>) {
        context.publish("past", self.told.as_str());
    }
}

/// Says aloud what is booked for it.
struct Reporter(SecurityId);

impl Reporter {
    const BLUEPRINT: StrategyDefinition = StrategyDefinition {
        name: "reporter",
        about: "places an order and tells of every booking",
        parameters: SECURITY,
        build: |settings: &StrategySettings| Ok(Box::new(Self(settings.security("security")))),
    };
}

impl Strategy for Reporter {
    fn run(&mut self, context: &mut Context<'_>) {
        if !context.is_working(self.0) {
            rest(context, self.0);
        }
    }

    fn on_transaction(&mut self, booked: &Transaction, context: &mut Context<'_>) {
        context.publish("booked", booked.price.to_string());
    }
}
