//! Before the first price and after the last: the phases of all strategies, in order, and the warm-up between INIT and
//! PREFEED.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use domain::command::{CancelOrder, FailureKind, Mode, Phase};
use domain::query::{Answer, Filter};
use domain::risk::Scope;
use domain::{Bar, BarSize, Command, SecurityId, Timestamp};
use storage::history::Recorded;
use strategy::{Past, Wish};

use super::Simulation;
use super::setup::SimulationError;
use crate::strategies::OnFailure;

/// The newest bars of the warm-up, as many as anybody wishes for.
#[derive(Debug, Default)]
struct Memory {
    wanted: BTreeMap<(SecurityId, BarSize), usize>,
    bars: BTreeMap<(SecurityId, BarSize), VecDeque<Arc<Bar>>>,
}

impl Simulation<'_> {
    /// INIT, warm-up, PREFEED, START, RUN; tells when trading began.
    pub(super) fn begin(&mut self) -> Result<Timestamp, SimulationError> {
        self.enter(Phase::Init, &[])?;
        self.choose_bar_makers();
        let wishes: Vec<Vec<Wish>> = self.crew.seats().iter().map(|seat| seat.wishes().to_vec()).collect();
        let memory = self.warm_up(&wishes)?;
        let Some(first) = self.next_row()? else { return Err(SimulationError::NoData) };
        self.now = self.now.max(first.at());
        self.held = Some(first);
        let pasts: Vec<Past> = wishes.iter().map(|wishes| memory.past(wishes)).collect();
        for phase in [Phase::Prefeed, Phase::Start, Phase::Run] {
            self.enter(phase, &pasts)?;
        }
        self.choose_bar_makers();
        self.next_valuation = Timestamp(self.now.0.saturating_add(self.valuation_nanos));
        self.desk.begin(self.now)?;
        self.begin_day(self.now);
        self.find_due();
        Ok(self.now)
    }

    /// Plays what lies before the beginning of trading into the past of the strategies.
    fn warm_up(&mut self, wishes: &[Vec<Wish>]) -> Result<Memory, SimulationError> {
        let mut memory = Memory::wanting(wishes.iter().flatten());
        let Some(from) = self.from else { return Ok(memory) };
        while let Some(row) = self.next_row()? {
            let ends = match &row {
                Recorded::Bar(bar) => bar.at.plus_seconds(bar.size.seconds()),
                other => other.at(),
            };
            // A bar that is not over when trading begins is not the past.
            if row.at() >= from || ends > from {
                self.held = Some(row);
                break;
            }
            self.now = self.now.max(row.at());
            self.events += 1;
            self.floor.show(self.now, &row);
            if let Recorded::Bar(bar) = &row {
                self.floor.close_bar(ends, bar);
                self.tape.mark_last(bar.security, bar.close, ends);
                memory.keep(Arc::new(bar.clone()));
                self.larger.add(bar);
                while let Some(made) = self.larger.take_closed(ends) {
                    memory.keep(made);
                }
            } else {
                self.desk.tell_price(self.now, &row, &mut self.tape, &mut self.crew);
            }
        }
        self.made_bars(&mut memory, wishes);
        Ok(memory)
    }

    /// Bars that the engine made from ticks and trades.
    fn made_bars(&mut self, memory: &mut Memory, wishes: &[Vec<Wish>]) {
        for wish in wishes.iter().flatten() {
            if !self.tape.has_recorded(wish.security, wish.size) {
                let made = self.desk.bars(self.now, wish.security, wish.size);
                made.into_iter().for_each(|bar| memory.keep(bar));
            }
        }
    }

    fn enter(&mut self, phase: Phase, pasts: &[Past]) -> Result<(), SimulationError> {
        let nothing = Past::default();
        for (seat, strategy) in self.crew.standing_ids() {
            let command = Command::EnterPhase { strategy, mode: Mode::Simulation, phase, failure: None };
            self.desk.command(self.now, command, &mut self.crew, &mut self.floor)?;
            self.crew.enter(seat, phase, self.now, pasts.get(seat).unwrap_or(&nothing));
        }
        self.settle()
    }

    /// What is on its way still arrives; then EXIT, and the end is told, with the instant that counts as it.
    pub(super) fn end(&mut self) -> Result<Timestamp, SimulationError> {
        while let Some(arrives) = self.ahead.next_due() {
            self.run_until(arrives)?;
        }
        self.desk.tell_as(Some(super::counted(self.now)));
        self.enter(Phase::Exit, &[])?;
        self.cancel_the_rest()?;
        let to = super::counted(self.now);
        self.desk.tell_as(Some(to));
        self.now = self.now.plus_seconds(1);
        self.desk.value_at_end(self.now, &mut self.tape, &mut self.crew, &mut self.floor)?;
        self.desk.tell_end_of_day(to)?;
        self.crew.end(self.now);
        Ok(to)
    }

    /// Strategies that failed are stopped alone, as in live: the risk gate closes for one that floods, open orders are
    /// handled by policy, then EXIT. Says whether there were any.
    pub(super) fn look_after_fallen(&mut self) -> Result<bool, SimulationError> {
        let falling = self.crew.take_falling();
        let any = !falling.is_empty();
        for (strategy, name, failure) in falling {
            self.desk.tell_fall(self.now, &name, &failure);
            if failure.kind == FailureKind::Flooded {
                let kill = Command::Kill { scope: Scope::Strategy(strategy), reason: Some("it floods".into()) };
                self.desk.command(self.now, kill, &mut self.crew, &mut self.floor)?;
            }
            if self.on_failure == OnFailure::Cancel {
                self.cancel(Filter { strategy: Some(strategy), ..Filter::default() });
            }
            let (mode, phase, failure) = (Mode::Simulation, Phase::Exit, Some(failure));
            let exit = Command::EnterPhase { strategy, mode, phase, failure };
            self.desk.command(self.now, exit, &mut self.crew, &mut self.floor)?;
        }
        Ok(any)
    }

    fn cancel(&mut self, whose: Filter) {
        for order in self.desk.open_orders(self.now, whose) {
            let cancel = CancelOrder { int_id: order.int_id.clone(), cl_ord_id: None };
            // One whose cancel is on its way needs no second.
            let _ = self.desk.command(self.now, Command::Cancel(cancel), &mut self.crew, &mut self.floor);
        }
    }

    /// Orders that no price will meet any more.
    fn cancel_the_rest(&mut self) -> Result<(), SimulationError> {
        self.cancel(Filter::default());
        while let Some(due) = self.floor.next_due() {
            self.now = self.now.max(due);
            self.settle()?;
        }
        self.settle()
    }
}

impl Memory {
    fn wanting<'w>(wishes: impl Iterator<Item = &'w Wish>) -> Self {
        let mut memory = Self::default();
        for wish in wishes {
            let most = memory.wanted.entry((wish.security, wish.size)).or_default();
            *most = wish.bars.max(*most);
        }
        memory
    }

    fn keep(&mut self, bar: Arc<Bar>) {
        let key = (bar.security, bar.size);
        let Some(most) = self.wanted.get(&key) else { return };
        let bars = self.bars.entry(key).or_default();
        bars.push_back(bar);
        while bars.len() > *most {
            bars.pop_front();
        }
    }

    fn past(&self, wishes: &[Wish]) -> Past {
        let mut past = Past::default();
        for wish in wishes {
            let bars = self.bars.get(&(wish.security, wish.size));
            past.fulfil(wish, bars.into_iter().flatten().cloned().collect());
        }
        past
    }
}

impl super::desk::Desk<'_> {
    fn bars(&self, at: Timestamp, security: SecurityId, size: BarSize) -> Vec<Arc<Bar>> {
        match self.ask(at, &domain::Query::Bars(security, size)) {
            Ok(Answer::Bars(bars)) => bars,
            _ => Vec::new(),
        }
    }

    fn open_orders(&self, at: Timestamp, whose: Filter) -> Vec<Arc<domain::Order>> {
        match self.ask(at, &domain::Query::OpenOrders(whose)) {
            Ok(Answer::Orders(orders)) => orders,
            _ => Vec::new(),
        }
    }
}
