//! Connection limits: in total, per address, and a reserve for authenticated clients. A connection without an
//! authorized request is evicted for a new one, so that idle connections lock no client out.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::limits::HttpLimits;

/// The part of an IPv6 address that usually identifies one customer.
const IPV6_NETWORK: u128 = u128::MAX << 64;

pub(crate) struct HttpConnectionLimiter {
    connections: usize,
    unauthenticated: usize,
    per_address: usize,
    per_local_address: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// In the order of their connect.
    entries: BTreeMap<u64, LimiterEntry>,
}

struct LimiterEntry {
    network: IpAddr,
    peer: Arc<HttpConnectionState>,
    /// Ends the connection.
    cut: oneshot::Sender<()>,
}

/// What is known of a connection's peer.
#[derive(Debug, Default)]
struct HttpConnectionState {
    is_authenticated: AtomicBool,
    requests: AtomicUsize,
}

/// The permit of a connection; released when it is dropped.
pub(crate) struct HttpConnectionSlot {
    limiter: Arc<HttpConnectionLimiter>,
    id: u64,
    peer: Arc<HttpConnectionState>,
}

/// The permit as seen by a request, which has it among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct HttpPermit(Arc<HttpConnectionState>);

/// A request in progress.
pub(crate) struct RequestInProgress(Arc<HttpConnectionState>);

/// Ready when the connection is evicted.
pub(crate) struct Eviction(oneshot::Receiver<()>);

impl HttpConnectionLimiter {
    pub(crate) fn new(limits: &HttpLimits) -> Arc<Self> {
        Arc::new(Self {
            connections: limits.connections,
            unauthenticated: limits.unauthenticated_max(),
            per_address: limits.connections_per_address(),
            per_local_address: limits.unauthenticated_max(),
            state: Mutex::default(),
        })
    }

    /// `None` where the limit is reached and no connection can be evicted.
    pub(crate) fn acquire(self: &Arc<Self>, from: IpAddr) -> Option<(HttpConnectionSlot, Eviction)> {
        let network = network(from);
        let mut state = self.lock();
        if state.count(|entry| entry.network == network) >= self.limit_of(network) {
            state.evict_one(|entry| entry.network == network)?;
        } else if state.entries.len() >= self.connections
            || state.count(LimiterEntry::is_unauthenticated) >= self.unauthenticated
        {
            state.evict_one(|_| true)?;
        }
        let (cut, evicted) = oneshot::channel();
        let peer = Arc::<HttpConnectionState>::default();
        state.last += 1;
        let id = state.last;
        state.entries.insert(id, LimiterEntry { network, peer: peer.clone(), cut });
        Some((HttpConnectionSlot { limiter: self.clone(), id, peer }, Eviction(evicted)))
    }

    fn limit_of(&self, network: IpAddr) -> usize {
        if network.is_loopback() { self.per_local_address } else { self.per_address }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The map is consistent after every statement under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn count(&self, is_meant: impl Fn(&LimiterEntry) -> bool) -> usize {
        self.entries.values().filter(|entry| is_meant(entry)).count()
    }

    /// Evicts one of the selected unauthenticated connections: of the address with the most of them, of several such
    /// addresses the first to connect; one without a request first, and of these the oldest.
    fn evict_one(&mut self, is_meant: impl Fn(&LimiterEntry) -> bool) -> Option<()> {
        let mut by_network: BTreeMap<IpAddr, (usize, Reverse<u64>)> = BTreeMap::new();
        let unauthenticated = self.entries.iter().filter(|(_, entry)| entry.is_unauthenticated() && is_meant(entry));
        for (id, entry) in unauthenticated.clone() {
            by_network.entry(entry.network).or_insert((0, Reverse(*id))).0 += 1;
        }
        let largest = by_network.into_iter().max_by_key(|(_, size_and_age)| *size_and_age)?.0;
        let of_network = unauthenticated.filter(|(_, entry)| entry.network == largest);
        let gone = of_network.min_by_key(|(id, entry)| (entry.peer.requests.load(Ordering::Relaxed) > 0, **id))?;
        let id = *gone.0;
        // A connection that has just ended releases its permit as well.
        self.entries.remove(&id).map(|entry| entry.cut.send(()).unwrap_or(()))
    }
}

impl LimiterEntry {
    fn is_unauthenticated(&self) -> bool {
        !self.peer.is_authenticated.load(Ordering::Relaxed)
    }
}

impl HttpConnectionSlot {
    pub(crate) fn permit(&self) -> HttpPermit {
        HttpPermit(self.peer.clone())
    }
}

impl Drop for HttpConnectionSlot {
    fn drop(&mut self) {
        self.limiter.lock().entries.remove(&self.id);
    }
}

impl HttpPermit {
    /// A request of this connection was authorized: it is not evicted any more.
    pub(crate) fn mark_authenticated(&self) {
        self.0.is_authenticated.store(true, Ordering::Relaxed);
    }

    /// A request has begun.
    pub(crate) fn begin(&self) -> RequestInProgress {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        RequestInProgress(self.0.clone())
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Eviction {
    /// Waits for ever for a connection that ends by itself, or is upgraded.
    pub(crate) async fn wait(self) {
        if self.0.await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
        whole => whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn limiter(connections: usize) -> Arc<HttpConnectionLimiter> {
        HttpConnectionLimiter::new(&HttpLimits { connections, ..HttpLimits::default() })
    }

    /// The evicted connections, by their order of arrival.
    fn gone(visitors: &mut [(HttpConnectionSlot, Eviction)]) -> Vec<usize> {
        (0..visitors.len()).filter(|at| visitors[*at].1.0.try_recv().is_ok()).collect()
    }

    fn acquire(limiter: &Arc<HttpConnectionLimiter>, from: IpAddr) -> (HttpConnectionSlot, Eviction) {
        limiter.acquire(from).unwrap()
    }

    #[test]
    fn one_address_has_a_quarter_of_the_places_and_its_oldest_stranger_gives_way() {
        let limiter = limiter(8);
        let mut visitors: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        visitors[0].0.permit().mark_authenticated();
        let _third = acquire(&limiter, address(1));
        assert_eq!(gone(&mut visitors), [1]);
        let _other = acquire(&limiter, address(2));
        assert!(gone(&mut visitors).is_empty());
    }

    #[test]
    fn both_loopback_addresses_are_local() {
        let limiter = limiter(8);
        for local in ["127.0.0.1", "::1"] {
            let visitors: Vec<_> = (0..6).map(|_| acquire(&limiter, local.parse().unwrap())).collect();
            visitors.iter().for_each(|(place, _)| place.permit().mark_authenticated());
            assert!(limiter.acquire(local.parse().unwrap()).is_none(), "three quarters and no more");
        }
    }

    #[test]
    fn an_authenticated_client_keeps_its_place_and_one_more_of_its_address_is_rejected() {
        let limiter = limiter(8);
        let visitors: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        visitors.iter().for_each(|(place, _)| place.permit().mark_authenticated());
        assert!(limiter.acquire(address(1)).is_none());
        drop(visitors);
        assert!(limiter.acquire(address(1)).is_some());
    }

    #[test]
    fn strangers_leave_a_quarter_of_the_places_and_the_largest_crowd_gives_way() {
        let limiter = limiter(8);
        let mut largest: Vec<_> = [1, 2, 2, 3, 4, 5].map(|last| acquire(&limiter, address(last))).into();
        let _one_more = acquire(&limiter, address(6));
        assert_eq!(gone(&mut largest), [1], "the oldest of the address with the most");
        largest[3].0.permit().mark_authenticated();
        let mut late: Vec<_> = (7..9).map(|last| acquire(&limiter, address(last))).collect();
        late.iter().for_each(|(place, _)| place.permit().mark_authenticated());
        assert!(gone(&mut late).is_empty());
    }

    #[test]
    fn who_has_asked_for_something_gives_way_after_those_who_are_silent() {
        let limiter = limiter(8);
        let mut visitors: Vec<_> = (0..2).map(|_| acquire(&limiter, address(1))).collect();
        let busy = visitors[0].0.permit().begin();
        let _third = acquire(&limiter, address(1));
        assert_eq!(gone(&mut visitors), [1]);
        let _fourth = acquire(&limiter, address(1));
        drop(busy);
        let _fifth = acquire(&limiter, address(1));
        assert_eq!(gone(&mut visitors), [0]);
    }

    #[test]
    fn all_addresses_of_an_ipv6_network_are_one() {
        let limiter = limiter(8);
        let from = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let mut visitors: Vec<_> = (0..2).map(|last| acquire(&limiter, from(last))).collect();
        let _third = acquire(&limiter, from(9));
        assert_eq!(gone(&mut visitors), [0]);
    }
}
