//! Request lanes: two queues in front of the engine. The urgent lane holds cancels, the kill switch, trading states,
//! renewals of dead-man timers and the records of FIX sessions, without which no answer leaves; the ordinary lane holds
//! everything else in order of arrival.
//!
//! An urgent request goes first where it may: no earlier request of the same FIX session or strategy waits, and the
//! order that it names is known to the engine. Everything else is processed in order of arrival, over both lanes. So a
//! cancel never overtakes its order, and the requests of one session are never reordered.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, RecvError, Sender};
use domain::{Caller, CommandEnvelope, Source, Text};
use tokio::sync::{Semaphore, TryAcquireError};

use crate::inbox::reply::ReplySender;
use crate::inbox::request::{InboxError, RequestPayload};

pub use crate::inbox::request::RequestClass;

/// Orders, other commands, queries and delivery log records that may wait for the engine.
pub const REQUESTS_MAX: usize = 8_192;
/// Cancels and mass cancels that may wait for the engine.
pub const CANCELS_MAX: usize = 8_192;
/// Kills and trading states that may wait for the engine, besides all cancels.
pub const KILLS_MAX: usize = 1_024;
/// Ledger records that may wait for the engine, besides all requests.
pub const RECORDS_MAX: usize = 8_192;

/// A request to the engine with its reply channel.
#[derive(Debug)]
pub struct EngineRequest {
    /// What is asked.
    pub payload: RequestPayload,
    /// Where the reply goes.
    pub reply_to: ReplySender,
}

/// How much may wait for the engine; a request beyond that waits at its edge or is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneLimits {
    /// Orders, other commands, queries and delivery log records.
    pub requests: usize,
    /// Cancels and mass cancels.
    pub cancels: usize,
    /// Kills and trading states.
    pub kills: usize,
    /// Ledger records.
    pub records: usize,
}

impl Default for LaneLimits {
    fn default() -> Self {
        Self { requests: REQUESTS_MAX, cancels: CANCELS_MAX, kills: KILLS_MAX, records: RECORDS_MAX }
    }
}

/// How many requests wait in each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaneDepth {
    /// In the ordinary lane.
    pub ordinary: usize,
    /// In the urgent lane.
    pub urgent: usize,
}

/// Both ends share it.
pub(crate) struct RequestLanes {
    queues: Mutex<LaneQueues>,
    /// By class.
    permits: [Semaphore; 4],
}

#[derive(Default)]
struct LaneQueues {
    /// Numbers all requests in order of arrival.
    arrivals: u64,
    ordinary: VecDeque<QueuedRequest>,
    urgent: VecDeque<QueuedRequest>,
    /// The newest request of each session and strategy in the ordinary lane.
    newest_by_session: HashMap<Text, u64>,
    /// The engine has stopped.
    is_closed: bool,
}

struct QueuedRequest {
    arrival: u64,
    /// For an urgent request: its session or strategy, and the number of the last ordinary request of that before it.
    session: Option<Text>,
    behind: u64,
    request: EngineRequest,
}

impl RequestLanes {
    pub(crate) fn new(room: LaneLimits) -> Self {
        let permits = [room.requests, room.cancels, room.kills, room.records].map(Semaphore::new);
        Self { queues: Mutex::default(), permits }
    }

    pub(crate) fn try_reserve(self: &Arc<Self>, class: RequestClass) -> Result<LanePermit, InboxError> {
        match self.permits[class as usize].try_acquire() {
            Ok(place) => place.forget(),
            Err(TryAcquireError::NoPermits) => return Err(InboxError::Busy),
            Err(TryAcquireError::Closed) => return Err(InboxError::Stopped),
        }
        Ok(LanePermit { lanes: self.clone(), class, is_used: false })
    }

    pub(crate) async fn reserve(self: &Arc<Self>, class: RequestClass) -> Result<LanePermit, InboxError> {
        let place = self.permits[class as usize].acquire().await.map_err(|_| InboxError::Stopped)?;
        place.forget();
        Ok(LanePermit { lanes: self.clone(), class, is_used: false })
    }

    pub(crate) fn depth(&self) -> LaneDepth {
        let waiting = self.lock();
        LaneDepth { ordinary: waiting.ordinary.len(), urgent: waiting.urgent.len() }
    }

    /// Processed requests free their slots.
    fn release_permits(&self, requests: &[EngineRequest]) {
        let mut counts = [0; 4];
        for request in requests {
            counts[RequestClass::from_payload(&request.payload) as usize] += 1;
        }
        for (places, count) in self.permits.iter().zip(counts) {
            places.add_permits(count);
        }
    }

    fn close(&self) -> LaneQueues {
        self.permits.iter().for_each(Semaphore::close);
        std::mem::replace(&mut *self.lock(), LaneQueues { is_closed: true, ..LaneQueues::default() })
    }

    fn lock(&self) -> MutexGuard<'_, LaneQueues> {
        // The lanes are consistent between any two statements that hold the lock.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A reserved slot, released where it is not used.
pub struct LanePermit {
    lanes: Arc<RequestLanes>,
    class: RequestClass,
    is_used: bool,
}

impl LanePermit {
    /// The session or strategy of a ledger or delivery log record is given beside it.
    pub(crate) fn send(mut self, request: EngineRequest, of: Option<&str>) -> Result<(), InboxError> {
        debug_assert_eq!(self.class, RequestClass::from_payload(&request.payload));
        let mut waiting = self.lanes.lock();
        if waiting.is_closed {
            return Err(InboxError::Stopped);
        }
        waiting.push(request, of);
        drop(waiting);
        self.is_used = true;
        Ok(())
    }
}

impl Drop for LanePermit {
    fn drop(&mut self) {
        // A queued request frees its slot when it is processed.
        if !self.is_used {
            self.lanes.permits[self.class as usize].add_permits(1);
        }
    }
}

impl LaneQueues {
    fn push(&mut self, request: EngineRequest, of: Option<&str>) {
        self.arrivals += 1;
        let arrival = self.arrivals;
        let session = of.or(session_of(&request.payload).map(|session| &**session));
        if RequestClass::from_payload(&request.payload).is_urgent(session.is_some()) {
            let (session, behind) = session.map(|session| self.newest_of(session)).unzip();
            let behind = behind.unwrap_or(0);
            self.urgent.push_back(QueuedRequest { arrival, session, behind, request });
            return;
        }
        if let Some(session) = session {
            match self.newest_by_session.get_mut(session) {
                Some(newest) => *newest = arrival,
                None => drop(self.newest_by_session.insert(session.into(), arrival)),
            }
        }
        self.ordinary.push_back(QueuedRequest { arrival, session: None, behind: 0, request });
    }

    /// A session, and the number of its last ordinary request.
    fn newest_of(&self, session: &str) -> (Text, u64) {
        let known = self.newest_by_session.get_key_value(session);
        known.map_or_else(|| (session.into(), 0), |(session, newest)| (session.clone(), *newest))
    }

    /// Urgent requests that may overtake.
    fn pop_urgent(&mut self, most: usize, knows: impl Fn(&CommandEnvelope) -> bool, taken: &mut Vec<EngineRequest>) {
        let Some(first) = self.ordinary.front().map(|arrived| arrived.arrival) else { return };
        let mut held = HashSet::new();
        for _ in 0..self.urgent.len() {
            let Some(arrived) = self.urgent.pop_front() else { return };
            let is_next =
                arrived.behind < first && arrived.session.as_ref().is_none_or(|session| !held.contains(session));
            if taken.len() < most && is_next && is_known(&arrived.request.payload, &knows) {
                taken.push(arrived.request);
            } else {
                held.extend(arrived.session.clone());
                self.urgent.push_back(arrived);
            }
        }
    }

    /// The oldest request of both lanes.
    fn pop_next(&mut self) -> Option<EngineRequest> {
        let is_urgent = match (self.urgent.front(), self.ordinary.front()) {
            (Some(urgent), Some(ordinary)) => urgent.arrival < ordinary.arrival,
            (urgent, _) => urgent.is_some(),
        };
        let lane = if is_urgent { &mut self.urgent } else { &mut self.ordinary };
        lane.pop_front().map(|arrived| arrived.request)
    }
}

/// The session or strategy whose requests keep their order: session messages have sequence numbers, and a strategy can
/// be replayed only where its commands are in the journal in the order in which it sent them.
fn session_of(wanted: &RequestPayload) -> Option<&Text> {
    let RequestPayload::Command(envelope) = wanted else { return None };
    let Caller { source, user, origin, .. } = &envelope.caller;
    match (origin, source) {
        (Some(origin), _) => Some(&origin.session),
        (None, Source::Strategy) => user.as_ref(),
        (None, _) => None,
    }
}

/// A record names no order.
fn is_known(wanted: &RequestPayload, knows: impl Fn(&CommandEnvelope) -> bool) -> bool {
    !matches!(wanted, RequestPayload::Command(envelope) if !knows(envelope))
}

/// The engine's end of both lanes.
pub struct RequestReceiver {
    lanes: Arc<RequestLanes>,
    wake: Receiver<()>,
}

impl RequestReceiver {
    pub(crate) fn new(lanes: Arc<RequestLanes>, wake: Receiver<()>) -> Self {
        Self { lanes, wake }
    }

    /// Signals that requests wait. Check the lanes before sleeping: there is one signal for many requests.
    pub fn wake(&self) -> &Receiver<()> {
        &self.wake
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lanes.depth() == LaneDepth { ordinary: 0, urgent: 0 }
    }

    /// One batch of each lane: urgent requests that may overtake, then the others in order of arrival. `knows` returns
    /// whether the engine has the order that an urgent command names.
    pub fn take_batch(&self, most: usize, knows: impl Fn(&CommandEnvelope) -> bool) -> Vec<EngineRequest> {
        let mut taken = Vec::new();
        let mut waiting = self.lanes.lock();
        waiting.pop_urgent(most, knows, &mut taken);
        let in_turn = std::iter::from_fn(|| waiting.pop_next()).take(most);
        taken.extend(in_turn);
        drop(waiting);
        self.lanes.release_permits(&taken);
        taken
    }

    /// The oldest request; none where nothing waits.
    pub fn try_recv(&self) -> Option<EngineRequest> {
        let request = self.lanes.lock().pop_next()?;
        self.lanes.release_permits(std::slice::from_ref(&request));
        Some(request)
    }

    /// Waits for the next request; an error when all senders are dropped.
    pub fn recv(&self) -> Result<EngineRequest, RecvError> {
        loop {
            if let Some(request) = self.try_recv() {
                return Ok(request);
            }
            self.wake.recv()?;
        }
    }

    /// Everything that waits, oldest first.
    pub fn try_iter(&self) -> impl Iterator<Item = EngineRequest> {
        std::iter::from_fn(|| self.try_recv())
    }

    /// Waits for requests until no more can come.
    pub fn iter(&self) -> impl Iterator<Item = EngineRequest> {
        std::iter::from_fn(|| self.recv().ok())
    }
}

impl<'a> IntoIterator for &'a RequestReceiver {
    type Item = EngineRequest;
    type IntoIter = Box<dyn Iterator<Item = EngineRequest> + 'a>;

    fn into_iter(self) -> Self::IntoIter {
        Box::new(self.iter())
    }
}

impl Drop for RequestReceiver {
    /// Closes both lanes: pending callers get an error at once.
    fn drop(&mut self) {
        drop(self.lanes.close());
    }
}

/// Wakes the engine loop; one signal is enough until the loop has looked.
#[derive(Clone)]
pub(crate) struct EngineWaker(pub(crate) Sender<()>);

impl EngineWaker {
    pub(crate) fn wake(&self) {
        // A full channel means that the engine is woken already.
        let _ = self.0.try_send(());
    }
}
