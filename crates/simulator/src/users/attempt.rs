//! A request of a client with credentials: what it shows, what must become of it, and what the answer says.

use std::net::IpAddr;

use domain::Timestamp;
use serde_json::{Value, json};
use web::{PlainCredentials, PlainRequest, PlainResponse, PlainSender};

use super::known_users::{Expected, KnownUsers, ROLES};
use crate::error_codes::{TOO_MANY, UNAVAILABLE, UNEXPECTED_ANSWER, no_server_fault};
use crate::http_clients::{HttpTicket, code_of};
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};

/// What is valid when a request leaves is so when it arrives, if that is sooner.
const VALID_SECONDS: i64 = 60;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Probe {
    /// A session, by a password.
    LogIn,
    /// The caller's own name and role.
    WhoAmI,
    /// A cancel of an order that is not there: for traders.
    Cancel,
    /// For administrators.
    ListUsers,
    LogOut,
}

/// What a client shows of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Password(String),
    Token(String),
    Cookie(String),
}

#[derive(Debug, Clone)]
pub(super) struct AttemptPlan {
    pub(super) probe: Probe,
    /// Of the user or token.
    pub(super) name: &'static str,
    pub(super) shown: Shown,
    pub(super) peer: IpAddr,
    /// Nobody else comes from there.
    pub(super) is_only: bool,
    pub(super) expected: Expected,
    /// Nothing goes wrong any more, so it must be answered one way or the other.
    pub(super) is_last: bool,
}

/// A request that was sent.
pub(super) struct Attempt {
    pub(super) plan: AttemptPlan,
    pub(super) ticket: HttpTicket,
    pub(super) sent_at: Timestamp,
    /// Changes of the name that were asked for by then, and that took effect.
    pub(super) begun: u64,
    pub(super) done: u64,
}

/// What an answer says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LoginVerdict {
    LetIn,
    /// Known, but the role is too low.
    TooLow,
    /// With its code.
    Denied(String),
    /// The platform cannot tell at the moment.
    Unavailable,
}

impl AttemptPlan {
    pub(super) fn request(&self) -> PlainRequest {
        let credentials = match (&self.shown, self.probe) {
            (_, Probe::LogIn) => PlainCredentials::Nothing,
            (Shown::Password(password), _) => {
                PlainCredentials::Password { user: self.name.to_owned(), password: password.clone() }
            }
            (Shown::Token(token), _) => PlainCredentials::Token(token.clone()),
            (Shown::Cookie(cookie), _) => PlainCredentials::Cookie(cookie.clone()),
        };
        let (method, path) = match self.probe {
            Probe::LogIn => ("POST", "/rest/login"),
            Probe::WhoAmI => ("GET", "/rest/login"),
            Probe::Cancel => ("DELETE", "/rest/execution/order/not-there"),
            Probe::ListUsers => ("GET", "/rest/user"),
            Probe::LogOut => ("POST", "/rest/logout"),
        };
        let body = match &self.shown {
            Shown::Password(password) if self.probe == Probe::LogIn => {
                json!({"user": self.name, "password": password}).to_string().into_bytes()
            }
            _ => vec![],
        };
        let sender = Some(PlainSender { peer: self.peer, credentials });
        PlainRequest { method, path: path.to_owned(), body, sender }
    }

    /// Without its secret.
    pub(super) fn text(&self) -> String {
        let by = match self.shown {
            Shown::Password(_) => "a password",
            Shown::Token(_) => "a token",
            Shown::Cookie(_) => "a session",
        };
        format!("{:?} as {} by {by} from {}, to be {:?}", self.probe, self.name, self.peer, self.expected)
    }

    /// The user that the audit names where it is denied: who has not come in is named by what it claims.
    pub(super) fn claimed_user(&self) -> Option<&'static str> {
        matches!(self.shown, Shown::Password(_)).then_some(self.name)
    }

    fn needs(&self) -> &'static str {
        match self.probe {
            Probe::LogIn | Probe::WhoAmI | Probe::LogOut => "viewer",
            Probe::Cancel => "trader",
            Probe::ListUsers => "admin",
        }
    }
}

impl Attempt {
    /// The answer is what was expected. Where a change was under way meanwhile, nothing is.
    pub(super) fn check(
        &self,
        (response, verdict): (&PlainResponse, &LoginVerdict),
        at: Timestamp,
        known: &KnownUsers,
    ) -> InvariantResult {
        let told = || format!("{}: {}", self.plan.text(), String::from_utf8_lossy(&response.body));
        if self.begun != known.begun(self.plan.name) {
            return Ok(());
        }
        let is_known = matches!(verdict, LoginVerdict::LetIn | LoginVerdict::TooLow);
        match self.plan.expected {
            Expected::Open => Ok(()),
            // A clock was set meanwhile: what it showed may have expired before it arrived.
            Expected::LetIn(_) if at.seconds_since(self.sent_at) >= VALID_SECONDS => Ok(()),
            Expected::Denied => ensure(!is_known, "let in without a right", told),
            Expected::LetIn(role) => {
                // Whoever fails too often waits, and may be told to come later.
                let is_throttled = *verdict == LoginVerdict::Denied("too-many-attempts".to_owned());
                let is_excused = !self.plan.is_last && (is_throttled || *verdict == LoginVerdict::Unavailable);
                ensure(is_known || is_excused, "a valid log-in was refused", told)?;
                let is_enough = rank(role) >= rank(self.plan.needs());
                let is_right = match verdict {
                    LoginVerdict::LetIn => is_enough && shown_role(response).is_none_or(|shown| shown == role),
                    LoginVerdict::TooLow => !is_enough,
                    LoginVerdict::Denied(_) | LoginVerdict::Unavailable => true,
                };
                ensure(is_right, "rights are not those of the newest role", told)
            }
        }
    }

    pub(super) fn verdict(&self, response: &PlainResponse) -> Result<LoginVerdict, BrokenInvariant> {
        let code = code_of(response);
        no_server_fault(&code, || self.plan.text())?;
        Ok(match (response.status, code.as_str()) {
            (200, _) => LoginVerdict::LetIn,
            // Nobody has placed it.
            (404, _) if self.plan.probe == Probe::Cancel => LoginVerdict::LetIn,
            (403, "role-too-low") => LoginVerdict::TooLow,
            (401 | TOO_MANY, code) => LoginVerdict::Denied(code.to_owned()),
            (UNAVAILABLE, _) => LoginVerdict::Unavailable,
            _ => {
                let told = format!("{}: {} {code}", self.plan.text(), response.status);
                return Err(broken(UNEXPECTED_ANSWER, told));
            }
        })
    }
}

fn rank(role: &str) -> usize {
    ROLES.iter().position(|known| *known == role).unwrap_or(0)
}

/// The role that an answer names.
fn shown_role(response: &PlainResponse) -> Option<String> {
    let body: Value = serde_json::from_slice(&response.body).ok()?;
    body["role"].as_str().map(str::to_lowercase)
}
