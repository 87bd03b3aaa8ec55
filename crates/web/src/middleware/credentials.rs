//! Credentials of a request: `Authorization` header, else the session cookie.

use access::{AccessCredentials, SecretString};
use axum::http::{HeaderMap, HeaderValue, header};
use base64ct::{Base64, Encoding};

/// The cookie of a session. Under TLS its name makes browsers withhold it from other hosts and from plain HTTP.
pub(crate) fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-rialto-session" } else { "rialto-session" }
}

/// A header that is present decides: a cookie does not replace an invalid one.
pub(crate) fn from_headers(headers: &HeaderMap, secure: bool) -> AccessCredentials {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (Some(one), None) => from_authorization(one),
        (Some(_), Some(_)) => AccessCredentials::Unreadable("the header Authorization stands twice"),
        (None, _) => session_secret(headers, secure).map_or(AccessCredentials::Anonymous, AccessCredentials::Session),
    }
}

fn from_authorization(value: &HeaderValue) -> AccessCredentials {
    let Some((scheme, rest)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return AccessCredentials::Unreadable("the header Authorization is neither Basic nor Bearer");
    };
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => {
            from_basic(rest.trim()).unwrap_or(AccessCredentials::Unreadable("Basic is not followed by user:password"))
        }
        "bearer" => AccessCredentials::Token(rest.trim().into()),
        _ => AccessCredentials::Unreadable("the header Authorization is neither Basic nor Bearer"),
    }
}

fn from_basic(encoded: &str) -> Option<AccessCredentials> {
    let text = String::from_utf8(Base64::decode_vec(encoded).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some(AccessCredentials::login(user, password.into()))
}

/// The secret of a session.
pub(crate) fn session_secret(headers: &HeaderMap, secure: bool) -> Option<SecretString> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == cookie_name(secure)).map(|(_, secret)| secret.into())
}

#[cfg(test)]
mod tests {
    use access::ExposeSecret;

    use super::*;

    fn show(lines: &[(&'static str, &str)], secure: bool) -> String {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        match from_headers(&headers, secure) {
            AccessCredentials::Anonymous => "nothing".into(),
            AccessCredentials::Password { user, password } => format!("{user} with {}", password.expose_secret()),
            AccessCredentials::Token(token) => format!("token {}", token.expose_secret()),
            AccessCredentials::Session(secret) => format!("session {}", secret.expose_secret()),
            AccessCredentials::Unreadable(reason) => reason.into(),
        }
    }

    #[test]
    fn a_header_is_read_in_any_case_and_a_password_may_hold_colons() {
        let basic = Base64::encode_string("anna:correct: horse".as_bytes());
        for scheme in ["Basic", "basic", "BASIC "] {
            assert_eq!(show(&[("authorization", &format!("{scheme} {basic}"))], false), "anna with correct: horse");
        }
        assert_eq!(show(&[("authorization", "bearer abc")], false), "token abc");
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let neither = "the header Authorization is neither Basic nor Bearer";
        for value in ["Digest abc", "abc", ""] {
            assert_eq!(show(&[("authorization", value)], false), neither, "{value}");
        }
        let no_colon = Base64::encode_string(b"anna");
        for value in ["Basic %%%", &format!("Basic {no_colon}"), "Basic /w=="] {
            assert_eq!(show(&[("authorization", value)], false), "Basic is not followed by user:password", "{value}");
        }
        let twice = [("authorization", "Bearer a"), ("authorization", "Bearer b")];
        assert_eq!(show(&twice, false), "the header Authorization stands twice");
    }

    #[test]
    fn a_cookie_counts_under_the_name_that_belongs_to_the_scheme() {
        let both = [("cookie", "a=b; rialto-session=plain"), ("cookie", "__Host-rialto-session=secure")];
        assert_eq!(show(&both, false), "session plain");
        assert_eq!(show(&both, true), "session secure");
        assert_eq!(show(&both[..1], true), "nothing");
        let header_too = [("authorization", "Bearer a"), ("cookie", "rialto-session=plain")];
        assert_eq!(show(&header_too, false), "token a");
    }
}
