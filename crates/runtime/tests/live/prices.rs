//! Prices that the engine does not apply: each is counted, by its reason.

use domain::command::MarketData;
use domain::{Query, Tick};

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
