//! A small desk to tell stories about: two exchanges, two accounts, a handful of securities, and a language of one line
//! a step. `tell` gives every line with what it caused.

use std::sync::Arc;

use domain::command::{
    CancelOrder, Command, ModifyOrder, PlaceOrder, RecordTransaction, ReducePosition, ReferenceChange, Restated,
};
use domain::order::{OrderKind, Side, Terms};
use domain::query::Answer;
use domain::reference::TradingHours;
use domain::report::{Fate, Picture, Profile, Report, Said, SessionState, VenueFill, VenueOrder};
use domain::{
    Account, AccountId, AdapterName, Caller, Currency, Decimal, Envelope, Event, Exchange, ExchangeId, Family,
    FamilyId, Input, Instruction, Limits, Mark, OrderId, PositionId, Price, Quantity, Query, Refusal, Scope, Security,
    SecurityId, SecurityKind, Source, Stamped, Strategy, StrategyId, Text, TimeInForce, Timestamp, TransactionKind,
};
use engine::{Engine, Outbox};

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) inputs: Vec<Stamped<Input>>,
    pub(crate) now: Timestamp,
}

/// 2026-11-16 12:00 UTC, a Monday.
const NOON: i64 = 1_794_830_400_000_000_000;

const SECURITIES: [(&str, u64); 4] = [("AAPL", 1), ("ES", 2), ("EUR.USD", 3), ("SAP", 4)];

impl World {
    /// A desk with 100,000 USD in each account, open for business.
    pub(crate) fn open() -> Self {
        let mut world = Self { engine: Engine::default(), inputs: vec![], now: Timestamp(NOON) };
        world.command(Command::Reference(reference())).unwrap();
        for (adapter, exchange) in [("SIM-A", 1), ("SIM-B", 2)] {
            let profile = Profile {
                exchanges: vec![ExchangeId(exchange)],
                expires_orders: true,
                refuses_duplicates: true,
                simulated: true,
            };
            world.say(adapter, Said::Attached(profile));
            world.say(adapter, Said::Session(SessionState::Connected));
            world.say(adapter, Said::Picture(Picture { complete: true, ..Picture::default() }));
            world.say(adapter, Said::Session(SessionState::LoggedOn));
        }
        world.command(Command::Record(credit(1))).unwrap();
        world.command(Command::Record(credit(2))).unwrap();
        world.line("mark AAPL 10 10.02");
        world.line("mark ES 5000 5000.25");
        world.line("mark EUR.USD 1.1 1.1002");
        world
    }

    /// Tells a story and gives it back with what each line caused.
    pub(crate) fn tell(&mut self, story: &str) -> String {
        story.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| self.line(line)).collect()
    }

    fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (caused, reply) = self.step(&words);
        let mut lines = vec![line.to_string()];
        lines.extend(caused.into_iter().map(|text| format!("    {text}")));
        lines.extend(reply.map(|text| format!("    {text}")));
        lines.join("\n") + "\n"
    }

    fn step(&mut self, words: &[&str]) -> (Vec<String>, Option<String>) {
        match words {
            ["wait", seconds] => {
                self.now = self.now.plus_seconds(seconds.parse().unwrap());
                (vec![], None)
            }
            ["mark", symbol, bid, ask] => {
                let mark = Mark {
                    security: security(symbol),
                    bid: Some(price(bid)),
                    ask: Some(price(ask)),
                    last: None,
                    at: self.now,
                };
                (self.apply(Input::Marks(vec![mark])).1, None)
            }
            ["clock"] => (self.apply(Input::Clock).1, None),
            ["open" | "positions" | "order" | "check", ..] => (vec![], Some(self.look(words))),
            ["venue", rest @ ..] => (self.venue("SIM-A", rest), None),
            ["venue-b", rest @ ..] => (self.venue("SIM-B", rest), None),
            _ => self.ask(command(words)),
        }
    }

    fn ask(&mut self, command: Command) -> (Vec<String>, Option<String>) {
        let (reply, caused) = self.apply(Input::Command(Box::new(Envelope { caller: trader(), command })));
        let said = match reply {
            Err(refusal) => Some(format!("refused {}: {refusal}", refusal.code())),
            Ok(Answer::OrderId(id)) => Some(format!("id {id}")),
            Ok(Answer::Killed { cancels }) => Some(format!("killed, {cancels} cancels")),
            Ok(_) => None,
        };
        (caused, said)
    }

    pub(crate) fn command(&mut self, command: Command) -> Result<Answer, Refusal> {
        self.apply(Input::Command(Box::new(Envelope { caller: trader(), command }))).0
    }

    pub(crate) fn limits(&mut self, scope: Scope, limits: Limits) {
        self.command(Command::SetLimits { scope, limits }).unwrap();
    }

    fn say(&mut self, adapter: &str, said: Said) -> Vec<String> {
        self.apply(Input::Report(Report { adapter: AdapterName(adapter.into()), ext_at: None, said })).1
    }

    fn venue(&mut self, adapter: &str, words: &[&str]) -> Vec<String> {
        let said = self.said(words);
        self.say(adapter, said)
    }

    fn apply(&mut self, what: Input) -> (Result<Answer, Refusal>, Vec<String>) {
        let mut out = Outbox::default();
        let input = Stamped { sequence: self.inputs.len() as u64 + 1, at: self.now, what };
        let reply = self.engine.apply(&input, &mut out);
        self.inputs.push(input);
        (reply, self.describe(&out))
    }

    fn order(&self, int_id: &str) -> Option<Arc<domain::Order>> {
        match self.engine.answer(self.now, 0, &Query::Order(int_id.into())) {
            Ok(Answer::Orders(orders)) => orders.first().cloned(),
            _ => None,
        }
    }

    fn number(&self, int_id: &str) -> OrderId {
        self.order(int_id).map_or(OrderId(999), |order| order.id)
    }

    fn said(&self, words: &[&str]) -> Said {
        let fill = |id: &str, quantity: &str, at: &str, exec: &str| VenueFill {
            order: self.number(id),
            exec_id: exec.into(),
            quantity: quantity.parse().unwrap(),
            price: price(at),
            at: None,
        };
        match words {
            ["accepts", id] => Said::Accepted { order: self.number(id), ext_id: Some(format!("V{id}").into()) },
            ["rejects", id] => Said::Rejected { order: self.number(id), reason: "not today".into() },
            ["fills", id, quantity, "@", at, exec] => Said::Filled(fill(id, quantity, at, exec)),
            ["cancels", id] => Said::Canceled { order: self.number(id), reason: None },
            ["expires", id] => Said::Expired { order: self.number(id), reason: Some("day over".into()) },
            ["replaces", id, quantity, "@", limit] => {
                Said::Replaced { order: self.number(id), terms: terms(quantity, limit), ext_id: None }
            }
            ["refuses-cancel", id] => Said::CancelRejected { order: self.number(id), reason: "too late".into() },
            ["refuses-replace", id] => Said::ReplaceRejected { order: self.number(id), reason: "too late".into() },
            ["busts", id, exec] => Said::Busted { order: self.number(id), exec_id: (*exec).into(), reason: None },
            ["corrects", id, old, "to", quantity, "@", at, exec] => {
                Said::Corrected { exec_id: (*old).into(), by: fill(id, quantity, at, exec) }
            }
            ["lost", id] => Said::Lost { order: self.number(id), reason: "time-out".into() },
            ["disconnects"] => Said::Session(SessionState::Disconnected),
            ["connects"] => Said::Session(SessionState::Connected),
            ["logs-on"] => Said::Session(SessionState::LoggedOn),
            ["shows", parts @ ..] => Said::Picture(self.picture(parts)),
            other => panic!("not a word of a venue: {other:?}"),
        }
    }

    /// `7:live 8:canceled fill:7:40@10:x1`, and `partly` where the picture is not complete.
    fn picture(&self, parts: &[&str]) -> Picture {
        let mut picture = Picture { complete: !parts.contains(&"partly"), ..Picture::default() };
        for part in parts.iter().filter(|part| part.contains(':')) {
            let fields: Vec<&str> = part.split([':', '@']).collect();
            match fields[..] {
                ["fill", id, quantity, at, exec] => picture.fills.push(VenueFill {
                    order: self.number(id),
                    exec_id: exec.into(),
                    quantity: quantity.parse().unwrap(),
                    price: price(at),
                    at: None,
                }),
                [id, fate] => picture.orders.push(VenueOrder {
                    order: self.number(id),
                    ext_id: Some(format!("V{id}").into()),
                    terms: self.order(id).map_or(terms("1", "1"), |order| order.terms),
                    fate: match fate {
                        "live" => Fate::Live,
                        "canceled" => Fate::Canceled,
                        "expired" => Fate::Expired,
                        _ => Fate::Rejected,
                    },
                    reason: None,
                }),
                _ => panic!("not a part of a picture: {part}"),
            }
        }
        picture
    }

    fn look(&self, words: &[&str]) -> String {
        let query = match words {
            ["open"] => Query::OpenOrders(Default::default()),
            ["order", id] => Query::Order((*id).into()),
            ["positions"] => Query::Positions(Default::default()),
            ["check", rest @ ..] => match command(&[&["place", "?"], rest].concat()) {
                Command::Place(ask) => Query::Check(ask, trader()),
                _ => panic!("only orders are checked"),
            },
            other => panic!("not a question: {other:?}"),
        };
        match self.engine.answer(self.now, 0, &query) {
            Ok(Answer::Orders(orders)) => joined(orders.iter().map(|order| order_line(order))),
            Ok(Answer::Positions(positions)) => joined(positions.iter().map(position_line)),
            Ok(Answer::Verdict(verdict)) => format!(
                "{}, notional {}, fee {}",
                verdict.refusal.map_or("would pass".into(), |refusal| format!("refused {}", refusal.code())),
                show(verdict.notional),
                show(verdict.fee)
            ),
            other => format!("{other:?}"),
        }
    }

    fn describe(&self, out: &Outbox) -> Vec<String> {
        let events = out.events.iter().filter_map(describe_event);
        let instructions = out.instructions.iter().map(|(adapter, instruction)| {
            let what = match instruction {
                Instruction::Submit(order) => format!("submit {}", order.int_id),
                Instruction::Replace(order, terms) => {
                    format!("replace {} with {} @ {}", order.int_id, terms.quantity, show(terms.kind.limit()))
                }
                Instruction::Cancel(order) => format!("cancel {}", order.int_id),
                Instruction::Subscribe(security) => format!("subscribe {security}"),
                Instruction::Unsubscribe(security) => format!("unsubscribe {security}"),
            };
            format!("to {adapter}: {what}")
        });
        events.chain(instructions).collect()
    }

    /// The state now, and the state that a replay of all inputs gives: always the same bytes.
    pub(crate) fn replayed(&self) -> (Vec<u8>, Vec<u8>) {
        let mut again = Engine::default();
        for input in &self.inputs {
            let _ = again.apply(input, &mut Outbox::default());
        }
        (self.engine.encode_state(), again.encode_state())
    }
}

fn describe_event(event: &Event) -> Option<String> {
    Some(match event {
        Event::OrderStatus(status) => format!(
            "{} {}{}{}",
            status.int_id,
            status.status.name(),
            if status.filled.is_zero() { String::new() } else { format!(" filled {}", status.filled) },
            status.reason.as_ref().map_or(String::new(), |reason| format!(" ({reason})")),
        ),
        Event::Fill(fill) => format!("fill {} {} @ {}", fill.int_id, fill.quantity, fill.price),
        Event::Transaction(booked) => format!("booked {} {} @ {}", booked.kind.name(), booked.quantity, booked.price),
        Event::Position(position) => position_line(position),
        Event::Cash(balance) => format!("cash {} {}", balance.currency, balance.amount),
        Event::Alarm(alarm) => format!("{:?} {}: {}", alarm.level, alarm.code, alarm.text),
        Event::TradingState(change) => format!("{} is {}", change.scope, change.state.name()),
        Event::Session(change) => format!("{} {}", change.adapter, change.state.name()),
        _ => return None,
    })
}

fn position_line(position: &domain::Position) -> String {
    format!(
        "position {} of {} cost {} realised {}",
        position.security, position.quantity, position.cost, position.realized_pl
    )
}

fn order_line(order: &domain::Order) -> String {
    format!(
        "{} {} {} of {} {}{}",
        order.int_id,
        order.status().name(),
        order.filled,
        order.terms.quantity,
        order.terms.kind.name(),
        if order.in_doubt { " in doubt" } else { "" }
    )
}

fn show(amount: Option<impl ToString>) -> String {
    amount.map_or("-".into(), |amount| amount.to_string())
}

pub(crate) fn trader() -> Caller {
    Caller { source: Source::Rest, user: Some("ann".into()), origin: None }
}

/// `place 7 buy 100 AAPL @ 10 [GTC]`, `place 7 sell 5 AAPL market`, `cancel 7`, `modify 7 to 50 @ 11`, …
fn command(words: &[&str]) -> Command {
    match words {
        ["place", id, side, quantity, symbol, rest @ ..] => Command::Place(place(id, side, quantity, symbol, rest)),
        ["modify", id, "to", quantity, "@", limit] => Command::Modify(ModifyOrder {
            int_id: id.parse().unwrap(),
            cl_ord_id: None,
            quantity: Some(quantity.parse().unwrap()),
            limit: Some(price(limit)),
            stop: None,
            tif: None,
            restated: Restated::default(),
        }),
        ["cancel", id] => Command::Cancel(CancelOrder { int_id: id.parse().unwrap(), cl_ord_id: None }),
        ["close", id] => reduce(id, None),
        ["reduce", id, quantity] => reduce(id, Some(quantity.parse().unwrap())),
        ["next-id"] => Command::NextOrderId(AccountId(1)),
        ["kill"] => Command::Kill { scope: Scope::Platform, reason: None },
        ["set", scope, state] => Command::SetTradingState {
            scope: scope.parse().unwrap(),
            state: match *state {
                "ACTIVE" => domain::TradingState::Active,
                "REDUCING" => domain::TradingState::Reducing,
                _ => domain::TradingState::Halted,
            },
            reason: None,
        },
        ["reset-positions"] => Command::ResetPositions,
        ["reset-cash"] => Command::ResetCash,
        other => panic!("not a command: {other:?}"),
    }
}

fn reduce(position: &str, quantity: Option<Quantity>) -> Command {
    Command::Reduce(ReducePosition { position: PositionId(position.parse().unwrap()), quantity })
}

fn place(id: &str, side: &str, quantity: &str, symbol: &str, rest: &[&str]) -> PlaceOrder {
    let (kind, rest) = match rest {
        ["market", rest @ ..] => (OrderKind::Market, rest),
        ["stop", stop, "@", limit, rest @ ..] => {
            (OrderKind::StopLimit { limit: price(limit), stop: price(stop) }, rest)
        }
        ["stop", stop, rest @ ..] => (OrderKind::Stop { stop: price(stop) }, rest),
        ["@", limit, rest @ ..] => (OrderKind::Limit { limit: price(limit) }, rest),
        other => panic!("not a kind of order: {other:?}"),
    };
    let after = |word: &str| rest.iter().skip_while(|other| **other != word).nth(1).map(|id| id.parse().unwrap());
    PlaceOrder {
        int_id: (id != "?").then(|| id.parse().unwrap()),
        cl_ord_id: None,
        security: security(symbol),
        account: after("account").map(AccountId),
        strategy: after("strategy").map(StrategyId),
        exchange: after("exchange").map(ExchangeId),
        side: if side == "buy" { Side::Buy } else { Side::Sell },
        quantity: quantity.parse().unwrap(),
        kind,
        tif: rest.first().map_or(TimeInForce::Day, |word| tif(word)),
        exchange_order: false,
        reference: None,
    }
}

fn tif(word: &str) -> TimeInForce {
    match word {
        "GTC" => TimeInForce::Gtc,
        "IOC" => TimeInForce::Ioc,
        "FOK" => TimeInForce::Fok,
        "ATO" => TimeInForce::Ato,
        "ATC" => TimeInForce::Atc,
        "GTD-yesterday" => TimeInForce::Gtd { until: Timestamp(NOON).plus_seconds(-86_400) },
        "GTD-tomorrow" => TimeInForce::Gtd { until: Timestamp(NOON).plus_seconds(86_400) },
        _ => TimeInForce::Day,
    }
}

fn terms(quantity: &str, limit: &str) -> Terms {
    Terms { quantity: quantity.parse().unwrap(), kind: OrderKind::Limit { limit: price(limit) }, tif: TimeInForce::Day }
}

fn price(text: &str) -> Price {
    text.parse().unwrap()
}

fn security(symbol: &str) -> SecurityId {
    let known = SECURITIES.iter().find(|(name, _)| *name == symbol).map(|(_, id)| *id);
    SecurityId(known.unwrap_or_else(|| symbol.parse().unwrap_or(99)))
}

fn credit(account: u64) -> RecordTransaction {
    RecordTransaction {
        uuid: None,
        at: None,
        settlement_date: None,
        ext_id: None,
        int_order_id: None,
        ext_order_id: None,
        kind: TransactionKind::Credit,
        quantity: None,
        price: 100_000.into(),
        execution_commission: None,
        clearing_commission: None,
        fee: None,
        currency: Some(Currency::USD),
        account: Some(AccountId(account)),
        security: None,
        strategy: None,
        description: None,
    }
}

fn reference() -> Vec<ReferenceChange> {
    let eur: Currency = "EUR".parse().unwrap();
    let forex = SecurityKind::Forex { base: eur, transaction: Currency::USD };
    let future = SecurityKind::Future {
        expiration: "2027-03-19".parse().unwrap(),
        month_year: "202703".into(),
        first_notice: None,
    };
    vec![
        ReferenceChange::Exchange(exchange(1, "00:00", "24:00", 0)),
        ReferenceChange::Exchange(exchange(2, "09:00", "11:30", 10)),
        ReferenceChange::Family(family()),
        ReferenceChange::Security(a_security(1, SecurityKind::Stock, 1, "1", "0.01", Some(1))),
        ReferenceChange::Security(a_security(2, future, 1, "50", "0.25", None)),
        ReferenceChange::Security(a_security(3, forex, 1, "1", "0.0001", None)),
        ReferenceChange::Security(a_security(4, SecurityKind::Stock, 2, "1", "0.01", None)),
        ReferenceChange::Account(account(1, "A")),
        ReferenceChange::Account(account(2, "B")),
        ReferenceChange::Strategy(Strategy { id: StrategyId(2), name: "TREND".into(), auto_activate: false }),
    ]
}

fn exchange(id: u64, open: &str, close: &str, auction: u16) -> Exchange {
    Exchange {
        id: ExchangeId(id),
        name: format!("Exchange {id}").into(),
        code: None,
        mic: None,
        bloomberg_code: None,
        time_zone: "UTC".into(),
        trading_hours: vec![TradingHours {
            open: open.parse().unwrap(),
            close: close.parse().unwrap(),
            days: (1..=7).collect(),
        }],
        holidays: vec![],
        opening_auction_minutes: auction,
        closing_auction_minutes: auction,
    }
}

fn family() -> Family {
    Family {
        id: FamilyId(1),
        name: "US stocks".into(),
        symbol_root: None,
        isin_root: None,
        ric_root: None,
        currency: Currency::USD,
        contract_size: Decimal::ONE,
        price_incr: Decimal::new(1, 2),
        underlying: None,
        exchange: None,
        execution_commission: "0.005".parse().unwrap(),
        clearing_commission: domain::Amount::ZERO,
        fee: domain::Amount::ZERO,
    }
}

fn a_security(
    id: u64,
    kind: SecurityKind,
    exchange: u64,
    contract_size: &str,
    tick: &str,
    family: Option<u64>,
) -> Security {
    Security {
        id: SecurityId(id),
        kind,
        symbol: format!("S{id}").into(),
        description: None,
        isin: None,
        bbgid: None,
        ric: None,
        conid: None,
        adapter_ticker: None,
        underlying: None,
        family: family.map(FamilyId),
        exchange: ExchangeId(exchange),
        currency: Currency::USD,
        contract_size: contract_size.parse().unwrap(),
        min_qty: None,
        max_qty: Some(Quantity::from(1_000_000)),
        qty_incr: Decimal::ONE,
        min_price: None,
        max_price: None,
        price_incr: tick.parse().unwrap(),
        min_notional: None,
        tradeable: true,
    }
}

fn account(id: u64, qualifier: &str) -> Account {
    Account {
        id: AccountId(id),
        name: format!("account-{id}").into(),
        active: true,
        adapter_type: "SIM".into(),
        session_qualifier: Some(Text::from(qualifier)),
        ext_account: None,
        ext_account_group: None,
        ext_allocation_profile: None,
        ext_clearing_account: None,
    }
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "nothing".into() } else { lines.join("\n    ") }
}
