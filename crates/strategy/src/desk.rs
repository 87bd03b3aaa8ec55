//! Context of a strategy: commands and read access. Commands are collected and carried out after the callback; the
//! outcome comes as an event.

use std::sync::Arc;

use domain::command::{CancelOrder, GenericEvent, ModifyOrder, Phase, PlaceOrder, Restated, Subscription};
use domain::{
    Amount, BarSize, Command, Currency, IntId, Mark, OrderBook, PortfolioValue, Price, Quantity, ReferenceData,
    Security, SecurityId, Side, Status, Text, Tick, TimeInForce, Timestamp,
};

use crate::order;
use crate::past::{BARS_MAX, PriceWish, Wish};
use crate::picture::{OwnOrder, Picture};
use crate::seat::{COMMANDS_PER_CALL_MAX, Who};
use crate::selection::{Prices, Selection};
use crate::strategy::Refused;
use crate::timers::Timers;

/// State behind the context: everything around a strategy but the strategy itself.
#[derive(Debug, Default)]
pub(crate) struct Stand {
    pub(crate) now: Timestamp,
    pub(crate) phase: Option<Phase>,
    pub(crate) picture: Picture,
    pub(crate) selection: Selection,
    pub(crate) timers: Timers,
    pub(crate) wishes: Vec<Wish>,
    pub(crate) price_wishes: Vec<PriceWish>,
    pub(crate) commands: Vec<Command>,
    /// Refused at once, to be delivered after the callback.
    pub(crate) refused: Vec<Refused>,
    pub(crate) is_flooding: bool,
    orders_named: u64,
    /// Built with the first order.
    order_prefix: Option<String>,
}

impl Stand {
    pub(crate) fn new(picture: Picture) -> Self {
        Self { picture, ..Self::default() }
    }
}

/// New terms for a working order; absent fields keep their value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    /// The new total quantity, what is filled included.
    pub quantity: Option<Quantity>,
    /// The new limit price.
    pub limit: Option<Price>,
    /// The new stop price.
    pub stop: Option<Price>,
    /// The new time in force.
    pub tif: Option<TimeInForce>,
}

impl Change {
    /// Only a new limit price.
    pub fn limit(limit: Price) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }
}

/// The context of one strategy, for the duration of one callback.
#[derive(Debug)]
pub struct Desk<'a> {
    pub(crate) who: &'a Who,
    pub(crate) stand: &'a mut Stand,
}

/// Commands.
impl Desk<'_> {
    /// Places an order and returns its id; the order can be changed and cancelled by it at once.
    pub fn place(&mut self, mut ask: PlaceOrder) -> IntId {
        let int_id = match ask.int_id.take() {
            Some(own) => own,
            None => self.next_order_name(),
        };
        ask.int_id = Some(int_id.clone());
        ask.strategy = Some(self.who.id);
        self.stand.picture.asked(&int_id, &ask);
        self.trade(Command::Place(ask));
        int_id
    }

    /// A market order to buy.
    pub fn buy(&mut self, security: SecurityId, quantity: Quantity) -> IntId {
        self.place(order::market(security, Side::Buy, quantity))
    }

    /// A market order to sell.
    pub fn sell(&mut self, security: SecurityId, quantity: Quantity) -> IntId {
        self.place(order::market(security, Side::Sell, quantity))
    }

    /// Requests new terms for an order.
    pub fn modify(&mut self, int_id: &IntId, change: Change) {
        let Change { quantity, limit, stop, tif } = change;
        let restated = self.as_own();
        self.stand.picture.set_asked(int_id, true);
        let modify = ModifyOrder {
            int_id: int_id.clone(),
            cl_ord_id: None,
            quantity,
            limit,
            stop,
            tif,
            restated,
            reference: None,
        };
        self.trade(Command::Modify(modify));
    }

    /// Requests the cancel of an order.
    pub fn cancel(&mut self, int_id: &IntId) {
        self.stand.picture.set_asked(int_id, true);
        let cancel = CancelOrder { restated: self.as_own(), ..CancelOrder::of(int_id.clone()) };
        self.trade(Command::Cancel(cancel));
    }

    /// With these fields the engine refuses a request on an order of another strategy.
    fn as_own(&self) -> Restated {
        Restated { strategy: Some(self.who.id), ..Restated::default() }
    }

    /// Cancels every order of the strategy that is not being cancelled already, also one that was placed just now.
    pub fn cancel_all(&mut self) {
        let can_be = |order: &&OwnOrder| order.status != Some(Status::PendingCancel);
        let working: Vec<IntId> = self.orders().filter(can_be).map(|order| order.int_id.clone()).collect();
        working.iter().for_each(|int_id| self.cancel(int_id));
    }

    /// Subscribes to prices of this kind; a new security is subscribed at the server.
    pub fn subscribe(&mut self, security: SecurityId, prices: Prices) {
        if self.stand.selection.add(security, prices) {
            self.ask(Command::Subscribe(Subscription { strategy: self.who.id, security }));
        }
    }

    /// Unsubscribes from all prices of this security.
    pub fn unsubscribe(&mut self, security: SecurityId) {
        if self.stand.selection.drop(security) {
            self.ask(Command::Unsubscribe(Subscription { strategy: self.who.id, security }));
        }
    }

    /// In INIT: requests this many bars, at most [`BARS_MAX`], for PREFEED.
    pub fn want_history(&mut self, security: SecurityId, size: BarSize, bars: usize) {
        self.stand.wishes.push(Wish { security, size, bars: bars.min(BARS_MAX) });
    }

    /// In INIT: requests this many of the newest prices of this kind, at most [`BARS_MAX`], for PREFEED. Only a
    /// simulation has a history of ticks, trades and books; live there are bars.
    pub fn want_prices(&mut self, security: SecurityId, prices: Prices, count: usize) {
        match prices {
            Prices::Bars(size) => self.want_history(security, size, count),
            _ => self.stand.price_wishes.push(PriceWish { security, prices, count: count.min(BARS_MAX) }),
        }
    }

    /// Fires once at that instant; a timer of the same name is moved.
    pub fn set_timer(&mut self, name: &str, due: Timestamp) {
        self.stand.timers.set(due, name.into());
    }

    /// Removes a timer that has not fired.
    pub fn cancel_timer(&mut self, name: &str) {
        self.stand.timers.cancel(name);
    }

    /// Publishes a generic event to strategies and subscribers; the body is JSON by convention.
    pub fn publish(&mut self, name: &str, body: impl Into<Text>) {
        self.ask(Command::Publish(GenericEvent { strategy: self.who.id, name: name.into(), body: body.into() }));
    }

    /// Subscribes to generic events of this name, from any publisher.
    pub fn listen(&mut self, name: &str) {
        self.stand.selection.listen(name.into());
    }

    fn next_order_name(&mut self) -> IntId {
        self.stand.orders_named += 1;
        let prefix = self.stand.order_prefix.get_or_insert_with(|| self.who.order_prefix());
        IntId::numbered(&[prefix], self.stand.orders_named).expect("the prefix is short and printable")
    }

    fn trade(&mut self, command: Command) {
        match self.stand.phase {
            Some(Phase::Start | Phase::Run | Phase::Exit) => self.ask(command),
            _ => {
                let reason = "orders are taken from START on".into();
                self.stand.refused.push(Refused { command, code: "phase-order".into(), reason });
            }
        }
    }

    /// Limited, because a strategy that sends commands without end in one callback would fill the memory before it
    /// could be stopped.
    fn ask(&mut self, command: Command) {
        if self.stand.commands.len() < COMMANDS_PER_CALL_MAX {
            self.stand.commands.push(command);
        } else {
            self.stand.is_flooding = true;
        }
    }
}

/// Read access.
impl Desk<'_> {
    /// The time of the current event.
    pub fn now(&self) -> Timestamp {
        self.stand.now
    }

    /// The phase that the strategy is in.
    pub fn phase(&self) -> Option<Phase> {
        self.stand.phase
    }

    /// The name under which the strategy trades.
    pub fn name(&self) -> &str {
        &self.who.name
    }

    /// All reference data.
    pub fn reference(&self) -> &Arc<ReferenceData> {
        self.stand.picture.reference()
    }

    /// A security, where it is known.
    pub fn security(&self, security: SecurityId) -> Option<&Arc<Security>> {
        self.reference().securities.get(&security)
    }

    /// The newest tick of a subscribed security.
    pub fn tick(&self, security: SecurityId) -> Option<&Tick> {
        self.stand.picture.tick(security)
    }

    /// The newest order book of a subscribed security.
    pub fn book(&self, security: SecurityId) -> Option<&OrderBook> {
        self.stand.picture.book(security).map(|book| &**book)
    }

    /// A market book without the strategy's own orders, as far as their venue has confirmed them: a strategy that takes
    /// them for other interest would follow itself. Recorded books never contain them and are returned unchanged.
    pub fn without_own(&self, book: &OrderBook) -> OrderBook {
        self.stand.picture.without_own(book)
    }

    /// The best estimate of a fair price of a subscribed security.
    pub fn price(&self, security: SecurityId) -> Option<Price> {
        self.stand.picture.price(security)
    }

    /// The newest bid, ask and last price of a subscribed security.
    pub fn mark(&self, security: SecurityId) -> Option<Mark> {
        self.tick(security).map(Mark::from)
    }

    /// The strategy's position, over all accounts; short is negative.
    pub fn position(&self, security: SecurityId) -> Quantity {
        self.stand.picture.position(security)
    }

    /// Cash of the strategy in a currency, over all accounts.
    pub fn cash(&self, currency: Currency) -> Amount {
        self.stand.picture.cash(currency)
    }

    /// The newest value of the strategy's portfolio.
    pub fn value(&self) -> Option<&PortfolioValue> {
        self.stand.picture.value().map(|value| &**value)
    }

    /// An own order that is not finished.
    pub fn order(&self, int_id: &IntId) -> Option<&OwnOrder> {
        self.stand.picture.order(int_id)
    }

    /// Orders that are not finished, also those that were requested just now.
    pub fn orders(&self) -> impl Iterator<Item = &OwnOrder> {
        self.stand.picture.orders()
    }

    /// Whether an order for the security is pending or working.
    pub fn is_working(&self, security: SecurityId) -> bool {
        self.orders().any(|order| order.security == security)
    }

    /// The whole view.
    pub fn picture(&self) -> &Picture {
        &self.stand.picture
    }
}
