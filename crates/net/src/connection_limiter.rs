//! Limits of connections: in all, per address, and of peers that have not logged in. One that has not logged in is evicted
//! for a new connection, of the address with the most of them, so that no address shuts out the others.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Notify, oneshot};
use tokio::time::timeout;

use crate::peer_network;

/// Evicted connections that have not ended yet, beyond the limit of all; with more a new one is refused.
pub const CLOSING_MAX: usize = 1_024;

/// How many connections there may be at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    pub all: usize,
    /// Of peers that have not logged in.
    pub unauthenticated: usize,
    /// Of one address; all of one IPv6 network (/64) are one.
    pub per_address: usize,
    /// Of this machine itself, where proxies are.
    pub per_local_address: usize,
}

pub struct ConnectionLimiter {
    limits: ConnectionLimits,
    state: Mutex<LimiterState>,
    ended: Notify,
}

#[derive(Default)]
struct LimiterState {
    last: u64,
    /// Also those that were evicted and have not ended yet.
    open: usize,
    /// Without those.
    counted: usize,
    by_network: BTreeMap<IpAddr, usize>,
    /// In the order of their connect.
    unauthenticated: BTreeMap<u64, UnauthenticatedPeer>,
}

struct UnauthenticatedPeer {
    network: Option<IpAddr>,
    status: Arc<PeerStatus>,
    /// Ends the connection.
    evict: Option<EvictionAction>,
}

type EvictionAction = Box<dyn FnOnce() + Send>;

#[derive(Debug, Default)]
struct PeerStatus {
    is_authenticated: AtomicBool,
    is_evicted: AtomicBool,
    requests: AtomicUsize,
}

/// Which limit is reached, with no connection that could be evicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionLimitReached {
    Connections,
    Address,
}

/// The permit of a connection; released when it is dropped.
pub struct ConnectionPermit {
    handle: PermitHandle,
    network: Option<IpAddr>,
}

/// The permit as its requests and its task see it.
#[derive(Clone)]
pub struct PermitHandle {
    limiter: Arc<ConnectionLimiter>,
    id: u64,
    status: Arc<PeerStatus>,
}

/// A request in progress: its connection is evicted after those that have none.
pub struct RequestInProgress(Arc<PeerStatus>);

/// Ready when the connection is evicted.
pub struct Eviction(oneshot::Receiver<()>);

impl ConnectionLimiter {
    pub fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self { limits, state: Mutex::default(), ended: Notify::new() })
    }

    /// For a connection from that address; none for one of this process.
    pub fn acquire(self: &Arc<Self>, from: Option<IpAddr>) -> Result<ConnectionPermit, ConnectionLimitReached> {
        let network = from.map(peer_network);
        let mut state = self.lock();
        let evicted = self.make_room(&mut state, network)?;
        let status = Arc::<PeerStatus>::default();
        let id = state.add(UnauthenticatedPeer { network, status: status.clone(), evict: None });
        drop(state);
        evicted.and_then(|peer| peer.evict).into_iter().for_each(|evict| evict());
        Ok(ConnectionPermit { handle: PermitHandle { limiter: self.clone(), id, status }, network })
    }

    fn make_room(
        &self,
        state: &mut LimiterState,
        network: Option<IpAddr>,
    ) -> Result<Option<UnauthenticatedPeer>, ConnectionLimitReached> {
        let ConnectionLimits { all, unauthenticated, .. } = self.limits;
        if state.open >= all + CLOSING_MAX {
            return Err(ConnectionLimitReached::Connections);
        }
        if network.is_some_and(|network| state.of_network(network) >= self.limit_of(network)) {
            let evicted = state.evict_one(|peer| peer.network == network);
            return evicted.map(Some).ok_or(ConnectionLimitReached::Address);
        }
        if state.counted >= all || state.unauthenticated.len() >= unauthenticated {
            return state.evict_one(|_| true).map(Some).ok_or(ConnectionLimitReached::Connections);
        }
        Ok(None)
    }

    fn limit_of(&self, network: IpAddr) -> usize {
        if network.is_loopback() { self.limits.per_local_address } else { self.limits.per_address }
    }

    /// Waits until all connections have ended, with a time limit.
    pub async fn wait_until_empty(&self, grace: Duration) {
        let empty = async {
            loop {
                let ended = self.ended.notified();
                if self.lock().open == 0 {
                    return;
                }
                ended.await;
            }
        };
        let _ = timeout(grace, empty).await;
    }

    fn lock(&self) -> MutexGuard<'_, LimiterState> {
        // The counts are consistent after every statement under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LimiterState {
    fn add(&mut self, peer: UnauthenticatedPeer) -> u64 {
        self.last += 1;
        self.open += 1;
        self.counted += 1;
        peer.network.into_iter().for_each(|network| *self.by_network.entry(network).or_default() += 1);
        self.unauthenticated.insert(self.last, peer);
        self.last
    }

    fn of_network(&self, network: IpAddr) -> usize {
        self.by_network.get(&network).copied().unwrap_or(0)
    }

    /// Evicts one of the selected connections: of the address with the most of them, of several such addresses the first to
    /// connect; one without a request first, and of these the oldest.
    fn evict_one(&mut self, is_meant: impl Fn(&UnauthenticatedPeer) -> bool) -> Option<UnauthenticatedPeer> {
        let mut crowds: BTreeMap<Option<IpAddr>, (usize, Reverse<u64>)> = BTreeMap::new();
        let selected = self.unauthenticated.iter().filter(|(_, peer)| is_meant(peer));
        for (id, peer) in selected.clone() {
            crowds.entry(peer.network).or_insert((0, Reverse(*id))).0 += 1;
        }
        let largest = crowds.into_iter().max_by_key(|(_, size_and_age)| *size_and_age)?.0;
        let of_largest = selected.filter(|(_, peer)| peer.network == largest);
        let id = *of_largest.min_by_key(|(id, peer)| (peer.status.requests.load(Ordering::Relaxed) > 0, **id))?.0;
        let peer = self.unauthenticated.remove(&id)?;
        peer.status.is_evicted.store(true, Ordering::Relaxed);
        self.uncount(peer.network);
        Some(peer)
    }

    fn uncount(&mut self, network: Option<IpAddr>) {
        self.counted -= 1;
        let Some(network) = network else { return };
        if let Some(count) = self.by_network.get_mut(&network) {
            *count -= 1;
            if *count == 0 {
                self.by_network.remove(&network);
            }
        }
    }
}

impl ConnectionPermit {
    pub fn handle(&self) -> PermitHandle {
        self.handle.clone()
    }

    pub fn mark_authenticated(&self) -> bool {
        self.handle.mark_authenticated()
    }

    /// Ends the connection when it is evicted, instead of what was set before.
    pub fn on_eviction(&self, evict: impl FnOnce() + Send + 'static) {
        self.handle.set_eviction(evict, true);
    }

    pub fn eviction(&self) -> Eviction {
        let (cut, evicted) = oneshot::channel();
        // A connection that has just ended does not listen any more.
        self.on_eviction(move || cut.send(()).unwrap_or(()));
        Eviction(evicted)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let limiter = &self.handle.limiter;
        let mut state = limiter.lock();
        state.unauthenticated.remove(&self.handle.id);
        state.open -= 1;
        if !self.handle.status.is_evicted.load(Ordering::Relaxed) {
            state.uncount(self.network);
        }
        drop(state);
        limiter.ended.notify_waiters();
    }
}

impl PermitHandle {
    /// The peer has logged in: it is not evicted any more. False where it was evicted just before.
    pub fn mark_authenticated(&self) -> bool {
        // Every request of a connection says so; only the first one takes the lock.
        if !self.status.is_authenticated.swap(true, Ordering::Relaxed) {
            let entry = self.limiter.lock().unauthenticated.remove(&self.id);
            drop(entry);
        }
        !self.status.is_evicted.load(Ordering::Relaxed)
    }

    /// Ends the connection when it is evicted, where nothing better was set before.
    pub fn or_on_eviction(&self, evict: impl FnOnce() + Send + 'static) {
        self.set_eviction(evict, false);
    }

    /// A connection that was evicted already is ended now.
    fn set_eviction(&self, evict: impl FnOnce() + Send + 'static, replaces: bool) {
        let mut state = self.limiter.lock();
        if let Some(peer) = state.unauthenticated.get_mut(&self.id) {
            if replaces || peer.evict.is_none() {
                peer.evict = Some(Box::new(evict));
            }
            return;
        }
        drop(state);
        if self.status.is_evicted.load(Ordering::Relaxed) {
            evict();
        }
    }

    /// A request has begun.
    pub fn begin_request(&self) -> RequestInProgress {
        self.status.requests.fetch_add(1, Ordering::Relaxed);
        RequestInProgress(self.status.clone())
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Eviction {
    /// Waits for ever for a connection that is not evicted.
    pub async fn wait(&mut self) {
        if (&mut self.0).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    pub fn is_due(&mut self) -> bool {
        self.0.try_recv().is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As of HTTP: three quarters for peers that have not logged in and for this machine, a quarter for an address.
    fn limiter(all: usize) -> Arc<ConnectionLimiter> {
        let most = all / 4 * 3;
        let limits = ConnectionLimits { all, unauthenticated: most, per_address: all / 4, per_local_address: most };
        ConnectionLimiter::new(limits)
    }

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn acquire(limiter: &Arc<ConnectionLimiter>, from: IpAddr) -> (ConnectionPermit, Eviction) {
        let permit = limiter.acquire(Some(from)).unwrap();
        let eviction = permit.eviction();
        (permit, eviction)
    }

    /// The evicted connections, by their order of arrival.
    fn evicted(peers: &mut [(ConnectionPermit, Eviction)]) -> Vec<usize> {
        (0..peers.len()).filter(|at| peers[*at].1.is_due()).collect()
    }

    fn log_in(peers: &[(ConnectionPermit, Eviction)]) {
        assert!(peers.iter().all(|(permit, _)| permit.mark_authenticated()));
    }

    #[test]
    fn one_address_has_a_quarter_of_the_places_and_loses_its_oldest_unauthenticated_connection() {
        let limiter = limiter(8);
        let mut peers: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        log_in(&peers[..1]);
        let _third = acquire(&limiter, address(1));
        assert_eq!(evicted(&mut peers), [1]);
        assert!(!peers[1].0.mark_authenticated(), "it logs in too late");
        let _other = acquire(&limiter, address(2));
        assert!(evicted(&mut peers).is_empty());
    }

    #[test]
    fn both_loopback_addresses_are_local() {
        let limiter = limiter(8);
        for local in ["127.0.0.1", "::1"] {
            let peers: Vec<_> = (0..6).map(|_| acquire(&limiter, local.parse().unwrap())).collect();
            log_in(&peers);
            let more = limiter.acquire(Some(local.parse().unwrap()));
            assert_eq!(more.err(), Some(ConnectionLimitReached::Address), "three quarters and no more");
        }
    }

    #[test]
    fn an_authenticated_client_keeps_its_place_and_one_more_of_its_address_is_refused() {
        let limiter = limiter(8);
        let peers: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        log_in(&peers);
        assert_eq!(limiter.acquire(Some(address(1))).err(), Some(ConnectionLimitReached::Address));
        drop(peers);
        assert!(limiter.acquire(Some(address(1))).is_ok());
        assert!(limiter.lock().by_network.is_empty());
    }

    #[test]
    fn where_all_are_logged_in_one_more_is_refused() {
        let limiter = limiter(8);
        let peers: Vec<_> = (1..9)
            .map(|last| {
                let peer = acquire(&limiter, address(last));
                log_in(std::slice::from_ref(&peer));
                peer
            })
            .collect();
        assert_eq!(limiter.acquire(Some(address(9))).err(), Some(ConnectionLimitReached::Connections));
        drop(peers);
        assert!(limiter.acquire(Some(address(9))).is_ok());
    }

    #[test]
    fn of_too_many_unauthenticated_connections_the_largest_crowd_loses_its_oldest() {
        let limiter = limiter(8);
        let mut crowd: Vec<_> = [1, 2, 2, 3, 4, 5].map(|last| acquire(&limiter, address(last))).into();
        let _one_more = acquire(&limiter, address(6));
        assert_eq!(evicted(&mut crowd), [1], "the oldest of the address with the most");
        log_in(&crowd[3..4]);
        let mut late: Vec<_> = (7..9).map(|last| acquire(&limiter, address(last))).collect();
        log_in(&late);
        assert!(evicted(&mut late).is_empty());
    }

    #[test]
    fn a_connection_with_a_request_is_evicted_after_those_that_are_silent() {
        let limiter = limiter(8);
        let mut peers: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        let request = peers[0].0.handle().begin_request();
        let _third = acquire(&limiter, address(1));
        assert_eq!(evicted(&mut peers), [1]);
        let _fourth = acquire(&limiter, address(1));
        drop(request);
        let _fifth = acquire(&limiter, address(1));
        assert_eq!(evicted(&mut peers), [0]);
    }

    #[test]
    fn all_addresses_of_an_ipv6_network_are_one() {
        let limiter = limiter(8);
        let from = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let mut peers: Vec<_> = (0..2).map(|last| acquire(&limiter, from(last))).collect();
        let _third = acquire(&limiter, from(9));
        assert_eq!(evicted(&mut peers), [0]);
    }

    #[test]
    fn what_was_evicted_before_it_could_be_reached_ends_as_soon_as_it_can() {
        let limiter = limiter(4);
        let first = limiter.acquire(Some(address(1))).unwrap();
        let _second = limiter.acquire(Some(address(1))).unwrap();
        let (ended, waits) = std::sync::mpsc::channel();
        first.handle().or_on_eviction(move || ended.send("its task is aborted").unwrap());
        assert_eq!(waits.try_recv(), Ok("its task is aborted"));
    }

    #[test]
    fn a_connection_that_can_say_why_it_ends_is_not_just_aborted() {
        let limiter = limiter(4);
        let first = limiter.acquire(Some(address(1))).unwrap();
        let (said, waits) = std::sync::mpsc::channel();
        let aborted = said.clone();
        first.on_eviction(move || said.send("it sends an error").unwrap());
        first.handle().or_on_eviction(move || aborted.send("its task is aborted").unwrap());
        let _second = limiter.acquire(Some(address(1))).unwrap();
        assert_eq!(waits.try_iter().collect::<Vec<_>>(), ["it sends an error"]);
    }

    #[test]
    fn evicted_connections_that_do_not_end_cannot_grow_without_bound() {
        let limiter = limiter(4);
        let peers: Vec<_> = (0..4 + CLOSING_MAX).map(|_| limiter.acquire(None)).collect();
        assert!(peers.iter().all(Result::is_ok));
        assert_eq!(limiter.acquire(None).err(), Some(ConnectionLimitReached::Connections));
        drop(peers);
        assert!(limiter.acquire(None).is_ok());
    }

    #[tokio::test]
    async fn a_server_that_stops_waits_for_its_connections() {
        let limiter = limiter(4);
        let permit = limiter.acquire(None).unwrap();
        let waits = tokio::spawn({
            let limiter = limiter.clone();
            async move { limiter.wait_until_empty(Duration::from_secs(60)).await }
        });
        tokio::task::yield_now().await;
        assert!(!waits.is_finished());
        drop(permit);
        waits.await.unwrap();
        limiter.acquire(None).map(drop).unwrap();
    }
}
