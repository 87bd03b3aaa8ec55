//! Test harness: FIX client, engine and venue without sockets; messages and venue reports in, the client's messages
//! out.

use std::str::FromStr;
use std::sync::{Arc, OnceLock};

use domain::command::{CancelOrder, Command, ModifyOrder, PlaceOrder, ReferenceChange, RestatedFields};
use domain::order::OrderTerms;
use domain::query::Filter;
use domain::report::{
    AdapterCapabilities as Served, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueFill, VenueOrder,
    VenueOrderState, VenueSnapshot,
};
use domain::{
    AdapterName, Answer, Caller, CommandEnvelope, Event, Exchange, ExchangeId, Input, Liquidity, Mark, MessageOrigin,
    Order, OrderKind, OrderProperty, OrderStatus, Position, Price, Quantity, Query, Security, SecurityId, Sequenced,
    Side, Source, StrategyId, StrategyRecord, TimeInForce, Timestamp,
};
use engine::{Engine, Outbox};
use fix::{
    CancelOnDisconnect, CheckRules, Dictionary, DictionaryChecker, FixDecoder, GatewaySettings, OutgoingMessage,
};

use crate::translate::{
    self, ExecIds, ExecTypeProfile, MessageReject, MessageRow, ReplyContext, ReportIds, RequestEcho, RequestMeaning,
    SessionTerms,
};

/// 2026-11-16 12:00 UTC, a Monday.
const NOON: i64 = 1_794_830_400_000_000_000;
const VENUE: &str = "SIMULATED";

pub(super) struct GatewayHarness {
    engine: Engine,
    sequence: u64,
    now: Timestamp,
    pub(super) rules: GatewaySettings,
    /// The last event of an order.
    last: Option<Arc<OrderStatus>>,
    /// All of them.
    pub(super) statuses: Vec<OrderStatus>,
    /// How much of a report is shown.
    pub(super) shows_all: bool,
}

impl GatewayHarness {
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
            pass_through: Vec::new(),
            drop_copy: None,
            market_data: None,
        };
        let now = Timestamp(NOON);
        let mut floor = Self {
            engine: Engine::default(),
            sequence: 0,
            now,
            rules,
            last: None,
            statuses: Vec::new(),
            shows_all: false,
        };
        floor.command(Source::Platform, Command::Reference(reference()));
        let served = Served {
            exchanges: vec![samples::EXCHANGE, ExchangeId(2)],
            expires_orders: true,
            refuses_repeated_ids: RefusesRepeatedIds::Forever,
            request_timing: None,
            simulated: true,
            order_properties: OrderProperty::ALL.to_vec(),
            ..Served::default()
        };
        floor.venue_report(ReportKind::Attached(served));
        floor.venue_report(ReportKind::Session(SessionState::Connected));
        floor.venue_report(ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }));
        floor.venue_report(ReportKind::Session(SessionState::LoggedOn));
        floor.command(Source::Platform, Command::Record(samples::credit(1, 1_000_000)));
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
            stale: None,
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
    pub(super) fn order_state(&self, name: &str) -> String {
        let (order, exec_id) = (self.order(name), ExecIds(1).for_state("logon", self.sequence, 1));
        let missed = self.last.as_deref();
        in_short(&translate::order_state_report(&order, missed, self.now, self.engine.reference(), &exec_id))
    }

    /// Every line with the messages that the client receives because of it.
    pub(super) fn run(&mut self, story: &str) -> String {
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
            ["venue", "is", "back", "with", order, "live"] => self.reconcile(&[order]),
            ["venue", "is", "back", "without", "orders"] => self.reconcile(&[]),
            ["venue", "is", "away"] => self.venue_report(ReportKind::Session(SessionState::Disconnected)),
            ["venue", verb, order, ref rest @ ..] => {
                let said = self.parse_report(verb, order, rest);
                self.venue_report(said)
            }
            ["rest", "places", name] => {
                let place = PlaceOrder { int_id: Some(name.parse().unwrap()), cl_ord_id: None, ..an_order() };
                self.command(Source::Rest, Command::Place(place))
            }
            ["rest", "cancels", order] => self.cancel(Source::Rest, None, order),
            ["rest", "user", user, "cancels", order] => self.cancel(Source::Rest, Some(user), order),
            ["user", user, "cancels", order] => self.cancel(Source::Ui, Some(user), order),
            ["user", user, "kills", "because", reason] => {
                let kill = Command::Kill { scope: domain::RiskScope::Platform, reason: Some(reason.into()) };
                self.command_as(Source::Ui, Some(user), kill)
            }
            ["rest", "resizes", order, quantity] => {
                let ask = ModifyOrder {
                    int_id: order.parse().unwrap(),
                    cl_ord_id: None,
                    quantity: Some(number(quantity)),
                    limit: None,
                    stop: None,
                    tif: None,
                    restated: RestatedFields::default(),
                    reference: None,
                };
                self.command(Source::Rest, Command::Modify(ask))
            }
            _ => self.message(line),
        };
        told.iter().for_each(assert_sound);
        told.iter().map(|report| if self.shows_all { in_full(report) } else { in_short(report) }).collect()
    }

    /// Handles a message as the gateway application does.
    fn message(&mut self, text: &str) -> Vec<OutgoingMessage> {
        let bytes = wire(text);
        let mut decoder = FixDecoder::new();
        let message = decoder.decode(&bytes).unwrap();
        let row = MessageRow::by_type(message.msg_type()).unwrap();
        if let Some(fault) = row.fault_in(&message) {
            let mut reject = OutgoingMessage::default();
            fault.reject(&message, &mut reject);
            return vec![reject];
        }
        let echo = RequestEcho::from_message(&message);
        let reference = self.engine.reference().clone();
        let session = SessionTerms { reference: &reference, rules: &self.rules, strategy: None };
        let RequestMeaning::Command(class) = row.becomes else { panic!("{text} only asks") };
        let command = translate::command(class, &message, &session);
        match command.or_else(|complaint| translate::decline(&echo, complaint)) {
            Ok(command) => self.submit(command, &echo),
            Err(complaint) => vec![self.refuse(&echo, &complaint)],
        }
    }

    fn submit(&mut self, command: Command, echo: &RequestEcho) -> Vec<OutgoingMessage> {
        let origin = MessageOrigin {
            session: "CLIENT".into(),
            seq_num: self.sequence,
            request_echo: Some(echo.encode().into()),
            poss_resend: echo.may_be_resent(),
        };
        let caller = Caller { origin: Some(Box::new(origin)), ..Caller::new(Source::Fix("CLIENT".into()), None) };
        self.apply(Input::Command(Box::new(CommandEnvelope { caller, command })))
    }

    fn refuse(&self, echo: &RequestEcho, reject: &MessageReject) -> OutgoingMessage {
        let reference = self.engine.reference().clone();
        let exec_id = ExecIds(1).for_message("CLIENT", self.sequence);
        let answering =
            ReplyContext { at: self.now, reference: &reference, profile: self.profile(), exec_id: &exec_id };
        translate::locally_rejected(echo, self.sequence, reject, &answering)
    }

    fn profile(&self) -> ExecTypeProfile {
        ExecTypeProfile { standard: self.rules.standard_exec_types }
    }

    fn cancel(&mut self, source: Source, user: Option<&str>, order: &str) -> Vec<OutgoingMessage> {
        let ask = CancelOrder::new(order.parse().unwrap());
        self.command_as(source, user, Command::Cancel(ask))
    }

    fn command(&mut self, source: Source, command: Command) -> Vec<OutgoingMessage> {
        self.command_as(source, None, command)
    }

    fn command_as(&mut self, source: Source, user: Option<&str>, command: Command) -> Vec<OutgoingMessage> {
        let caller = Caller::new(source, user.map(Into::into));
        self.apply(Input::Command(Box::new(CommandEnvelope { caller, command })))
    }

    fn venue_report(&mut self, said: ReportKind) -> Vec<OutgoingMessage> {
        self.apply(Input::Report(Report { adapter: AdapterName(VENUE.into()), ext_at: None, kind: said }))
    }

    fn parse_report(&self, verb: &str, order: &str, rest: &[&str]) -> ReportKind {
        let found = self.order(order);
        let (order, reason) = (found.id, rest.join(" "));
        match (verb, rest) {
            ("accepts", _) => ReportKind::Accepted { order, ext_id: Some("V1".into()) },
            ("rejects", _) => ReportKind::Rejected { order, reason: reason.into() },
            ("fills", [exec_id, quantity, price]) => ReportKind::Filled(fill(&found, exec_id, quantity, price)),
            ("fills", [exec_id, quantity, price, "as", role]) => {
                let liquidity = Some(if *role == "maker" { Liquidity::Maker } else { Liquidity::Taker });
                ReportKind::Filled(VenueFill { liquidity, ..fill(&found, exec_id, quantity, price) })
            }
            ("corrects", [exec_id, quantity, price]) => {
                let by =
                    VenueFill { exec_id: format!("{exec_id}-new").into(), ..fill(&found, exec_id, quantity, price) };
                ReportKind::Corrected { exec_id: (*exec_id).into(), by }
            }
            ("busts", [exec_id]) => ReportKind::Busted { order, exec_id: (*exec_id).into(), reason: None },
            ("cancels", _) => ReportKind::Canceled { order, reason: Some(reason.into()).filter(|_| !rest.is_empty()) },
            ("expires", _) => ReportKind::Expired { order, reason: Some("the day is over".into()) },
            ("restates", [quantity]) => {
                let terms = OrderTerms { quantity: number(quantity), ..found.terms };
                ReportKind::Replaced { order, terms, ext_id: None }
            }
            ("replaces", _) => ReportKind::Replaced { order, terms: wanted(&found), ext_id: None },
            ("keeps", ["uncancelled", ..]) => ReportKind::CancelRejected { order, reason: rest[1..].join(" ").into() },
            ("keeps", ["unreplaced", ..]) => ReportKind::ReplaceRejected { order, reason: rest[1..].join(" ").into() },
            ("loses", _) => ReportKind::DeliveryUnknown { order, reason: reason.into(), dead_after: None },
            _ => panic!("no venue says {verb} {rest:?}"),
        }
    }

    /// The venue reconciles: it has these orders, with the terms that we know.
    fn reconcile(&mut self, live: &[&str]) -> Vec<OutgoingMessage> {
        let seen = |name: &&str| {
            let Order { id, ext_id, terms, .. } = self.order(name);
            VenueOrder { order: id, ext_id, terms, state: VenueOrderState::Live, reason: None }
        };
        let picture =
            VenueSnapshot { orders: live.iter().map(seen).collect(), complete: true, ..VenueSnapshot::default() };
        let mut told = self.venue_report(ReportKind::Session(SessionState::Connected));
        told.extend(self.venue_report(ReportKind::Snapshot(picture)));
        told.extend(self.venue_report(ReportKind::Session(SessionState::LoggedOn)));
        told
    }

    /// The answer to a status request for one order.
    fn status(&self, name: &str) -> OutgoingMessage {
        let query = Query::ClientOrder(Source::Fix("CLIENT".into()), name.into());
        let exec_id = ExecIds(1).for_state("asked", self.sequence, 1);
        translate::order_status_report(&self.first(&query), self.now, self.engine.reference(), &exec_id)
    }

    fn order(&self, name: &str) -> Order {
        self.first(&Query::Order(name.into()))
    }

    pub(super) fn positions(&self) -> Vec<Position> {
        match self.engine.answer(self.now, 0, &Query::Positions(Filter::default())) {
            Ok(Answer::Positions(positions)) => positions,
            other => panic!("{other:?}"),
        }
    }

    fn first(&self, query: &Query) -> Order {
        match self.engine.answer(self.now, 0, query) {
            Ok(Answer::Orders(orders)) => Order::clone(orders.first().unwrap()),
            other => panic!("{query:?}: {other:?}"),
        }
    }

    fn apply(&mut self, what: Input) -> Vec<OutgoingMessage> {
        self.sequence += 1;
        let (sequence, at) = (self.sequence, self.now);
        let mut out = Outbox::default();
        // The client receives refusals by an event.
        let _ = self.engine.apply(&Sequenced { sequence, at, payload: what }, &mut out);
        let is_told =
            |event: &&Event| matches!(event, Event::OrderStatus(_) | Event::Refused(_) | Event::MassCancel(_));
        let told = out.events.iter().filter(is_told);
        for event in &out.events {
            if let Event::OrderStatus(status) = event {
                self.last = Some(status.clone());
                self.statuses.push(OrderStatus::clone(status));
            }
        }
        (0..).zip(told).filter_map(|(place, event)| self.report(place, event)).collect()
    }

    fn report(&self, place: u32, event: &Event) -> Option<OutgoingMessage> {
        let (reference, profile, at) = (self.engine.reference(), self.profile(), self.now);
        match event {
            Event::OrderStatus(status) => {
                let view = status.client.as_ref().filter(|view| view.comp_id.is_some())?;
                let ids = ReportIds::for_status(ExecIds(1), status, view, (self.sequence, place));
                Some(translate::report(status, view, reference, profile, &ids))
            }
            Event::MassCancel(cancel) => Some(translate::mass_cancel_accepted(cancel, at)),
            Event::Refused(refused) => {
                let exec_id = ExecIds(1).for_event(self.sequence, place);
                let answering = ReplyContext { at, reference, profile, exec_id: &exec_id };
                Some(translate::command_rejected(refused, &answering))
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
        ReferenceChange::Strategy(StrategyRecord { id: StrategyId(7), name: "MOMENTUM".into(), auto_activate: false }),
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
        ext_order: None,
        liquidity: None,
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
        properties: domain::OrderProperties::default(),
        pass_through: None,
    }
}

/// The terms of the order's pending request.
fn wanted(order: &Order) -> OrderTerms {
    order.pending.replace().map_or(order.terms, |(_, terms)| terms)
}

fn number<T: FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
    text.parse().unwrap()
}

/// A client that validates messages with FIX 4.4 accepts it.
pub(super) fn assert_sound(report: &OutgoingMessage) {
    static FIX44: OnceLock<Dictionary> = OnceLock::new();
    let header = "|34=1|49=RIALTO|52=20261116-12:00:00|56=CLIENT|";
    let bytes = wire(&in_full(report).replacen('|', header, 1));
    let mut decoder = FixDecoder::new();
    let message = decoder.decode(&bytes).unwrap();
    let checked =
        DictionaryChecker::default().check(FIX44.get_or_init(Dictionary::fix44), CheckRules::default(), &message);
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
pub(super) fn in_full(report: &OutgoingMessage) -> String {
    let fields = report.fields_in_order();
    let shown = fields.iter().map(|(tag, value)| format!("{tag}={}", String::from_utf8_lossy(value)));
    format!("35={}|{}", String::from_utf8_lossy(report.msg_type()), shown.collect::<Vec<_>>().join("|"))
}

/// `8(Y,X) I/4 cum 40 leaves 0`, in the manner of the standard's own scenarios.
fn in_short(report: &OutgoingMessage) -> String {
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
