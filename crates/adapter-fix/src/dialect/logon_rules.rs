//! How a session logs on: user and password, or a signature of the header, and further fields of the Logon (A).

use adapter_kit::signing::{SignatureText, SigningAlgorithm};
use fix::tag::{self, Tag};

use super::section::{Problems, Section};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogonRules {
    pub credentials: LogonCredentials,
    /// Fields that the venue wants besides.
    pub fields: Vec<SessionField>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogonCredentials {
    None,
    /// Username (553) and Password (554).
    Password,
    /// A key, and a signature by it.
    Signature(SignatureRules),
    /// A key (553), a nonce (96), and the hash of nonce and secret (554).
    NonceHash,
}

/// What is signed, and where key and signature stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureRules {
    pub algorithm: SigningAlgorithm,
    /// Fields of the header, in the order in which they are signed.
    pub fields: Vec<Tag>,
    /// What stands between their values.
    pub separator: &'static str,
    pub encoding: SignatureText,
    /// The field that names the key.
    pub key_tag: Tag,
    /// The field of the signature.
    pub tag: Tag,
    /// The secret is the Base64 of the key for HMAC.
    pub has_base64_secret: bool,
}

impl LogonRules {
    /// Fields of the Logon that the file names.
    pub fn tags(&self) -> Vec<Tag> {
        let added = self.fields.iter().map(|field| field.tag);
        match &self.credentials {
            LogonCredentials::Signature(rules) => {
                let passphrase = rules.has_passphrase().then_some(tag::PASSWORD);
                added.chain([rules.key_tag, rules.tag]).chain(rules.length_tag()).chain(passphrase).collect()
            }
            LogonCredentials::None | LogonCredentials::Password | LogonCredentials::NonceHash => added.collect(),
        }
    }

    /// Fields besides passwords and RawData (96) that no log may show.
    pub fn secret_tags(&self) -> Vec<Tag> {
        match &self.credentials {
            LogonCredentials::Signature(rules) => vec![rules.tag],
            LogonCredentials::None | LogonCredentials::Password | LogonCredentials::NonceHash => Vec::new(),
        }
    }
}

impl SignatureRules {
    /// Of a data field, such as Signature (89) or RawData (96), the field of its length.
    pub fn length_tag(&self) -> Option<Tag> {
        tag::length_before(self.tag)
    }

    /// Password (554) is the passphrase of the key, and signed.
    pub fn has_passphrase(&self) -> bool {
        self.fields.contains(&tag::PASSWORD)
    }
}

/// A field of the Logon, or of every header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionField {
    pub tag: Tag,
    pub value: String,
    /// Sessions that have it.
    pub sessions: Vec<SessionRole>,
}

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionRole {
    Orders,
    DropCopy,
    Prices,
}

impl SessionRole {
    pub const ALL: [Self; 3] = [Self::Orders, Self::DropCopy, Self::Prices];

    pub fn name(self) -> &'static str {
        match self {
            Self::Orders => "orders",
            Self::DropCopy => "dropCopy",
            Self::Prices => "prices",
        }
    }
}

/// Fields of a header that are signed unless the dialect says otherwise.
const SIGNED_FIELDS: [Tag; 5] =
    [tag::MSG_TYPE, tag::SENDER_COMP_ID, tag::TARGET_COMP_ID, tag::MSG_SEQ_NUM, tag::SENDING_TIME];
/// Fields of a Logon that follow from the session.
const LOGON_FIELDS: [Tag; 5] = [98, 108, 141, 789, 1137];
const TAG_MAX: Tag = 999_999_999;

/// Fields of the header that say for whom a message is, and from whom; the rest of the header is the session's.
const ADDRESS_FIELDS: [Tag; 10] = [50, 57, 115, 116, 128, 129, 142, 143, 144, 145];

/// Whether a dialect may set this field of the header.
pub(super) fn is_address(tag: Tag) -> bool {
    ADDRESS_FIELDS.contains(&tag)
}

/// Words of `logon.credentials`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CredentialsWord {
    None,
    Password,
    Signature,
    NonceHash,
}

pub(super) fn logon(section: &Section<'_>, has_password: bool, problems: &mut Problems<'_>) -> LogonRules {
    section.check_keys(&["credentials", "signature", "fields"], problems);
    let words = [
        ("none", CredentialsWord::None),
        ("password", CredentialsWord::Password),
        ("signature", CredentialsWord::Signature),
        ("nonce-hash", CredentialsWord::NonceHash),
    ];
    let word = section.choice("credentials", &words, problems).unwrap_or(CredentialsWord::None);
    if !has_password && matches!(word, CredentialsWord::Password | CredentialsWord::NonceHash) {
        section.refuse::<()>("credentials", "FIX.4.2 has no Username and Password", problems);
    }
    let rules = section.section("signature", problems);
    if word != CredentialsWord::Signature && rules.is_present() {
        section.refuse::<()>("signature", "is for credentials = \"signature\" alone", problems);
    }
    let credentials = match word {
        CredentialsWord::None => LogonCredentials::None,
        CredentialsWord::Password => LogonCredentials::Password,
        CredentialsWord::Signature => LogonCredentials::Signature(signature(&rules, problems)),
        CredentialsWord::NonceHash => LogonCredentials::NonceHash,
    };
    LogonRules { fields: session_fields(section, "fields", logon_tag_problem, problems), credentials }
}

/// Those of every header.
pub(super) fn header(session: &Section<'_>, problems: &mut Problems<'_>) -> Vec<SessionField> {
    session_fields(session, "header", header_tag_problem, problems)
}

fn signature(section: &Section<'_>, problems: &mut Problems<'_>) -> SignatureRules {
    section.check_keys(&["algorithm", "fields", "separator", "encoding", "secret", "keyTag", "tag"], problems);
    let algorithms =
        [("ed25519", SigningAlgorithm::Ed25519), ("rsa", SigningAlgorithm::Rsa), ("hmac", SigningAlgorithm::Hmac)];
    let algorithm = section.choice("algorithm", &algorithms, problems);
    if algorithm.is_none() && !section.keys().iter().any(|(key, _)| key == "algorithm") {
        section.refuse::<()>("algorithm", "is missing", problems);
    }
    let fields = section.tags("fields", problems).unwrap_or_else(|| SIGNED_FIELDS.to_vec());
    let is_known = |field: &&Tag| SIGNED_FIELDS.contains(field) || **field == tag::PASSWORD;
    for field in fields.iter().filter(|field| !is_known(field)) {
        section.refuse::<()>("fields", &format!("{field} cannot be signed (known: 35, 49, 56, 34, 52, 554)"), problems);
    }
    let has_base64_secret = section.choice("secret", &[("text", false), ("base64", true)], problems).unwrap_or(false);
    if has_base64_secret && algorithm.is_some_and(|algorithm| algorithm != SigningAlgorithm::Hmac) {
        section.refuse::<()>("secret", "is for hmac alone", problems);
    }
    let encodings = [("base64", SignatureText::Base64), ("hex", SignatureText::Hex)];
    SignatureRules {
        algorithm: algorithm.unwrap_or(SigningAlgorithm::Ed25519),
        fields,
        separator: section.choice("separator", &[("soh", "\u{1}"), ("none", "")], problems).unwrap_or("\u{1}"),
        encoding: section.choice("encoding", &encodings, problems).unwrap_or(SignatureText::Base64),
        key_tag: section.whole("keyTag", 1..=TAG_MAX, problems).unwrap_or(tag::USERNAME),
        tag: section.whole("tag", 1..=TAG_MAX, problems).unwrap_or(tag::RAW_DATA),
        has_base64_secret,
    }
}

fn logon_tag_problem(tag: Tag) -> Option<String> {
    let is_of_session = tag::is_header(tag) && !is_address(tag) || tag::is_trailer(tag);
    (is_of_session || LOGON_FIELDS.contains(&tag)).then(|| format!("{tag} is set by the platform"))
}

fn header_tag_problem(tag: Tag) -> Option<String> {
    let known = || ADDRESS_FIELDS.map(|tag| tag.to_string()).join(", ");
    (!is_address(tag)).then(|| format!("{tag} is no field of the header that can be set (known: {})", known()))
}

fn session_fields(
    parent: &Section<'_>,
    key: &str,
    tag_problem: fn(Tag) -> Option<String>,
    problems: &mut Problems<'_>,
) -> Vec<SessionField> {
    let mut fields: Vec<SessionField> = Vec::new();
    for section in parent.sections(key, problems) {
        let Some(field) = session_field(&section, tag_problem, problems) else { continue };
        let is_same = |known: &&SessionField| known.tag == field.tag;
        let again = fields.iter().filter(is_same).flat_map(|known| &known.sessions);
        if let Some(role) = again.into_iter().find(|role| field.sessions.contains(role)) {
            let reason = format!("{} stands twice in the session {}", field.tag, role.name());
            section.refuse::<()>("tag", &reason, problems);
        }
        fields.push(field);
    }
    fields
}

fn session_field(
    section: &Section<'_>,
    tag_problem: fn(Tag) -> Option<String>,
    problems: &mut Problems<'_>,
) -> Option<SessionField> {
    section.check_keys(&["tag", "value", "sessions"], problems);
    let tag: Option<Tag> = section.required_whole("tag", 1..=TAG_MAX, problems);
    if let Some(reason) = tag.and_then(tag_problem) {
        section.refuse::<()>("tag", &reason, problems);
    }
    let value = section.required_text("value", problems);
    if value.as_ref().is_some_and(|value| value.starts_with('{') && value.ends_with('}')) {
        section.refuse::<()>("value", "a message of the session is about no order: the value is a text", problems);
    }
    let names = section.texts("sessions", problems);
    let sessions = names.map_or_else(|| SessionRole::ALL.to_vec(), |names| roles(section, &names, problems));
    Some(SessionField { tag: tag?, value: value?, sessions })
}

fn roles(section: &Section<'_>, names: &[String], problems: &mut Problems<'_>) -> Vec<SessionRole> {
    let mut roles = Vec::new();
    for name in names {
        match SessionRole::ALL.into_iter().find(|role| role.name() == name) {
            Some(role) => roles.push(role),
            None => {
                let reason = format!("{name} is no session (known: orders, dropCopy, prices)");
                section.refuse::<()>("sessions", &reason, problems);
            }
        }
    }
    roles
}
