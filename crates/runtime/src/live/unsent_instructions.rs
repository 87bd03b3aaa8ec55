//! Instructions that could not be sent to an adapter, returned to the engine as reports, so that no order is lost.

use std::collections::{BTreeSet, VecDeque};

use bus::instruction_queue::InstructionError;
use bus::{InstructionRouter, OutboundGate};
use domain::report::{ListingScope, Report, ReportKind};
use domain::{AdapterName, Instruction, OrderId};
use tracing::warn;

/// Why an order was held back.
const KILLED: &str = "the kill switch was used while the journal's disk did not answer";

/// Reports of the loop itself.
#[derive(Default)]
pub(crate) struct UnsentInstructions {
    reports: VecDeque<Report>,
    /// Orders that a kill held back: the venue does not know them, so it need not cancel them.
    held_back: BTreeSet<OrderId>,
}

impl UnsentInstructions {
    pub(crate) fn send(
        &mut self,
        outlets: &mut InstructionRouter,
        gate: &OutboundGate,
        adapter: &AdapterName,
        instruction: Instruction,
    ) {
        match &instruction {
            Instruction::Submit(order) if gate.holds(order) => {
                self.held_back.insert(order.id);
                return self.record(adapter, instruction, KILLED);
            }
            Instruction::Replace(order, _) if gate.holds(order) => return self.record(adapter, instruction, KILLED),
            Instruction::Cancel(order) if self.held_back.remove(&order.id) => return,
            _ => {}
        }
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
        self.reports.extend(not_sent_report(adapter, instruction, reason));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.reports.is_empty()
    }

    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Report> {
        self.reports.drain(..)
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
        // It is asked again.
        Instruction::CancelLeg(..) | Instruction::Inquire(_) | Instruction::AskStatement(_) => return None,
        Instruction::ListOpenOrders => ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason },
        Instruction::ListFills { security, .. } => {
            ReportKind::ListingFailed { scope: ListingScope::Fills(security), reason }
        }
    };
    Some(Report { adapter: adapter.clone(), ext_at: None, kind: said })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::RiskScope;

    use super::*;

    #[test]
    fn a_shut_gate_lets_cancels_out_and_returns_orders_to_the_engine() {
        let (mut outlets, gate, mut unsent) =
            (InstructionRouter::default(), OutboundGate::default(), UnsentInstructions::default());
        let adapter = AdapterName("SIM-A".into());
        let queue = outlets.open(adapter.clone());
        let order = |id| Arc::new(samples::order(id));
        let mut send =
            |unsent: &mut UnsentInstructions, instruction| unsent.send(&mut outlets, &gate, &adapter, instruction);
        send(&mut unsent, Instruction::Submit(order(1)));
        gate.shut(RiskScope::Platform);
        let terms = order(1).terms;
        for instruction in [
            Instruction::Submit(order(2)),
            Instruction::Replace(order(1), terms),
            // What the kill itself asks for: of the first order only, since the second never left.
            Instruction::Cancel(order(1)),
            Instruction::Cancel(order(2)),
        ] {
            send(&mut unsent, instruction);
        }
        gate.open(RiskScope::Platform);
        send(&mut unsent, Instruction::Submit(order(3)));
        let sent: Vec<_> = queue.try_iter().collect();
        assert_eq!(sent, [Instruction::Submit(order(1)), Instruction::Cancel(order(1)), Instruction::Submit(order(3))]);
        let reason = domain::Text::from(format!("not handed to the adapter: {KILLED}"));
        let told: Vec<_> = unsent.drain().map(|report| report.kind).collect();
        let expected = [
            ReportKind::NotSent { order: OrderId(2), reason: reason.clone() },
            ReportKind::ReplaceRejected { order: OrderId(1), reason },
        ];
        assert_eq!(told, expected);
    }
}
