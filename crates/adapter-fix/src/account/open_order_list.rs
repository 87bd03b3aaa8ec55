//! The list of open orders while the session is up, by a mass status (AF). It counts when its last report has come; half of one is none.

use domain::report::{ListingScope, OpenOrdersPage, ReportKind, VenueOrder, VenueOrderState};
use domain::{Text, Timestamp};
use fix::FixMessage;

use crate::account::snapshot::snapshot_order;
use crate::reports::FixTranslator;
use crate::requests::{MASS_STATUS_PREFIX, QuestionId};

/// The newest question; the answer to an older one is not used.
#[derive(Debug, Default)]
pub(crate) struct OpenOrderList(Option<AskedList>);

#[derive(Debug)]
struct AskedList {
    id: QuestionId,
    as_of: Timestamp,
    orders: Vec<VenueOrder>,
    /// An order of ours in it could not be read.
    spoilt: Option<String>,
}

/// What a message means for the list.
#[derive(Debug)]
pub(crate) enum OrderListStep {
    /// It is not part of the answer.
    NotOfList,
    /// More has to come.
    Waiting,
    Done(Box<ReportKind>),
}

impl OpenOrderList {
    pub(crate) fn begin(&mut self, id: QuestionId, as_of: Timestamp) {
        self.0 = Some(AskedList { id, as_of, orders: Vec::new(), spoilt: None });
    }

    /// Questions of an earlier connection get no answers.
    pub(crate) fn clear(&mut self) {
        self.0 = None;
    }

    pub(crate) fn on_message(&mut self, translator: &FixTranslator, message: &FixMessage<'_>) -> OrderListStep {
        match message.msg_type() {
            b"8" => self.on_order(translator, message),
            b"3" | b"j" if message.text(372) == Some("AF") => match self.0.take() {
                Some(_) => OrderListStep::Done(failed(message.text(58).unwrap_or("rejected")).into()),
                None => OrderListStep::NotOfList,
            },
            _ => OrderListStep::NotOfList,
        }
    }

    /// An order of another client is none of ours.
    fn on_order(&mut self, translator: &FixTranslator, message: &FixMessage<'_>) -> OrderListStep {
        let id = message.text(584).and_then(|text| QuestionId::read(MASS_STATUS_PREFIX, text));
        let Some(asked) = self.0.as_mut().filter(|asked| Some(asked.id) == id) else { return OrderListStep::NotOfList };
        let is_empty = message.number(911) == Some(0);
        if let Some(id) = translator.named_order(message).filter(|_| !is_empty) {
            match snapshot_order(translator, message) {
                Some(order)
                    if order.seen.state == VenueOrderState::Live && order.filled < order.seen.terms.quantity =>
                {
                    asked.orders.push(order.seen);
                }
                Some(_) => {}
                None => asked.spoilt = Some(format!("order {id} cannot be read")),
            }
        }
        if let Some(reason) = translator.refused_list(message).filter(|_| is_empty) {
            asked.spoilt = Some(reason.to_string());
        }
        if !(is_empty || message.flag(912)) {
            return OrderListStep::Waiting;
        }
        match self.0.take() {
            Some(AskedList { spoilt: Some(reason), .. }) => OrderListStep::Done(failed(&reason).into()),
            Some(AskedList { as_of, orders, .. }) => {
                let page = OpenOrdersPage { as_of, dead_after: None, page: 0, last: true, orders };
                OrderListStep::Done(ReportKind::OpenOrders(page).into())
            }
            None => OrderListStep::NotOfList,
        }
    }
}

fn failed(reason: &str) -> ReportKind {
    ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason: Text::from(reason) }
}
