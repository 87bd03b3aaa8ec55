//! Prices at a follower: it subscribes to what its own clients want, puts them into its inbox as any feed does, and marks them as stale
//! where they may not be those of the leader any more.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use broker::BrokerMonitor;
use bus::Bus;
use domain::command::MarketData;
use domain::{Bar, Event, PriceGap, PublishedEvent, ReferenceData, SecurityId, StaleCause, Text};
use replication_nats::{MessageConnection, NatsMessage};
use runtime::{PriceDemand, QueriedPrices};
use tokio::time::{Instant, interval, sleep};
use tracing::{info, warn};

use super::heard_bars::HeardBars;
use super::message::{PriceLine, PriceMessage, WantedPrices, encode};
use super::{PriceRoute, PriceThread, RETRY_PAUSE, SharedCounters};

/// How often the follower looks at what its clients want.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often it tells the leader what it wants; well within the time for which a wish counts.
const TELL_EVERY: Duration = Duration::from_secs(1);
/// Without a word of the leader for so long its prices are stale.
const SILENT_MAX: Duration = Duration::from_secs(2);

/// What the follower's prices need of the rest of the server.
pub(crate) struct PriceFollowerParts {
    pub(crate) member: Text,
    pub(crate) bus: Bus,
    pub(crate) topics: BrokerMonitor,
    pub(crate) demand: Arc<PriceDemand>,
    pub(crate) counters: SharedCounters,
}

/// Follows for as long as the thread is kept.
pub(crate) fn start(route: PriceRoute, parts: PriceFollowerParts) -> io::Result<PriceThread> {
    let mut follower = PriceFollower {
        route,
        parts,
        securities: BTreeMap::new(),
        line: None,
        last_beat: None,
        told: None,
        subscribed: SubscribedPrices::default(),
        bars: HeardBars::default(),
        wishes: 0,
    };
    PriceThread::start(move || async move {
        let mut told = None;
        loop {
            let ended = follower.follow().await;
            follower.lose_leader();
            // The same reason is told once.
            if let Some(reason) = ended.err().filter(|reason| told.as_ref() != Some(reason)) {
                warn!(reason, "prices of the leader don't come now; trying again");
                told = Some(reason);
            }
            sleep(RETRY_PAUSE).await;
        }
    })
}

struct PriceFollower {
    route: PriceRoute,
    parts: PriceFollowerParts,
    /// What is wanted now.
    securities: BTreeMap<SecurityId, FollowedPrices>,
    /// The leader's connection; none where the leader is not heard.
    line: Option<PriceLine>,
    last_beat: Option<Instant>,
    /// When the leader was told last what is wanted.
    told: Option<Instant>,
    subscribed: SubscribedPrices,
    bars: HeardBars,
    /// The count of wishes over REST that are known here.
    wishes: u64,
}

/// What clients of topics want, until their subscriptions or the securities change.
#[derive(Default)]
struct SubscribedPrices {
    changes: Option<u64>,
    reference: Arc<ReferenceData>,
    wanted: BTreeSet<SecurityId>,
}

impl SubscribedPrices {
    fn look(&mut self, topics: &BrokerMonitor, reference: &Arc<ReferenceData>) -> &BTreeSet<SecurityId> {
        let changes = topics.subscription_changes();
        if self.changes != changes || !Arc::ptr_eq(&self.reference, reference) {
            *self = Self { changes, reference: reference.clone(), wanted: topics.wanted_prices(reference) };
        }
        &self.wanted
    }
}

#[derive(Default)]
struct FollowedPrices {
    /// Of the last message, where everything before it is known.
    number: Option<u64>,
    /// That the last price came from: a gap names it.
    feed: Option<Text>,
}

impl PriceFollower {
    async fn follow(&mut self) -> Result<(), String> {
        let mut connection =
            MessageConnection::open(&self.route.connection).await.map_err(|error| error.to_string())?;
        let lost = |lost: replication_nats::ConnectionLost| lost.to_string();
        connection.subscribe(self.route.beat()).await.map_err(lost)?;
        connection.subscribe(self.route.bars()).await.map_err(lost)?;
        for security in self.securities.keys() {
            connection.subscribe(self.subject(*security)).await.map_err(lost)?;
        }
        let mut looks = interval(LOOK_EVERY);
        loop {
            tokio::select! {
                message = connection.next() => self.on_message(&message.map_err(lost)?),
                _ = looks.tick() => self.look(&mut connection).await.map_err(lost)?,
            }
        }
    }

    fn subject(&self, security: SecurityId) -> String {
        format!("{}{security}", self.route.prices())
    }

    fn on_message(&mut self, message: &NatsMessage) {
        if message.subject == self.route.beat() {
            minicbor::decode(&message.body).into_iter().for_each(|line| self.on_beat(line));
            return;
        }
        if message.subject == self.route.bars() {
            HeardBars::of_leader(&message.body, self.line).into_iter().for_each(|bar| self.publish_bar(bar));
            return;
        }
        let security = message.subject.strip_prefix(&self.route.prices()).and_then(|id| id.parse().ok());
        let Ok(prices) = minicbor::decode::<PriceMessage>(&message.body) else { return };
        if let Some(security) = security.map(SecurityId) {
            self.on_prices(security, prices);
        }
    }

    /// An earlier leader, or an earlier connection of this one, may still be heard: it is old.
    fn on_beat(&mut self, line: PriceLine) {
        if self.line.is_some_and(|known| known > line) {
            return;
        }
        self.last_beat = Some(Instant::now());
        if self.line != Some(line) {
            info!(epoch = line.epoch, "prices come from the leader");
            self.mark_all(StaleCause::Disconnected);
            self.line = Some(line);
            self.told = None;
        }
    }

    fn on_prices(&mut self, security: SecurityId, message: PriceMessage) {
        let Some(followed) = self.securities.get_mut(&security).filter(|_| self.line == Some(message.line)) else {
            return;
        };
        self.parts.counters.received.fetch_add(1, Ordering::Relaxed);
        match followed.number {
            Some(number) if message.number <= number => return,
            Some(number) if message.number == number + 1 || message.is_whole => {}
            None if message.is_whole => {}
            // What changed is worth nothing without what it changes.
            None => return,
            Some(_) => {
                self.told = None;
                return self.mark(security, StaleCause::MissedUpdates);
            }
        }
        followed.number = Some(message.number);
        for data in message.data {
            followed.feed = Some(data.feed().clone());
            // A stale price goes behind the gap that drops what waits before it.
            if let MarketData::Tick(tick) = &data
                && let Some(cause) = tick.stale
            {
                let gap = PriceGap { security, feed: tick.feed.clone(), cause };
                self.parts.bus.inbox.send_price(MarketData::Gap(gap));
            }
            self.parts.bus.inbox.send_price(data);
        }
        self.parts.demand.set_current(security, true);
        message.bars.into_iter().for_each(|bar| self.publish_bar(bar));
    }

    /// It is an event for topics and for the files of bars: the engine here has too few prices for bars of its own.
    fn publish_bar(&mut self, bar: Bar) {
        if !self.bars.is_new(&bar) {
            return;
        }
        let at = bar.at.plus_seconds(bar.size.seconds());
        let sequence = self.parts.bus.journal.durable();
        self.parts.bus.feed.publish(&PublishedEvent { sequence, at, event: Event::Bar(Arc::new(bar)) });
    }

    async fn look(&mut self, connection: &mut MessageConnection) -> Result<(), replication_nats::ConnectionLost> {
        if self.last_beat.is_some_and(|at| at.elapsed() > SILENT_MAX) {
            warn!("the leader's prices are not heard any more: they are stale");
            self.lose_leader();
        }
        let wanted = self.wanted();
        let ended: Vec<_> = self.securities.keys().copied().filter(|known| !wanted.contains(known)).collect();
        for security in ended {
            connection.unsubscribe(&self.subject(security));
            self.mark(security, StaleCause::Unsubscribed);
            self.securities.remove(&security);
            self.told = None;
        }
        for security in wanted {
            if !self.securities.contains_key(&security) {
                connection.subscribe(self.subject(security)).await?;
                self.securities.insert(security, FollowedPrices::default());
                self.told = None;
            }
        }
        self.tell(connection).await
    }

    fn wanted(&mut self) -> BTreeSet<SecurityId> {
        let reference = self.parts.bus.catalogue.current();
        let (queried, wishes) = self.parts.demand.queried(std::time::Instant::now());
        self.wishes = wishes;
        match queried {
            QueriedPrices::All => reference.securities.keys().copied().collect(),
            QueriedPrices::Of(mut queried) => {
                queried.retain(|security| reference.securities.contains_key(security));
                queried.extend(self.subscribed.look(&self.parts.topics, &reference));
                queried
            }
        }
    }

    /// Tells the leader what is wanted, at once where it changed.
    async fn tell(&mut self, connection: &MessageConnection) -> Result<(), replication_nats::ConnectionLost> {
        let anew: Vec<_> = self.securities.iter().filter(|(_, one)| one.number.is_none()).map(|(id, _)| *id).collect();
        self.parts.demand.set_state(self.line.is_some(), anew.is_empty().then_some(self.wishes));
        self.parts.counters.wanted.store(self.securities.len() as u64, Ordering::Relaxed);
        let is_due = self.told.is_none_or(|at| at.elapsed() >= TELL_EVERY);
        if self.line.is_none() || !is_due {
            return Ok(());
        }
        self.told = Some(Instant::now());
        let (member, securities) = (self.parts.member.clone(), self.securities.keys().copied().collect());
        let wanted = WantedPrices { member, securities, anew };
        connection.sender().send(self.route.wanted(), 0, encode(&wanted)).await
    }

    /// No prices come: what is known stays, and is stale.
    fn lose_leader(&mut self) {
        if self.line.take().is_some() {
            self.parts.counters.lost.fetch_add(1, Ordering::Relaxed);
        }
        self.last_beat = None;
        self.parts.demand.set_state(false, None);
        self.mark_all(StaleCause::Disconnected);
    }

    fn mark_all(&mut self, cause: StaleCause) {
        let securities: Vec<_> = self.securities.keys().copied().collect();
        securities.into_iter().for_each(|security| self.mark(security, cause));
    }

    fn mark(&mut self, security: SecurityId, cause: StaleCause) {
        self.parts.demand.set_current(security, false);
        let Some(followed) = self.securities.get_mut(&security) else { return };
        followed.number = None;
        if let Some(feed) = followed.feed.clone() {
            self.parts.bus.inbox.send_price(MarketData::Gap(PriceGap { security, feed, cause }));
        }
    }
}
