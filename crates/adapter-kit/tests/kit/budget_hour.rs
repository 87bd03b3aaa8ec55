//! An hour of two hundred symbols at a venue with Binance's limits, on virtual time.

use std::collections::BTreeMap;
use std::fmt::Write;

use adapter_kit::{HoldSignal, LaneShares, RequestBudget, RequestCost, RequestLane, VenueAnswer};
use domain::Timestamp;
use expect_test::expect;

use crate::budget::{at, rule};
use crate::rate_limited_venue::{CounterStyle, RateLimitedVenue, VenueLimit};

const SYMBOLS: i64 = 200;
const HOUR_SECONDS: i64 = 3_600;

struct TradingHour {
    budget: RequestBudget,
    venue: RateLimitedVenue,
    outcomes: BTreeMap<(RequestLane, &'static str), usize>,
}

fn trading_hour() -> TradingHour {
    let limit = |name, seconds: i64, limit| VenueLimit {
        name,
        span_millis: seconds * 1_000,
        limit,
        style: CounterStyle::Fixed { phase_millis: 0 },
    };
    let venue = vec![limit("weight/1m", 60, 6_000), limit("orders/10s", 10, 100), limit("orders/1d", 86_400, 200_000)];
    let ours = vec![
        rule("weight/1m", 60, 6_000, LaneShares::STANDARD),
        rule("orders/10s", 10, 100, LaneShares::WHOLE),
        rule("orders/1d", 86_400, 200_000, LaneShares::WHOLE),
    ];
    TradingHour {
        budget: RequestBudget::new(ours).unwrap(),
        venue: RateLimitedVenue::new(venue),
        outcomes: BTreeMap::new(),
    }
}

impl TradingHour {
    fn request(&mut self, now: Timestamp, lane: RequestLane, weights: [u32; 3]) {
        let outcome = match self.budget.request(now, lane, RequestCost::of(&weights)) {
            Err(refusal) => refusal.code(),
            Ok(grant) => {
                let reply = self.venue.handle(now, &weights.map(u64::from));
                let hold = HoldSignal::of_http(reply.status, reply.retry_after.as_deref(), now);
                self.budget.on_answer(now, grant, &VenueAnswer { used: reply.used, hold });
                if let Some(record) = self.budget.unsaved() {
                    self.budget.on_saved(&record);
                }
                "granted"
            }
        };
        *self.outcomes.entry((lane, outcome)).or_default() += 1;
    }

    /// What an adapter of 200 symbols asks for in one second; far more than the venue allows.
    fn second(&mut self, second: i64) {
        let now = at(second);
        for _ in (0..SYMBOLS).filter(|symbol| symbol % 60 == second % 60) {
            self.request(now, RequestLane::Depth, [250, 0, 0]);
            self.request(now, RequestLane::Fills, [20, 0, 0]);
            self.request(now, RequestLane::Inquiry, [4, 0, 0]);
        }
        if second % 30 == 0 {
            self.request(now, RequestLane::Listing, [20, 0, 0]);
            self.request(now, RequestLane::Statement, [20, 0, 0]);
        }
        for _ in 0..12 {
            self.request(now, RequestLane::Submit, [1, 1, 1]);
        }
        for _ in 0..6 {
            self.request(now, RequestLane::Cancel, [1, 0, 0]);
        }
    }

    fn told(&self) -> String {
        let mut text = String::new();
        for ((lane, outcome), count) in &self.outcomes {
            writeln!(text, "{lane} {outcome} {count}").unwrap();
        }
        writeln!(text, "429: {}, 418: {}", self.venue.too_many, self.venue.bans).unwrap();
        text
    }
}

#[test]
fn an_hour_of_two_hundred_symbols_costs_no_429_and_every_cancel_leaves() {
    let mut hour = trading_hour();
    (0..HOUR_SECONDS).for_each(|second| hour.second(second));
    expect![[r#"
        cancel granted 21600
        submit granted 36000
        submit venue-rate 7200
        inquiry granted 8878
        inquiry venue-rate 3122
        fills granted 3790
        fills venue-rate 8210
        statement granted 60
        statement venue-rate 60
        listing granted 60
        listing venue-rate 60
        depth granted 480
        depth venue-rate 11520
        429: 0, 418: 0
    "#]]
    .assert_eq(&hour.told());
}

#[test]
fn a_ban_that_another_program_caused_is_obeyed_so_that_each_costs_one_answer() {
    let mut hour = trading_hour();
    for second in 0..HOUR_SECONDS {
        // On the same address, it begins every fifth minute with all that it can get, and stops when it is told to.
        if second % 300 < 10 {
            let mut requests = 20;
            while requests > 0 && hour.budget.held_until().is_none() {
                let status = hour.venue.handle(at(second), &[30, 0, 0]).status;
                requests = if status == 200 { requests - 1 } else { 0 };
            }
        }
        hour.second(second);
    }
    expect![[r#"
        cancel granted 12972
        cancel venue-ban 8628
        submit granted 21576
        submit venue-ban 17136
        submit venue-rate 4488
        inquiry granted 5441
        inquiry venue-ban 4752
        inquiry venue-rate 1807
        fills granted 2548
        fills venue-ban 4752
        fills venue-rate 4700
        statement granted 25
        statement venue-ban 48
        statement venue-rate 47
        listing granted 25
        listing venue-ban 48
        listing venue-rate 47
        depth granted 361
        depth venue-ban 4752
        depth venue-rate 6887
        429: 12, 418: 12
    "#]]
    .assert_eq(&hour.told());
}
