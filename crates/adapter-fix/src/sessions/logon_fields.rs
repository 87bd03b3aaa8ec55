//! What a Logon (A) has beyond the standard's fields: those of the dialect, and a signature of its header.

use std::fmt;
use std::sync::Arc;

use adapter_kit::signing::RequestSigner;
use fix::tag::{self, Tag};
use fix::{LogonHeader, LogonWriter, OutgoingMessage};

use crate::dialect::{Dialect, LogonCredentials, SessionRole, SignatureRules};

/// Of the messages of the session, in both Logons.
pub(crate) const DEFAULT_APPL_VER_ID: Tag = 1137;
/// RawDataLength (95).
const RAW_DATA_LENGTH: Tag = 95;

/// Writes them for one session.
pub(crate) struct LogonFields {
    fields: Vec<(Tag, String)>,
    signature: Option<(SignatureRules, Arc<RequestSigner>)>,
}

impl LogonFields {
    /// The signer is needed where the dialect signs.
    pub(crate) fn new(dialect: &Dialect, role: SessionRole, signer: Option<Arc<RequestSigner>>) -> Self {
        let added = dialect.logon.fields.iter().filter(|field| field.sessions.contains(&role));
        let version = dialect.version.appl_ver_id().map(|version| (DEFAULT_APPL_VER_ID, version.to_owned()));
        let fields = version.into_iter().chain(added.map(|field| (field.tag, field.value.clone()))).collect();
        let signature = match &dialect.logon.credentials {
            LogonCredentials::Signature(rules) => signer.map(|signer| (rules.clone(), signer)),
            LogonCredentials::None | LogonCredentials::Password => None,
        };
        Self { fields, signature }
    }
}

impl LogonWriter for LogonFields {
    fn write(&self, header: &LogonHeader<'_>, logon: &mut OutgoingMessage) {
        for (tag, value) in &self.fields {
            logon.field(*tag, value);
        }
        let Some((rules, signer)) = &self.signature else { return };
        logon.field(rules.key_tag, signer.api_key());
        // Without a signature the venue refuses the Logon, and says why.
        match signer.sign_as(rules.encoding, &signed(rules, header)) {
            Ok(signature) => {
                if rules.tag == tag::RAW_DATA {
                    logon.display(RAW_DATA_LENGTH, signature.len());
                }
                logon.field(rules.tag, signature);
            }
            Err(error) => tracing::error!(%error, "the Logon is not signed"),
        }
    }
}

fn signed(rules: &SignatureRules, header: &LogonHeader<'_>) -> String {
    let value = |tag: &Tag| match *tag {
        tag::MSG_TYPE => "A".to_owned(),
        tag::SENDER_COMP_ID => header.sender.to_owned(),
        tag::TARGET_COMP_ID => header.target.to_owned(),
        tag::MSG_SEQ_NUM => header.number.to_string(),
        _ => header.sending_time.clone(),
    };
    rules.fields.iter().map(value).collect::<Vec<_>>().join(rules.separator)
}

impl fmt::Debug for LogonFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tags: Vec<Tag> = self.fields.iter().map(|(tag, _)| *tag).collect();
        f.debug_struct("LogonFields").field("tags", &tags).field("is_signed", &self.signature.is_some()).finish()
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

    #[test]
    fn the_logon_is_signed_as_documented() {
        let dialect = Dialect::shipped("binance-spot").unwrap();
        let credentials = VenueCredentials::new(
            "sBRXrJx2DsOraMXOaUovEhgVRcjOvCtQwnWj8VxkOh1xqboS02SPGfKi2h8spZJb".into(),
            SigningKey::PrivateKey(DOCUMENTED_KEY.into()),
        );
        let signer = Arc::new(RequestSigner::new(&credentials).unwrap());
        let header = LogonHeader {
            sender: "EXAMPLE",
            target: "SPOT",
            number: 1,
            sending_time: "20240627-11:17:25.223".to_owned(),
        };
        let written = |role| {
            let mut logon = OutgoingMessage::new("A");
            LogonFields::new(&dialect, role, Some(signer.clone())).write(&header, &mut logon);
            let fields = logon.fields_in_order();
            fields.into_iter().map(|(tag, value)| (tag, String::from_utf8(value.to_vec()).unwrap())).collect::<Vec<_>>()
        };
        let orders = written(SessionRole::Orders);
        assert!(orders.contains(&(96, DOCUMENTED_SIGNATURE.to_owned())), "{orders:?}");
        assert!(orders.contains(&(95, "88".to_owned())) && !orders.iter().any(|(tag, _)| *tag == 9406), "{orders:?}");
        assert!(written(SessionRole::DropCopy).contains(&(9406, "Y".to_owned())));
    }
}
