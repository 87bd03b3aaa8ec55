//! Subscription replay: past events from history, page by page without the hub's lock, then from recent events, then
//! live.

use std::collections::VecDeque;

use bus::History;
use bus::history::{HistoryError, StoredEvent, Stretch};
use domain::{PlantedBug, PublishedEvent, ReferenceData};
use stomp::lanes::SubscriptionDelivery;
use stomp::session::{DeliveryFlags, ReplayStart, Subscription};
use stomp::{DestinationPattern, StompVersion};

use crate::cache::recent_events::RecentEvents;
use crate::hub::event_message::ReplayPosition;
use crate::hub::event_message::{EVENT_BYTES, EventMessage, MessageIds};
use crate::hub::memory_budget::Share;
use crate::limits::{REPLAY_PAGE_BYTES, REPLAY_PAGE_EVENTS, REPLAY_STEP_BYTES};

const REPLAY_FLAGS: DeliveryFlags = DeliveryFlags { snapshot: false, redelivered: false, replayed: true, conflated: 0 };

pub(crate) struct SubscriptionReplay {
    pub(crate) subscription: Subscription,
    /// Everything up to here was queued, or the client has it.
    pub(crate) at: ReplayPosition,
    /// Read and not queued.
    page: VecDeque<(ReplayPosition, PublishedEvent)>,
    /// What the page takes, counted among what all hold.
    share: Option<Share>,
    /// The end of the page, after its last event.
    end: ReplayPosition,
    /// History ends with this page.
    is_last: bool,
    /// The newest event of history: it must be published before the subscription may join the live feed.
    needs: Option<ReplayPosition>,
    numbers: MessageIds,
}

/// The next step of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReplayStep {
    /// In the next turn.
    More,
    /// Read the next page of history.
    Read,
    /// Retry soon: the hub has not published what history has.
    Wait,
    /// Join the live feed.
    Join,
}

/// A page of history.
#[derive(Debug)]
pub(crate) struct HistoryPage {
    events: Vec<(ReplayPosition, PublishedEvent)>,
    /// What they take, about.
    octets: usize,
    /// That much counts already among what waits for all.
    share: Option<Share>,
    end: ReplayPosition,
    is_last: bool,
    newest: Option<ReplayPosition>,
}

impl HistoryPage {
    /// Room for a page was taken before it was read; now it is known how much it takes.
    pub(crate) fn counted_as(mut self, mut share: Share) -> Self {
        share.resize(self.octets);
        self.share = Some(share);
        self
    }
}

impl SubscriptionReplay {
    pub(crate) fn start(subscription: Subscription, after: ReplayStart, numbers: MessageIds) -> Self {
        let mut at = ReplayPosition { sequence: after.sequence, index: after.index.unwrap_or(u32::MAX) };
        if PlantedBug::RepeatAtResume.is_planted() {
            at.sequence = at.sequence.saturating_sub(1);
        }
        Self { subscription, at, page: VecDeque::new(), share: None, end: at, is_last: false, needs: None, numbers }
    }

    pub(crate) fn add_page(&mut self, found: HistoryPage) {
        self.page.extend(found.events);
        self.share = found.share;
        (self.end, self.is_last, self.needs) = (found.end, found.is_last, found.newest);
        self.finish_page();
    }

    fn finish_page(&mut self) {
        if self.page.is_empty() {
            self.at = self.at.max(self.end);
            self.share = None;
        }
    }

    /// Octets of the page that is not put in whole.
    pub(crate) fn page_octets(&self) -> usize {
        self.share.as_ref().map_or(0, Share::octets)
    }

    /// Queues some events of the page, where there is one.
    pub(crate) fn deliver_page(
        &mut self,
        reference: &ReferenceData,
        found: &mut Vec<SubscriptionDelivery>,
    ) -> ReplayStep {
        if self.page.is_empty() {
            return if self.is_last { ReplayStep::Join } else { ReplayStep::Read };
        }
        let mut octets = 0;
        while octets < REPLAY_STEP_BYTES
            && let Some((position, published)) = self.page.pop_front()
        {
            let is_left_out = PlantedBug::LeaveOutAtResume.is_planted() && position.sequence.is_multiple_of(16);
            if !is_left_out {
                octets += self.collect(&EventMessage::new(published, 0, Some(position)), reference, found);
            }
            self.at = position;
        }
        self.finish_page();
        ReplayStep::More
    }

    /// Queues some of the recent events after the end of history. `Join` means that it is complete, and the
    /// subscription must start before anything else is published.
    pub(crate) fn catch_up(
        &mut self,
        recent: &RecentEvents,
        reference: &ReferenceData,
        found: &mut Vec<SubscriptionDelivery>,
    ) -> ReplayStep {
        if recent.last_position().is_none() || recent.last_position() < self.needs {
            return ReplayStep::Wait;
        }
        let Some(events) = recent.events_after(self.at) else {
            self.is_last = false;
            return ReplayStep::Read;
        };
        let mut octets = 0;
        for (position, message) in events {
            if octets >= REPLAY_STEP_BYTES {
                return ReplayStep::More;
            }
            octets += self.collect(message, reference, found);
            self.at = *position;
        }
        ReplayStep::Join
    }

    /// The topics of an event that match, each once however many patterns match; returns the octets.
    fn collect(
        &mut self,
        telling: &EventMessage,
        reference: &ReferenceData,
        found: &mut Vec<SubscriptionDelivery>,
    ) -> usize {
        let (words, mut octets) = (telling.encoding(reference), 0);
        for (place, root) in telling.roots().iter().enumerate() {
            let patterns = &self.subscription.patterns;
            let selects =
                |pattern: &DestinationPattern| pattern.may_match(root) && pattern.matches(&words.destinations()[place]);
            if !patterns.iter().any(selects) {
                continue;
            }
            let message = telling.messages(&words, &mut self.numbers)[place].clone();
            octets += message.tail(StompVersion::V12).len();
            found.push(SubscriptionDelivery {
                subscription: self.subscription.key,
                message,
                token: None,
                flags: REPLAY_FLAGS,
            });
        }
        octets
    }
}

/// Why no page was read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NotRead {
    /// For now.
    Later(String),
    Never(String),
}

/// Reads the page after a position. `reached` is the newest position that was published before.
pub(crate) fn read(
    history: &dyn History,
    as_of: u64,
    at: ReplayPosition,
    reached: Option<ReplayPosition>,
) -> Result<HistoryPage, NotRead> {
    let Page { events, octets, is_cut } = page(history, as_of, at)?;
    let mut is_last = !is_cut;
    let mut newest = events.last().map(|(position, _)| *position);
    if is_last && newest.is_none() {
        // History may have events that the client knows already and the hub has not published.
        let untold = page(history, as_of, reached.unwrap_or(at))?;
        is_last = !untold.is_cut;
        newest = untold.events.last().map(|(position, _)| *position);
    }
    let last = events.last().map_or(at, |(position, _)| *position);
    let end = if is_last { ReplayPosition::end_of(last.sequence.max(as_of)) } else { last };
    Ok(HistoryPage { events, octets, share: None, end, is_last, newest })
}

/// Some events in their order.
struct Page {
    events: Vec<(ReplayPosition, PublishedEvent)>,
    octets: usize,
    is_cut: bool,
}

fn page(history: &dyn History, as_of: u64, behind: ReplayPosition) -> Result<Page, NotRead> {
    let after = (behind.sequence, behind.index);
    let stretch = Stretch { after, limit: REPLAY_PAGE_EVENTS, octets: REPLAY_PAGE_BYTES };
    let past = history.events_behind(as_of, stretch).map_err(not_read)?;
    let octets = past.events.iter().map(|(_, event)| EVENT_BYTES + event.payload.len()).sum();
    let events = past.events.iter().map(|(place, event)| published(*place, event)).collect::<Result<_, _>>()?;
    Ok(Page { events, octets, is_cut: past.is_cut })
}

fn published(place: u32, event: &StoredEvent) -> Result<(ReplayPosition, PublishedEvent), NotRead> {
    let position = ReplayPosition { sequence: event.sequence, index: place };
    let unreadable = || NotRead::Never(format!("from-sequence: event {} was written by another build", position.id()));
    event.decode_event().map(|published| (position, published)).ok_or_else(unreadable)
}

fn not_read(error: HistoryError) -> NotRead {
    match error {
        HistoryError::Behind { .. } | HistoryError::Busy | HistoryError::Unavailable(_) => {
            NotRead::Later(error.to_string())
        }
        HistoryError::Failed(_) => NotRead::Never(format!("from-sequence: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::event::{Alarm, AlarmLevel};
    use domain::{Event, Timestamp};
    use stomp::session::{AckMode, SubscriptionKey};

    use super::*;

    fn found(octets: usize, numbers: &MessageIds) -> HistoryPage {
        let alarm = Alarm { level: AlarmLevel::Warn, code: "story".into(), text: "text".into() };
        let published = PublishedEvent { sequence: 1, at: Timestamp(0), event: Event::Alarm(Arc::new(alarm)) };
        let events = vec![(ReplayPosition { sequence: 1, index: 0 }, published)];
        let page =
            HistoryPage { events, octets, share: None, end: ReplayPosition::end_of(1), is_last: true, newest: None };
        page.counted_as(numbers.share_within(usize::MAX, 100_000).unwrap())
    }

    #[test]
    fn a_page_counts_for_all_until_it_is_put_in_or_nobody_wants_it() {
        let (key, patterns) = (SubscriptionKey(1), [DestinationPattern::parse("/topic/fill.>").unwrap()].into());
        let (mode, after) = (AckMode::Auto, ReplayStart { sequence: 0, index: None });
        let subscription =
            Subscription { key, patterns, mode, prefetch: 1, no_local: false, snapshot: false, after: Some(after) };
        let numbers = MessageIds::default();
        let mut replay = SubscriptionReplay::start(subscription.clone(), after, numbers.clone());
        replay.add_page(found(5_000, &numbers));
        assert_eq!((replay.page_octets(), numbers.held()), (5_000, 5_000));
        assert_eq!(replay.deliver_page(&ReferenceData::default(), &mut vec![]), ReplayStep::More);
        assert_eq!((replay.page_octets(), numbers.held()), (0, 0));
        let mut ended = SubscriptionReplay::start(subscription, after, numbers.clone());
        ended.add_page(found(7_000, &numbers));
        drop(ended);
        assert_eq!(numbers.held(), 0);
    }
}
