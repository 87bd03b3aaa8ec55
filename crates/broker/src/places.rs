//! Connection limits: in total, per address, and for connections that have not logged in, of which the oldest is
//! evicted.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::ending::End;
use crate::limits::Limits;
use crate::mailbox::Mailbox;

pub(crate) struct Places {
    all: Arc<Semaphore>,
    connections: usize,
    per_address: usize,
    per_local_address: usize,
    callers_max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    by_address: BTreeMap<IpAddr, usize>,
    /// Connections that have not logged in, the oldest first, with their addresses.
    callers: BTreeMap<u64, (Option<IpAddr>, Caller)>,
    last: u64,
}

/// How a connection that has not logged in is evicted.
enum Caller {
    /// Just accepted.
    New,
    /// Its protocol is not known yet.
    Task(AbortHandle),
    /// It can receive an ERROR.
    Connection(Arc<Mailbox>),
}

/// Which limit is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    Connections,
    Address,
}

/// The permit of a connection; released when it is dropped.
pub(crate) struct Taken {
    places: Arc<Places>,
    _place: OwnedSemaphorePermit,
    address: Option<IpAddr>,
    caller: Option<u64>,
}

impl Places {
    pub(crate) fn new(limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            all: Arc::new(Semaphore::new(limits.connections)),
            connections: limits.connections,
            per_address: limits.connections_per_address,
            per_local_address: limits.connections_per_local_address,
            callers_max: limits.callers,
            state: Mutex::default(),
        })
    }

    /// For a connection from that address. Where too many have not logged in, the oldest of them is evicted.
    pub(crate) fn take(self: &Arc<Self>, from: Option<IpAddr>) -> Result<Taken, Full> {
        let place = self.all.clone().try_acquire_owned().map_err(|_| Full::Connections)?;
        let address = from.map(network);
        let mut state = self.open();
        if let Some(address) = address {
            let taken = state.by_address.entry(address).or_default();
            if *taken >= self.limit_of(address) {
                return Err(Full::Address);
            }
            *taken += 1;
        }
        let oldest = if state.callers.len() >= self.callers_max { state.take_oldest() } else { None };
        state.last += 1;
        let caller = state.last;
        state.callers.insert(caller, (address, Caller::New));
        drop(state);
        oldest.into_iter().for_each(Caller::give_way);
        Ok(Taken { places: self.clone(), _place: place, address, caller: Some(caller) })
    }

    fn limit_of(&self, address: IpAddr) -> usize {
        if address.is_loopback() { self.per_local_address } else { self.per_address }
    }

    /// Waits until all connections have ended, with a time limit.
    pub(crate) async fn wait_until_empty(&self, grace: Duration) {
        let all = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let _ = timeout(grace, self.all.acquire_many(all)).await;
    }

    fn open(&self) -> MutexGuard<'_, State> {
        // The counts are consistent after every statement under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The oldest of the address with the most of them, so that one address cannot evict the others.
    fn take_oldest(&mut self) -> Option<Caller> {
        let mut crowds: BTreeMap<Option<IpAddr>, usize> = BTreeMap::new();
        self.callers.values().for_each(|(address, _)| *crowds.entry(*address).or_default() += 1);
        let largest = crowds.into_iter().max_by_key(|(_, callers)| *callers)?.0;
        let oldest = self.callers.iter().find(|(_, (address, _))| *address == largest).map(|(caller, _)| *caller)?;
        self.callers.remove(&oldest).map(|(_, caller)| caller)
    }
}

impl Caller {
    fn give_way(self) {
        match self {
            Self::New => {}
            Self::Task(task) => task.abort(),
            Self::Connection(mailbox) => mailbox.end(End::GaveWay),
        }
    }
}

impl Taken {
    /// The id of a connection that has not logged in.
    pub(crate) fn caller(&self) -> Option<u64> {
        self.caller
    }

    /// The connection can receive an ERROR when it is evicted.
    pub(crate) fn reached_by(&self, mailbox: &Arc<Mailbox>) {
        self.places.reach(self.caller, Caller::Connection(mailbox.clone()));
    }

    /// The client has logged in.
    pub(crate) fn keep(&mut self) {
        let caller = self.caller.take();
        caller.into_iter().for_each(|caller| drop(self.places.open().callers.remove(&caller)));
    }
}

impl Places {
    /// The task of a connection whose protocol is not known yet.
    pub(crate) fn served_by(&self, caller: Option<u64>, task: AbortHandle) {
        self.reach(caller, Caller::Task(task));
    }

    /// A connection that was evicted before it could be reached is ended now.
    fn reach(&self, caller: Option<u64>, how: Caller) {
        let Some(caller) = caller else { return };
        let mut state = self.open();
        match state.callers.get_mut(&caller) {
            // The connection can send an ERROR, which the task cannot.
            Some((_, Caller::Connection(_))) => {}
            Some((_, known)) => *known = how,
            None => {
                drop(state);
                if matches!(how, Caller::Connection(_)) {
                    how.give_way();
                }
            }
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.keep();
        let Some(address) = self.address else { return };
        let mut state = self.places.open();
        if let Some(taken) = state.by_address.get_mut(&address) {
            *taken -= 1;
            if *taken == 0 {
                state.by_address.remove(&address);
            }
        }
    }
}

/// All addresses of one IPv6 network (/64) are one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) if !address.is_loopback() => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use stomp::lanes::Lanes;

    use super::*;

    fn places() -> Arc<Places> {
        Places::new(&Limits {
            connections: 6,
            connections_per_address: 2,
            connections_per_local_address: 3,
            callers: 2,
            ..Limits::default()
        })
    }

    fn from(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn no_address_has_all_places_not_even_this_machine() {
        let places = places();
        let far = ["2001:db8::1", "2001:db8::2"].map(|address| places.take(from(address)).unwrap());
        assert_eq!(places.take(from("2001:db8::3")).err(), Some(Full::Address));
        let near = ["127.0.0.1", "::ffff:127.0.0.1", "127.0.0.1"].map(|address| places.take(from(address)).unwrap());
        assert_eq!(places.take(from("127.0.0.1")).err(), Some(Full::Address));
        let other = places.take(from("192.0.2.1")).unwrap();
        assert_eq!(places.take(from("192.0.2.2")).err(), Some(Full::Connections));
        drop((far, near, other));
        assert!(places.take(from("127.0.0.1")).is_ok());
        assert!(places.open().by_address.is_empty());
    }

    #[test]
    fn of_unauthenticated_connections_the_oldest_is_evicted() {
        let places = places();
        let mailboxes: Vec<_> = (0..4).map(|_| Mailbox::new(&Lanes::free(), 1)).collect();
        let mut taken = Vec::new();
        for mailbox in &mailboxes {
            let mut place = places.take(None).unwrap();
            place.reached_by(mailbox);
            // The second one logs in.
            if taken.len() == 1 {
                place.keep();
            }
            taken.push(place);
        }
        let gave_way: Vec<_> = mailboxes.iter().map(|mailbox| mailbox.ended() == Some(End::GaveWay)).collect();
        assert_eq!(gave_way, [true, false, false, false]);
        let _fifth = places.take(None).unwrap();
        assert_eq!(mailboxes[2].ended(), Some(End::GaveWay));
        drop(taken);
        assert_eq!(places.open().callers.len(), 1);
    }

    #[test]
    fn one_address_that_calls_and_calls_does_not_push_others_out() {
        let places = Places::new(&Limits { callers: 3, ..Limits::default() });
        let mailboxes: Vec<_> = (0..4).map(|_| Mailbox::new(&Lanes::free(), 1)).collect();
        let callers = ["192.0.2.7", "192.0.2.1", "192.0.2.1", "192.0.2.1"];
        let taken: Vec<_> = callers
            .iter()
            .zip(&mailboxes)
            .map(|(address, mailbox)| {
                let place = places.take(from(address)).unwrap();
                place.reached_by(mailbox);
                place
            })
            .collect();
        let gave_way: Vec<_> = mailboxes.iter().map(|mailbox| mailbox.ended() == Some(End::GaveWay)).collect();
        assert_eq!(gave_way, [false, true, false, false]);
        drop(taken);
    }
}
