//! Strategy view: last values, positions, cash and working orders, built from events only, so it is the same in a
//! simulation, in the server and in a separate process.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::{CancelOrder, ModifyOrder, PlaceOrder};
use domain::{
    AccountId, Amount, Bar, BookLevel, CashBalance, Command, Currency, Event, IntId, Mark, OrdStatus, Order, OrderBook,
    OrderKind, OrderStatus, PortfolioValue, Position, Price, Quantity, ReferenceData, SecurityId, SecurityMap, Side,
    StaleCause, Tick,
};

/// The local copy of everything that a strategy can read.
#[derive(Debug, Clone, Default)]
pub struct StrategyView {
    reference: Arc<ReferenceData>,
    last_values: Vec<SecurityLastValues>,
    /// Index of the last values by security.
    index: SecurityMap<usize>,
    positions: BTreeMap<(SecurityId, AccountId), Arc<Position>>,
    cash: BTreeMap<(Currency, AccountId), Amount>,
    value: Option<Arc<PortfolioValue>>,
    orders: BTreeMap<IntId, OwnOrder>,
    /// Prices are recorded: none of our orders is in the books.
    is_recorded: bool,
}

#[derive(Debug, Clone, Default)]
struct SecurityLastValues {
    tick: Option<Tick>,
    book: Option<Arc<OrderBook>>,
    bar: Option<Arc<Bar>>,
}

/// An order of the strategy that is not finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnOrder {
    /// The platform's id of the order.
    pub int_id: IntId,
    /// What it trades.
    pub security: SecurityId,
    /// Buy or sell.
    pub side: Side,
    /// The total quantity.
    pub quantity: Quantity,
    /// The type, with its prices.
    pub kind: OrderKind,
    /// The quantity that is filled.
    pub filled: Quantity,
    /// None until the platform has accepted it.
    pub status: Option<OrdStatus>,
    /// A change or a cancel was requested and the platform has not answered.
    pub is_request_pending: bool,
}

impl OwnOrder {
    fn requested(int_id: &IntId, ask: &PlaceOrder) -> Self {
        Self {
            int_id: int_id.clone(),
            security: ask.security,
            side: ask.side,
            quantity: ask.quantity,
            kind: ask.kind,
            filled: Quantity::ZERO,
            status: None,
            is_request_pending: false,
        }
    }

    /// Its book level: a confirmed limit order with its open quantity.
    fn book_level(&self) -> Option<(Side, BookLevel)> {
        let is_there = matches!(
            self.status,
            Some(
                OrdStatus::Submitted
                    | OrdStatus::PartiallyExecuted
                    | OrdStatus::PendingCancel
                    | OrdStatus::PendingReplace
            )
        );
        let OrderKind::Limit { limit } = self.kind else { return None };
        let quantity = self.quantity.minus(self.filled).ok()?;
        is_there.then_some((self.side, BookLevel { price: limit, quantity }))
    }

    /// Whether a cancel or a replace can be requested now.
    pub fn is_modifiable(&self) -> bool {
        !self.is_request_pending && matches!(self.status, Some(OrdStatus::Submitted | OrdStatus::PartiallyExecuted))
    }
}

impl From<&Order> for OwnOrder {
    fn from(order: &Order) -> Self {
        Self {
            int_id: order.int_id.clone(),
            security: order.security,
            side: order.side,
            quantity: order.terms.quantity,
            kind: order.terms.kind,
            filled: order.filled,
            status: Some(order.status()),
            is_request_pending: false,
        }
    }
}

impl StrategyView {
    /// Nothing is known but reference data.
    pub fn new(reference: Arc<ReferenceData>) -> Self {
        Self { reference, ..Self::default() }
    }

    /// Applies an event. The caller has checked that it concerns this strategy.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Tick(tick) => self.on_tick(tick),
            Event::Book(book) => self.last_values_mut(book.security).book = Some(book.clone()),
            Event::Bar(bar) => self.last_values_mut(bar.security).bar = Some(bar.clone()),
            Event::Order(order) => self.on_order(order),
            Event::OrderStatus(status) => self.on_order_status(status),
            Event::Position(position) => {
                self.positions.insert((position.security, position.account), position.clone());
            }
            Event::Cash(balance) => self.on_cash(balance),
            Event::Portfolio(value) => self.value = Some(value.clone()),
            Event::Reference(update) => self.reference = update.data.clone(),
            _ => {}
        }
    }

    pub(crate) fn set_recorded(&mut self) {
        self.is_recorded = true;
    }

    pub(crate) fn on_order_requested(&mut self, int_id: &IntId, ask: &PlaceOrder) {
        self.orders.insert(int_id.clone(), OwnOrder::requested(int_id, ask));
    }

    /// Sets whether a change or a cancel of an order is pending.
    pub(crate) fn set_request_pending(&mut self, int_id: &IntId, is_asked: bool) {
        if let Some(order) = self.orders.get_mut(int_id) {
            order.is_request_pending = is_asked;
        }
    }

    /// A command was refused.
    pub(crate) fn on_refused(&mut self, command: &Command) {
        match command {
            Command::Place(PlaceOrder { int_id: Some(int_id), .. }) => self.remove_unacknowledged(int_id),
            Command::Modify(ModifyOrder { int_id, .. }) | Command::Cancel(CancelOrder { int_id, .. }) => {
                self.set_request_pending(int_id, false);
            }
            _ => {}
        }
    }

    /// An order of that id that the platform has accepted stays: only its duplicate was refused.
    fn remove_unacknowledged(&mut self, int_id: &IntId) {
        if self.orders.get(int_id).is_some_and(|order| order.status.is_none()) {
            self.orders.remove(int_id);
        }
    }

    /// Why the known prices of a security may no longer be true.
    pub(crate) fn stale(&self, security: SecurityId) -> Option<StaleCause> {
        let place = self.index.get(security)?;
        self.last_values[place].tick.as_ref()?.stale
    }

    #[inline]
    pub(crate) fn on_tick(&mut self, tick: &Tick) {
        match &mut self.last_values_mut(tick.security).tick {
            Some(known) => known.copy_from(tick),
            unknown => *unknown = Some(tick.clone()),
        }
    }

    /// The last values of a security, which may be empty.
    #[inline]
    fn last_values_mut(&mut self, security: SecurityId) -> &mut SecurityLastValues {
        let place = self.index.get(security).unwrap_or_else(|| self.add_security(security));
        &mut self.last_values[place]
    }

    fn add_security(&mut self, security: SecurityId) -> usize {
        let place = self.last_values.len();
        self.index.insert(security, place);
        self.last_values.push(SecurityLastValues::default());
        place
    }

    fn last_values(&self, security: SecurityId) -> Option<&SecurityLastValues> {
        self.index.get(security).map(|place| &self.last_values[place])
    }

    fn on_order(&mut self, order: &Order) {
        if !order.is_open() {
            self.orders.remove(&order.int_id);
        } else if let Some(known) = self.orders.get_mut(&order.int_id) {
            *known = order.into();
        } else {
            self.orders.insert(order.int_id.clone(), order.into());
        }
    }

    /// To a strategy that was cut off the end of an order is told by its status alone.
    fn on_order_status(&mut self, status: &OrderStatus) {
        if !status.status.is_open() {
            self.orders.remove(&status.int_id);
        }
    }

    fn on_cash(&mut self, balance: &CashBalance) {
        self.cash.insert((balance.currency, balance.account), balance.amount);
    }

    /// All reference data.
    pub fn reference(&self) -> &Arc<ReferenceData> {
        &self.reference
    }

    /// The newest tick of a security.
    pub fn tick(&self, security: SecurityId) -> Option<&Tick> {
        self.last_values(security)?.tick.as_ref()
    }

    /// The newest order book of a security.
    pub fn book(&self, security: SecurityId) -> Option<&Arc<OrderBook>> {
        self.last_values(security)?.book.as_ref()
    }

    pub(crate) fn without_own(&self, book: &OrderBook) -> OrderBook {
        let mut others = book.clone();
        if self.is_recorded {
            return others;
        }
        for own in self.orders.values().filter(|order| order.security == book.security) {
            match own.book_level() {
                Some((Side::Buy, level)) => subtract_level(&mut others.bids, level),
                Some((Side::Sell, level)) => subtract_level(&mut others.asks, level),
                None => {}
            }
        }
        others
    }

    /// The newest closed bar, of whichever size.
    pub fn bar(&self, security: SecurityId) -> Option<&Arc<Bar>> {
        self.last_values(security)?.bar.as_ref()
    }

    /// The best estimate of a fair price: last trade, else mid, else either side, else the close of the newest bar.
    pub fn price(&self, security: SecurityId) -> Option<Price> {
        let latest = self.last_values(security)?;
        let quoted = latest.tick.as_ref().and_then(|tick| Mark::from(tick).reference());
        quoted.or_else(|| latest.bar.as_deref().map(|bar| bar.close))
    }

    /// The strategy's position in a security, over all accounts.
    pub fn position(&self, security: SecurityId) -> Quantity {
        self.positions_of(security).fold(Quantity::ZERO, |sum, position| {
            sum.plus(position.quantity).expect("the engine keeps positions that can be added")
        })
    }

    /// The positions in a security, one for each account.
    pub fn positions_of(&self, security: SecurityId) -> impl Iterator<Item = &Arc<Position>> {
        let whole = (security, AccountId(0))..=(security, AccountId(u64::MAX));
        self.positions.range(whole).map(|(_, position)| position)
    }

    /// All positions.
    pub fn positions(&self) -> impl Iterator<Item = &Arc<Position>> {
        self.positions.values()
    }

    /// Cash of the strategy in a currency, over all accounts.
    pub fn cash(&self, currency: Currency) -> Amount {
        let whole = (currency, AccountId(0))..=(currency, AccountId(u64::MAX));
        self.cash.range(whole).fold(Amount::ZERO, |sum, (_, amount)| {
            sum.plus(*amount).expect("the engine keeps balances that can be added")
        })
    }

    /// The newest value of the portfolio.
    pub fn value(&self) -> Option<&Arc<PortfolioValue>> {
        self.value.as_ref()
    }

    /// An own order that is not finished.
    pub fn order(&self, int_id: &IntId) -> Option<&OwnOrder> {
        self.orders.get(int_id)
    }

    /// Orders that are not finished, also those that were requested just now.
    pub fn orders(&self) -> impl Iterator<Item = &OwnOrder> {
        self.orders.values()
    }
}

/// A level with less than our order is older than it. An empty level is removed.
fn subtract_level(levels: &mut Vec<BookLevel>, own: BookLevel) {
    let shows_it = |level: &&mut BookLevel| level.price == own.price && level.quantity >= own.quantity;
    let Some(level) = levels.iter_mut().find(shows_it) else { return };
    let Ok(others) = level.quantity.minus(own.quantity) else { return };
    level.quantity = others;
    levels.retain(|level| level.quantity.is_positive());
}
