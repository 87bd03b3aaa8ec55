//! Test client of the venue: commands and reports as text.
//!
//! `[+days] HH:MM[:SS] command`, on Monday 2026-11-16 and after. The exchange trades on workdays from 09:00 to 17:00
//! UTC, with an opening call of ten minutes and a closing call of five.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

use domain::command::MarketData;
use domain::order::OrderTerms;
use domain::reference::TradingHours;
use domain::report::{
    InquiryAnswer, InquiryResult, ReportKind, VenueFill, VenueOrder, VenueOrderState, VenueSnapshot, VenueStatement,
};
use domain::{
    AccountId, AdapterName, BookLevel, Exchange, Liquidity, Order, OrderId, OrderKind, OrderProperties, Price,
    Quantity, Security, SecurityId, SecurityKind, Side, TimeInForce, Timestamp,
};
use venue_sim::record::VenueTrade;
use venue_sim::{
    Faults, ListedSecurity, OpeningQuotes, ParticipantActivity, ReplaceHalf, SelfTradeRule, TradeRevision, UnitCosts,
    VenueConfig, VenueOutput, VenueRecord, VenueSimulator,
};

/// 2026-11-16T00:00:00Z, a Monday.
pub(crate) const MONDAY: i64 = 1_794_787_200_000_000_000;
pub(crate) const SECOND: i64 = 1_000_000_000;
pub(crate) const DAY: i64 = 86_400 * SECOND;

pub(crate) const STOCK: SecurityId = SecurityId(1);
pub(crate) const INDEX: SecurityId = SecurityId(2);
/// Its last day is Tuesday.
pub(crate) const FUTURE: SecurityId = SecurityId(3);

pub(crate) struct VenueClient {
    pub(crate) venue: VenueSimulator,
    pub(crate) config: VenueConfig,
    pub(crate) ledger: Vec<VenueRecord>,
    orders: BTreeMap<OrderId, Order>,
    now: Timestamp,
}

/// Runs a script; an indented line of the output was caused by the line above.
pub(crate) fn run_story(config: VenueConfig, story: &str) -> String {
    VenueClient::new(config, at("08:00")).run(story)
}

impl VenueClient {
    pub(crate) fn new(config: VenueConfig, now: Timestamp) -> Self {
        let venue = VenueSimulator::new(config.clone(), now).unwrap();
        Self { venue, config, ledger: Vec::new(), orders: BTreeMap::new(), now }
    }

    pub(crate) fn run(&mut self, story: &str) -> String {
        let mut told = String::new();
        for line in story.lines().map(str::trim).filter(|line| !line.is_empty()) {
            writeln!(told, "{line}").unwrap();
            for answer in self.command(line) {
                writeln!(told, "    {answer}").unwrap();
            }
        }
        told
    }

    fn command(&mut self, line: &str) -> Vec<String> {
        let mut words: Vec<_> = line.split_whitespace().collect();
        let days = if words[0].starts_with('+') { words.remove(0).parse::<i64>().unwrap() } else { 0 };
        self.now = Timestamp(at(words.remove(0)).0 + days * DAY);
        let mut out = Vec::new();
        let (command, words) = (words[0], &words[1..]);
        let answers = match command {
            "restart" => self.restart(),
            "picture" => snapshot_lines(&self.venue.snapshot()),
            "halt" => vec![format!("{}", self.venue.halt(security(words[0])))],
            "resume" => vec![format!("{}", self.venue.resume(security(words[0])))],
            "book" => self.book(security(words[0])),
            "faults" => self.set_faults(words),
            request => {
                self.request(request, words, &mut out);
                Vec::new()
            }
        };
        answers.into_iter().chain(self.report_lines(out)).collect()
    }

    fn request(&mut self, request: &str, words: &[&str], out: &mut Vec<VenueOutput>) {
        match request {
            "submit" => {
                let order = order(words, self.now);
                self.venue.submit(self.now, &order, out);
                self.orders.entry(order.id).or_insert(order);
            }
            "replace" => {
                let id = id(words[0]);
                let order = self.orders.get(&id).cloned().unwrap_or_else(|| blank_order(id));
                self.venue.replace(self.now, &order, terms(words[1], &words[2..]), out);
            }
            "cancel" => self.venue.cancel(self.now, id(words[0]), out),
            "cancel-leg" => self.venue.cancel_leg(self.now, id(words[0]), &words[1].into(), out),
            "open" => self.venue.list_open_orders(self.now, out),
            "fills" => self.venue.list_fills(self.now, words.first().map(|cursor| (*cursor).into()).as_ref(), out),
            "ask" => self.venue.inquire(self.now, id(words[0]), out),
            "open-accounts" => self.venue.open_accounts(self.now, out),
            "state" => self.venue.ask_statement(self.now, AccountId(words[0].parse().unwrap()), out),
            "bust" => self.venue.revise(self.now, TradeRevision::Bust(words[0].parse().unwrap()), out),
            "correct" => self.venue.revise(self.now, TradeRevision::Correct(words[0].parse().unwrap()), out),
            "tell-again" => self.venue.revise(self.now, TradeRevision::Repeat, out),
            "wait" => self.venue.advance(self.now, out),
            "subscribe" => {
                self.venue.subscribe(security(words[0]), out);
            }
            "unsubscribe" => self.venue.unsubscribe(security(words[0])),
            other => panic!("no such command: {other}"),
        }
    }

    /// Keeps the records and formats the rest.
    pub(crate) fn report_lines(&mut self, outputs: Vec<VenueOutput>) -> Vec<String> {
        let mut lines = Vec::new();
        for output in outputs {
            match output {
                VenueOutput::Record(record) => self.ledger.push(record),
                VenueOutput::Report { said, .. } => lines.push(report_line(&said)),
                VenueOutput::Market(data) => lines.push(data_line(&data)),
            }
        }
        lines
    }

    /// The venue crashes; another one restores its ledger from bytes.
    fn restart(&mut self) -> Vec<String> {
        self.venue = VenueSimulator::new(self.config.clone(), self.now).unwrap();
        let bytes: Vec<_> = self.ledger.iter().map(|record| minicbor::to_vec(record).unwrap()).collect();
        let records = bytes.iter().map(|bytes| minicbor::decode::<VenueRecord>(bytes).unwrap());
        self.venue.restore(records, self.now);
        Vec::new()
    }

    fn book(&mut self, security: SecurityId) -> Vec<String> {
        let mut out = Vec::new();
        self.venue.subscribe(security, &mut out);
        self.venue.unsubscribe(security);
        self.report_lines(out)
    }

    fn set_faults(&mut self, words: &[&str]) -> Vec<String> {
        let mut faults = Faults { seed: 1, ..Faults::default() };
        for word in words {
            let (name, number) = word.split_once('=').unwrap_or((word, "1"));
            let number: u32 = number.parse().unwrap();
            match name {
                "none" => {}
                "reject" => faults.reject_every = number,
                "delay-seconds" => faults.delay_nanos = i64::from(number) * SECOND,
                "duplicate" => faults.duplicate_one_in = number,
                "drop" => faults.drop_one_in = number,
                "reorder" => faults.reorder_one_in = number,
                "lose" => faults.lose_one_in = number,
                "late" => faults.late_one_in = number,
                "strangers" => faults.strangers_every = number,
                "disconnect" => faults.disconnected = true,
                "mute" => faults.muted = true,
                "half-canceled" => faults.replace_half = Some(ReplaceHalf::Canceled),
                "half-placed" => faults.replace_half = Some(ReplaceHalf::Placed),
                "half-nothing" => faults.replace_half = Some(ReplaceHalf::Neither),
                other => panic!("no such fault: {other}"),
            }
        }
        self.venue.set_faults(faults);
        Vec::new()
    }
}

pub(crate) fn at(time: &str) -> Timestamp {
    let parts: Vec<i64> = time.split(':').map(|part| part.parse().unwrap()).collect();
    let seconds = parts[0] * 3_600 + parts[1] * 60 + parts.get(2).unwrap_or(&0);
    Timestamp(MONDAY + seconds * SECOND)
}

/// `7 buy 100 STOCK limit 10.01 DAY [post-only | showing 10 | at-least 10] [account 2]`
fn order(words: &[&str], now: Timestamp) -> Order {
    let (words, account) = match words {
        [words @ .., "account", number] => (words, number.parse().unwrap()),
        words => (words, 1),
    };
    let (words, properties) = properties(words);
    let side = if words[1] == "buy" { Side::Buy } else { Side::Sell };
    Order {
        at: now,
        side,
        security: security(words[3]),
        account: AccountId(account),
        terms: terms(words[2], &words[4..]),
        properties,
        ..blank_order(id(words[0]))
    }
}

fn properties<'a>(words: &'a [&'a str]) -> (&'a [&'a str], OrderProperties) {
    let none = OrderProperties::default();
    match words {
        [words @ .., "post-only"] => (words, OrderProperties { post_only: true, ..none }),
        [words @ .., "showing", part] => {
            (words, OrderProperties { display_quantity: Some(part.parse().unwrap()), ..none })
        }
        [words @ .., "at-least", part] => {
            (words, OrderProperties { min_quantity: Some(part.parse().unwrap()), ..none })
        }
        words => (words, none),
    }
}

fn terms(quantity: &str, words: &[&str]) -> OrderTerms {
    let (kind, tif) = match words {
        ["market", tif @ ..] => (OrderKind::Market, tif),
        ["limit", limit, tif @ ..] => (OrderKind::Limit { limit: price(limit) }, tif),
        ["stop", stop, tif @ ..] => (OrderKind::Stop { stop: price(stop) }, tif),
        ["stop-limit", stop, limit, tif @ ..] => (OrderKind::StopLimit { limit: price(limit), stop: price(stop) }, tif),
        other => panic!("no such kind: {other:?}"),
    };
    OrderTerms { quantity: quantity.parse().unwrap(), kind, tif: time_in_force(tif) }
}

fn time_in_force(words: &[&str]) -> TimeInForce {
    match words {
        ["DAY"] => TimeInForce::Day,
        ["GTC"] => TimeInForce::Gtc,
        ["GTD", time] => TimeInForce::Gtd { until: at(time) },
        ["IOC"] => TimeInForce::Ioc,
        ["FOK"] => TimeInForce::Fok,
        ["ATO"] => TimeInForce::Ato,
        ["ATC"] => TimeInForce::Atc,
        other => panic!("no such time in force: {other:?}"),
    }
}

fn id(word: &str) -> OrderId {
    OrderId(word.parse().unwrap())
}

pub(crate) fn price(word: &str) -> Price {
    word.parse().unwrap()
}

fn security(name: &str) -> SecurityId {
    match name {
        "STOCK" => STOCK,
        "INDEX" => INDEX,
        "FUTURE" => FUTURE,
        _ => SecurityId(99),
    }
}

pub(crate) fn blank_order(id: OrderId) -> Order {
    let int_id = id.to_string().parse().unwrap();
    Order { int_id, security: STOCK, adapter: AdapterName("SIM".into()), ..samples::order(id.0) }
}

/// No participants, no latency, no faults.
pub(crate) fn quiet() -> VenueConfig {
    VenueConfig {
        name: "SIM".into(),
        feed: "SIM".into(),
        exchange: Arc::new(exchange()),
        listings: listings(),
        seed: 1,
        activity: ParticipantActivity::Off,
        latency_nanos: 0,
        request_life_nanos: 0,
        fees: None,
        self_trade: SelfTradeRule::CancelNewest,
        deposits: vec![],
        replace: domain::report::ReplaceKind::InPlace,
        faults: Faults::default(),
    }
}

fn exchange() -> Exchange {
    Exchange {
        trading_hours: vec![TradingHours {
            open: "09:00".parse().unwrap(),
            close: "17:00".parse().unwrap(),
            days: vec![1, 2, 3, 4, 5],
        }],
        opening_auction_minutes: 10,
        closing_auction_minutes: 5,
        ..samples::exchange()
    }
}

/// The exchange without calls, open round the clock.
pub(crate) fn round_the_clock() -> VenueConfig {
    let mut exchange = exchange();
    exchange.trading_hours[0].open = "00:00".parse().unwrap();
    exchange.trading_hours[0].close = "24:00".parse().unwrap();
    exchange.opening_auction_minutes = 0;
    exchange.closing_auction_minutes = 0;
    VenueConfig { exchange: Arc::new(exchange), ..quiet() }
}

fn listings() -> Vec<ListedSecurity> {
    let last_day = "2026-11-17".parse().unwrap();
    let future = SecurityKind::Future { expiration: last_day, month_year: "202611".into(), first_notice: None };
    vec![
        listing(STOCK, SecurityKind::Stock, "0.01", opening("10", 2, 100)),
        listing(INDEX, SecurityKind::Index, "0.01", opening("5000", 0, 0)),
        listing(FUTURE, future, "0.25", opening("100", 2, 10)),
    ]
}

fn opening(mid: &str, spread_ticks: u32, size: i64) -> OpeningQuotes {
    OpeningQuotes { mid: price(mid), spread_ticks, size: Quantity::from(size), volatility: "0.3".parse().unwrap() }
}

fn listing(id: SecurityId, kind: SecurityKind, tick: &str, opening: OpeningQuotes) -> ListedSecurity {
    let security = Security {
        price_incr: tick.parse().unwrap(),
        tradeable: kind != SecurityKind::Index,
        kind,
        ..samples::stock(id.0, &format!("S{id}"))
    };
    ListedSecurity { security: Arc::new(security), opening, costs: UnitCosts::default() }
}

pub(crate) fn report_line(said: &ReportKind) -> String {
    let because =
        |reason: &Option<domain::Text>| reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    match said {
        ReportKind::Accepted { order, ext_id } => format!("accepted {order} as {}", ext_id.as_deref().unwrap_or("?")),
        ReportKind::Rejected { order, reason } => format!("rejected {order}: {reason}"),
        ReportKind::Filled(fill) => format!("filled {}", fill_text(fill)),
        ReportKind::Canceled { order, reason } => format!("canceled {order}{}", because(reason)),
        ReportKind::Expired { order, reason } => format!("expired {order}{}", because(reason)),
        ReportKind::Replaced { order, terms, .. } => format!("replaced {order}: {}", terms_text(terms)),
        ReportKind::CancelRejected { order, reason } => format!("cancel of {order} refused: {reason}"),
        ReportKind::ReplaceRejected { order, reason } => format!("replace of {order} refused: {reason}"),
        ReportKind::Busted { order, exec_id, .. } => format!("busted {exec_id} of {order}"),
        ReportKind::Corrected { exec_id, by } => format!("corrected {exec_id}: {}", fill_text(by)),
        ReportKind::Gap => "gap".into(),
        ReportKind::Statement(statement) => statement_line(statement),
        ReportKind::Entry(entry) => format!("entry {} {} {}", entry.ext_id, entry.amount, entry.currency),
        ReportKind::Inquiry(InquiryAnswer { order, result: InquiryResult::NotFound, .. }) => {
            format!("no order {order}")
        }
        ReportKind::Inquiry(InquiryAnswer { result: InquiryResult::Found(seen, fills), other_legs, .. }) => {
            let filled = fills.iter().map(|fill| format!(", {}", fill_text(fill))).collect::<String>();
            let others =
                other_legs.iter().flatten().map(|leg| format!(", besides {}", leg_text(leg))).collect::<String>();
            format!("order {} is {:?} with {}{filled}{others}", seen.order, seen.state, terms_text(&seen.terms))
        }
        ReportKind::CancelReplaced(told) => {
            let leg = |leg: &Option<domain::Text>| leg.as_deref().unwrap_or("?").to_owned();
            let (old, new) = (leg(&told.old_leg), leg(&told.new_leg));
            format!("halves of {}: {old} canceled {:?}, {new} placed {:?}", told.order, told.canceled, told.placed)
        }
        ReportKind::Leg(seen) => format!("leg of {}: {}", seen.order, leg_text(seen)),
        ReportKind::OpenOrders(page) => {
            let legs: Vec<_> = page.orders.iter().map(|seen| format!("{} as {}", seen.order, leg_text(seen))).collect();
            format!("open are {}", legs.join(", "))
        }
        ReportKind::External(seen) => {
            let filled: String = seen.fills.iter().map(|fill| format!(", {} filled", fill.quantity)).collect();
            format!("somebody else's {} is {:?} with {}{filled}", seen.ext_id, seen.state, terms_text(&seen.terms))
        }
        ReportKind::Fills(page) => {
            let fills: Vec<_> = page.fills.iter().map(|fill| format!("{} of {}", fill.exec_id, fill.order)).collect();
            format!("fills from {:?} to {:?}: {}", page.from.as_deref(), page.next_cursor.as_deref(), fills.join(", "))
        }
        other => format!("{other:?}"),
    }
}

/// `SIM-O1 Live with 100 @ 10 DAY`
fn leg_text(leg: &VenueOrder) -> String {
    format!("{} {:?} with {}", leg.ext_id.as_deref().unwrap_or("?"), leg.state, terms_text(&leg.terms))
}

fn terms_text(terms: &OrderTerms) -> String {
    let price = |price: Option<Price>, sign: &str| price.map(|price| format!(" {sign} {price}")).unwrap_or_default();
    let (limit, stop) = (price(terms.kind.limit(), "@"), price(terms.kind.stop(), "stop"));
    format!("{}{limit}{stop} {}", terms.quantity, terms.tif.name())
}

pub(crate) fn data_line(data: &MarketData) -> String {
    let levels = |levels: &[BookLevel]| {
        let level = |level: &BookLevel| format!("{} @ {}", level.quantity, level.price);
        levels.iter().take(3).map(level).collect::<Vec<_>>().join(", ")
    };
    match data {
        MarketData::Tick(tick) => {
            let price = |price: Option<Price>| price.map_or("-".into(), |price| price.to_string());
            let lots = |lots: Option<Quantity>| lots.map_or("-".into(), |lots| lots.to_string());
            let quote = format!("{} x {}", price(tick.bid), price(tick.ask));
            let sizes = format!("{} x {}", lots(tick.vol_bid), lots(tick.vol_ask));
            format!("tick {quote} ({sizes}) last {} ({}) vol {}", price(tick.last), lots(tick.vol_last), lots(tick.vol))
        }
        MarketData::Trade(trade) => format!("trade {} @ {} {:?}", trade.quantity, trade.price, trade.aggressor),
        MarketData::Book(book) => {
            let more = (book.bids.len().saturating_sub(3), book.asks.len().saturating_sub(3));
            format!("book bids {} (+{}) asks {} (+{})", levels(&book.bids), more.0, levels(&book.asks), more.1)
        }
        MarketData::Gap(gap) => format!("gap {}", gap.cause.name()),
    }
}

pub(crate) fn snapshot_lines(picture: &VenueSnapshot) -> Vec<String> {
    let orders = picture.orders.iter().map(|order| {
        let fate = match order.state {
            VenueOrderState::Live => "live",
            VenueOrderState::Canceled => "canceled",
            VenueOrderState::Expired => "expired",
            VenueOrderState::Rejected => "rejected",
        };
        format!("{} {} {fate}", order.order, terms_text(&order.terms))
    });
    orders.chain(picture.fills.iter().map(fill_text)).collect()
}

fn fill_text(fill: &VenueFill) -> String {
    let role = fill.liquidity.map_or("", |role| if role == Liquidity::Maker { " as maker" } else { " as taker" });
    let fee = fill.fee.map(|fee| format!(" fee {fee}{role}")).unwrap_or_default();
    format!("{} {} @ {} by {}{fee}", fill.order, fill.quantity, fill.price, fill.exec_id)
}

pub(crate) fn record_line(record: &VenueRecord) -> String {
    match record {
        VenueRecord::Submitted(submission) => {
            format!("submitted {} {}", submission.order, terms_text(&submission.terms))
        }
        VenueRecord::Accepted { order, ext_id, .. } => format!("accepted {order} as {ext_id}"),
        VenueRecord::Rejected { order, reason, .. } => format!("rejected {order}: {reason}"),
        VenueRecord::Replaced { order, terms, .. } => format!("replaced {order}: {}", terms_text(terms)),
        VenueRecord::Activated { order, .. } => format!("activated {order}"),
        VenueRecord::Traded(deal) => deal_line(deal),
        VenueRecord::Canceled { order, .. } => format!("canceled {order}"),
        VenueRecord::Expired { order, reason, .. } => format!("expired {order}: {reason}"),
        VenueRecord::Compacted(summary) => format!("compacted after {} records", summary.records),
        VenueRecord::Kept(held) => format!("kept {}", held.submission().order),
        VenueRecord::Opened { deposits, .. } => format!("opened with {} deposits", deposits.len()),
        VenueRecord::Accounts(kept) => format!("{} accounts kept", kept.len()),
        VenueRecord::Revised(revision) => match &revision.by {
            None => format!("busted {}", revision.exec_id),
            Some(by) => format!("corrected {} by {} @ {}", revision.exec_id, by.exec_id, by.price),
        },
    }
}

fn statement_line(statement: &VenueStatement) -> String {
    let cash = statement.cash.iter().map(|held| format!(" {} {} locked {}", held.total, held.currency, held.locked));
    let positions = statement.positions.iter().map(|held| format!(" {} of {}", held.quantity, held.security));
    let is_complete = (statement.cash_complete, statement.positions_complete);
    let known = match is_complete {
        (true, true) => "",
        (false, true) => ", cash unknown",
        _ => " unknown",
    };
    format!("account {}:{}{known}", statement.account, cash.chain(positions).collect::<Vec<_>>().join(","))
}

fn deal_line(deal: &VenueTrade) -> String {
    let sides = deal.executions.iter().map(|execution| format!("{} by {}", execution.order, execution.exec_id));
    format!("traded {} @ {}: {}", deal.quantity, deal.price, sides.collect::<Vec<_>>().join(", "))
}
