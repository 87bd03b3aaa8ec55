//! Context of a strategy: commands and read access. Commands are collected and carried out after the callback; the
//! outcome comes as an event.

pub(crate) mod identity;
pub(crate) mod view;
pub(crate) mod selection;
pub(crate) mod price_history;
pub(crate) mod timers;

use std::sync::Arc;

use domain::command::{
    CancelOrder, GenericEvent, MarketDataSubscription, ModifyOrder, PlaceOrder, RestatedFields, StrategyPhase,
};
use domain::{
    Amount, BarSize, Command, Currency, IntId, Mark, OrdStatus, OrderBook, PortfolioValue, Price, Quantity,
    ReferenceData, Security, SecurityId, Side, Text, Tick, TimeInForce, Timestamp,
};

use self::identity::StrategyIdentity;
use self::price_history::{BARS_MAX, BarHistoryRequest, PriceHistoryRequest};
use self::selection::{PriceKind, Selection};
use self::timers::Timers;
use self::view::{OwnOrder, StrategyView};
use crate::order;
use crate::order::CommandRejection;

/// Commands of one callback; with one more the strategy is [flooding](crate::StrategyRunner::is_flooding).
pub const COMMANDS_PER_CALL_MAX: usize = 1_024;

/// State behind the context: everything around a strategy but the strategy itself.
#[derive(Debug, Default)]
pub(crate) struct StrategyContextState {
    pub(crate) now: Timestamp,
    pub(crate) phase: Option<StrategyPhase>,
    pub(crate) view: StrategyView,
    pub(crate) selection: Selection,
    pub(crate) timers: Timers,
    pub(crate) history_requests: Vec<BarHistoryRequest>,
    pub(crate) price_history_requests: Vec<PriceHistoryRequest>,
    pub(crate) commands: Vec<Command>,
    /// Refused at once, to be delivered after the callback.
    pub(crate) refused: Vec<CommandRejection>,
    pub(crate) is_flooding: bool,
    orders_sent: u64,
    /// Built with the first order.
    order_prefix: Option<String>,
}

impl StrategyContextState {
    pub(crate) fn new(view: StrategyView) -> Self {
        Self { view, ..Self::default() }
    }
}

/// New terms for a working order; absent fields keep their value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OrderModification {
    /// The new total quantity, what is filled included.
    pub quantity: Option<Quantity>,
    /// The new limit price.
    pub limit: Option<Price>,
    /// The new stop price.
    pub stop: Option<Price>,
    /// The new time in force.
    pub tif: Option<TimeInForce>,
}

impl OrderModification {
    /// Only a new limit price.
    pub fn limit(limit: Price) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }
}

/// The context of one strategy, for the duration of one callback.
#[derive(Debug)]
pub struct Context<'a> {
    pub(crate) identity: &'a StrategyIdentity,
    pub(crate) state: &'a mut StrategyContextState,
}

/// Commands.
impl Context<'_> {
    /// Places an order and returns its id; the order can be changed and cancelled by it at once.
    pub fn place(&mut self, mut ask: PlaceOrder) -> IntId {
        let int_id = match ask.int_id.take() {
            Some(own) => own,
            None => self.next_order_id(),
        };
        ask.int_id = Some(int_id.clone());
        ask.strategy = Some(self.identity.id);
        self.state.view.on_order_requested(&int_id, &ask);
        // Here and not by another function: an order is large, and each call would copy it.
        if self.takes_orders() && self.has_room() {
            self.state.commands.push(Command::Place(ask));
        } else {
            self.push_order_command(Command::Place(ask));
        }
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
    pub fn modify(&mut self, int_id: &IntId, change: OrderModification) {
        let OrderModification { quantity, limit, stop, tif } = change;
        let restated = self.own_order_check();
        self.state.view.set_request_pending(int_id, true);
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
        self.push_order_command(Command::Modify(modify));
    }

    /// Requests the cancel of an order.
    pub fn cancel(&mut self, int_id: &IntId) {
        self.state.view.set_request_pending(int_id, true);
        let cancel = CancelOrder { restated: self.own_order_check(), ..CancelOrder::new(int_id.clone()) };
        self.push_order_command(Command::Cancel(cancel));
    }

    /// With these fields the engine refuses a request on an order of another strategy.
    fn own_order_check(&self) -> RestatedFields {
        RestatedFields { strategy: Some(self.identity.id), ..RestatedFields::default() }
    }

    /// Cancels every order of the strategy that is not being cancelled already, also one that was placed just now.
    pub fn cancel_all(&mut self) {
        let can_be = |order: &&OwnOrder| order.status != Some(OrdStatus::PendingCancel);
        let working: Vec<IntId> = self.orders().filter(can_be).map(|order| order.int_id.clone()).collect();
        working.iter().for_each(|int_id| self.cancel(int_id));
    }

    /// Subscribes to prices of this kind; a new security is subscribed at the server.
    pub fn subscribe(&mut self, security: SecurityId, prices: PriceKind) {
        if self.state.selection.add(security, prices) {
            self.push_command(Command::Subscribe(MarketDataSubscription { strategy: self.identity.id, security }));
        }
    }

    /// Unsubscribes from all prices of this security.
    pub fn unsubscribe(&mut self, security: SecurityId) {
        if self.state.selection.remove(security) {
            self.push_command(Command::Unsubscribe(MarketDataSubscription { strategy: self.identity.id, security }));
        }
    }

    /// In INIT: requests this many bars, at most [`BARS_MAX`], for PREFEED.
    pub fn request_history(&mut self, security: SecurityId, size: BarSize, bars: usize) {
        self.state.history_requests.push(BarHistoryRequest { security, size, bars: bars.min(BARS_MAX) });
    }

    /// In INIT: requests this many of the newest prices of this kind, at most [`BARS_MAX`], for PREFEED. Only a
    /// simulation has a history of ticks, trades and books; live there are bars.
    pub fn request_prices(&mut self, security: SecurityId, prices: PriceKind, count: usize) {
        match prices {
            PriceKind::Bars(size) => self.request_history(security, size, count),
            _ => self.state.price_history_requests.push(PriceHistoryRequest {
                security,
                prices,
                count: count.min(BARS_MAX),
            }),
        }
    }

    /// Fires once at that instant; a timer of the same name is moved.
    pub fn set_timer(&mut self, name: &str, due: Timestamp) {
        self.state.timers.set(due, name.into());
    }

    /// Removes a timer that has not fired.
    pub fn cancel_timer(&mut self, name: &str) {
        self.state.timers.cancel(name);
    }

    /// Publishes a generic event to strategies and subscribers; the body is JSON by convention.
    pub fn publish(&mut self, name: &str, body: impl Into<Text>) {
        self.push_command(Command::Publish(GenericEvent {
            strategy: self.identity.id,
            name: name.into(),
            body: body.into(),
        }));
    }

    /// Subscribes to generic events of this name, from any publisher.
    pub fn subscribe_events(&mut self, name: &str) {
        self.state.selection.add_event(name.into());
    }

    fn next_order_id(&mut self) -> IntId {
        self.state.orders_sent += 1;
        let prefix = self.state.order_prefix.get_or_insert_with(|| self.identity.order_prefix());
        IntId::numbered(&[prefix], self.state.orders_sent).expect("the prefix is short and printable")
    }

    fn push_order_command(&mut self, command: Command) {
        if self.takes_orders() {
            self.push_command(command);
        } else {
            let reason = "orders are taken from START on".into();
            self.state.refused.push(CommandRejection { command, code: "phase-order".into(), reason });
        }
    }

    fn takes_orders(&self) -> bool {
        matches!(self.state.phase, Some(StrategyPhase::Start | StrategyPhase::Run | StrategyPhase::Exit))
    }

    /// Limited, because a strategy that sends commands without end in one callback would fill the memory before it
    /// could be stopped.
    fn push_command(&mut self, command: Command) {
        if self.has_room() {
            self.state.commands.push(command);
        } else {
            self.state.is_flooding = true;
        }
    }

    fn has_room(&self) -> bool {
        self.state.commands.len() < COMMANDS_PER_CALL_MAX
    }
}

/// Read access.
impl Context<'_> {
    /// The time of the current event.
    pub fn now(&self) -> Timestamp {
        self.state.now
    }

    /// The phase that the strategy is in.
    pub fn phase(&self) -> Option<StrategyPhase> {
        self.state.phase
    }

    /// The name under which the strategy trades.
    pub fn name(&self) -> &str {
        &self.identity.name
    }

    /// All reference data.
    pub fn reference(&self) -> &Arc<ReferenceData> {
        self.state.view.reference()
    }

    /// A security, where it is known.
    pub fn security(&self, security: SecurityId) -> Option<&Arc<Security>> {
        self.reference().securities.get(&security)
    }

    /// The newest tick of a subscribed security.
    pub fn tick(&self, security: SecurityId) -> Option<&Tick> {
        self.state.view.tick(security)
    }

    /// The newest order book of a subscribed security.
    pub fn book(&self, security: SecurityId) -> Option<&OrderBook> {
        self.state.view.book(security).map(|book| &**book)
    }

    /// A market book without the strategy's own orders, as far as their venue has confirmed them: a strategy that takes
    /// them for other interest would follow itself. Recorded books never contain them and are returned unchanged.
    pub fn without_own(&self, book: &OrderBook) -> OrderBook {
        self.state.view.without_own(book)
    }

    /// The best estimate of a fair price of a subscribed security.
    pub fn price(&self, security: SecurityId) -> Option<Price> {
        self.state.view.price(security)
    }

    /// The newest bid, ask and last price of a subscribed security.
    pub fn mark(&self, security: SecurityId) -> Option<Mark> {
        self.tick(security).map(Mark::from)
    }

    /// The strategy's position, over all accounts; short is negative.
    pub fn position(&self, security: SecurityId) -> Quantity {
        self.state.view.position(security)
    }

    /// Cash of the strategy in a currency, over all accounts.
    pub fn cash(&self, currency: Currency) -> Amount {
        self.state.view.cash(currency)
    }

    /// The newest value of the strategy's portfolio.
    pub fn value(&self) -> Option<&PortfolioValue> {
        self.state.view.value().map(|value| &**value)
    }

    /// An own order that is not finished.
    pub fn order(&self, int_id: &IntId) -> Option<&OwnOrder> {
        self.state.view.order(int_id)
    }

    /// Orders that are not finished, also those that were requested just now.
    pub fn orders(&self) -> impl Iterator<Item = &OwnOrder> {
        self.state.view.orders()
    }

    /// Whether an order for the security is pending or working.
    pub fn is_working(&self, security: SecurityId) -> bool {
        self.orders().any(|order| order.security == security)
    }

    /// The whole view.
    pub fn view(&self) -> &StrategyView {
        &self.state.view
    }
}
