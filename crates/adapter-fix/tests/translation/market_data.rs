//! Prices over FIX: what is asked for, what becomes of the answers, and books that contradict themselves.

use adapter_fix::{BookUpdates, MarketDataFeed, MarketDataRules, RESTARTS_MAX};
use domain::command::MarketData;
use domain::{BookLevel, Price, Quantity, SecurityId, Timestamp};
use expect_test::expect;
use fix::FixDecoder;

use crate::story::{NOW, frame, shown};

const MICROSOFT: SecurityId = SecurityId(1);
const APPLE: SecurityId = SecurityId(2);

fn rules() -> MarketDataRules {
    MarketDataRules {
        depth: 0,
        updates: BookUpdates::Incremental,
        trades: true,
        aggregated: None,
        reset_on_logon: true,
        own_session: false,
        stale_condition: None,
        fields: Vec::new(),
    }
}

/// Plays messages and writes down what was made of them.
struct PriceStory {
    feed: MarketDataFeed,
    told: String,
}

impl PriceStory {
    fn new(rules: MarketDataRules) -> Self {
        Self { feed: MarketDataFeed::new("VENUE".into(), rules, Timestamp(0)), told: String::new() }
    }

    /// The subscription of Microsoft.
    fn subscribed(rules: MarketDataRules) -> Self {
        let mut story = Self::new(rules);
        story.subscribe(MICROSOFT, "MSFT");
        story
    }

    fn tell(&mut self, line: &str) {
        self.told.push_str(line);
        self.told.push('\n');
    }

    fn subscribe(&mut self, security: SecurityId, symbol: &str) {
        let request = self.feed.subscribe(security, symbol);
        self.tell(&format!("> {}", shown(&Ok(request))));
    }

    fn venue(&mut self, message: &str) {
        let (msg_type, fields) = message.split_once(' ').unwrap();
        let frame = frame("FIX.4.4", msg_type, fields);
        let mut decoder = FixDecoder::new();
        let step = self.feed.on_message(&decoder.decode(&frame).unwrap(), NOW.parse().unwrap());
        self.tell(&format!("< 35={msg_type}|{fields}"));
        step.prices.iter().for_each(|price| self.tell(&format!("    {}", written(price))));
        if let Some(problem) = step.problem {
            let security = problem.security.map_or("no security".to_owned(), |security| format!("security {security}"));
            self.tell(&format!("    PROBLEM {security}: {}", problem.reason));
        }
        step.requests.into_iter().for_each(|request| self.tell(&format!("> {}", shown(&Ok(request)))));
    }
}

fn written(price: &MarketData) -> String {
    let side = |levels: &[BookLevel]| {
        let levels = levels.iter().map(|level| format!("{}x{}", level.price, level.quantity));
        levels.collect::<Vec<_>>().join(" ")
    };
    let best = |price: Option<Price>, quantity: Option<Quantity>| {
        price.zip(quantity).map_or("-".to_owned(), |(price, quantity)| format!("{price}x{quantity}"))
    };
    match price {
        MarketData::Tick(tick) => {
            format!("{} best {} / {}", tick.security, best(tick.bid, tick.vol_bid), best(tick.ask, tick.vol_ask))
        }
        MarketData::Trade(trade) => {
            let aggressor = trade.aggressor.map_or(String::new(), |side| format!(" by a {side:?}er"));
            format!("{} trade {}x{} at {}{aggressor}", trade.security, trade.price, trade.quantity, trade.at)
        }
        MarketData::Book(book) => format!("{} book {} / {}", book.security, side(&book.bids), side(&book.asks)),
        MarketData::Gap(gap) => format!("{} GAP {}", gap.security, gap.cause.name()),
    }
}

#[test]
fn a_book_begins_with_a_snapshot_and_follows_its_changes() {
    let mut story = PriceStory::subscribed(rules());
    story.venue("W 262=P0-1|55=MSFT|268=3|269=0|270=10.5|271=100|269=1|270=10.7|271=50|269=2|270=10.6|271=5");
    story.venue("X 262=P0-1|268=2|279=0|269=0|55=MSFT|270=10.6|271=20|279=2|269=1|270=10.7");
    story.venue("X 262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=80");
    story.venue("X 262=P0-1|268=1|279=0|269=2|55=MSFT|278=T9|270=10.6|271=20|272=20261116|273=11:59:58.500|2446=1");
    story.venue("X 262=P0-1|268=1|279=0|269=2|55=MSFT|278=T9|270=10.6|271=20|272=20261116|273=11:59:58.500|2446=1");
    story.venue("X 262=P0-1|268=1|279=0|269=2|55=MSFT|270=10.6|271=1|273=23:59:59");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=3|269=0|270=10.5|271=100|269=1|270=10.7|271=50|269=2|270=10.6|271=5
            1 best 10.5x100 / 10.7x50
            1 book 10.5x100 / 10.7x50
        < 35=X|262=P0-1|268=2|279=0|269=0|55=MSFT|270=10.6|271=20|279=2|269=1|270=10.7
            1 best 10.6x20 / -
            1 book 10.6x20 10.5x100 / 
        < 35=X|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=80
            1 book 10.6x20 10.5x80 / 
        < 35=X|262=P0-1|268=1|279=0|269=2|55=MSFT|278=T9|270=10.6|271=20|272=20261116|273=11:59:58.500|2446=1
            1 trade 10.6x20 at 2026-11-16T11:59:58.5Z by a Buyer
        < 35=X|262=P0-1|268=1|279=0|269=2|55=MSFT|278=T9|270=10.6|271=20|272=20261116|273=11:59:58.500|2446=1
        < 35=X|262=P0-1|268=1|279=0|269=2|55=MSFT|270=10.6|271=1|273=23:59:59
            1 trade 10.6x1 at 2026-11-15T23:59:59Z
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_price_that_the_venue_itself_takes_for_old_is_a_gap_until_it_is_live_again() {
    let mut story = PriceStory::subscribed(MarketDataRules { stale_condition: Some("B".into()), ..rules() });
    story.venue("W 262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|276=A|269=1|270=10.7|271=50|276=A");
    story.venue("X 262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=C B|58=SILENT: longer than usual");
    story.venue("X 262=P0-1|268=2|279=2|269=1|55=MSFT|270=10.7|279=0|269=2|55=MSFT|278=T1|270=10.6|271=1");
    story.venue("X 262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=A");
    story.venue("X 262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=B");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|276=A|269=1|270=10.7|271=50|276=A
            1 best 10.5x100 / 10.7x50
            1 book 10.5x100 / 10.7x50
        < 35=X|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=C B|58=SILENT: longer than usual
            1 GAP SILENT
        < 35=X|262=P0-1|268=2|279=2|269=1|55=MSFT|270=10.7|279=0|269=2|55=MSFT|278=T1|270=10.6|271=1
            1 GAP SILENT
            1 trade 10.6x1 at 2026-11-16T12:00:00Z
        < 35=X|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=A
            1 best 10.5x100 / -
            1 book 10.5x100 / 
        < 35=X|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=100|276=B
            1 GAP DISCONNECTED
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_message_that_comes_late_discards_the_book_that_lacked_it_and_no_other() {
    let mut story = PriceStory::subscribed(rules());
    story.venue("W 262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=1|270=10.7|271=50");
    story.venue("X 43=Y|262=P0-9|268=1|279=1|269=0|55=MSFT|270=10.5|271=90");
    story.venue("X 43=Y|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=90");
    story.venue("X 43=Y|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=80");
    story.venue("X 43=Y|268=1|279=1|269=0|55=MSFT|270=10.5|271=80");
    story.venue("W 262=P0-2|55=MSFT|268=1|269=0|270=10.5|271=80");
    story.venue("W 43=Y|55=MSFT|268=1|269=0|270=10.5|271=100");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=1|270=10.7|271=50
            1 best 10.5x100 / 10.7x50
            1 book 10.5x100 / 10.7x50
        < 35=X|43=Y|262=P0-9|268=1|279=1|269=0|55=MSFT|270=10.5|271=90
        < 35=X|43=Y|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=90
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: a message was lost and came late
        > 35=V|146=1|55=MSFT|262=P0-1|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-2|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=X|43=Y|262=P0-1|268=1|279=1|269=0|55=MSFT|270=10.5|271=80
        < 35=X|43=Y|268=1|279=1|269=0|55=MSFT|270=10.5|271=80
        < 35=W|262=P0-2|55=MSFT|268=1|269=0|270=10.5|271=80
            1 best 10.5x80 / -
            1 book 10.5x80 / 
        < 35=W|43=Y|55=MSFT|268=1|269=0|270=10.5|271=100
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: a message was lost and came late
        > 35=V|146=1|55=MSFT|262=P0-2|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-3|263=1|264=0|265=1|267=3|269=0|269=1|269=2
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn entries_with_an_id_are_added_up_at_their_price() {
    let mut story = PriceStory::subscribed(rules());
    story.venue("W 55=MSFT|268=3|269=0|278=a|270=10.5|271=100|269=0|278=b|270=10.5|271=7|269=1|278=c|270=10.7|271=50");
    story.venue("X 268=1|279=1|278=a|55=MSFT|271=60");
    story.venue("X 268=1|279=1|278=d|280=b|55=MSFT|270=10.4");
    story.venue("X 268=1|279=2|278=a|55=MSFT");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|55=MSFT|268=3|269=0|278=a|270=10.5|271=100|269=0|278=b|270=10.5|271=7|269=1|278=c|270=10.7|271=50
            1 best 10.5x107 / 10.7x50
            1 book 10.5x107 / 10.7x50
        < 35=X|268=1|279=1|278=a|55=MSFT|271=60
            1 best 10.5x67 / 10.7x50
            1 book 10.5x67 / 10.7x50
        < 35=X|268=1|279=1|278=d|280=b|55=MSFT|270=10.4
            1 best 10.5x60 / 10.7x50
            1 book 10.5x60 10.4x7 / 10.7x50
        < 35=X|268=1|279=2|278=a|55=MSFT
            1 best 10.4x7 / 10.7x50
            1 book 10.4x7 / 10.7x50
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_book_that_contradicts_itself_is_discarded_and_begins_again() {
    let mut story = PriceStory::subscribed(rules());
    story.venue("X 262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.6|271=20");
    story.venue("W 262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=1|270=10.7|271=50");
    story.venue("X 262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.7|271=20");
    story.venue("X 262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.4|271=20");
    story.venue("X 268=1|279=7|269=0|55=MSFT|270=10.4|271=20");
    story.venue("W 262=P0-3|55=MSFT|268=1|269=0|270=10.5|271=-100");
    story.venue("W 262=P0-4|55=MSFT|268=2|269=0|270=10.5|271=100");
    story.venue("W 262=P0-5|55=MSFT|268=1|269=0|278=a|270=10.5|271=100");
    story.venue("X 262=P0-5|268=1|279=2|278=b|55=MSFT");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=X|262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.6|271=20
        < 35=W|262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=1|270=10.7|271=50
            1 best 10.5x100 / 10.7x50
            1 book 10.5x100 / 10.7x50
        < 35=X|262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.7|271=20
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: the best bid 10.7 is not below the best ask 10.7
        > 35=V|146=1|55=MSFT|262=P0-1|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-2|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=X|262=P0-1|268=1|279=0|269=0|55=MSFT|270=10.4|271=20
        < 35=X|268=1|279=7|269=0|55=MSFT|270=10.4|271=20
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: an entry's 279 is unknown
        > 35=V|146=1|55=MSFT|262=P0-2|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-3|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-3|55=MSFT|268=1|269=0|270=10.5|271=-100
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: an entry lacks a positive MDEntrySize (271)
        > 35=V|146=1|55=MSFT|262=P0-3|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-4|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-4|55=MSFT|268=2|269=0|270=10.5|271=100
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: NoMDEntries (268) is 2, and there are 1
        > 35=V|146=1|55=MSFT|262=P0-4|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-5|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-5|55=MSFT|268=1|269=0|278=a|270=10.5|271=100
            1 best 10.5x100 / -
            1 book 10.5x100 / 
        < 35=X|262=P0-5|268=1|279=2|278=b|55=MSFT
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book begins again: the entry b never came
        > 35=V|146=1|55=MSFT|262=P0-5|263=2|264=0|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=MSFT|262=P0-6|263=1|264=0|265=1|267=3|269=0|269=1|269=2
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_security_whose_books_are_never_right_is_given_up() {
    let mut story = PriceStory::subscribed(rules());
    for request in 1..=RESTARTS_MAX + 1 {
        story.told.clear();
        story.venue(&format!("W 262=P0-{request}|55=MSFT|268=1|269=0|270=ten|271=1"));
    }
    expect![[r#"
        < 35=W|262=P0-101|55=MSFT|268=1|269=0|270=ten|271=1
            1 GAP MISSED_UPDATES
            PROBLEM security 1: the order book was discarded 100 times and is given up: an entry's 270 is no number
        > 35=V|146=1|55=MSFT|262=P0-101|263=2|264=0|267=3|269=0|269=1|269=2
    "#]]
    .assert_eq(&story.told);
    story.told.clear();
    story.venue("W 262=P0-101|55=MSFT|268=1|269=0|270=10|271=1");
    assert_eq!(story.told, "< 35=W|262=P0-101|55=MSFT|268=1|269=0|270=10|271=1\n");
}

#[test]
fn one_message_may_have_several_securities() {
    let mut story = PriceStory::subscribed(rules());
    story.subscribe(APPLE, "AAPL");
    story.venue("W 262=P0-1|55=MSFT|268=1|269=0|270=10.5|271=100");
    story.venue("W 262=P0-2|55=AAPL|268=1|269=0|270=200|271=1");
    story.venue(
        "X 268=3|279=0|269=1|55=MSFT|270=10.7|271=20|279=0|269=1|270=10.8|271=2|279=0|269=1|55=AAPL|270=201|271=3",
    );
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        > 35=V|146=1|55=AAPL|262=P0-2|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=1|269=0|270=10.5|271=100
            1 best 10.5x100 / -
            1 book 10.5x100 / 
        < 35=W|262=P0-2|55=AAPL|268=1|269=0|270=200|271=1
            2 best 200x1 / -
            2 book 200x1 / 
        < 35=X|268=3|279=0|269=1|55=MSFT|270=10.7|271=20|279=0|269=1|270=10.8|271=2|279=0|269=1|55=AAPL|270=201|271=3
            1 best 10.5x100 / 10.7x20
            1 book 10.5x100 / 10.7x20 10.8x2
            2 best 200x1 / 201x3
            2 book 200x1 / 201x3
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn snapshots_alone_replace_each_other_and_repeat_no_trade() {
    let rules = MarketDataRules { updates: BookUpdates::Full, depth: 1, aggregated: Some(true), ..rules() };
    let mut story = PriceStory::subscribed(rules);
    story.venue("W 262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=2|270=10.6|271=5|273=11:00:00");
    story
        .venue("W 262=P0-1|55=MSFT|268=3|269=0|270=10.6|271=10|269=0|270=10.5|271=1|269=2|270=10.6|271=5|273=11:00:00");
    story.venue("W 262=P0-1|55=MSFT|268=2|269=1|270=10.6|271=10|269=2|270=10.6|271=6|273=11:59:59");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=1|265=0|266=Y|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=2|269=0|270=10.5|271=100|269=2|270=10.6|271=5|273=11:00:00
            1 best 10.5x100 / -
            1 book 10.5x100 / 
        < 35=W|262=P0-1|55=MSFT|268=3|269=0|270=10.6|271=10|269=0|270=10.5|271=1|269=2|270=10.6|271=5|273=11:00:00
            1 best 10.6x10 / -
            1 book 10.6x10 / 
        < 35=W|262=P0-1|55=MSFT|268=2|269=1|270=10.6|271=10|269=2|270=10.6|271=6|273=11:59:59
            1 best - / 10.6x10
            1 book  / 10.6x10
            1 trade 10.6x6 at 2026-11-16T11:59:59Z
    "#]]
    .assert_eq(&story.told);
}

#[test]
fn a_refusal_names_its_security_and_reason() {
    let mut story = PriceStory::subscribed(rules());
    story.venue("Y 262=P0-1|281=0");
    story.venue("j 372=V|379=P0-1|380=3|58=no market data today");
    story.venue("3 45=7|372=V|58=Tag missing");
    story.venue("j 372=D|379=P0-1|380=3|58=not about prices");
    let ended = story.feed.unsubscribe(MICROSOFT).unwrap();
    story.tell(&format!("> {}", shown(&Ok(ended))));
    story.venue("W 262=P0-1|55=MSFT|268=1|269=0|270=10.5|271=100");
    expect![[r#"
        > 35=V|146=1|55=MSFT|262=P0-1|263=1|264=0|265=1|267=3|269=0|269=1|269=2
        < 35=Y|262=P0-1|281=0
            1 GAP REFUSED
            PROBLEM security 1: the venue refuses market data: 0
        < 35=j|372=V|379=P0-1|380=3|58=no market data today
            1 GAP REFUSED
            PROBLEM security 1: the venue refuses market data: no market data today
        < 35=3|45=7|372=V|58=Tag missing
            1 GAP REFUSED
            PROBLEM no security: the venue refuses market data: Tag missing
        < 35=j|372=D|379=P0-1|380=3|58=not about prices
        > 35=V|146=1|55=MSFT|262=P0-1|263=2|264=0|267=3|269=0|269=1|269=2
        < 35=W|262=P0-1|55=MSFT|268=1|269=0|270=10.5|271=100
    "#]]
    .assert_eq(&story.told);
}
