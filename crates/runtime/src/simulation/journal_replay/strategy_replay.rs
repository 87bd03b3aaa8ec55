//! Strategy replay: a strategy gets the deliveries of its log again, and its commands are compared with the journal.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};

use domain::{Bar, Command, PublishedEvent};
use strategy::{CommandRejection, PriceHistory, StrategyRunner};

use crate::strategies::protocol::delivery_log::LoggedDelivery;
use crate::strategies::protocol::event_codec;

pub(super) struct StrategyReplay {
    runner: StrategyRunner,
    /// Bars of the next phase.
    history: Vec<Bar>,
    /// Its commands that the journal has not shown yet.
    commands: VecDeque<Command>,
    /// It failed or differs: it gets no more deliveries.
    is_finished: bool,
}

impl StrategyReplay {
    pub(super) fn new(runner: StrategyRunner) -> Self {
        Self { runner, history: vec![], commands: VecDeque::new(), is_finished: false }
    }

    /// A callback that panics or floods has no effect, as in live.
    pub(super) fn deliver(&mut self, told: LoggedDelivery) {
        if self.is_finished {
            return;
        }
        let lives = catch_unwind(AssertUnwindSafe(|| dispatch(&mut self.runner, &mut self.history, told)));
        if lives.is_err() || self.runner.is_flooding() {
            self.is_finished = true;
        } else {
            self.commands.extend(self.runner.commands());
        }
    }

    /// Its first command that was not compared with the journal yet.
    pub(super) fn next_command(&mut self) -> Option<Command> {
        self.commands.pop_front()
    }

    pub(super) fn end(&mut self) {
        self.is_finished = true;
        self.commands.clear();
    }
}

fn dispatch(runner: &mut StrategyRunner, history: &mut Vec<Bar>, told: LoggedDelivery) {
    match told {
        LoggedDelivery::Event { at, class, payload } => {
            // An event that this build cannot decode is missing, and then the next command differs.
            let event = event_codec::from_bytes(class, &payload, runner.reference());
            event.into_iter().for_each(|event| runner.on_published(&PublishedEvent { sequence: 0, at, event }));
        }
        LoggedDelivery::HistoryBar(bar) => history.push(bar),
        LoggedDelivery::Entered(phase, at) => {
            runner.enter_phase(phase, at, &std::mem::take(history).into_iter().collect::<PriceHistory>());
        }
        LoggedDelivery::Refused { at, command, code, reason } => {
            runner.on_refused(at, &CommandRejection { command: *command, code, reason });
        }
        LoggedDelivery::Advanced(now) => runner.advance(now),
        LoggedDelivery::CommandRejected | LoggedDelivery::Exited => {}
    }
}
