//! Request lanes: two queues in front of the engine. The urgent lane holds cancels, the kill switch and trading states;
//! the ordinary lane holds everything else in order of arrival.
//!
//! An urgent request goes first where it may: no earlier request of the same FIX session or strategy waits, and the
//! order that it names is known to the engine. Everything else is processed in order of arrival, over both lanes. So a
//! cancel never overtakes its order, and the requests of one session are never reordered.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, RecvError, Sender};
use domain::{Caller, Command, Envelope, Source, Text};
use tokio::sync::{Semaphore, TryAcquireError};

use crate::inbox::{Closed, Request, Wanted};

/// Orders, other commands, queries and delivery log records that may wait for the engine.
pub const REQUESTS_MAX: usize = 8_192;
/// Cancels and mass cancels that may wait for the engine.
pub const CANCELS_MAX: usize = 8_192;
/// Kills and trading states that may wait for the engine, besides all cancels.
pub const KILLS_MAX: usize = 1_024;
/// Ledger records that may wait for the engine, besides all requests.
pub const RECORDS_MAX: usize = 8_192;

/// How much may wait for the engine; a request beyond that waits at its edge or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub requests: usize,
    pub cancels: usize,
    pub kills: usize,
    pub records: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { requests: REQUESTS_MAX, cancels: CANCELS_MAX, kills: KILLS_MAX, records: RECORDS_MAX }
    }
}

/// Classes with separate capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Request,
    Cancel,
    Kill,
    Record,
}

impl Class {
    pub fn of(command: &Command) -> Self {
        match command {
            Command::Cancel(_) | Command::CancelOwn(_) => Self::Cancel,
            Command::Kill { .. } | Command::SetTradingState { .. } => Self::Kill,
            _ => Self::Request,
        }
    }

    pub(crate) fn of_wanted(wanted: &Wanted) -> Self {
        match wanted {
            Wanted::Command(envelope) => Self::of(&envelope.command),
            Wanted::Query(_) | Wanted::Diary(_) => Self::Request,
            Wanted::Remember(_) => Self::Record,
        }
    }

    fn is_urgent(self) -> bool {
        matches!(self, Self::Cancel | Self::Kill)
    }
}

/// How many requests wait in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    pub ordinary: usize,
    pub urgent: usize,
}

/// Both ends share it.
pub(crate) struct Lanes {
    waiting: Mutex<Waiting>,
    /// By class.
    places: [Semaphore; 4],
}

#[derive(Default)]
struct Waiting {
    /// Numbers all requests in order of arrival.
    arrivals: u64,
    ordinary: VecDeque<Arrived>,
    urgent: VecDeque<Arrived>,
    /// The newest request of each session and strategy in the ordinary lane.
    newest: HashMap<Text, u64>,
    /// The engine has stopped.
    is_closed: bool,
}

struct Arrived {
    number: u64,
    /// For an urgent request: the number of the last ordinary request of its session before it.
    behind: u64,
    request: Request,
}

impl Lanes {
    pub(crate) fn new(room: Room) -> Self {
        let places = [room.requests, room.cancels, room.kills, room.records].map(Semaphore::new);
        Self { waiting: Mutex::default(), places }
    }

    pub(crate) fn try_reserve(self: &Arc<Self>, class: Class) -> Result<Place, Closed> {
        match self.places[class as usize].try_acquire() {
            Ok(place) => place.forget(),
            Err(TryAcquireError::NoPermits) => return Err(Closed::Busy),
            Err(TryAcquireError::Closed) => return Err(Closed::Stopped),
        }
        Ok(Place { lanes: self.clone(), class, is_used: false })
    }

    pub(crate) async fn reserve(self: &Arc<Self>, class: Class) -> Result<Place, Closed> {
        let place = self.places[class as usize].acquire().await.map_err(|_| Closed::Stopped)?;
        place.forget();
        Ok(Place { lanes: self.clone(), class, is_used: false })
    }

    pub(crate) fn depth(&self) -> Depth {
        let waiting = self.lock();
        Depth { ordinary: waiting.ordinary.len(), urgent: waiting.urgent.len() }
    }

    /// Processed requests free their slots.
    fn taken(&self, requests: &[Request]) {
        let mut counts = [0; 4];
        for request in requests {
            counts[Class::of_wanted(&request.wanted) as usize] += 1;
        }
        for (places, count) in self.places.iter().zip(counts) {
            places.add_permits(count);
        }
    }

    fn close(&self) -> Waiting {
        self.places.iter().for_each(Semaphore::close);
        std::mem::replace(&mut *self.lock(), Waiting { is_closed: true, ..Waiting::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // The lanes are consistent between any two statements that hold the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reserved slot, released where it is not used.
pub struct Place {
    lanes: Arc<Lanes>,
    class: Class,
    is_used: bool,
}

impl Place {
    /// The session or strategy of a ledger or delivery log record is given beside it.
    pub(crate) fn put(mut self, request: Request, of: Option<&str>) -> Result<(), Closed> {
        debug_assert_eq!(self.class, Class::of_wanted(&request.wanted));
        let mut waiting = self.lanes.lock();
        if waiting.is_closed {
            return Err(Closed::Stopped);
        }
        waiting.put(request, of);
        drop(waiting);
        self.is_used = true;
        Ok(())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // A queued request frees its slot when it is processed.
        if !self.is_used {
            self.lanes.places[self.class as usize].add_permits(1);
        }
    }
}

impl Waiting {
    fn put(&mut self, request: Request, of: Option<&str>) {
        self.arrivals += 1;
        let number = self.arrivals;
        let session = session_of(&request.wanted);
        if Class::of_wanted(&request.wanted).is_urgent() {
            let behind = session.and_then(|session| self.newest.get(session)).copied().unwrap_or(0);
            self.urgent.push_back(Arrived { number, behind, request });
            return;
        }
        if let Some(session) = of.or(session.map(|session| &**session)) {
            match self.newest.get_mut(session) {
                Some(newest) => *newest = number,
                None => drop(self.newest.insert(session.into(), number)),
            }
        }
        self.ordinary.push_back(Arrived { number, behind: 0, request });
    }

    /// Urgent requests that may overtake.
    fn take_urgent(&mut self, most: usize, knows: impl Fn(&Envelope) -> bool, taken: &mut Vec<Request>) {
        let Some(first) = self.ordinary.front().map(|arrived| arrived.number) else { return };
        let mut held = HashSet::new();
        for _ in 0..self.urgent.len() {
            let Some(arrived) = self.urgent.pop_front() else { return };
            let session = session_of(&arrived.request.wanted);
            let is_next = arrived.behind < first && session.is_none_or(|session| !held.contains(session));
            if taken.len() < most && is_next && is_known(&arrived.request.wanted, &knows) {
                taken.push(arrived.request);
            } else {
                held.extend(session.cloned());
                self.urgent.push_back(arrived);
            }
        }
    }

    /// The oldest request of both lanes.
    fn next(&mut self) -> Option<Request> {
        let is_urgent = match (self.urgent.front(), self.ordinary.front()) {
            (Some(urgent), Some(ordinary)) => urgent.number < ordinary.number,
            (urgent, _) => urgent.is_some(),
        };
        let lane = if is_urgent { &mut self.urgent } else { &mut self.ordinary };
        lane.pop_front().map(|arrived| arrived.request)
    }
}

/// The session or strategy whose requests keep their order: session messages have sequence numbers, and a strategy can
/// be replayed only where its commands are in the journal in the order in which it sent them.
fn session_of(wanted: &Wanted) -> Option<&Text> {
    let Wanted::Command(envelope) = wanted else { return None };
    let Caller { source, user, origin } = &envelope.caller;
    match (origin, source) {
        (Some(origin), _) => Some(&origin.session),
        (None, Source::Strategy) => user.as_ref(),
        (None, _) => None,
    }
}

fn is_known(wanted: &Wanted, knows: impl Fn(&Envelope) -> bool) -> bool {
    matches!(wanted, Wanted::Command(envelope) if knows(envelope))
}

/// The engine's end of both lanes.
pub struct Requests {
    lanes: Arc<Lanes>,
    wake: Receiver<()>,
}

impl Requests {
    pub(crate) fn new(lanes: Arc<Lanes>, wake: Receiver<()>) -> Self {
        Self { lanes, wake }
    }

    /// Signals that requests wait. Check the lanes before sleeping: there is one signal for many requests.
    pub fn wake(&self) -> &Receiver<()> {
        &self.wake
    }

    pub fn is_empty(&self) -> bool {
        self.lanes.depth() == Depth { ordinary: 0, urgent: 0 }
    }

    /// One batch of each lane: urgent requests that may overtake, then the others in order of arrival. `knows` returns
    /// whether the engine has the order that an urgent command names.
    pub fn take(&self, most: usize, knows: impl Fn(&Envelope) -> bool) -> Vec<Request> {
        let mut taken = Vec::new();
        let mut waiting = self.lanes.lock();
        waiting.take_urgent(most, knows, &mut taken);
        let in_turn = std::iter::from_fn(|| waiting.next()).take(most);
        taken.extend(in_turn);
        drop(waiting);
        self.lanes.taken(&taken);
        taken
    }

    /// The oldest request; none where nothing waits.
    pub fn try_recv(&self) -> Option<Request> {
        let request = self.lanes.lock().next()?;
        self.lanes.taken(std::slice::from_ref(&request));
        Some(request)
    }

    /// Waits for the next request; an error when all senders are dropped.
    pub fn recv(&self) -> Result<Request, RecvError> {
        loop {
            if let Some(request) = self.try_recv() {
                return Ok(request);
            }
            self.wake.recv()?;
        }
    }

    pub fn try_iter(&self) -> impl Iterator<Item = Request> {
        std::iter::from_fn(|| self.try_recv())
    }

    pub fn iter(&self) -> impl Iterator<Item = Request> {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<'a> IntoIterator for &'a Requests {
    type Item = Request;
    type IntoIter = Box<dyn Iterator<Item = Request> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl Drop for Requests {
    /// Closes both lanes: pending callers get an error at once.
    fn drop(&mut self) {
        drop(self.lanes.close());
    }
}

/// Wakes the engine loop; one signal is enough until the loop has looked.
#[derive(Clone)]
pub(crate) struct Bell(pub(crate) Sender<()>);

impl Bell {
    pub(crate) fn ring(&self) {
        // A full channel means that the engine is woken already.
        let _ = self.0.try_send(());
    }
}

#[cfg(test)]
mod tests;
