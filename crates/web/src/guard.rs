//! Who is called, and from where. A page of another origin must not act here, and a name that is not ours (DNS
//! rebinding) must not even read, also on loopback.

use std::net::{IpAddr, SocketAddr};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Method, Uri, Version, header};
use axum::middleware::Next;
use axum::response::Response;

use crate::Settings;
use crate::admission::stranger;
use crate::doors::Doors;
use crate::problem::Problem;

/// How a connection reached us; every request of it carries this.
#[derive(Debug, Clone, Copy)]
pub struct Reached {
    /// Our address.
    pub at: SocketAddr,
    /// The peer's address.
    pub from: SocketAddr,
    /// Over TLS.
    pub secure: bool,
}

impl Reached {
    /// Over loopback, or over an address of ours that leads back to us.
    pub(crate) fn is_from_this_machine(&self) -> bool {
        let from = self.from.ip().to_canonical();
        from.is_loopback() || from == self.at.ip().to_canonical()
    }
}

const LOOPBACK_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

pub(crate) async fn guard(State(doors): State<Doors>, request: Request, next: Next) -> Result<Response, Problem> {
    check_url(request.uri(), doors.settings().limits.url_bytes)?;
    let ours = OurHosts { settings: doors.settings(), reached: request.extensions().get().copied() };
    if let Err(problem) = ours.check(&request) {
        let stranger = stranger(&request);
        problem.record(doors.access(), &stranger).await;
        return Err(problem);
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
    reached: Option<Reached>,
}

impl OurHosts<'_> {
    fn check(&self, request: &Request) -> Result<(), Problem> {
        self.check_host(request)?;
        // A page of another origin may not act, and a WebSocket is there to act.
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        if is_upgrade || !request.method().is_safe() && request.method() != Method::OPTIONS {
            self.check_origin(request.headers())?;
        }
        Ok(())
    }

    /// HTTP/2 names the host as the authority of its address; a Host header may stand beside it.
    fn check_host(&self, request: &Request) -> Result<(), Problem> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (host, authority) = (hosts.next(), request.uri().authority());
        let is_named = host.is_some() || request.version() == Version::HTTP_2 && authority.is_some();
        if !is_named || hosts.next().is_some() {
            return Err(Problem::new("missing-host", "a request names its host, once"));
        }
        let host = host.map(|host| host.to_str().ok().and_then(|host| host.parse().ok()));
        let default_port = if self.reached.is_some_and(|reached| reached.secure) { 443 } else { 80 };
        let ours = |authority: &Authority| self.is_ours(authority, default_port);
        if host.is_none_or(|host| host.as_ref().is_some_and(ours)) && authority.is_none_or(ours) {
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
        self.reached.is_some_and(|reached| match reached.at.ip().to_canonical() {
            IpAddr::V4(address) => host == address.to_string(),
            IpAddr::V6(address) => host == format!("[{address}]"),
        })
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

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
        let (at, from) = ("192.168.1.5:9090".parse().unwrap(), "192.168.1.9:50000".parse().unwrap());
        let reached = Some(Reached { at, from, secure: false });
        OurHosts { settings: &settings(), reached }.is_ours(&authority.parse().unwrap(), 80)
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
        let hosts = OurHosts { settings: &settings(), reached: None };
        for origin in ["http://localhost:9090", "https://localhost:9443", "https://friend.example"] {
            assert!(hosts.is_our_origin(origin), "{origin}");
        }
        for origin in ["null", "", "http://localhost", "http://evil.example", "file://", "http://friend.example"] {
            assert!(!hosts.is_our_origin(origin), "{origin}");
        }
    }

    fn host_of(version: Version, uri: &str, host: Option<&str>, secure: bool) -> &'static str {
        let mut request = Request::builder().version(version).uri(uri);
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        let (at, from) = ("127.0.0.1:443".parse().unwrap(), "127.0.0.1:50000".parse().unwrap());
        let settings = Settings { ports: vec![9090, 443], ..settings() };
        let hosts = OurHosts { settings: &settings, reached: Some(Reached { at, from, secure }) };
        hosts.check_host(&request.body(Body::empty()).unwrap()).map_or_else(|problem| problem.code(), |()| "ours")
    }

    #[test]
    fn http2_names_the_host_in_its_address_and_http1_in_a_header() {
        let (one, two) = (Version::HTTP_11, Version::HTTP_2);
        let (address, ours, evil) = ("http://localhost:9090/", Some("localhost:9090"), Some("evil.example:9090"));
        assert_eq!(host_of(two, address, None, false), "ours");
        assert_eq!(host_of(two, address, ours, false), "ours");
        assert_eq!(host_of(two, address, evil, false), "foreign-host");
        assert_eq!(host_of(two, "http://evil.example:9090/", ours, false), "foreign-host");
        assert_eq!(host_of(two, "/", None, false), "missing-host");
        assert_eq!(host_of(one, address, None, false), "missing-host");
        assert_eq!(host_of(one, "/", ours, false), "ours");
    }

    #[test]
    fn a_host_without_a_port_is_at_the_usual_port_of_its_scheme() {
        let ask = |secure| host_of(Version::HTTP_11, "/", Some("localhost"), secure);
        assert_eq!((ask(true), ask(false)), ("ours", "foreign-host"));
    }
}
