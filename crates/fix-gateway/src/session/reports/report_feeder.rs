//! Report feeder: order events for a session from its cursor on, first from history, then live. The same path serves a
//! reconnect, a restart and a session that fell behind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bus::ReplyReceiver;
use bus::history::{HistoryError, PageRequest, StoredEvent};
use domain::order::ExecType;
use domain::query::Filter;
use domain::{Answer, Event, Order, OrderStatus, PlantedBug, PublishedEvent, Query, Text};
use fix_net::SessionHandle;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::event_router::{EventIndexer, ReportSource};
use super::report_scope::ReportScope;
use crate::limits::{HISTORY_PAGE, HISTORY_PAUSE_MILLISECONDS};
use crate::session::GatewayContext;
use crate::store::Cursor;

/// A report item for a session's client.
#[derive(Debug)]
pub(crate) enum ReportItem {
    Event(ReportSource),
    /// Sent before, and perhaps not read by the client.
    PossResend(ReportSource),
    /// The state of an order, for a client whose sequence numbers were reset.
    OrderState {
        sequence: u64,
        order: Arc<Order>,
        /// The newest event that the client may have missed.
        missed: Option<Arc<OrderStatus>>,
    },
    /// Everything up to this sequence is sent.
    CaughtUp(u64),
}

/// Where the reports of a session resume.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResumePoint {
    pub(crate) cursor: Option<Cursor>,
    /// Sequence numbers were reset since the previous Logon: the client cannot request what it missed, so it receives
    /// states.
    pub(crate) sequence_was_reset: bool,
    /// Up to where the client has confirmed everything.
    pub(crate) confirmed_up_to: Option<u64>,
}

/// Wakes a session's task for new items.
#[derive(Debug, Clone)]
pub(crate) struct SessionWaker {
    pub(crate) handle: SessionHandle,
    pub(crate) notified: Arc<AtomicBool>,
}

pub(crate) struct ReportFeeder {
    pub(crate) context: Arc<GatewayContext>,
    /// The session's, for the log.
    pub(crate) comp_id: Text,
    pub(crate) scope: ReportScope,
    pub(crate) reports: mpsc::Sender<ReportItem>,
    pub(crate) waker: SessionWaker,
}

/// The session accepts no more items: the client has disconnected.
struct SessionGone;

/// Catch-up point: where history ends and the live feed begins. A query in the engine's inbox, and the live events
/// since then.
pub(crate) struct CatchUpPoint {
    live: mpsc::Receiver<ReportSource>,
    query: Option<ReplyReceiver>,
}

impl ReportFeeder {
    /// To be called before the client's next message is handled: its events come after the catch-up point.
    pub(crate) fn catch_up_point(&self) -> CatchUpPoint {
        let live = self.context.event_router.subscribe(&self.scope);
        CatchUpPoint { live, query: self.send_query() }
    }

    pub(crate) async fn run(self, mut catch_up_point: CatchUpPoint, mut resume_point: ResumePoint) {
        while let Ok(cursor) = self.feed(catch_up_point, resume_point).await {
            resume_point = ResumePoint { cursor: Some(cursor), sequence_was_reset: false, confirmed_up_to: None };
            catch_up_point = self.catch_up_point();
        }
    }

    /// Until the live feed breaks.
    async fn feed(&self, catch_up_point: CatchUpPoint, resume_point: ResumePoint) -> Result<Cursor, SessionGone> {
        let CatchUpPoint { mut live, query: asked } = catch_up_point;
        let (now, open) = self.query_open_orders(asked).await?;
        if resume_point.sequence_was_reset {
            self.feed_order_states(resume_point, now, open).await?;
        } else {
            self.feed_history(resume_point.cursor.unwrap_or(Cursor::after(now)), now).await?;
        }
        self.send(ReportItem::CaughtUp(now)).await?;
        let mut cursor = Cursor::after(now);
        while let Some(source) = self.next_live(&mut live).await? {
            // Older events were sent from history.
            if source.published.sequence > now {
                let sequence = source.published.sequence;
                cursor = Cursor { sequence, reported: source.index + 1 };
                if PlantedBug::ForgetReport.is_planted() && sequence.is_multiple_of(16) {
                    continue;
                }
                if PlantedBug::RepeatReport.is_planted() && sequence.is_multiple_of(64) {
                    self.send(ReportItem::Event(source.clone())).await?;
                }
                self.send(ReportItem::Event(source)).await?;
            }
        }
        Ok(cursor)
    }

    async fn next_live(&self, live: &mut mpsc::Receiver<ReportSource>) -> Result<Option<ReportSource>, SessionGone> {
        // Usually there is more already, without a wait.
        if let Ok(source) = live.try_recv() {
            return Ok(Some(source));
        }
        tokio::select! {
            biased;
            () = self.reports.closed() => Err(SessionGone),
            source = live.recv() => Ok(source),
        }
    }

    /// The current sequence, and all open orders in scope.
    async fn query_open_orders(&self, mut asked: Option<ReplyReceiver>) -> Result<(u64, Vec<Arc<Order>>), SessionGone> {
        loop {
            if let Some(ticket) = asked.take().or_else(|| self.send_query())
                && let Ok(reply) = ticket.recv().await
                && let Ok(Answer::Orders(orders)) = reply.outcome
            {
                return Ok((reply.sequence, orders.into_iter().filter(|order| self.is_in_scope(order)).collect()));
            }
            self.retry_delay().await?;
        }
    }

    /// `None` while the engine's inbox is full.
    fn send_query(&self) -> Option<ReplyReceiver> {
        self.context.bus.inbox.query(Query::OpenOrders(Filter::default())).ok()
    }

    fn is_in_scope(&self, order: &Order) -> bool {
        self.scope.covers_order(order, &self.context.bus.catalogue.current())
    }

    async fn feed_history(&self, from: Cursor, now: u64) -> Result<(), SessionGone> {
        let mut past = HistoryReader::from_cursor(from);
        while let Some(events) = self.read_history_page(&mut past, now).await? {
            for source in events {
                self.send(ReportItem::Event(source)).await?;
            }
        }
        Ok(())
    }

    /// One state of each order that is open or has changed since the client's last confirmation; and the answers since
    /// then, those that were sent before marked as such.
    async fn feed_order_states(
        &self,
        resume_point: ResumePoint,
        now: u64,
        open: Vec<Arc<Order>>,
    ) -> Result<(), SessionGone> {
        let mut orders: BTreeMap<_, _> = open.into_iter().map(|order| (order.id, order)).collect();
        let untold = resume_point.cursor.unwrap_or(Cursor::after(now));
        let mut past = HistoryReader::from_cursor(Cursor::after(resume_point.confirmed_up_to.unwrap_or(now)));
        let mut missed: BTreeMap<_, Arc<OrderStatus>> = BTreeMap::new();
        while let Some(events) = self.read_history_page(&mut past, now).await? {
            for source in events {
                match &source.published.event {
                    Event::OrderStatus(status) if !is_request_reject(status) => {
                        drop(missed.insert(status.order, status.clone()));
                    }
                    _ if is_after(&source, untold) => self.send(ReportItem::Event(source)).await?,
                    _ => self.send(ReportItem::PossResend(source)).await?,
                }
            }
        }
        for status in missed.values() {
            if !orders.contains_key(&status.order) {
                let closed = self.order_by_int_id(status.int_id.as_str()).await?;
                orders.extend(closed.map(|order| (order.id, order)));
            }
        }
        for order in orders.into_values() {
            let missed = missed.remove(&order.id);
            self.send(ReportItem::OrderState { sequence: now, order, missed }).await?;
        }
        Ok(())
    }

    /// `None` for one that is too old to be queried.
    async fn order_by_int_id(&self, int_id: &str) -> Result<Option<Arc<Order>>, SessionGone> {
        loop {
            if let Ok(ticket) = self.context.bus.inbox.query(Query::Order(int_id.into()))
                && let Ok(reply) = ticket.recv().await
            {
                let Ok(Answer::Orders(orders)) = reply.outcome else { return Ok(None) };
                return Ok(orders.into_iter().find(|order| self.is_in_scope(order)));
            }
            self.retry_delay().await?;
        }
    }

    /// The session's events of the next page; `None` at the end.
    async fn read_history_page(
        &self,
        past: &mut HistoryReader,
        now: u64,
    ) -> Result<Option<Vec<ReportSource>>, SessionGone> {
        if past.after >= now {
            return Ok(None);
        }
        let page = PageRequest { after: past.after, limit: HISTORY_PAGE };
        loop {
            match self.read_events(now, page).await.and_then(|events| decode_all(&events)) {
                Ok(events) if events.is_empty() => return Ok(None),
                Ok(events) => {
                    past.after = events.last().map_or(now, |event| event.sequence);
                    let reference = self.context.bus.catalogue.current();
                    let covers = |source: &ReportSource| self.scope.covers(&source.published.event, &reference);
                    return Ok(Some(past.events_in_scope(covers, now, events.into_iter())));
                }
                Err(HistoryError::Behind { .. } | HistoryError::Busy | HistoryError::Unavailable(_)) => {}
                Err(error) => tracing::warn!(%error, session = %self.comp_id, "history is not readable; retrying"),
            }
            self.retry_delay().await?;
        }
    }

    async fn read_events(&self, now: u64, page: PageRequest) -> Result<Vec<StoredEvent>, HistoryError> {
        let history = self.context.bus.history.clone();
        if history.answers_at_once() {
            return history.events(now, page);
        }
        let read = tokio::task::spawn_blocking(move || history.events(now, page)).await;
        read.unwrap_or_else(|error| Err(HistoryError::Failed(error.to_string())))
    }

    async fn retry_delay(&self) -> Result<(), SessionGone> {
        sleep(Duration::from_millis(HISTORY_PAUSE_MILLISECONDS)).await;
        if self.reports.is_closed() { Err(SessionGone) } else { Ok(()) }
    }

    async fn send(&self, news: ReportItem) -> Result<(), SessionGone> {
        self.reports.send(news).await.map_err(|_| SessionGone)?;
        while !self.waker.wake() {
            self.retry_delay().await?;
        }
        Ok(())
    }
}

impl SessionWaker {
    /// Once is enough until the session has handled it. Fails while the session's queue is full.
    pub(crate) fn wake(&self) -> bool {
        let is_heard = self.notified.swap(true, Ordering::AcqRel) || self.handle.wake().is_ok();
        if !is_heard {
            self.notified.store(false, Ordering::Release);
        }
        is_heard
    }
}

/// Read position in history.
struct HistoryReader {
    after: u64,
    from: Cursor,
    counting: EventIndexer,
}

impl HistoryReader {
    /// The input of the cursor itself is read again, because only a part of its events may be sent.
    fn from_cursor(from: Cursor) -> Self {
        Self { after: from.sequence.saturating_sub(1), from, counting: EventIndexer::default() }
    }

    fn events_in_scope(
        &mut self,
        covers: impl Fn(&ReportSource) -> bool,
        now: u64,
        events: impl Iterator<Item = PublishedEvent>,
    ) -> Vec<ReportSource> {
        let placed = events.filter(|event| event.sequence <= now).filter_map(|event| self.counting.index(event));
        let from = self.from;
        placed.filter(|source| covers(source) && is_after(source, from)).collect()
    }
}

/// A row that cannot be read is not left out: it may be a report of the client. Without it nothing behind it is sent, until the read
/// model is made again.
fn decode_all(events: &[StoredEvent]) -> Result<Vec<PublishedEvent>, HistoryError> {
    let unreadable = |event: &StoredEvent| {
        HistoryError::Failed(format!("an event of sequence {} is damaged or of another build", event.sequence))
    };
    events.iter().map(|event| event.decode_event().ok_or_else(|| unreadable(event))).collect()
}

/// Whether it answers a request of the client that the venue, or the loss of its connection, has refused: the state of
/// the order does not show that.
fn is_request_reject(status: &OrderStatus) -> bool {
    status.request.is_some() && matches!(status.exec_type, ExecType::CancelRejected | ExecType::ReplaceRejected)
}

fn is_after(source: &ReportSource, cursor: Cursor) -> bool {
    Cursor { sequence: source.published.sequence, reported: source.index + 1 } > cursor
}

#[cfg(test)]
mod tests {
    use domain::event::{Alarm, AlarmLevel};
    use domain::{EventClass, Timestamp};

    use super::*;

    #[test]
    fn a_row_that_cannot_be_read_is_no_row_that_is_left_out() {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "no-rate".into(), text: "EUR has no rate".into() };
        let payload = minicbor::to_vec(&alarm).unwrap();
        let good = StoredEvent { sequence: 7, at: Timestamp(1), class: EventClass::Alarm as u8, payload };
        let bad = StoredEvent { sequence: 8, payload: vec![0xff], ..good.clone() };
        assert_eq!(decode_all(std::slice::from_ref(&good)).map(|events| events.len()).ok(), Some(1));
        let failed = decode_all(&[good.clone(), bad, good]).unwrap_err().to_string();
        assert_eq!(failed, "history can't be read: an event of sequence 8 is damaged or of another build");
    }
}
