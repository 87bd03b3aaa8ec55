//! Host and origin check of the WebSocket port. The HTTP ports check `/stomp` in the same way.

use std::net::SocketAddr;

use axum::http::{HeaderMap, HeaderValue, header};

/// Our own hosts, ports and origins.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts {
    /// Valid hosts beside localhost and the bound address: `name`, or `name:port` for one port.
    pub hosts: Vec<String>,
    /// Our HTTP(S) and WebSocket ports.
    pub ports: Vec<u16>,
    /// Foreign origins whose pages may connect.
    pub allowed_origins: Vec<String>,
}

impl AllowedHosts {
    /// A request without an origin is not a browser's.
    pub(crate) fn check(&self, at: Option<SocketAddr>, headers: &HeaderMap) -> Result<(), &'static str> {
        let Self { hosts, ports, allowed_origins } = self;
        let ours = access::HostPolicy { names: hosts, ports, allowed_origins, at: at.map(|at| at.ip()) };
        let is_our_host = |host: &HeaderValue| host.to_str().is_ok_and(|host| ours.is_allowed_host(host, false));
        let is_our_origin = |origin: &HeaderValue| origin.to_str().is_ok_and(|origin| ours.is_allowed_origin(origin));
        let mut named = headers.get_all(header::HOST).iter();
        if !named.next().is_some_and(is_our_host) || named.next().is_some() {
            return Err("this host is not one of ours; http.hosts can add it");
        }
        if !headers.get_all(header::ORIGIN).iter().all(is_our_origin) {
            return Err("a page of this origin may not listen here");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(lines: &[(&'static str, &str)]) -> bool {
        let ours = AllowedHosts {
            hosts: vec!["desk.example".into()],
            ports: vec![9090, 61614],
            allowed_origins: vec!["https://friend.example".into()],
        };
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(*name, value.parse().unwrap());
        }
        ours.check(Some("192.168.1.5:61614".parse().unwrap()), &headers).is_ok()
    }

    #[test]
    fn a_host_of_ours_is_named_once_and_origins_are_ours_or_absent() {
        let (host, evil) = (("host", "localhost:61614"), ("host", "evil.example:61614"));
        assert!(check(&[host]) && check(&[("host", "192.168.1.5:61614")]) && check(&[("host", "desk.example:61614")]));
        assert!(!check(&[]) && !check(&[evil]) && !check(&[host, evil]) && !check(&[host, host]));
        let origin = |origin| check(&[host, ("origin", origin)]);
        assert!(origin("http://localhost:9090") && origin("https://friend.example"));
        assert!(!origin("http://evil.example") && !origin("null"));
        assert!(!check(&[host, ("origin", "http://localhost:9090"), ("origin", "http://evil.example")]));
    }
}
