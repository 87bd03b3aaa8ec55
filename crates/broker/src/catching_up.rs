//! Replay driver: advances the replays of one connection, one after the other, as fast as the client reads.

use std::sync::Arc;

use bus::Bus;
use domain::Query;
use stomp::Time;
use stomp::lanes::Lanes;
use stomp::session::{After, Subscription, SubscriptionKey};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::connection::{Connection, Reading};
use crate::ending::End;
use crate::limits::{REPLAY_PAUSE, REPLAY_RETRY};
use crate::recent::Position;
use crate::replay::{self, Found, Next, NotRead, Replay};
use crate::transport::Transport;

impl<T: Transport> Connection<T> {
    /// The subscription receives nothing live until its replay is complete.
    pub(super) fn begin_replay(&mut self, subscription: Subscription, after: After) {
        let replay = Replay::begin(subscription, after, self.place.message_numbers());
        self.replays.push_back(replay);
    }

    pub(super) fn end_replay(&mut self, key: SubscriptionKey) {
        if self.replays.front().is_some_and(|replay| replay.subscription.key == key) {
            (self.reading, self.replay_waits) = (None, None);
        }
        self.replays.retain(|replay| replay.subscription.key != key);
    }

    /// When a replay is due.
    pub(super) fn replay_at(&self, now: Time) -> Time {
        let waits = self.replays.is_empty() || self.reading.is_some() || !self.has_room();
        if waits { Time::NEVER } else { self.replay_at.max(now) }
    }

    /// Whether what can wait, such as a snapshot, may be put in: it is acknowledged or written before more is.
    pub(super) fn has_room(&self) -> bool {
        Lanes::takes_more(self.lanes.reliable_bytes())
    }

    pub(super) fn go_on_with_replays(&mut self, now: Time) {
        if self.reading.is_some() || !self.has_room() || now < self.replay_at {
            return;
        }
        let Some(replay) = self.replays.front_mut() else { return };
        let (reference, mut found) = (self.house.bus.catalogue.now(), Vec::new());
        let mut next = replay.put_in(&reference, &mut found);
        let mut since = None;
        if next == Next::Join {
            (next, since) = self.place.join(replay, &reference, &mut found);
        }
        found.into_iter().for_each(|delivery| self.lanes.reliable(delivery));
        match next {
            Next::More => {}
            Next::Read if self.is_too_much_held() => self.put_off(now, TOO_MUCH_HELD.to_owned()),
            Next::Read => self.reading = Some(self.read_page()),
            Next::Wait => self.replay_at = now.after(REPLAY_RETRY),
            Next::Join => self.joined(since),
        }
    }

    /// From now on it is a live subscription.
    fn joined(&mut self, since: Option<u64>) {
        if let (Some(replay), Some(since)) = (self.replays.pop_front(), since) {
            let Subscription { key, no_local, .. } = replay.subscription;
            self.session.subscriptions().hear(key, since, no_local);
        }
    }

    fn read_page(&self) -> Reading {
        let at = self.replays.front().map_or(Position::end_of(0), |replay| replay.at);
        let (bus, turns, reached) = (self.house.bus.clone(), self.house.replay_reads.clone(), self.place.reached());
        Box::pin(read(bus, turns, at, reached))
    }

    pub(super) fn take_page(&mut self, now: Time, read: Result<Found, NotRead>) {
        self.reading = None;
        match read {
            Ok(found) => {
                self.replay_waits = None;
                if let Some(replay) = self.replays.front_mut() {
                    replay.take(found);
                }
            }
            Err(NotRead::Later(why)) => self.put_off(now, why),
            Err(NotRead::Never(text)) => self.refuse(&text, None),
        }
    }

    /// Others hold what a page would take: it is read when they have less.
    fn is_too_much_held(&self) -> bool {
        let held = self.replays.front().map_or(0, Replay::held_by_all);
        held > self.house.limits.waiting_bytes / 2
    }

    /// Tries again in a while, but not for ever.
    fn put_off(&mut self, now: Time, why: String) {
        self.replay_at = now.after(REPLAY_PAUSE);
        let since = *self.replay_waits.get_or_insert(now);
        if now.since(since) >= self.house.limits.replay_wait {
            self.place.mailbox.end(End::NotReplayed(why));
        }
    }

    /// What was read for replays and not put in.
    pub(super) fn page_octets(&self) -> usize {
        self.replays.iter().map(Replay::page_octets).sum()
    }
}

/// On blocking threads, a few at a time.
async fn read(bus: Bus, turns: Arc<Semaphore>, at: Position, reached: Option<Position>) -> Result<Found, NotRead> {
    check_past(&bus, at).await?;
    let turn = turns.acquire_owned().await.map_err(|_| stops())?;
    let as_of = bus.operations.durable();
    let reading = spawn_blocking(move || {
        let found = replay::read(&*bus.history, as_of, at, reached);
        drop(turn);
        found
    });
    reading.await.map_err(|_| stops())?
}

const TOO_MUCH_HELD: &str = "too much waits for other clients";

fn stops() -> NotRead {
    NotRead::Never("the server stops".to_owned())
}

/// A sequence in the future is an error: it is another server's, or this one lost its data.
async fn check_past(bus: &Bus, at: Position) -> Result<(), NotRead> {
    if at.sequence <= bus.operations.durable() {
        return Ok(());
    }
    let busy = |_| NotRead::Later("too many requests wait for the engine".to_owned());
    let ticket = bus.inbox.query(Query::TradingStates).map_err(busy)?;
    let now = ticket.reply().await.map_err(|_| stops())?.sequence;
    if at.sequence <= now {
        return Ok(());
    }
    Err(NotRead::Never(format!("from-sequence: {} is ahead of this server, which is at {now}", at.sequence)))
}
