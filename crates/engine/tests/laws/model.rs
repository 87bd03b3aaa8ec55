//! The slow model: the facts of each order are kept, and everything else is computed from them again.

use std::collections::BTreeMap;

use domain::amount::divide;
use domain::order::{BaseState, OrdStatus, OrderKind, OrderTerms, Side};
use domain::{
    AccountId, Currency, Decimal, IntId, Mark, OrderId, Quantity, RiskLimits, RiskScope, Security, SecurityFamily,
    SecurityId, StrategyId, TimeInForce, Timestamp, TradingState, TransactionKind,
};

use crate::books::{Booking, Books};
use crate::engine_fixture::{CASH, NOON, families, securities};
use crate::waiting_orders::ModelWait;

/// What an order holds back is added up to the twelfth decimal.
const PART_DECIMALS: u32 = 12;

#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) now: Timestamp,
    pub(crate) day_ends: Timestamp,
    pub(crate) securities: Vec<Security>,
    pub(crate) families: Vec<SecurityFamily>,
    pub(crate) orders: Vec<Order>,
    pub(crate) bookings: Vec<Booking>,
    /// Adapter, order and id of every execution that was ever spoken of.
    pub(crate) executions: Vec<(usize, OrderId, String)>,
    /// Executions that were corrected, and by which.
    pub(crate) corrections: BTreeMap<(OrderId, String), String>,
    pub(crate) marks: BTreeMap<SecurityId, Mark>,
    pub(crate) limits: BTreeMap<RiskScope, RiskLimits>,
    pub(crate) states: BTreeMap<RiskScope, TradingState>,
    pub(crate) links: [ModelSession; 2],
    /// Accepted orders, where a rate limit or the duplicate guard was on for the scope.
    pub(crate) paced: Vec<AcceptedAt>,
    /// Messages of the only session, where the scope limited them.
    pub(crate) messages: Vec<(RiskScope, Timestamp, u32)>,
    pub(crate) rejects: Vec<(RiskScope, Timestamp)>,
    /// What this step should send.
    pub(crate) sent: Vec<(usize, Sent)>,
    /// How many executions this step should publish.
    pub(crate) fills_told: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelSession {
    Down,
    Comparing,
    Open,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sent {
    Submit(OrderId),
    Replace(OrderId, OrderTerms),
    Cancel(OrderId),
}

#[derive(Debug, Clone)]
pub(crate) struct AcceptedAt {
    pub(crate) scope: RiskScope,
    pub(crate) at: Timestamp,
    pub(crate) per_second: Option<u32>,
    /// What it looked like, where repetition was guarded.
    pub(crate) looks: Option<(Side, SecurityId, Quantity, OrderKind)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) id: OrderId,
    pub(crate) int_id: IntId,
    pub(crate) account: AccountId,
    pub(crate) strategy: StrategyId,
    pub(crate) security: SecurityId,
    pub(crate) side: Side,
    pub(crate) terms: OrderTerms,
    pub(crate) reduce_only: bool,
    pub(crate) placed_at: Timestamp,
    pub(crate) touched_at: Timestamp,
    /// The venue has shown in any way that it has it.
    pub(crate) is_at_venue: bool,
    /// The venue's own id of it is known.
    pub(crate) is_named_there: bool,
    /// Canceled or rejected.
    pub(crate) end: Option<BaseState>,
    pub(crate) asked: ModelRequest,
    pub(crate) executions: Vec<Execution>,
    pub(crate) units: Units,
    pub(crate) proposed: Option<(Decimal, Units)>,
    /// When the platform itself must cancel it.
    pub(crate) deadline: Option<Timestamp>,
    /// Of an earlier day and over: no longer known.
    pub(crate) is_forgotten: bool,
    /// A kill meant it: it is cancelled after every log-on, and never sent again.
    pub(crate) is_killed: bool,
    /// Not sent before others have ended.
    pub(crate) waits: Option<ModelWait>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelRequest {
    Nothing,
    /// And the terms of a replace that it overtook.
    Cancel(Option<OrderTerms>),
    Replace(OrderTerms),
}

impl ModelRequest {
    pub(crate) fn is_cancel(self) -> bool {
        matches!(self, Self::Cancel(_))
    }

    pub(crate) fn terms(self) -> Option<OrderTerms> {
        match self {
            Self::Replace(terms) => Some(terms),
            Self::Cancel(overtaken) => overtaken,
            Self::Nothing => None,
        }
    }

    pub(crate) fn without_cancel(self) -> Self {
        self.terms().map_or(Self::Nothing, Self::Replace)
    }

    pub(crate) fn without_replace(self) -> Self {
        if self.is_cancel() { Self::Cancel(None) } else { Self::Nothing }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Execution {
    pub(crate) exec_id: String,
    pub(crate) quantity: Decimal,
    pub(crate) price: Decimal,
    pub(crate) is_undone: bool,
}

/// What one unit of an order holds back, in base currency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Units {
    pub(crate) notional: Decimal,
    pub(crate) cash: Decimal,
}

impl Order {
    /// The account's number gives the venue: the first account has the first venue.
    pub(crate) fn adapter(&self) -> usize {
        usize::try_from(self.account.0).unwrap() - 1
    }

    pub(crate) fn valid_executions(&self) -> impl Iterator<Item = &Execution> {
        self.executions.iter().filter(|execution| !execution.is_undone)
    }

    pub(crate) fn filled(&self) -> Decimal {
        self.valid_executions().map(|execution| execution.quantity).sum()
    }

    pub(crate) fn avg_price(&self) -> Option<Decimal> {
        let turnover: Decimal = self.valid_executions().map(|execution| execution.quantity * execution.price).sum();
        (!self.filled().is_zero()).then(|| divide(turnover, self.filled()).unwrap())
    }

    pub(crate) fn base(&self) -> BaseState {
        match self.end {
            Some(end) => end,
            None if self.filled() >= self.terms.quantity.0 => BaseState::Filled,
            None if !self.filled().is_zero() => BaseState::PartiallyFilled,
            None if self.is_at_venue => BaseState::New,
            None => BaseState::PendingNew,
        }
    }

    pub(crate) fn status(&self) -> OrdStatus {
        match (self.asked, self.base()) {
            (ModelRequest::Cancel(_), _) => OrdStatus::PendingCancel,
            (ModelRequest::Replace(_), _) => OrdStatus::PendingReplace,
            (ModelRequest::Nothing, BaseState::PendingNew) => OrdStatus::Open,
            (ModelRequest::Nothing, BaseState::New) => OrdStatus::Submitted,
            (ModelRequest::Nothing, BaseState::PartiallyFilled) => OrdStatus::PartiallyExecuted,
            (ModelRequest::Nothing, BaseState::Filled) => OrdStatus::Executed,
            (ModelRequest::Nothing, BaseState::Canceled) => OrdStatus::Canceled,
            (ModelRequest::Nothing, BaseState::Rejected) => OrdStatus::Rejected,
        }
    }

    pub(crate) fn is_working(&self) -> bool {
        self.end.is_none() && self.filled() < self.terms.quantity.0
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.is_forgotten && (self.is_working() || self.asked != ModelRequest::Nothing)
    }

    pub(crate) fn remaining(&self) -> Decimal {
        if self.is_working() { self.terms.quantity.0 - self.filled() } else { Decimal::ZERO }
    }

    /// Quantity that could still trade: the larger of current and requested terms.
    pub(crate) fn may_trade(&self) -> Decimal {
        let after = self.proposed.map_or(Decimal::ZERO, |(quantity, _)| quantity - self.filled());
        if self.is_working() { self.remaining().max(after) } else { Decimal::ZERO }
    }

    /// Notional and cash held back, the larger of both terms.
    pub(crate) fn held_back(&self) -> (Decimal, Decimal) {
        if !self.is_working() {
            return (Decimal::ZERO, Decimal::ZERO);
        }
        let held = |quantity: Decimal, unit: Decimal| (quantity * unit).round_dp(PART_DECIMALS);
        let now = (held(self.remaining(), self.units.notional), held(self.remaining(), self.units.cash));
        let Some((quantity, units)) = self.proposed else { return now };
        let after = (quantity - self.filled()).max(Decimal::ZERO);
        (now.0.max(held(after, units.notional)), now.1.max(held(after, units.cash)))
    }
}

impl Model {
    pub(crate) fn open() -> Self {
        let credit = |account| Booking {
            kind: TransactionKind::Credit,
            strategy: StrategyId::SERVER,
            account: AccountId(account),
            security: None,
            quantity: Decimal::ONE,
            price: CASH.into(),
            costs: Decimal::ZERO,
            currency: Currency::USD,
        };
        Self {
            now: NOON,
            day_ends: midnight_after(NOON),
            securities: securities(),
            families: families(),
            orders: vec![],
            bookings: vec![credit(1), credit(2)],
            executions: vec![],
            corrections: BTreeMap::new(),
            marks: BTreeMap::new(),
            limits: BTreeMap::new(),
            states: BTreeMap::new(),
            links: [ModelSession::Open, ModelSession::Open],
            paced: vec![],
            messages: vec![],
            rejects: vec![],
            sent: vec![],
            fills_told: 0,
        }
    }

    pub(crate) fn books(&self) -> Books {
        Books::of(&self.bookings, &self.securities)
    }

    pub(crate) fn security(&self, id: SecurityId) -> &Security {
        self.securities.iter().find(|security| security.id == id).unwrap()
    }

    pub(crate) fn state(&self, scope: RiskScope) -> TradingState {
        self.states.get(&scope).copied().unwrap_or_default()
    }

    /// Commissions and fee for so many units.
    pub(crate) fn costs(&self, security: SecurityId, quantity: Decimal) -> Decimal {
        let family = self.security(security).family;
        let family = self.families.iter().find(|known| Some(known.id) == family);
        let per_unit = family.map(|family| family.execution_commission.0 + family.clearing_commission.0 + family.fee.0);
        per_unit.unwrap_or_default() * quantity
    }

    pub(crate) fn ask_cancel(&mut self, place: usize) {
        let order = &mut self.orders[place];
        order.touched_at = self.now;
        // What was never sent is over at once.
        if order.waits.take().is_some() {
            order.end = Some(BaseState::Canceled);
            return;
        }
        order.asked = ModelRequest::Cancel(order.asked.terms());
        self.sent.push((order.adapter(), Sent::Cancel(order.id)));
    }

    pub(crate) fn can_be_cancelled(order: &Order) -> bool {
        order.is_open() && order.is_working() && !order.asked.is_cancel()
    }

    /// Time has passed: orders that the venue does not expire, then the day.
    pub(crate) fn clock(&mut self) {
        let mut due: Vec<_> = (0..self.orders.len())
            .filter_map(|place| Some((self.orders[place].deadline.filter(|at| *at <= self.now)?, place)))
            .collect();
        due.sort_unstable();
        for (_, place) in due {
            // Until it has ended.
            let again = self.now.plus_seconds(10);
            self.orders[place].deadline = self.orders[place].is_working().then_some(again);
            let is_reached = self.links[self.orders[place].adapter()] == ModelSession::Open;
            let is_within = self.orders[place].waits.is_some();
            if (is_reached || is_within) && Self::can_be_cancelled(&self.orders[place]) {
                self.ask_cancel(place);
            }
        }
        self.release_cleared();
        self.reject_timed_out();
        self.release_cleared();
        if self.now >= self.day_ends {
            // Today and yesterday are kept.
            let (kept, over) = (midnight_after(self.now).plus_seconds(-2 * 86_400), |order: &Order| !order.is_open());
            for order in self.orders.iter_mut().filter(|order| over(order) && order.touched_at < kept) {
                order.is_forgotten = true;
            }
            self.day_ends = midnight_after(self.now);
        }
    }

    /// Only the second venue leaves expiry to us.
    pub(crate) fn watch(&mut self, place: usize) {
        let order = &self.orders[place];
        let exchange = self.security(order.security).exchange.0;
        let deadline = match order.terms.tif {
            _ if order.adapter() == 0 || !order.is_working() => None,
            TimeInForce::Day if exchange == 1 => Some(midnight_after(self.now)),
            TimeInForce::Day => Some(evening_after(self.now)),
            TimeInForce::Gtd { until } => Some(until),
            _ => None,
        };
        self.orders[place].deadline = deadline;
    }
}

const DAY_NANOS: i64 = 86_400_000_000_000;

fn midnight_after(at: Timestamp) -> Timestamp {
    Timestamp(at.0 - at.0.rem_euclid(DAY_NANOS) + DAY_NANOS)
}

/// The second exchange closes at eight.
fn evening_after(at: Timestamp) -> Timestamp {
    let evening = midnight_after(at).plus_seconds(-4 * 3_600);
    if at < evening { evening } else { evening.plus_seconds(86_400) }
}
