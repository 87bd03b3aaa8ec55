//! What a FIX client was told, held against the journal: every order that was acknowledged is there once, none is there that no client
//! sent, and at the end every report of the journal was received, once and in order.

use std::collections::{BTreeMap, BTreeSet};

use domain::order::{ExecType, OrderStatus};
use domain::{Event, Order, Source};

use super::client::FixClient;
use super::message::{CL_ORD_ID, CUM_QTY, EXEC_TYPE, MSG_SEQ_NUM, ORDER_ID, PlatformMessage};
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, ensure};

const INCOMPLETE: &str = "FIX reports are incomplete";
/// OrderID (37) of an order that does not exist.
const NONE: &str = "NONE";

impl FixClient {
    /// Holds at any moment, however the process ended before.
    pub(crate) fn check(&self, books: &JournalBooks) -> InvariantResult {
        let comp_id = self.session.comp_id;
        let own = |order: &Order| matches!(&order.source, Source::Fix(name) if **name == *comp_id);
        let orders: BTreeMap<&str, &Order> =
            books.orders.values().filter(|order| own(order)).map(|order| (order.int_id.as_str(), &**order)).collect();
        let placed = self.session.sent.values().filter(|(message, _)| message.msg_type == "D");
        let placed: BTreeSet<&str> = placed.filter_map(|(message, _)| message.get(CL_ORD_ID)).collect();
        let phantom = orders.keys().find(|id| !placed.contains(*id));
        ensure(phantom.is_none(), "an order that nobody placed", || format!("{comp_id}: {phantom:?}"))?;
        let told = self.session.received.values().filter(|message| message.msg_type == "8");
        for report in told.filter(|report| report.get(ORDER_ID) != Some(NONE)) {
            let order = report.get(ORDER_ID).and_then(|id| orders.get(id));
            ensure(order.is_some(), "acknowledged and lost", || format!("{comp_id} was told {report}"))?;
            let filled = report.get(CUM_QTY).and_then(|text| text.parse().ok());
            ensure(
                order.zip(filled).is_some_and(|(order, filled)| order.filled.0 >= filled),
                "acknowledged and lost",
                || format!("{comp_id} was told {report}, the journal has {order:?}"),
            )?;
        }
        Ok(())
    }

    /// Once all is quiet: what the journal tells about this client is what the client received, in the same order.
    pub(crate) fn check_complete(&self, books: &JournalBooks) -> InvariantResult {
        let comp_id = self.session.comp_id;
        ensure(self.unanswered().is_none(), "a FIX request was never answered", || {
            format!("{comp_id}: {:?}", self.unanswered())
        })?;
        let told: Vec<&PlatformMessage> =
            self.session.received.values().filter(|message| matches!(message.msg_type.as_str(), "8" | "9")).collect();
        let events =
            books.events.iter().flat_map(|(sequence, events)| events.iter().map(move |event| (sequence, event)));
        let due: Vec<(&u64, &Event)> = events.filter(|(_, event)| concerns(event, comp_id)).collect();
        for (index, (sequence, event)) in due.iter().enumerate() {
            let report = told.get(index);
            ensure(report.is_some_and(|report| tells(report, event)), INCOMPLETE, || {
                let number = report.and_then(|report| report.get(MSG_SEQ_NUM));
                format!("{comp_id}: input {sequence} gives {event:?}, received is {number:?} {report:?}")
            })?;
        }
        ensure(told.len() == due.len(), INCOMPLETE, || {
            format!(
                "{comp_id}: {} reports, the journal has {}, the next is {:?}",
                told.len(),
                due.len(),
                told.get(due.len())
            )
        })
    }
}

fn concerns(event: &Event, comp_id: &str) -> bool {
    let is_own = |source: &Source| matches!(source, Source::Fix(name) if **name == *comp_id);
    match event {
        Event::OrderStatus(status) => status.client.as_ref().is_some_and(|view| *view.comp_id == *comp_id),
        Event::Refused(refused) => is_own(&refused.source),
        _ => false,
    }
}

/// Whether this is the report of the event. What a refusal becomes depends on the request, so any answer will do there.
fn tells(report: &PlatformMessage, event: &Event) -> bool {
    match event {
        Event::OrderStatus(status) if is_reject_of_request(status) => report.msg_type == "9",
        Event::OrderStatus(status) => {
            let filled = report.get(CUM_QTY).and_then(|text| text.parse().ok());
            report.msg_type == "8"
                && report.get(ORDER_ID) == Some(status.int_id.as_str())
                && filled == Some(status.filled.0)
                && report.get(EXEC_TYPE).is_some_and(|exec_type| (exec_type == "F") == is_fill(status))
        }
        _ => true,
    }
}

fn is_fill(status: &OrderStatus) -> bool {
    matches!(status.exec_type, ExecType::Fill | ExecType::PartialFill)
}

fn is_reject_of_request(status: &OrderStatus) -> bool {
    status.request.is_some() && matches!(status.exec_type, ExecType::CancelRejected | ExecType::ReplaceRejected)
}
