//! Protocol detection: TLS or plain, HTTP/1.1 or HTTP/2.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

/// Of TLS, the preferred one first.
pub(crate) const ALPN_PROTOCOLS: [&[u8]; 2] = [HTTP2_PROTOCOL, b"http/1.1"];
const HTTP2_PROTOCOL: &[u8] = b"h2";
/// First bytes of an HTTP/2 client.
const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpVersion {
    Http1,
    Http2,
}

/// Without TLS the version follows from the first bytes, which are returned.
pub(crate) async fn detect_version(
    stream: &mut (impl AsyncRead + Unpin),
    patience: Duration,
) -> io::Result<(HttpVersion, Vec<u8>)> {
    timeout(patience, read_preface(stream)).await?
}

async fn read_preface(stream: &mut (impl AsyncRead + Unpin)) -> io::Result<(HttpVersion, Vec<u8>)> {
    let mut opening = Vec::with_capacity(HTTP2_PREFACE.len());
    let mut rest = stream.take(HTTP2_PREFACE.len() as u64);
    loop {
        let at_end = rest.read_buf(&mut opening).await? == 0;
        if opening == HTTP2_PREFACE {
            return Ok((HttpVersion::Http2, opening));
        }
        if at_end || !HTTP2_PREFACE.starts_with(&opening) {
            return Ok((HttpVersion::Http1, opening));
        }
    }
}

/// With TLS the version is negotiated in the handshake.
pub(crate) async fn tls_handshake(
    stream: TcpStream,
    config: Arc<ServerConfig>,
    patience: Duration,
) -> io::Result<(HttpVersion, TlsStream<TcpStream>)> {
    let stream = timeout(patience, TlsAcceptor::from(config).accept(stream)).await??;
    let is_http2 = stream.get_ref().1.alpn_protocol() == Some(HTTP2_PROTOCOL);
    Ok((if is_http2 { HttpVersion::Http2 } else { HttpVersion::Http1 }, stream))
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn learn(bytes: &[u8]) -> (HttpVersion, Vec<u8>) {
        detect_version(&mut byte_by_byte(bytes), Duration::from_secs(60)).await.unwrap()
    }

    /// As on a slow network.
    fn byte_by_byte(bytes: &[u8]) -> Box<dyn AsyncRead + Unpin> {
        bytes
            .chunks(1)
            .fold(Box::new(tokio::io::empty()), |before, byte| Box::new(before.chain(io::Cursor::new(byte.to_vec()))))
    }

    #[tokio::test]
    async fn an_http2_client_is_known_by_its_preface() {
        assert_eq!(learn(HTTP2_PREFACE).await, (HttpVersion::Http2, HTTP2_PREFACE.to_vec()));
        let more = [HTTP2_PREFACE, b"frames"].concat();
        assert_eq!(learn(&more).await, (HttpVersion::Http2, HTTP2_PREFACE.to_vec()));
    }

    #[tokio::test]
    async fn other_clients_speak_http1_and_no_byte_is_lost() {
        for (sent, read) in [("GET / HTTP/1.1\r\n", "G"), ("PRIX / HTTP/1.1\r\n", "PRIX"), ("PRI", "PRI"), ("", "")] {
            assert_eq!(learn(sent.as_bytes()).await, (HttpVersion::Http1, read.as_bytes().to_vec()), "{sent}");
        }
    }
}
