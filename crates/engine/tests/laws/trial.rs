//! One step, applied to engine and model alike. After it all visible state is compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::command::Command;
use domain::query::{Answer, EngineResult};
use domain::report::ReportKind;
use domain::{Input, Mark, OrderId, Query, RiskScope, SecurityId, TradingState};
use engine::Outbox;
use proptest::sample::Index;

use crate::engine_fixture::{EngineFixture, SECURITIES, price_of};
use crate::model::{Model, Order};
use crate::model_reports::scopes;
use crate::published_output::PublishedOutput;
use crate::steps::Step;

pub(crate) struct Trial {
    pub(crate) desk: EngineFixture,
    pub(crate) model: Model,
    /// Every report of an order, for those that come again.
    pub(crate) said: Vec<(usize, ReportKind)>,
    pub(crate) executions: u64,
    pub(crate) told: PublishedOutput,
}

impl Trial {
    /// A fixture with connected venues and a price for everything.
    pub(crate) fn open() -> Self {
        let mut trial = Self {
            desk: EngineFixture::open(),
            model: Model::open(),
            said: vec![],
            executions: 0,
            told: PublishedOutput::default(),
        };
        for security in SECURITIES {
            trial.mark(security, 0);
        }
        trial
    }

    /// Any history, taken step by step.
    pub(crate) fn of(steps: &[Step]) -> Self {
        let mut trial = Self::open();
        steps.iter().for_each(|step| trial.apply(step));
        trial
    }

    pub(crate) fn apply(&mut self, step: &Step) {
        let before = self.known_orders();
        let booked = self.model.bookings.len();
        self.model.sent.clear();
        self.model.fills_told = 0;
        let out = self.act(step);
        self.compare();
        let after = self.known_orders();
        self.told.compare(&out, &before, &after, &self.model, booked);
        self.told.compare_holdings(&out, &self.desk);
    }

    fn act(&mut self, step: &Step) -> Outbox {
        match step {
            Step::Place(ticket) => self.place(ticket),
            Step::Modify { order, quantity, ticks, tif } => match self.pick(order) {
                Some(place) => {
                    let tif = tif.map(|tif| tif.tif(self.desk.now));
                    self.modify(place, *quantity, *ticks, tif)
                }
                None => Outbox::default(),
            },
            Step::Cancel { order } => self.pick(order).map_or_else(Outbox::default, |place| self.cancel(place)),
            Step::Reduce { position, quantity } => self.reduce(position, *quantity),
            Step::Record(entry) => self.record(entry),
            Step::ResetPositions => self.reset(Command::ResetPositions),
            Step::ResetCash => self.reset(Command::ResetCash),
            Step::SetState(scope, state) => self.set_state(*scope, *state),
            Step::Kill(scope) => self.kill(*scope),
            Step::SetLimits(scope, limits) => {
                self.model.limits.insert(*scope, (**limits).clone());
                self.command(Command::SetLimits { scope: *scope, limits: (**limits).clone() }).1
            }
            Step::Venue { order, word } => self.venue(order, *word),
            Step::Again(index) => self.say_again(index),
            Step::Disconnect(adapter) => self.disconnect(*adapter),
            Step::Reconnect { adapter, complete, shown } => self.reconnect(*adapter, *complete, shown),
            Step::Mark { security, ticks } => self.mark(*security, *ticks),
            Step::Wait { millis } => self.wait(*millis),
        }
    }

    pub(crate) fn pick(&self, index: &Index) -> Option<usize> {
        (!self.model.orders.is_empty()).then(|| index.index(self.model.orders.len()))
    }

    /// A refused command changes nothing at all.
    pub(crate) fn command(&mut self, command: Command) -> (EngineResult, Outbox) {
        let state = self.desk.engine.encode_state();
        let (reply, out) = self.desk.command(command);
        if reply.is_err() {
            assert_eq!(out, Outbox::default(), "a refusal was published");
            assert!(self.desk.engine.encode_state() == state, "a refusal left a trace: {reply:?}");
        }
        (reply, out)
    }
    /// The books were right, so nothing changes.
    fn reset(&mut self, command: Command) -> Outbox {
        let state = self.desk.engine.encode_state();
        let (reply, out) = self.command(command);
        assert_eq!(reply, Ok(Answer::Done));
        assert!(self.desk.engine.encode_state() == state, "a reset changed right books");
        out
    }

    fn set_state(&mut self, scope: RiskScope, state: TradingState) -> Outbox {
        self.model.states.insert(scope, state);
        self.command(Command::SetTradingState { scope, state, reason: None }).1
    }

    fn kill(&mut self, scope: RiskScope) -> Outbox {
        self.model.states.insert(scope, TradingState::Halted);
        let orders = self.model.orders.iter().enumerate();
        let hit = |order: &Order| scopes(order).contains(&scope) && Model::can_be_cancelled(order);
        let places: Vec<_> = orders.filter(|(_, order)| hit(order)).map(|(place, _)| place).collect();
        places.iter().for_each(|place| self.model.ask_cancel(*place));
        self.model.remember_killed(scope);
        self.model.release_cleared();
        let (reply, out) = self.command(Command::Kill { scope, reason: None });
        assert_eq!(reply, Ok(Answer::Killed { cancels: places.len() }));
        out
    }

    pub(crate) fn mark(&mut self, security: SecurityId, ticks: i64) -> Outbox {
        let (bid, ask) = (Some(price_of(security, ticks)), Some(price_of(security, ticks + 1)));
        let mark = Mark { security, bid, ask, last: None, at: self.desk.now, stale: None };
        self.model.marks.insert(security, mark);
        self.desk.apply(Input::Marks(vec![mark])).1
    }

    pub(crate) fn wait(&mut self, millis: i64) -> Outbox {
        self.desk.now = self.desk.now.plus_millis(millis);
        self.model.now = self.desk.now;
        self.model.clock();
        self.desk.apply(Input::Clock).1
    }

    pub(crate) fn query(&self, query: &Query) -> EngineResult {
        self.desk.engine.answer(self.desk.now, 0, query)
    }

    fn known_orders(&self) -> BTreeMap<OrderId, Arc<domain::Order>> {
        let orders = self.model.orders.iter().filter_map(|order| self.engine_order(order));
        orders.map(|order| (order.id, order)).collect()
    }

    pub(crate) fn engine_order(&self, order: &Order) -> Option<Arc<domain::Order>> {
        match self.query(&Query::Order(order.int_id.as_str().into())) {
            Ok(Answer::Orders(orders)) => orders.first().cloned(),
            _ => None,
        }
    }
}
