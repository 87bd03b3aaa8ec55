//! Signatures of requests: HMAC-SHA256 in hexadecimal, RSA (PKCS#1 v1.5, SHA-256) and Ed25519 in base64.

use base64ct::{Base64, Encoding};
use ring::{hmac, signature};

/// Verifies what the owner of a key has signed.
pub(crate) enum SignatureVerifier {
    Hmac(hmac::Key),
    Rsa(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// The kinds of keys, as the lab's files name them.
pub(crate) const HMAC: &str = "HMAC";
pub(crate) const RSA: &str = "RSA";
pub(crate) const ED25519: &str = "ED25519";

impl SignatureVerifier {
    pub(crate) fn hmac(secret: &str) -> Self {
        Self::Hmac(hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()))
    }

    /// From a PEM with the public key as SubjectPublicKeyInfo.
    pub(crate) fn from_public_pem(kind: &str, pem: &str) -> Result<Self, &'static str> {
        let key = public_key_of(&pem_bytes(pem)?).ok_or("not a public key in SubjectPublicKeyInfo")?;
        match kind {
            RSA => Ok(Self::Rsa(key)),
            ED25519 if key.len() == 32 => Ok(Self::Ed25519(key)),
            ED25519 => Err("not an Ed25519 key"),
            _ => Err("not HMAC, RSA or ED25519"),
        }
    }

    /// Ed25519 keys alone may log on to a session.
    pub(crate) fn is_ed25519(&self) -> bool {
        matches!(self, Self::Ed25519(_))
    }

    pub(crate) fn verifies(&self, payload: &[u8], signed: &str) -> bool {
        match self {
            Self::Hmac(key) => hex_bytes(signed).is_some_and(|tag| hmac::verify(key, payload, &tag).is_ok()),
            Self::Rsa(key) => verifies(&signature::RSA_PKCS1_2048_8192_SHA256, key, payload, signed),
            Self::Ed25519(key) => verifies(&signature::ED25519, key, payload, signed),
        }
    }
}

fn verifies(
    algorithm: &'static dyn signature::VerificationAlgorithm,
    key: &[u8],
    payload: &[u8],
    signed: &str,
) -> bool {
    let Ok(signed) = Base64::decode_vec(signed) else { return false };
    signature::UnparsedPublicKey::new(algorithm, key).verify(payload, &signed).is_ok()
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.is_ascii() {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

/// The bytes between the two lines of a PEM file.
pub(crate) fn pem_bytes(pem: &str) -> Result<Vec<u8>, &'static str> {
    let body: String = pem.lines().map(str::trim).filter(|line| !line.starts_with("-----")).collect();
    Base64::decode_vec(&body).map_err(|_| "not a PEM file")
}

pub(crate) fn pem_text(label: &str, bytes: &[u8]) -> String {
    let body = Base64::encode_string(bytes);
    let lines: Vec<_> = body.as_bytes().chunks(64).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

/// SEQUENCE { SEQUENCE { algorithm }, BIT STRING { 0, key } }
fn public_key_of(der: &[u8]) -> Option<Vec<u8>> {
    let (tag, whole, _) = der_value(der)?;
    let (_, _, rest) = der_value(whole).filter(|_| tag == 0x30)?;
    let (tag, bits, _) = der_value(rest)?;
    let (unused, key) = bits.split_first().filter(|_| tag == 0x03)?;
    (*unused == 0).then(|| key.to_vec())
}

/// Tag, value and what follows.
fn der_value(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (tag, rest) = bytes.split_first()?;
    let (first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(*first) {
        short if short < 0x80 => (short, rest),
        long => {
            let (digits, rest) = rest.split_at_checked(long - 0x80).filter(|(digits, _)| digits.len() <= 4)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (value, after) = rest.split_at_checked(length)?;
    Some((*tag, value, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the venue's documentation.
    const SECRET: &str = "NhqPtmdSJYdKjVHjA7PZj4Mge3R5YNiP1e3UZjInClVN65XAbvqqM6A7H5fATj0j";

    fn documented(symbol: &str) -> String {
        format!(
            "symbol={symbol}&side=BUY&type=LIMIT&timeInForce=GTC&quantity=1&price=0.1&recvWindow=5000\
             &timestamp=1499827319559"
        )
    }

    #[test]
    fn the_documented_hmac_signatures_verify_in_either_case() {
        let verifier = SignatureVerifier::hmac(SECRET);
        let signature = "c8db56825ae71d6d79447849e617115f4a920fa2acdcab2b053c4b2838bd6b71";
        let payload = documented("LTCBTC");
        assert!(verifier.verifies(payload.as_bytes(), signature));
        assert!(verifier.verifies(payload.as_bytes(), &signature.to_uppercase()));
        assert!(!verifier.verifies(documented("LTCBNB").as_bytes(), signature));
        assert!(!verifier.verifies(payload.as_bytes(), "c8"));
        assert!(!verifier.verifies(payload.as_bytes(), "no hex"));
    }

    #[test]
    fn the_documented_signature_of_a_symbol_that_is_not_ascii_verifies() {
        let payload = documented("%EF%BC%91%EF%BC%92%EF%BC%93%EF%BC%94%EF%BC%95%EF%BC%96");
        let signature = "e1353ec6b14d888f1164ae9af8228a3dbd508bc82eb867db8ab6046442f33ef3";
        assert!(SignatureVerifier::hmac(SECRET).verifies(payload.as_bytes(), signature));
    }

    #[test]
    fn what_is_no_public_key_is_refused() {
        let refused = |kind, pem| SignatureVerifier::from_public_pem(kind, pem).err();
        assert_eq!(refused(RSA, "hello"), Some("not a PEM file"));
        assert_eq!(
            refused(ED25519, &pem_text("PUBLIC KEY", b"hello")),
            Some("not a public key in SubjectPublicKeyInfo")
        );
    }
}
