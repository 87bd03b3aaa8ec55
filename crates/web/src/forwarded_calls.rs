//! Commands that followers forwarded to this server, which leads: each passes every middleware and handler, as a request of its own
//! clients does, but its caller was authenticated by the follower.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response};
use bus::JournalStatus;
use bus::forwarding::{ForwardedCall, ForwardedRequest, ForwardedResponse};
use http_body_util::BodyExt;
use tokio::sync::mpsc::Receiver;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::middleware::caller::{ConnectionInfo, ForwardedCaller};

/// Forwarded commands that are carried out at once; more wait for them.
const FORWARDED_CALLS_MAX: usize = 1_024;

/// Answers until `shutdown` is ready, then completes those that came before.
pub(crate) async fn serve(
    (router, journal): (Router, Arc<dyn JournalStatus>),
    mut calls: Receiver<ForwardedCall>,
    grace: Duration,
    mut shutdown: oneshot::Receiver<()>,
) {
    let mut running = JoinSet::new();
    loop {
        let call = tokio::select! {
            biased;
            Some(call) = calls.recv() => call,
            _ = &mut shutdown, if !calls.is_closed() => {
                calls.close();
                continue;
            }
            else => break,
        };
        while running.len() >= FORWARDED_CALLS_MAX && running.join_next().await.is_some() {}
        while running.try_join_next().is_some() {}
        running.spawn(answer(router.clone(), journal.clone(), call));
    }
    let all_end = async { while running.join_next().await.is_some() {} };
    tokio::time::timeout(grace, all_end).await.unwrap_or(());
}

/// Without an answer the outcome is unknown to the follower, and it says so.
async fn answer(router: Router, journal: Arc<dyn JournalStatus>, ForwardedCall { request, answer }: ForwardedCall) {
    let Some(request) = http_request(request) else { return };
    let response = match router.oneshot(request).await {
        Ok(response) => forwarded_response(response, &*journal).await,
        Err(never) => match never {},
    };
    if let Some(response) = response {
        // A follower that has ended asks no more.
        answer.send(response).unwrap_or(());
    }
}

fn http_request(forwarded: ForwardedRequest) -> Option<Request<Body>> {
    let ForwardedRequest { user, peer, method, path, headers, body } = forwarded;
    let request = Request::builder().method(method.as_str()).uri(path);
    let request = headers.iter().fold(request, |request, (name, value)| request.header(name, value));
    let peer = peer.and_then(|peer| peer.parse::<IpAddr>().ok()).unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
    let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let connection = ConnectionInfo { local, peer: SocketAddr::new(peer, 0), secure: false };
    request.extension(connection).extension(ForwardedCaller { user }).body(Body::from(body)).ok()
}

async fn forwarded_response(response: Response<Body>, journal: &dyn JournalStatus) -> Option<ForwardedResponse> {
    let (head, body) = response.into_parts();
    let text = |(name, value): (&axum::http::HeaderName, &axum::http::HeaderValue)| {
        value.to_str().ok().map(|value| (name.to_string(), value.to_owned()))
    };
    let headers = head.headers.iter().filter_map(text).collect();
    let body = body.collect().await.ok()?.to_bytes().to_vec();
    Some(ForwardedResponse { status: head.status.as_u16(), headers, body, sequence: journal.durable() })
}
