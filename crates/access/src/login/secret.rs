//! Generated secrets: 256 random bits from the operating system, stored as a fast hash, because they cannot be guessed.

use std::fmt::Write;

use secrecy::{ExposeSecret, SecretString};

use crate::environment::{AccessEnvironment, RandomError};

/// Prefix of every token, so that users and secret scanners recognise one.
const TOKEN_MARKER: &str = "rialto";
/// Bytes of the public part of a token, by which it is looked up.
const PREFIX_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// The stored form of a secret.
pub(crate) type SecretDigest = blake3::Hash;

/// A secret as it is returned, once.
#[derive(Debug, Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// For a session: only random bits.
    pub(crate) fn new(environment: &dyn AccessEnvironment) -> Result<Self, RandomError> {
        Ok(Self(hex(&random::<SECRET_BYTES>(environment)?).into()))
    }

    pub fn text(&self) -> &str {
        self.0.expose_secret()
    }

    pub(crate) fn digest(&self) -> SecretDigest {
        digest(self.text())
    }
}

pub(crate) fn digest(secret: &str) -> SecretDigest {
    blake3::hash(secret.as_bytes())
}

/// A token, `rialto_<prefix>_<secret>`, with its prefix.
pub(crate) fn new_token(environment: &dyn AccessEnvironment) -> Result<(String, Secret), RandomError> {
    let prefix = hex(&random::<PREFIX_BYTES>(environment)?);
    let token = format!("{TOKEN_MARKER}_{prefix}_{}", hex(&random::<SECRET_BYTES>(environment)?));
    Ok((prefix, Secret(token.into())))
}

/// The prefix of what looks like a token.
pub(crate) fn prefix(token: &str) -> Option<&str> {
    let (prefix, secret) = token.strip_prefix(TOKEN_MARKER)?.strip_prefix('_')?.split_once('_')?;
    let is_hex =
        |text: &str, bytes: usize| text.len() == 2 * bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex(prefix, PREFIX_BYTES) && is_hex(secret, SECRET_BYTES)).then_some(prefix)
}

pub(crate) fn random<const BYTES: usize>(environment: &dyn AccessEnvironment) -> Result<[u8; BYTES], RandomError> {
    let mut bytes = [0; BYTES];
    environment.fill_random(&mut bytes)?;
    Ok(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes every text");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::system_environment;

    #[test]
    fn a_token_is_found_by_its_prefix() {
        let (known_by, token) = new_token(&*system_environment()).unwrap();
        assert_eq!(prefix(token.text()), Some(known_by.as_str()));
        assert_eq!(token.text().len(), "rialto_".len() + 12 + 1 + 64);
    }

    #[test]
    fn what_does_not_look_like_a_token_is_none() {
        let (_, token) = new_token(&*system_environment()).unwrap();
        let text = token.text();
        let mangled = [text.replace("rialto", "realto"), text.replace('_', "-"), text[..text.len() - 1].into()];
        for other in mangled.iter().map(String::as_str).chain(["", "rialto__", "hunter42"]) {
            assert_eq!(prefix(other), None, "{other}");
        }
    }

    #[test]
    fn no_two_are_alike_and_none_is_printed() {
        let [one, other] = [(); 2].map(|()| Secret::new(&*system_environment()).unwrap());
        assert_ne!(one.digest(), other.digest());
        assert!(!format!("{one:?}").contains(one.text()));
    }
}
