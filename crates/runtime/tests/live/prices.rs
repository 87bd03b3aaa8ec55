//! Prices that the engine does not apply: each is counted, by its reason.

use std::sync::atomic::Ordering;

use domain::command::MarketData;
use domain::{PriceGap, Query, SecurityId, StaleCause, Tick};

use crate::fixture::LiveFixture;

#[test]
fn a_price_of_an_unknown_security_is_counted_as_invalid() {
    let fixture = LiveFixture::default();
    let live = fixture.start_trading();
    live.inbox.send_price(MarketData::Tick(Tick { bid: Some(7.into()), ..samples::tick(99) }));
    // A request is handled after the prices that were there before it.
    assert_eq!(live.query(Query::Adapters).wait(), "answered");
    let dropped = live.inbox.metrics().dropped_prices().map(|(reason, count)| (reason.name(), count));
    assert_eq!(dropped, [("replaced", 0), ("too-many-trades", 0), ("no-sequence", 0), ("invalid", 1)]);
}

#[test]
fn an_order_on_prices_that_the_feed_has_lost_is_refused_until_they_are_back() {
    let fixture = LiveFixture::default();
    let live = fixture.start_trading();
    let quote = MarketData::Tick(Tick { bid: Some(9.into()), ask: Some(10.into()), ..samples::tick(1) });
    let (security, feed) = (SecurityId(1), "test".into());
    let gap = MarketData::Gap(PriceGap { security, feed, cause: StaleCause::MissedUpdates });
    let mut replies = Vec::new();
    for (id, price) in [("live", quote.clone()), ("lost", gap), ("back", quote)] {
        live.inbox.send_price(price);
        // A command is handled after the prices that were there before it.
        replies.push(live.place(id).wait());
    }
    assert_eq!(replies, ["placed live", "refused stale-price", "placed back"]);
}

#[test]
fn after_a_restart_an_order_on_prices_that_are_awaited_is_refused_until_they_come() {
    let fixture = LiveFixture::default();
    let quote = MarketData::Tick(Tick { bid: Some(9.into()), ask: Some(10.into()), ..samples::tick(1) });
    let live = fixture.start_trading();
    live.inbox.send_price(quote.clone());
    assert_eq!(live.place("before").wait(), "placed before");
    live.stop();
    let live = fixture.start();
    live.log_on();
    let mut replies = vec![live.place("unasked").wait()];
    let gap = PriceGap { security: SecurityId(1), feed: "test".into(), cause: StaleCause::Awaited };
    for (id, price) in [("awaited", MarketData::Gap(gap)), ("back", quote)] {
        live.inbox.send_price(price);
        replies.push(live.place(id).wait());
    }
    assert_eq!(replies, ["placed unasked", "refused stale-price", "placed back"]);
}

/// The reply to an order after a feed that came every half minute for more than an hour has been silent for longer than usual.
fn reply_after_silence(flag_silence: bool) -> String {
    let fixture = LiveFixture { flag_silence, ..LiveFixture::default() };
    let live = fixture.start_trading();
    let pause = |seconds| {
        fixture.seconds.fetch_add(seconds, Ordering::Relaxed);
        assert_eq!(live.query(Query::Adapters).wait(), "answered");
    };
    for _ in 0..130 {
        live.inbox.send_price(MarketData::Tick(Tick { bid: Some(9.into()), ask: Some(10.into()), ..samples::tick(1) }));
        pause(30);
    }
    pause(300);
    live.place("mine").wait()
}

#[test]
fn a_silent_feed_is_flagged_unless_that_is_switched_off() {
    assert_eq!([true, false].map(reply_after_silence), ["refused stale-price", "placed mine"]);
}
