//! A seeded client that logs in: with right, wrong and old passwords, with tokens, and with sessions that it keeps, ends and tries again.

use std::net::{IpAddr, Ipv4Addr};

use domain::{SeededRng, Timestamp};
use web::PlainResponse;

use super::attempt::{Attempt, AttemptPlan, LoginVerdict, Probe, Shown};
use super::known_users::{Expected, KnownUsers, TOKENS, USERS};

/// Of more the oldest is forgotten.
const SESSIONS_MAX: usize = 6;
/// Less than the half hour after which a session without a request ends.
const IDLE_SECONDS_MAX: i64 = 25 * 60;
/// A name that no user has.
const NOBODY: &str = "nobody";

pub(super) struct UserClient {
    home: IpAddr,
    sessions: Vec<KeptSession>,
    pub(super) waiting: Vec<Attempt>,
}

#[derive(Debug, Clone)]
struct KeptSession {
    user: &'static str,
    cookie: String,
    /// Changes of the user that had taken effect when it began.
    done: u64,
    /// The process that it belongs to.
    process: u64,
    used_at: Timestamp,
    /// It was asked to end, and has perhaps.
    is_ending: bool,
    is_over: bool,
}

/// What clients share.
pub(super) struct ClientContext<'a> {
    pub(super) known: &'a KnownUsers,
    pub(super) process: u64,
    pub(super) at: Timestamp,
    /// An address from which nobody has come.
    pub(super) new_peer: IpAddr,
}

impl UserClient {
    pub(super) fn new(number: u8) -> Self {
        Self { home: IpAddr::V4(Ipv4Addr::new(10, 0, 2, number)), sessions: vec![], waiting: vec![] }
    }

    /// What the client tries at this draw.
    pub(super) fn decide(&mut self, draw: u64, context: &ClientContext<'_>) -> Option<AttemptPlan> {
        let mut rng = SeededRng::new(draw, 12);
        let (user, token) = (pick(&mut rng, &USERS), pick(&mut rng, &TOKENS));
        let probe = *rng.pick(&[Probe::WhoAmI, Probe::Cancel, Probe::ListUsers]).unwrap_or(&Probe::WhoAmI);
        let is_only = rng.one_in(2);
        let known = context.known;
        let by_password = |name, password: &str, probe| {
            let (shown, expected) = (Shown::Password(password.to_owned()), known.with_password(name, password));
            self.plan(probe, name, (shown, expected), is_only.then_some(context.new_peer))
        };
        let by_token = |name, secret: &str| {
            let (shown, expected) = (Shown::Token(secret.to_owned()), known.with_token(name, secret, context.at));
            self.plan(probe, name, (shown, expected), is_only.then_some(context.new_peer))
        };
        match rng.below(16) {
            0..=3 => known.password(user).map(|password| by_password(user, password, Probe::LogIn)),
            4 => known.password(user).map(|password| by_password(user, password, probe)),
            5 => Some(by_password(user, "a password that is wrong", Probe::LogIn)),
            6..=7 => pick_one(&mut rng, known.all_passwords())
                .map(|(name, password)| by_password(*name, password, if is_only { Probe::LogIn } else { probe })),
            8 => Some(by_password(NOBODY, "a password that is wrong", Probe::LogIn)),
            9..=10 => known.secret(token).map(|secret| by_token(token, secret)),
            11 => pick_one(&mut rng, known.all_secrets()).map(|(name, secret)| by_token(*name, secret)),
            12 => self.log_out(&mut rng, context),
            _ => self.by_session(&mut rng, probe, context),
        }
    }

    fn plan(
        &self,
        probe: Probe,
        name: &'static str,
        (shown, expected): (Shown, Expected),
        new_peer: Option<IpAddr>,
    ) -> AttemptPlan {
        let (peer, is_only) = (new_peer.unwrap_or(self.home), new_peer.is_some());
        AttemptPlan { probe, name, shown, peer, is_only, expected, is_last: false }
    }

    /// Also one that is over.
    fn by_session(&self, rng: &mut SeededRng, probe: Probe, context: &ClientContext<'_>) -> Option<AttemptPlan> {
        let session = pick_one(rng, &self.sessions)?;
        let shown = Shown::Cookie(session.cookie.clone());
        Some(self.plan(probe, session.user, (shown, session.expected(context)), None))
    }

    /// Only where no other request uses the session meanwhile.
    fn log_out(&mut self, rng: &mut SeededRng, context: &ClientContext<'_>) -> Option<AttemptPlan> {
        if !self.waiting.is_empty() {
            return None;
        }
        let chosen = usize::try_from(rng.below(self.sessions.len().max(1) as u64)).unwrap_or(0);
        let session = self.sessions.get_mut(chosen).filter(|session| session.process == context.process)?;
        session.is_ending = true;
        let (user, shown) = (session.user, Shown::Cookie(session.cookie.clone()));
        Some(self.plan(Probe::LogOut, user, (shown, Expected::Open), None))
    }

    /// A session that has begun is kept where its user did not change meanwhile; one whose end was not confirmed is forgotten.
    pub(super) fn on_answer(
        &mut self,
        attempt: &Attempt,
        (response, verdict): (&PlainResponse, &LoginVerdict),
        context: &ClientContext<'_>,
    ) {
        let AttemptPlan { probe, name, shown, .. } = &attempt.plan;
        let is_sure = attempt.begun == context.known.begun(name) && attempt.plan.expected != Expected::Open;
        match (probe, verdict, shown) {
            (Probe::LogIn, LoginVerdict::LetIn, _) if is_sure => self.keep(name, attempt.done, response, context),
            (Probe::LogOut, LoginVerdict::LetIn, Shown::Cookie(cookie)) => {
                let ended = self.sessions.iter_mut().find(|session| session.cookie == *cookie);
                ended.into_iter().for_each(|session| session.is_over = true);
            }
            (Probe::LogOut, _, Shown::Cookie(cookie)) => self.forget(cookie),
            (_, LoginVerdict::LetIn | LoginVerdict::TooLow, Shown::Cookie(cookie)) => {
                let used = self.sessions.iter_mut().find(|session| session.cookie == *cookie);
                used.into_iter().for_each(|session| session.used_at = attempt.sent_at);
            }
            _ => {}
        }
    }

    /// A session whose end was not confirmed is forgotten.
    pub(super) fn on_line_lost(&mut self, plan: &AttemptPlan) {
        if let (Probe::LogOut, Shown::Cookie(cookie)) = (plan.probe, &plan.shown) {
            self.forget(cookie);
        }
    }

    fn forget(&mut self, cookie: &str) {
        self.sessions.retain(|session| session.cookie != cookie);
    }

    fn keep(&mut self, user: &'static str, done: u64, response: &PlainResponse, context: &ClientContext<'_>) {
        let Some(cookie) = response.cookie.clone() else { return };
        let (process, used_at) = (context.process, context.at);
        let (is_ending, is_over) = (false, false);
        self.sessions.push(KeptSession { user, cookie, done, process, used_at, is_ending, is_over });
        if self.sessions.len() > SESSIONS_MAX {
            self.sessions.remove(0);
        }
    }
}

impl KeptSession {
    /// A restart ends it, and so does a change of its user.
    fn expected(&self, context: &ClientContext<'_>) -> Expected {
        if self.is_over || self.process != context.process {
            return Expected::Denied;
        }
        if self.is_ending {
            return Expected::Open;
        }
        match context.known.with_session(self.user, self.done) {
            Expected::LetIn(_) if context.at.seconds_since(self.used_at) >= IDLE_SECONDS_MAX => Expected::Open,
            expected => expected,
        }
    }
}

fn pick(rng: &mut SeededRng, from: &[&'static str]) -> &'static str {
    rng.pick(from).unwrap_or(&from[0])
}

fn pick_one<'a, T>(rng: &mut SeededRng, from: &'a [T]) -> Option<&'a T> {
    rng.pick(from)
}
