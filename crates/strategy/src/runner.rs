//! Strategy runner: drives one strategy in any mode. The driver, on virtual or real time, in this process or another,
//! passes events in and takes commands out; so a strategy runs unchanged everywhere.

use std::sync::Arc;

use domain::command::StrategyPhase;
use domain::risk::RiskScope;
use domain::{Command, Event, PublishedEvent, ReferenceData, Refusal, Text, Tick, Timestamp};

use crate::context::identity::StrategyIdentity;
use crate::context::price_history::{BarHistoryRequest, PriceHistory, PriceHistoryRequest};
use crate::context::selection::{PriceKind, Selection};
use crate::context::view::StrategyView;
use crate::context::{Context, StrategyContextState};
use crate::order::CommandRejection;
use crate::strategy::Strategy;

/// Runs one strategy: events and phases in, commands out.
pub struct StrategyRunner {
    identity: StrategyIdentity,
    strategy: Box<dyn Strategy>,
    state: StrategyContextState,
    /// The events of the current fill so far: the callbacks wait until position, cash and order are updated.
    fill_step: Vec<(Timestamp, Event)>,
}

/// Whether the engine publishes the event in one step with a fill.
fn is_fill_event(event: &Event) -> bool {
    matches!(
        event,
        Event::Transaction(_) | Event::Position(_) | Event::Cash(_) | Event::Order(_) | Event::OrderStatus(_)
    )
}

impl StrategyRunner {
    /// A strategy before INIT.
    pub fn new(identity: StrategyIdentity, strategy: Box<dyn Strategy>, reference: Arc<ReferenceData>) -> Self {
        Self {
            identity,
            strategy,
            state: StrategyContextState::new(StrategyView::new(reference)),
            fill_step: Vec::new(),
        }
    }

    /// Its prices are recorded: none of its orders is in the books.
    #[must_use]
    pub fn with_recorded_prices(mut self) -> Self {
        self.state.view.set_recorded();
        self
    }

    /// The reference data that the strategy sees.
    pub fn reference(&self) -> &Arc<ReferenceData> {
        self.state.view.reference()
    }

    /// Enters the next phase. PREFEED gets the history that was requested in INIT.
    pub fn enter_phase(&mut self, phase: StrategyPhase, now: Timestamp, history: &PriceHistory) {
        self.end_fill_step();
        self.state.phase = Some(phase);
        self.call(now, |strategy, context| match phase {
            StrategyPhase::Init => strategy.init(context),
            StrategyPhase::Prefeed => strategy.prefeed(history, context),
            StrategyPhase::Start => strategy.start(context),
            StrategyPhase::Run => strategy.run(context),
            StrategyPhase::Exit => strategy.exit(context),
        });
    }

    /// The requests for past bars.
    pub fn history_requests(&self) -> &[BarHistoryRequest] {
        &self.state.history_requests
    }

    /// As [`Self::history_requests`], of ticks, trades and books.
    pub fn price_history_requests(&self) -> &[PriceHistoryRequest] {
        &self.state.price_history_requests
    }

    /// Whether there are new bar sizes since [`Self::take_new_bar_sizes`] was last called.
    #[inline]
    pub fn has_new_bar_sizes(&self) -> bool {
        self.state.selection.has_new_bar_sizes()
    }

    /// Whether there are new bar sizes; resets it.
    pub fn take_new_bar_sizes(&mut self) -> bool {
        self.state.selection.take_new_bar_sizes()
    }

    /// Applies an event to the view and, from START to EXIT, calls the strategy; an irrelevant event costs one look-up.
    #[inline]
    pub fn on_published(&mut self, published: &PublishedEvent) {
        self.on_event(published.at, &published.event);
    }

    /// As [`Self::on_published`], for an event without an envelope.
    #[inline]
    pub fn on_event(&mut self, at: Timestamp, event: &Event) {
        // Ticks come by the million: one look-up is enough for them.
        if let Event::Tick(tick) = event {
            return self.on_tick(at, tick);
        }
        if self.concerns(event) {
            self.state.view.apply(event);
            if self.is_running() {
                self.deliver_in_steps(at, event);
            }
        }
    }

    /// The events of one fill are delivered together, when the view has all of them: FILL, TRANSACTION, POSITION, CASH,
    /// ORDER and, last, ORDER STATUS. Another event in between, from an interrupted feed, ends the step.
    fn deliver_in_steps(&mut self, at: Timestamp, event: &Event) {
        let goes_on = !self.fill_step.is_empty() && is_fill_event(event);
        if matches!(event, Event::Fill(_)) || goes_on {
            self.fill_step.push((at, event.clone()));
            if matches!(event, Event::OrderStatus(_)) {
                self.end_fill_step();
            }
        } else {
            self.end_fill_step();
            self.deliver(at, event);
        }
    }

    /// On the way of every tick, where there is nothing to deliver.
    #[inline]
    fn end_fill_step(&mut self) {
        if !self.fill_step.is_empty() {
            self.deliver_fill_step();
        }
    }

    /// The list is kept: every fill needs it, and it would grow anew each time.
    fn deliver_fill_step(&mut self) {
        let mut step = std::mem::take(&mut self.fill_step);
        for (at, event) in step.drain(..) {
            self.deliver(at, &event);
        }
        self.fill_step = step;
    }

    /// As [`Self::on_published`], for a tick that is not shared.
    #[inline]
    pub fn on_tick(&mut self, at: Timestamp, tick: &Tick) {
        let Some(is_told) = self.state.selection.wants_ticks(tick.security) else { return };
        if tick.stale.is_some() {
            return self.on_stale_tick(at, tick);
        }
        self.state.view.on_tick(tick);
        if is_told && self.is_running() {
            self.end_fill_step();
            self.call(at, |strategy, context| strategy.on_tick(tick, context));
        }
    }

    /// A gap is told once, whichever kind of prices is subscribed; quotes within it are not prices to trade on.
    fn on_stale_tick(&mut self, at: Timestamp, tick: &Tick) {
        let known = self.state.view.stale(tick.security);
        self.state.view.on_tick(tick);
        if known != tick.stale && self.is_running() {
            self.end_fill_step();
            self.call(at, |strategy, context| strategy.on_price_gap(tick, context));
        }
    }

    /// Whether an event changes anything here.
    pub fn is_relevant(&self, event: &Event) -> bool {
        match event {
            Event::Tick(tick) => self.state.selection.contains(tick.security),
            event => self.concerns(event),
        }
    }

    /// Fires the timers that are due.
    pub fn advance(&mut self, now: Timestamp) {
        if !self.is_running() {
            return;
        }
        self.end_fill_step();
        // A timer set by a timer for now fires at the next advance, so that there is no endless loop.
        for _ in 0..crate::context::timers::TIMERS_MAX {
            let Some(timer) = self.state.timers.pop_due(now) else { return };
            self.call(now, |strategy, context| strategy.on_timer(&timer, context));
        }
    }

    /// When the next timer is due.
    pub fn next_timer(&self) -> Option<Timestamp> {
        self.state.timers.next()
    }

    /// A command of this strategy was refused.
    pub fn on_refusal(&mut self, now: Timestamp, command: Command, refusal: &Refusal) {
        let reason = Text::from(refusal.to_string());
        self.on_refused(now, &CommandRejection { command, code: refusal.code().into(), reason });
    }

    /// As [`Self::on_refusal`], with code and reason from another process.
    pub fn on_refused(&mut self, now: Timestamp, refused: &CommandRejection) {
        self.state.view.on_refused(&refused.command);
        if self.is_running() {
            self.call(now, |strategy, context| strategy.on_refusal(refused, context));
        }
    }

    /// After EXIT of a simulation.
    pub fn end_of_simulation(&mut self, now: Timestamp) {
        self.call(now, |strategy, context| strategy.on_end_of_simulation(context));
        self.state.commands.clear();
    }

    /// The commands since the last call, in order. The buffer is reused, so that nothing is allocated.
    pub fn commands(&mut self) -> impl Iterator<Item = Command> + '_ {
        self.state.commands.drain(..)
    }

    /// Whether commands wait to be taken.
    pub fn has_commands(&self) -> bool {
        !self.state.commands.is_empty()
    }

    /// Whether one callback sent more than [`COMMANDS_PER_CALL_MAX`](crate::COMMANDS_PER_CALL_MAX) commands; the surplus was dropped.
    pub fn is_flooding(&self) -> bool {
        self.state.is_flooding
    }

    /// Which strategy it is.
    pub fn identity(&self) -> &StrategyIdentity {
        &self.identity
    }

    /// The phase that the strategy is in.
    pub fn phase(&self) -> Option<StrategyPhase> {
        self.state.phase
    }

    /// What the strategy can read.
    pub fn view(&self) -> &StrategyView {
        &self.state.view
    }

    /// What the strategy has subscribed to.
    pub fn selection(&self) -> &Selection {
        &self.state.selection
    }

    fn is_running(&self) -> bool {
        matches!(self.state.phase, Some(StrategyPhase::Start | StrategyPhase::Run))
    }

    fn concerns(&self, event: &Event) -> bool {
        let (own, wanted) = (self.identity.id, &self.state.selection);
        match event {
            Event::Trade(trade) => wanted.wants(trade.security, PriceKind::Trades),
            Event::Book(book) => wanted.wants(book.security, PriceKind::Books),
            Event::Bar(bar) => wanted.wants(bar.security, PriceKind::Bars(bar.size)),
            Event::Order(order) => order.strategy == own,
            Event::OrderStatus(status) => status.strategy == own,
            Event::Fill(fill) => fill.strategy == own,
            Event::Transaction(transaction) => transaction.strategy == own,
            Event::Position(position) => position.strategy == own,
            Event::Cash(balance) => balance.strategy == own,
            Event::Portfolio(value) => value.strategy == own,
            Event::Session(_) | Event::Reference(_) => true,
            Event::TradingState(change) => match change.scope {
                RiskScope::Platform | RiskScope::Account(_) => true,
                RiskScope::Strategy(strategy) => strategy == own,
                RiskScope::Security(security) => wanted.contains(security),
            },
            Event::Generic(event) => event.strategy != own && wanted.has_event(&event.name),
            _ => false,
        }
    }

    fn deliver(&mut self, at: Timestamp, event: &Event) {
        self.call(at, |strategy, context| match event {
            Event::Trade(trade) => strategy.on_trade(trade, context),
            Event::Book(book) => strategy.on_order_book(book, context),
            Event::Bar(bar) => strategy.on_bar(bar, context),
            Event::Order(order) => strategy.on_order(order, context),
            Event::OrderStatus(status) => strategy.on_order_status(status, context),
            Event::Fill(fill) => strategy.on_fill(fill, context),
            Event::Transaction(transaction) => strategy.on_transaction(transaction, context),
            Event::Position(position) => strategy.on_position(position, context),
            Event::Cash(balance) => strategy.on_cash(balance, context),
            Event::Portfolio(value) => strategy.on_portfolio_value(value, context),
            Event::Session(change) => strategy.on_session(change, context),
            Event::TradingState(change) => strategy.on_trading_state(change, context),
            Event::Generic(event) => strategy.on_generic_event(event, context),
            _ => {}
        });
    }

    #[inline]
    fn call(&mut self, now: Timestamp, what: impl FnOnce(&mut dyn Strategy, &mut Context<'_>)) {
        self.state.now = now;
        what(&mut *self.strategy, &mut Context { identity: &self.identity, state: &mut self.state });
        if !self.state.refused.is_empty() {
            self.deliver_refusals();
        }
    }

    /// A refusal during the delivery of refusals is not delivered again: a strategy that retries would never return.
    fn deliver_refusals(&mut self) {
        for refused in std::mem::take(&mut self.state.refused) {
            self.state.view.on_refused(&refused.command);
            self.strategy.on_refusal(&refused, &mut Context { identity: &self.identity, state: &mut self.state });
        }
        for insisted in std::mem::take(&mut self.state.refused) {
            self.state.view.on_refused(&insisted.command);
        }
    }
}
