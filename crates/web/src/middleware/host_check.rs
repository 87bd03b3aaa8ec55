//! Host and origin check, against cross-site requests and DNS rebinding, on loopback too. CORS: the account list is
//! public, everything else is for allowed origins.

use access::{Access, Actor, HostPolicy};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderValue, Method, Uri, Version, header};
use axum::response::Response;

use crate::endpoints::methods_at;
use crate::middleware::caller::{ConnectionInfo, anonymous_actor};
use crate::problem::Problem;
use crate::settings::WebSettings;

/// A rejected caller and the reason, to be audited.
pub(crate) struct BlockedRequest {
    actor: Actor,
    problem: Problem,
}

impl BlockedRequest {
    pub(crate) async fn audited(self, access: &Access) -> Problem {
        self.problem.record(access, &self.actor).await;
        self.problem
    }
}

pub(crate) fn check_host_and_origin(settings: &WebSettings, request: &Request) -> Result<(), Box<BlockedRequest>> {
    let guard = HostCheck { settings, connection: request.extensions().get().copied() };
    guard.check(request).map_err(|problem| Box::new(BlockedRequest { actor: anonymous_actor(request), problem }))
}

pub(crate) fn check_url(uri: &Uri, url_bytes: usize) -> Result<(), Problem> {
    let length = uri.path_and_query().map_or(0, |path| path.as_str().len());
    if length > url_bytes {
        return Err(Problem::new("url-too-long", format!("path and query are longer than {url_bytes} bytes")));
    }
    Ok(())
}

struct HostCheck<'a> {
    settings: &'a WebSettings,
    connection: Option<ConnectionInfo>,
}

impl HostCheck<'_> {
    fn check(&self, request: &Request) -> Result<(), Problem> {
        self.check_host(request)?;
        // A page of another origin may not act, and a WebSocket can act.
        let is_upgrade = request.headers().contains_key(header::UPGRADE);
        if is_upgrade || !request.method().is_safe() && request.method() != Method::OPTIONS {
            self.check_origin(request.headers())?;
        }
        Ok(())
    }

    /// HTTP/2 has the host in `:authority`; a Host header may be present too.
    fn check_host(&self, request: &Request) -> Result<(), Problem> {
        let mut hosts = request.headers().get_all(header::HOST).iter();
        let (host, authority) = (hosts.next(), request.uri().authority());
        let is_named = host.is_some() || request.version() == Version::HTTP_2 && authority.is_some();
        if !is_named || hosts.next().is_some() {
            return Err(Problem::new("missing-host", "a request names its host, once"));
        }
        let secure = self.connection.is_some_and(|reached| reached.secure);
        let is_ours = |host: &str| self.our_hosts().is_allowed_host(host, secure);
        let is_our_header = |host: &HeaderValue| host.to_str().is_ok_and(is_ours);
        if host.is_none_or(is_our_header) && authority.is_none_or(|authority| is_ours(authority.as_str())) {
            return Ok(());
        }
        Err(Problem::new("foreign-host", "this host is not one of ours; http.hosts can add it"))
    }

    /// A request without an origin is not a browser's.
    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let foreign =
            |origin: &HeaderValue| !origin.to_str().is_ok_and(|origin| self.our_hosts().is_allowed_origin(origin));
        if headers.get_all(header::ORIGIN).iter().any(foreign) {
            return Err(Problem::new("foreign-origin", "a page of this origin may not act here"));
        }
        Ok(())
    }

    fn our_hosts(&self) -> HostPolicy<'_> {
        let WebSettings { hosts, ports, allowed_origins, .. } = self.settings;
        let at = self.connection.map(|reached| reached.local.ip());
        HostPolicy { names: hosts, ports, allowed_origins, at }
    }
}

/// The one path that the specification opens to every origin.
const PUBLIC_PATH: &str = "/rest/account";

/// Origins that may read a response.
pub(crate) struct CorsGrant {
    origin: Option<HeaderValue>,
    /// For a preflight: the methods of that path.
    methods: Option<HeaderValue>,
}

impl CorsGrant {
    pub(crate) fn for_request(request: &Request, allowed: &[String]) -> Self {
        let preflight_of = request.extensions().get::<MatchedPath>().filter(|_| request.method() == Method::OPTIONS);
        let methods = preflight_of.and_then(|path| HeaderValue::try_from(methods_at(path.as_str())).ok());
        Self { origin: allowed_origin(request, allowed), methods }
    }

    pub(crate) fn apply_to(self, mut response: Response) -> Response {
        if let Some(origin) = self.origin {
            set_headers(response.headers_mut(), origin, self.methods);
        }
        response
    }
}

fn allowed_origin(request: &Request, allowed: &[String]) -> Option<HeaderValue> {
    if request.uri().path() == PUBLIC_PATH {
        return Some(HeaderValue::from_static("*"));
    }
    let origin = request.headers().get(header::ORIGIN)?;
    allowed.iter().any(|known| known.as_bytes() == origin.as_bytes()).then(|| origin.clone())
}

fn set_headers(headers: &mut HeaderMap, origin: HeaderValue, methods: Option<HeaderValue>) {
    if origin != "*" {
        headers.append(header::VARY, HeaderValue::from_static("Origin"));
    }
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed = HeaderValue::from_static("Location, Rialto-After, Rialto-Journal, Rialto-Sequence, X-Request-Id");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    if let Some(methods) = methods {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
        let named = HeaderValue::from_static("Authorization, Content-Type, Rialto-Source, X-Request-Id");
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, named);
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn settings() -> WebSettings {
        WebSettings {
            hosts: vec!["desk.example".into(), "proxy.example:443".into()],
            ports: vec![9090, 9443],
            allowed_origins: vec!["https://friend.example".into()],
            ..WebSettings::default()
        }
    }

    fn host_of(version: Version, uri: &str, host: Option<&str>, secure: bool) -> &'static str {
        let mut request = Request::builder().version(version).uri(uri);
        if let Some(host) = host {
            request = request.header(header::HOST, host);
        }
        let (at, from) = ("127.0.0.1:443".parse().unwrap(), "127.0.0.1:50000".parse().unwrap());
        let settings = WebSettings { ports: vec![9090, 443], ..settings() };
        let guard =
            HostCheck { settings: &settings, connection: Some(ConnectionInfo { local: at, peer: from, secure }) };
        guard.check_host(&request.body(Body::empty()).unwrap()).map_or_else(|problem| problem.code(), |()| "ours")
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
