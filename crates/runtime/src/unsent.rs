//! An instruction that could not be handed to its adapter, as a report: an order never vanishes between two rooms.

use domain::report::{Report, Said};
use domain::{AdapterName, Instruction};

pub(crate) fn not_handed_over(adapter: &AdapterName, instruction: Instruction, reason: &str) -> Option<Report> {
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
