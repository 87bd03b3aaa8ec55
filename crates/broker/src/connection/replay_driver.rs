//! Replay driver: advances the replays of one connection, one after the other, as fast as the client reads.

use std::sync::Arc;

use bus::Bus;
use domain::Query;
use stomp::MonotonicTime;
use stomp::lanes::OutboundLanes;
use stomp::session::{ReplayStart, Subscription, SubscriptionKey};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::cache::subscription_replay::{self, HistoryPage, NotRead, ReplayStep, SubscriptionReplay};
use crate::connection::close_reason::CloseReason;
use crate::connection::{HistoryRead, StompConnection};
use crate::hub::event_message::{EVENT_BYTES, MessageIds, ReplayPosition};
use crate::limits::{REPLAY_PAGE_BYTES, REPLAY_PAGE_EVENTS, REPLAY_PAUSE, REPLAY_RETRY};
use crate::ports::transport::Transport;

impl<T: Transport> StompConnection<T> {
    /// The subscription receives nothing live until its replay is complete.
    pub(super) fn start_replay(&mut self, subscription: Subscription, after: ReplayStart) {
        let replay = SubscriptionReplay::start(subscription, after, self.hub.message_numbers());
        self.replays.push_back(replay);
    }

    pub(super) fn end_replay(&mut self, key: SubscriptionKey) {
        if self.replays.front().is_some_and(|replay| replay.subscription.key == key) {
            (self.history_read, self.replay_waits) = (None, None);
        }
        self.replays.retain(|replay| replay.subscription.key != key);
    }

    /// When a replay is due.
    pub(super) fn replay_at(&self, now: MonotonicTime) -> MonotonicTime {
        let waits = self.replays.is_empty() || self.history_read.is_some() || !self.has_room();
        if waits { MonotonicTime::NEVER } else { self.replay_at.max(now) }
    }

    /// Whether what can wait, such as a snapshot, may be put in: it is acknowledged or written before more is.
    pub(super) fn has_room(&self) -> bool {
        OutboundLanes::has_room(self.lanes.reliable_bytes())
    }

    pub(super) fn advance_replays(&mut self, now: MonotonicTime) {
        if self.history_read.is_some() || !self.has_room() || now < self.replay_at {
            return;
        }
        let Some(replay) = self.replays.front_mut() else { return };
        let (reference, mut found) = (self.broker.bus.catalogue.current(), Vec::new());
        let mut next = replay.deliver_page(&reference, &mut found);
        let mut since = None;
        if next == ReplayStep::Join {
            (next, since) = self.hub.join_live(replay, &reference, &mut found);
        }
        found.into_iter().for_each(|delivery| self.lanes.push_reliable(delivery));
        match next {
            ReplayStep::More => {}
            ReplayStep::Read => self.history_read = Some(self.read_page()),
            ReplayStep::Wait => self.replay_at = now.after(REPLAY_RETRY),
            ReplayStep::Join => self.on_joined_live(since),
        }
    }

    /// From now on it is a live subscription.
    fn on_joined_live(&mut self, since: Option<u64>) {
        if let (Some(replay), Some(since)) = (self.replays.pop_front(), since) {
            let Subscription { key, no_local, .. } = replay.subscription;
            self.session.subscriptions().activate(key, since, no_local);
        }
    }

    fn read_page(&self) -> HistoryRead {
        let at = self.replays.front().map_or(ReplayPosition::end_of(0), |replay| replay.at);
        let (bus, turns, reached) =
            (self.broker.bus.clone(), self.broker.replay_reads.clone(), self.hub.last_position());
        let room = PageRoom { held: self.hub.message_numbers(), limit: self.broker.limits.waiting_bytes / 2 };
        Box::pin(read_history(bus, turns, room, at, reached))
    }

    pub(super) fn on_page(&mut self, now: MonotonicTime, read: Result<HistoryPage, NotRead>) {
        self.history_read = None;
        match read {
            Ok(found) => {
                self.replay_waits = None;
                if let Some(replay) = self.replays.front_mut() {
                    replay.add_page(found);
                }
            }
            Err(NotRead::Later(why)) => self.put_off(now, why),
            Err(NotRead::Never(text)) => self.reject(&text, None),
        }
    }

    /// Tries again in a while, but not for ever.
    fn put_off(&mut self, now: MonotonicTime, why: String) {
        self.replay_at = now.after(REPLAY_PAUSE);
        let since = *self.replay_waits.get_or_insert(now);
        if now.since(since) >= self.broker.limits.replay_wait {
            self.hub.mailbox.close(CloseReason::NotReplayed(why));
        }
    }

    /// What was read for replays and not put in.
    pub(super) fn page_octets(&self) -> usize {
        self.replays.iter().map(SubscriptionReplay::page_octets).sum()
    }
}

/// What a page may take at the most, about.
const PAGE_OCTETS_MAX: usize = REPLAY_PAGE_BYTES + REPLAY_PAGE_EVENTS * EVENT_BYTES;

/// Where a page counts, and how much all may hold with it.
struct PageRoom {
    held: MessageIds,
    limit: usize,
}

/// On blocking threads, where history may wait, and a few at a time. Room for the page is taken when it is this one's turn: others may have taken much
/// meanwhile.
async fn read_history(
    bus: Bus,
    turns: Arc<Semaphore>,
    room: PageRoom,
    at: ReplayPosition,
    reached: Option<ReplayPosition>,
) -> Result<HistoryPage, NotRead> {
    check_history_available(&bus, at).await?;
    let turn = turns.acquire_owned().await.map_err(|_| stops())?;
    let share = room.held.share_within(room.limit, PAGE_OCTETS_MAX.min(room.limit));
    let share = share.ok_or_else(|| NotRead::Later(TOO_MUCH_HELD.to_owned()))?;
    let as_of = bus.journal.durable();
    let is_at_once = bus.history.answers_at_once();
    let read = move || {
        let found = subscription_replay::read(&*bus.history, as_of, at, reached);
        drop(turn);
        found.map(|page| page.counted_as(share))
    };
    if is_at_once { read() } else { spawn_blocking(read).await.map_err(|_| stops())? }
}

const TOO_MUCH_HELD: &str = "too much waits for other clients";

fn stops() -> NotRead {
    NotRead::Never("the server stops".to_owned())
}

/// A sequence in the future is an error: it is another server's, or this one lost its data.
async fn check_history_available(bus: &Bus, at: ReplayPosition) -> Result<(), NotRead> {
    if at.sequence <= bus.journal.durable() {
        return Ok(());
    }
    let busy = |_| NotRead::Later("too many requests wait for the engine".to_owned());
    let ticket = bus.inbox.query(Query::TradingStates).map_err(busy)?;
    let now = ticket.recv().await.map_err(|_| stops())?.sequence;
    if at.sequence <= now {
        return Ok(());
    }
    Err(NotRead::Never(format!("from-sequence: {} is ahead of this server, which is at {now}", at.sequence)))
}
