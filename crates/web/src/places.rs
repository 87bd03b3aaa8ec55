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
    strangers: usize,
    per_address: usize,
    per_local_address: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: u64,
    /// In the order of their connect.
    taken: BTreeMap<u64, Taken>,
}

struct Taken {
    network: IpAddr,
    standing: Arc<ConnectionState>,
    /// Ends the connection.
    cut: oneshot::Sender<()>,
}

/// What is known of a connection's peer.
#[derive(Debug, Default)]
struct ConnectionState {
    was_let_in: AtomicBool,
    requests: AtomicUsize,
}

/// The permit of a connection; released when it is dropped.
pub(crate) struct HttpConnectionSlot {
    places: Arc<HttpConnectionLimiter>,
    id: u64,
    standing: Arc<ConnectionState>,
}

/// The permit as seen by a request, which has it among its extensions.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionPermit(Arc<ConnectionState>);

/// A request in progress.
pub(crate) struct Busy(Arc<ConnectionState>);

/// Ready when the connection is evicted.
pub(crate) struct GivenWay(oneshot::Receiver<()>);

impl HttpConnectionLimiter {
    pub(crate) fn new(limits: &HttpLimits) -> Arc<Self> {
        Arc::new(Self {
            connections: limits.connections,
            strangers: limits.strangers(),
            per_address: limits.connections_per_address(),
            per_local_address: limits.strangers(),
            state: Mutex::default(),
        })
    }

    /// `None` where the limit is reached and no connection can be evicted.
    pub(crate) fn take(self: &Arc<Self>, from: IpAddr) -> Option<(HttpConnectionSlot, GivenWay)> {
        let network = network(from);
        let mut state = self.lock();
        if state.count(|taken| taken.network == network) >= self.limit_of(network) {
            state.make_room(|taken| taken.network == network)?;
        } else if state.taken.len() >= self.connections || state.count(Taken::is_stranger) >= self.strangers {
            state.make_room(|_| true)?;
        }
        let (cut, given_way) = oneshot::channel();
        let standing = Arc::<ConnectionState>::default();
        state.last += 1;
        let id = state.last;
        state.taken.insert(id, Taken { network, standing: standing.clone(), cut });
        Some((HttpConnectionSlot { places: self.clone(), id, standing }, GivenWay(given_way)))
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
    fn count(&self, is_meant: impl Fn(&Taken) -> bool) -> usize {
        self.taken.values().filter(|taken| is_meant(taken)).count()
    }

    /// Evicts one of the selected unauthenticated connections: of the address with the most of them, of several such
    /// addresses the first to connect; one without a request first, and of these the oldest.
    fn make_room(&mut self, is_meant: impl Fn(&Taken) -> bool) -> Option<()> {
        let mut crowds: BTreeMap<IpAddr, (usize, Reverse<u64>)> = BTreeMap::new();
        let strangers = self.taken.iter().filter(|(_, taken)| taken.is_stranger() && is_meant(taken));
        for (id, taken) in strangers.clone() {
            crowds.entry(taken.network).or_insert((0, Reverse(*id))).0 += 1;
        }
        let crowd = crowds.into_iter().max_by_key(|(_, size_and_age)| *size_and_age)?.0;
        let of_crowd = strangers.filter(|(_, taken)| taken.network == crowd);
        let gone = of_crowd.min_by_key(|(id, taken)| (taken.standing.requests.load(Ordering::Relaxed) > 0, **id))?;
        let id = *gone.0;
        // A connection that has just ended releases its permit as well.
        self.taken.remove(&id).map(|taken| taken.cut.send(()).unwrap_or(()))
    }
}

impl Taken {
    fn is_stranger(&self) -> bool {
        !self.standing.was_let_in.load(Ordering::Relaxed)
    }
}

impl HttpConnectionSlot {
    pub(crate) fn permit(&self) -> ConnectionPermit {
        ConnectionPermit(self.standing.clone())
    }
}

impl Drop for HttpConnectionSlot {
    fn drop(&mut self) {
        self.places.lock().taken.remove(&self.id);
    }
}

impl ConnectionPermit {
    /// A request of this connection was authorized: it is not evicted any more.
    pub(crate) fn let_in(&self) {
        self.0.was_let_in.store(true, Ordering::Relaxed);
    }

    /// A request has begun.
    pub(crate) fn begin(&self) -> Busy {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        Busy(self.0.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}

impl GivenWay {
    /// Waits for ever for a connection that ends by itself, or is upgraded.
    pub(crate) async fn given(self) {
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

    fn places(connections: usize) -> Arc<HttpConnectionLimiter> {
        HttpConnectionLimiter::new(&HttpLimits { connections, ..HttpLimits::default() })
    }

    /// The evicted connections, by their order of arrival.
    fn gone(visitors: &mut [(HttpConnectionSlot, GivenWay)]) -> Vec<usize> {
        (0..visitors.len()).filter(|at| visitors[*at].1.0.try_recv().is_ok()).collect()
    }

    fn take(places: &Arc<HttpConnectionLimiter>, from: IpAddr) -> (HttpConnectionSlot, GivenWay) {
        places.take(from).unwrap()
    }

    #[test]
    fn one_address_has_a_quarter_of_the_places_and_its_oldest_stranger_gives_way() {
        let places = places(8);
        let mut visitors: Vec<_> = (0..2).map(|_| take(&places, address(1))).collect();
        visitors[0].0.permit().let_in();
        let _third = take(&places, address(1));
        assert_eq!(gone(&mut visitors), [1]);
        let _other = take(&places, address(2));
        assert!(gone(&mut visitors).is_empty());
    }

    #[test]
    fn both_loopback_addresses_are_local() {
        let places = places(8);
        for local in ["127.0.0.1", "::1"] {
            let visitors: Vec<_> = (0..6).map(|_| take(&places, local.parse().unwrap())).collect();
            visitors.iter().for_each(|(place, _)| place.permit().let_in());
            assert!(places.take(local.parse().unwrap()).is_none(), "three quarters and no more");
        }
    }

    #[test]
    fn an_authenticated_client_keeps_its_place_and_one_more_of_its_address_is_rejected() {
        let places = places(8);
        let visitors: Vec<_> = (0..2).map(|_| take(&places, address(1))).collect();
        visitors.iter().for_each(|(place, _)| place.permit().let_in());
        assert!(places.take(address(1)).is_none());
        drop(visitors);
        assert!(places.take(address(1)).is_some());
    }

    #[test]
    fn strangers_leave_a_quarter_of_the_places_and_the_largest_crowd_gives_way() {
        let places = places(8);
        let mut crowd: Vec<_> = [1, 2, 2, 3, 4, 5].map(|last| take(&places, address(last))).into();
        let _one_more = take(&places, address(6));
        assert_eq!(gone(&mut crowd), [1], "the oldest of the address with the most");
        crowd[3].0.permit().let_in();
        let mut late: Vec<_> = (7..9).map(|last| take(&places, address(last))).collect();
        late.iter().for_each(|(place, _)| place.permit().let_in());
        assert!(gone(&mut late).is_empty());
    }

    #[test]
    fn who_has_asked_for_something_gives_way_after_those_who_are_silent() {
        let places = places(8);
        let mut visitors: Vec<_> = (0..2).map(|_| take(&places, address(1))).collect();
        let busy = visitors[0].0.permit().begin();
        let _third = take(&places, address(1));
        assert_eq!(gone(&mut visitors), [1]);
        let _fourth = take(&places, address(1));
        drop(busy);
        let _fifth = take(&places, address(1));
        assert_eq!(gone(&mut visitors), [0]);
    }

    #[test]
    fn all_addresses_of_an_ipv6_network_are_one() {
        let places = places(8);
        let from = |last: u16| IpAddr::from([0x2001, 0xdb8, 0, 1, 0, 0, 0, last]);
        let mut visitors: Vec<_> = (0..2).map(|last| take(&places, from(last))).collect();
        let _third = take(&places, from(9));
        assert_eq!(gone(&mut visitors), [0]);
    }
}
