//! Credentials of a venue: types that never print what they hold, where they come from, and how they are replaced.
//!
//! Only `expose` gives a secret out, and only to the code that signs. Everything else (Debug, Display, errors) shows the
//! masked key.

mod rotation;
mod rules;
mod source;

use std::fmt;

pub use secrecy::{ExposeSecret, SecretString};

pub use rotation::CredentialWatch;
pub use rules::{
    FIRST_DAY_SECONDS, FirstDayFile, FirstDayLimit, FirstDayRefusal, KeyPermissions, KeyRefusal, LiveRefusal,
    LiveTarget, VenueEnvironment, check_known_rights, check_live, check_permissions,
};
pub use source::{CREDENTIALS_BYTES_MAX, CredentialEnvironment, CredentialError, CredentialSource};

/// So many characters of a key are shown, where at least twice as many remain hidden.
const SHOWN_CHARS: usize = 4;

/// A key and what signs with it.
pub struct VenueCredentials {
    api_key: SecretString,
    signing: SigningKey,
    /// What some venues want besides.
    passphrase: Option<SecretString>,
}

/// What requests are signed with.
pub enum SigningKey {
    /// For HMAC.
    Secret(SecretString),
    /// PEM of an Ed25519 or RSA key.
    PrivateKey(SecretString),
}

impl VenueCredentials {
    pub fn new(api_key: SecretString, signing: SigningKey) -> Self {
        Self { api_key, signing, passphrase: None }
    }

    pub fn with_passphrase(self, passphrase: Option<SecretString>) -> Self {
        Self { passphrase, ..self }
    }

    pub fn api_key(&self) -> &SecretString {
        &self.api_key
    }

    pub fn signing(&self) -> &SigningKey {
        &self.signing
    }

    pub fn passphrase(&self) -> Option<&SecretString> {
        self.passphrase.as_ref()
    }

    /// The key for logs and messages: its first characters.
    pub fn masked_key(&self) -> String {
        let key = self.api_key.expose_secret();
        let shown = if key.chars().count() >= 3 * SHOWN_CHARS { SHOWN_CHARS } else { 0 };
        key.chars().take(shown).chain(['…']).collect()
    }

    /// Everything that must appear nowhere, for a masker.
    pub fn secrets(&self) -> Vec<&SecretString> {
        [&self.api_key, self.signing.secret()].into_iter().chain(&self.passphrase).collect()
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (ours, theirs) = (self.secrets(), other.secrets());
        let same = |(a, b): (&SecretString, &SecretString)| a.expose_secret() == b.expose_secret();
        let is_alike = self.signing.name() == other.signing.name() && ours.len() == theirs.len();
        is_alike && ours.into_iter().zip(theirs).all(same)
    }
}

impl SigningKey {
    pub fn name(&self) -> &'static str {
        match self {
            Self::Secret(_) => "secret",
            Self::PrivateKey(_) => "privateKey",
        }
    }

    pub fn secret(&self) -> &SecretString {
        match self {
            Self::Secret(secret) | Self::PrivateKey(secret) => secret,
        }
    }
}

impl fmt::Debug for VenueCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VenueCredentials({}, {})", self.masked_key(), self.signing.name())
    }
}

impl fmt::Display for VenueCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key {} with {}", self.masked_key(), self.signing.name())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.name())
    }
}
