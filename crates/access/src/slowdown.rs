//! Login throttling: failed attempts delay further attempts of the same peer, and of an account only when very many
//! fail. Every attempt is processed in the end, so no account is ever locked.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;

/// Failures without a delay, for typing errors.
const FREE_FAILURES: u32 = 3;
/// Failures of one account, from all peers together, up to which a peer without failures is not delayed.
const LOGIN_FAILURES_ELSEWHERE_MAX: u32 = 100;
const LOGIN_DELAY_FIRST: Duration = Duration::from_millis(500);
/// The longest delay of an attempt.
const LOGIN_DELAY_MAX: Duration = Duration::from_secs(15);
/// Attempts of one peer that may be delayed or processed; one more is refused at once.
const LOGIN_ATTEMPTS_PER_PEER_MAX: u32 = 8;
/// Failures are dropped after this long without an attempt.
const FORGIVEN_AFTER_SECONDS: i64 = 15 * 60;
/// Accounts and peers that are kept; beyond that the one that was idle the longest is dropped.
const TRAILS_MAX: usize = 2_048;
/// The part of an IPv6 address that one customer usually has alone.
const IPV6_NETWORK: u128 = u128::MAX << 64;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Whom {
    /// From all peers.
    Account(String),
    /// An account, tried from one peer.
    Login(String, IpAddr),
    Peer(IpAddr),
}

#[derive(Debug, Default)]
struct Trail {
    failures: u32,
    /// In progress: counted as failures until they succeed, else many parallel attempts would pass at once.
    open: u32,
    last: Timestamp,
}

#[derive(Debug, Default)]
pub(crate) struct Slowdown(Mutex<BTreeMap<Whom, Trail>>);

/// An attempt in progress.
#[derive(Debug)]
pub(crate) struct Attempt<'a> {
    slowdown: &'a Slowdown,
    account: Whom,
    login: Whom,
    peer: Whom,
    /// The delay before it is processed.
    pub(crate) delay: Duration,
}

/// Too many attempts of one peer at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Crowd;

impl Slowdown {
    pub(crate) fn begin(&self, account: &str, peer: IpAddr, at: Timestamp) -> Result<Attempt<'_>, Crowd> {
        let (peer, name) = (network(peer), account.to_owned());
        let (login, account, peer) = (Whom::Login(name.clone(), peer), Whom::Account(name), Whom::Peer(peer));
        let mut trails = self.lock();
        make_room(&mut trails, at);
        if trails.get(&peer).is_some_and(|trail| trail.open >= LOGIN_ATTEMPTS_PER_PEER_MAX) {
            return Err(Crowd);
        }
        let [everywhere, login_here, here] =
            [&account, &login, &peer].map(|whom| open(trails.entry(whom.clone()).or_default(), at));
        let guessed_elsewhere = delay_after(everywhere, LOGIN_FAILURES_ELSEWHERE_MAX);
        let delay = delay_after(login_here.max(here), FREE_FAILURES).max(guessed_elsewhere);
        Ok(Attempt { slowdown: self, account, login, peer, delay })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Whom, Trail>> {
        // The counts are consistent between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Attempt<'_> {
    pub(crate) fn failed(self, at: Timestamp) {
        let mut trails = self.slowdown.lock();
        for whom in self.trails() {
            if let Some(trail) = trails.get_mut(whom) {
                trail.failures = trail.failures.saturating_add(1);
                trail.last = at;
            }
        }
    }

    /// Clears the failures of the account; those of the peer may be guesses at other accounts.
    pub(crate) fn succeeded(self) {
        let mut trails = self.slowdown.lock();
        for whom in [&self.account, &self.login] {
            if let Some(trail) = trails.get_mut(whom) {
                trail.failures = 0;
            }
        }
    }

    fn trails(&self) -> [&Whom; 3] {
        [&self.account, &self.login, &self.peer]
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut trails = self.slowdown.lock();
        for whom in self.trails() {
            if let Some(trail) = trails.get_mut(whom) {
                trail.open = trail.open.saturating_sub(1);
            }
        }
    }
}

/// How many failures were counted before this attempt.
fn open(trail: &mut Trail, at: Timestamp) -> u32 {
    let before = trail.failures.saturating_add(trail.open);
    trail.open = trail.open.saturating_add(1);
    trail.last = at;
    before
}

/// Drops expired records, and then, where there is still no room, those that were idle the longest.
fn make_room(trails: &mut BTreeMap<Whom, Trail>, at: Timestamp) {
    trails.retain(|_, trail| trail.open > 0 || at.seconds_since(trail.last) < FORGIVEN_AFTER_SECONDS);
    while trails.len() + 3 > TRAILS_MAX {
        let quiet = trails.iter().filter(|(_, trail)| trail.open == 0);
        let Some(quietest) = quiet.min_by_key(|(_, trail)| trail.last).map(|(whom, _)| whom.clone()) else { return };
        trails.remove(&quietest);
    }
}

fn delay_after(failures: u32, free: u32) -> Duration {
    let Some(doublings) = failures.checked_sub(free) else { return Duration::ZERO };
    let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
    LOGIN_DELAY_FIRST.saturating_mul(factor).min(LOGIN_DELAY_MAX)
}

fn network(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 1));
    const AWAY: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, 2));

    fn at(seconds: i64) -> Timestamp {
        Timestamp(0).plus_seconds(seconds)
    }

    /// How long the next attempt would be held, in milliseconds.
    fn held(slowdown: &Slowdown, account: &str, peer: IpAddr, now: Timestamp) -> u128 {
        slowdown.begin(account, peer, now).unwrap().delay.as_millis()
    }

    fn fail(slowdown: &Slowdown, account: &str, peer: IpAddr, now: Timestamp) -> u128 {
        let attempt = slowdown.begin(account, peer, now).unwrap();
        let delay = attempt.delay.as_millis();
        attempt.failed(now);
        delay
    }

    fn fail_often(times: usize, slowdown: &Slowdown, account: &str, peer: IpAddr, now: Timestamp) {
        for _ in 0..times {
            fail(slowdown, account, peer, now);
        }
    }

    #[test]
    fn three_failures_are_free_and_then_the_wait_doubles_up_to_its_maximum() {
        let slowdown = Slowdown::default();
        let waits: Vec<_> = (0..12).map(|_| fail(&slowdown, "anna", HOME, at(0))).collect();
        let maximum = LOGIN_DELAY_MAX.as_millis();
        let expected = [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, maximum, maximum, maximum, maximum];
        assert_eq!(waits, expected);
    }

    #[test]
    fn a_peer_that_guesses_is_delayed_at_every_account_and_delays_no_other_peer() {
        let slowdown = Slowdown::default();
        fail_often(5, &slowdown, "anna", HOME, at(0));
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 0, "the owner is somewhere else");
        assert_eq!(held(&slowdown, "bert", HOME, at(0)), 2_000);
        assert_eq!(held(&slowdown, "bert", AWAY, at(0)), 0, "no other peer is delayed");
    }

    #[test]
    fn an_account_at_which_very_many_peers_guess_is_guarded_against_newcomers() {
        let slowdown = Slowdown::default();
        for number in 0..102_u8 {
            fail(&slowdown, "anna", [10, 1, 1, number].into(), at(0));
        }
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 2_000);
        assert_eq!(held(&slowdown, "bert", AWAY, at(0)), 0);
    }

    #[test]
    fn a_right_password_clears_the_account_but_not_the_peer() {
        let slowdown = Slowdown::default();
        fail_often(5, &slowdown, "anna", HOME, at(0));
        slowdown.begin("anna", AWAY, at(0)).unwrap().succeeded();
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 0);
        assert_eq!(held(&slowdown, "anna", HOME, at(0)), 2_000);
    }

    #[test]
    fn a_quarter_of_an_hour_without_an_attempt_forgives_all() {
        let slowdown = Slowdown::default();
        fail_often(9, &slowdown, "anna", HOME, at(0));
        assert_eq!(held(&slowdown, "anna", HOME, at(899)), 15_000);
        assert_eq!(held(&slowdown, "anna", HOME, at(899 + 900)), 0);
    }

    #[test]
    fn a_crowd_waits_as_if_each_had_failed_and_is_refused_when_it_grows() {
        let slowdown = Slowdown::default();
        let crowd: Vec<_> = (0..8).map(|_| slowdown.begin("anna", HOME, at(0)).unwrap()).collect();
        let waits: Vec<_> = crowd.iter().map(|attempt| attempt.delay.as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(slowdown.begin("bert", HOME, at(0)).unwrap_err(), Crowd);
        assert!(slowdown.begin("bert", AWAY, at(0)).is_ok());
        drop(crowd);
        assert_eq!(
            held(&slowdown, "anna", HOME, at(0)),
            0,
            "an attempt that was dropped without an answer is no failure"
        );
    }

    #[test]
    fn one_customer_of_ipv6_is_one_peer() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        assert_eq!(network(address("2001:db8:1:2:3::4")), network(address("2001:db8:1:2::9")));
        assert_ne!(network(address("2001:db8:1:2::9")), network(address("2001:db8:1:3::9")));
        assert_eq!(network(address("::ffff:10.0.0.1")), HOME);
    }

    #[test]
    fn beyond_the_limit_the_longest_idle_record_is_dropped() {
        let slowdown = Slowdown::default();
        fail_often(4, &slowdown, "first", HOME, at(0));
        for number in 0..TRAILS_MAX {
            fail(&slowdown, &format!("user{number}"), AWAY, at(1));
        }
        assert_eq!(held(&slowdown, "first", HOME, at(1)), 0);
        assert!(slowdown.lock().len() <= TRAILS_MAX);
    }
}
