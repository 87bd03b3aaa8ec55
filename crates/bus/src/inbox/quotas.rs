//! In-flight limits: how many commands of one session, user or peer may be unanswered. A client that sends faster than
//! the engine answers waits at its edge and does not block others. Cancels are counted apart, so that a flood of orders
//! does not block them, and those of sessions apart from those of single requests (REST): however many sessions of a user
//! or an address flood, a cancel by hand has room. The kill switch is not counted.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{Command, Text};
use net::peer_network;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::inbox::request::RequestClass;

/// Unanswered commands of one session; at the limit its socket is not read.
pub const IN_FLIGHT_PER_SESSION_MAX: usize = 256;
/// Unanswered commands of one user, over all interfaces.
pub const IN_FLIGHT_PER_USER_MAX: usize = 2_048;
/// Unanswered commands of one address.
pub const IN_FLIGHT_PER_PEER_MAX: usize = 4_096;
/// From this many users or peers on, those with nothing in flight are dropped.
const QUOTAS_KEPT: usize = 1_024;

/// Limits for orders and other commands; cancels have the same limits apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlightLimits {
    /// Of one session.
    pub per_session: usize,
    /// Of one user, over all interfaces.
    pub per_user: usize,
    /// Of one address.
    pub per_peer: usize,
}

impl Default for InFlightLimits {
    fn default() -> Self {
        Self {
            per_session: IN_FLIGHT_PER_SESSION_MAX,
            per_user: IN_FLIGHT_PER_USER_MAX,
            per_peer: IN_FLIGHT_PER_PEER_MAX,
        }
    }
}

/// The limit that was reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InFlightLimit {
    /// Of one session.
    Session,
    /// Of one user.
    User,
    /// Of one address.
    Peer,
}

impl InFlightLimit {
    /// All limits.
    pub const ALL: [Self; 3] = [Self::Session, Self::User, Self::Peer];

    /// As metrics and texts call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::User => "user",
            Self::Peer => "peer",
        }
    }
}

/// All users and peers with commands in flight.
pub struct Quotas {
    limits: InFlightLimits,
    users: Mutex<HashMap<Text, Arc<Quota>>>,
    peers: Mutex<HashMap<IpAddr, Arc<Quota>>>,
    throttled: Arc<ThrottleCounts>,
}

/// How often a client was held back, by limit.
#[derive(Default)]
struct ThrottleCounts([AtomicU64; 3]);

struct Quota {
    most: usize,
    requests: Arc<Semaphore>,
    /// Of sessions and connections that have a limit of their own.
    session_cancels: Arc<Semaphore>,
    /// Of single requests.
    lone_cancels: Arc<Semaphore>,
}

impl Quota {
    fn new(most: usize) -> Self {
        let most = most.max(1);
        let places = || Arc::new(Semaphore::new(most));
        Self { most, requests: places(), session_cancels: places(), lone_cancels: places() }
    }

    fn is_idle(&self) -> bool {
        let all = [&self.requests, &self.session_cancels, &self.lone_cancels];
        all.iter().all(|places| places.available_permits() == self.most)
    }

    fn permits(&self, class: RequestClass, of_session: bool) -> Option<&Arc<Semaphore>> {
        match class {
            RequestClass::Request => Some(&self.requests),
            RequestClass::Cancel if of_session => Some(&self.session_cancels),
            RequestClass::Cancel => Some(&self.lone_cancels),
            RequestClass::Kill | RequestClass::Record => None,
        }
    }
}

/// A client with all limits that apply to it.
#[derive(Clone)]
pub struct QuotaClient {
    quotas: Vec<(InFlightLimit, Arc<Quota>)>,
    throttled: Arc<ThrottleCounts>,
}

/// Counts as in flight until the last copy is dropped: a request and its command share one.
#[derive(Debug, Default, Clone)]
pub struct InFlightPermit {
    _held: Option<Arc<Held>>,
}

type Held = [Option<OwnedSemaphorePermit>; 3];

impl From<Held> for InFlightPermit {
    fn from(held: Held) -> Self {
        Self { _held: Some(Arc::new(held)) }
    }
}

impl Quotas {
    pub(crate) fn new(limits: InFlightLimits) -> Self {
        Self { limits, users: Mutex::default(), peers: Mutex::default(), throttled: Arc::default() }
    }

    /// A session or connection with a limit of its own.
    pub fn session(&self, user: Option<&Text>, peer: Option<IpAddr>) -> QuotaClient {
        let own = (InFlightLimit::Session, Arc::new(Quota::new(self.limits.per_session)));
        let mut client = self.client(user, peer);
        client.quotas.insert(0, own);
        client
    }

    /// A client of which only user and address are known.
    pub fn client(&self, user: Option<&Text>, peer: Option<IpAddr>) -> QuotaClient {
        let user = user.map(|user| (InFlightLimit::User, shared(&self.users, user.clone(), self.limits.per_user)));
        let peer =
            peer.map(|peer| (InFlightLimit::Peer, shared(&self.peers, peer_network(peer), self.limits.per_peer)));
        QuotaClient { quotas: user.into_iter().chain(peer).collect(), throttled: self.throttled.clone() }
    }

    /// How often a limit held a client back since the start.
    pub fn throttled(&self, limit: InFlightLimit) -> u64 {
        self.throttled.0[limit as usize].load(Ordering::Relaxed)
    }
}

impl QuotaClient {
    /// The same session with another user and address.
    pub fn with_identity(&self, quotas: &Quotas, user: Option<&Text>, peer: Option<IpAddr>) -> Self {
        let own = self.quotas.iter().filter(|(limit, _)| *limit == InFlightLimit::Session).cloned();
        let mut client = quotas.client(user, peer);
        client.quotas.splice(0..0, own);
        client
    }

    /// A permit of every limit for this command; fails with the limit that was reached.
    pub fn try_acquire(&self, command: &Command) -> Result<InFlightPermit, InFlightLimit> {
        self.try_acquire_class(RequestClass::from_command(command))
    }

    /// Fails with the limit that was reached.
    pub fn try_acquire_class(&self, class: RequestClass) -> Result<InFlightPermit, InFlightLimit> {
        let mut all = Held::default();
        for ((limit, quota), held) in self.quotas.iter().zip(&mut all) {
            let Some(places) = quota.permits(class, self.is_session()) else { continue };
            let place = places.clone().try_acquire_owned().map_err(|_| *limit);
            *held = Some(place.inspect_err(|limit| self.count_throttled(*limit))?);
        }
        Ok(all.into())
    }

    /// Waits for a permit of every limit: always in the same order, so that no deadlock is possible.
    pub async fn acquire(&self, command: &Command) -> InFlightPermit {
        self.admit_class(RequestClass::from_command(command)).await
    }

    /// As [`Self::acquire`].
    pub async fn admit_class(&self, class: RequestClass) -> InFlightPermit {
        let mut all = Held::default();
        for ((limit, quota), held) in self.quotas.iter().zip(&mut all) {
            let Some(places) = quota.permits(class, self.is_session()) else { continue };
            if places.available_permits() == 0 {
                self.count_throttled(*limit);
            }
            // Quotas are never closed.
            *held = places.clone().acquire_owned().await.ok();
        }
        all.into()
    }

    fn is_session(&self) -> bool {
        self.quotas.first().is_some_and(|(limit, _)| *limit == InFlightLimit::Session)
    }

    fn count_throttled(&self, limit: InFlightLimit) {
        self.throttled.0[limit as usize].fetch_add(1, Ordering::Relaxed);
    }
}

fn shared<K: Eq + Hash>(quotas: &Mutex<HashMap<K, Arc<Quota>>>, name: K, most: usize) -> Arc<Quota> {
    let mut quotas = lock(quotas);
    if quotas.len() >= QUOTAS_KEPT && !quotas.contains_key(&name) {
        quotas.retain(|_, quota| Arc::strong_count(quota) > 1 || !quota.is_idle());
    }
    quotas.entry(name).or_insert_with(|| Arc::new(Quota::new(most))).clone()
}

fn lock<T>(quotas: &Mutex<T>) -> MutexGuard<'_, T> {
    // The map is consistent between any two statements that hold the lock.
    quotas.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use domain::IntId;
    use domain::command::CancelOrder;

    use super::*;

    const LIMITS: InFlightLimits = InFlightLimits { per_session: 2, per_user: 3, per_peer: 4 };
    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));

    fn cancel() -> Command {
        Command::Cancel(CancelOrder::new("A-1".parse::<IntId>().unwrap()))
    }

    /// How many more of the same may be unanswered, and which limit holds the next one back.
    fn room(client: &QuotaClient, command: &Command) -> (usize, InFlightLimit) {
        let mut held = Vec::new();
        loop {
            match client.try_acquire(command) {
                Ok(allowance) => held.push(allowance),
                Err(limit) => return (held.len(), limit),
            }
        }
    }

    #[test]
    fn a_session_its_user_and_its_address_have_each_so_many() {
        let (quotas, ada) = (Quotas::new(LIMITS), Text::from("ada"));
        let first = quotas.session(Some(&ada), Some(HOME));
        let of_first: Vec<_> = (0..2).map(|_| first.try_acquire(&Command::ResetCash).unwrap()).collect();
        assert_eq!(first.try_acquire(&Command::ResetCash).unwrap_err(), InFlightLimit::Session);
        let second = quotas.session(Some(&ada), Some(HOME));
        assert_eq!(room(&second, &Command::ResetCash), (1, InFlightLimit::User));
        let other = quotas.client(Some(&"bob".into()), Some(HOME));
        assert_eq!(room(&other, &Command::ResetCash), (2, InFlightLimit::Peer));
        drop(of_first);
        assert_eq!(room(&first, &Command::ResetCash), (2, InFlightLimit::Session), "an answer makes room");
        assert_eq!(
            [InFlightLimit::Session, InFlightLimit::User, InFlightLimit::Peer].map(|limit| quotas.throttled(limit)),
            [2, 1, 1]
        );
    }

    #[test]
    fn orders_leave_room_for_cancels_and_the_kill_switch_is_not_counted() {
        let quotas = Quotas::new(LIMITS);
        let session = quotas.session(None, Some(HOME));
        let orders: Vec<_> = (0..2).map(|_| session.try_acquire(&Command::ResetCash).unwrap()).collect();
        assert_eq!(room(&session, &cancel()), (2, InFlightLimit::Session));
        let kill = Command::Kill { scope: domain::risk::RiskScope::Platform, reason: None };
        let kills: Vec<_> = (0..100).map(|_| session.try_acquire(&kill).unwrap()).collect();
        drop((orders, kills));
    }

    #[test]
    fn sessions_that_flood_with_cancels_leave_room_for_one_by_hand() {
        let (quotas, ada) = (Quotas::new(LIMITS), Text::from("ada"));
        let sessions: Vec<_> = (0..4).map(|_| quotas.session(Some(&ada), Some(HOME))).collect();
        let held: Vec<_> = sessions.iter().flat_map(|session| (0..2).map(|_| session.try_acquire(&cancel()))).collect();
        assert_eq!(held.iter().filter(|held| held.is_ok()).count(), LIMITS.per_user);
        let by_hand = quotas.client(Some(&ada), Some(HOME));
        assert_eq!(room(&by_hand, &cancel()), (LIMITS.per_user, InFlightLimit::User));
    }

    #[test]
    fn a_mass_cancel_counts_as_a_cancel() {
        let session = Quotas::new(LIMITS).session(None, None);
        let all = Command::MassCancel(domain::command::MassCancelRequest { security: None, cl_ord_id: None });
        let held: Vec<_> = (0..2).map(|_| session.try_acquire(&all).unwrap()).collect();
        assert_eq!(session.try_acquire(&cancel()).unwrap_err(), InFlightLimit::Session);
        drop(held);
    }

    #[test]
    fn a_request_and_its_command_count_until_both_are_gone() {
        let session = Quotas::new(LIMITS).session(None, None);
        let of_request = session.try_acquire(&Command::ResetCash).unwrap();
        let of_command = of_request.clone();
        assert_eq!(room(&session, &Command::ResetCash), (1, InFlightLimit::Session));
        drop(of_request);
        assert_eq!(room(&session, &Command::ResetCash), (1, InFlightLimit::Session));
        drop(of_command);
        assert_eq!(room(&session, &Command::ResetCash), (2, InFlightLimit::Session));
    }

    #[test]
    fn a_dropped_user_has_nothing_in_flight() {
        let quotas = Quotas::new(LIMITS);
        let busy = quotas.client(Some(&"busy".into()), None).try_acquire(&Command::ResetCash).unwrap();
        for number in 0..2 * QUOTAS_KEPT {
            drop(quotas.client(Some(&format!("user{number}").into()), None));
        }
        assert!(lock(&quotas.users).len() <= QUOTAS_KEPT);
        assert_eq!(room(&quotas.client(Some(&"busy".into()), None), &Command::ResetCash), (2, InFlightLimit::User));
        drop(busy);
    }
}
