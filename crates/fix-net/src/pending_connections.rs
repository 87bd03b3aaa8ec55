//! Pending connections: those without a Logon yet. Each address has a limit; a silent connection is evicted for a new
//! one.

use crate::limits::UNAUTHENTICATED_PER_ADDRESS_MAX;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The part of an IPv6 address that usually identifies one customer.
const IPV6_NETWORK: u128 = u128::MAX << 64;

pub(crate) struct PendingConnections {
    most: usize,
    waiting: Mutex<PendingState>,
}

#[derive(Default)]
struct PendingState {
    next: u64,
    /// In the order of their connect.
    connections: BTreeMap<u64, PendingConnection>,
}

struct PendingConnection {
    network: IpAddr,
    is_silent: bool,
    /// Dropped with the entry, which ends a connection that is still silent.
    _end: oneshot::Sender<()>,
}

/// The permit of one pending connection, until it is dropped.
pub(crate) struct PendingSlot {
    connections: Arc<PendingConnections>,
    id: u64,
    evicted: oneshot::Receiver<()>,
}

impl PendingConnections {
    pub(crate) fn at_most(most: usize) -> Self {
        Self { most, waiting: Mutex::default() }
    }

    /// None where no place is free and nobody who is silent can give way.
    pub(crate) fn register(self: &Arc<Self>, address: IpAddr) -> Option<PendingSlot> {
        let network = network_prefix(address);
        let mut waiting = self.lock();
        if waiting.in_network(network).count() >= UNAUTHENTICATED_PER_ADDRESS_MAX {
            waiting.evict_oldest_of(network)?;
        } else if waiting.connections.len() >= self.most {
            waiting.evict_oldest()?;
        }
        let (end, given_up) = oneshot::channel();
        let id = waiting.next;
        waiting.next += 1;
        waiting.connections.insert(id, PendingConnection { network, is_silent: true, _end: end });
        Some(PendingSlot { connections: self.clone(), id, evicted: given_up })
    }

    fn lock(&self) -> MutexGuard<'_, PendingState> {
        // A map is whole between any two statements that hold the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PendingState {
    fn in_network(&self, network: IpAddr) -> impl Iterator<Item = (u64, &PendingConnection)> {
        self.connections.iter().filter(move |(_, caller)| caller.network == network).map(|(id, caller)| (*id, caller))
    }

    /// Evicts the oldest silent connection of one network.
    fn evict_oldest_of(&mut self, network: IpAddr) -> Option<()> {
        let oldest = self.in_network(network).find(|(_, caller)| caller.is_silent).map(|(id, _)| id)?;
        self.connections.remove(&oldest).map(drop)
    }

    /// The network with the most silent connections loses its oldest, so that one network never evicts others.
    fn evict_oldest(&mut self) -> Option<()> {
        let mut silent: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for caller in self.connections.values().filter(|caller| caller.is_silent) {
            *silent.entry(caller.network).or_default() += 1;
        }
        let crowd = silent.into_iter().max_by_key(|(_, count)| *count).map(|(network, _)| network)?;
        self.evict_oldest_of(crowd)
    }
}

impl PendingSlot {
    /// Ready when this connection is evicted.
    pub(crate) async fn evicted(&mut self) {
        // The other half is only ever dropped.
        let _ = (&mut self.evicted).await;
    }

    /// The peer has sent something: it is not evicted any more. False where it was evicted just before.
    pub(crate) fn mark_active(&self) -> bool {
        let mut waiting = self.connections.lock();
        waiting.connections.get_mut(&self.id).map(|caller| caller.is_silent = false).is_some()
    }
}

impl Drop for PendingSlot {
    fn drop(&mut self) {
        self.connections.lock().connections.remove(&self.id);
    }
}

fn network_prefix(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNAUTHENTICATED_CONNECTIONS_MAX;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn is_lost(place: &mut PendingSlot) -> bool {
        place.evicted.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    fn lost(places: &mut [PendingSlot]) -> Vec<usize> {
        (0..places.len()).filter(|at| is_lost(&mut places[*at])).collect()
    }

    #[test]
    fn one_address_has_so_many_places_and_its_oldest_silent_caller_gives_way() {
        let callers = Arc::new(PendingConnections::at_most(UNAUTHENTICATED_CONNECTIONS_MAX));
        let mut places: Vec<_> =
            (0..UNAUTHENTICATED_PER_ADDRESS_MAX).map(|_| callers.register(address(1)).unwrap()).collect();
        assert!(places[0].mark_active(), "a connection that has sent bytes stays");
        assert!(lost(&mut places).is_empty());
        let other = callers.register(address(2)).unwrap();
        let newest = callers.register(address(1)).unwrap();
        assert_eq!(lost(&mut places), [1]);
        assert!(!places[1].mark_active());
        assert!(places[0].mark_active() && other.mark_active() && newest.mark_active());
    }

    #[test]
    fn where_all_places_are_taken_the_largest_crowd_gives_way() {
        let callers = Arc::new(PendingConnections::at_most(UNAUTHENTICATED_CONNECTIONS_MAX));
        let mut lone = callers.register(address(200)).unwrap();
        let crowd = |n: usize| address(u8::try_from(n % 100).unwrap());
        let mut places: Vec<_> =
            (1..UNAUTHENTICATED_CONNECTIONS_MAX).map(|n| callers.register(crowd(n)).unwrap()).collect();
        let newcomer = callers.register(address(201)).unwrap();
        assert_eq!(lost(&mut places).len(), 1);
        assert!(!is_lost(&mut lone) && newcomer.mark_active());
    }

    #[test]
    fn without_a_silent_connection_a_new_one_is_rejected_until_one_leaves() {
        let callers = Arc::new(PendingConnections::at_most(UNAUTHENTICATED_CONNECTIONS_MAX));
        let mut places: Vec<_> =
            (0..UNAUTHENTICATED_PER_ADDRESS_MAX).map(|_| callers.register(address(1)).unwrap()).collect();
        assert!(places.iter().all(PendingSlot::mark_active));
        assert!(callers.register(address(1)).is_none());
        places.pop();
        assert!(callers.register(address(1)).is_some());
    }

    #[test]
    fn one_customer_of_ipv6_is_one_address() {
        let parsed = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(network_prefix(parsed("2001:db8:1:2:3::4")), network_prefix(parsed("2001:db8:1:2::9")));
        assert_ne!(network_prefix(parsed("2001:db8:1:2::9")), network_prefix(parsed("2001:db8:1:3::9")));
        assert_eq!(network_prefix(parsed("::ffff:192.0.2.1")), address(1));
    }
}
