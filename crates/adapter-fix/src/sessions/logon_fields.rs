//! What a Logon (A) has beyond the standard's fields: those of the dialect, and a signature of its header.

use std::fmt;
use std::sync::Arc;

use adapter_kit::credentials::{ExposeSecret, SecretString};
use adapter_kit::signing::{NonceHash, RequestSigner};
use fix::tag::{self, Tag};
use fix::{LogonHeader, LogonWriter, OutgoingMessage, UtcTimestamp};

use crate::dialect::{Dialect, LogonCredentials, SessionRole, SignatureRules};

/// Of the messages of the session, in both Logons.
pub(crate) const DEFAULT_APPL_VER_ID: Tag = 1137;
/// RawDataLength (95).
const RAW_DATA_LENGTH: Tag = 95;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// What proves who logs on.
pub(crate) enum LogonSigner {
    Signature { rules: Box<SignatureRules>, signer: Box<RequestSigner>, passphrase: Option<SecretString> },
    NonceHash(NonceHash),
}

/// Writes them for one session.
pub(crate) struct LogonFields {
    fields: Vec<(Tag, String)>,
    signer: Option<Arc<LogonSigner>>,
}

impl LogonFields {
    /// The signer is needed where the dialect signs.
    pub(crate) fn new(dialect: &Dialect, role: SessionRole, signer: Option<Arc<LogonSigner>>) -> Self {
        let added = dialect.logon.fields.iter().filter(|field| field.sessions.contains(&role));
        let version = dialect.version.appl_ver_id().map(|version| (DEFAULT_APPL_VER_ID, version.to_owned()));
        let fields = version.into_iter().chain(added.map(|field| (field.tag, field.value.clone()))).collect();
        Self { fields, signer }
    }
}

impl LogonWriter for LogonFields {
    fn write(&self, header: &LogonHeader<'_>, logon: &mut OutgoingMessage) {
        for (tag, value) in &self.fields {
            logon.field(*tag, value);
        }
        let written = match self.signer.as_deref() {
            None => Ok(()),
            Some(LogonSigner::Signature { rules, signer, passphrase }) => {
                let passphrase = passphrase.as_ref().map(ExposeSecret::expose_secret);
                write_signature(rules, signer, passphrase, header, logon)
            }
            Some(LogonSigner::NonceHash(hash)) => write_nonce_hash(hash, header, logon),
        };
        // Without it the venue refuses the Logon, and says why.
        if let Err(error) = written {
            tracing::error!(%error, "the Logon is not signed");
        }
    }
}

type Written = Result<(), adapter_kit::signing::SigningKeyError>;

/// A Logon as a session of that dialect sends it, with a text in the place of what the credentials say.
pub(crate) fn sample_logon(dialect: &Dialect, role: SessionRole) -> OutgoingMessage {
    const TEXT: &str = "x";
    let mut logon = OutgoingMessage::new("A");
    logon.field(tag::ENCRYPT_METHOD, "0").display(tag::HEART_BT_INT, dialect.session.heartbeat_seconds);
    if dialect.session.reset_on_logon {
        logon.field(tag::RESET_SEQ_NUM_FLAG, "Y");
    }
    for (tag, value) in LogonFields::new(dialect, role, None).fields {
        logon.field(tag, value);
    }
    match &dialect.logon.credentials {
        LogonCredentials::None => {}
        LogonCredentials::Password => drop(logon.field(tag::USERNAME, TEXT).field(tag::PASSWORD, TEXT)),
        LogonCredentials::Signature(rules) => {
            logon.field(rules.key_tag, TEXT);
            write_signed(rules, rules.has_passphrase().then_some(TEXT), TEXT, &mut logon);
        }
        LogonCredentials::NonceHash => write_nonce((TEXT, TEXT, TEXT), &mut logon),
    }
    logon
}

fn write_signature(
    rules: &SignatureRules,
    signer: &RequestSigner,
    passphrase: Option<&str>,
    header: &LogonHeader<'_>,
    logon: &mut OutgoingMessage,
) -> Written {
    logon.field(rules.key_tag, signer.api_key());
    let signature = signer.sign_as(rules.encoding, &signed(rules, passphrase, header))?;
    write_signed(rules, passphrase, &signature, logon);
    Ok(())
}

fn write_signed(rules: &SignatureRules, passphrase: Option<&str>, signature: &str, logon: &mut OutgoingMessage) {
    if let Some(passphrase) = passphrase {
        logon.field(tag::PASSWORD, passphrase);
    }
    if let Some(length) = rules.length_tag() {
        logon.display(length, signature.len());
    }
    logon.field(rules.tag, signature);
}

fn write_nonce_hash(hash: &NonceHash, header: &LogonHeader<'_>, logon: &mut OutgoingMessage) -> Written {
    let at = UtcTimestamp::parse(header.sending_time.as_bytes()).map_or(0, UtcTimestamp::nanos);
    let nonce = NonceHash::nonce(at / NANOS_PER_MILLI)?;
    write_nonce((hash.api_key(), &hash.password(&nonce), &nonce), logon);
    Ok(())
}

fn write_nonce((key, password, nonce): (&str, &str, &str), logon: &mut OutgoingMessage) {
    logon.field(tag::USERNAME, key).field(tag::PASSWORD, password);
    logon.display(RAW_DATA_LENGTH, nonce.len()).field(tag::RAW_DATA, nonce);
}

fn signed(rules: &SignatureRules, passphrase: Option<&str>, header: &LogonHeader<'_>) -> String {
    let value = |tag: &Tag| match *tag {
        tag::MSG_TYPE => "A".to_owned(),
        tag::SENDER_COMP_ID => header.sender.to_owned(),
        tag::TARGET_COMP_ID => header.target.to_owned(),
        tag::MSG_SEQ_NUM => header.number.to_string(),
        tag::PASSWORD => passphrase.unwrap_or_default().to_owned(),
        _ => header.sending_time.clone(),
    };
    rules.fields.iter().map(value).collect::<Vec<_>>().join(rules.separator)
}

impl fmt::Debug for LogonFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags: Vec<Tag> = self.fields.iter().map(|(tag, _)| *tag).collect();
        f.debug_struct("LogonFields").field("tags", &tags).field("is_signed", &self.signer.is_some()).finish()
    }
}

#[cfg(test)]
mod tests {
    use adapter_kit::credentials::{SigningKey, VenueCredentials};

    use super::*;

    /// The example of Binance's documentation: its key, its header and the signature that follows.
    const DOCUMENTED_KEY: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIIJEYWtGBrhACmb9Dvy+qa8WEf0lQOl1s4CLIAB9m89u\n-----END PRIVATE KEY-----\n";
    const DOCUMENTED_SIGNATURE: &str =
        "4MHXelVVcpkdwuLbl6n73HQUXUf1dse2PCgT1DYqW9w8AVZ1RACFGM+5UdlGPrQHrgtS3CvsRURC1oj73j8gCA==";

    fn rules(dialect: &Dialect) -> SignatureRules {
        match &dialect.logon.credentials {
            LogonCredentials::Signature(rules) => rules.clone(),
            other => panic!("{other:?}"),
        }
    }

    fn written(
        dialect: &Dialect,
        role: SessionRole,
        signer: LogonSigner,
        header: &LogonHeader<'_>,
    ) -> Vec<(Tag, String)> {
        let mut logon = OutgoingMessage::new("A");
        LogonFields::new(dialect, role, Some(Arc::new(signer))).write(header, &mut logon);
        let fields = logon.fields_in_order();
        fields.into_iter().map(|(tag, value)| (tag, String::from_utf8(value.to_vec()).unwrap())).collect()
    }

    #[test]
    fn the_logon_is_signed_as_documented() {
        let dialect = Dialect::shipped("binance-spot").unwrap();
        let credentials = VenueCredentials::new(
            "sBRXrJx2DsOraMXOaUovEhgVRcjOvCtQwnWj8VxkOh1xqboS02SPGfKi2h8spZJb".into(),
            SigningKey::PrivateKey(DOCUMENTED_KEY.into()),
        );
        let header = LogonHeader {
            sender: "EXAMPLE",
            target: "SPOT",
            number: 1,
            sending_time: "20240627-11:17:25.223".to_owned(),
        };
        let written = |role| {
            let signer = RequestSigner::new(&credentials).unwrap();
            let signer =
                LogonSigner::Signature { rules: Box::new(rules(&dialect)), signer: Box::new(signer), passphrase: None };
            written(&dialect, role, signer, &header)
        };
        let orders = written(SessionRole::Orders);
        assert!(orders.contains(&(96, DOCUMENTED_SIGNATURE.to_owned())), "{orders:?}");
        assert!(orders.contains(&(95, "88".to_owned())) && !orders.iter().any(|(tag, _)| *tag == 9406), "{orders:?}");
        assert!(written(SessionRole::DropCopy).contains(&(9406, "Y".to_owned())));
    }

    /// The signature was made with Python's hmac and base64, over the fields of Coinbase's documentation in its order.
    #[test]
    fn a_passphrase_is_signed_with_the_header_and_the_secret_is_base64() {
        let dialect = Dialect::shipped("coinbase-exchange").unwrap();
        let credentials = VenueCredentials::new("key-1".into(), SigningKey::Secret("c2VjcmV0LW9mLWEtdGVzdA==".into()));
        let signer = RequestSigner::of_base64_secret(&credentials).unwrap();
        let signer = LogonSigner::Signature {
            rules: Box::new(rules(&dialect)),
            signer: Box::new(signer),
            passphrase: Some("phrase-1".into()),
        };
        let header = LogonHeader {
            sender: "key-1",
            target: "Coinbase",
            number: 1,
            sending_time: "20230822-20:40:00.000".to_owned(),
        };
        let fields = written(&dialect, SessionRole::Orders, signer, &header);
        let expected = [
            (95, "44"),
            (96, "71R2BobW3HgbL4aK0oacpvtH7gxC+3EqdW0JKQn2AS4="),
            (553, "key-1"),
            (554, "phrase-1"),
            (1137, "9"),
        ];
        assert_eq!(fields, expected.map(|(tag, value)| (tag, value.to_owned())));
    }

    #[test]
    fn a_nonce_has_the_time_and_its_hash_with_the_secret_is_the_password() {
        let dialect = Dialect::shipped("deribit").unwrap();
        let credentials = VenueCredentials::new("client-1".into(), SigningKey::Secret("s3cret".into()));
        let hash = || NonceHash::new(&credentials).unwrap();
        let header = LogonHeader {
            sender: "RIALTO",
            target: "DERIBITSERVER",
            number: 1,
            sending_time: "20261118-03:00:00.123".to_owned(),
        };
        let fields = written(&dialect, SessionRole::Orders, LogonSigner::NonceHash(hash()), &header);
        let value =
            |wanted: Tag| fields.iter().find(|(tag, _)| *tag == wanted).map(|(_, value)| value.clone()).unwrap();
        let nonce = value(96);
        assert!(nonce.starts_with("1794970800123.") && nonce.len() == "1794970800123.".len() + 44, "{nonce}");
        assert_eq!(
            [value(95), value(553), value(554)],
            [nonce.len().to_string(), "client-1".to_owned(), hash().password(&nonce)]
        );
        // By the shell: printf '1.bm9uY2Vs3cret' | openssl dgst -sha256 -binary | base64
        assert_eq!(hash().password("1.bm9uY2V"), "tDLclVGwSZtXVSo8pHICaSn2vxFWnhFPzbq7cu35e1g=");
        assert_ne!(NonceHash::nonce(1).unwrap(), NonceHash::nonce(1).unwrap());
    }
}
