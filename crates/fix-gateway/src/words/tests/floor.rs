//! Test harness: FIX client, engine and venue without sockets; messages and venue reports in, the client's messages
//! out.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use domain::command::{CancelOrder, Command, ModifyOrder, PlaceOrder, ReferenceChange, Restated};
use domain::order::Terms;
use domain::report::{Fate, Picture, Profile as Served, Report, Said, SessionState, VenueFill, VenueOrder};
use domain::{
    AdapterName, Answer, Caller, Envelope, Event, Exchange, ExchangeId, Input, Mark, Order, OrderKind, OrderStatus,
    Origin, Price, Quantity, Query, Security, SecurityId, Side, Source, Stamped, Strategy, StrategyId, TimeInForce,
    Timestamp,
};
use engine::{Engine, Outbox};
use fix::{CancelOnDisconnect, CheckRules, Checker, Decoder, Dictionary, GatewaySettings, Outgoing};

use crate::words::{self, Answering, Complaint, ExecIds, Memo, Profile, ReportIds};

/// 2026-11-16 12:00 UTC, a Monday.
const NOON: i64 = 1_794_830_400_000_000_000;
const VENUE: &str = "SIMULATED";

pub(super) struct Floor {
    engine: Engine,
    sequence: u64,
    now: Timestamp,
    pub(super) rules: GatewaySettings,
    /// The last event of an order.
    last: Option<Arc<OrderStatus>>,
    /// How much of a report is shown.
    pub(super) shows_all: bool,
}

impl Floor {
    /// As the specification lists ExecTypes.
    pub(super) fn literal() -> Self {
        Self::open(false)
    }

    /// With `StandardExecTypes=Y`.
    pub(super) fn standard() -> Self {
        Self::open(true)
    }

    fn open(standard_exec_types: bool) -> Self {
        let rules = GatewaySettings {
            valid_order_types: vec!['1', '2', '3', '4'],
            standard_exec_types,
            extended_messages: false,
            cancel_on_disconnect: CancelOnDisconnect::Off,
            cancel_on_disconnect_grace_seconds: 0,
            max_orders_per_second: None,
            ignore_user_defined_fields: false,
            max_cancels_per_second: None,
        };
        let now = Timestamp(NOON);
        let mut floor = Self { engine: Engine::default(), sequence: 0, now, rules, last: None, shows_all: false };
        floor.ask(Source::Platform, Command::Reference(reference()));
        let served = Served {
            exchanges: vec![samples::EXCHANGE, ExchangeId(2)],
            expires_orders: true,
            refuses_duplicates: true,
            simulated: true,
        };
        floor.say(Said::Attached(served));
        floor.say(Said::Session(SessionState::Connected));
        floor.say(Said::Picture(Picture { complete: true, ..Picture::default() }));
        floor.say(Said::Session(SessionState::LoggedOn));
        floor.ask(Source::Platform, Command::Record(samples::credit(1, 1_000_000)));
        floor.price();
        floor
    }

    /// Everything has a price of ten.
    fn price(&mut self) {
        let mark = |security| Mark {
            security: SecurityId(security),
            bid: Some(Price::from(10)),
            ask: Some(Price::from(10)),
            last: None,
            at: self.now,
        };
        let marks = vec![mark(1), mark(2), mark(3)];
        self.apply(Input::Marks(marks));
    }

    pub(super) fn only(mut self, order_types: &[char]) -> Self {
        self.rules.valid_order_types = order_types.to_vec();
        self
    }

    pub(super) fn showing_all(mut self) -> Self {
        self.shows_all = true;
        self
    }

    pub(super) fn reference(&self) -> &domain::ReferenceData {
        self.engine.reference()
    }

    /// The state of an order for a client whose sequence numbers were reset, and that missed the last event.
    pub(super) fn picture(&self, name: &str) -> String {
        let (order, exec_id) = (self.order(name), ExecIds(1).of_state("logon", self.sequence, 1));
        let missed = self.last.as_deref();
        in_short(&words::picture(&order, missed, self.now, self.engine.reference(), &exec_id))
    }

    /// Every line with the messages that the client receives because of it.
    pub(super) fn tell(&mut self, story: &str) -> String {
        let lines = story.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .map(|line| {
                std::iter::once(line.to_owned()).chain(self.line(line)).collect::<Vec<_>>().join("\n    ") + "\n"
            })
            .collect()
    }

    fn line(&mut self, line: &str) -> Vec<String> {
        let told = match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["a", "day", "passes"] => {
                self.now = self.now.plus_seconds(86_400);
                let told = self.apply(Input::Clock);
                self.price();
                told
            }
            ["status", "of", name] => vec![self.status(name)],
            ["venue", "is", "back", "with", order, "live"] => self.come_back(&[order]),
            ["venue", "is", "back", "without", "orders"] => self.come_back(&[]),
            ["venue", "is", "away"] => self.say(Said::Session(SessionState::Disconnected)),
            ["venue", verb, order, ref rest @ ..] => {
                let said = self.said(verb, order, rest);
                self.say(said)
            }
            ["rest", "places", name] => {
                let place = PlaceOrder { int_id: Some(name.parse().unwrap()), cl_ord_id: None, ..an_order() };
                self.ask(Source::Rest, Command::Place(place))
            }
            ["rest", "cancels", order] => self.cancel(Source::Rest, None, order),
            ["rest", "user", user, "cancels", order] => self.cancel(Source::Rest, Some(user), order),
            ["user", user, "cancels", order] => self.cancel(Source::Ui, Some(user), order),
            ["user", user, "kills", "because", reason] => {
                let kill = Command::Kill { scope: domain::Scope::Platform, reason: Some(reason.into()) };
                self.ask_as(Source::Ui, Some(user), kill)
            }
            ["rest", "resizes", order, quantity] => {
                let ask = ModifyOrder {
                    int_id: order.parse().unwrap(),
                    cl_ord_id: None,
                    quantity: Some(number(quantity)),
                    limit: None,
                    stop: None,
                    tif: None,
                    restated: Restated::default(),
                    reference: None,
                };
                self.ask(Source::Rest, Command::Modify(ask))
            }
            _ => self.message(line),
        };
        told.iter().for_each(assert_sound);
        told.iter().map(|report| if self.shows_all { in_full(report) } else { in_short(report) }).collect()
    }

    /// Handles a message as the gateway application does.
    fn message(&mut self, text: &str) -> Vec<Outgoing> {
        let bytes = wire(text);
        let mut decoder = Decoder::new();
        let message = decoder.decode(&bytes).unwrap();
        if let Some(fault) = words::unfit(&message) {
            let mut reject = Outgoing::default();
            fault.reject(&message, &mut reject);
            return vec![reject];
        }
        let memo = Memo::of(&message);
        let reference = self.engine.reference().clone();
        let command = match message.msg_type() {
            b"D" => words::order(&message, &reference, &self.rules, None).map(Command::Place),
            b"G" => words::replace(&message, &reference, &self.rules).map(Command::Modify),
            b"q" => words::mass_cancel(&message, &reference).map(Command::CancelOwn),
            _ => words::cancel(&message, &reference).map(Command::Cancel),
        };
        match command.or_else(|complaint| words::declined(&memo, complaint)) {
            Ok(command) => self.submit(command, &memo),
            Err(complaint) => vec![self.refuse(&memo, &complaint)],
        }
    }

    fn submit(&mut self, command: Command, memo: &Memo) -> Vec<Outgoing> {
        let origin = Origin {
            session: "CLIENT".into(),
            number: self.sequence,
            memo: Some(memo.write().into()),
            may_be_known: memo.may_be_known(),
        };
        let caller = Caller { source: Source::Fix("CLIENT".into()), user: None, origin: Some(Box::new(origin)) };
        self.apply(Input::Command(Box::new(Envelope { caller, command })))
    }

    fn refuse(&self, memo: &Memo, complaint: &Complaint) -> Outgoing {
        let reference = self.engine.reference().clone();
        let exec_id = ExecIds(1).of_message("CLIENT", self.sequence);
        let answering = Answering { at: self.now, reference: &reference, profile: self.profile(), exec_id: &exec_id };
        words::refused_here(memo, self.sequence, complaint, &answering)
    }

    fn profile(&self) -> Profile {
        Profile { standard: self.rules.standard_exec_types }
    }

    fn cancel(&mut self, source: Source, user: Option<&str>, order: &str) -> Vec<Outgoing> {
        let ask = CancelOrder::of(order.parse().unwrap());
        self.ask_as(source, user, Command::Cancel(ask))
    }

    fn ask(&mut self, source: Source, command: Command) -> Vec<Outgoing> {
        self.ask_as(source, None, command)
    }

    fn ask_as(&mut self, source: Source, user: Option<&str>, command: Command) -> Vec<Outgoing> {
        let caller = Caller { source, user: user.map(Into::into), origin: None };
        self.apply(Input::Command(Box::new(Envelope { caller, command })))
    }

    fn say(&mut self, said: Said) -> Vec<Outgoing> {
        self.apply(Input::Report(Report { adapter: AdapterName(VENUE.into()), ext_at: None, said }))
    }

    fn said(&self, verb: &str, order: &str, rest: &[&str]) -> Said {
        let found = self.order(order);
        let (order, reason) = (found.id, rest.join(" "));
        match (verb, rest) {
            ("accepts", _) => Said::Accepted { order, ext_id: Some("V1".into()) },
            ("rejects", _) => Said::Rejected { order, reason: reason.into() },
            ("fills", [exec_id, quantity, price]) => Said::Filled(fill(&found, exec_id, quantity, price)),
            ("corrects", [exec_id, quantity, price]) => {
                let by =
                    VenueFill { exec_id: format!("{exec_id}-new").into(), ..fill(&found, exec_id, quantity, price) };
                Said::Corrected { exec_id: (*exec_id).into(), by }
            }
            ("busts", [exec_id]) => Said::Busted { order, exec_id: (*exec_id).into(), reason: None },
            ("cancels", _) => Said::Canceled { order, reason: Some(reason.into()).filter(|_| !rest.is_empty()) },
            ("expires", _) => Said::Expired { order, reason: Some("the day is over".into()) },
            ("restates", [quantity]) => {
                let terms = Terms { quantity: number(quantity), ..found.terms };
                Said::Replaced { order, terms, ext_id: None }
            }
            ("replaces", _) => Said::Replaced { order, terms: wanted(&found), ext_id: None },
            ("keeps", ["uncancelled", ..]) => Said::CancelRejected { order, reason: rest[1..].join(" ").into() },
            ("keeps", ["unreplaced", ..]) => Said::ReplaceRejected { order, reason: rest[1..].join(" ").into() },
            ("loses", _) => Said::Lost { order, reason: reason.into() },
            _ => panic!("no venue says {verb} {rest:?}"),
        }
    }

    /// The venue reconciles: it has these orders, with the terms that we know.
    fn come_back(&mut self, live: &[&str]) -> Vec<Outgoing> {
        let seen = |name: &&str| {
            let Order { id, ext_id, terms, .. } = self.order(name);
            VenueOrder { order: id, ext_id, terms, fate: Fate::Live, reason: None }
        };
        let picture = Picture { orders: live.iter().map(seen).collect(), complete: true, ..Picture::default() };
        let mut told = self.say(Said::Session(SessionState::Connected));
        told.extend(self.say(Said::Picture(picture)));
        told.extend(self.say(Said::Session(SessionState::LoggedOn)));
        told
    }

    /// The answer to a status request for one order.
    fn status(&self, name: &str) -> Outgoing {
        let query = Query::OwnOrder(Source::Fix("CLIENT".into()), name.into());
        let exec_id = ExecIds(1).of_state("asked", self.sequence, 1);
        words::standing(&self.first(&query), self.now, self.engine.reference(), &exec_id)
    }

    fn order(&self, name: &str) -> Order {
        self.first(&Query::Order(name.into()))
    }

    fn first(&self, query: &Query) -> Order {
        match self.engine.answer(self.now, 0, query) {
            Ok(Answer::Orders(orders)) => Order::clone(orders.first().unwrap()),
            other => panic!("{query:?}: {other:?}"),
        }
    }

    fn apply(&mut self, what: Input) -> Vec<Outgoing> {
        self.sequence += 1;
        let (sequence, at) = (self.sequence, self.now);
        let mut out = Outbox::default();
        // The client receives refusals by an event.
        let _ = self.engine.apply(&Stamped { sequence, at, what }, &mut out);
        let is_told =
            |event: &&Event| matches!(event, Event::OrderStatus(_) | Event::Refused(_) | Event::MassCancel(_));
        let told = out.events.iter().filter(is_told);
        for event in &out.events {
            if let Event::OrderStatus(status) = event {
                self.last = Some(status.clone());
            }
        }
        (0..).zip(told).filter_map(|(place, event)| self.report(place, event)).collect()
    }

    fn report(&self, place: u32, event: &Event) -> Option<Outgoing> {
        let (reference, profile, at) = (self.engine.reference(), self.profile(), self.now);
        match event {
            Event::OrderStatus(status) => {
                let view = status.client.as_ref()?;
                let ids = ReportIds::of(ExecIds(1), status, view, (self.sequence, place));
                Some(words::report(status, view, reference, profile, &ids))
            }
            Event::MassCancel(cancel) => Some(words::mass_cancelled(cancel, at)),
            Event::Refused(refused) => {
                let exec_id = ExecIds(1).of_event(self.sequence, place);
                let answering = Answering { at, reference, profile, exec_id: &exec_id };
                Some(words::refused_command(refused, &answering))
            }
            _ => None,
        }
    }
}

fn reference() -> Vec<ReferenceChange> {
    let beta = Exchange { id: ExchangeId(2), name: "Beta".into(), code: Some("BET".into()), ..samples::exchange() };
    let first = Exchange { code: Some("ALP".into()), mic: Some("XALP".into()), ..samples::exchange() };
    let apple = Security { isin: Some("US0378331005".into()), ric: Some("AAPL.O".into()), ..samples::stock(1, "AAPL") };
    let twin = Security { exchange: ExchangeId(2), ..samples::stock(2, "AAPL") };
    vec![
        ReferenceChange::Exchange(first),
        ReferenceChange::Exchange(beta),
        ReferenceChange::Security(apple),
        ReferenceChange::Security(twin),
        ReferenceChange::Security(samples::stock(3, "IBM")),
        ReferenceChange::Account(samples::account(1, "MAIN")),
        ReferenceChange::Strategy(Strategy { id: StrategyId(7), name: "MOMENTUM".into(), auto_activate: false }),
    ]
}

fn fill(order: &Order, exec_id: &str, quantity: &str, price: &str) -> VenueFill {
    VenueFill {
        order: order.id,
        exec_id: exec_id.into(),
        quantity: number(quantity),
        price: number(price),
        at: None,
        fee: None,
        charges: vec![],
    }
}

fn an_order() -> PlaceOrder {
    PlaceOrder {
        int_id: None,
        cl_ord_id: None,
        security: SecurityId(1),
        account: None,
        strategy: None,
        exchange: None,
        side: Side::Buy,
        quantity: Quantity::from(1),
        kind: OrderKind::Limit { limit: Price::from(10) },
        tif: TimeInForce::Day,
        exchange_order: false,
        reference: None,
    }
}

/// The terms of the order's pending request.
fn wanted(order: &Order) -> Terms {
    order.pending.replace().map_or(order.terms, |(_, terms)| terms)
}

fn number<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// A client that validates messages with FIX 4.4 accepts it.
fn assert_sound(report: &Outgoing) {
    static FIX44: OnceLock<Dictionary> = OnceLock::new();
    let header = "|34=1|49=RIALTO|52=20261116-12:00:00|56=CLIENT|";
    let bytes = wire(&in_full(report).replacen('|', header, 1));
    let mut decoder = Decoder::new();
    let message = decoder.decode(&bytes).unwrap();
    let checked = Checker::default().check(FIX44.get_or_init(Dictionary::fix44), CheckRules::default(), &message);
    assert_eq!(checked, Ok(()), "{}", in_full(report));
}

/// A whole message of a story's line.
pub(super) fn wire(text: &str) -> Vec<u8> {
    let body = text.replace('|', "\x01") + "\x01";
    let mut message = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
    let sum = message.bytes().fold(0_u8, u8::wrapping_add);
    message += &format!("10={sum:03}\x01");
    message.into_bytes()
}

/// Type and fields, ascending, as they are on the wire between header and trailer.
pub(super) fn in_full(report: &Outgoing) -> String {
    let fields = report.fields_in_order();
    let shown = fields.iter().map(|(tag, value)| format!("{tag}={}", String::from_utf8_lossy(value)));
    format!("35={}|{}", String::from_utf8_lossy(report.msg_type()), shown.collect::<Vec<_>>().join("|"))
}

/// `8(Y,X) I/4 cum 40 leaves 0`, in the manner of the standard's own scenarios.
fn in_short(report: &Outgoing) -> String {
    let fields = report.fields_in_order();
    let get = |tag| fields.iter().find(|(known, _)| *known == tag).map(|(_, value)| String::from_utf8_lossy(value));
    let show = |label: &str, tag| get(tag).map(|value| format!(" {label} {value}")).unwrap_or_default();
    let orig = get(41).map(|orig| format!(",{orig}")).unwrap_or_default();
    let names = format!("({}{orig})", get(11).unwrap_or_default());
    let rest = show("reason", 102) + &show("reason", 103) + &show("text", 58);
    match report.msg_type() {
        b"8" => {
            let last = get(32).map(|last| format!(" last {last} at {}", get(31).unwrap_or_default()));
            let quantities = show("of", 38) + &show("cum", 14) + &show("leaves", 151) + &show("avg", 6);
            let status = format!("{}/{}", get(150).unwrap_or_default(), get(39).unwrap_or_default());
            format!(
                "8{names} {status} id {}{quantities}{}{rest}",
                get(37).unwrap_or_default(),
                last.unwrap_or_default()
            )
        }
        b"9" => format!(
            "9{names} 39={} id {} to {}{rest}",
            get(39).unwrap_or_default(),
            get(37).unwrap_or_default(),
            get(434).unwrap_or_default()
        ),
        _ => in_full(report),
    }
}
