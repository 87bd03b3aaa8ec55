//! Pending connections: those without a Logon yet. Each address has a limit; a silent connection is evicted for a new
//! one.

use crate::limits::UNKNOWN_CALLERS_PER_ADDRESS_MAX;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;

/// The part of an IPv6 address that usually identifies one customer.
const IPV6_NETWORK: u128 = u128::MAX << 64;

pub(crate) struct Callers {
    most: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Default)]
struct Waiting {
    next: u64,
    /// In the order of their connect.
    callers: BTreeMap<u64, Caller>,
}

struct Caller {
    network: IpAddr,
    is_silent: bool,
    /// Dropped with the entry, which ends a connection that is still silent.
    _end: oneshot::Sender<()>,
}

/// The permit of one pending connection, until it is dropped.
pub(crate) struct Place {
    callers: Arc<Callers>,
    id: u64,
    given_up: oneshot::Receiver<()>,
}

impl Callers {
    pub(crate) fn at_most(most: usize) -> Self {
        Self { most, waiting: Mutex::default() }
    }

    /// None where no place is free and nobody who is silent can give way.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let network = network(address);
        let mut waiting = self.lock();
        if waiting.of(network).count() >= UNKNOWN_CALLERS_PER_ADDRESS_MAX {
            waiting.make_room_of(network)?;
        } else if waiting.callers.len() >= self.most {
            waiting.make_room()?;
        }
        let (end, given_up) = oneshot::channel();
        let id = waiting.next;
        waiting.next += 1;
        waiting.callers.insert(id, Caller { network, is_silent: true, _end: end });
        Some(Place { callers: self.clone(), id, given_up })
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // A map is whole between any two statements that hold the lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn of(&self, network: IpAddr) -> impl Iterator<Item = (u64, &Caller)> {
        self.callers.iter().filter(move |(_, caller)| caller.network == network).map(|(id, caller)| (*id, caller))
    }

    /// Evicts the oldest silent connection of one network.
    fn make_room_of(&mut self, network: IpAddr) -> Option<()> {
        let oldest = self.of(network).find(|(_, caller)| caller.is_silent).map(|(id, _)| id)?;
        self.callers.remove(&oldest).map(drop)
    }

    /// The network with the most silent connections loses its oldest, so that one network never evicts others.
    fn make_room(&mut self) -> Option<()> {
        let mut silent: BTreeMap<IpAddr, usize> = BTreeMap::new();
        for caller in self.callers.values().filter(|caller| caller.is_silent) {
            *silent.entry(caller.network).or_default() += 1;
        }
        let crowd = silent.into_iter().max_by_key(|(_, count)| *count).map(|(network, _)| network)?;
        self.make_room_of(crowd)
    }
}

impl Place {
    /// Ready when this connection is evicted.
    pub(crate) async fn lost(&mut self) {
        // The other half is only ever dropped.
        let _ = (&mut self.given_up).await;
    }

    /// The peer has sent something: it is not evicted any more. False where it was evicted just before.
    pub(crate) fn heard(&self) -> bool {
        let mut waiting = self.callers.lock();
        waiting.callers.get_mut(&self.id).map(|caller| caller.is_silent = false).is_some()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.callers.lock().callers.remove(&self.id);
    }
}

fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::UNKNOWN_CALLERS_MAX;

    fn address(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn is_lost(place: &mut Place) -> bool {
        place.given_up.try_recv() == Err(oneshot::error::TryRecvError::Closed)
    }

    fn lost(places: &mut [Place]) -> Vec<usize> {
        (0..places.len()).filter(|at| is_lost(&mut places[*at])).collect()
    }

    #[test]
    fn one_address_has_so_many_places_and_its_oldest_silent_caller_gives_way() {
        let callers = Arc::new(Callers::at_most(UNKNOWN_CALLERS_MAX));
        let mut places: Vec<_> =
            (0..UNKNOWN_CALLERS_PER_ADDRESS_MAX).map(|_| callers.admit(address(1)).unwrap()).collect();
        assert!(places[0].heard(), "a connection that has sent bytes stays");
        assert!(lost(&mut places).is_empty());
        let other = callers.admit(address(2)).unwrap();
        let newest = callers.admit(address(1)).unwrap();
        assert_eq!(lost(&mut places), [1]);
        assert!(!places[1].heard());
        assert!(places[0].heard() && other.heard() && newest.heard());
    }

    #[test]
    fn where_all_places_are_taken_the_largest_crowd_gives_way() {
        let callers = Arc::new(Callers::at_most(UNKNOWN_CALLERS_MAX));
        let mut lone = callers.admit(address(200)).unwrap();
        let crowd = |n: usize| address(u8::try_from(n % 100).unwrap());
        let mut places: Vec<_> = (1..UNKNOWN_CALLERS_MAX).map(|n| callers.admit(crowd(n)).unwrap()).collect();
        let newcomer = callers.admit(address(201)).unwrap();
        assert_eq!(lost(&mut places).len(), 1);
        assert!(!is_lost(&mut lone) && newcomer.heard());
    }

    #[test]
    fn without_a_silent_connection_a_new_one_is_rejected_until_one_leaves() {
        let callers = Arc::new(Callers::at_most(UNKNOWN_CALLERS_MAX));
        let mut places: Vec<_> =
            (0..UNKNOWN_CALLERS_PER_ADDRESS_MAX).map(|_| callers.admit(address(1)).unwrap()).collect();
        assert!(places.iter().all(Place::heard));
        assert!(callers.admit(address(1)).is_none());
        places.pop();
        assert!(callers.admit(address(1)).is_some());
    }

    #[test]
    fn one_customer_of_ipv6_is_one_address() {
        let parsed = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(network(parsed("2001:db8:1:2:3::4")), network(parsed("2001:db8:1:2::9")));
        assert_ne!(network(parsed("2001:db8:1:2::9")), network(parsed("2001:db8:1:3::9")));
        assert_eq!(network(parsed("::ffff:192.0.2.1")), address(1));
    }
}
