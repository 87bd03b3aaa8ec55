//! Address of a venue's endpoint.

use std::fmt;
use std::str::FromStr;

use hyper::Uri;

/// An address such as `https://api.example.com/v3` or `wss://stream.example.com:9443/ws`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VenueUrl {
    pub secure: bool,
    /// Without brackets, where it is an IPv6 address.
    pub host: String,
    pub port: u16,
    /// Begins with a slash.
    pub path: String,
    is_default_port: bool,
}

/// The text is not repeated: a password may stand in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidVenueUrl {
    Unreadable,
    Scheme,
    NoHost,
    UserInAddress,
}

impl FromStr for VenueUrl {
    type Err = InvalidVenueUrl;

    fn from_str(text: &str) -> Result<Self, InvalidVenueUrl> {
        let uri: Uri = text.parse().map_err(|_| InvalidVenueUrl::Unreadable)?;
        let secure = match uri.scheme_str() {
            Some("https" | "wss") => true,
            Some("http" | "ws") => false,
            _ => return Err(InvalidVenueUrl::Scheme),
        };
        let authority = uri.authority().ok_or(InvalidVenueUrl::NoHost)?;
        if authority.as_str().contains('@') {
            return Err(InvalidVenueUrl::UserInAddress);
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(InvalidVenueUrl::NoHost);
        }
        let default_port = if secure { 443 } else { 80 };
        let port = authority.port_u16().unwrap_or(default_port);
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        Ok(Self { secure, host, port, path, is_default_port: port == default_port })
    }
}

impl VenueUrl {
    /// For the header `Host`.
    pub fn authority(&self) -> String {
        let host = self.bracketed_host();
        if self.is_default_port { host } else { format!("{host}:{}", self.port) }
    }

    /// Host and port, for a proxy.
    pub fn host_and_port(&self) -> String {
        format!("{}:{}", self.bracketed_host(), self.port)
    }

    fn bracketed_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }
}

impl fmt::Display for InvalidVenueUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unreadable => "the address of the venue cannot be read",
            Self::Scheme => "the address of the venue begins with none of https, http, wss and ws",
            Self::NoHost => "the address of the venue has no host",
            Self::UserInAddress => "the address of the venue has a user: credentials belong into a file of their own",
        })
    }
}

impl std::error::Error for InvalidVenueUrl {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_their_default_ports() {
        let read = |text: &str| {
            let url: VenueUrl = text.parse().unwrap();
            format!("{} {} {} {}", url.secure, url.host_and_port(), url.authority(), url.path)
        };
        assert_eq!(read("https://api.example.com"), "true api.example.com:443 api.example.com /");
        assert_eq!(read("wss://s.example.com:9443/ws?a=1"), "true s.example.com:9443 s.example.com:9443 /ws?a=1");
        assert_eq!(read("ws://127.0.0.1:80/x"), "false 127.0.0.1:80 127.0.0.1 /x");
        assert_eq!(read("http://[::1]:8080/"), "false [::1]:8080 [::1]:8080 /");
    }

    #[test]
    fn other_addresses_are_refused_without_repeating_them() {
        let failed = |text: &str| text.parse::<VenueUrl>().unwrap_err();
        assert_eq!(failed("ftp://example.com"), InvalidVenueUrl::Scheme);
        assert_eq!(failed("example.com"), InvalidVenueUrl::Scheme);
        assert_eq!(failed("https://user:password@example.com"), InvalidVenueUrl::UserInAddress);
        assert_eq!(failed("https://exa mple.com"), InvalidVenueUrl::Unreadable);
        assert!(!InvalidVenueUrl::UserInAddress.to_string().contains("password"));
    }
}
