//! Report feeder: order events for a session from its cursor on, first from history, then live. The same path serves a
//! reconnect, a restart and a session that fell behind.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bus::Ticket;
use bus::history::{HistoryError, Page};
use domain::order::Step;
use domain::query::Filter;
use domain::{Answer, Event, Order, OrderStatus, Published, Query, Source, Text};
use fix_net::SessionHandle;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::switchboard::{Counting, Happening, client_of};
use crate::house::House;
use crate::ledger::Cursor;
use crate::limits::{HISTORY_PAGE, HISTORY_PAUSE_MILLISECONDS};

/// A report item for a session's client.
#[derive(Debug)]
pub(crate) enum News {
    Happened(Happening),
    /// Sent before, and perhaps not read by the client.
    Again(Happening),
    /// The state of an order, for a client whose sequence numbers were reset.
    Standing {
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
pub(crate) struct Bookmark {
    pub(crate) cursor: Option<Cursor>,
    /// Sequence numbers were reset since the previous Logon: the client cannot request what it missed, so it receives
    /// states.
    pub(crate) begins_anew: bool,
    /// Up to where the client has confirmed everything.
    pub(crate) read_before: Option<u64>,
}

/// Wakes a session's task for new items.
#[derive(Debug, Clone)]
pub(crate) struct Bell {
    pub(crate) handle: SessionHandle,
    pub(crate) rung: Arc<AtomicBool>,
}

pub(crate) struct Courier {
    pub(crate) house: Arc<House>,
    pub(crate) comp_id: Text,
    pub(crate) news: mpsc::Sender<News>,
    pub(crate) bell: Bell,
}

/// The session accepts no more items: the client has disconnected.
struct Gone;

/// Catch-up point: where history ends and the live feed begins. A query in the engine's inbox, and the live events
/// since then.
pub(crate) struct Seam {
    live: mpsc::Receiver<Happening>,
    asked: Option<Ticket>,
}

impl Courier {
    /// To be called before the client's next message is handled: its events come after the catch-up point.
    pub(crate) fn seam(&self) -> Seam {
        let live = self.house.switchboard.join(&self.comp_id);
        Seam { live, asked: self.ask() }
    }

    pub(crate) async fn run(self, mut seam: Seam, mut bookmark: Bookmark) {
        while let Ok(cursor) = self.bring(seam, bookmark).await {
            bookmark = Bookmark { cursor: Some(cursor), begins_anew: false, read_before: None };
            seam = self.seam();
        }
    }

    /// Until the live feed breaks.
    async fn bring(&self, seam: Seam, bookmark: Bookmark) -> Result<Cursor, Gone> {
        let Seam { mut live, asked } = seam;
        let (now, open) = self.present(asked).await?;
        if bookmark.begins_anew {
            self.bring_pictures(bookmark, now, open).await?;
        } else {
            self.bring_past(bookmark.cursor.unwrap_or(Cursor::behind(now)), now).await?;
        }
        self.tell(News::CaughtUp(now)).await?;
        let mut cursor = Cursor::behind(now);
        while let Some(happening) = self.next_live(&mut live).await? {
            // Older events were sent from history.
            if happening.published.sequence > now {
                cursor = Cursor { sequence: happening.published.sequence, told: happening.place + 1 };
                self.tell(News::Happened(happening)).await?;
            }
        }
        Ok(cursor)
    }

    async fn next_live(&self, live: &mut mpsc::Receiver<Happening>) -> Result<Option<Happening>, Gone> {
        // Usually there is more already, without a wait.
        if let Ok(happening) = live.try_recv() {
            return Ok(Some(happening));
        }
        tokio::select! {
            happening = live.recv() => Ok(happening),
            () = self.news.closed() => Err(Gone),
        }
    }

    /// The current sequence, and all open orders of this client.
    async fn present(&self, mut asked: Option<Ticket>) -> Result<(u64, Vec<Arc<Order>>), Gone> {
        loop {
            if let Some(ticket) = asked.take().or_else(|| self.ask())
                && let Ok(reply) = ticket.reply().await
                && let Ok(Answer::Orders(orders)) = reply.outcome
            {
                return Ok((reply.sequence, orders.into_iter().filter(|order| self.is_own(order)).collect()));
            }
            self.pause().await?;
        }
    }

    /// `None` while the engine's inbox is full.
    fn ask(&self) -> Option<Ticket> {
        self.house.bus.inbox.query(Query::OpenOrders(Filter::default())).ok()
    }

    fn is_own(&self, order: &Order) -> bool {
        matches!(&order.source, Source::Fix(comp_id) if *comp_id == self.comp_id)
    }

    async fn bring_past(&self, from: Cursor, now: u64) -> Result<(), Gone> {
        let mut past = Past::after(from);
        while let Some(events) = self.read(&mut past, now).await? {
            for happening in events {
                self.tell(News::Happened(happening)).await?;
            }
        }
        Ok(())
    }

    /// One state of each order that is open or has changed since the client's last confirmation; and the answers since
    /// then, those that were sent before marked as such.
    async fn bring_pictures(&self, bookmark: Bookmark, now: u64, open: Vec<Arc<Order>>) -> Result<(), Gone> {
        let mut orders: BTreeMap<_, _> = open.into_iter().map(|order| (order.id, order)).collect();
        let untold = bookmark.cursor.unwrap_or(Cursor::behind(now));
        let mut past = Past::after(Cursor::behind(bookmark.read_before.unwrap_or(now)));
        let mut missed: BTreeMap<_, Arc<OrderStatus>> = BTreeMap::new();
        while let Some(events) = self.read(&mut past, now).await? {
            for happening in events {
                match &happening.published.event {
                    Event::OrderStatus(status) if !is_refusal(status) => {
                        drop(missed.insert(status.order, status.clone()));
                    }
                    _ if is_behind(&happening, untold) => self.tell(News::Happened(happening)).await?,
                    _ => self.tell(News::Again(happening)).await?,
                }
            }
        }
        for status in missed.values() {
            if !orders.contains_key(&status.order) {
                let closed = self.order_named(status.int_id.as_str()).await?;
                orders.extend(closed.map(|order| (order.id, order)));
            }
        }
        for order in orders.into_values() {
            let missed = missed.remove(&order.id);
            self.tell(News::Standing { sequence: now, order, missed }).await?;
        }
        Ok(())
    }

    /// `None` for one that is too old to be queried.
    async fn order_named(&self, int_id: &str) -> Result<Option<Arc<Order>>, Gone> {
        loop {
            if let Ok(ticket) = self.house.bus.inbox.query(Query::Order(int_id.into()))
                && let Ok(reply) = ticket.reply().await
            {
                let Ok(Answer::Orders(orders)) = reply.outcome else { return Ok(None) };
                return Ok(orders.into_iter().find(|order| self.is_own(order)));
            }
            self.pause().await?;
        }
    }

    /// The client's own events of the next page; `None` at the end.
    async fn read(&self, past: &mut Past, now: u64) -> Result<Option<Vec<Happening>>, Gone> {
        if past.after >= now {
            return Ok(None);
        }
        let page = Page { after: past.after, limit: HISTORY_PAGE };
        loop {
            let history = self.house.bus.history.clone();
            let read = tokio::task::spawn_blocking(move || history.events(now, page)).await;
            match read {
                Ok(Ok(events)) if events.is_empty() => return Ok(None),
                Ok(Ok(events)) => {
                    let published = events.iter().filter_map(bus::history::PastEvent::published);
                    past.after = events.last().map_or(now, |event| event.sequence);
                    return Ok(Some(past.own(&self.comp_id, now, published)));
                }
                Ok(Err(HistoryError::Behind { .. } | HistoryError::Busy)) => {}
                Ok(Err(error)) => tracing::warn!(%error, session = %self.comp_id, "history is not readable; retrying"),
                Err(error) => tracing::warn!(%error, session = %self.comp_id, "history is not readable; retrying"),
            }
            self.pause().await?;
        }
    }

    async fn pause(&self) -> Result<(), Gone> {
        sleep(Duration::from_millis(HISTORY_PAUSE_MILLISECONDS)).await;
        if self.news.is_closed() { Err(Gone) } else { Ok(()) }
    }

    async fn tell(&self, news: News) -> Result<(), Gone> {
        self.news.send(news).await.map_err(|_| Gone)?;
        while !self.bell.ring() {
            self.pause().await?;
        }
        Ok(())
    }
}

impl Bell {
    /// Once is enough until the session has handled it. Fails while the session's queue is full.
    fn ring(&self) -> bool {
        let is_heard = self.rung.swap(true, Ordering::AcqRel) || self.handle.wake().is_ok();
        if !is_heard {
            self.rung.store(false, Ordering::Release);
        }
        is_heard
    }
}

/// Read position in history.
struct Past {
    after: u64,
    from: Cursor,
    counting: Counting,
}

impl Past {
    /// The input of the cursor itself is read again, because only a part of its events may be sent.
    fn after(from: Cursor) -> Self {
        Self { after: from.sequence.saturating_sub(1), from, counting: Counting::default() }
    }

    fn own(&mut self, comp_id: &Text, now: u64, events: impl Iterator<Item = Published>) -> Vec<Happening> {
        let placed = events.filter(|event| event.sequence <= now).filter_map(|event| self.counting.place(event));
        let (from, own) = (self.from, |happening: &Happening| client_of(&happening.published.event) == Some(comp_id));
        placed.filter(|happening| own(happening) && is_behind(happening, from)).collect()
    }
}

/// Whether it answers a request of the client that the venue, or the loss of its connection, has refused: the state of
/// the order does not show that.
fn is_refusal(status: &OrderStatus) -> bool {
    status.request.is_some() && matches!(status.step, Step::CancelRefused | Step::ReplaceRefused)
}

fn is_behind(happening: &Happening, cursor: Cursor) -> bool {
    Cursor { sequence: happening.published.sequence, told: happening.place + 1 } > cursor
}
