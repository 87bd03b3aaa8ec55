//! What the command line asks about users and tokens, and what it hears. A password is hashed before it is sent.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "camelCase", deny_unknown_fields)]
pub enum UserRequest {
    AddUser {
        name: String,
        role: RequestedRole,
        /// The hash of the password.
        digest: String,
        replace: bool,
    },
    RemoveUser {
        name: String,
    },
    /// Absent rights are all.
    SetUserRights {
        name: String,
        rights: Option<String>,
    },
    ListUsers,
    NewToken {
        name: String,
        role: RequestedRole,
        days: u32,
    },
    RevokeToken {
        name: String,
    },
    /// Absent rights are all.
    SetTokenRights {
        name: String,
        rights: Option<String>,
    },
    ListTokens,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedRole {
    pub name: String,
    pub strategy: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserReply {
    /// What was done, for people.
    pub text: String,
    /// A new token; it is shown only now.
    pub token: Option<String>,
}
