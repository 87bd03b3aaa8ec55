//! Prices of a session as stories: requests and events in, whole messages out. Each message passes the dictionary of FIX 4.4.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use domain::{
    BookLevel, Event, OrderBook, PublishedEvent, ReferenceData, Security, SecurityId, StaleCause, Tick, Timestamp,
    Trade,
};
use fix::{CheckRules, Dictionary, DictionaryChecker, FixDecoder, OutgoingMessage};
use fix_net::session_queue;

use super::price_mailbox::{AsOf, PriceMailbox};
use super::price_subscriptions::PriceSubscriptions;
use super::security_watch::SecurityWatch;
use crate::limits::TRADES_WAITING_MAX;
use crate::session::reports::SessionWaker;
use crate::translate::{
    MarketDataRequest, SecurityListRequest, SecurityStatusRequest, SubscriptionKind, market_data_refused,
    security_list_part, security_list_refused, security_status, trading_status,
};

/// 2026-11-16 12:00 UTC.
const NOON: i64 = 1_794_830_400_000_000_000;
const APPLE: SecurityId = SecurityId(1);

/// A session with its mailbox, without a socket and an engine.
struct PriceStory {
    reference: ReferenceData,
    prices: PriceSubscriptions,
    mailbox: PriceMailbox,
    sequence: u64,
}

impl PriceStory {
    fn new() -> Self {
        let waker = SessionWaker { handle: session_queue().0, notified: Arc::default() };
        Self {
            reference: reference(),
            prices: PriceSubscriptions::new(3),
            mailbox: PriceMailbox::new(waker),
            sequence: 10,
        }
    }

    fn request(&mut self, text: &str) -> Vec<String> {
        let frame = wire(text);
        let mut decoder = FixDecoder::new();
        let message = decoder.decode(&frame).unwrap();
        if let Some(fault) = MarketDataRequest::fault_in(&message) {
            return vec![format!("3 {:?}", fault.tag)];
        }
        let step =
            MarketDataRequest::from_message(&message, &self.reference).and_then(|request| match request.subscription {
                SubscriptionKind::End => self.prices.end(&request.id),
                SubscriptionKind::Snapshot | SubscriptionKind::Updates => self.prices.add(&request, 0, &self.reference),
            });
        match step {
            Ok(step) => shown(&step.messages),
            Err(refusal) => shown(&[market_data_refused(message.text(262).unwrap(), &refusal)]),
        }
    }

    /// The engine's answer, as of now.
    fn load(&mut self, tick: Option<Tick>, book: Option<OrderBook>) -> Vec<String> {
        let sequence = self.sequence;
        let tick = tick.map(|tick| AsOf { sequence, value: Arc::new(tick) });
        let book = book.map(|book| AsOf { sequence, value: Arc::new(book) });
        self.mailbox.put_loaded(APPLE, tick, book, sequence);
        self.look()
    }

    fn event(&mut self, event: Event) {
        self.sequence += 1;
        self.put_at(self.sequence, event);
    }

    fn put_at(&mut self, sequence: u64, event: Event) {
        self.mailbox.put(&PublishedEvent { sequence, at: Timestamp(NOON), event });
    }

    fn tick(&mut self, tick: Tick) -> Vec<String> {
        self.event(Event::Tick(Arc::new(tick)));
        self.look()
    }

    /// What the session says when it is its turn.
    fn look(&mut self) -> Vec<String> {
        let news = self.mailbox.take(usize::MAX);
        let steps = news.prices.into_iter().map(|(security, news)| self.prices.apply(security, news));
        steps.flat_map(|step| shown(&step.messages)).collect()
    }
}

fn reference() -> ReferenceData {
    let mut reference = ReferenceData::default();
    reference.exchanges.insert(samples::EXCHANGE, Arc::new(samples::exchange()));
    let limits = |security: Security| Security { min_qty: Some(1.into()), max_qty: Some(500.into()), ..security };
    let apple = Security { isin: Some("US0378331005".into()), ..limits(samples::stock(1, "AAPL")) };
    for security in [apple, samples::stock(2, "MSFT"), Security { tradeable: false, ..samples::stock(3, "GONE") }] {
        reference.securities.insert(security.id, Arc::new(security));
    }
    reference
}

fn quote(bid: Option<i64>, ask: Option<i64>) -> Tick {
    Tick {
        feed: "F".into(),
        at: Timestamp(NOON),
        bid: bid.map(Into::into),
        vol_bid: bid.map(|_| 5.into()),
        ask: ask.map(Into::into),
        vol_ask: ask.map(|_| 7.into()),
        ..Tick::empty(APPLE)
    }
}

fn book(bids: &[(i64, i64)], asks: &[(i64, i64)]) -> OrderBook {
    let levels = |side: &[(i64, i64)]| {
        side.iter().map(|(price, size)| BookLevel { price: (*price).into(), quantity: (*size).into() }).collect()
    };
    OrderBook { security: APPLE, feed: "F".into(), at: Timestamp(NOON), bids: levels(bids), asks: levels(asks) }
}

fn trade(price: i64, id: Option<&str>) -> Event {
    Event::Trade(Arc::new(Trade {
        security: APPLE,
        feed: "F".into(),
        at: Timestamp(NOON),
        price: price.into(),
        quantity: 2.into(),
        aggressor: None,
        ext_id: id.map(Into::into),
    }))
}

fn wire(text: &str) -> Vec<u8> {
    let text = format!("35={text}|").replacen('|', "|34=2|49=C|52=20261116-12:00:00|56=R|", 1);
    let body = text.replace('|', "\x01");
    let mut message = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = message.bytes().fold(0_u8, u8::wrapping_add);
    message += &format!("10={sum:03}\x01");
    message.into_bytes()
}

/// Type and fields as on the wire; the time of an entry is noon and is left out.
fn shown(messages: &[OutgoingMessage]) -> Vec<String> {
    let text = |message: &OutgoingMessage| {
        let fields = message.fields_in_order();
        let fields = fields.iter().map(|(tag, value)| format!("|{tag}={}", String::from_utf8_lossy(value)));
        let text = String::from_utf8_lossy(message.msg_type()).into_owned() + &fields.collect::<String>();
        let text = text.replace('\x01', "|");
        check(&text);
        text.replace("|272=20261116|273=12:00:00.000", "")
    };
    messages.iter().map(text).collect()
}

fn check(text: &str) {
    static FIX44: OnceLock<Dictionary> = OnceLock::new();
    let frame = wire(text);
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(&frame).unwrap();
    let dictionary = FIX44.get_or_init(Dictionary::fix44_with_extensions);
    assert_eq!(DictionaryChecker::default().check(dictionary, CheckRules::default(), &message), Ok(()), "{text}");
}

const NOTHING: [&str; 0] = [];

#[test]
fn the_best_prices_are_a_snapshot_and_then_what_changes() {
    let mut story = PriceStory::new();
    assert_eq!(story.request("V|262=p|263=1|264=1|265=1|267=2|269=0|269=1|146=1|55=AAPL"), NOTHING);
    let first = "W|48=1|55=AAPL|262=p|268=2|269=0|270=98|271=5|276=A|269=1|270=100|271=7|276=A";
    assert_eq!(story.load(Some(quote(Some(98), Some(100))), None), [first]);
    assert_eq!(story.tick(quote(Some(98), Some(100))), NOTHING);
    let moved = "X|262=p|268=2|279=2|269=0|55=AAPL|48=1|270=98|279=0|269=0|55=AAPL|48=1|270=99|271=5|276=A";
    assert_eq!(story.tick(quote(Some(99), Some(100))), [moved]);
    assert_eq!(story.tick(quote(None, Some(100))), ["X|262=p|268=1|279=2|269=0|55=AAPL|48=1|270=99"]);
    let larger = Tick { vol_ask: Some(9.into()), ..quote(None, Some(100)) };
    assert_eq!(story.tick(larger), ["X|262=p|268=1|279=1|269=1|55=AAPL|48=1|270=100|271=9|276=A"]);
    assert_eq!(story.request("V|262=p|263=2"), NOTHING);
    assert_eq!(story.tick(quote(Some(97), Some(100))), NOTHING);
}

#[test]
fn a_price_that_may_be_old_says_so_and_a_live_one_says_that() {
    let mut story = PriceStory::new();
    story.request("V|262=p|263=1|264=0|265=1|267=1|269=0|146=1|55=AAPL");
    let stale = Tick { stale: Some(StaleCause::Disconnected), ..quote(Some(98), Some(100)) };
    let old = "276=B|58=DISCONNECTED: the connection to the feed was lost";
    let loaded = story.load(Some(stale.clone()), Some(book(&[(98, 5), (97, 4)], &[(100, 7)])));
    assert_eq!(loaded, [format!("W|48=1|55=AAPL|262=p|268=2|269=0|270=98|271=5|{old}|269=0|270=97|271=4|{old}")]);
    let live = "X|262=p|268=2|279=1|269=0|55=AAPL|48=1|270=98|271=5|276=A|279=1|269=0|55=AAPL|48=1|270=97|271=4|276=A";
    assert_eq!(story.tick(quote(Some(98), Some(100))), [live]);
    let told = story.tick(stale);
    assert_eq!(told, [live.replace("276=A", old)]);
}

#[test]
fn a_book_has_as_many_levels_as_were_asked_for_and_whole_ones_come_again_whole() {
    let mut story = PriceStory::new();
    story.request("V|262=two|263=1|264=2|265=0|267=2|269=0|269=1|146=1|48=1");
    let deep = book(&[(98, 1), (97, 2), (96, 3)], &[(100, 4)]);
    let whole = |rest: &str| format!("W|48=1|55=AAPL|262=two|268=3|269=0|270=98|271=1|276=A|{rest}|276=A");
    let first = whole("269=0|270=97|271=2|276=A|269=1|270=100|271=4");
    assert_eq!(story.load(Some(quote(Some(98), Some(100))), Some(deep.clone())), [first]);
    story.event(Event::Book(Arc::new(book(&[(98, 1), (97, 2), (95, 3)], &[(100, 4)]))));
    assert_eq!(story.look(), NOTHING, "the third level is not shown");
    story.event(Event::Book(Arc::new(book(&[(98, 1), (97, 9)], &[(100, 4)]))));
    assert_eq!(story.look(), [whole("269=0|270=97|271=9|276=A|269=1|270=100|271=4")]);
    // A second request is answered from what is known.
    let all = story.request("V|262=all|263=0|264=0|267=1|269=1|146=1|55=AAPL");
    assert_eq!(all, ["W|48=1|55=AAPL|262=all|268=1|269=1|270=100|271=4|276=A"]);
    assert_eq!(story.request("V|262=all|263=2"), ["Y|58=unknown-request: no request has MDReqID (262) all|262=all"]);
}

#[test]
fn trades_are_told_once_and_those_of_before_the_snapshot_are_its_last() {
    let mut story = PriceStory::new();
    story.request("V|262=t|263=1|264=1|265=1|267=1|269=2|146=1|55=AAPL");
    story.event(trade(98, None));
    assert_eq!(story.look(), NOTHING, "the engine has not answered yet");
    let last = Tick { last: Some(98.into()), last_at: Some(Timestamp(NOON)), ..quote(None, None) };
    assert_eq!(story.load(Some(last.clone()), None), ["W|48=1|55=AAPL|262=t|268=1|269=2|270=98"]);
    story.event(trade(99, Some("T7")));
    story.event(trade(100, None));
    let told = "X|262=t|268=2|279=0|269=2|278=T7|55=AAPL|48=1|270=99|271=2|279=0|269=2|55=AAPL|48=1|270=100|271=2";
    assert_eq!(story.look(), [told]);
    story.put_at(5, trade(97, None));
    assert_eq!(story.look(), NOTHING, "it came late and is part of the snapshot");
}

#[test]
fn a_client_that_does_not_read_gets_the_newest_and_the_newest_trades() {
    let mut story = PriceStory::new();
    story.request("V|262=s|263=1|264=1|265=1|267=3|269=0|269=1|269=2|146=1|55=AAPL");
    story.load(Some(quote(Some(1), Some(5_000))), None);
    for price in 2..=1_000 {
        story.event(Event::Tick(Arc::new(quote(Some(price), Some(5_000)))));
        story.event(trade(price, None));
    }
    let told = story.look();
    let [refresh] = &told[..] else { panic!("one message: {told:?}") };
    assert_eq!(refresh.matches("|269=2|").count(), TRADES_WAITING_MAX);
    let quotes =
        "X|262=s|268=66|279=2|269=0|55=AAPL|48=1|270=1|279=0|269=0|55=AAPL|48=1|270=1000|271=5|276=A|279=0|269=2|";
    assert!(refresh.starts_with(quotes), "{refresh}");
}

#[test]
fn an_answer_of_the_engine_that_is_older_than_an_event_does_not_undo_it() {
    let mut story = PriceStory::new();
    story.request("V|262=p|263=1|264=1|265=1|267=1|269=0|146=1|55=AAPL");
    story.put_at(12, Event::Tick(Arc::new(quote(Some(99), None))));
    assert_eq!(story.look(), NOTHING);
    story.sequence = 11;
    let answered = story.load(Some(quote(Some(98), None)), None);
    assert_eq!(answered, ["W|48=1|55=AAPL|262=p|268=1|269=0|270=99|271=5|276=A"]);
    assert_eq!(story.tick(quote(None, None)), ["X|262=p|268=1|279=2|269=0|55=AAPL|48=1|270=99"]);
    // Without a price there is an empty book.
    let mut story = PriceStory::new();
    story.request("V|262=p|263=0|264=1|267=1|269=0|146=1|55=AAPL");
    assert_eq!(story.load(None, None), ["W|48=1|55=AAPL|262=p|268=0"]);
}

#[test]
fn a_request_that_cannot_be_met_is_refused_with_the_field_and_the_reason() {
    let mut story = PriceStory::new();
    story.request("V|262=used|263=1|264=1|267=1|269=0|146=1|55=AAPL");
    let rest = "267=1|269=0|146=1|55=AAPL";
    for (request, answer) in [
        (
            "262=a|263=1|264=1|267=1|269=0|146=2|55=AAPL|55=NOPE",
            "Y|58=unknown-security: Symbol (55) NOPE is not known|262=a|281=0",
        ),
        (
            "262=a|263=1|264=1|267=1|269=0|146=1|55=MSFT|48=1",
            "Y|58=security-ambiguous: SecurityID (48) 1 is AAPL, but Symbol (55) is MSFT|262=a|281=0",
        ),
        (
            &format!("262=used|263=1|264=1|{rest}"),
            "Y|58=duplicate-request: MDReqID (262) used is in use|262=used|281=1",
        ),
        (
            "262=a|263=1|264=1|267=1|269=0|146=3|48=1|48=2|48=3",
            "Y|58=too-many-subscriptions: more than 3 securities of all requests (MaxSubscriptions)|262=a|281=2",
        ),
        (
            &format!("262=a|263=7|264=1|{rest}"),
            "Y|58=bad-field: SubscriptionRequestType (263) 7 is not 0, 1 or 2|262=a|281=4",
        ),
        (
            &format!("262=a|263=1|264=21|{rest}"),
            "Y|58=bad-field: MarketDepth (264) 21 is not 0 (all levels), 1 (best prices) or a number of levels up to \
             20|262=a|281=5",
        ),
        (
            &format!("262=a|263=1|264=1|265=2|{rest}"),
            "Y|58=bad-field: MDUpdateType (265) 2 is not 0 (whole books) or 1 (changes)|262=a|281=6",
        ),
        (
            &format!("262=a|263=1|264=1|266=N|{rest}"),
            "Y|58=not-offered: AggregatedBook (266) is Y: the entries of a book are prices, not orders|262=a|281=7",
        ),
        (
            "262=a|263=1|264=1|267=1|269=7|146=1|55=AAPL",
            "Y|58=bad-field: MDEntryType (269) 7 is not 0 (bid), 1 (offer) or 2 (trade)|262=a|281=8",
        ),
        (
            &format!("262=a|263=1|264=1|{rest}|386=1|336=1"),
            "Y|58=not-offered: NoTradingSessions (386) is not offered|262=a|281=9",
        ),
        (&format!("262=a|263=1|264=1|546=1|{rest}"), "Y|58=not-offered: Scope (546) is not offered|262=a|281=A"),
        (
            &format!("262=a|263=1|264=1|286=1|{rest}"),
            "Y|58=not-offered: OpenCloseSettlFlag (286) is not offered|262=a|281=B",
        ),
        (
            &format!("262=a|263=1|264=1|547=Y|{rest}"),
            "Y|58=not-offered: MDImplicitDelete (547) is N: an entry that leaves the book is deleted|262=a|281=C",
        ),
        ("262=gone|263=2", "Y|58=unknown-request: no request has MDReqID (262) gone|262=gone"),
        (&format!("263=1|264=1|{rest}"), "3 Some(262)"),
        ("262=a|263=1|264=1|267=1|269=0", "3 Some(146)"),
    ] {
        assert_eq!(story.request(&format!("V|{request}")), [answer], "{request}");
    }
    let many: String = (0..=500).map(|_| "|48=1").collect();
    let told = story.request(&format!("V|262=a|263=1|264=1|267=1|269=0|146=501{many}"));
    assert_eq!(told, ["Y|58=too-many-securities: more than 500 securities in one request|262=a|281=2"]);
}

fn list(text: &str) -> Vec<String> {
    let (frame, reference) = (wire(text), reference());
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(&frame).unwrap();
    if let Some(fault) = SecurityListRequest::fault_in(&message) {
        return vec![format!("3 {:?}", fault.tag)];
    }
    match SecurityListRequest::from_message(&message, &reference) {
        Err(result) => shown(&[security_list_refused("l", "L1", result)]),
        Ok(request) => {
            let all = request.securities(&reference);
            shown(&[security_list_part(&request, "L1", (&all, all.len(), true), &reference)])
        }
    }
}

#[test]
fn securities_are_listed_all_one_or_by_type() {
    let apple = "55=AAPL|48=1|454=1|455=US0378331005|456=4|167=CS|231=1|15=USD|561=1|562=1";
    let (microsoft, gone) = ("55=MSFT|48=2|167=CS|231=1|15=USD|561=1", "55=GONE|48=3|167=CS|231=1|15=USD|561=1");
    let of = |count: usize, rows: &str| format!("y|146={count}|{rows}|320=l|322=L1|393={count}|560=0|893=Y");
    assert_eq!(list("x|320=l|559=4"), [of(3, &format!("{apple}|{microsoft}|{gone}"))]);
    assert_eq!(list("x|320=l|559=0|55=MSFT"), [of(1, microsoft)]);
    assert_eq!(list("x|320=l|559=0|55=AAPL|7006=Y"), [of(1, &format!("{apple}|969=0.01|1140=500"))]);
    assert_eq!(list("x|320=l|559=1|167=CS"), list("x|320=l|559=4"));
    assert_eq!(list("x|320=l|559=1|167=OPT"), ["y|320=l|322=L1|393=0|560=2|893=Y"]);
    assert_eq!(list("x|320=l|559=0|55=NOPE"), ["y|320=l|322=L1|560=2"]);
    assert_eq!(list("x|320=l|559=2"), ["y|320=l|322=L1|560=1"]);
    assert_eq!((list("x|559=4"), list("x|320=l")), (vec!["3 Some(320)".into()], vec!["3 Some(559)".into()]));
}

#[test]
fn the_status_of_a_security_is_told_and_its_changes_are() {
    let mut reference = reference();
    let frame = wire("e|324=s|263=1|55=AAPL");
    let mut decoder = FixDecoder::new();
    let request = SecurityStatusRequest::from_message(&decoder.decode(&frame).unwrap(), &reference).unwrap();
    let (security, status) = (request.security.unwrap(), trading_status(APPLE, &reference));
    let told = security_status(&request.id, &security, status, false);
    assert_eq!(shown(&[told]), ["f|48=1|55=AAPL|324=s|325=N|326=17"]);
    let mut watch = SecurityWatch::default();
    watch.add("s", security, status);
    assert_eq!(shown(&watch.changes(None, &reference)), NOTHING);
    let halted = Security { tradeable: false, ..samples::stock(1, "AAPL") };
    reference.securities.insert(APPLE, Arc::new(halted));
    assert_eq!(shown(&watch.changes(Some(&BTreeSet::from([SecurityId(2)])), &reference)), NOTHING);
    let changed = watch.changes(Some(&BTreeSet::from([APPLE])), &reference);
    assert_eq!(shown(&changed), ["f|48=1|55=AAPL|324=s|325=Y|326=18"]);
    reference.securities.remove(&APPLE);
    assert_eq!(shown(&watch.changes(None, &reference)), ["f|48=1|55=AAPL|324=s|325=Y|326=19"]);
    assert!(watch.end("s") && !watch.end("s"));
}
