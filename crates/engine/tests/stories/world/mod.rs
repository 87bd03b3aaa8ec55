//! Scenario fixture: two exchanges, two accounts, a few securities, and a script language of one line a step. `run`
//! returns every line with its output.

mod external;
mod language;
mod fixture;
mod legs;
mod lines;
mod listings;
mod money;

use std::sync::Arc;

use domain::command::Command;
use domain::order::OrderTerms;
use domain::query::Answer;
use domain::report::{
    AdapterCapabilities, InquiryAnswer, InquiryResult, RefusesRepeatedIds, Report, ReportKind, SessionState, VenueFill,
    VenueSnapshot,
};
use domain::{
    AdapterName, Caller, CommandEnvelope, Event, ExchangeId, Input, Instruction, Mark, OrderId, OrderProperty, Query,
    Refusal, RiskLimits, RiskScope, Sequenced, Source, StaleCause, Timestamp,
};
use engine::{Engine, Outbox};

use external::external;
use fixture::{credit, reference, security};
use language::{command, price, terms};

pub(crate) struct StoryEngine {
    pub(crate) caller: Caller,
    pub(crate) engine: Engine,
    pub(crate) inputs: Vec<Sequenced<Input>>,
    pub(crate) now: Timestamp,
}

/// 2026-11-16 12:00 UTC, a Monday.
const NOON: i64 = 1_794_830_400_000_000_000;

impl StoryEngine {
    /// 100,000 USD in each account, venues connected.
    pub(crate) fn open() -> Self {
        let mut world = Self { caller: trader(), engine: Engine::default(), inputs: vec![], now: Timestamp(NOON) };
        world.command(Command::Reference(reference())).unwrap();
        for (adapter, exchange) in [("SIM-A", 1), ("SIM-B", 2)] {
            let profile = AdapterCapabilities {
                exchanges: vec![ExchangeId(exchange)],
                expires_orders: true,
                refuses_repeated_ids: RefusesRepeatedIds::Forever,
                simulated: true,
                order_properties: if adapter == "SIM-A" { OrderProperty::ALL.to_vec() } else { vec![] },
                ..AdapterCapabilities::default()
            };
            world.say(adapter, ReportKind::Attached(profile));
            world.say(adapter, ReportKind::Session(SessionState::Connected));
            world.say(adapter, ReportKind::Snapshot(VenueSnapshot { complete: true, ..VenueSnapshot::default() }));
            world.say(adapter, ReportKind::Session(SessionState::LoggedOn));
        }
        world.command(Command::Record(credit(1))).unwrap();
        world.command(Command::Record(credit(2))).unwrap();
        world.line("mark AAPL 10 10.02");
        world.line("mark ES 5000 5000.25");
        world.line("mark EUR.USD 1.1 1.1002");
        world
    }

    /// Runs a script and returns it with the output of each line.
    pub(crate) fn run(&mut self, story: &str) -> String {
        story.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| self.line(line)).collect()
    }

    /// The same for commands of another caller.
    pub(crate) fn run_as(&mut self, caller: &Caller, story: &str) -> String {
        self.caller = caller.clone();
        let told = self.run(story);
        self.caller = trader();
        told
    }

    /// `buy 1 AAPL @ 10` as a command.
    pub(crate) fn place(&self, order: &str) -> Command {
        command(&["place", "?"].into_iter().chain(order.split_whitespace()).collect::<Vec<_>>())
    }

    pub(crate) fn send(&mut self, envelope: CommandEnvelope) -> Result<Answer, Refusal> {
        self.apply(Input::Command(Box::new(envelope))).0
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
                    stale: None,
                };
                (self.apply(Input::Marks(vec![mark])).1, None)
            }
            ["stale", symbol, bid, ask, cause] => {
                let stale = StaleCause::ALL.into_iter().find(|known| known.name() == *cause);
                let (security, bid, ask) = (security(symbol), Some(price(bid)), Some(price(ask)));
                let mark = Mark { security, bid, ask, last: None, at: self.now, stale };
                (self.apply(Input::Marks(vec![mark])).1, None)
            }
            ["last", symbol, last] => {
                let (security, last) = (security(symbol), Some(price(last)));
                let mark = Mark { security, bid: None, ask: None, last, at: self.now, stale: None };
                (self.apply(Input::Marks(vec![mark])).1, None)
            }
            ["day", day] => {
                self.now = format!("{day}T00:00:00Z").parse().unwrap();
                (self.apply(Input::Clock).1, None)
            }
            ["clock"] => (self.apply(Input::Clock).1, None),
            [
                "open" | "breaks" | "positions" | "costs" | "cash" | "daily" | "order" | "check" | "timers" | "lines",
                ..,
            ] => (vec![], Some(self.look(words))),
            ["venue", rest @ ..] => (self.venue("SIM-A", rest), None),
            ["venue-b", rest @ ..] => (self.venue("SIM-B", rest), None),
            _ => self.ask(command(words)),
        }
    }

    fn ask(&mut self, command: Command) -> (Vec<String>, Option<String>) {
        let caller = self.caller.clone();
        let (reply, caused) = self.apply(Input::Command(Box::new(CommandEnvelope { caller, command })));
        let said = match reply {
            Err(refusal) => Some(format!("refused {}: {refusal}", refusal.code())),
            Ok(Answer::OrderId(id)) => Some(format!("id {id}")),
            Ok(Answer::Killed { cancels }) => Some(format!("killed, {cancels} cancels")),
            Ok(_) => None,
        };
        (caused, said)
    }

    pub(crate) fn command(&mut self, command: Command) -> Result<Answer, Refusal> {
        self.apply(Input::Command(Box::new(CommandEnvelope { caller: trader(), command }))).0
    }

    /// A command from another interface.
    pub(crate) fn command_of(&mut self, source: Source, command: Command) -> Result<Answer, Refusal> {
        let caller = Caller { source, ..trader() };
        self.apply(Input::Command(Box::new(CommandEnvelope { caller, command }))).0
    }

    pub(crate) fn limits(&mut self, scope: RiskScope, limits: RiskLimits) {
        self.command(Command::SetLimits { scope, limits }).unwrap();
    }

    fn say(&mut self, adapter: &str, said: ReportKind) -> Vec<String> {
        self.apply(Input::Report(Report { adapter: AdapterName(adapter.into()), ext_at: None, kind: said })).1
    }

    fn venue(&mut self, adapter: &str, words: &[&str]) -> Vec<String> {
        let said = self.said(words);
        self.say(adapter, said)
    }

    pub(crate) fn apply(&mut self, what: Input) -> (Result<Answer, Refusal>, Vec<String>) {
        let mut out = Outbox::default();
        let input = Sequenced { sequence: self.inputs.len() as u64 + 1, at: self.now, payload: what };
        let reply = self.engine.apply(&input, &mut out);
        self.inputs.push(input);
        (reply, self.describe(&out))
    }

    pub(crate) fn order(&self, int_id: &str) -> Option<Arc<domain::Order>> {
        match self.engine.answer(self.now, 0, &Query::Order(int_id.into())) {
            Ok(Answer::Orders(orders)) => orders.first().cloned(),
            _ => None,
        }
    }

    /// An order is named by its id, or by its number where it is no longer kept: `#1`.
    fn number(&self, int_id: &str) -> OrderId {
        if let Some(number) = int_id.strip_prefix('#') {
            return OrderId(number.parse().unwrap());
        }
        self.order(int_id).map_or(OrderId(999), |order| order.id)
    }

    pub(crate) fn said(&self, words: &[&str]) -> ReportKind {
        if let Some(said) = money::said(self.now, words).or_else(|| lines::said(words)) {
            return said;
        }
        let fill = |id: &str, quantity: &str, at: &str, exec: &str| VenueFill {
            order: self.number(id),
            exec_id: exec.into(),
            quantity: quantity.parse().unwrap(),
            price: price(at),
            at: None,
            fee: None,
            charges: vec![],
            ext_order: None,
            liquidity: None,
        };
        match words {
            ["accepts", id] => ReportKind::Accepted { order: self.number(id), ext_id: Some(format!("V{id}").into()) },
            ["rejects", id] => ReportKind::Rejected { order: self.number(id), reason: "not today".into() },
            ["fills", id, quantity, "@", at, exec, details @ ..] => {
                ReportKind::Filled(money::detailed(fill(id, quantity, at, exec), details))
            }
            ["cancels", id] => ReportKind::Canceled { order: self.number(id), reason: None },
            ["expires", id] => ReportKind::Expired { order: self.number(id), reason: Some("day over".into()) },
            ["replaces", id, quantity, "@", limit] => self.replaced(id, Some(terms(quantity, limit)), None),
            ["replaces", id] => self.replaced(id, None, None),
            ["refuses-cancel", id] => ReportKind::CancelRejected { order: self.number(id), reason: "too late".into() },
            ["refuses-replace", id] => {
                ReportKind::ReplaceRejected { order: self.number(id), reason: "too late".into() }
            }
            ["busts", id, exec] => ReportKind::Busted { order: self.number(id), exec_id: (*exec).into(), reason: None },
            ["corrects", id, old, "to", quantity, "@", at, exec, details @ ..] => {
                let by = money::detailed(fill(id, quantity, at, exec), details);
                ReportKind::Corrected { exec_id: (*old).into(), by }
            }
            ["lost", id] => {
                ReportKind::DeliveryUnknown { order: self.number(id), reason: "time-out".into(), dead_after: None }
            }
            ["lost", id, "for", seconds] => ReportKind::DeliveryUnknown {
                order: self.number(id),
                reason: "time-out".into(),
                dead_after: Some(self.now.plus_seconds(seconds.parse().unwrap())),
            },
            ["replaces", id, "by", leg] => self.replaced(id, None, Some(leg)),
            ["replaces", id, quantity, "@", limit, "by", leg] => {
                self.replaced(id, Some(terms(quantity, limit)), Some(leg))
            }
            ["halves", id, canceled, placed, rest @ ..] => legs::halves(self.number(id), canceled, placed, rest),
            ["leg", id, leg, fate] => ReportKind::Leg(Box::new(self.leg(id, leg, fate))),
            ["shows", parts @ ..] => ReportKind::Snapshot(self.picture(parts)),
            // Asked so many seconds ago; nothing sent before could take effect any more.
            ["showed", seconds, "ago", parts @ ..] => self.showed(seconds.parse().unwrap(), parts),
            ["external", parts @ ..] => ReportKind::External(Box::new(external(parts))),
            ["gap"] => ReportKind::Gap,
            ["reports-lost"] => ReportKind::ReportsLost,
            ["contradicts", id, reason @ ..] => {
                ReportKind::UnclearReport { order: self.number(id), reason: reason.join(" ").into() }
            }
            // Asked now; nothing sent before can take effect any more.
            ["misses", id] => self.not_found(id, 0, Some(0)),
            // Asked so many seconds ago.
            ["missed", seconds, "ago", id] => self.not_found(id, seconds.parse().unwrap(), Some(0)),
            ["found", seconds, "ago", parts @ ..] => self.answer(parts, seconds.parse().unwrap(), Some(0)),
            // A request may still take effect for so many seconds, or nobody knows how long.
            ["misses", id, "with-requests-for", seconds] => self.not_found(id, 0, seconds.parse().ok()),
            ["finds", id, "with-requests-for", seconds] => self.answer(&[*id], 0, seconds.parse().ok()),
            ["finds", parts @ ..] => self.answer(parts, 0, Some(0)),
            other => self.listed(other),
        }
    }

    fn showed(&self, seconds_ago: i64, parts: &[&str]) -> ReportKind {
        let as_of = Some(self.now.plus_seconds(-seconds_ago));
        ReportKind::Snapshot(VenueSnapshot { as_of, dead_after: as_of, ..self.picture(parts) })
    }

    /// With the requested terms, where no others are told.
    fn replaced(&self, id: &str, terms: Option<OrderTerms>, leg: Option<&str>) -> ReportKind {
        let requested = || self.order(id).and_then(|order| order.pending.replace().map(|(_, terms)| terms));
        let terms = terms.or_else(requested).expect("a replace is pending");
        ReportKind::Replaced { order: self.number(id), terms, ext_id: leg.map(Into::into) }
    }

    fn answer(&self, parts: &[&str], seconds_ago: i64, requests_for: Option<i64>) -> ReportKind {
        // What is filled in all, where executions are not told.
        let (totals, parts): (Vec<&str>, Vec<&str>) = parts.iter().partition(|part| part.starts_with("total:"));
        let VenueSnapshot { mut orders, fills, .. } = self.picture(&parts);
        let seen = orders.remove(0);
        ReportKind::Inquiry(InquiryAnswer {
            order: seen.order,
            as_of: self.now.plus_seconds(-seconds_ago),
            dead_after: requests_for.map(|seconds| self.now.plus_seconds(seconds - seconds_ago)),
            result: InquiryResult::Found(seen, fills),
            other_legs: (!orders.is_empty()).then_some(orders),
            filled: totals.first().and_then(|total| money::filled_total(total)).map(Box::new),
        })
    }

    fn not_found(&self, id: &str, seconds_ago: i64, requests_for: Option<i64>) -> ReportKind {
        ReportKind::Inquiry(InquiryAnswer {
            order: self.number(id),
            as_of: self.now.plus_seconds(-seconds_ago),
            dead_after: requests_for.map(|seconds| self.now.plus_seconds(seconds - seconds_ago)),
            result: InquiryResult::NotFound,
            other_legs: None,
            filled: None,
        })
    }

    /// `7:live 8:canceled fill:7:40@10:x1`, and `partly` where the snapshot is not complete.
    fn picture(&self, parts: &[&str]) -> VenueSnapshot {
        let mut picture = VenueSnapshot { complete: !parts.contains(&"partly"), ..VenueSnapshot::default() };
        for part in parts.iter().filter(|part| part.contains(':')) {
            let fields: Vec<&str> = part.split([':', '@']).collect();
            match fields[..] {
                ["fill", id, quantity, at, exec] => picture.fills.push(VenueFill {
                    order: self.number(id),
                    exec_id: exec.into(),
                    quantity: quantity.parse().unwrap(),
                    price: price(at),
                    at: None,
                    fee: None,
                    charges: vec![],
                    ext_order: None,
                    liquidity: None,
                }),
                ["ext", id, fate] => {
                    picture.external.push(external(&[id, "buy", "100", "AAPL", "@", "10", fate]));
                }
                // A leg with another id of the venue than the first.
                [id, leg, fate] => picture.orders.push(self.leg(id, leg, fate)),
                [id, leg, fate, limit] => picture.orders.push(self.leg_at(id, leg, fate, limit)),
                [id, fate] => picture.orders.push(self.leg(id, &format!("V{id}"), fate)),
                _ => panic!("not a part of a snapshot: {part}"),
            }
        }
        picture
    }

    fn look(&self, words: &[&str]) -> String {
        let query = match words {
            ["open"] => Query::OpenOrders(Default::default()),
            ["order", id] => Query::Order((*id).into()),
            ["timers"] => Query::DeadManTimers,
            ["lines"] => Query::Adapters,
            ["breaks"] => Query::Breaks,
            ["costs"] => Query::Positions(Default::default()),
            ["cash"] => Query::Balances(Default::default()),
            ["daily"] => Query::DailyTransactions(Default::default()),
            ["positions"] => Query::Positions(Default::default()),
            ["check", "modify", rest @ ..] => match command(&[&["modify"], rest].concat()) {
                Command::Modify(ask) => Query::CheckModify(ask, trader()),
                _ => panic!("only changes are checked"),
            },
            ["check", rest @ ..] => match command(&[&["place", "?"], rest].concat()) {
                Command::Place(ask) => Query::CheckOrder(ask, trader()),
                _ => panic!("only orders are checked"),
            },
            other => panic!("not a question: {other:?}"),
        };
        match self.engine.answer(self.now, 0, &query) {
            Ok(Answer::Orders(orders)) => joined(orders.iter().map(|order| order_line(order))),
            Ok(Answer::Positions(positions)) if words == ["costs"] => joined(positions.iter().map(money::cost_line)),
            Ok(Answer::Balances(balances)) => joined(balances.iter().map(|held| {
                format!("{}/{} {} {}{}", held.strategy, held.account, held.amount, held.currency, venue_side(held))
            })),
            Ok(Answer::Transactions(booked)) => {
                joined(booked.iter().map(|booked| format!("{} {} at {}", booked.id, booked.kind.name(), booked.at)))
            }
            Ok(Answer::Positions(positions)) => joined(positions.iter().map(position_line)),
            Ok(Answer::Adapters(adapters)) => {
                adapters.first().map_or(String::new(), |first| lines::lines_line(self.now, first))
            }
            Ok(Answer::Breaks(breaks)) => joined(breaks.iter().map(|found| listings::break_line(found))),
            Ok(Answer::DeadManTimers(timers)) => joined(timers.iter().map(|timer| self.timer_line(timer))),
            Ok(Answer::PreTradeCheck(verdict)) => format!(
                "{}, notional {}, fee {}",
                verdict.refusal.map_or("would pass".into(), |refusal| format!("refused {}", refusal.code())),
                show(verdict.notional),
                show(verdict.fee)
            ),
            other => format!("{other:?}"),
        }
    }

    fn timer_line(&self, timer: &domain::risk::DeadManTimer) -> String {
        let left = timer.expires.seconds_since(self.now);
        let by = timer.renewed_by.as_ref().map_or(String::new(), |user| format!(" by {user}"));
        format!("{} of {} s fires in {left} s, renewed{by}", timer.scope, timer.seconds)
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
                Instruction::CancelLeg(order, leg) => format!("cancel leg {leg} of {}", order.int_id),
                Instruction::Inquire(order) => format!("ask about {}", order.int_id),
                Instruction::AskStatement(account) => format!("ask for the statement of account {account}"),
                Instruction::ListOpenOrders => "list open orders".into(),
                Instruction::ListFills { security, cursor } => listings::question(*security, cursor.as_ref()),
                Instruction::Subscribe(security) => format!("subscribe {security}"),
                Instruction::LogOn => "log on".into(),
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
        Event::Fill(fill) => {
            format!("fill {} {} @ {}{}", fill.int_id, fill.quantity, fill.price, money::liquidity_word(fill.liquidity))
        }
        Event::Transaction(booked) => money::transaction_line(booked),
        Event::Position(position) => position_line(position),
        Event::Cash(balance) => format!("cash {} {}{}", balance.currency, balance.amount, venue_side(balance)),
        Event::Alarm(alarm) => format!("{:?} {}: {}", alarm.level, alarm.code, alarm.text),
        Event::TradingState(change) => format!("{} is {}", change.scope, change.state.name()),
        Event::Session(change) => lines::session_line(change),
        Event::Break(found) => listings::break_line(found),
        Event::ValueSample(sample) => money::sample_line(sample),
        _ => return None,
    })
}

/// What the venue holds, where it said so.
fn venue_side(balance: &domain::CashBalance) -> String {
    let sides = balance.venue_total.zip(balance.venue_locked);
    sides.map_or(String::new(), |(total, locked)| format!(", at the venue {total}, locked {locked}"))
}

/// With what only some have: charges in other currencies, the fill that a charge belongs to, why something was settled.
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
    Caller::new(Source::Rest, Some("ann".into()))
}

fn joined(lines: impl Iterator<Item = String>) -> String {
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() { "nothing".into() } else { lines.join("\n    ") }
}
