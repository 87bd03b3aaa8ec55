//! Security lists: sent in parts, as fast as the client reads, and again when the securities of a subscribed one have changed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use domain::{ReferenceData, Security};
use fix::OutgoingMessage;
use fix_net::SessionHandle;
use tokio::task::JoinSet;

use super::price_mailbox::PriceMailbox;
use crate::limits::{LISTED_PER_PART, LISTS_SENDING_MAX};
use crate::translate::{SecurityListRequest, security_list_part};

/// Where a list goes, and from what it is made.
pub(super) struct ListTarget {
    pub(super) handle: SessionHandle,
    /// Woken when a list is sent.
    pub(super) mailbox: Arc<PriceMailbox>,
    pub(super) reference: Arc<ReferenceData>,
}

#[derive(Default)]
pub(super) struct ListSender {
    /// By SecurityReqID (320).
    subscribed: BTreeMap<String, SubscribedList>,
    /// Dropped with the connection.
    sending: JoinSet<()>,
    /// Lists of the connection, for SecurityResponseID (322).
    lists: u64,
}

struct SubscribedList {
    request: Arc<SecurityListRequest>,
    is_sending: Arc<AtomicBool>,
    /// Securities have changed since it was made.
    is_due: bool,
}

impl ListSender {
    pub(super) fn subscriptions(&self) -> usize {
        self.subscribed.len()
    }

    /// Whether there is room for one more.
    pub(super) fn is_busy(&mut self) -> bool {
        while self.sending.try_join_next().is_some() {}
        self.sending.len() >= LISTS_SENDING_MAX
    }

    pub(super) fn next_response_id(&mut self) -> String {
        self.lists += 1;
        format!("L{}", self.lists)
    }

    pub(super) fn start(&mut self, request: SecurityListRequest, target: ListTarget) {
        let (request, is_sending) = (Arc::new(request), Arc::<AtomicBool>::default());
        if request.is_subscription {
            let list = SubscribedList { request: request.clone(), is_sending: is_sending.clone(), is_due: false };
            self.subscribed.insert(request.id.clone(), list);
        }
        self.send(request, is_sending, target);
    }

    pub(super) fn end(&mut self, id: &str) -> bool {
        self.subscribed.remove(id).is_some()
    }

    pub(super) fn on_securities_changed(&mut self) {
        self.subscribed.values_mut().for_each(|list| list.is_due = true);
    }

    /// Sends the lists that are due; one that is being sent comes after that.
    pub(super) fn send_due(&mut self, target: impl Fn() -> ListTarget) {
        let mut due = Vec::new();
        for list in self.subscribed.values_mut() {
            if list.is_due && !list.is_sending.load(Ordering::Acquire) {
                list.is_due = false;
                due.push((list.request.clone(), list.is_sending.clone()));
            }
        }
        for (request, is_sending) in due {
            self.send(request, is_sending, target());
        }
    }

    fn send(&mut self, request: Arc<SecurityListRequest>, is_sending: Arc<AtomicBool>, target: ListTarget) {
        while self.sending.try_join_next().is_some() {}
        let response = self.next_response_id();
        is_sending.store(true, Ordering::Release);
        self.sending.spawn(async move {
            let ListTarget { handle, mailbox, reference } = target;
            let securities = request.securities(&reference);
            // A session whose task has ended takes nothing more.
            let _ = handle.send_all(parts(&request, &response, &securities, &reference)).await;
            is_sending.store(false, Ordering::Release);
            mailbox.wake();
        });
    }
}

/// An empty list has one part too.
fn parts<'a>(
    request: &'a SecurityListRequest,
    response: &'a str,
    securities: &'a [Arc<Security>],
    reference: &'a ReferenceData,
) -> impl Iterator<Item = OutgoingMessage> + Send + 'a {
    let (total, count) = (securities.len(), securities.len().div_ceil(LISTED_PER_PART).max(1));
    (0..count).map(move |place| {
        let rest = &securities[place * LISTED_PER_PART..];
        let part = &rest[..rest.len().min(LISTED_PER_PART)];
        security_list_part(request, response, (part, total, place + 1 == count), reference)
    })
}
