//! Subscription replay: past events from history, page by page without the hub's lock, then from recent events, then
//! live.

use std::collections::VecDeque;

use bus::History;
use bus::history::{HistoryError, Page, PastEvent};
use domain::{Published, ReferenceData};
use stomp::lanes::Delivery;
use stomp::session::{After, Marks, Subscription};
use stomp::{Pattern, Version};

use crate::limits::{REPLAY_PAGE_EVENTS, REPLAY_STEP_BYTES};
use crate::recent::{Position, Recent};
use crate::telling::{MessageNumbers, Telling};

const MARKS: Marks = Marks { snapshot: false, redelivered: false, replayed: true, conflated: 0 };

pub(crate) struct Replay {
    pub(crate) subscription: Subscription,
    /// Everything up to here was queued, or the client has it.
    pub(crate) at: Position,
    /// Read and not queued.
    page: VecDeque<(Position, Published)>,
    /// The end of the page, after its last event.
    end: Position,
    /// History ends with this page.
    is_last: bool,
    /// The newest event of history: it must be published before the subscription may join the live feed.
    needs: Option<Position>,
    numbers: MessageNumbers,
}

/// The next step of a replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Next {
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
pub(crate) struct Found {
    events: Vec<(Position, Published)>,
    end: Position,
    is_last: bool,
    newest: Option<Position>,
}

impl Replay {
    pub(crate) fn begin(subscription: Subscription, after: After, numbers: MessageNumbers) -> Self {
        let at = Position { sequence: after.sequence, place: after.place.unwrap_or(u32::MAX) };
        Self { subscription, at, page: VecDeque::new(), end: at, is_last: false, needs: None, numbers }
    }

    pub(crate) fn take(&mut self, found: Found) {
        self.page.extend(found.events);
        (self.end, self.is_last, self.needs) = (found.end, found.is_last, found.newest);
        self.finish_page();
    }

    fn finish_page(&mut self) {
        if self.page.is_empty() {
            self.at = self.at.max(self.end);
        }
    }

    /// Queues some events of the page, where there is one.
    pub(crate) fn put_in(&mut self, reference: &ReferenceData, found: &mut Vec<Delivery>) -> Next {
        if self.page.is_empty() {
            return if self.is_last { Next::Join } else { Next::Read };
        }
        let mut octets = 0;
        while octets < REPLAY_STEP_BYTES
            && let Some((position, published)) = self.page.pop_front()
        {
            octets += self.find(&Telling::new(published, 0, Some(position)), reference, found);
            self.at = position;
        }
        self.finish_page();
        Next::More
    }

    /// Queues some of the recent events after the end of history. `Join` means that it is complete, and the
    /// subscription must start before anything else is published.
    pub(crate) fn catch_up(&mut self, recent: &Recent, reference: &ReferenceData, found: &mut Vec<Delivery>) -> Next {
        if recent.reached().is_none() || recent.reached() < self.needs {
            return Next::Wait;
        }
        let Some(events) = recent.behind(self.at) else {
            self.is_last = false;
            return Next::Read;
        };
        let mut octets = 0;
        for (position, telling) in events {
            if octets >= REPLAY_STEP_BYTES {
                return Next::More;
            }
            octets += self.find(telling, reference, found);
            self.at = *position;
        }
        Next::Join
    }

    /// The topics of an event that match, each once however many patterns match; returns the octets.
    fn find(&mut self, telling: &Telling, reference: &ReferenceData, found: &mut Vec<Delivery>) -> usize {
        let (words, mut octets) = (telling.words(reference), 0);
        for (place, root) in telling.roots().iter().enumerate() {
            let patterns = &self.subscription.patterns;
            let selects = |pattern: &Pattern| pattern.may_select(root) && pattern.matches(&words.destinations()[place]);
            if !patterns.iter().any(selects) {
                continue;
            }
            let message = telling.messages(&words, &mut self.numbers)[place].clone();
            octets += message.tail(Version::V12).len();
            found.push(Delivery { subscription: self.subscription.key, message, token: None, marks: MARKS });
        }
        octets
    }
}

/// Reads the page after a position. `reached` is the newest position that was published before.
pub(crate) fn read(
    history: &dyn History,
    as_of: u64,
    at: Position,
    reached: Option<Position>,
) -> Result<Found, String> {
    let events = page(history, as_of, before(at))?;
    let mut is_last = events.len() < REPLAY_PAGE_EVENTS;
    let mut newest = events.last().map(|(position, _)| *position);
    if is_last && newest.is_none() {
        // History may have events that the client knows already and the hub has not published.
        let untold = page(history, as_of, before(reached.unwrap_or(at)))?;
        is_last = untold.len() < REPLAY_PAGE_EVENTS;
        newest = untold.last().map(|(position, _)| *position);
    }
    let last = events.last().map_or(at.sequence, |(position, _)| position.sequence);
    let end = Position::end_of(if is_last { last.max(as_of) } else { last });
    let events = events.into_iter().filter(|(position, _)| *position > at).collect();
    Ok(Found { events, end, is_last, newest })
}

/// The last sequence that is complete before a position.
fn before(position: Position) -> u64 {
    if position == Position::end_of(position.sequence) {
        position.sequence
    } else {
        position.sequence.saturating_sub(1)
    }
}

/// A page never splits the events of one sequence.
fn page(history: &dyn History, as_of: u64, after: u64) -> Result<Vec<(Position, Published)>, String> {
    let past = history.events(as_of, Page { after, limit: REPLAY_PAGE_EVENTS }).map_err(not_read)?;
    let mut last: Option<Position> = None;
    let placed = |event: &PastEvent| {
        let before = last.filter(|last| last.sequence == event.sequence);
        let position = Position { sequence: event.sequence, place: before.map_or(0, |last| last.place + 1) };
        last = Some(position);
        let unreadable = || format!("from-sequence: event {} was written by another build", position.id());
        event.published().map(|published| (position, published)).ok_or_else(unreadable)
    };
    past.iter().map(placed).collect()
}

fn not_read(error: HistoryError) -> String {
    match error {
        HistoryError::Behind { .. } => format!("from-sequence: {error}; subscribe again in a moment"),
        HistoryError::Broken(_) => format!("from-sequence: {error}"),
    }
}
