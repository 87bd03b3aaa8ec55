//! Masker: takes secrets out of texts before they are written.

use base64ct::{Base64, Encoding};
use secrecy::{ExposeSecret, SecretString};

use crate::credentials::VenueCredentials;

/// Stands where a secret was.
pub const MASK: &str = "***";

/// Headers whose values are never written.
const SECRET_HEADERS: [&str; 6] =
    ["authorization", "proxy-authorization", "cookie", "set-cookie", "x-mbx-apikey", "x-api-key"];

/// Parameters and JSON members whose values are never written, besides the venue's own.
const SECRET_NAMES: [&str; 8] =
    ["signature", "apiKey", "api_key", "secret", "password", "passphrase", "listenKey", "token"];

/// Shorter parts of a secret than this are not searched for: they would mask ordinary text.
const PART_CHARS_MIN: usize = 8;

#[derive(Debug, Default)]
pub struct Masker {
    secrets: Vec<SecretString>,
    headers: Vec<String>,
    names: Vec<String>,
}

impl Masker {
    pub fn new() -> Self {
        let texts = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self { secrets: Vec::new(), headers: texts(&SECRET_HEADERS), names: texts(&SECRET_NAMES) }
    }

    /// Masks everything of these credentials from now on, also after they were replaced.
    pub fn add_credentials(&mut self, credentials: &VenueCredentials) {
        for secret in credentials.secrets() {
            self.add_secret(secret.expose_secret());
        }
    }

    pub fn add_secret(&mut self, secret: &str) {
        // A key in PEM is also masked line by line.
        for part in std::iter::once(secret).chain(secret.lines()) {
            let part = part.trim();
            if part.chars().count() >= PART_CHARS_MIN && !part.starts_with("-----") {
                self.secrets.extend(spellings(part));
            }
        }
        self.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
    }

    /// A further header whose value is secret at this venue.
    pub fn add_header(&mut self, name: &str) {
        self.headers.push(name.to_lowercase());
    }

    /// A further parameter or JSON member whose value is secret at this venue.
    pub fn add_name(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    pub fn mask(&self, text: &str) -> String {
        let mut masked = text.to_owned();
        for secret in &self.secrets {
            if masked.contains(secret.expose_secret()) {
                masked = masked.replace(secret.expose_secret(), MASK);
            }
        }
        for name in &self.names {
            masked = mask_values(&masked, &format!("\"{name}\""), json_value);
            masked = mask_values(&masked, &format!("{name}="), parameter_value);
        }
        masked
    }

    pub fn mask_headers(&self, headers: &[(String, String)]) -> Vec<(String, String)> {
        let masked = |(name, value): &(String, String)| {
            let is_secret = self.headers.contains(&name.to_lowercase());
            (name.clone(), if is_secret { MASK.to_owned() } else { self.mask(value) })
        };
        headers.iter().map(masked).collect()
    }
}

/// The ways in which a secret may stand in a message.
fn spellings(secret: &str) -> Vec<SecretString> {
    let percent: String = secret.bytes().map(percent_encoded).collect();
    let json = serde_json::Value::from(secret).to_string();
    let json = json[1..json.len() - 1].to_owned();
    let base64 = Base64::encode_string(secret.as_bytes());
    let mut spellings = vec![secret.to_owned(), percent.to_lowercase(), percent, json, base64];
    spellings.dedup();
    spellings.into_iter().map(SecretString::from).collect()
}

fn percent_encoded(byte: u8) -> String {
    let is_plain = byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    if is_plain { char::from(byte).to_string() } else { format!("%{byte:02X}") }
}

/// Masks what `value` finds behind each place where `name` stands as a whole word.
fn mask_values(text: &str, name: &str, value: fn(&str) -> Option<(usize, usize)>) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(name) {
        let (before, behind) = rest.split_at(at + name.len());
        let is_word = !before[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
        masked.push_str(before);
        rest = behind;
        if let Some((start, end)) = value(behind).filter(|_| is_word) {
            masked.push_str(&behind[..start]);
            masked.push_str(MASK);
            rest = &behind[end..];
        }
    }
    masked.push_str(rest);
    masked
}

/// Where the text behind `"name"` begins and ends, without its quotes.
fn json_value(behind: &str) -> Option<(usize, usize)> {
    let colon = behind.trim_start().strip_prefix(':')?;
    let quoted = colon.trim_start().strip_prefix('"')?;
    let start = behind.len() - quoted.len();
    let mut is_escaped = false;
    for (index, character) in quoted.char_indices() {
        match character {
            '"' if !is_escaped => return Some((start, start + index)),
            '\\' if !is_escaped => is_escaped = true,
            _ => is_escaped = false,
        }
    }
    Some((start, behind.len()))
}

fn parameter_value(behind: &str) -> Option<(usize, usize)> {
    let ends = |c: char| c == '&' || c == '"' || c.is_whitespace() || c.is_control();
    let end = behind.find(ends).unwrap_or(behind.len());
    (end > 0).then_some((0, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credentials::SigningKey;

    fn masker() -> Masker {
        let mut masker = Masker::new();
        let pem =
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIE\nIAbcdefgh+/ijklmnop=\n-----END PRIVATE KEY-----\n";
        masker.add_credentials(&VenueCredentials::new("planted-key-1".into(), SigningKey::PrivateKey(pem.into())));
        masker.add_secret("p\"ass/wörd");
        masker
    }

    #[test]
    fn secrets_are_masked_in_every_spelling() {
        let masker = masker();
        let mask = |text: &str| masker.mask(text);
        assert_eq!(mask("key planted-key-1, again planted-key-1!"), "key ***, again ***!");
        assert_eq!(mask("a p\"ass/wörd b"), "a *** b");
        assert_eq!(mask("a p%22ass%2Fw%C3%B6rd b p%22ass%2fw%c3%b6rd"), "a *** b ***");
        assert_eq!(mask(r#"{"x":"p\"ass/wörd"}"#), r#"{"x":"***"}"#);
        assert_eq!(mask(&Base64::encode_string("p\"ass/wörd".as_bytes())), "***");
        assert_eq!(mask("only IAbcdefgh+/ijklmnop= of it"), "only *** of it");
        assert_eq!(mask("nothing here"), "nothing here");
    }

    #[test]
    fn values_of_secret_names_are_masked() {
        let mut masker = masker();
        masker.add_name("otp");
        let mask = |text: &str| masker.mask(text);
        assert_eq!(mask("/order?symbol=A&signature=0aF%3D&timestamp=1"), "/order?symbol=A&signature=***&timestamp=1");
        assert_eq!(mask("mysignature=1&signature="), "mysignature=1&signature=");
        assert_eq!(mask(r#"{"signature" : "a\"b","id":1,"otp":"77"}"#), r#"{"signature" : "***","id":1,"otp":"***"}"#);
        assert_eq!(mask(r#"{"secret":"never ends"#), r#"{"secret":"***"#);
        assert_eq!(mask(r#"{"token":null}"#), r#"{"token":null}"#);
    }

    #[test]
    fn values_of_secret_headers_are_masked() {
        let mut masker = masker();
        masker.add_header("X-Venue-Sign");
        let headers = [("X-MBX-APIKEY", "unknown"), ("x-venue-sign", "abc"), ("X-Other", "a planted-key-1")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let masked: Vec<_> = masker.mask_headers(&headers).into_iter().map(|(_, value)| value).collect();
        assert_eq!(masked, ["***", "***", "a ***"]);
    }
}
