//! Password hashing: Argon2id with OWASP parameters. A hash costs tens of milliseconds and 19 MiB by design, so callers
//! bound how many run at once.

use std::fmt;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use secrecy::{ExposeSecret, SecretString};

use crate::environment::{AccessEnvironment, PasswordCost, system_environment};
use crate::error::AccessError;
use crate::login::secret::random;

const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// A shorter password is refused when it is set.
pub const PASSWORD_LENGTH_MIN: usize = 8;
/// A longer one is refused when it is set, and wrong when it is given.
pub const PASSWORD_BYTES_MAX: usize = 1_024;

/// The commonest passwords of published leaks that are long enough, one a line.
const COMMON: &str = include_str!("common_passwords.txt");

/// A password that somebody may choose.
#[derive(Debug, Clone)]
pub struct Password(SecretString);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidPassword {
    TooShort,
    TooLong,
    /// An attacker tries it first.
    Common,
}

impl Password {
    pub fn new(text: SecretString) -> Result<Self, InvalidPassword> {
        if text.expose_secret().chars().count() < PASSWORD_LENGTH_MIN {
            return Err(InvalidPassword::TooShort);
        }
        if text.expose_secret().len() > PASSWORD_BYTES_MAX {
            return Err(InvalidPassword::TooLong);
        }
        if is_common(text.expose_secret()) {
            return Err(InvalidPassword::Common);
        }
        Ok(Self(text))
    }

    /// With a salt of its own, in the text form that names its parameters.
    pub fn digest(&self) -> Result<PasswordDigest, AccessError> {
        self.digest_in(&*system_environment())
    }

    pub(crate) fn digest_in(&self, environment: &dyn AccessEnvironment) -> Result<PasswordDigest, AccessError> {
        let salt = random::<SALT_BYTES>(environment).map_err(AccessError::system)?;
        let hasher = argon2(environment.password_cost());
        let hash = hasher.hash_password_with_salt(self.0.expose_secret().as_bytes(), &salt);
        hash.map(|hash: PasswordHash| PasswordDigest(hash.to_string())).map_err(AccessError::system)
    }
}

/// What is stored of a password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasswordDigest(String);

impl PasswordDigest {
    /// From its text form; absent where it is none.
    pub fn parse(text: &str) -> Option<Self> {
        PasswordHash::new(text).ok().map(|_| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn matches(&self, given: &SecretString) -> bool {
        matches_hash(given, Some(&self.0), PasswordCost::default())
    }
}

/// Whatever its case.
fn is_common(text: &str) -> bool {
    COMMON.lines().any(|common| common.eq_ignore_ascii_case(text))
}

/// Takes the same time whether there is such a user or not.
pub(crate) fn matches_hash(given: &SecretString, hash: Option<&str>, cost: PasswordCost) -> bool {
    let against = hash.map_or_else(|| dummy_hash(cost), str::to_owned);
    let right = argon2(cost).verify_password(given.expose_secret().as_bytes(), against.as_str()).is_ok();
    right && hash.is_some()
}

/// The hash of no password, at this cost, to be compared for unknown users.
fn dummy_hash(PasswordCost { memory_kib, passes }: PasswordCost) -> String {
    format!("$argon2id$v=19$m={memory_kib},t={passes},p={LANES}${DUMMY_SALT}${DUMMY_OUTPUT}")
}

const DUMMY_SALT: &str = "bm9ib2R5IGlzIGhlcmU";
const DUMMY_OUTPUT: &str = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

fn argon2(PasswordCost { memory_kib, passes }: PasswordCost) -> Argon2<'static> {
    let params = Params::new(memory_kib, passes, LANES, None).expect("the parameters are within Argon2's bounds");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

impl fmt::Display for InvalidPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooShort => write!(f, "must have at least {PASSWORD_LENGTH_MIN} characters"),
            Self::TooLong => write!(f, "must have at most {PASSWORD_BYTES_MAX} bytes"),
            Self::Common => write!(f, "is one of the commonest passwords, which are guessed first"),
        }
    }
}

impl std::error::Error for InvalidPassword {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_kept_as_argon2id_with_a_salt_of_its_own() {
        let password = Password::new("correct horse".into()).unwrap();
        let (one, other) = (password.digest().unwrap(), password.digest().unwrap());
        assert!(one.as_str().starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{one:?}");
        assert_ne!(one, other);
        assert!(one.matches(&"correct horse".into()));
        assert!(!one.matches(&"correct horsf".into()));
        assert_eq!(PasswordDigest::parse(one.as_str()), Some(one));
        assert_eq!(PasswordDigest::parse("correct horse"), None);
    }

    #[test]
    fn the_commonest_passwords_are_refused_in_any_case() {
        for common in ["password", "PassWord", "12345678", "qwertyuiop", "password123", "iloveyou"] {
            assert_eq!(Password::new(common.into()).err(), Some(InvalidPassword::Common), "{common}");
        }
        assert!(Password::new("password of the desk".into()).is_ok());
        let is_good =
            |line: &str| line.chars().count() >= PASSWORD_LENGTH_MIN && line.is_ascii() && line == line.trim();
        assert!(COMMON.lines().all(is_good), "shorter ones are refused for their length");
    }

    #[test]
    fn nobody_s_hash_costs_as_much_as_any_and_fits_no_password() {
        let PasswordCost { memory_kib, passes } = PasswordCost::default();
        let text = dummy_hash(PasswordCost::default());
        let asked = Params::new(memory_kib, passes, LANES, Some(32)).unwrap();
        assert_eq!(Params::try_from(&PasswordHash::new(&text).unwrap()).unwrap(), asked);
        assert!(!matches_hash(&"correct horse".into(), None, PasswordCost::default()));
    }

    #[test]
    fn too_short_and_too_long_are_refused_and_none_is_printed() {
        let refused = |text: &str| Password::new(text.into()).map(drop);
        assert_eq!(refused("1234567"), Err(InvalidPassword::TooShort));
        assert_eq!(refused("äöüäöü"), Err(InvalidPassword::TooShort), "characters count, not bytes");
        assert_eq!(refused(&"x".repeat(1_025)), Err(InvalidPassword::TooLong));
        assert!(!format!("{:?}", Password::new("correct horse".into())).contains("horse"));
    }
}
