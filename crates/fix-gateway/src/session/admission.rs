//! Logon authentication, before any session state changes.

use std::net::IpAddr;
use std::sync::Arc;

use access::{Access, Actor, Credentials, Denied, Door, Identity, Pass, Role, Visit};
use domain::Text;
use fix::{Introduction, Message, Verdict, tag};
use secrecy::{ExposeSecret, SecretString};

use super::board::Board;

/// The authenticated client.
#[derive(Debug, Clone)]
pub(crate) struct Guest {
    pub(crate) name: Option<Text>,
    /// Trades for this strategy alone.
    pub(crate) strategy: Option<Text>,
    /// The session ends when this is revoked; credentials of the session file are valid until the program stops.
    pub(crate) pass: Option<Pass>,
}

/// The credentials in a Logon.
pub(crate) struct Claim {
    username: Option<String>,
    password: Option<SecretString>,
}

impl Claim {
    pub(crate) fn of(logon: &Message<'_>) -> Self {
        Self::new(logon.text(tag::USERNAME), logon.text(tag::PASSWORD))
    }

    pub(crate) fn new(username: Option<&str>, password: Option<&str>) -> Self {
        Self { username: username.map(str::to_owned), password: password.map(SecretString::from) }
    }

    fn credentials(self) -> Credentials {
        match (self.username, self.password) {
            (None, None) => Credentials::Anonymous,
            (username, Some(password)) => Credentials::login(username.unwrap_or_default(), password),
            (Some(_), None) => Credentials::Unreadable("Username (553) needs Password (554)"),
        }
    }
}

/// A logon attempt.
pub(crate) struct Knock {
    pub(crate) access: Arc<Access>,
    pub(crate) session: String,
    pub(crate) peer: Option<IpAddr>,
    /// Credentials of the session file; none: those of the platform's users.
    pub(crate) expected: Option<fix::Credentials>,
}

impl Knock {
    pub(crate) fn at(board: &Board, access: Arc<Access>, peer: Option<IpAddr>) -> Self {
        let expected = match &board.settings.role {
            fix::Role::Acceptor { credentials, .. } => credentials.clone(),
            fix::Role::Initiator { .. } => None,
        };
        Self { access, session: board.settings.id.to_string(), peer, expected }
    }

    /// Authenticates; the principal is set when the session applies the decision.
    pub(crate) async fn introduction(self, claim: Claim, board: Arc<Board>) -> Introduction {
        match self.admit(claim).await {
            Ok(guest) => Box::new(move || {
                board.seat(guest);
                Verdict::Admit
            }),
            Err(text) => Box::new(move || Verdict::Refuse(text)),
        }
    }

    /// The principal, or the text for a rejected client.
    pub(crate) async fn admit(&self, claim: Claim) -> Result<Guest, String> {
        let visit = Visit { door: Door::Fix, peer: self.peer, action: format!("Logon {}", self.session).into() };
        let admitted = match &self.expected {
            Some(expected) => self.compare(expected, &claim, &visit).await.map(|identity| (identity, None)),
            None => self.access.admit(self.shown(claim), &visit).await.map(|(who, pass)| (who, Some(pass))),
        };
        let (identity, pass) = admitted.map_err(|denied| format!("{}: {denied}", denied.code()))?;
        if identity.role == Role::Viewer {
            let text = "a viewer may not trade";
            self.access.refused(&Actor { user: identity.name, visit }, "forbidden", text).await;
            return Err(format!("forbidden: {text}"));
        }
        Ok(Guest { name: identity.name, strategy: identity.role.strategy().cloned(), pass })
    }

    /// Where no users are configured a password is ignored and the client is anonymous. So an engine that always sends
    /// a password is accepted from this machine, and is rejected from elsewhere because a login is required.
    fn shown(&self, claim: Claim) -> Credentials {
        match claim.credentials() {
            Credentials::Password { .. } if self.access.has_users().is_ok_and(|any| !any) => Credentials::Anonymous,
            credentials => credentials,
        }
    }

    async fn compare(&self, expected: &fix::Credentials, claim: &Claim, visit: &Visit) -> Result<Identity, Denied> {
        let name = claim.username.as_deref().unwrap_or_default();
        let password = claim.password.as_ref().map_or("", |password| password.expose_secret());
        let is_right = || is_same(name, &expected.username) & is_same(password, &expected.password);
        self.access.compare(&format!("FIX {}", self.session), visit, is_right).await?;
        Ok(Identity { name: Some(name.into()), role: Role::Trader })
    }
}

/// In constant time, wherever they differ.
fn is_same(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    differing == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_the_same_or_not() {
        assert!(is_same("secret", "secret") && is_same("", ""));
        assert!(!is_same("secret", "secreT") && !is_same("secret", "secret2") && !is_same("", "x"));
    }
}
