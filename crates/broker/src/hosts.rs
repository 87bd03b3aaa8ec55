//! Who is called, and from where, at the WebSocket port: a page of another origin must not listen here, and a name that
//! is not ours (DNS rebinding) neither, also on loopback. The HTTP doors have the same rule for `/stomp`.

use std::net::{IpAddr, SocketAddr};

use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri, header};

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// What is ours.
#[derive(Debug, Clone, Default)]
pub struct OurHosts {
    /// Hosts beside localhost and the bound address by which we may be called: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Origins of others whose pages may listen.
    pub allowed_origins: Vec<String>,
}

impl OurHosts {
    /// A request without an origin is not a browser's.
    pub(crate) fn check(&self, at: Option<SocketAddr>, headers: &HeaderMap) -> Result<(), &'static str> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()?.parse().ok());
        if hosts.next().is_some() || !host.is_some_and(|host| self.is_ours(at, &host, 80)) {
            return Err("this host is not one of ours; http.hosts can add it");
        }
        let is_our_origin = |origin: &str| self.is_our_origin(at, origin);
        let is_foreign = |origin: &header::HeaderValue| !origin.to_str().is_ok_and(is_our_origin);
        if headers.get_all(header::ORIGIN).iter().any(is_foreign) {
            return Err("a page of this origin may not listen here");
        }
        Ok(())
    }

    fn is_our_origin(&self, at: Option<SocketAddr>, origin: &str) -> bool {
        if self.allowed_origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => self.is_ours(at, authority, 80),
            (Some("https"), Some(authority)) => self.is_ours(at, authority, 443),
            _ => false,
        }
    }

    fn is_ours(&self, at: Option<SocketAddr>, authority: &Authority, default_port: u16) -> bool {
        // A user name before the host is a trick to look like another host.
        if authority.as_str().contains('@') {
            return false;
        }
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(default_port);
        let is_listed = |name: &String| self.hosts.contains(name);
        let is_our_name = LOOPBACK_HOSTS.contains(&host.as_str()) || is_address(at, &host) || is_listed(&host);
        is_our_name && self.ports.contains(&port) || is_listed(&format!("{host}:{port}"))
    }
}

fn is_address(at: Option<SocketAddr>, host: &str) -> bool {
    at.is_some_and(|at| match at.ip().to_canonical() {
        IpAddr::V4(address) => host == address.to_string(),
        IpAddr::V6(address) => host == format!("[{address}]"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: Option<&str>, origin: Option<&str>) -> bool {
        let ours = OurHosts {
            hosts: vec!["desk.example".into()],
            ports: vec![9090, 61614],
            allowed_origins: vec!["https://friend.example".into()],
        };
        let named = [("host", host), ("origin", origin)];
        let lines = named.iter().filter_map(|(name, value)| Some((name.parse().ok()?, (*value)?.parse().ok()?)));
        ours.check(Some("192.168.1.5:61614".parse().unwrap()), &lines.collect()).is_ok()
    }

    #[test]
    fn our_hosts_may_be_called_and_others_not() {
        for host in ["localhost:61614", "127.0.0.1:61614", "[::1]:61614", "192.168.1.5:61614", "desk.example:61614"] {
            assert!(check(Some(host), None), "{host}");
        }
        for host in ["evil.example:61614", "localhost", "localhost:80", "x@localhost:61614", "192.168.1.6:61614"] {
            assert!(!check(Some(host), None), "{host}");
        }
        assert!(!check(None, None));
    }

    #[test]
    fn a_page_of_another_origin_may_not_listen() {
        for origin in ["http://localhost:9090", "http://desk.example:61614", "https://friend.example"] {
            assert!(check(Some("localhost:61614"), Some(origin)), "{origin}");
        }
        for origin in ["http://evil.example", "null", "http://localhost", "file://", "http://friend.example"] {
            assert!(!check(Some("localhost:61614"), Some(origin)), "{origin}");
        }
    }
}
