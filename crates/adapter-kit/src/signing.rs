//! Signatures of requests and log-ons: HMAC-SHA256, RSA (PKCS#1 v1.5 with SHA-256) and Ed25519; and log-ons by a hash of a nonce.

use std::fmt;

use base64ct::{Base64, Encoding};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use ring::{digest, hmac};

use crate::credentials::{ExposeSecret, SecretString, SigningKey, VenueCredentials};

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
    /// The secret is not the Base64 of a key.
    NotBase64,
}

/// What a key signs by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SigningAlgorithm {
    Hmac,
    Rsa,
    Ed25519,
}

impl SigningAlgorithm {
    pub fn name(self) -> &'static str {
        match self {
            Self::Hmac => "HMAC",
            Self::Rsa => "RSA",
            Self::Ed25519 => "Ed25519",
        }
    }
}

/// How a signature is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureText {
    Base64,
    Hex,
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

    /// For a venue whose secret is the Base64 of the key for HMAC.
    pub fn of_base64_secret(credentials: &VenueCredentials) -> Result<Self, SigningKeyError> {
        let secret = Base64::decode_vec(credentials.signing().secret().expose_secret().trim());
        let bytes = secret.map_err(|_| SigningKeyError::NotBase64)?;
        let key = PreparedKey::Hmac(hmac::Key::new(hmac::HMAC_SHA256, &bytes));
        Ok(Self { api_key: credentials.api_key().clone(), key })
    }

    pub fn api_key(&self) -> &str {
        self.api_key.expose_secret()
    }

    /// Whether the key may log on to a session of the WebSocket API; others sign each request.
    pub fn can_log_on(&self) -> bool {
        matches!(self.key, PreparedKey::Ed25519(_))
    }

    /// HMAC in hexadecimal, others in Base64.
    pub fn sign(&self, payload: &str) -> Result<String, SigningKeyError> {
        let encoding =
            if matches!(self.key, PreparedKey::Hmac(_)) { SignatureText::Hex } else { SignatureText::Base64 };
        self.sign_as(encoding, payload)
    }

    pub fn sign_as(&self, encoding: SignatureText, payload: &str) -> Result<String, SigningKeyError> {
        let signature = self.signature(payload.as_bytes())?;
        Ok(match encoding {
            SignatureText::Base64 => Base64::encode_string(&signature),
            SignatureText::Hex => hexadecimal(&signature),
        })
    }

    fn signature(&self, payload: &[u8]) -> Result<Vec<u8>, SigningKeyError> {
        match &self.key {
            PreparedKey::Hmac(key) => Ok(hmac::sign(key, payload).as_ref().to_vec()),
            PreparedKey::Ed25519(key) => Ok(key.sign(payload).as_ref().to_vec()),
            PreparedKey::Rsa(key) => {
                let mut signature = vec![0; key.public().modulus_len()];
                key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), payload, &mut signature)
                    .map_err(|_| SigningKeyError::Unusable)?;
                Ok(signature)
            }
        }
    }

    pub fn algorithm(&self) -> SigningAlgorithm {
        match self.key {
            PreparedKey::Hmac(_) => SigningAlgorithm::Hmac,
            PreparedKey::Rsa(_) => SigningAlgorithm::Rsa,
            PreparedKey::Ed25519(_) => SigningAlgorithm::Ed25519,
        }
    }
}

/// Random bytes of a nonce.
const NONCE_BYTES: usize = 32;

/// Logs on with a nonce and a hash of it and the secret.
pub struct NonceHash {
    api_key: SecretString,
    secret: SecretString,
}

impl NonceHash {
    /// Nothing where the credentials have no secret.
    pub fn new(credentials: &VenueCredentials) -> Option<Self> {
        match credentials.signing() {
            SigningKey::Secret(secret) => Some(Self { api_key: credentials.api_key().clone(), secret: secret.clone() }),
            SigningKey::PrivateKey(_) => None,
        }
    }

    pub fn api_key(&self) -> &str {
        self.api_key.expose_secret()
    }

    /// The time in milliseconds, a dot, and the Base64 of random bytes.
    pub fn nonce(millis: i64) -> Result<String, SigningKeyError> {
        let mut bytes = [0; NONCE_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| SigningKeyError::Unusable)?;
        Ok(format!("{millis}.{}", Base64::encode_string(&bytes)))
    }

    /// The Base64 of the SHA-256 of nonce and secret.
    pub fn password(&self, nonce: &str) -> String {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(nonce.as_bytes());
        context.update(self.secret.expose_secret().as_bytes());
        Base64::encode_string(context.finish().as_ref())
    }
}

impl fmt::Debug for NonceHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NonceHash")
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
        write!(f, "RequestSigner({})", self.algorithm().name())
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
            Self::NotBase64 => "the secret is not the Base64 of a key",
        })
    }
}

impl std::error::Error for SigningKeyError {}
