//! Access grant of a long-lived connection, checked again while it is open.

use std::net::IpAddr;
use std::sync::Arc;

use domain::Text;
use domain::rights::TradingRights;

use crate::identity::Identity;
use crate::login::secret::SecretDigest;
use crate::users::principal::{AccessToken, User};
use crate::users::role::UserRole;

/// Checked by [`Access::is_valid`](crate::Access::is_valid).
#[derive(Debug, Clone)]
pub struct AccessGrant(pub(crate) GrantBasis);

/// The basis of a grant.
#[derive(Debug, Clone)]
pub(crate) enum GrantBasis {
    /// No credentials, and anonymous access was allowed on this machine.
    Anonymous {
        peer: Option<IpAddr>,
        role: UserRole,
    },
    Token {
        prefix: String,
        digest: SecretDigest,
        rights: Option<Arc<TradingRights>>,
    },
    Password(UserRevision),
    Session {
        key: [u8; 32],
        of: UserRevision,
    },
}

/// A user with the revision of the row that was verified.
pub(crate) type UserRevision = (Text, i64);

/// An authenticated caller with its grant.
pub(crate) type Authenticated = (Identity, AccessGrant);

pub(crate) fn for_user(user: &User) -> Authenticated {
    let proven = (user.name.text().clone(), user.revision);
    (identity_of(user), AccessGrant(GrantBasis::Password(proven)))
}

pub(crate) fn for_session(user: &User, key: [u8; 32]) -> Authenticated {
    let of = (user.name.text().clone(), user.revision);
    (identity_of(user), AccessGrant(GrantBasis::Session { key, of }))
}

pub(crate) fn for_token(token: &AccessToken) -> Authenticated {
    let rights = token.rights.clone();
    let identity = Identity { name: Some(token.name.text().clone()), role: token.role.clone(), rights: rights.clone() };
    let basis = GrantBasis::Token { prefix: token.prefix.clone(), digest: token.digest, rights };
    (identity, AccessGrant(basis))
}

pub(crate) fn for_anonymous(role: UserRole, peer: Option<IpAddr>) -> Authenticated {
    (Identity { name: None, role: role.clone(), rights: None }, AccessGrant(GrantBasis::Anonymous { peer, role }))
}

fn identity_of(user: &User) -> Identity {
    Identity { name: Some(user.name.text().clone()), role: user.role.clone(), rights: user.rights.clone() }
}
