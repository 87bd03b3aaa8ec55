//! What a FIX client was told, held against the journal: every order that was acknowledged is there once, none is there that no client
//! sent, and at the end every report of the journal was received, once and in order.

use domain::order::{ExecType, OrderStatus};
use domain::{Event, IntId, Order, Source};

use super::client::FixClient;
use super::message::{CL_ORD_ID, CUM_QTY, EXEC_TYPE, MSG_SEQ_NUM, ORDER_ID, PlatformMessage};
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, ensure};
use crate::invariants::progress::CheckProgress;

const INCOMPLETE: &str = "FIX reports are incomplete";
/// OrderID (37) of an order that does not exist.
const NONE: &str = "NONE";

impl FixClient {
    /// Holds at any moment, however the process ended before.
    pub(crate) fn check(&self, books: &JournalBooks, progress: &mut CheckProgress) -> InvariantResult {
        let (comp_id, session) = (self.session.comp_id, &self.session);
        let own = progress.fix.entry(comp_id).or_default();
        let sent = session.sent.range(own.sent + 1..).filter(|(_, (message, _))| message.msg_type == "D");
        own.placed.extend(sent.filter_map(|(_, (message, _))| message.get(CL_ORD_ID).map(str::to_owned)));
        let is_own = |order: &Order| matches!(&order.source, Source::Fix(name) if **name == *comp_id);
        let changed = books.events.range(progress.through + 1..).flat_map(|(_, events)| events).filter_map(order_of);
        let phantom = changed.filter(|order| is_own(order)).find(|order| !own.placed.contains(order.int_id.as_str()));
        ensure(phantom.is_none(), "an order that nobody placed", || format!("{comp_id}: {phantom:?}"))?;
        let told = session.received.range(own.received + 1..).map(|(_, message)| message);
        let reports = told.filter(|message| message.msg_type == "8" && message.get(ORDER_ID) != Some(NONE));
        for report in reports {
            let int_id = report.get(ORDER_ID).and_then(|id| id.parse().ok());
            let number = int_id.and_then(|int_id: IntId| progress.numbers.get(&int_id));
            let order = number.and_then(|number| books.orders.get(number)).filter(|order| is_own(order));
            ensure(order.is_some(), "acknowledged and lost", || format!("{comp_id} was told {report}"))?;
            let filled = report.get(CUM_QTY).and_then(|text| text.parse().ok());
            let most = order.and_then(|order| books.most_filled.get(&order.id));
            ensure(most.zip(filled).is_some_and(|(most, filled)| most.0 >= filled), "acknowledged and lost", || {
                format!("{comp_id} was told {report}, the journal has {order:?}")
            })?;
        }
        own.sent = session.sent.last_key_value().map_or(own.sent, |(number, _)| *number);
        own.received = session.received.last_key_value().map_or(own.received, |(number, _)| *number);
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

fn order_of(event: &Event) -> Option<&Order> {
    match event {
        Event::Order(order) => Some(order),
        _ => None,
    }
}

fn concerns(event: &Event, comp_id: &str) -> bool {
    let is_own = |source: &Source| matches!(source, Source::Fix(name) if **name == *comp_id);
    match event {
        Event::OrderStatus(status) => {
            status.client.as_ref().is_some_and(|view| view.comp_id.as_deref() == Some(comp_id))
        }
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
