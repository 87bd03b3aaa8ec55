//! Scenario scripts of a replay venue: `input => reports of the venue`.
//!
//! ```text
//! quote 10.00 x 10.02 of 500 x 300     trade 100 @ 10.01      book 9x5 10x5 | 11x7 12x9      last 10.01 (a tick)
//! open 10      bar 10 12 9 11 (open, high, low, close)        wait 60 (seconds)
//! 1 buy 100 market [ioc]      2 sell 50 @ 10.5 gtc      3 buy 10 stop 11      4 buy 10 stop 11 @ 11.5
//! replace 2 to 40 @ 10.6      cancel 2
//! ```

use std::fmt::Write;

use domain::order::OrderTerms;
use domain::report::ReportKind;
use domain::{
    Bar, BarSize, BookLevel, Decimal, Exchange, Order, OrderBook, OrderKind, OrderProperties, Price, Quantity,
    SecurityId, Side, Tick, TimeInForce, Timestamp, Trade,
};
use venue_sim::replay::{FillRule, ReplayConfig, ReplayVenue};

const SECURITY: SecurityId = SecurityId(1);
const START: Timestamp = Timestamp(1_735_689_600_000_000_000);

/// `post-only`, `showing 10` or `least 10`, behind the time in force.
fn properties<'a>(words: &'a [&'a str]) -> (&'a [&'a str], OrderProperties) {
    let none = OrderProperties::default();
    match words {
        [words @ .., "post-only"] => (words, OrderProperties { post_only: true, ..none }),
        [words @ .., "showing", part] => (words, OrderProperties { display_quantity: Some(quantity(part)), ..none }),
        [words @ .., "least", part] => (words, OrderProperties { min_quantity: Some(quantity(part)), ..none }),
        words => (words, none),
    }
}

struct ReplayFixture {
    venue: ReplayVenue,
    now: Timestamp,
    /// When the newest bar began.
    opened: Timestamp,
}

/// Runs the lines under a rule and compares all reports of the venue.
pub(crate) fn check(rule: FillRule, story: &str) {
    check_with(config(rule), story);
}

pub(crate) fn config(rule: FillRule) -> ReplayConfig {
    ReplayConfig { name: "V".into(), rule, order_latency_nanos: 0, slippage_ticks: 0, fee_rate: None }
}

pub(crate) fn check_with(config: ReplayConfig, story: &str) {
    compare(config, &samples::exchange(), story);
}

/// At an exchange whose days are those of a zone.
pub(crate) fn check_in(zone: &str, rule: FillRule, story: &str) {
    compare(config(rule), &Exchange { time_zone: zone.into(), ..samples::exchange() }, story);
}

fn compare(config: ReplayConfig, exchange: &Exchange, story: &str) {
    let mut venue = ReplayVenue::new(config);
    venue.list_security(&samples::stock(1, "TEST"), exchange);
    let mut market = ReplayFixture { venue, now: START, opened: START };
    let lines = story.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut found = String::new();
    let mut wanted = String::new();
    for line in lines {
        let (deed, said) = line.split_once("=>").unwrap_or((line, ""));
        let heard = market.play(deed.trim());
        writeln!(found, "{} => {heard}", deed.trim()).unwrap();
        writeln!(wanted, "{} => {}", deed.trim(), said.trim()).unwrap();
    }
    assert_eq!(found, wanted);
}

impl ReplayFixture {
    fn play(&mut self, deed: &str) -> String {
        let words: Vec<&str> = deed.split_whitespace().collect();
        match words[..] {
            ["wait", seconds] => self.now = self.now.plus_seconds(seconds.parse().unwrap()),
            ["cancel", order] => self.venue.cancel(self.now, &samples::order(order.parse().unwrap())),
            ["replace", order, "to", quantity, "@", limit] => self.replace(order, quantity, limit),
            ["quote", bid, "x", ask, ref sizes @ ..] => self.quote(bid, ask, sizes),
            ["last", at] => self.last(at),
            ["trade", quantity, "@", at] => self.trade(quantity, at),
            ["book", ref sides @ ..] => self.book(sides),
            ["open", open] => self.open(open),
            ["bar", open, high, low, close] => {
                self.venue.on_bar_close(self.now, &bar(self.opened, open, high, low, close));
            }
            [order, side, quantity, ref terms @ ..] => self.submit(order, side, quantity, terms),
            _ => panic!("not understood: {deed}"),
        }
        self.venue.advance(self.now);
        let words = std::iter::from_fn(|| self.venue.next_report(self.now)).map(|spoken| shown(&spoken.kind));
        words.collect::<Vec<_>>().join(", ")
    }

    fn submit(&mut self, order: &str, side: &str, amount: &str, terms: &[&str]) {
        let (kind, rest) = kind(terms);
        let (rest, properties) = properties(rest);
        let tif = match rest {
            [] | ["day"] => TimeInForce::Day,
            ["gtc"] => TimeInForce::Gtc,
            ["ioc"] => TimeInForce::Ioc,
            ["fok"] => TimeInForce::Fok,
            ["ato"] => TimeInForce::Ato,
            ["gtd", seconds] => TimeInForce::Gtd { until: self.now.plus_seconds(seconds.parse().unwrap()) },
            other => panic!("no such time in force: {other:?}"),
        };
        let side = if side == "buy" { Side::Buy } else { Side::Sell };
        let terms = OrderTerms { quantity: quantity(amount), kind, tif };
        let order = Order { side, terms, properties, security: SECURITY, ..samples::order(order.parse().unwrap()) };
        self.venue.submit(self.now, &order);
    }

    fn replace(&mut self, order: &str, amount: &str, limit: &str) {
        let terms = OrderTerms {
            quantity: quantity(amount),
            kind: OrderKind::Limit { limit: price(limit) },
            tif: TimeInForce::Day,
        };
        self.venue.replace(self.now, &samples::order(order.parse().unwrap()), terms);
    }

    fn quote(&mut self, bid: &str, ask: &str, sizes: &[&str]) {
        let sizes = match sizes {
            ["of", bid, "x", ask] => (Some(quantity(bid)), Some(quantity(ask))),
            _ => (None, None),
        };
        let tick = Tick {
            at: self.now,
            last: None,
            bid: told(bid).map(price),
            ask: told(ask).map(price),
            vol_bid: sizes.0,
            vol_ask: sizes.1,
            ..samples::tick(SECURITY.0)
        };
        self.venue.on_tick(self.now, &tick);
    }

    fn open(&mut self, open: &str) {
        self.opened = self.now;
        self.venue.on_bar_open(self.now, &bar(self.now, open, open, open, open));
    }

    fn last(&mut self, at: &str) {
        let tick = Tick { at: self.now, last: Some(price(at)), bid: None, ask: None, ..samples::tick(SECURITY.0) };
        self.venue.on_tick(self.now, &tick);
    }

    fn trade(&mut self, amount: &str, at: &str) {
        let trade = Trade {
            security: SECURITY,
            feed: "F".into(),
            at: self.now,
            price: price(at),
            quantity: quantity(amount),
            aggressor: None,
            ext_id: None,
        };
        self.venue.on_trade(self.now, &trade);
    }

    fn book(&mut self, sides: &[&str]) {
        let level = |text: &&str| {
            let (at, amount) = text.split_once('x').unwrap();
            BookLevel { price: price(at), quantity: quantity(amount) }
        };
        let mut halves = sides.split(|word| *word == "|");
        let mut half = || halves.next().unwrap_or_default().iter().map(level).collect::<Vec<_>>();
        let (bids, asks) = (half(), half());
        self.venue.on_book(self.now, &OrderBook { security: SECURITY, feed: "F".into(), at: self.now, bids, asks });
    }
}

fn kind<'a>(terms: &'a [&'a str]) -> (OrderKind, &'a [&'a str]) {
    match terms {
        ["market", rest @ ..] => (OrderKind::Market, rest),
        ["@", limit, rest @ ..] => (OrderKind::Limit { limit: price(limit) }, rest),
        ["stop", stop, "@", limit, rest @ ..] => {
            (OrderKind::StopLimit { limit: price(limit), stop: price(stop) }, rest)
        }
        ["stop", stop, rest @ ..] => (OrderKind::Stop { stop: price(stop) }, rest),
        other => panic!("no such order: {other:?}"),
    }
}

fn bar(at: Timestamp, open: &str, high: &str, low: &str, close: &str) -> Bar {
    let [open, high, low, close] = [open, high, low, close].map(price);
    let (security, feed, vol) = (SECURITY, "F".into(), Quantity::from(100));
    Bar { security, feed, at, size: BarSize::Min1, open, high, low, close, vol, vwap: None }
}

/// A dash is a side that the feed left out.
fn told(side: &str) -> Option<&str> {
    Some(side).filter(|side| *side != "-")
}

fn price(text: &str) -> Price {
    text.parse().unwrap()
}

fn quantity(text: &str) -> Quantity {
    text.parse().unwrap()
}

fn shown(said: &ReportKind) -> String {
    match said {
        ReportKind::Accepted { order, .. } => format!("{order} accepted"),
        ReportKind::Rejected { order, reason } => format!("{order} rejected ({reason})"),
        ReportKind::Filled(fill) => {
            let (rule, _) = fill.exec_id.split_once(':').expect("the rule stands before the number");
            let fee = fill.fee.filter(|fee| fee.0 != Decimal::ZERO).map_or(String::new(), |fee| format!(" fee {fee}"));
            format!("{} filled {} @ {}{fee} by {rule}", fill.order, fill.quantity, fill.price)
        }
        ReportKind::Canceled { order, reason: Some(reason) } => format!("{order} canceled ({reason})"),
        ReportKind::Canceled { order, reason: None } => format!("{order} canceled"),
        ReportKind::Expired { order, reason } => format!("{order} expired ({})", reason.as_deref().unwrap_or("")),
        ReportKind::Replaced { order, .. } => format!("{order} replaced"),
        ReportKind::CancelRejected { order, reason } => format!("{order} not canceled ({reason})"),
        ReportKind::ReplaceRejected { order, reason } => format!("{order} not replaced ({reason})"),
        other => panic!("never said: {other:?}"),
    }
}
