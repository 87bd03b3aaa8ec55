//! Who is called, and from where. A page of another origin must not act here, and a name that is not ours (DNS
//! rebinding) must not even read, also on loopback.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::Settings;
use crate::doors::Doors;
use crate::problem::Problem;

/// The address at which a connection reached us.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReachedAt(pub(crate) SocketAddr);

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub(crate) async fn guard(State(doors): State<Doors>, request: Request, next: Next) -> Result<Response, Problem> {
    check_url(request.uri(), doors.settings().limits.url_bytes)?;
    let reached_at = request.extensions().get::<ReachedAt>().map(|reached| reached.0.ip());
    let ours = OurHosts { settings: doors.settings(), reached_at };
    ours.check_host(request.uri(), request.headers())?;
    if !request.method().is_safe() && request.method() != Method::OPTIONS {
        ours.check_origin(request.headers())?;
    }
    Ok(next.run(request).await)
}

fn check_url(uri: &Uri, url_bytes: usize) -> Result<(), Problem> {
    let length = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if length > url_bytes {
        return Err(Problem::new("url-too-long", format!("path and query are longer than {url_bytes} bytes")));
    }
    Ok(())
}

struct OurHosts<'a> {
    settings: &'a Settings,
    reached_at: Option<IpAddr>,
}

impl OurHosts<'_> {
    fn check_host(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(Problem::new("missing-host", "a request names its host, once"));
        };
        let host = host.to_str().ok().and_then(|host| host.parse().ok());
        let ours = |authority: &Authority| self.is_ours(authority, 80);
        if host.as_ref().is_some_and(ours) && uri.authority().is_none_or(ours) {
            return Ok(());
        }
        Err(Problem::new("foreign-host", "this host is not one of ours; http.hosts can add it"))
    }

    /// A request without an origin is not a browser's.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let foreign = |origin: &header::HeaderValue| !origin.to_str().is_ok_and(|origin| self.is_our_origin(origin));
        if headers.get_all(header::ORIGIN).iter().any(foreign) {
            return Err(Problem::new("foreign-origin", "a page of this origin may not act here"));
        }
        Ok(())
    }

    fn is_our_origin(&self, origin: &str) -> bool {
        if self.settings.allowed_origins.iter().any(|allowed| allowed == origin) {
            return true;
        }
        let Ok(uri) = origin.parse::<Uri>() else { return false };
        match (uri.scheme_str(), uri.authority()) {
            (Some("http"), Some(authority)) => self.is_ours(authority, 80),
            (Some("https"), Some(authority)) => self.is_ours(authority, 443),
            _ => false,
        }
    }

    fn is_ours(&self, authority: &Authority, default_port: u16) -> bool {
        // A user name before the host is a trick to look like another host.
        if authority.as_str().contains('@') {
            return false;
        }
        let host = authority.host().to_ascii_lowercase();
        let port = authority.port_u16().unwrap_or(default_port);
        let listed = |name: &String| self.settings.hosts.contains(name);
        let our_name = LOOPBACK_HOSTS.contains(&host.as_str()) || self.is_where_reached(&host) || listed(&host);
        our_name && self.settings.ports.contains(&port) || listed(&format!("{host}:{port}"))
    }

    fn is_where_reached(&self, host: &str) -> bool {
        self.reached_at.is_some_and(|address| match address.to_canonical() {
            IpAddr::V4(address) => host == address.to_string(),
            IpAddr::V6(address) => host == format!("[{address}]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            hosts: vec!["desk.example".into(), "proxy.example:443".into()],
            ports: vec![9090, 9443],
            allowed_origins: vec!["https://friend.example".into()],
            ..Settings::default()
        }
    }

    fn ours(authority: &str) -> bool {
        let reached_at = Some("192.168.1.5".parse().unwrap());
        OurHosts { settings: &settings(), reached_at }.is_ours(&authority.parse().unwrap(), 80)
    }

    #[test]
    fn our_names_on_our_ports_are_ours() {
        let names = ["localhost:9090", "LocalHost:9443", "127.0.0.1:9090", "[::1]:9090", "192.168.1.5:9090"];
        for name in names.into_iter().chain(["desk.example:9443", "proxy.example:443"]) {
            assert!(ours(name), "{name}");
        }
    }

    #[test]
    fn other_names_and_other_ports_are_foreign() {
        let names = ["localhost", "localhost:80", "evil.example:9090", "192.168.1.6:9090", "localhost.:9090"];
        for name in names.into_iter().chain(["desk.example", "proxy.example:9090", "localhost@evil.example:9090"]) {
            assert!(!ours(name), "{name}");
        }
    }

    #[test]
    fn an_origin_is_ours_by_host_and_port_or_by_the_list() {
        let hosts = OurHosts { settings: &settings(), reached_at: None };
        for origin in ["http://localhost:9090", "https://localhost:9443", "https://friend.example"] {
            assert!(hosts.is_our_origin(origin), "{origin}");
        }
        for origin in ["null", "", "http://localhost", "http://evil.example", "file://", "http://friend.example"] {
            assert!(!hosts.is_our_origin(origin), "{origin}");
        }
    }
}
