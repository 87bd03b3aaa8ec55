//! Credentials of a request: `Authorization` header, else the session cookie.

use access::{Credentials, SecretString};
use axum::http::{HeaderMap, HeaderValue, header};
use base64ct::{Base64, Encoding};

/// The cookie of a session. Under TLS its name makes browsers withhold it from other hosts and from plain HTTP.
pub(crate) fn cookie_name(secure: bool) -> &'static str {
    if secure { "__Host-rialto-session" } else { "rialto-session" }
}

/// A header that is present decides: a cookie does not replace an invalid one.
pub(crate) fn shown(headers: &HeaderMap, secure: bool) -> Credentials {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    match (given.next(), given.next()) {
        (Some(one), None) => authorization(one),
        (Some(_), Some(_)) => Credentials::Unreadable("the header Authorization stands twice"),
        (None, _) => session(headers, secure).map_or(Credentials::Anonymous, Credentials::Session),
    }
}

fn authorization(value: &HeaderValue) -> Credentials {
    let Some((scheme, rest)) = value.to_str().ok().and_then(|text| text.split_once(' ')) else {
        return Credentials::Unreadable("the header Authorization is neither Basic nor Bearer");
    };
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => basic(rest.trim()).unwrap_or(Credentials::Unreadable("Basic is not followed by user:password")),
        "bearer" => Credentials::Token(rest.trim().into()),
        _ => Credentials::Unreadable("the header Authorization is neither Basic nor Bearer"),
    }
}

fn basic(encoded: &str) -> Option<Credentials> {
    let text = String::from_utf8(Base64::decode_vec(encoded).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some(Credentials::login(user, password.into()))
}

/// The secret of a session.
pub(crate) fn session(headers: &HeaderMap, secure: bool) -> Option<SecretString> {
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
        match shown(&headers, secure) {
            Credentials::Anonymous => "nothing".into(),
            Credentials::Password { user, password } => format!("{user} with {}", password.expose_secret()),
            Credentials::Token(token) => format!("token {}", token.expose_secret()),
            Credentials::Session(secret) => format!("session {}", secret.expose_secret()),
            Credentials::Unreadable(reason) => reason.into(),
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
