//! Prices that the engine does not apply: each is counted, by its reason.

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
