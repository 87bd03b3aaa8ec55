//! Host and origin policy: allowed Host headers and browser origins. A page of another origin must not act here (CSRF),
//! and a name that is not ours must not even read (DNS rebinding), also on loopback. Every HTTP interface checks it.

use std::net::IpAddr;

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];
const HTTP_PORT: u16 = 80;
const HTTPS_PORT: u16 = 443;

/// The allowed hosts and origins, at one of our addresses.
#[derive(Debug, Clone, Copy)]
pub struct HostPolicy<'a> {
    /// Beside localhost and our address: `name`, or `name:port` for one port.
    pub names: &'a [String],
    /// Our HTTP(S) and WebSocket ports.
    pub ports: &'a [u16],
    /// Foreign origins whose pages may read and act.
    pub allowed_origins: &'a [String],
    /// Our address, as the peer reached it.
    pub at: Option<IpAddr>,
}

impl HostPolicy<'_> {
    /// Whether a host is allowed: `host`, or `host:port`; without a port it is the default one of its scheme.
    pub fn is_allowed_host(&self, authority: &str, secure: bool) -> bool {
        let Some((host, port)) = split(authority) else { return false };
        let host = host.to_ascii_lowercase();
        let port = port.unwrap_or(if secure { HTTPS_PORT } else { HTTP_PORT });
        let is_listed = |name: &String| self.names.contains(name);
        let is_our_name = LOOPBACK_HOSTS.contains(&host.as_str()) || self.is_our_address(&host) || is_listed(&host);
        is_our_name && self.ports.contains(&port) || is_listed(&format!("{host}:{port}"))
    }

    /// Whether a page of this origin may act: our own, or one that is listed.
    pub fn is_allowed_origin(&self, origin: &str) -> bool {
        if self.allowed_origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        match origin.split_once("://") {
            Some(("http", authority)) => self.is_allowed_host(authority, false),
            Some(("https", authority)) => self.is_allowed_host(authority, true),
            _ => false,
        }
    }

    fn is_our_address(&self, host: &str) -> bool {
        self.at.is_some_and(|address| match address.to_canonical() {
            IpAddr::V4(address) => host == address.to_string(),
            IpAddr::V6(address) => host == format!("[{address}]"),
        })
    }
}

/// Host and port. Anything else, such as a user name that makes an address look like another one, is invalid.
fn split(authority: &str) -> Option<(&str, Option<u16>)> {
    let behind = authority.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match authority[behind..].split_once(':') {
        None => (authority, None),
        Some((rest, digits)) => (&authority[..behind + rest.len()], Some(port(digits)?)),
    };
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._[]:".contains(&byte);
    (!host.is_empty() && host.bytes().all(is_plain)).then_some((host, port))
}

/// Digits only: a sign is invalid.
fn port(digits: &str) -> Option<u16> {
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(question: impl Fn(HostPolicy<'_>) -> bool) -> bool {
        question(HostPolicy {
            names: &["desk.example".into(), "proxy.example:443".into()],
            ports: &[9090, 9443, 443],
            allowed_origins: &["https://friend.example".into()],
            at: Some("192.168.1.5".parse().unwrap()),
        })
    }

    #[test]
    fn our_names_on_our_ports_are_ours() {
        let names = ["localhost:9090", "LocalHost:9443", "127.0.0.1:9090", "[::1]:9090", "192.168.1.5:9090"];
        for name in names.into_iter().chain(["desk.example:9443", "proxy.example:443"]) {
            assert!(ask(|ours| ours.is_allowed_host(name, false)), "{name}");
        }
    }

    #[test]
    fn other_names_and_other_ports_are_foreign() {
        let names = ["localhost", "localhost:80", "evil.example:9090", "192.168.1.6:9090", "localhost.:9090", ""];
        let tricks = ["localhost@evil.example:9090", "evil@localhost:9090", "localhost:+9090", "localhost:", ":9090"];
        let more = ["desk.example", "proxy.example:9090", "[::1", "::1:9090", "localhost:9090/x", "localhost:9090 "];
        for name in names.into_iter().chain(tricks).chain(more) {
            assert!(!ask(|ours| ours.is_allowed_host(name, false)), "{name}");
        }
    }

    #[test]
    fn a_host_without_a_port_is_at_the_usual_port_of_its_scheme() {
        assert_eq!([true, false].map(|secure| ask(|ours| ours.is_allowed_host("localhost", secure))), [true, false]);
    }

    #[test]
    fn an_origin_is_ours_by_host_and_port_or_by_the_list() {
        for origin in ["http://localhost:9090", "https://localhost", "https://friend.example"] {
            assert!(ask(|ours| ours.is_allowed_origin(origin)), "{origin}");
        }
        let foreign = ["null", "", "http://localhost", "http://evil.example", "file://", "http://friend.example"];
        for origin in foreign.into_iter().chain(["ftp://localhost:9090", "http://localhost:9090/page"]) {
            assert!(!ask(|ours| ours.is_allowed_origin(origin)), "{origin}");
        }
    }
}
