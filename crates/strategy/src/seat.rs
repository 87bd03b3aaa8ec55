//! Strategy runner: drives one strategy in any mode. The driver, on virtual or real time, in this process or another,
//! passes events in and takes commands out; so a strategy runs unchanged everywhere.

use std::sync::Arc;

use domain::command::Phase;
use domain::risk::Scope;
use domain::{Command, Event, Published, ReferenceData, Refusal, StrategyId, Text, Tick, Timestamp};

use crate::desk::{Desk, Stand};
use crate::past::{Past, PriceWish, Wish};
use crate::picture::Picture;
use crate::selection::{Prices, Selection};
use crate::strategy::{Refused, Strategy};

/// Commands of one callback; with one more the strategy is [flooding](Seat::is_flooding).
pub const COMMANDS_PER_CALL_MAX: usize = 1_024;

/// Characters of the strategy's name in its order ids.
const NAME_IN_ORDERS_MAX: usize = 24;

/// Identity of a strategy run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// The id in reference data.
    pub id: StrategyId,
    /// The name under which it trades.
    pub name: Text,
    /// A number that no earlier run had: it keeps the order ids of runs apart.
    pub run: u64,
}

impl Who {
    /// Prefix of its order ids, before their number: short and printable.
    pub(crate) fn order_prefix(&self) -> String {
        let printable = self.name.chars().filter(char::is_ascii_graphic).take(NAME_IN_ORDERS_MAX);
        let name: String = printable.collect();
        format!("{name}-{}-", self.run)
    }
}

/// Runs one strategy: events and phases in, commands out.
pub struct Seat {
    who: Who,
    strategy: Box<dyn Strategy>,
    stand: Stand,
    /// The events of the current fill so far: the callbacks wait until position, cash and order are updated.
    fill_step: Vec<(Timestamp, Event)>,
}

/// Whether the engine publishes the event in one step with a fill.
fn is_part_of_a_fill(event: &Event) -> bool {
    matches!(
        event,
        Event::Transaction(_) | Event::Position(_) | Event::Cash(_) | Event::Order(_) | Event::OrderStatus(_)
    )
}

impl Seat {
    /// A strategy before INIT.
    pub fn new(who: Who, strategy: Box<dyn Strategy>, reference: Arc<ReferenceData>) -> Self {
        Self { who, strategy, stand: Stand::new(Picture::new(reference)), fill_step: Vec::new() }
    }

    /// Its prices are recorded: none of its orders is in the books.
    #[must_use]
    pub fn on_recorded_prices(mut self) -> Self {
        self.stand.picture.set_recorded();
        self
    }

    /// Enters the next phase. PREFEED gets the history that was requested in INIT.
    pub fn enter(&mut self, phase: Phase, now: Timestamp, past: &Past) {
        self.end_fill_step();
        self.stand.phase = Some(phase);
        self.call(now, |strategy, desk| match phase {
            Phase::Init => strategy.init(desk),
            Phase::Prefeed => strategy.prefeed(past, desk),
            Phase::Start => strategy.start(desk),
            Phase::Run => strategy.run(desk),
            Phase::Exit => strategy.exit(desk),
        });
    }

    /// The requests for past bars.
    pub fn wishes(&self) -> &[Wish] {
        &self.stand.wishes
    }

    /// As [`Self::wishes`], of ticks, trades and books.
    pub fn price_wishes(&self) -> &[PriceWish] {
        &self.stand.price_wishes
    }

    /// Whether there are new bar sizes since [`Self::take_new_bars`] was last called.
    #[inline]
    pub fn wants_new_bars(&self) -> bool {
        self.stand.selection.has_new_bars()
    }

    /// Whether there are new bar sizes; resets it.
    pub fn take_new_bars(&mut self) -> bool {
        self.stand.selection.take_new_bars()
    }

    /// Applies an event to the view and, from START to EXIT, calls the strategy; an irrelevant event costs one look-up.
    #[inline]
    pub fn hear(&mut self, published: &Published) {
        self.hear_event(published.at, &published.event);
    }

    /// As [`Self::hear`], for an event without an envelope.
    #[inline]
    pub fn hear_event(&mut self, at: Timestamp, event: &Event) {
        // Ticks come by the million: one look-up is enough for them.
        if let Event::Tick(tick) = event {
            return self.hear_tick(at, tick);
        }
        if self.concerns(event) {
            self.stand.picture.take(event);
            if self.is_awake() {
                self.tell_in_steps(at, event);
            }
        }
    }

    /// The events of one fill are delivered together, when the view has all of them: FILL, TRANSACTION, POSITION, CASH,
    /// ORDER and, last, ORDER STATUS. Another event in between, from an interrupted feed, ends the step.
    fn tell_in_steps(&mut self, at: Timestamp, event: &Event) {
        let goes_on = !self.fill_step.is_empty() && is_part_of_a_fill(event);
        if matches!(event, Event::Fill(_)) || goes_on {
            self.fill_step.push((at, event.clone()));
            if matches!(event, Event::OrderStatus(_)) {
                self.end_fill_step();
            }
        } else {
            self.end_fill_step();
            self.tell(at, event);
        }
    }

    fn end_fill_step(&mut self) {
        for (at, event) in std::mem::take(&mut self.fill_step) {
            self.tell(at, &event);
        }
    }

    /// As [`Self::hear`], for a tick that is not shared.
    #[inline]
    pub fn hear_tick(&mut self, at: Timestamp, tick: &Tick) {
        let Some(is_told) = self.stand.selection.tells_ticks(tick.security) else { return };
        self.stand.picture.take_tick(tick);
        if is_told && self.is_awake() {
            self.end_fill_step();
            self.call(at, |strategy, desk| strategy.on_tick(tick, desk));
        }
    }

    /// Whether an event changes anything here.
    pub fn heeds(&self, event: &Event) -> bool {
        match event {
            Event::Tick(tick) => self.stand.selection.has(tick.security),
            event => self.concerns(event),
        }
    }

    /// Fires the timers that are due.
    pub fn advance(&mut self, now: Timestamp) {
        if !self.is_awake() {
            return;
        }
        self.end_fill_step();
        // A timer set by a timer for now fires at the next advance, so that there is no endless loop.
        for _ in 0..crate::timers::TIMERS_MAX {
            let Some(timer) = self.stand.timers.take(now) else { return };
            self.call(now, |strategy, desk| strategy.on_timer(&timer, desk));
        }
    }

    /// When the next timer is due.
    pub fn next_timer(&self) -> Option<Timestamp> {
        self.stand.timers.next()
    }

    /// A command of this strategy was refused.
    pub fn refuse(&mut self, now: Timestamp, command: Command, refusal: &Refusal) {
        let reason = Text::from(refusal.to_string());
        self.refuse_by(now, &Refused { command, code: refusal.code().into(), reason });
    }

    /// As [`Self::refuse`], with code and reason from another process.
    pub fn refuse_by(&mut self, now: Timestamp, refused: &Refused) {
        self.stand.picture.refused(&refused.command);
        if self.is_awake() {
            self.call(now, |strategy, desk| strategy.on_refusal(refused, desk));
        }
    }

    /// After EXIT of a simulation.
    pub fn end_of_simulation(&mut self, now: Timestamp) {
        self.call(now, |strategy, desk| strategy.on_end_of_simulation(desk));
        self.stand.commands.clear();
    }

    /// The commands since the last call, in order. The buffer is reused, so that nothing is allocated.
    pub fn commands(&mut self) -> impl Iterator<Item = Command> + '_ {
        self.stand.commands.drain(..)
    }

    /// Whether commands wait to be taken.
    pub fn has_commands(&self) -> bool {
        !self.stand.commands.is_empty()
    }

    /// Whether one callback sent more than [`COMMANDS_PER_CALL_MAX`] commands; the surplus was dropped.
    pub fn is_flooding(&self) -> bool {
        self.stand.is_flooding
    }

    /// Which strategy it is.
    pub fn who(&self) -> &Who {
        &self.who
    }

    /// The phase that the strategy is in.
    pub fn phase(&self) -> Option<Phase> {
        self.stand.phase
    }

    /// What the strategy can read.
    pub fn picture(&self) -> &Picture {
        &self.stand.picture
    }

    /// What the strategy has subscribed to.
    pub fn selection(&self) -> &Selection {
        &self.stand.selection
    }

    fn is_awake(&self) -> bool {
        matches!(self.stand.phase, Some(Phase::Start | Phase::Run))
    }

    fn concerns(&self, event: &Event) -> bool {
        let (own, wanted) = (self.who.id, &self.stand.selection);
        match event {
            Event::Trade(trade) => wanted.wants(trade.security, Prices::Trades),
            Event::Book(book) => wanted.wants(book.security, Prices::Books),
            Event::Bar(bar) => wanted.wants(bar.security, Prices::Bars(bar.size)),
            Event::Order(order) => order.strategy == own,
            Event::OrderStatus(status) => status.strategy == own,
            Event::Fill(fill) => fill.strategy == own,
            Event::Transaction(transaction) => transaction.strategy == own,
            Event::Position(position) => position.strategy == own,
            Event::Cash(balance) => balance.strategy == own,
            Event::Portfolio(value) => value.strategy == own,
            Event::Session(_) | Event::Reference(_) => true,
            Event::TradingState(change) => match change.scope {
                Scope::Platform | Scope::Account(_) => true,
                Scope::Strategy(strategy) => strategy == own,
                Scope::Security(security) => wanted.has(security),
            },
            Event::Generic(event) => event.strategy != own && wanted.hears(&event.name),
            _ => false,
        }
    }

    fn tell(&mut self, at: Timestamp, event: &Event) {
        self.call(at, |strategy, desk| match event {
            Event::Trade(trade) => strategy.on_trade(trade, desk),
            Event::Book(book) => strategy.on_order_book(book, desk),
            Event::Bar(bar) => strategy.on_bar(bar, desk),
            Event::Order(order) => strategy.on_order(order, desk),
            Event::OrderStatus(status) => strategy.on_order_status(status, desk),
            Event::Fill(fill) => strategy.on_fill(fill, desk),
            Event::Transaction(transaction) => strategy.on_transaction(transaction, desk),
            Event::Position(position) => strategy.on_position(position, desk),
            Event::Cash(balance) => strategy.on_cash(balance, desk),
            Event::Portfolio(value) => strategy.on_portfolio_value(value, desk),
            Event::Session(change) => strategy.on_session(change, desk),
            Event::TradingState(change) => strategy.on_trading_state(change, desk),
            Event::Generic(event) => strategy.on_generic_event(event, desk),
            _ => {}
        });
    }

    #[inline]
    fn call(&mut self, now: Timestamp, what: impl FnOnce(&mut dyn Strategy, &mut Desk<'_>)) {
        self.stand.now = now;
        what(&mut *self.strategy, &mut Desk { who: &self.who, stand: &mut self.stand });
        if !self.stand.refused.is_empty() {
            self.tell_refused();
        }
    }

    /// A refusal during the delivery of refusals is not delivered again: a strategy that retries would never return.
    fn tell_refused(&mut self) {
        for refused in std::mem::take(&mut self.stand.refused) {
            self.stand.picture.refused(&refused.command);
            self.strategy.on_refusal(&refused, &mut Desk { who: &self.who, stand: &mut self.stand });
        }
        for insisted in std::mem::take(&mut self.stand.refused) {
            self.stand.picture.refused(&insisted.command);
        }
    }
}
