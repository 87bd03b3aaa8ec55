//! Rate limit per peer and per user, with a burst of one second. Cancels and the kill switch have an allowance of their
//! own.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::Request;
use domain::Text;
use net::peer_network;

use crate::middleware::caller::{ConnectionInfo, HttpCaller};
use crate::problem::Problem;

const SECOND: Duration = Duration::from_secs(1);
/// Peers and users of the last second; a further one is rejected and may retry.
const RATE_KEYS_MAX: usize = 16_384;

pub(crate) struct HttpRateLimiter {
    per_second: u32,
    /// For each sender, when its requests would have been sent at an even rate.
    next_slot: Mutex<HashMap<RateKey, Instant>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct RateKey {
    subject: RateSubject,
    is_urgent: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum RateSubject {
    Peer(IpAddr),
    User(Text),
}

impl HttpRateLimiter {
    pub(crate) fn new(per_second: u32) -> Arc<Self> {
        Arc::new(Self { per_second: per_second.max(1), next_slot: Mutex::default() })
    }

    /// Before any other check.
    pub(crate) fn check_peer(&self, request: &Request, now: Instant, is_urgent: bool) -> Result<(), Problem> {
        let peer = request
            .extensions()
            .get::<ConnectionInfo>()
            .map(|reached| RateSubject::Peer(peer_network(reached.peer.ip())));
        peer.map_or(Ok(()), |who| self.check(RateKey { subject: who, is_urgent }, now))
    }

    /// After authentication, which may have taken a while.
    pub(crate) fn check_user(&self, request: &Request, is_urgent: bool) -> Result<(), Problem> {
        let user = request.extensions().get::<HttpCaller>().and_then(|caller| caller.identity.name.clone());
        user.map_or(Ok(()), |user| self.check(RateKey { subject: RateSubject::User(user), is_urgent }, Instant::now()))
    }

    fn check(&self, sender: RateKey, now: Instant) -> Result<(), Problem> {
        if self.try_accept(sender, now) {
            return Ok(());
        }
        let detail = format!("more than {} requests in a second; this one had no effect", self.per_second);
        Err(Problem::new("too-many-requests", detail))
    }

    fn try_accept(&self, sender: RateKey, now: Instant) -> bool {
        let mut even = self.next_slot.lock().unwrap_or_else(PoisonError::into_inner);
        if even.len() >= RATE_KEYS_MAX && !even.contains_key(&sender) {
            even.retain(|_, until| *until > now);
        }
        let has_room = even.len() < RATE_KEYS_MAX || even.contains_key(&sender);
        let begin = even.get(&sender).copied().filter(|until| *until > now).unwrap_or(now);
        let until = begin + SECOND / self.per_second;
        let admitted = has_room && until <= now + SECOND;
        if admitted {
            even.insert(sender, until);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(who: RateSubject) -> RateKey {
        RateKey { subject: who, is_urgent: false }
    }

    fn admitted(pace: &HttpRateLimiter, name: &str, now: Instant) -> usize {
        let peer = || sender(RateSubject::Peer(peer_network(name.parse().unwrap())));
        (0..100).filter(|_| pace.try_accept(peer(), now)).count()
    }

    #[test]
    fn a_second_s_worth_may_come_at_once_and_then_at_an_even_pace() {
        let (pace, start) = (HttpRateLimiter::new(10), Instant::now());
        let after = |millis| start + Duration::from_millis(millis);
        let counts = [0, 99, 100, 350, 10_000].map(|millis| admitted(&pace, "192.0.2.1", after(millis)));
        assert_eq!(counts, [10, 0, 1, 2, 10]);
    }

    #[test]
    fn a_rate_limited_client_may_still_cancel() {
        let (pace, now) = (HttpRateLimiter::new(10), Instant::now());
        assert_eq!([admitted(&pace, "192.0.2.1", now), admitted(&pace, "192.0.2.1", now)], [10, 0]);
        let cancel = || RateKey { subject: RateSubject::Peer([192, 0, 2, 1].into()), is_urgent: true };
        assert_eq!((0..100).filter(|_| pace.try_accept(cancel(), now)).count(), 10);
    }

    #[test]
    fn every_peer_has_its_own_pace_and_a_household_is_one() {
        let (pace, now) = (HttpRateLimiter::new(10), Instant::now());
        let peers = ["192.0.2.1", "192.0.2.2", "::ffff:192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8:0:1::1"];
        assert_eq!(peers.map(|peer| admitted(&pace, peer, now)), [10, 10, 0, 10, 0, 10]);
    }

    #[test]
    fn a_user_has_one_rate_limit_over_all_addresses() {
        let (pace, now) = (HttpRateLimiter::new(10), Instant::now());
        let requests =
            |name: &str| (0..100).filter(|_| pace.try_accept(sender(RateSubject::User(name.into())), now)).count();
        assert_eq!(["ada", "ada", "bob"].map(requests), [10, 0, 10]);
    }

    #[test]
    fn the_senders_that_are_remembered_are_bounded() {
        let (pace, now) = (HttpRateLimiter::new(1), Instant::now());
        let nth = |number: usize| sender(RateSubject::Peer(u32::try_from(number).unwrap().to_be_bytes().into()));
        let admitted = (0..=RATE_KEYS_MAX).filter(|number| pace.try_accept(nth(*number), now)).count();
        assert_eq!(admitted, RATE_KEYS_MAX);
        assert!(pace.try_accept(nth(RATE_KEYS_MAX), now + SECOND), "the others have been quiet since");
        assert_eq!(pace.next_slot.lock().unwrap().len(), 1);
    }
}
