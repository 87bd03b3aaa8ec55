//! Price publisher of the leader: the newest prices of every security, sent as they change to the followers that want them.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bus::{Bus, EventReceiver};
use domain::command::MarketData;
use domain::query::{Answer, Filter};
use domain::{Bar, BarSize, Event, EventClass, OrderBook, Query, SecurityId, Tick};
use replication_nats::{MessageConnection, MessageSender};
use tokio::time::{Instant, interval, sleep};
use tracing::{info, warn};

use super::message::{BarMessage, PriceLine, PriceMessage, WantedPrices, encode};
use super::{PriceRoute, PriceThread, RETRY_PAUSE, SharedCounters};

/// How often the leader says that its prices come.
const BEAT_EVERY: Duration = Duration::from_millis(500);
/// A wish counts for so long.
const WANTED_FOR: Duration = Duration::from_secs(5);
/// Events that wait to be sent. With one more the line ends, and followers ask for everything anew.
const EVENTS_MAX: usize = 65_536;

const CARRIED: [EventClass; 4] = [EventClass::Tick, EventClass::Trade, EventClass::Book, EventClass::Bar];

/// Publishes for as long as the thread is kept.
pub(crate) fn start(route: PriceRoute, epoch: u64, bus: Bus, counters: SharedCounters) -> io::Result<PriceThread> {
    PriceThread::start(move || async move {
        let mut told = None;
        loop {
            let ended = PublisherLine::open(&route, epoch, &bus, &counters).await;
            // The same reason is told once.
            if let Some(reason) = ended.err().filter(|reason| told.as_ref() != Some(reason)) {
                warn!(reason, "prices don't reach the followers now; trying again");
                told = Some(reason);
            }
            sleep(RETRY_PAUSE).await;
        }
    })
}

struct PublisherLine<'a> {
    id: PriceLine,
    route: &'a PriceRoute,
    sender: MessageSender,
    counters: &'a SharedCounters,
    securities: BTreeMap<SecurityId, KnownPrices>,
}

/// What the leader knows of a security.
#[derive(Default)]
struct KnownPrices {
    tick: Option<Arc<Tick>>,
    book: Option<Arc<OrderBook>>,
    number: u64,
    wanted_until: Option<Instant>,
}

/// What a message tells.
enum PriceChange {
    /// Everything that is known.
    Whole,
    Data(MarketData),
    Bar(Bar),
}

impl PublisherLine<'_> {
    async fn open(route: &PriceRoute, epoch: u64, bus: &Bus, counters: &SharedCounters) -> Result<(), String> {
        let mut connection = MessageConnection::open(&route.connection).await.map_err(|error| error.to_string())?;
        let mut events = bus.feed.subscribe(&CARRIED, EVENTS_MAX);
        connection.subscribe(route.wanted()).await.map_err(|lost| lost.to_string())?;
        let id = PriceLine { epoch, opened: nanoseconds_now() };
        let mut line = PublisherLine { id, route, sender: connection.sender(), counters, securities: BTreeMap::new() };
        line.load(bus).await;
        info!("prices go to the followers that want them");
        line.run(&mut connection, &mut events).await
    }

    /// What the engine knew before its next event.
    async fn load(&mut self, bus: &Bus) {
        let Ok(ticket) = bus.inbox.query(Query::Ticks(Filter::default())) else { return };
        let Ok(reply) = ticket.recv().await else { return };
        if let Ok(Answer::Ticks(ticks)) = reply.outcome {
            for tick in ticks {
                let security = tick.security;
                self.securities.entry(security).or_default().tick = Some(tick);
            }
        }
    }

    async fn run(&mut self, connection: &mut MessageConnection, events: &mut EventReceiver) -> Result<(), String> {
        let mut beats = interval(BEAT_EVERY);
        loop {
            tokio::select! {
                _ = beats.tick() => self.beat().await?,
                message = connection.next() => {
                    let message = message.map_err(|lost| lost.to_string())?;
                    self.on_wanted(&message.body).await?;
                }
                event = events.recv() => match event {
                    Some(published) => self.on_event(&published.event).await?,
                    None => return Err(format!("the engine stopped, or {EVENTS_MAX} prices wait for NATS")),
                },
            }
        }
    }

    async fn beat(&mut self) -> Result<(), String> {
        let now = Instant::now();
        for known in self.securities.values_mut() {
            known.wanted_until = known.wanted_until.filter(|until| *until > now);
        }
        let wanted = self.securities.values().filter(|known| known.wanted_until.is_some()).count();
        self.counters.wanted.store(wanted as u64, Ordering::Relaxed);
        self.send(self.route.beat(), encode(&self.id)).await
    }

    async fn on_wanted(&mut self, body: &[u8]) -> Result<(), String> {
        let Ok(WantedPrices { securities, anew, .. }) = minicbor::decode(body) else {
            warn!(bytes = body.len(), "a wish for prices can't be read; is a member of another version?");
            return Ok(());
        };
        let until = Instant::now() + WANTED_FOR;
        for security in securities {
            self.securities.entry(security).or_default().wanted_until = Some(until);
        }
        for security in anew {
            self.publish(security, PriceChange::Whole).await?;
        }
        Ok(())
    }

    async fn on_event(&mut self, event: &Event) -> Result<(), String> {
        if let Event::Bar(bar) = event {
            self.send_bar(bar).await?;
        }
        let (security, change) = match event {
            Event::Tick(tick) => (tick.security, PriceChange::Data(MarketData::Tick((**tick).clone()))),
            Event::Book(book) => (book.security, PriceChange::Data(MarketData::Book((**book).clone()))),
            Event::Trade(trade) => (trade.security, PriceChange::Data(MarketData::Trade((**trade).clone()))),
            Event::Bar(bar) => (bar.security, PriceChange::Bar((**bar).clone())),
            _ => return Ok(()),
        };
        let known = self.securities.entry(security).or_default();
        known.update(event);
        if known.wanted_until.is_none() {
            return Ok(());
        }
        self.publish(security, change).await
    }

    /// Whoever follows may lead next, and answers with what it has then. Files have no bars of a second.
    async fn send_bar(&self, bar: &Bar) -> Result<(), String> {
        if bar.size == BarSize::Sec1 {
            return Ok(());
        }
        self.send(self.route.bars(), encode(&BarMessage { line: self.id, bar: bar.clone() })).await
    }

    async fn publish(&mut self, security: SecurityId, change: PriceChange) -> Result<(), String> {
        let known = self.securities.entry(security).or_default();
        known.number += 1;
        let (is_whole, data, bars) = match change {
            PriceChange::Whole => (true, known.whole(), vec![]),
            PriceChange::Data(data) => (false, vec![data], vec![]),
            PriceChange::Bar(bar) => (false, vec![], vec![bar]),
        };
        let message = PriceMessage { line: self.id, number: known.number, is_whole, data, bars };
        self.counters.sent.fetch_add(1, Ordering::Relaxed);
        self.send(format!("{}{security}", self.route.prices()), encode(&message)).await
    }

    async fn send(&self, subject: String, body: Vec<u8>) -> Result<(), String> {
        self.sender.send(subject, 0, body).await.map_err(|lost| lost.to_string())
    }
}

impl KnownPrices {
    /// As the engine does it: of a trade or a book that changes no more than the time of the tick it publishes no tick.
    fn update(&mut self, event: &Event) {
        match event {
            Event::Tick(tick) => self.tick = Some(tick.clone()),
            Event::Book(book) => {
                self.tick.iter_mut().for_each(|tick| Arc::make_mut(tick).set_quote(book));
                self.book = Some(book.clone());
            }
            Event::Trade(trade) => self.tick.iter_mut().for_each(|tick| {
                let tick = Arc::make_mut(tick);
                tick.at = tick.at.max(trade.at);
            }),
            _ => {}
        }
    }

    fn whole(&self) -> Vec<MarketData> {
        let book = self.book.as_deref().cloned().map(MarketData::Book);
        book.into_iter().chain(self.tick.as_deref().cloned().map(MarketData::Tick)).collect()
    }
}

fn nanoseconds_now() -> u64 {
    use std::time::{SystemTime, UNIX_EPOCH};
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use domain::{Price, Quantity, Timestamp, Trade};

    use super::*;

    const QUOTED: Timestamp = Timestamp(1_000);
    const LATER: Timestamp = Timestamp(2_000);

    fn quoted() -> KnownPrices {
        KnownPrices { tick: Some(Arc::new(Tick { at: QUOTED, ..samples::tick(1) })), ..KnownPrices::default() }
    }

    fn told(known: &KnownPrices) -> Vec<(&'static str, Timestamp)> {
        let told = |data: &MarketData| match data {
            MarketData::Tick(tick) => ("tick", tick.at),
            MarketData::Book(book) => ("book", book.at),
            MarketData::Trade(_) | MarketData::Gap(_) => panic!("{data:?}"),
        };
        known.whole().iter().map(told).collect()
    }

    #[test]
    fn a_book_with_the_same_quote_makes_the_tick_later() {
        let mut known = quoted();
        let (security, feed) = (SecurityId(1), "test".into());
        known.update(&Event::Book(Arc::new(OrderBook { security, feed, at: LATER, bids: vec![], asks: vec![] })));
        assert_eq!(told(&known), [("book", LATER), ("tick", LATER)]);
    }

    #[test]
    fn a_trade_like_the_one_before_makes_the_tick_later_and_never_earlier() {
        let mut known = quoted();
        for at in [LATER, QUOTED] {
            let (security, feed, price, quantity) = (SecurityId(1), "test".into(), Price::from(1), Quantity::from(1));
            known.update(&Event::Trade(Arc::new(Trade {
                security,
                feed,
                at,
                price,
                quantity,
                aggressor: None,
                ext_id: None,
            })));
            assert_eq!(told(&known), [("tick", LATER)]);
        }
    }
}
