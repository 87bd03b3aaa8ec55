//! Market half: feed messages, and what is published from them.

use std::sync::Arc;

use domain::command::MarketData;
use domain::query::Filter;
use domain::reference::OptionRight;
use domain::{
    BarSize, BookLevel, Event, Mark, OrderBook, Price, PriceGap, Quantity, ReferenceData, SecurityId, SecurityKind,
    StaleCause, Tick, Timestamp, Trade,
};
use expect_test::{Expect, expect};

use super::MarketState;
use crate::outbox::Outbox;
use crate::samples;

const STOCK: SecurityId = SecurityId(1);

struct MarketFixture {
    market: MarketState,
    now: Timestamp,
}

impl Default for MarketFixture {
    fn default() -> Self {
        let expiration = "2027-03-19".parse().unwrap();
        let kinds = [
            SecurityKind::Stock,
            SecurityKind::Option { expiration, strike: Price::from(1), right: OptionRight::Put },
            SecurityKind::Commodity,
        ];
        let mut reference = ReferenceData::default();
        for (id, kind) in (1..).zip(kinds) {
            reference.securities.insert(SecurityId(id), Arc::new(samples::security(id, kind, "USD", "1")));
        }
        let mut market = MarketState::default();
        market.register_securities(&reference);
        Self { market, now: Timestamp::default() }
    }
}

impl MarketFixture {
    fn tell(&mut self, story: &str) -> String {
        let lines = story.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(|line| self.line(line)).collect()
    }

    /// `<seconds> tick|trade|book|gap <security> …`, `<seconds> clock` or `<seconds> open|closed`, which looks for silence.
    fn line(&mut self, line: &str) -> String {
        let (seconds, said) = line.split_once(' ').unwrap();
        let millis = seconds.parse::<f64>().unwrap() * 1_000.0;
        #[allow(clippy::cast_possible_truncation)] // a story lasts hours at most
        let now = Timestamp::default().plus_millis(millis as i64);
        self.now = now;
        let (mut out, dropped) = (Outbox::default(), self.market.dropped());
        match said {
            "clock" => self.market.advance(now, &mut out),
            "open" | "closed" => self.market.flag_silent_feeds(now, |_| said == "open", &mut out),
            said => self.market.apply(&data(said, now), now, &mut out),
        }
        let verdict = if self.market.dropped() > dropped { "    dropped\n" } else { "" };
        let events: String = out.events.iter().map(|event| format!("    {}\n", shown(event))).collect();
        format!("{line}\n{verdict}{events}")
    }
}

fn data(said: &str, at: Timestamp) -> MarketData {
    let mut words = said.split(' ');
    let (what, security) = (words.next().unwrap(), SecurityId(words.next().unwrap().parse().unwrap()));
    let rest: Vec<&str> = words.collect();
    match what {
        "tick" => MarketData::Tick(tick(security, &rest, at)),
        "trade" => MarketData::Trade(Trade {
            security,
            feed: "sim".into(),
            at,
            quantity: rest[0].parse().unwrap(),
            price: rest[2].parse().unwrap(),
            aggressor: None,
            ext_id: None,
        }),
        "gap" => MarketData::Gap(PriceGap {
            security,
            feed: rest[0].into(),
            cause: StaleCause::ALL.into_iter().find(|cause| cause.name() == rest[1]).unwrap(),
        }),
        _ => MarketData::Book(book(security, &rest, at)),
    }
}

fn tick(security: SecurityId, words: &[&str], at: Timestamp) -> Tick {
    let after = |report: &str| words.iter().position(|known| *known == report).map(|place| words[place + 1]);
    let price = |report| after(report).map(|text| text.parse::<Price>().unwrap());
    let quantity = |report| after(report).map(|text| text.parse::<Quantity>().unwrap());
    Tick {
        security,
        feed: "sim".into(),
        at,
        last: price("last"),
        last_at: None,
        vol_last: quantity("vol-last"),
        bid: price("bid"),
        ask: price("ask"),
        vol_bid: quantity("vol-bid"),
        vol_ask: quantity("vol-ask"),
        vol: quantity("vol"),
        stale: None,
    }
}

/// `5@9.9 7@9.8 | 4@10.1`
fn book(security: SecurityId, words: &[&str], at: Timestamp) -> OrderBook {
    let level = |report: &&str| {
        let (quantity, price) = report.split_once('@').unwrap();
        BookLevel { price: price.parse().unwrap(), quantity: quantity.parse().unwrap() }
    };
    let mut sides = words.split(|report| *report == "|").map(|side| side.iter().map(level).collect::<Vec<_>>());
    OrderBook { security, feed: "sim".into(), at, bids: sides.next().unwrap(), asks: sides.next().unwrap() }
}

fn text<T: ToString>(value: Option<T>) -> String {
    value.map_or("-".into(), |value| value.to_string())
}

fn shown(event: &Event) -> String {
    match event {
        Event::Tick(tick) => format!(
            "tick {}: last {} x {}, bid {} x {}, ask {} x {}, vol {}{}",
            tick.security,
            text(tick.last),
            text(tick.vol_last),
            text(tick.bid),
            text(tick.vol_bid),
            text(tick.ask),
            text(tick.vol_ask),
            text(tick.vol),
            tick.stale.map_or(String::new(), |cause| format!(", stale: {}", cause.name())),
        ),
        Event::Trade(trade) => format!("trade {}: {} @ {}", trade.security, trade.quantity, trade.price),
        Event::Book(book) => format!("book {}: {} bids, {} asks", book.security, book.bids.len(), book.asks.len()),
        Event::Bar(bar) => format!(
            "bar {} {} from {}: {} {} {} {}, vol {} at {}",
            bar.security,
            bar.size.name(),
            bar.at,
            bar.open,
            bar.high,
            bar.low,
            bar.close,
            bar.vol,
            text(bar.vwap),
        ),
        other => panic!("a market does not publish {other:?}"),
    }
}

#[track_caller]
fn check(story: &str, expected: Expect) {
    expected.assert_eq(&MarketFixture::default().tell(story));
}

#[test]
fn what_a_feed_leaves_out_keeps_its_last_value() {
    check(
        "
        0 tick 1 bid 9.9 ask 10.1 vol-bid 5
        0.1 tick 1 last 10 vol-last 3
        0.2 tick 1 bid 9.8 vol 300
        ",
        expect![[r#"
            0 tick 1 bid 9.9 ask 10.1 vol-bid 5
                tick 1: last - x -, bid 9.9 x 5, ask 10.1 x -, vol -
            0.1 tick 1 last 10 vol-last 3
                tick 1: last 10 x 3, bid 9.9 x 5, ask 10.1 x -, vol -
            0.2 tick 1 bid 9.8 vol 300
                tick 1: last 10 x 3, bid 9.8 x 5, ask 10.1 x -, vol 300
        "#]],
    );
}

#[test]
fn trades_and_books_update_the_tick_and_publish_it_once() {
    check(
        "
        0 book 1 5@9.9 7@9.8 | 4@10.1
        0.1 tick 1 bid 9.9 ask 10.1
        0.2 trade 1 2 @ 10.1
        0.3 book 1 5@9.9 | 2@10.1
        0.4 book 1 5@9.9 6@9.7 | 2@10.1
        0.5 book 1 | 2@10.1
        ",
        expect![[r#"
            0 book 1 5@9.9 7@9.8 | 4@10.1
                book 1: 2 bids, 1 asks
                tick 1: last - x -, bid 9.9 x 5, ask 10.1 x 4, vol -
            0.1 tick 1 bid 9.9 ask 10.1
                tick 1: last - x -, bid 9.9 x 5, ask 10.1 x 4, vol -
            0.2 trade 1 2 @ 10.1
                trade 1: 2 @ 10.1
                tick 1: last 10.1 x 2, bid 9.9 x 5, ask 10.1 x 4, vol -
            0.3 book 1 5@9.9 | 2@10.1
                book 1: 1 bids, 1 asks
                tick 1: last 10.1 x 2, bid 9.9 x 5, ask 10.1 x 2, vol -
            0.4 book 1 5@9.9 6@9.7 | 2@10.1
                book 1: 2 bids, 1 asks
            0.5 book 1 | 2@10.1
                book 1: 0 bids, 1 asks
                tick 1: last 10.1 x 2, bid - x -, ask 10.1 x 2, vol -
        "#]],
    );
}

#[test]
fn nonsense_is_counted_and_dropped_but_a_crossed_quote_passes() {
    check(
        "
        0 tick 9 bid 1
        0 tick 1 bid 0
        0 tick 1 bid -1 ask 2
        0 tick 1 bid 1 vol-bid -1
        0 trade 1 0 @ 10
        0 trade 1 5 @ 0
        0 book 1 5@9 5@10 | 4@11
        0 book 1 5@9 | 4@11 4@11
        0 book 1 0@9 | 4@11
        0 tick 1 bid 11 ask 10
        0 tick 2 bid 0 ask 0.05
        0 tick 2 bid -0.01
        0 tick 3 bid -37 ask -36
        ",
        expect![[r#"
            0 tick 9 bid 1
                dropped
            0 tick 1 bid 0
                dropped
            0 tick 1 bid -1 ask 2
                dropped
            0 tick 1 bid 1 vol-bid -1
                dropped
            0 trade 1 0 @ 10
                dropped
            0 trade 1 5 @ 0
                dropped
            0 book 1 5@9 5@10 | 4@11
                dropped
            0 book 1 5@9 | 4@11 4@11
                dropped
            0 book 1 0@9 | 4@11
                dropped
            0 tick 1 bid 11 ask 10
                tick 1: last - x -, bid 11 x -, ask 10 x -, vol -
            0 tick 2 bid 0 ask 0.05
                tick 2: last - x -, bid 0 x -, ask 0.05 x -, vol -
            0 tick 2 bid -0.01
                dropped
            0 tick 3 bid -37 ask -36
                tick 3: last - x -, bid -37 x -, ask -36 x -, vol -
        "#]],
    );
}

#[test]
fn a_gap_marks_the_known_prices_until_whole_ones_come() {
    check(
        "
        0 gap 1 sim REFUSED
        0 book 1 5@9.9 | 4@10.1
        1 gap 1 other DISCONNECTED
        1 gap 1 sim MISSED_UPDATES
        1 gap 1 sim MISSED_UPDATES
        2 tick 1 bid 9.8
        2 trade 1 1 @ 9.8
        3 gap 1 sim DISCONNECTED
        4 book 1 5@9.9 | 4@10.1
        5 tick 2 last 3
        6 gap 2 sim DISCONNECTED
        7 tick 2 last 4
        7 tick 2 bid 3 ask 4
        8 gap 2 sim DISCONNECTED
        9 tick 2 last 4
        9 tick 2 bid 3.5
        ",
        expect![[r#"
            0 gap 1 sim REFUSED
            0 book 1 5@9.9 | 4@10.1
                book 1: 1 bids, 1 asks
                tick 1: last - x -, bid 9.9 x 5, ask 10.1 x 4, vol -
            1 gap 1 other DISCONNECTED
            1 gap 1 sim MISSED_UPDATES
                tick 1: last - x -, bid 9.9 x 5, ask 10.1 x 4, vol -, stale: MISSED_UPDATES
            1 gap 1 sim MISSED_UPDATES
            2 tick 1 bid 9.8
                tick 1: last - x -, bid 9.8 x 5, ask 10.1 x 4, vol -, stale: MISSED_UPDATES
            2 trade 1 1 @ 9.8
                trade 1: 1 @ 9.8
                tick 1: last 9.8 x 1, bid 9.8 x 5, ask 10.1 x 4, vol -, stale: MISSED_UPDATES
            3 gap 1 sim DISCONNECTED
                tick 1: last 9.8 x 1, bid 9.8 x 5, ask 10.1 x 4, vol -, stale: DISCONNECTED
            4 book 1 5@9.9 | 4@10.1
                book 1: 1 bids, 1 asks
                tick 1: last 9.8 x 1, bid 9.9 x 5, ask 10.1 x 4, vol -
            5 tick 2 last 3
                tick 2: last 3 x -, bid - x -, ask - x -, vol -
            6 gap 2 sim DISCONNECTED
                tick 2: last 3 x -, bid - x -, ask - x -, vol -, stale: DISCONNECTED
            7 tick 2 last 4
                bar 2 SEC_1 from 1970-01-01T00:00:05Z: 3 3 3 3, vol 0 at -
                tick 2: last 4 x -, bid - x -, ask - x -, vol -
            7 tick 2 bid 3 ask 4
                tick 2: last 4 x -, bid 3 x -, ask 4 x -, vol -
            8 gap 2 sim DISCONNECTED
                tick 2: last 4 x -, bid 3 x -, ask 4 x -, vol -, stale: DISCONNECTED
            9 tick 2 last 4
                bar 2 SEC_1 from 1970-01-01T00:00:07Z: 4 4 4 4, vol 0 at -
                tick 2: last 4 x -, bid 3 x -, ask 4 x -, vol -, stale: DISCONNECTED
            9 tick 2 bid 3.5
                tick 2: last 4 x -, bid 3.5 x -, ask 4 x -, vol -
        "#]],
    );
}

#[test]
fn a_stale_price_is_a_changed_mark() {
    let mut desk = MarketFixture::default();
    desk.tell("0 tick 1 bid 9.9 ask 10.1");
    let stale = |desk: &mut MarketFixture| desk.market.changed_marks(|_| true)[0].stale;
    assert_eq!(stale(&mut desk), None);
    desk.tell("1 gap 1 sim DISCONNECTED");
    assert_eq!(stale(&mut desk), Some(StaleCause::Disconnected));
    desk.tell("2 tick 1 bid 9.9 ask 10.1");
    assert_eq!(stale(&mut desk), None);
}

#[test]
fn a_connected_feed_that_falls_silent_is_flagged_and_any_price_ends_it() {
    let mut desk = MarketFixture::default();
    for second in 0..4_000 {
        let told = desk.tell(&format!("{second} open"));
        assert_eq!(told, format!("{second} open\n"));
        desk.tell(&format!("{second} tick 1 bid 9.9 ask 10.1"));
    }
    desk.market.changed_marks(|_| true);
    let told: String = (4_000..4_100).map(|second| desk.tell(&format!("{second} open"))).collect();
    let flagged: Vec<&str> = told.lines().skip_while(|line| !line.contains("stale")).take(1).collect();
    assert_eq!(flagged, ["    tick 1: last - x -, bid 9.9 x -, ask 10.1 x -, vol -, stale: SILENT"]);
    assert_eq!(told.matches("stale").count(), 1);
    assert_eq!(desk.market.changed_marks(|_| true)[0].stale, Some(StaleCause::Silent));
    let back = desk.tell("4200 trade 1 1 @ 10");
    assert!(!back.contains("stale"), "{back}");
}

#[test]
fn bars_close_with_the_first_price_of_the_next_span() {
    check(
        "
        0 trade 1 10 @ 10
        0.4 trade 1 30 @ 12
        0.9 trade 1 10 @ 9
        1.2 trade 1 5 @ 11
        59.5 trade 1 5 @ 13
        60 trade 1 1 @ 14
        ",
        expect![[r#"
            0 trade 1 10 @ 10
                trade 1: 10 @ 10
                tick 1: last 10 x 10, bid - x -, ask - x -, vol -
            0.4 trade 1 30 @ 12
                trade 1: 30 @ 12
                tick 1: last 12 x 30, bid - x -, ask - x -, vol -
            0.9 trade 1 10 @ 9
                trade 1: 10 @ 9
                tick 1: last 9 x 10, bid - x -, ask - x -, vol -
            1.2 trade 1 5 @ 11
                bar 1 SEC_1 from 1970-01-01T00:00:00Z: 10 12 9 9, vol 50 at 11
                trade 1: 5 @ 11
                tick 1: last 11 x 5, bid - x -, ask - x -, vol -
            59.5 trade 1 5 @ 13
                bar 1 SEC_1 from 1970-01-01T00:00:01Z: 11 11 11 11, vol 5 at 11
                trade 1: 5 @ 13
                tick 1: last 13 x 5, bid - x -, ask - x -, vol -
            60 trade 1 1 @ 14
                bar 1 SEC_1 from 1970-01-01T00:00:59Z: 13 13 13 13, vol 5 at 13
                bar 1 MIN_1 from 1970-01-01T00:00:00Z: 10 13 9 13, vol 60 at 11.166666666667
                trade 1: 1 @ 14
                tick 1: last 14 x 1, bid - x -, ask - x -, vol -
        "#]],
    );
}

#[test]
fn bars_close_by_the_clock_where_nothing_trades_any_more() {
    check(
        "
        0 trade 1 10 @ 10
        0.5 clock
        1 clock
        2 clock
        61 clock
        86400 clock
        86401 clock
        ",
        expect![[r#"
            0 trade 1 10 @ 10
                trade 1: 10 @ 10
                tick 1: last 10 x 10, bid - x -, ask - x -, vol -
            0.5 clock
            1 clock
                bar 1 SEC_1 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
            2 clock
            61 clock
                bar 1 MIN_1 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
            86400 clock
                bar 1 MIN_5 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
                bar 1 MIN_15 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
                bar 1 HOUR_1 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
                bar 1 DAY_1 from 1970-01-01T00:00:00Z: 10 10 10 10, vol 10 at 10
            86401 clock
        "#]],
    );
}

#[test]
fn what_never_trades_is_charted_by_the_middle_of_its_quote() {
    check(
        "
        0 tick 3 bid 1 ask 2
        0.5 tick 3 bid 1.5 ask 2
        1 tick 3 last 5
        1.5 tick 3 bid 1 ask 2
        2 clock
        ",
        expect![[r#"
            0 tick 3 bid 1 ask 2
                tick 3: last - x -, bid 1 x -, ask 2 x -, vol -
            0.5 tick 3 bid 1.5 ask 2
                tick 3: last - x -, bid 1.5 x -, ask 2 x -, vol -
            1 tick 3 last 5
                bar 3 SEC_1 from 1970-01-01T00:00:00Z: 1.5 1.75 1.5 1.75, vol 0 at -
                tick 3: last 5 x -, bid 1.5 x -, ask 2 x -, vol -
            1.5 tick 3 bid 1 ask 2
                tick 3: last 5 x -, bid 1 x -, ask 2 x -, vol -
            2 clock
                bar 3 SEC_1 from 1970-01-01T00:00:01Z: 5 5 5 5, vol 0 at -
        "#]],
    );
}

#[test]
fn a_quiet_spell_leaves_no_bars() {
    let mut floor = MarketFixture::default();
    floor.tell("0 trade 1 10 @ 10\n 180 trade 1 10 @ 11\n 200 clock");
    let starts = |size| floor.market.bars(STOCK, size).iter().map(|bar| bar.at.millis() / 1_000).collect::<Vec<_>>();
    assert_eq!(starts(BarSize::Sec1), [0, 180]);
    assert_eq!(starts(BarSize::Min1), [0]);
}

#[test]
fn bars_are_kept_in_bounded_number() {
    let mut floor = MarketFixture::default();
    let story: Vec<_> = (0..400).map(|second| format!("{second} trade 1 1 @ 10")).collect();
    floor.tell(&story.join("\n"));
    let kept = floor.market.bars(STOCK, BarSize::Sec1);
    assert_eq!((kept.len(), kept[0].at.millis()), (300, 99_000));
    assert_eq!(floor.market.bars(SecurityId(9), BarSize::Sec1), []);
}

#[test]
fn a_mark_is_given_once_and_waits_until_it_is_wanted() {
    let mut floor = MarketFixture::default();
    floor.tell("0 tick 1 bid 9 ask 10\n 0 tick 3 last 5\n 0.1 tick 1 bid 9.5");
    let shown =
        |marks: &[Mark]| marks.iter().map(|mark| format!("{} {}", mark.security, text(mark.bid))).collect::<Vec<_>>();
    assert_eq!(shown(&floor.market.changed_marks(|security| security == STOCK)), ["1 9.5"]);
    assert_eq!(shown(&floor.market.changed_marks(|security| security == STOCK)), [] as [&str; 0]);
    assert_eq!(shown(&floor.market.all_changed_marks(|_| true)), ["3 -"]);
    floor.tell("1 tick 1 bid 9.6");
    assert_eq!(floor.market.changed_mark(STOCK).and_then(|mark| mark.bid), Some("9.6".parse().unwrap()));
    assert_eq!(floor.market.changed_mark(STOCK), None);
    floor.tell("2 tick 1 bid 9.7");
    assert_eq!(shown(&floor.market.changed_marks(|_| true)), ["1 9.7"]);
}

#[test]
fn last_values_are_listed_by_security() {
    let mut floor = MarketFixture::default();
    floor.tell("0 tick 3 bid 1\n 0 tick 1 bid 2\n 0 book 1 1@2 | 1@3");
    let ids = |filter| floor.market.ticks(filter).iter().map(|tick| tick.security.0).collect::<Vec<_>>();
    assert_eq!(ids(Filter::default()), [1, 3]);
    assert_eq!(ids(Filter { security: Some(SecurityId(3)), ..Filter::default() }), [3]);
    assert_eq!(ids(Filter { security: Some(SecurityId(2)), ..Filter::default() }), [] as [u64; 0]);
    assert_eq!(floor.market.book(STOCK).map(|book| book.bids.len()), Some(1));
}
