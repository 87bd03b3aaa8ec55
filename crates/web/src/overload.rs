//! Overload: connections beyond the limit get 503 in plain HTTP and are closed.

use std::time::Duration;

use axum::http::StatusCode;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;
use wire::ProblemVO;

use crate::codes;

/// Concurrent 503 responses; more connections are closed without an answer.
const RESPONSES_AT_A_TIME_MAX: usize = 64;
/// A peer that does not close by then is cut.
const CLOSE_WAIT: Duration = Duration::from_secs(1);
const CODE: &str = "too-many-connections";

#[derive(Default)]
pub(crate) struct OverloadResponder {
    responding: JoinSet<()>,
}

impl OverloadResponder {
    pub(crate) fn reject(&mut self, stream: TcpStream, is_secure: bool) {
        tracing::debug!("connection limit reached: connection rejected");
        while self.responding.try_join_next().is_some() {}
        // A TLS handshake would cost too much.
        if !is_secure && self.responding.len() < RESPONSES_AT_A_TIME_MAX {
            self.responding.spawn(async { timeout(CLOSE_WAIT, send_503(stream)).await.unwrap_or(()) });
        }
    }
}

async fn send_503(mut stream: TcpStream) {
    if stream.write_all(response_text().as_bytes()).await.is_err() || stream.shutdown().await.is_err() {
        return;
    }
    // A close while the peer still sends would reset the connection and could lose the response.
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await.is_ok_and(|length| length > 0) {}
}

fn response_text() -> String {
    let status = codes::status_of(CODE);
    let title = status.canonical_reason().unwrap_or(StatusCode::SERVICE_UNAVAILABLE.as_str());
    let problem = ProblemVO::new(status.as_u16(), CODE, title, "no more connections are served; try again");
    let body = String::from_utf8_lossy(&wire::json::encode(&problem)).into_owned();
    let (media_type, length) = (wire::problem::MEDIA_TYPE, body.len());
    format!(
        "HTTP/1.1 {} {title}\r\ncontent-type: {media_type}\r\nretry-after: 1\r\nconnection: close\r\n\
         content-length: {length}\r\n\r\n{body}",
        status.as_u16()
    )
}
