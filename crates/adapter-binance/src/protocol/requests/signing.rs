//! Signatures of requests: HMAC-SHA256 in hexadecimal, RSA (PKCS#1 v1.5 with SHA-256) and Ed25519 in Base64.

use std::fmt;

use adapter_kit::credentials::{ExposeSecret, SecretString, SigningKey, VenueCredentials};
use base64ct::{Base64, Encoding};
use ring::hmac;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};

const PEM_BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const PEM_END: &str = "-----END PRIVATE KEY-----";

/// Why a key cannot sign. Nothing of the key is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningKeyError {
    /// No PEM of an unencrypted PKCS#8 key.
    NotPkcs8,
    /// A PKCS#8 key of another kind than RSA (2048 to 4096 bits) and Ed25519.
    Kind,
    /// The key could not sign, which does not depend on the request.
    Unusable,
}

/// Signs requests with one API key.
pub struct RequestSigner {
    api_key: SecretString,
    key: PreparedKey,
}

enum PreparedKey {
    Hmac(hmac::Key),
    Rsa(Box<RsaKeyPair>),
    Ed25519(Ed25519KeyPair),
}

impl RequestSigner {
    pub fn new(credentials: &VenueCredentials) -> Result<Self, SigningKeyError> {
        let key = match credentials.signing() {
            SigningKey::Secret(secret) => {
                PreparedKey::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret.expose_secret().as_bytes()))
            }
            SigningKey::PrivateKey(pem) => of_pem(pem.expose_secret())?,
        };
        Ok(Self { api_key: credentials.api_key().clone(), key })
    }

    pub fn api_key(&self) -> &str {
        self.api_key.expose_secret()
    }

    /// Whether the key may log on to a session of the WebSocket API; others sign each request.
    pub fn can_log_on(&self) -> bool {
        matches!(self.key, PreparedKey::Ed25519(_))
    }

    pub fn sign(&self, payload: &str) -> Result<String, SigningKeyError> {
        match &self.key {
            PreparedKey::Hmac(key) => Ok(hexadecimal(hmac::sign(key, payload.as_bytes()).as_ref())),
            PreparedKey::Ed25519(key) => Ok(Base64::encode_string(key.sign(payload.as_bytes()).as_ref())),
            PreparedKey::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), payload.as_bytes(), &mut signature)
                    .map_err(|_| SigningKeyError::Unusable)?;
                Ok(Base64::encode_string(&signature))
            }
        }
    }

    fn kind(&self) -> &'static str {
        match self.key {
            PreparedKey::Hmac(_) => "HMAC",
            PreparedKey::Rsa(_) => "RSA",
            PreparedKey::Ed25519(_) => "Ed25519",
        }
    }
}

/// OpenSSL writes Ed25519 keys without their public half, so that cannot be compared.
fn of_pem(pem: &str) -> Result<PreparedKey, SigningKeyError> {
    let text = pem.split_once(PEM_BEGIN).and_then(|(_, rest)| rest.split_once(PEM_END));
    let (text, _) = text.ok_or(SigningKeyError::NotPkcs8)?;
    let joined = SecretString::from(text.split_whitespace().collect::<String>());
    let der = Base64::decode_vec(joined.expose_secret()).map_err(|_| SigningKeyError::NotPkcs8)?;
    if let Ok(key) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der) {
        return Ok(PreparedKey::Ed25519(key));
    }
    RsaKeyPair::from_pkcs8(&der).map(|key| PreparedKey::Rsa(Box::new(key))).map_err(|_| SigningKeyError::Kind)
}

fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from(b"0123456789abcdef"[usize::from(nibble)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

impl fmt::Debug for RequestSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestSigner({})", self.kind())
    }
}

impl fmt::Display for SigningKeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotPkcs8 => {
                "the private key is no PEM that begins with BEGIN PRIVATE KEY: only PKCS#8 without a password can be used"
            }
            Self::Kind => "the private key is neither Ed25519 nor RSA of 2048 to 4096 bits",
            Self::Unusable => "the private key cannot sign",
        })
    }
}

impl std::error::Error for SigningKeyError {}
