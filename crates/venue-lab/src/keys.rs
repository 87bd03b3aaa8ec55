//! API keys: those of the configuration, and those that the demo makes at its first start and keeps in `keys.json`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use ring::signature::{Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde::{Deserialize, Serialize};

use crate::config::ConfiguredKey;
use crate::config::config_error::LabConfigError;
use crate::exchange::AccountRules;
use crate::signature::{ED25519, HMAC, RSA, SignatureVerifier, pem_bytes, pem_text};

/// The name of the demo's key file in the data folder.
const KEY_FILE: &str = "keys.json";
const API_KEY_LENGTH: usize = 64;

/// `ring` makes no RSA keys, so the demo's accounts share these two with everyone. They open nothing but a lab.
const DEMO_RSA: [&str; 2] = [include_str!("../demo-keys/alpha-rsa.pem"), include_str!("../demo-keys/beta-rsa.pem")];

/// What a key is allowed to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyRights {
    pub(crate) may_trade: bool,
    pub(crate) may_withdraw: bool,
}

impl Default for KeyRights {
    fn default() -> Self {
        Self { may_trade: true, may_withdraw: false }
    }
}

pub(crate) struct ApiKey {
    pub(crate) account: u32,
    pub(crate) rights: KeyRights,
    pub(crate) verifier: SignatureVerifier,
}

/// Every key by its name.
pub(crate) type KeyRing = BTreeMap<String, ApiKey>;

/// One line of the key file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct DemoKey {
    account: String,
    api_key: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    private_key_pem: Option<String>,
}

pub(crate) fn configured(keys: &[ConfiguredKey]) -> Result<KeyRing, LabConfigError> {
    let mut ring = KeyRing::new();
    for key in keys {
        let error = |reason: &str| LabConfigError(format!("key {}: {reason}", key.raw.api_key));
        let verifier = match (key.raw.kind.as_str(), &key.raw.secret, &key.raw.public_key_pem) {
            (HMAC, Some(secret), None) => SignatureVerifier::hmac(secret),
            (HMAC, ..) => return Err(error("an HMAC key has a secret")),
            (kind, None, Some(pem)) => SignatureVerifier::from_public_pem(kind, pem).map_err(error)?,
            _ => return Err(error("RSA and ED25519 keys have a publicKeyPem")),
        };
        let rights = KeyRights { may_trade: key.raw.may_trade, may_withdraw: key.raw.may_withdraw };
        if ring.insert(key.raw.api_key.clone(), ApiKey { account: key.account, rights, verifier }).is_some() {
            return Err(error("is there twice"));
        }
    }
    Ok(ring)
}

/// The demo's keys, made at the first start; the file that names them.
pub(crate) fn demo(folder: &Path, accounts: &[AccountRules]) -> io::Result<(KeyRing, PathBuf)> {
    let path = folder.join(KEY_FILE);
    if !path.exists() {
        write_keys(&path, &generate(accounts)?)?;
    }
    let keys: Vec<DemoKey> = serde_json::from_slice(&fs::read(&path)?).map_err(io::Error::other)?;
    let mut ring = KeyRing::new();
    for key in keys {
        let account = accounts.iter().position(|account| account.name == key.account);
        let account = account.and_then(|account| u32::try_from(account).ok());
        let account = account.ok_or_else(|| io::Error::other(format!("{} is no account", key.account)))?;
        let verifier = key.verifier().map_err(|reason| io::Error::other(format!("{}: {reason}", key.api_key)))?;
        ring.insert(key.api_key, ApiKey { account, rights: KeyRights::default(), verifier });
    }
    Ok((ring, path))
}

impl DemoKey {
    fn verifier(&self) -> Result<SignatureVerifier, &'static str> {
        let pem = self.private_key_pem.as_deref().unwrap_or_default();
        match self.kind.as_str() {
            HMAC => self.secret.as_deref().map(SignatureVerifier::hmac).ok_or("an HMAC key has a secret"),
            RSA => {
                let pair = RsaKeyPair::from_pkcs8(&pem_bytes(pem)?).map_err(|_| "not an RSA key in PKCS#8")?;
                Ok(SignatureVerifier::Rsa(pair.public_key().as_ref().to_vec()))
            }
            ED25519 => {
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&pem_bytes(pem)?)
                    .map_err(|_| "not an Ed25519 key in PKCS#8")?;
                Ok(SignatureVerifier::Ed25519(pair.public_key().as_ref().to_vec()))
            }
            _ => Err("not HMAC, RSA or ED25519"),
        }
    }
}

fn generate(accounts: &[AccountRules]) -> io::Result<Vec<DemoKey>> {
    let mut keys = Vec::new();
    for (account, rsa) in accounts.iter().zip(DEMO_RSA.iter().cycle()) {
        let key = |kind: &str, secret, private_key_pem| -> io::Result<DemoKey> {
            let (account, api_key) = (account.name.clone(), random_text()?);
            Ok(DemoKey { account, api_key, kind: kind.to_owned(), secret, private_key_pem })
        };
        keys.push(key(HMAC, Some(random_text()?), None)?);
        keys.push(key(RSA, None, Some((*rsa).to_owned()))?);
        keys.push(key(ED25519, None, Some(ed25519_pem()?))?);
    }
    Ok(keys)
}

/// PKCS#8 version 1 without the public key, as other programs read it.
fn ed25519_pem() -> io::Result<String> {
    let mut seed = [0_u8; 32];
    getrandom::fill(&mut seed).map_err(io::Error::other)?;
    let head = [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];
    Ok(pem_text("PRIVATE KEY", &[head.as_slice(), seed.as_slice()].concat()))
}

pub(crate) fn random_text() -> io::Result<String> {
    let letters = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut bytes = [0_u8; API_KEY_LENGTH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| char::from(letters[usize::from(*byte) % letters.len()])).collect())
}

fn write_keys(path: &Path, keys: &[DemoKey]) -> io::Result<()> {
    let text = serde_json::to_string_pretty(keys).map_err(io::Error::other)?;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
