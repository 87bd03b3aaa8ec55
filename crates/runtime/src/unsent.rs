//! Instructions that could not be sent to an adapter, returned to the engine as reports, so that no order is lost.

use std::collections::VecDeque;

use bus::Outlets;
use bus::outlet::NotHandedOver;
use domain::report::{Report, Said};
use domain::{AdapterName, Instruction};
use tracing::warn;

/// Reports of the loop itself.
#[derive(Default)]
pub(crate) struct Unsent(VecDeque<Report>);

impl Unsent {
    pub(crate) fn hand_over(&mut self, outlets: &mut Outlets, adapter: &AdapterName, instruction: Instruction) {
        if let Err(reason) = outlets.hand_over(adapter, instruction.clone()) {
            self.note(adapter, instruction, &reason.to_string());
        }
    }

    /// Sends cancels that wait for room in a queue.
    pub(crate) fn bring_on(&mut self, outlets: &mut Outlets) {
        for (adapter, cancel) in outlets.bring_on() {
            self.note(&adapter, cancel, &NotHandedOver::Stopped.to_string());
        }
    }

    fn note(&mut self, adapter: &AdapterName, instruction: Instruction, reason: &str) {
        warn!(%adapter, reason, "instruction could not be sent; the engine gets a not-sent report");
        self.0.extend(not_handed_over(adapter, instruction, reason));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Report> {
        self.0.drain(..)
    }
}

fn not_handed_over(adapter: &AdapterName, instruction: Instruction, reason: &str) -> Option<Report> {
    let reason = domain::Text::from(format!("not handed to the adapter: {reason}"));
    let said = match instruction {
        Instruction::Submit(order) => Said::Unsent { order: order.id, reason },
        Instruction::Replace(order, _) => Said::ReplaceRejected { order: order.id, reason },
        Instruction::Cancel(order) => Said::CancelRejected { order: order.id, reason },
        // The adapter gets all of them when it is attached again.
        Instruction::LogOn | Instruction::Subscribe(_) | Instruction::Unsubscribe(_) => return None,
    };
    Some(Report { adapter: adapter.clone(), ext_at: None, said })
}
