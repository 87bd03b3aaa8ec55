//! What a FIX client was told, held against the journal: every order that was acknowledged is there once, none is there that no client
//! sent, and at the end every report of the journal was received, once and in order.

use domain::order::{ExecType, OrdStatus, OrderStatus};
use domain::{Event, IntId, Order, Side, Source, TimeInForce};

use super::client::FixClient;
use super::message::{
    ACCOUNT, CL_ORD_ID, CUM_QTY, ClientMessage, EXEC_TYPE, LAST_PX, LAST_QTY, MSG_SEQ_NUM, NO_ORDER, ORD_STATUS,
    ORDER_ID, ORDER_QTY, PRICE, PlatformMessage, SIDE, SYMBOL, TEXT, TIME_IN_FORCE,
};
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{InvariantResult, ensure};
use crate::invariants::progress::{CheckProgress, FixProgress};
use crate::market::Market;

const INCOMPLETE: &str = "FIX reports are incomplete";
/// Why a message is refused whose order exists.
const DUPLICATE: &str = "duplicate-order";

impl FixClient {
    /// Holds at any moment, however the process ended before.
    pub(crate) fn check(&self, books: &JournalBooks, progress: &mut CheckProgress) -> InvariantResult {
        let comp_id = self.session.comp_id;
        let mut own = progress.fix.remove(comp_id).unwrap_or_default();
        self.note_new_messages(&mut own);
        self.orders_are_as_placed(books, &own, progress.through)?;
        self.acknowledged_is_there(books, &own, progress)?;
        self.refused_stays_refused(books, &own, progress)?;
        own.sent = self.session.sent.last_key_value().map_or(own.sent, |(number, _)| *number);
        own.received = self.session.received.last_key_value().map_or(own.received, |(number, _)| *number);
        progress.fix.insert(comp_id, own);
        Ok(())
    }

    fn is_own(&self, order: &Order) -> bool {
        matches!(&order.source, Source::Fix(name) if **name == *self.session.comp_id)
    }

    /// New orders that were sent, and refusals of them that were received, since the last check.
    fn note_new_messages(&self, own: &mut FixProgress) {
        let sent = self.session.sent.range(own.sent + 1..).filter(|(_, (message, _))| message.msg_type == "D");
        for (number, (message, _)) in sent {
            let placed = own.placed.entry(message.get(CL_ORD_ID).unwrap_or_default().to_owned()).or_default();
            placed.first = if placed.times == 0 { *number } else { placed.first };
            placed.times += 1;
        }
        for message in self.session.received.range(own.received + 1..).map(|(_, message)| message) {
            let refused = message.get(CL_ORD_ID).filter(|_| is_refusal(message));
            if let Some(placed) = refused.and_then(|id| own.placed.get_mut(id)) {
                placed.refused += 1;
            }
        }
    }

    /// No phantom, and no order on other terms than its client sent.
    fn orders_are_as_placed(&self, books: &JournalBooks, own: &FixProgress, through: u64) -> InvariantResult {
        let changed = books.events.range(through + 1..).flat_map(|(_, events)| events).filter_map(order_of);
        for order in changed.filter(|order| self.is_own(order)) {
            let placed = own.placed.get(order.int_id.as_str());
            let message = placed.and_then(|placed| self.session.sent.get(&placed.first));
            let comp_id = self.session.comp_id;
            ensure(message.is_some(), "an order that nobody placed", || format!("{comp_id}: {order:?}"))?;
            let accepted = books.accepted.get(&order.id);
            let is_as_sent =
                message.zip(accepted).is_some_and(|((sent, _), order)| is_placed_by(order, sent, self.market()));
            ensure(is_as_sent, "the journal has other terms than its client asked for", || {
                format!("{comp_id} sent {message:?}, the journal has {accepted:?}")
            })?;
        }
        Ok(())
    }

    /// I1: what was reported is in the journal, and as much of it is filled.
    fn acknowledged_is_there(
        &self,
        books: &JournalBooks,
        own: &FixProgress,
        progress: &CheckProgress,
    ) -> InvariantResult {
        let told = self.session.received.range(own.received + 1..).map(|(_, message)| message);
        for report in told.filter(|message| message.msg_type == "8" && message.get(ORDER_ID) != Some(NO_ORDER)) {
            let int_id = report.get(ORDER_ID).and_then(|id| id.parse().ok());
            let number = int_id.and_then(|int_id: IntId| progress.numbers.get(&int_id));
            let order = number.and_then(|number| books.orders.get(number)).filter(|order| self.is_own(order));
            let comp_id = self.session.comp_id;
            ensure(order.is_some(), "acknowledged and lost", || format!("{comp_id} was told {report}"))?;
            let most = order.and_then(|order| books.most_filled.get(&order.id));
            let is_filled = most.zip(report.decimal(CUM_QTY)).is_some_and(|(most, filled)| most.0 >= filled);
            ensure(is_filled, "acknowledged and lost", || {
                format!("{comp_id} was told {report}, the journal has {order:?}")
            })?;
        }
        Ok(())
    }

    /// I5: an order does not exist of which every message was refused.
    fn refused_stays_refused(
        &self,
        books: &JournalBooks,
        own: &FixProgress,
        progress: &CheckProgress,
    ) -> InvariantResult {
        let refused = own.placed.iter().filter(|(_, placed)| placed.refused >= placed.times);
        let orders = refused.filter_map(|(id, _)| books.orders.get(progress.numbers.get(&id.parse::<IntId>().ok()?)?));
        let order = orders.into_iter().find(|order| self.is_own(order));
        ensure(order.is_none(), "refused and there all the same", || format!("{}: {order:?}", self.session.comp_id))
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

/// Of a new order: there is none, and not because there is one already.
fn is_refusal(message: &PlatformMessage) -> bool {
    message.msg_type == "8"
        && message.get(ORDER_ID) == Some(NO_ORDER)
        && message.get(EXEC_TYPE) == Some("8")
        && !message.get(TEXT).unwrap_or_default().starts_with(DUPLICATE)
}

fn is_placed_by(order: &Order, sent: &ClientMessage, market: &Market) -> bool {
    let symbol = market.stocks.iter().find(|stock| stock.security.id == order.security);
    let tif = match order.terms.tif {
        TimeInForce::Day => "0",
        TimeInForce::Gtc => "1",
        _ => "another",
    };
    sent.get(SIDE) == Some(side(order.side))
        && sent.get(SYMBOL) == symbol.map(|stock| &*stock.security.symbol)
        && sent.get(ACCOUNT) == Some(order.account.to_string().as_str())
        && sent.get(TIME_IN_FORCE) == Some(tif)
        && sent.decimal(ORDER_QTY) == Some(order.terms.quantity.0)
        && sent.decimal(PRICE) == order.terms.kind.limit().map(|limit| limit.0)
}

/// Whether this is the report of the event.
fn tells(report: &PlatformMessage, event: &Event) -> bool {
    match event {
        Event::OrderStatus(status) if is_reject_of_request(status) => {
            report.msg_type == "9" && is_of_order(report, status) && report.get(CL_ORD_ID) == status.request.as_deref()
        }
        Event::OrderStatus(status) => {
            let has_side = status.client.as_ref().is_none_or(|view| report.get(SIDE) == Some(side(view.side)));
            report.msg_type == "8"
                && is_of_order(report, status)
                && has_side
                && report.decimal(CUM_QTY) == Some(status.filled.0)
                && report.decimal(LAST_QTY) == status.last_quantity.map(|quantity| quantity.0)
                && report.decimal(LAST_PX) == status.last_price.map(|price| price.0)
                && report.get(EXEC_TYPE).is_some_and(|exec_type| (exec_type == "F") == is_fill(status))
        }
        // What a refusal becomes depends on the request; of an order that does not exist it has the reason.
        Event::Refused(refused) => {
            report.get(ORDER_ID) != Some(NO_ORDER)
                || report.get(TEXT).is_some_and(|text| text.starts_with(&*refused.code))
        }
        _ => true,
    }
}

fn is_of_order(report: &PlatformMessage, status: &OrderStatus) -> bool {
    report.get(ORDER_ID) == Some(status.int_id.as_str()) && report.get(ORD_STATUS) == Some(ord_status(status.status))
}

/// As the protocol has it.
fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "1",
        Side::Sell => "2",
    }
}

/// As the protocol has it.
fn ord_status(status: OrdStatus) -> &'static str {
    match status {
        OrdStatus::Open => "A",
        OrdStatus::Submitted => "0",
        OrdStatus::PartiallyExecuted => "1",
        OrdStatus::Executed => "2",
        OrdStatus::Canceled => "4",
        OrdStatus::PendingCancel => "6",
        OrdStatus::Rejected => "8",
        OrdStatus::PendingReplace => "E",
    }
}

fn is_fill(status: &OrderStatus) -> bool {
    matches!(status.exec_type, ExecType::Fill | ExecType::PartialFill)
}

fn is_reject_of_request(status: &OrderStatus) -> bool {
    status.request.is_some() && matches!(status.exec_type, ExecType::CancelRejected | ExecType::ReplaceRejected)
}
