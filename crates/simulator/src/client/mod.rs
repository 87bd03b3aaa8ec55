//! Seeded clients. Each keeps its own log of what it asked for and what it was told: the record against the platform.

mod odd_requests;

use std::sync::Arc;

use bus::reply::{NoReply, Reply, ReplyReceiver};
use domain::command::{Caller, CancelOrder, Command, CommandEnvelope, ModifyOrder, PlaceOrder};
use domain::order::{OrderKind, Side, Source, TimeInForce};
use domain::query::Answer;
use domain::risk::{RiskScope, TradingState};
use domain::{AccountId, IntId, Quantity, SeededRng, Timestamp};
use web::PlainRequest;

use crate::http_clients::{HttpAnswer, HttpNews, HttpTicket, answer_of, request_of};
use crate::market::{Market, Stock, cents};
use crate::request_log::{Intent, LogEntry, RequestOutcome};
use crate::schedule::OPERATOR;

/// A client changes and cancels its newest orders only.
const ORDERS_REMEMBERED: usize = 12;

pub(crate) struct SeededClient {
    number: usize,
    market: Arc<Market>,
    account: AccountId,
    /// Until when some orders are good: the next midnight of the run, where it has one.
    good_till: Option<Timestamp>,
    /// Some of what it asks for is wrong.
    is_odd: bool,
    /// Orders of an earlier release that are the client's now.
    taken_over: Vec<IntId>,
    orders_named: u64,
    pub(crate) log: Vec<LogEntry>,
    waiting: Vec<(usize, PendingAnswer)>,
    /// That it was given.
    pub(crate) answers: u64,
}

/// An answer that is awaited.
pub(crate) enum PendingAnswer {
    Inbox(ReplyReceiver),
    Http(HttpTicket),
}

impl PendingAnswer {
    fn try_recv(&mut self) -> Option<RequestOutcome> {
        match self {
            Self::Inbox(reply) => reply.try_recv().map(outcome_of),
            Self::Http(ticket) => ticket.try_recv().map(|news| match news {
                HttpNews::Answer(response) => outcome_of_answer(answer_of(&response)),
                HttpNews::Dropped | HttpNews::LineLost => RequestOutcome::Unknown,
            }),
        }
    }
}

impl SeededClient {
    pub(crate) fn new(number: usize, market: Arc<Market>, good_till: Option<Timestamp>) -> Self {
        let (account, is_odd) = (market.account_of(number), market.is_odd);
        Self {
            number,
            market,
            account,
            good_till,
            is_odd,
            taken_over: vec![],
            orders_named: 0,
            log: vec![],
            waiting: vec![],
            answers: 0,
        }
    }

    /// Changes and cancels these orders as if they were its own.
    pub(crate) fn take_over(&mut self, orders: Vec<IntId>) {
        self.taken_over = orders;
    }

    pub(crate) fn name(&self) -> String {
        if self.number == OPERATOR { "operator".to_owned() } else { format!("trader {}", self.number + 1) }
    }

    /// What the client does at this draw.
    pub(crate) fn decide(&mut self, draw: u64) -> (Intent, CommandEnvelope) {
        let mut rng = SeededRng::new(draw, 7);
        let mut odd = SeededRng::new(draw, 13);
        let (intent, command) = match self.number {
            OPERATOR if self.is_odd && odd.one_in(2) => odd_requests::set_limits(&self.market, &mut odd),
            OPERATOR => self.operate(&mut rng),
            _ if self.is_odd => {
                let asked = self.trade(&mut rng);
                self.make_odd(asked, &mut odd)
            }
            _ => self.trade(&mut rng),
        };
        (intent, self.envelope(command))
    }

    /// Some orders are wrong, or have the content of the one before; some changes are of the price, too.
    fn make_odd(&self, (intent, command): (Intent, Command), rng: &mut SeededRng) -> (Intent, Command) {
        match (intent, command) {
            (Intent::Place(_, int_id), Command::Place(mut order)) => {
                match rng.below(6) {
                    0 => odd_requests::spoil(&mut order, &self.market, rng),
                    1 => order = self.newest_order().map_or(order, |newest| repeated(newest, &int_id)),
                    _ => {}
                }
                (Intent::Place(Box::new(order.clone()), int_id), Command::Place(order))
            }
            (Intent::Modify(order, quantity, _), Command::Modify(mut change)) => {
                if let Some(placed) = self.placed(&order).filter(|_| rng.one_in(2)) {
                    odd_requests::change_price(&mut change, placed, rng);
                }
                (Intent::Modify(order, quantity, change.limit), Command::Modify(change))
            }
            asked => asked,
        }
    }

    /// The last order that may exist.
    fn newest_order(&self) -> Option<&PlaceOrder> {
        self.log.iter().rev().filter(|entry| !entry.outcome.is_refusal()).find_map(|entry| match &entry.intent {
            Intent::Place(order, _) => Some(&**order),
            _ => None,
        })
    }

    /// An order as it was asked for last under this id.
    fn placed(&self, int_id: &IntId) -> Option<&PlaceOrder> {
        self.log.iter().rev().find_map(|entry| match &entry.intent {
            Intent::Place(order, named) if named == int_id => Some(&**order),
            _ => None,
        })
    }

    fn envelope(&self, command: Command) -> CommandEnvelope {
        let caller = Caller::new(Source::Rest, Some(self.name().as_str().into()));
        CommandEnvelope { caller, command }
    }

    fn trade(&mut self, rng: &mut SeededRng) -> (Intent, Command) {
        let known = self.known_orders();
        match (rng.below(20), rng.pick(&known).cloned()) {
            (0..=4, Some(order)) => self.cancel(order),
            (5..=7, Some(order)) => modify(rng, order),
            (8, Some(order)) => self.place_again(&order).unwrap_or_else(|| self.cancel(order)),
            (9, _) => self.cancel("NO-SUCH-ORDER".parse().expect("it is short and printable")),
            _ => self.place(rng),
        }
    }

    /// The newest orders that may exist.
    fn known_orders(&self) -> Vec<IntId> {
        let placed = self.log.iter().rev().filter_map(|entry| match (&entry.intent, &entry.outcome) {
            (_, outcome) if outcome.is_refusal() => None,
            (Intent::Place(_, int_id), _) => Some(int_id.clone()),
            _ => None,
        });
        placed.chain(self.taken_over.iter().cloned()).take(ORDERS_REMEMBERED).collect()
    }

    fn place(&mut self, rng: &mut SeededRng) -> (Intent, Command) {
        self.orders_named += 1;
        let int_id: IntId = format!("T{}-{}", self.number + 1, self.orders_named).parse().expect("short and printable");
        let Stock { security, opening } = self.market.draw_stock(rng);
        let side = if rng.one_in(2) { Side::Buy } else { Side::Sell };
        let (kind, mut tif) = draw_terms(rng, side, *opening);
        if let Some(until) = self.good_till.filter(|_| tif == TimeInForce::Gtc && rng.one_in(3)) {
            tif = TimeInForce::Gtd { until };
        }
        // One in sixteen is larger than the platform allows, one in sixteen is nothing.
        let quantity = match rng.below(16) {
            0 => 5_000,
            1 => 0,
            _ => rng.between(1, 150),
        };
        let order = PlaceOrder {
            int_id: Some(int_id.clone()),
            cl_ord_id: None,
            security: security.id,
            account: Some(self.account),
            strategy: None,
            exchange: None,
            side,
            quantity: Quantity::from(quantity),
            kind,
            tif,
            exchange_order: false,
            reference: None,
            properties: domain::OrderProperties::default(),
            pass_through: None,
        };
        (Intent::Place(Box::new(order.clone()), int_id), Command::Place(order))
    }

    /// The same order once more, as a client does that was not answered.
    fn place_again(&self, int_id: &IntId) -> Option<(Intent, Command)> {
        let order = self.placed(int_id)?;
        Some((Intent::Place(Box::new(order.clone()), int_id.clone()), Command::Place(order.clone())))
    }

    fn operate(&self, rng: &mut SeededRng) -> (Intent, Command) {
        let accounts = &self.market.accounts;
        let account = RiskScope::Account(*rng.pick(accounts).unwrap_or(&accounts[0]));
        match rng.below(12) {
            0 => {
                let command = Command::Kill { scope: account, reason: Some("drill".into()) };
                Intent::operate(format!("kill {account}"), command)
            }
            1 => set_state(account, TradingState::Reducing),
            2..=4 => set_state(RiskScope::Platform, TradingState::Active),
            _ => set_state(account, TradingState::Active),
        }
    }

    fn cancel(&self, order: IntId) -> (Intent, Command) {
        (Intent::Cancel(order.clone()), Command::Cancel(CancelOrder::new(order)))
    }

    /// The request of a command over HTTP. A change names the kind of its order.
    pub(crate) fn over_http(&self, command: &Command) -> Option<PlainRequest> {
        let changed = if let Command::Modify(change) = command { Some(&change.int_id) } else { None };
        request_of(command, changed.and_then(|int_id| self.placed(int_id)).map(|order| &order.kind))
    }

    /// A request of the operator that ends a run.
    pub(crate) fn resume_all(&self) -> Vec<(Intent, CommandEnvelope)> {
        let scopes = self.market.accounts.map(RiskScope::Account);
        let resume = |scope| set_state(scope, TradingState::Active);
        std::iter::once(RiskScope::Platform)
            .chain(scopes)
            .map(resume)
            .map(|(intent, command)| (intent, self.envelope(command)))
            .collect()
    }

    /// A cancel of everything that the client may have in the market.
    pub(crate) fn cancel_all(&self) -> Vec<(Intent, CommandEnvelope)> {
        let mut orders: Vec<IntId> = self.log.iter().filter_map(|entry| entry.placed().cloned()).collect();
        orders.extend(self.taken_over.iter().cloned());
        orders.sort();
        orders.dedup();
        let cancels = orders.into_iter().map(|order| self.cancel(order));
        cancels.map(|(intent, command)| (intent, self.envelope(command))).collect()
    }

    pub(crate) fn note(&mut self, intent: Intent, sent: Option<PendingAnswer>) {
        let outcome = if sent.is_some() { RequestOutcome::Waiting } else { RequestOutcome::NotSent };
        self.log.push(LogEntry { intent, outcome });
        self.waiting.extend(sent.map(|reply| (self.log.len() - 1, reply)));
    }

    /// A request of which the client will hear nothing.
    pub(crate) fn note_unknown(&mut self, intent: Intent) {
        self.log.push(LogEntry { intent, outcome: RequestOutcome::Unknown });
    }

    /// Replies that have come, as the trace tells them.
    pub(crate) fn receive(&mut self) -> Vec<(String, RequestOutcome)> {
        if self.waiting.is_empty() {
            return vec![];
        }
        let (name, mut answered) = (self.name(), Vec::new());
        let log = &mut self.log;
        self.waiting.retain_mut(|(entry, reply)| {
            let Some(told) = reply.try_recv() else { return true };
            log[*entry].outcome = told;
            let LogEntry { intent, outcome } = &log[*entry];
            self.answers += 1;
            answered.push((format!("{name} is told {intent}: {outcome}"), outcome.clone()));
            false
        });
        answered
    }

    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }
}

fn outcome_of_answer(answer: HttpAnswer) -> RequestOutcome {
    match answer {
        HttpAnswer::Done(sequence) => RequestOutcome::Accepted { sequence, order: None },
        HttpAnswer::Refused(code) => RequestOutcome::Declined { code },
        HttpAnswer::Unknown(code) => RequestOutcome::SaidUnknown { code },
    }
}

fn outcome_of(told: Result<Reply, NoReply>) -> RequestOutcome {
    match told {
        Err(NoReply) => RequestOutcome::Unknown,
        Ok(Reply { sequence, outcome: Ok(Answer::Order(order)) }) => {
            RequestOutcome::Accepted { sequence, order: Some(order.id) }
        }
        Ok(Reply { sequence, outcome: Ok(_) }) => RequestOutcome::Accepted { sequence, order: None },
        Ok(Reply { sequence, outcome: Err(refusal) }) => RequestOutcome::Refused { sequence, code: refusal.code() },
    }
}

fn draw_terms(rng: &mut SeededRng, side: Side, opening: i64) -> (OrderKind, TimeInForce) {
    let away = rng.between(-3, 12) * opening / 1_000;
    let signed = if side == Side::Buy { -away } else { away };
    let limit = cents(opening + signed);
    let tif = *rng.pick(&[TimeInForce::Day, TimeInForce::Gtc, TimeInForce::Gtc]).unwrap_or(&TimeInForce::Day);
    match rng.below(12) {
        0..=2 => (OrderKind::Market, TimeInForce::Day),
        3 => (OrderKind::Limit { limit }, TimeInForce::Ioc),
        4 => (OrderKind::Limit { limit }, TimeInForce::Fok),
        5 => (OrderKind::Stop { stop: cents(opening - signed) }, tif),
        // Far from the market: outside the collar.
        6 => (OrderKind::Limit { limit: cents(opening * 2) }, tif),
        _ => (OrderKind::Limit { limit }, tif),
    }
}

fn modify(rng: &mut SeededRng, order: IntId) -> (Intent, Command) {
    let quantity = (!rng.one_in(3)).then(|| Quantity::from(rng.between(1, 200)));
    let change = ModifyOrder {
        int_id: order.clone(),
        cl_ord_id: None,
        quantity,
        limit: None,
        stop: None,
        tif: None,
        restated: domain::command::RestatedFields::default(),
        reference: quantity.is_none().then(|| "noted".into()),
    };
    (Intent::Modify(order, quantity, None), Command::Modify(change))
}

/// The same order under another id.
fn repeated(order: &PlaceOrder, int_id: &IntId) -> PlaceOrder {
    PlaceOrder { int_id: Some(int_id.clone()), ..order.clone() }
}

fn set_state(scope: RiskScope, state: TradingState) -> (Intent, Command) {
    let command = Command::SetTradingState { scope, state, reason: None };
    Intent::operate(format!("{} for {scope}", state.name()), command)
}
