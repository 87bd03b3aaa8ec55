//! Faults that strike the reports of an account, as they strike its events on other faces.

use std::sync::Arc;

use crate::exchange::{ExecutionType, SpotExecution, Units};
use crate::faults::LabFaults;
use crate::faults::catalogue::Fault;

/// Trades that a session keeps to report them once more; older ones are dropped.
const SENT_TRADES_MAX: usize = 1_000;

pub(crate) struct ReportFaults {
    faults: Arc<LabFaults>,
    /// Reported since the Logon.
    sent_trades: Vec<SpotExecution>,
}

impl ReportFaults {
    pub(crate) fn new(faults: Arc<LabFaults>) -> Self {
        Self { faults, sent_trades: Vec::new() }
    }

    pub(crate) fn clear(&mut self) {
        self.sent_trades.clear();
    }

    /// The steps of one command as they are reported.
    pub(crate) fn strike(&mut self, mut steps: Vec<SpotExecution>) -> Vec<SpotExecution> {
        if steps.is_empty() {
            return steps;
        }
        if self.faults.strikes(Fault::EventsShuffled) {
            steps.reverse();
            steps.extend(steps.clone());
        }
        self.add_odd_fill(&mut steps);
        self.replay_fills(&mut steps);
        steps
    }

    /// Before the report of a trade one with quantity 0, and its id.
    fn add_odd_fill(&self, steps: &mut Vec<SpotExecution>) {
        let Some(at) = steps.iter().position(is_trade) else { return };
        if self.faults.strikes(Fault::OddFills) {
            let mut odd = steps[at].clone();
            if let Some(trade) = &mut odd.trade {
                (trade.quantity, trade.commission) = (Units::ZERO, Units::ZERO);
            }
            steps.insert(at, odd);
        }
    }

    fn replay_fills(&mut self, steps: &mut Vec<SpotExecution>) {
        let trades: Vec<_> = steps.iter().filter(|step| is_trade(step)).cloned().collect();
        if trades.is_empty() {
            return;
        }
        self.sent_trades.extend(trades);
        self.sent_trades.drain(..self.sent_trades.len().saturating_sub(SENT_TRADES_MAX));
        if self.faults.strikes(Fault::FillsReplayed) {
            steps.extend(self.sent_trades.clone());
        }
    }
}

fn is_trade(step: &SpotExecution) -> bool {
    step.kind == ExecutionType::Trade
}
