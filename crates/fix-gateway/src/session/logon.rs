//! Logon authentication, before any session state changes.

use std::net::IpAddr;
use std::sync::Arc;

use access::{Access, AccessChannel, AccessCredentials, AccessDenied, AccessRequest, Actor, Identity, UserRole};
use domain::PlantedBug;
use domain::rights::{TradingInterface, TradingRights};
use fix::{FixMessage, LogonDecision, PreparedDecision, tag};
use secrecy::{ExposeSecret, SecretString};

use super::session_status::SessionStatus;
use crate::session::session_status::Principal;

/// As in the refusal of an order.
const INTERFACE_NOT_PERMITTED: &str = "interface-not-permitted";

/// The credentials in a Logon.
pub(crate) struct LogonCredentials {
    username: Option<String>,
    password: Option<SecretString>,
}

impl LogonCredentials {
    pub(crate) fn from_logon(logon: &FixMessage<'_>) -> Self {
        Self::new(logon.text(tag::USERNAME), logon.text(tag::PASSWORD))
    }

    pub(crate) fn new(username: Option<&str>, password: Option<&str>) -> Self {
        Self { username: username.map(str::to_owned), password: password.map(SecretString::from) }
    }

    fn into_access(self) -> AccessCredentials {
        match (self.username, self.password) {
            (None, None) => AccessCredentials::Anonymous,
            (username, Some(password)) => AccessCredentials::login(username.unwrap_or_default(), password),
            (Some(_), None) => AccessCredentials::Unreadable("Username (553) needs Password (554)"),
        }
    }
}

/// A logon attempt.
pub(crate) struct LogonAttempt {
    pub(crate) access: Arc<Access>,
    pub(crate) session: String,
    pub(crate) peer: Option<IpAddr>,
    /// Credentials of the session file; none: those of the platform's users.
    pub(crate) expected: Option<fix::FixCredentials>,
    /// It receives drop copies or prices and trades nothing, so it needs no right to trade.
    pub(crate) is_read_only: bool,
}

impl LogonAttempt {
    pub(crate) fn new_for(status: &SessionStatus, access: Arc<Access>, peer: Option<IpAddr>) -> Self {
        let expected = match &status.settings.role {
            fix::ConnectionType::Acceptor { credentials, .. } => credentials.clone(),
            fix::ConnectionType::Initiator { .. } => None,
        };
        let rules = &status.settings.gateway;
        let is_read_only = rules.drop_copy.is_some() || rules.market_data.is_some();
        Self { access, session: status.settings.id.to_string(), peer, expected, is_read_only }
    }

    /// Authenticates; the principal is set when the session applies the decision.
    pub(crate) async fn decide(self, credentials: LogonCredentials, status: Arc<SessionStatus>) -> PreparedDecision {
        match self.authenticate(credentials).await {
            Ok(principal) => Box::new(move || {
                status.set_principal(principal);
                LogonDecision::Accept
            }),
            Err(text) => Box::new(move || LogonDecision::Reject(text)),
        }
    }

    /// The principal, or the text for a rejected client.
    pub(crate) async fn authenticate(&self, credentials: LogonCredentials) -> Result<Principal, String> {
        let visit = AccessRequest {
            channel: AccessChannel::Fix,
            peer: self.peer,
            action: format!("Logon {}", self.session).into(),
        };
        let admitted = match &self.expected {
            Some(expected) => {
                self.check_configured(expected, &credentials, &visit).await.map(|identity| (identity, None))
            }
            None => self
                .access
                .authenticate_connection(self.presented_credentials(credentials), &visit)
                .await
                .map(|(who, pass)| (who, Some(pass))),
        };
        if PlantedBug::RefuseLogons.is_planted() {
            return Err("forbidden".to_owned());
        }
        let (identity, pass) = admitted.map_err(|denied| format!("{}: {denied}", denied.code()))?;
        if identity.role == UserRole::Viewer && !self.is_read_only {
            let text = "a viewer may not trade";
            self.access.audit_refusal(&Actor { user: identity.name, request: visit }, "forbidden", text).await;
            return Err(format!("forbidden: {text}"));
        }
        let may_use = |rights: &TradingRights| self.is_read_only || rights.allows_interface(TradingInterface::Fix);
        if identity.rights.as_deref().is_some_and(|rights| !may_use(rights)) {
            let text = "this user may not trade over FIX";
            let actor = Actor { user: identity.name, request: visit };
            self.access.audit_refusal(&actor, INTERFACE_NOT_PERMITTED, text).await;
            return Err(format!("{INTERFACE_NOT_PERMITTED}: {text}"));
        }
        let strategy = identity.role.strategy().cloned();
        Ok(Principal { name: identity.name, strategy, pass, rights: identity.rights })
    }

    /// Where no users are configured a password is ignored and the client is anonymous. So an engine that always sends
    /// a password is accepted from this machine, and is rejected from elsewhere because a login is required.
    fn presented_credentials(&self, claim: LogonCredentials) -> AccessCredentials {
        match claim.into_access() {
            AccessCredentials::Password { .. } if self.access.has_users().is_ok_and(|any| !any) => {
                AccessCredentials::Anonymous
            }
            credentials => credentials,
        }
    }

    async fn check_configured(
        &self,
        expected: &fix::FixCredentials,
        credentials: &LogonCredentials,
        visit: &AccessRequest,
    ) -> Result<Identity, AccessDenied> {
        let name = credentials.username.as_deref().unwrap_or_default();
        let password = credentials.password.as_ref().map_or("", |password| password.expose_secret());
        let is_right = || constant_time_eq(name, &expected.username) & constant_time_eq(password, &expected.password);
        self.access.check_secret(&format!("FIX {}", self.session), visit, is_right).await?;
        Ok(Identity { name: Some(name.into()), role: UserRole::Trader, rights: None })
    }
}

/// In constant time, wherever they differ.
fn constant_time_eq(one: &str, other: &str) -> bool {
    let differing = one.bytes().zip(other.bytes()).fold(0, |sum, (one, other)| sum | (one ^ other));
    differing == 0 && one.len() == other.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_the_same_or_not() {
        assert!(constant_time_eq("secret", "secret") && constant_time_eq("", ""));
        assert!(
            !constant_time_eq("secret", "secreT")
                && !constant_time_eq("secret", "secret2")
                && !constant_time_eq("", "x")
        );
    }
}
