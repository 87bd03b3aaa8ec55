//! Access grant of a long-lived connection, checked again while it is open.

use std::net::IpAddr;

use domain::Text;

use crate::identity::Identity;
use crate::register::{Token, User};
use crate::role::Role;
use crate::secret::Digest;

/// Checked by [`Access::stands`](crate::Access::stands).
#[derive(Debug, Clone)]
pub struct Pass(pub(crate) Ground);

/// The basis of a grant.
#[derive(Debug, Clone)]
pub(crate) enum Ground {
    /// No credentials, and anonymous access was allowed on this machine.
    Open {
        peer: Option<IpAddr>,
        role: Role,
    },
    Token {
        prefix: String,
        digest: Digest,
    },
    Password(Proven),
    Session {
        key: [u8; 32],
        of: Proven,
    },
}

/// A user with the revision of the row that was verified.
pub(crate) type Proven = (Text, i64);

/// An authenticated caller with its grant.
pub(crate) type Admitted = (Identity, Pass);

pub(crate) fn of_user(user: &User) -> Admitted {
    let proven = (user.name.text().clone(), user.revision);
    (identity_of(user), Pass(Ground::Password(proven)))
}

pub(crate) fn of_session(user: &User, key: [u8; 32]) -> Admitted {
    let of = (user.name.text().clone(), user.revision);
    (identity_of(user), Pass(Ground::Session { key, of }))
}

pub(crate) fn of_token(token: &Token) -> Admitted {
    let identity = Identity { name: Some(token.name.text().clone()), role: token.role.clone() };
    (identity, Pass(Ground::Token { prefix: token.prefix.clone(), digest: token.digest }))
}

pub(crate) fn of_nobody(role: Role, peer: Option<IpAddr>) -> Admitted {
    (Identity { name: None, role: role.clone() }, Pass(Ground::Open { peer, role }))
}

fn identity_of(user: &User) -> Identity {
    Identity { name: Some(user.name.text().clone()), role: user.role.clone() }
}
