//! A venue without participants that follows the prices of another one.

use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::{
    BookLevel, Order, OrderBook, OrderId, OrderKind, OrderProperties, Side, Tick, TimeInForce, Timestamp, Trade,
};
use expect_test::{Expect, expect};
use venue_sim::{
    ListedSecurity, OpeningQuotes, ParticipantActivity, VenueConfig, VenueFees, VenueOutput, VenueRecord,
    VenueSimulator,
};

use crate::venue_client::{DAY, MONDAY, SECOND, STOCK, blank_order, price, quiet, report_line, round_the_clock};

const START: Timestamp = Timestamp(MONDAY + 10 * 3_600 * SECOND);

/// Everything that the venue says, a line each; the time goes on by a second with each step.
struct FollowingVenue {
    venue: VenueSimulator,
    now: Timestamp,
    told: String,
    records: Vec<VenueRecord>,
}

fn config() -> VenueConfig {
    let config = round_the_clock();
    let bare = |listing: &ListedSecurity| ListedSecurity { opening: OpeningQuotes::NONE, ..listing.clone() };
    let listings = config.listings.iter().map(bare).collect();
    VenueConfig { activity: ParticipantActivity::Followed, listings, ..config }
}

impl FollowingVenue {
    fn new(config: VenueConfig) -> Self {
        let venue = VenueSimulator::new(config, START).unwrap();
        Self { venue, now: START, told: String::new(), records: Vec::new() }
    }

    fn step(&mut self, act: impl FnOnce(&mut VenueSimulator, Timestamp, &mut Vec<VenueOutput>)) {
        self.now = self.now.plus_seconds(1);
        let mut out = Vec::new();
        act(&mut self.venue, self.now, &mut out);
        for output in out {
            match output {
                VenueOutput::Report { said, .. } => self.told += &format!("    {}\n", report_line(&said)),
                VenueOutput::Record(record) => self.records.push(record),
                VenueOutput::Market(data) => panic!("nobody asked for {data:?}"),
            }
        }
    }

    fn follow(&mut self, what: &str, data: MarketData) {
        self.told += &format!("{what}\n");
        self.step(|venue, at, out| venue.follow(at, &data, out));
    }

    /// Best bid and offer, each as quantity and price.
    fn quote(&mut self, bid: (i64, &str), ask: (i64, &str)) {
        let tick = Tick {
            bid: Some(price(bid.1)),
            vol_bid: Some(bid.0.into()),
            ask: Some(price(ask.1)),
            vol_ask: Some(ask.0.into()),
            ..Tick::empty(STOCK)
        };
        self.follow(&format!("quote {} {} / {} {}", bid.0, bid.1, ask.1, ask.0), MarketData::Tick(tick));
    }

    fn book(&mut self, bids: &[(i64, &str)], asks: &[(i64, &str)]) {
        let level = |(quantity, at): &(i64, &str)| BookLevel { price: price(at), quantity: (*quantity).into() };
        let [bids, asks] = [bids, asks].map(|levels| levels.iter().map(level).collect::<Vec<_>>());
        let told = format!("book of {} bids and {} offers", bids.len(), asks.len());
        let book = OrderBook { security: STOCK, feed: "REAL".into(), at: self.now, bids, asks };
        self.follow(&told, MarketData::Book(book));
    }

    fn trade(&mut self, quantity: i64, at: &str, aggressor: Option<Side>) {
        let trade = Trade {
            security: STOCK,
            feed: "REAL".into(),
            at: self.now,
            price: price(at),
            quantity: quantity.into(),
            aggressor,
            ext_id: None,
        };
        self.follow(&format!("trade {quantity} @ {at}"), MarketData::Trade(trade));
    }

    fn submit(&mut self, id: u64, side: Side, quantity: i64, kind: OrderKind) {
        self.submit_with(id, side, OrderTerms { quantity: quantity.into(), kind, tif: TimeInForce::Gtc }, false);
    }

    fn submit_with(&mut self, id: u64, side: Side, terms: OrderTerms, post_only: bool) {
        let price = terms.kind.limit().or(terms.kind.stop()).map_or("market".to_owned(), |price| price.to_string());
        self.told += &format!("{side:?} {id}: {} at {price}\n", terms.quantity);
        let properties = OrderProperties { post_only, ..OrderProperties::default() };
        let order = Order { side, terms, properties, ..blank_order(OrderId(id)) };
        self.step(|venue, at, out| venue.submit(at, &order, out));
    }

    fn assert(&self, expected: &Expect) {
        expected.assert_eq(&self.told);
    }
}

fn limit(at: &str) -> OrderKind {
    OrderKind::Limit { limit: price(at) }
}

#[test]
fn takers_get_what_is_shown_level_by_level_and_what_they_took_stays_taken() {
    let mut client = FollowingVenue::new(config());
    client.submit(1, Side::Buy, 10, OrderKind::Market);
    client.book(&[(50, "9.99")], &[(30, "10.01"), (40, "10.02")]);
    client.submit(2, Side::Buy, 50, limit("10.02"));
    // The other venue has not seen the order: it shows the same, and then another quantity.
    client.book(&[(50, "9.99")], &[(30, "10.01"), (40, "10.02")]);
    client.submit(3, Side::Buy, 30, OrderKind::Market);
    client.quote((50, "9.99"), (25, "10.01"));
    client.submit(4, Side::Buy, 10, OrderKind::Market);
    client.assert(&expect![[r#"
        Buy 1: 10 at market
            accepted 1 as SIM-O1
            canceled 1: no-liquidity: no counterparty in the book
        book of 1 bids and 2 offers
        Buy 2: 50 at 10.02
            accepted 2 as SIM-O2
            filled 2 30 @ 10.01 by SIM-1
            filled 2 20 @ 10.02 by SIM-2
        book of 1 bids and 2 offers
        Buy 3: 30 at market
            accepted 3 as SIM-O3
            filled 3 20 @ 10.02 by SIM-3
            canceled 3: no-liquidity: no counterparty in the book
        quote 50 9.99 / 10.01 25
        Buy 4: 10 at market
            accepted 4 as SIM-O4
            filled 4 10 @ 10.01 by SIM-4
    "#]]);
}

#[test]
fn what_rests_is_filled_at_its_limit_by_quotes_that_reach_it_and_by_trades() {
    let mut client = FollowingVenue::new(config());
    client.quote((50, "9.99"), (50, "10.01"));
    client.submit(1, Side::Buy, 100, limit("9.99"));
    client.trade(15, "9.99", Some(Side::Sell));
    client.trade(15, "10.01", Some(Side::Buy));
    client.trade(5, "9.98", None);
    client.quote((50, "9.97"), (60, "9.98"));
    client.quote((50, "9.97"), (60, "9.99"));
    client.assert(&expect![[r#"
        quote 50 9.99 / 10.01 50
        Buy 1: 100 at 9.99
            accepted 1 as SIM-O1
        trade 15 @ 9.99
            filled 1 15 @ 9.99 by SIM-1
        trade 15 @ 10.01
        trade 5 @ 9.98
            filled 1 5 @ 9.99 by SIM-2
        quote 50 9.97 / 9.98 60
            filled 1 60 @ 9.99 by SIM-3
        quote 50 9.97 / 9.99 60
            filled 1 20 @ 9.99 by SIM-4
    "#]]);
}

#[test]
fn a_stop_waits_for_the_other_venues_trade_and_post_only_stays_out_of_its_quotes() {
    let mut client = FollowingVenue::new(config());
    client.quote((50, "9.99"), (50, "10.01"));
    client.trade(1, "10", Some(Side::Buy));
    client.submit(1, Side::Sell, 20, OrderKind::Stop { stop: price("9.95") });
    let terms = OrderTerms { quantity: 5.into(), kind: limit("10.01"), tif: TimeInForce::Gtc };
    client.submit_with(2, Side::Buy, terms, true);
    // Our own trade triggers nothing.
    client.submit(3, Side::Sell, 5, limit("9.94"));
    client.quote((50, "9.94"), (50, "9.96"));
    client.trade(1, "9.95", Some(Side::Sell));
    client.assert(&expect![[r#"
        quote 50 9.99 / 10.01 50
        trade 1 @ 10
        Sell 1: 20 at 9.95
            accepted 1 as SIM-O1
        Buy 2: 5 at 10.01
            rejected 2: would-take: a post-only order would trade at once
        Sell 3: 5 at 9.94
            accepted 3 as SIM-O2
            filled 3 5 @ 9.99 by SIM-1
        quote 50 9.94 / 9.96 50
        trade 1 @ 9.95
            filled 1 20 @ 9.94 by SIM-2
    "#]]);
}

#[test]
fn prices_between_our_ticks_count_as_the_worse_ones_and_parts_of_a_lot_as_nothing() {
    let mut client = FollowingVenue::new(config());
    client.book(&[(10, "9.996"), (10, "9.991"), (10, "9.98")], &[(10, "10.001"), (10, "10.009")]);
    client.submit(1, Side::Buy, 20, OrderKind::Market);
    client.submit(2, Side::Sell, 20, OrderKind::Market);
    let whole = Tick { bid: Some(price("9.97")), vol_bid: "0.9".parse().ok(), ..Tick::empty(STOCK) };
    client.follow("less than a lot is bid", MarketData::Tick(whole));
    client.submit(3, Side::Sell, 1, OrderKind::Market);
    client.assert(&expect![[r#"
        book of 3 bids and 2 offers
        Buy 1: 20 at market
            accepted 1 as SIM-O1
            filled 1 20 @ 10.01 by SIM-1
        Sell 2: 20 at market
            accepted 2 as SIM-O2
            filled 2 20 @ 9.99 by SIM-2
        less than a lot is bid
        Sell 3: 1 at market
            accepted 3 as SIM-O3
            canceled 3: no-liquidity: no counterparty in the book
    "#]]);
}

#[test]
fn without_prices_orders_rest_and_market_orders_find_nobody() {
    let mut client = FollowingVenue::new(config());
    client.quote((50, "9.99"), (50, "10.01"));
    client.told += "prices are lost\n";
    client.venue.forget_prices();
    client.submit(1, Side::Buy, 10, OrderKind::Market);
    client.submit(2, Side::Buy, 10, limit("11"));
    client.quote((50, "9.99"), (4, "10.01"));
    client.submit(3, Side::Buy, 10, OrderKind::Market);
    client.assert(&expect![[r#"
        quote 50 9.99 / 10.01 50
        prices are lost
        Buy 1: 10 at market
            accepted 1 as SIM-O1
            canceled 1: no-liquidity: no counterparty in the book
        Buy 2: 10 at 11
            accepted 2 as SIM-O2
        quote 50 9.99 / 10.01 4
            filled 2 4 @ 10.01 by SIM-1
        Buy 3: 10 at market
            accepted 3 as SIM-O3
            canceled 3: no-liquidity: no counterparty in the book
    "#]]);
}

#[test]
fn a_book_that_contradicts_itself_shows_nothing() {
    let mut client = FollowingVenue::new(config());
    client.book(&[(50, "10.02")], &[(50, "10.01")]);
    client.submit(1, Side::Buy, 10, OrderKind::Market);
    client.assert(&expect![[r#"
        book of 1 bids and 1 offers
        Buy 1: 10 at market
            accepted 1 as SIM-O1
            canceled 1: no-liquidity: no counterparty in the book
    "#]]);
}

#[test]
fn makers_and_takers_pay_their_fees_and_a_restart_keeps_the_order_and_waits_for_prices() {
    let config = VenueConfig {
        fees: Some(VenueFees { maker: "0.001".parse().unwrap(), taker: "0.002".parse().unwrap() }),
        ..config()
    };
    let mut client = FollowingVenue::new(config.clone());
    client.quote((50, "9.99"), (50, "10"));
    client.submit(1, Side::Buy, 80, limit("10"));
    let mut again = FollowingVenue::new(config);
    again.now = Timestamp(client.now.0 + DAY);
    again.venue.restore(client.records.clone(), again.now);
    again.told = std::mem::take(&mut client.told) + "restart\n";
    again.submit(2, Side::Sell, 10, limit("10.01"));
    again.quote((50, "9.99"), (50, "10"));
    let fees: Vec<_> = again.venue.snapshot().fills.iter().map(|fill| fill.fee.unwrap().to_string()).collect();
    assert_eq!(fees, ["1", "0.3"]);
    again.assert(&expect![[r#"
        quote 50 9.99 / 10 50
        Buy 1: 80 at 10
            accepted 1 as SIM-O1
            filled 1 50 @ 10 by SIM-1 fee 1 as taker
        restart
        Sell 2: 10 at 10.01
            accepted 2 as SIM-O2
        quote 50 9.99 / 10 50
            filled 1 30 @ 10 by SIM-2 fee 0.3 as maker
    "#]]);
}

#[test]
fn while_closed_nothing_trades_and_the_open_begins_with_what_is_shown() {
    let config = VenueConfig { exchange: quiet().exchange, ..config() };
    let mut client = FollowingVenue::new(config.clone());
    client.now = Timestamp(MONDAY + 8 * 3_600 * SECOND);
    client.venue = VenueSimulator::new(config, client.now).unwrap();
    client.submit(1, Side::Buy, 10, limit("10"));
    client.quote((50, "9.99"), (4, "10"));
    client.told += "09:00\n";
    client.now = Timestamp(MONDAY + 9 * 3_600 * SECOND);
    client.step(VenueSimulator::advance);
    client.quote((50, "9.99"), (50, "10"));
    client.assert(&expect![[r#"
        Buy 1: 10 at 10
            accepted 1 as SIM-O1
        quote 50 9.99 / 10 4
        09:00
            filled 1 4 @ 10 by SIM-1
        quote 50 9.99 / 10 50
            filled 1 6 @ 10 by SIM-2
    "#]]);
}
