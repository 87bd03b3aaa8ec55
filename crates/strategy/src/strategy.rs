//! The `Strategy` trait: phases and callbacks. Every method has an empty default.

use domain::command::GenericEvent;
use domain::event::SessionChange;
use domain::risk::TradingStateChange;
use domain::{
    Bar, CashBalance, Fill, Order, OrderBook, OrderStatus, PortfolioValue, Position, Tick, Trade, Transaction,
};

use crate::context::Context;
use crate::context::price_history::PriceHistory;
use crate::context::timers::Timer;
use crate::order::CommandRejection;

/// A strategy. Phases come in this order: `init`, `prefeed`, `start`, `run`, `exit`; events come from `start` to `exit`.
///
/// A callback must return soon: while it runs, the strategy gets no events, and a strategy that does not return is
/// stopped.
#[allow(unused_variables)]
pub trait Strategy: Send {
    /// INIT: subscribe to prices and request history. Orders are refused until START.
    fn init(&mut self, context: &mut Context<'_>) {}

    /// PREFEED: warm up with the history that `init` requested, as far as there is any.
    fn prefeed(&mut self, history: &PriceHistory, context: &mut Context<'_>) {}

    /// START: all strategies are warmed up; prices may flow already.
    fn start(&mut self, context: &mut Context<'_>) {}

    /// RUN: normal operation.
    fn run(&mut self, context: &mut Context<'_>) {}

    /// EXIT: the last callback that can send commands.
    fn exit(&mut self, context: &mut Context<'_>) {}

    /// The newest bid, ask and last price of a subscribed security.
    fn on_tick(&mut self, tick: &Tick, context: &mut Context<'_>) {}

    /// The known prices of a subscribed security may no longer be true: `tick.stale` says why. Until whole prices come,
    /// `on_tick` is not called and orders that open a position are refused.
    fn on_price_gap(&mut self, tick: &Tick, context: &mut Context<'_>) {}

    /// A closed bar of a subscribed security.
    fn on_bar(&mut self, bar: &Bar, context: &mut Context<'_>) {}

    /// A trade in the market; own executions are fills.
    fn on_trade(&mut self, trade: &Trade, context: &mut Context<'_>) {}

    /// The order book of a subscribed security.
    fn on_order_book(&mut self, book: &OrderBook, context: &mut Context<'_>) {}

    /// An own order with its whole state, on every change.
    fn on_order(&mut self, order: &Order, context: &mut Context<'_>) {}

    /// The status of an own order, on every change.
    fn on_order_status(&mut self, status: &OrderStatus, context: &mut Context<'_>) {}

    /// An execution of an own order. Position, cash and the order are updated already, as in the callbacks that follow
    /// it: `on_transaction`, `on_position`, `on_cash`, `on_order` and `on_order_status`, in this order.
    fn on_fill(&mut self, fill: &Fill, context: &mut Context<'_>) {}

    /// A booking of this strategy.
    fn on_transaction(&mut self, transaction: &Transaction, context: &mut Context<'_>) {}

    /// A position of this strategy, after a fill and at most once a second with new prices.
    fn on_position(&mut self, position: &Position, context: &mut Context<'_>) {}

    /// A cash balance of this strategy.
    fn on_cash(&mut self, balance: &CashBalance, context: &mut Context<'_>) {}

    /// The value of this strategy's portfolio.
    fn on_portfolio_value(&mut self, value: &PortfolioValue, context: &mut Context<'_>) {}

    /// The session state of a venue changed.
    fn on_session(&mut self, change: &SessionChange, context: &mut Context<'_>) {}

    /// A trading state changed, of the platform or of a scope that applies here.
    fn on_trading_state(&mut self, change: &TradingStateChange, context: &mut Context<'_>) {}

    /// A timer that the strategy set is due.
    fn on_timer(&mut self, timer: &Timer, context: &mut Context<'_>) {}

    /// A generic event of another strategy or a client.
    fn on_generic_event(&mut self, event: &GenericEvent, context: &mut Context<'_>) {}

    /// A command was refused: it had no effect.
    fn on_refusal(&mut self, refused: &CommandRejection, context: &mut Context<'_>) {}

    /// The simulation is over, after EXIT: commands have no effect any more.
    fn on_end_of_simulation(&mut self, context: &mut Context<'_>) {}
}
