//! Login throttle: a login attempt is delayed before it is checked, the longer the more attempts have failed from this
//! address, for this account or any other. Failures from other addresses do not slow the owner of an account; only where
//! very many fail for one account, from any address, every attempt waits. Every attempt is checked in the end: no lock-out.
//!
//! An account that has come in from a peer before is judged by its own failures there and by nothing else: many share an
//! address behind a proxy, and what a neighbour guesses must not make the others late. Nor does an answer tell which
//! accounts those are: a refusal comes as late as it would for any other.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Timestamp;
use net::peer_network;

/// Failures without a delay, for typing errors.
const FREE_FAILURES: u32 = 3;
/// Failures of one account, from all peers together, up to which a peer without failures is not delayed.
const LOGIN_FAILURES_ELSEWHERE_MAX: u32 = 100;
const LOGIN_DELAY_FIRST: Duration = Duration::from_millis(500);
/// The longest delay of an attempt.
const LOGIN_DELAY_MAX: Duration = Duration::from_secs(15);
/// Attempts for one account from one peer that may be delayed or processed; one more is refused at once.
const LOGIN_ATTEMPTS_PER_ACCOUNT_MAX: u32 = 8;
/// The same for all accounts together that have not come in from that peer before.
const LOGIN_ATTEMPTS_PER_PEER_MAX: u32 = 32;
/// After so long without a failure all is forgiven.
const FAILURES_RESET_SECONDS: i64 = 15 * 60;
/// So long after its last success an account is known at a peer; then it is judged by what others do there again.
const LOGIN_KNOWN_SECONDS: i64 = 30 * 24 * 60 * 60;
/// Accounts and peers that are kept in mind; of more the one that was quiet the longest is forgotten.
const THROTTLE_KEYS_MAX: usize = 2_048;
/// Known logins among them: the rest is for failures, which would not be counted otherwise.
const KNOWN_LOGINS_MAX: usize = THROTTLE_KEYS_MAX / 2;

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum ThrottleKey {
    /// From all peers.
    Account(String),
    /// An account, tried from one peer.
    Login(String, IpAddr),
    Peer(IpAddr),
}

#[derive(Debug, Default)]
struct FailureRecord {
    failures: u32,
    /// In progress: counted as failures until they succeed, else many parallel attempts would pass at once.
    open: u32,
    /// Of the newest failure.
    failed_at: Timestamp,
    /// Of the newest success, where this is an account at a peer.
    succeeded_at: Option<Timestamp>,
}

impl FailureRecord {
    /// How many stand before the next attempt.
    fn count(&self, at: Timestamp) -> u32 {
        let failures = if self.is_forgiven(at) { 0 } else { self.failures };
        failures.saturating_add(self.open)
    }

    fn is_forgiven(&self, at: Timestamp) -> bool {
        self.failures == 0 || at.seconds_since(self.failed_at) >= FAILURES_RESET_SECONDS
    }

    fn is_known(&self, at: Timestamp) -> bool {
        self.succeeded_at.is_some_and(|success| at.seconds_since(success) < LOGIN_KNOWN_SECONDS)
    }

    /// What is worth the least comes first: nobody who only guesses drives out one who has come in.
    fn worth(&self) -> (Option<Timestamp>, Timestamp) {
        (self.succeeded_at, self.failed_at)
    }
}

#[derive(Debug, Default)]
pub(crate) struct LoginThrottle(Mutex<BTreeMap<ThrottleKey, FailureRecord>>);

/// An attempt in progress.
#[derive(Debug)]
pub(crate) struct LoginAttempt<'a> {
    slowdown: &'a LoginThrottle,
    account: ThrottleKey,
    login: ThrottleKey,
    peer: ThrottleKey,
    /// The delay before it is processed.
    pub(crate) delay: Duration,
    /// The delay of a refusal, after it was processed.
    pub(crate) refusal_delay: Duration,
}

/// Too many attempts at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyAttempts;

impl LoginThrottle {
    pub(crate) fn start(
        &self,
        account: &str,
        peer: IpAddr,
        at: Timestamp,
    ) -> Result<LoginAttempt<'_>, TooManyAttempts> {
        let (peer, name) = (peer_network(peer), account.to_owned());
        let (login, account, peer) =
            (ThrottleKey::Login(name.clone(), peer), ThrottleKey::Account(name), ThrottleKey::Peer(peer));
        let mut trails = self.lock();
        evict(&mut trails, at);
        let is_known = trails.get(&login).is_some_and(|trail| trail.is_known(at));
        let is_full = |whom, most| trails.get(whom).is_some_and(|trail: &FailureRecord| trail.open >= most);
        if is_full(&login, LOGIN_ATTEMPTS_PER_ACCOUNT_MAX) || !is_known && is_full(&peer, LOGIN_ATTEMPTS_PER_PEER_MAX) {
            return Err(TooManyAttempts);
        }
        let [everywhere, login_here, here] =
            [&account, &login, &peer].map(|whom| open(trails.entry(whom.clone()).or_default(), at));
        let own = delay_after(login_here, FREE_FAILURES);
        let others = delay_after(here, FREE_FAILURES).max(delay_after(everywhere, LOGIN_FAILURES_ELSEWHERE_MAX));
        let delay = if is_known { own } else { own.max(others) };
        let refusal_delay = own.max(others).saturating_sub(delay);
        Ok(LoginAttempt { slowdown: self, account, login, peer, delay, refusal_delay })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<ThrottleKey, FailureRecord>> {
        // The counts are consistent between any two statements that hold the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LoginAttempt<'_> {
    /// It counts at once, also where nobody waits for the refusal.
    pub(crate) fn failed(&self, at: Timestamp) {
        let mut trails = self.slowdown.lock();
        for whom in self.keys() {
            if let Some(trail) = trails.get_mut(whom) {
                trail.failures = if trail.is_forgiven(at) { 1 } else { trail.failures.saturating_add(1) };
                trail.failed_at = at;
            }
        }
    }

    /// The account's failures were the owner's, or no longer matter; the peer's may be somebody else's guesses.
    pub(crate) fn succeeded(self, at: Timestamp) {
        let mut trails = self.slowdown.lock();
        if let Some(trail) = trails.get_mut(&self.login) {
            trail.succeeded_at = Some(at);
        }
        for whom in [&self.account, &self.login] {
            if let Some(trail) = trails.get_mut(whom) {
                trail.failures = 0;
            }
        }
    }

    fn keys(&self) -> [&ThrottleKey; 3] {
        [&self.account, &self.login, &self.peer]
    }
}

impl Drop for LoginAttempt<'_> {
    fn drop(&mut self) {
        let mut trails = self.slowdown.lock();
        for whom in self.keys() {
            if let Some(trail) = trails.get_mut(whom) {
                trail.open = trail.open.saturating_sub(1);
            }
        }
    }
}

/// How many failures were counted before this attempt.
fn open(trail: &mut FailureRecord, at: Timestamp) -> u32 {
    let before = trail.count(at);
    trail.open = trail.open.saturating_add(1);
    before
}

/// What is forgiven goes, and then, where there is still no room for an attempt, what was quiet the longest; an account that
/// is known at a peer goes last.
fn evict(trails: &mut BTreeMap<ThrottleKey, FailureRecord>, at: Timestamp) {
    trails.retain(|_, trail| trail.open > 0 || !trail.is_forgiven(at) || trail.is_known(at));
    let known = trails.values().filter(|trail| trail.succeeded_at.is_some()).count();
    for _ in KNOWN_LOGINS_MAX..known {
        remove_quietest(trails, |trail| trail.succeeded_at.is_some());
    }
    while trails.len() + 3 > THROTTLE_KEYS_MAX && remove_quietest(trails, |_| true) {}
}

/// False where all of them are in progress.
fn remove_quietest(
    trails: &mut BTreeMap<ThrottleKey, FailureRecord>,
    is_candidate: impl Fn(&FailureRecord) -> bool,
) -> bool {
    let quiet = trails.iter().filter(|(_, trail)| trail.open == 0 && is_candidate(trail));
    let quietest = quiet.min_by_key(|(_, trail)| trail.worth()).map(|(whom, _)| whom.clone());
    quietest.is_some_and(|whom| trails.remove(&whom).is_some())
}

fn delay_after(failures: u32, free: u32) -> Duration {
    let Some(doublings) = failures.checked_sub(free) else { return Duration::ZERO };
    let factor = 2_u32.checked_pow(doublings).unwrap_or(u32::MAX);
    LOGIN_DELAY_FIRST.saturating_mul(factor).min(LOGIN_DELAY_MAX)
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
    fn held(slowdown: &LoginThrottle, account: &str, peer: IpAddr, now: Timestamp) -> u128 {
        slowdown.start(account, peer, now).unwrap().delay.as_millis()
    }

    fn fail(slowdown: &LoginThrottle, account: &str, peer: IpAddr, now: Timestamp) -> u128 {
        let attempt = slowdown.start(account, peer, now).unwrap();
        let delay = attempt.delay.as_millis();
        attempt.failed(now);
        delay
    }

    fn fail_often(times: usize, slowdown: &LoginThrottle, account: &str, peer: IpAddr, now: Timestamp) {
        for _ in 0..times {
            fail(slowdown, account, peer, now);
        }
    }

    #[test]
    fn many_known_logins_leave_room_for_failures() {
        let throttle = LoginThrottle::default();
        for number in 0..u32::try_from(THROTTLE_KEYS_MAX + 100).unwrap() {
            let peer = IpAddr::V4(std::net::Ipv4Addr::from_bits(0x0b00_0000 + number));
            throttle.start("anna", peer, Timestamp(0)).unwrap().succeeded(Timestamp(0));
        }
        for _ in 0..10 {
            throttle.start("anna", HOME, Timestamp(0)).unwrap().failed(Timestamp(0));
        }
        assert_eq!(throttle.start("anna", HOME, Timestamp(0)).unwrap().delay, LOGIN_DELAY_MAX);
    }

    #[test]
    fn three_failures_are_free_and_then_the_wait_doubles_up_to_its_maximum() {
        let slowdown = LoginThrottle::default();
        let waits: Vec<_> = (0..12).map(|_| fail(&slowdown, "anna", HOME, at(0))).collect();
        let maximum = LOGIN_DELAY_MAX.as_millis();
        let expected = [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000, maximum, maximum, maximum, maximum];
        assert_eq!(waits, expected);
    }

    #[test]
    fn a_peer_that_guesses_is_delayed_at_every_account_and_delays_no_other_peer() {
        let slowdown = LoginThrottle::default();
        fail_often(5, &slowdown, "anna", HOME, at(0));
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 0, "the owner is somewhere else");
        assert_eq!(held(&slowdown, "bert", HOME, at(0)), 2_000);
        assert_eq!(held(&slowdown, "bert", AWAY, at(0)), 0, "no other peer is delayed");
    }

    #[test]
    fn an_account_at_which_very_many_peers_guess_is_guarded_against_newcomers() {
        let slowdown = LoginThrottle::default();
        for number in 0..102_u8 {
            fail(&slowdown, "anna", [10, 1, 1, number].into(), at(0));
        }
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 2_000);
        assert_eq!(held(&slowdown, "bert", AWAY, at(0)), 0);
    }

    #[test]
    fn a_right_password_clears_the_account_but_not_the_peer() {
        let slowdown = LoginThrottle::default();
        fail_often(5, &slowdown, "anna", HOME, at(0));
        slowdown.start("anna", AWAY, at(0)).unwrap().succeeded(at(0));
        assert_eq!(held(&slowdown, "anna", AWAY, at(0)), 0);
        assert_eq!(held(&slowdown, "anna", HOME, at(0)), 2_000);
    }

    #[test]
    fn a_quarter_of_an_hour_without_an_attempt_forgives_all() {
        let slowdown = LoginThrottle::default();
        fail_often(9, &slowdown, "anna", HOME, at(0));
        assert_eq!(held(&slowdown, "anna", HOME, at(899)), 15_000);
        assert_eq!(held(&slowdown, "anna", HOME, at(900)), 0, "one who only tries does not begin it anew");
    }

    #[test]
    fn a_neighbour_who_guesses_does_not_slow_one_who_has_come_in_before() {
        let slowdown = LoginThrottle::default();
        slowdown.start("anna", HOME, at(0)).unwrap().succeeded(at(0));
        fail_often(9, &slowdown, "bert", HOME, at(1));
        fail_often(200, &slowdown, "anna", AWAY, at(1));
        assert_eq!(held(&slowdown, "anna", HOME, at(1)), 0);
        assert_eq!(held(&slowdown, "carl", HOME, at(1)), 15_000, "who has not come in before waits");
        let crowd: Vec<_> = (0..8).map(|_| slowdown.start("bert", HOME, at(2)).unwrap()).collect();
        assert_eq!(held(&slowdown, "anna", HOME, at(2)), 0, "nor does he shut her out");
        assert_eq!(held(&slowdown, "carl", HOME, at(2)), 15_000, "nor one who has not come in before");
        assert_eq!(slowdown.start("bert", HOME, at(2)).unwrap_err(), TooManyAttempts);
        drop(crowd);
        fail_often(4, &slowdown, "anna", HOME, at(3));
        assert_eq!(held(&slowdown, "anna", HOME, at(3)), 1_000, "what fails for her here counts");
        assert_eq!(held(&slowdown, "anna", HOME, at(3 + 900)), 0);
        assert_eq!(held(&slowdown, "anna", HOME, at(LOGIN_KNOWN_SECONDS - 1)), 0);
    }

    #[test]
    fn a_refusal_does_not_tell_who_has_come_in_before() {
        let slowdown = LoginThrottle::default();
        slowdown.start("anna", HOME, at(0)).unwrap().succeeded(at(0));
        fail_often(6, &slowdown, "bert", HOME, at(1));
        let refused_after = |account| {
            let attempt = slowdown.start(account, HOME, at(1)).unwrap();
            attempt.delay + attempt.refusal_delay
        };
        assert_eq!([refused_after("anna"), refused_after("carl")], [Duration::from_secs(4); 2]);
        assert_eq!(held(&slowdown, "anna", HOME, at(1)), 0, "her right password is not late");
    }

    #[test]
    fn after_a_month_a_success_is_forgotten() {
        let slowdown = LoginThrottle::default();
        slowdown.start("anna", HOME, at(0)).unwrap().succeeded(at(0));
        fail_often(9, &slowdown, "bert", HOME, at(LOGIN_KNOWN_SECONDS - 1));
        assert_eq!(held(&slowdown, "anna", HOME, at(LOGIN_KNOWN_SECONDS - 1)), 0);
        assert_eq!(held(&slowdown, "anna", HOME, at(LOGIN_KNOWN_SECONDS)), 15_000);
    }

    #[test]
    fn guesses_do_not_drive_out_one_who_has_come_in() {
        let slowdown = LoginThrottle::default();
        slowdown.start("anna", HOME, at(0)).unwrap().succeeded(at(0));
        for number in 0..THROTTLE_KEYS_MAX {
            fail(&slowdown, &format!("user{number}"), HOME, at(1));
        }
        assert_eq!(held(&slowdown, "anna", HOME, at(1)), 0);
    }

    #[test]
    fn a_crowd_waits_as_if_each_had_failed_and_is_refused_when_it_grows() {
        let slowdown = LoginThrottle::default();
        let crowd: Vec<_> = (0..8).map(|_| slowdown.start("anna", HOME, at(0)).unwrap()).collect();
        let waits: Vec<_> = crowd.iter().map(|attempt| attempt.delay.as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 500, 1_000, 2_000, 4_000, 8_000]);
        assert_eq!(slowdown.start("anna", HOME, at(0)).unwrap_err(), TooManyAttempts);
        assert!(slowdown.start("bert", HOME, at(0)).is_ok(), "a neighbour behind the same proxy");
        let names: Vec<_> = (8..LOGIN_ATTEMPTS_PER_PEER_MAX).map(|number| format!("user{number}")).collect();
        let others: Vec<_> = names.iter().map(|name| slowdown.start(name, HOME, at(0)).unwrap()).collect();
        assert_eq!(slowdown.start("bert", HOME, at(0)).unwrap_err(), TooManyAttempts);
        assert!(slowdown.start("bert", AWAY, at(0)).is_ok());
        drop((crowd, others));
        assert_eq!(
            held(&slowdown, "anna", HOME, at(0)),
            0,
            "an attempt that was dropped without an answer is no failure"
        );
    }

    #[test]
    fn beyond_the_limit_the_longest_idle_record_is_dropped() {
        let slowdown = LoginThrottle::default();
        fail_often(4, &slowdown, "first", HOME, at(0));
        for number in 0..THROTTLE_KEYS_MAX {
            fail(&slowdown, &format!("user{number}"), AWAY, at(1));
        }
        assert_eq!(held(&slowdown, "first", HOME, at(1)), 0);
        assert!(slowdown.lock().len() <= THROTTLE_KEYS_MAX);
    }
}
