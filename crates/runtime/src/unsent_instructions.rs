//! Instructions that could not be sent to an adapter, returned to the engine as reports, so that no order is lost.

use std::collections::VecDeque;

use bus::InstructionRouter;
use bus::instruction_queue::InstructionError;
use domain::report::{Report, ReportKind};
use domain::{AdapterName, Instruction};
use tracing::warn;

/// Reports of the loop itself.
#[derive(Default)]
pub(crate) struct UnsentInstructions(VecDeque<Report>);

impl UnsentInstructions {
    pub(crate) fn send(&mut self, outlets: &mut InstructionRouter, adapter: &AdapterName, instruction: Instruction) {
        if let Err(reason) = outlets.send(adapter, instruction.clone()) {
            self.record(adapter, instruction, &reason.to_string());
        }
    }

    /// Sends cancels that wait for room in a queue.
    pub(crate) fn flush(&mut self, outlets: &mut InstructionRouter) {
        for (adapter, cancel) in outlets.flush() {
            self.record(&adapter, cancel, &InstructionError::Stopped.to_string());
        }
    }

    fn record(&mut self, adapter: &AdapterName, instruction: Instruction, reason: &str) {
        warn!(%adapter, reason, "instruction could not be sent; the engine gets a not-sent report");
        self.0.extend(not_sent_report(adapter, instruction, reason));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Report> {
        self.0.drain(..)
    }
}

fn not_sent_report(adapter: &AdapterName, instruction: Instruction, reason: &str) -> Option<Report> {
    let reason = domain::Text::from(format!("not handed to the adapter: {reason}"));
    let said = match instruction {
        Instruction::Submit(order) => ReportKind::NotSent { order: order.id, reason },
        Instruction::Replace(order, _) => ReportKind::ReplaceRejected { order: order.id, reason },
        Instruction::Cancel(order) => ReportKind::CancelRejected { order: order.id, reason },
        // The adapter gets all of them when it is attached again.
        Instruction::LogOn | Instruction::Subscribe(_) | Instruction::Unsubscribe(_) => return None,
    };
    Some(Report { adapter: adapter.clone(), ext_at: None, kind: said })
}
