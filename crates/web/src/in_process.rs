//! The HTTP server without its sockets: every middleware and handler, for requests that come from the same process. The simulator of
//! the whole system uses it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use access::Access;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, Request, Response, header};
use base64ct::{Base64, Encoding};
use bus::Bus;
use http_body_util::BodyExt;
use tower::ServiceExt;

use crate::app_state::AppState;
use crate::middleware::caller::ConnectionInfo;
use crate::response::SEQUENCE_HEADER;
use crate::settings::{WebServices, WebSettings};

/// Where callers of the same process seem to have connected.
const PORT: u16 = 80;
const HOST: &str = "localhost";

/// All routes, ready to answer.
#[derive(Clone)]
pub struct InProcessHttp(Router);

/// A request of a caller of the same process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainRequest {
    /// Such as `POST`.
    pub method: &'static str,
    /// With its query.
    pub path: String,
    /// JSON; empty where the endpoint takes none.
    pub body: Vec<u8>,
    /// Absent: a caller without credentials, on this machine.
    pub sender: Option<PlainSender>,
}

/// A caller from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainSender {
    pub peer: IpAddr,
    pub credentials: PlainCredentials,
}

/// What the headers of a request say of its caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlainCredentials {
    Nothing,
    /// HTTP Basic.
    Password {
        user: String,
        password: String,
    },
    Token(String),
    /// The cookie of a session, as it was set.
    Cookie(String),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PlainResponse {
    pub status: u16,
    /// `Rialto-Sequence`, where it is there.
    pub sequence: Option<u64>,
    /// `Location`, where it is there.
    pub location: Option<String>,
    /// Name and value of the cookie that it sets.
    pub cookie: Option<String>,
    pub body: Vec<u8>,
}

impl InProcessHttp {
    pub fn new(bus: Bus, services: WebServices, access: Arc<Access>, mut settings: WebSettings) -> Self {
        settings.ports.push(PORT);
        let others = std::mem::take(&mut settings.others);
        Self(crate::router::router(AppState::new(bus, services, access, settings), others))
    }

    /// Answers as over a connection from the sender's machine, or from this one.
    pub async fn answer(&self, request: PlainRequest) -> PlainResponse {
        let PlainRequest { method, path, body, sender } = request;
        let request = Request::builder().method(method).uri(path).header(header::HOST, HOST);
        let request = request.header(header::CONTENT_TYPE, "application/json").extension(connection(sender.as_ref()));
        let request = match sender.and_then(|sender| sender.credentials.header()) {
            Some((name, value)) => request.header(name, value),
            None => request,
        };
        let Ok(request) = request.body(Body::from(body)) else { return PlainResponse::default() };
        match self.0.clone().oneshot(request).await {
            Ok(response) => plain(response).await,
            Err(never) => match never {},
        }
    }
}

impl PlainCredentials {
    fn header(self) -> Option<(HeaderName, String)> {
        match self {
            Self::Nothing => None,
            Self::Password { user, password } => {
                let encoded = Base64::encode_string(format!("{user}:{password}").as_bytes());
                Some((header::AUTHORIZATION, format!("Basic {encoded}")))
            }
            Self::Token(token) => Some((header::AUTHORIZATION, format!("Bearer {token}"))),
            Self::Cookie(cookie) => Some((header::COOKIE, cookie)),
        }
    }
}

fn connection(sender: Option<&PlainSender>) -> ConnectionInfo {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let peer = SocketAddr::new(sender.map_or(here, |sender| sender.peer), 0);
    ConnectionInfo { local: SocketAddr::new(here, PORT), peer, secure: false }
}

async fn plain(response: Response<Body>) -> PlainResponse {
    let (head, body) = response.into_parts();
    let text = |name: HeaderName| head.headers.get(name)?.to_str().ok().map(str::to_owned);
    let sequence = text(HeaderName::from_static(SEQUENCE_HEADER)).and_then(|text| text.parse().ok());
    let (status, location) = (head.status.as_u16(), text(header::LOCATION));
    let cookie = text(header::SET_COOKIE).map(|set| set.split(';').next().unwrap_or_default().to_owned());
    let body = body.collect().await.map(|body| body.to_bytes().to_vec()).unwrap_or_default();
    PlainResponse { status, sequence, location, cookie, body }
}
