//! What could not be handed to an adapter, as reports: an order never vanishes between two rooms.

use std::collections::VecDeque;

use bus::Outlets;
use bus::outlet::NotHandedOver;
use domain::report::{Report, Said};
use domain::{AdapterName, Instruction};
use tracing::warn;

/// Reports that the loop makes itself.
#[derive(Default)]
pub(crate) struct Unsent(VecDeque<Report>);

impl Unsent {
    pub(crate) fn hand_over(&mut self, outlets: &mut Outlets, adapter: &AdapterName, instruction: Instruction) {
        if let Err(reason) = outlets.hand_over(adapter, instruction.clone()) {
            self.note(adapter, instruction, &reason.to_string());
        }
    }

    /// Cancels that wait for room go on their way.
    pub(crate) fn bring_on(&mut self, outlets: &mut Outlets) {
        for (adapter, cancel) in outlets.bring_on() {
            self.note(&adapter, cancel, &NotHandedOver::Stopped.to_string());
        }
    }

    fn note(&mut self, adapter: &AdapterName, instruction: Instruction, reason: &str) {
        warn!(%adapter, reason, "an instruction was not handed over");
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
        // The adapter is greeted with all of it when it is attached again.
        Instruction::LogOn | Instruction::Subscribe(_) | Instruction::Unsubscribe(_) => return None,
    };
    Some(Report { adapter: adapter.clone(), ext_at: None, said })
}
