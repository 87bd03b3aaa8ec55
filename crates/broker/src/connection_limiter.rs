//! Connection limits: in total, per address, and for connections that have not logged in, of which the oldest is
//! evicted.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::close_reason::CloseReason;
use crate::limits::BrokerLimits;
use crate::outbound_queue::OutboundQueue;

pub(crate) struct ConnectionLimiter {
    all: Arc<Semaphore>,
    connections: usize,
    per_address: usize,
    per_local_address: usize,
    unauthenticated_max: usize,
    state: Mutex<LimiterState>,
}

#[derive(Default)]
struct LimiterState {
    by_address: BTreeMap<IpAddr, usize>,
    /// Connections that have not logged in, the oldest first, with their addresses.
    unauthenticated: BTreeMap<u64, (Option<IpAddr>, Unauthenticated)>,
    last: u64,
}

/// How a connection that has not logged in is evicted.
enum Unauthenticated {
    /// Just accepted.
    New,
    /// Its protocol is not known yet.
    Task(AbortHandle),
    /// It can receive an ERROR.
    Connection(Arc<OutboundQueue>),
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConnectionLimitReached {
    Connections,
    Address,
}

/// The permit of a connection; released when it is dropped.
pub(crate) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    _permit: OwnedSemaphorePermit,
    address: Option<IpAddr>,
    unauthenticated: Option<u64>,
}

impl ConnectionLimiter {
    pub(crate) fn new(limits: &BrokerLimits) -> Arc<Self> {
        Arc::new(Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            connections: limits.connections,
            per_address: limits.connections_per_address,
            per_local_address: limits.connections_per_local_address,
            unauthenticated_max: limits.unauthenticated,
            state: Mutex::default(),
        })
    }

    /// For a connection from that address. Where too many have not logged in, the oldest of them is evicted.
    pub(crate) fn acquire(self: &Arc<Self>, from: Option<IpAddr>) -> Result<ConnectionPermit, ConnectionLimitReached> {
        let place = self.all.clone().try_acquire_owned().map_err(|_| ConnectionLimitReached::Connections)?;
        let address = from.map(network_prefix);
        let mut state = self.open();
        if let Some(address) = address {
            let taken = state.by_address.entry(address).or_default();
            if *taken >= self.limit_for(address) {
                return Err(ConnectionLimitReached::Address);
            }
            *taken += 1;
        }
        let oldest = if state.unauthenticated.len() >= self.unauthenticated_max { state.remove_oldest() } else { None };
        state.last += 1;
        let caller = state.last;
        state.unauthenticated.insert(caller, (address, Unauthenticated::New));
        drop(state);
        oldest.into_iter().for_each(Unauthenticated::evict);
        Ok(ConnectionPermit { limiter: self.clone(), _permit: place, address, unauthenticated: Some(caller) })
    }

    fn limit_for(&self, address: IpAddr) -> usize {
        if address.is_loopback() { self.per_local_address } else { self.per_address }
    }

    /// Waits until all connections have ended, with a time limit.
    pub(crate) async fn wait_until_empty(&self, grace: Duration) {
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let _ = timeout(grace, self.all.acquire_many(all)).await;
    }

    fn open(&self) -> MutexGuard<'_, LimiterState> {
        // The counts are consistent after every statement under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LimiterState {
    /// The oldest of the address with the most of them, so that one address cannot evict the others.
    fn remove_oldest(&mut self) -> Option<Unauthenticated> {
        let mut crowds: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        self.unauthenticated.values().for_each(|(address, _)| *crowds.entry(*address).or_default() += 1);
        let largest = crowds.into_iter().max_by_key(|(_, callers)| *callers)?.0;
        let oldest =
            self.unauthenticated.iter().find(|(_, (address, _))| *address == largest).map(|(caller, _)| *caller)?;
        self.unauthenticated.remove(&oldest).map(|(_, caller)| caller)
    }
}

impl Unauthenticated {
    fn evict(self) {
        match self {
            Self::New => {}
            Self::Task(task) => task.abort(),
            Self::Connection(queue) => queue.close(CloseReason::Evicted),
        }
    }
}

impl ConnectionPermit {
    /// The id of a connection that has not logged in.
    pub(crate) fn unauthenticated_id(&self) -> Option<u64> {
        self.unauthenticated
    }

    /// The connection can receive an ERROR when it is evicted.
    pub(crate) fn set_mailbox(&self, queue: &Arc<OutboundQueue>) {
        self.limiter.set_handle(self.unauthenticated, Unauthenticated::Connection(queue.clone()));
    }

    /// The client has logged in.
    pub(crate) fn mark_authenticated(&mut self) {
        let caller = self.unauthenticated.take();
        caller.into_iter().for_each(|caller| drop(self.limiter.open().unauthenticated.remove(&caller)));
    }
}

impl ConnectionLimiter {
    /// The task of a connection whose protocol is not known yet.
    pub(crate) fn set_task(&self, caller: Option<u64>, task: AbortHandle) {
        self.set_handle(caller, Unauthenticated::Task(task));
    }

    /// A connection that was evicted before it could be reached is ended now.
    fn set_handle(&self, caller: Option<u64>, how: Unauthenticated) {
        let Some(caller) = caller else { return };
        let mut state = self.open();
        match state.unauthenticated.get_mut(&caller) {
            // The connection can send an ERROR, which the task cannot.
            Some((_, Unauthenticated::Connection(_))) => {}
            Some((_, known)) => *known = how,
            None => {
                drop(state);
                if matches!(how, Unauthenticated::Connection(_)) {
                    how.evict();
                }
            }
        }
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.mark_authenticated();
        let Some(address) = self.address else { return };
        let mut state = self.limiter.open();
        if let Some(taken) = state.by_address.get_mut(&address) {
            *taken -= 1;
            if *taken == 0 {
                state.by_address.remove(&address);
            }
        }
    }
}

/// All addresses of one IPv6 network (/64) are one.
fn network_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use stomp::lanes::OutboundLanes;

    use super::*;

    fn places() -> Arc<ConnectionLimiter> {
        ConnectionLimiter::new(&BrokerLimits {
            connections: 6,
            connections_per_address: 2,
            connections_per_local_address: 3,
            unauthenticated: 2,
            ..BrokerLimits::default()
        })
    }

    fn from(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn no_address_has_all_places_not_even_this_machine() {
        let places = places();
        let far = ["2001:db8::1", "2001:db8::2"].map(|address| places.acquire(from(address)).unwrap());
        assert_eq!(places.acquire(from("2001:db8::3")).err(), Some(ConnectionLimitReached::Address));
        let near = ["127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"].map(|address| places.acquire(from(address)).unwrap());
        assert_eq!(places.acquire(from("127.0.0.1")).err(), Some(ConnectionLimitReached::Address));
        let other = places.acquire(from("192.0.2.1")).unwrap();
        assert_eq!(places.acquire(from("192.0.2.2")).err(), Some(ConnectionLimitReached::Connections));
        drop((far, near, other));
        assert!(places.acquire(from("127.0.0.1")).is_ok());
        assert!(places.open().by_address.is_empty());
    }

    #[test]
    fn of_unauthenticated_connections_the_oldest_is_evicted() {
        let places = places();
        let mailboxes: Vec<_> = (0..4).map(|_| OutboundQueue::new(&OutboundLanes::unthrottled(), 1)).collect();
        let mut taken = Vec::new();
        for queue in &mailboxes {
            let mut place = places.acquire(None).unwrap();
            place.set_mailbox(queue);
            // The second one logs in.
            if taken.len() == 1 {
                place.mark_authenticated();
            }
            taken.push(place);
        }
        let gave_way: Vec<_> =
            mailboxes.iter().map(|queue| queue.close_reason() == Some(CloseReason::Evicted)).collect();
        assert_eq!(gave_way, [true, false, false, false]);
        let _fifth = places.acquire(None).unwrap();
        assert_eq!(mailboxes[2].close_reason(), Some(CloseReason::Evicted));
        drop(taken);
        assert_eq!(places.open().unauthenticated.len(), 1);
    }

    #[test]
    fn one_address_that_calls_and_calls_does_not_push_others_out() {
        let places = ConnectionLimiter::new(&BrokerLimits { unauthenticated: 3, ..BrokerLimits::default() });
        let mailboxes: Vec<_> = (0..4).map(|_| OutboundQueue::new(&OutboundLanes::unthrottled(), 1)).collect();
        let callers = ["192.0.2.7", "192.0.2.1", "192.0.2.1", "192.0.2.1"];
        let taken: Vec<_> = callers
            .iter()
            .zip(&mailboxes)
            .map(|(address, queue)| {
                let place = places.acquire(from(address)).unwrap();
                place.set_mailbox(queue);
                place
            })
            .collect();
        let gave_way: Vec<_> =
            mailboxes.iter().map(|queue| queue.close_reason() == Some(CloseReason::Evicted)).collect();
        assert_eq!(gave_way, [false, true, false, false]);
        drop(taken);
    }
}
