//! Price mailbox of one connection: what changed since the session last looked, one entry for each security. A client that reads
//! slowly gets the newest state, and nothing is queued for it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Event, OrderBook, PublishedEvent, SecurityId, Tick, Trade};

use crate::limits::TRADES_WAITING_MAX;
use crate::session::reports::SessionWaker;

/// A value, and the sequence of the input that it is as of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AsOf<T> {
    pub(super) sequence: u64,
    pub(super) value: T,
}

/// What is new of a security.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PriceNews {
    pub(super) tick: Option<AsOf<Arc<Tick>>>,
    pub(super) book: Option<AsOf<Arc<OrderBook>>>,
    /// Oldest first.
    pub(super) trades: VecDeque<AsOf<Arc<Trade>>>,
    /// The engine was asked, and this is what it knows at this sequence.
    pub(super) loaded: Option<u64>,
}

/// Everything that is new.
#[derive(Debug, Default)]
pub(super) struct MailboxNews {
    pub(super) prices: BTreeMap<SecurityId, PriceNews>,
    /// Securities that were added, changed or removed.
    pub(super) securities: BTreeSet<SecurityId>,
    /// Events were lost: the engine has to be asked again.
    pub(super) is_reload_due: bool,
}

pub(crate) struct PriceMailbox {
    news: Mutex<MailboxNews>,
    waker: SessionWaker,
}

impl PriceMailbox {
    pub(super) fn new(waker: SessionWaker) -> Self {
        Self { news: Mutex::default(), waker }
    }

    /// At most so many securities; the rest stays.
    pub(super) fn take(&self, most: usize) -> MailboxNews {
        let mut news = self.news();
        let rest = match news.prices.keys().nth(most).copied() {
            Some(first) => news.prices.split_off(&first),
            None => BTreeMap::new(),
        };
        let taken = std::mem::take(&mut *news);
        news.prices = rest;
        taken
    }

    pub(super) fn is_empty(&self) -> bool {
        self.news().prices.is_empty()
    }

    pub(super) fn put(&self, published: &PublishedEvent) {
        let sequence = published.sequence;
        match &published.event {
            Event::Tick(tick) => {
                let newest = Some(AsOf { sequence, value: tick.clone() });
                self.news().prices.entry(tick.security).or_default().tick = newest;
            }
            Event::Book(book) => {
                let newest = Some(AsOf { sequence, value: book.clone() });
                self.news().prices.entry(book.security).or_default().book = newest;
            }
            Event::Trade(trade) => {
                let mut news = self.news();
                let trades = &mut news.prices.entry(trade.security).or_default().trades;
                if trades.len() >= TRADES_WAITING_MAX {
                    trades.pop_front();
                }
                trades.push_back(AsOf { sequence, value: trade.clone() });
            }
            Event::Security(change) => drop(self.news().securities.insert(change.id)),
            _ => return,
        }
        self.waker.wake();
    }

    /// What the engine knows. Something newer may have come meanwhile.
    pub(super) fn put_loaded(
        &self,
        security: SecurityId,
        tick: Option<AsOf<Arc<Tick>>>,
        book: Option<AsOf<Arc<OrderBook>>>,
        sequence: u64,
    ) {
        {
            let mut news = self.news();
            let news = news.prices.entry(security).or_default();
            keep_newer(&mut news.tick, tick);
            keep_newer(&mut news.book, book);
            news.loaded = Some(sequence);
        }
        self.waker.wake();
    }

    pub(super) fn on_events_lost(&self) {
        self.news().is_reload_due = true;
        self.waker.wake();
    }

    /// The session looks again, though nothing is new.
    pub(super) fn wake(&self) {
        self.waker.wake();
    }

    fn news(&self) -> MutexGuard<'_, MailboxNews> {
        // Each entry is consistent on its own.
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of two the one that is as of the later input; of the same input both are the same.
pub(super) fn keep_newer<T>(known: &mut Option<AsOf<T>>, other: Option<AsOf<T>>) {
    let is_newer = |other: &AsOf<T>| known.as_ref().is_none_or(|known| other.sequence >= known.sequence);
    if other.as_ref().is_some_and(is_newer) {
        *known = other;
    }
}
