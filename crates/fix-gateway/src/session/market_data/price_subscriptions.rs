//! Price subscriptions of one connection: what each request wants, and what it was told. Pure: prices in, messages out.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use domain::{OrderBook, ReferenceData, SecurityId, Tick, Timestamp, Trade};
use fix::OutgoingMessage;

use super::price_mailbox::{AsOf, PriceNews, keep_newer};
use crate::limits::TRADES_WAITING_MAX;
use crate::translate::{
    MarketDataRefusal, MarketDataRequest, NewestTrade, PriceEntry, PriceView, PricedSecurity, SubscriptionKind,
    changes_between, entries_of, field, price_refresh, price_snapshot,
};

/// What follows from a request or from prices.
#[derive(Debug, Default)]
pub(super) struct SubscriptionStep {
    pub(super) messages: Vec<OutgoingMessage>,
    /// Nothing is known of these yet: the engine has to be asked.
    pub(super) to_load: Vec<SecurityId>,
    /// No request is about these any more.
    pub(super) released: Vec<SecurityId>,
}

pub(super) struct PriceSubscriptions {
    /// Securities of all requests together.
    most: u32,
    requests: BTreeMap<String, PriceRequest>,
    known: BTreeMap<SecurityId, RequestedPrices>,
}

struct PriceRequest {
    view: PriceView,
    /// It ends with its answer.
    is_snapshot: bool,
    /// The entries that the client has; absent before the first W.
    sent: BTreeMap<SecurityId, Option<Vec<PriceEntry>>>,
}

/// The newest prices of a security, and who wants them.
struct RequestedPrices {
    security: PricedSecurity,
    tick: Option<AsOf<Arc<Tick>>>,
    book: Option<AsOf<Arc<OrderBook>>>,
    last: Option<NewestTrade>,
    /// The engine's answer was as of this input; absent before it.
    loaded: Option<u64>,
    /// Trades that came before the engine's answer.
    early: VecDeque<AsOf<Arc<Trade>>>,
    requests: BTreeSet<String>,
}

impl PriceSubscriptions {
    pub(super) fn new(most: u32) -> Self {
        Self { most, requests: BTreeMap::new(), known: BTreeMap::new() }
    }

    pub(super) fn securities(&self) -> impl Iterator<Item = SecurityId> {
        self.known.keys().copied()
    }

    /// Securities of all requests; one that is asked for twice counts twice.
    pub(super) fn count(&self) -> usize {
        self.requests.values().map(|request| request.sent.len()).sum()
    }

    /// `others` are subscriptions of the session that are not about prices.
    pub(super) fn add(
        &mut self,
        request: &MarketDataRequest,
        others: usize,
        reference: &ReferenceData,
    ) -> Result<SubscriptionStep, MarketDataRefusal> {
        if self.requests.contains_key(&request.id) {
            return Err(MarketDataRefusal::duplicate(&request.id));
        }
        let count = self.count() + others + request.securities.len();
        if u32::try_from(count).map_or(true, |count| count > self.most) {
            return Err(MarketDataRefusal::too_many(self.most));
        }
        let is_snapshot = request.subscription == SubscriptionKind::Snapshot;
        let sent = request.securities.iter().map(|security| (*security, None)).collect();
        self.requests.insert(request.id.clone(), PriceRequest { view: request.view, is_snapshot, sent });
        let mut step = SubscriptionStep::default();
        for security in &request.securities {
            let known = self.known.entry(*security).or_insert_with(|| {
                step.to_load.push(*security);
                RequestedPrices::new(*security, reference)
            });
            known.requests.insert(request.id.clone());
        }
        for security in &request.securities {
            self.tell(*security, &[], &mut step);
        }
        Ok(step)
    }

    pub(super) fn end(&mut self, id: &str) -> Result<SubscriptionStep, MarketDataRefusal> {
        let ended = self.requests.remove(id).ok_or_else(|| MarketDataRefusal::unknown(id))?;
        let mut step = SubscriptionStep::default();
        ended.sent.keys().for_each(|security| self.release(*security, id, &mut step));
        Ok(step)
    }

    /// Nothing where no request is about the security any more.
    pub(super) fn apply(&mut self, security: SecurityId, news: PriceNews) -> SubscriptionStep {
        let mut step = SubscriptionStep::default();
        let Some(known) = self.known.get_mut(&security) else { return step };
        let trades = known.apply(news);
        let trades: Vec<&Trade> = trades.iter().map(AsRef::as_ref).collect();
        self.tell(security, &trades, &mut step);
        step
    }

    /// Tells every request what is new for it.
    fn tell(&mut self, security: SecurityId, trades: &[&Trade], step: &mut SubscriptionStep) {
        let Some(known) = self.known.get(&security).filter(|known| known.loaded.is_some()) else { return };
        let mut answered = Vec::new();
        for id in &known.requests {
            let Some(request) = self.requests.get_mut(id) else { continue };
            step.messages.extend(request.update(id, known, trades));
            if request.is_snapshot {
                request.sent.remove(&security);
                answered.push(id.clone());
            }
        }
        for id in answered {
            if self.requests.get(&id).is_some_and(|request| request.sent.is_empty()) {
                self.requests.remove(&id);
            }
            self.release(security, &id, step);
        }
    }

    fn release(&mut self, security: SecurityId, id: &str, step: &mut SubscriptionStep) {
        let Some(known) = self.known.get_mut(&security) else { return };
        known.requests.remove(id);
        if known.requests.is_empty() {
            self.known.remove(&security);
            step.released.push(security);
        }
    }
}

impl RequestedPrices {
    fn new(id: SecurityId, reference: &ReferenceData) -> Self {
        let symbol = reference.securities.get(&id).map_or(field::NONE.into(), |security| security.symbol.clone());
        Self {
            security: PricedSecurity { id, symbol },
            tick: None,
            book: None,
            last: None,
            loaded: None,
            early: VecDeque::new(),
            requests: BTreeSet::new(),
        }
    }

    /// Returns the trades that are to be told: those of before the engine's answer are part of it.
    fn apply(&mut self, news: PriceNews) -> Vec<Arc<Trade>> {
        keep_newer(&mut self.tick, news.tick);
        keep_newer(&mut self.book, news.book);
        if let Some(last) = self.tick.as_ref().and_then(|tick| NewestTrade::from_tick(&tick.value)) {
            self.last = Some(last);
        }
        self.early.extend(news.trades);
        self.loaded = self.loaded.or(news.loaded);
        let Some(loaded) = self.loaded else {
            let surplus = self.early.len().saturating_sub(TRADES_WAITING_MAX);
            self.early.drain(..surplus);
            return Vec::new();
        };
        self.early.drain(..).filter(|trade| trade.sequence > loaded).map(|trade| trade.value).collect()
    }

    fn at(&self) -> Timestamp {
        let tick = self.tick.as_ref().map(|tick| tick.value.at);
        tick.or(self.book.as_ref().map(|book| book.value.at)).unwrap_or_default()
    }
}

impl PriceRequest {
    fn update(&mut self, id: &str, known: &RequestedPrices, trades: &[&Trade]) -> Option<OutgoingMessage> {
        let sent = self.sent.get_mut(&known.security.id)?;
        let (tick, book) = (known.tick.as_ref(), known.book.as_ref());
        let entries = entries_of(tick.map(|tick| &*tick.value), book.map(|book| &*book.value), &self.view);
        let trades = if self.view.trades { trades } else { &[] };
        let last = known.last.as_ref().filter(|_| self.view.trades);
        let message = match sent {
            None => Some(price_snapshot(id, &known.security, (&entries, known.at()), last)),
            Some(before) if *before == entries && trades.is_empty() => None,
            Some(_) if self.view.is_full_refresh => {
                Some(price_snapshot(id, &known.security, (&entries, known.at()), last))
            }
            Some(before) => {
                let changes = changes_between(before, &entries);
                Some(price_refresh(id, &known.security, (&changes, known.at()), trades))
            }
        };
        *sent = Some(entries);
        message
    }
}
