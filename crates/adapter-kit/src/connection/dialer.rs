//! Dialer: opens a connection to a venue, directly or through a proxy (CONNECT), plain or with TLS.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use base64ct::{Base64, Encoding};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::VenueUrl;

/// A longer answer of a proxy is refused.
pub const PROXY_HEADER_BYTES_MAX: usize = 8 * 1_024;

/// A proxy that tunnels by CONNECT.
#[derive(Debug, Clone)]
pub struct ProxyServer {
    pub host: String,
    pub port: u16,
    /// `user:password` for Basic authentication.
    pub authorization: Option<SecretString>,
}

#[derive(Clone)]
pub struct Dialer {
    tls: Arc<ClientConfig>,
    proxy: Option<ProxyServer>,
    timeout: Duration,
}

/// Nothing was sent to the venue.
#[derive(Debug)]
pub enum DialError {
    Timeout { seconds: f32 },
    Unreachable(io::Error),
    Proxy(String),
    Tls(io::Error),
}

impl Dialer {
    /// `timeout` is for everything: name, connection, proxy and TLS.
    pub fn new(tls: Arc<ClientConfig>, proxy: Option<ProxyServer>, timeout: Duration) -> Self {
        Self { tls, proxy, timeout }
    }

    pub async fn dial(&self, url: &VenueUrl) -> Result<VenueStream, DialError> {
        let late = |_| DialError::Timeout { seconds: self.timeout.as_secs_f32() };
        tokio::time::timeout(self.timeout, self.open(url)).await.map_err(late)?
    }

    async fn open(&self, url: &VenueUrl) -> Result<VenueStream, DialError> {
        let stream = match &self.proxy {
            None => connect(&url.host, url.port).await?,
            Some(proxy) => {
                let mut stream = connect(&proxy.host, proxy.port).await?;
                tunnel(&mut stream, proxy, &url.host_and_port()).await?;
                stream
            }
        };
        if !url.secure {
            return Ok(VenueStream(Box::new(stream)));
        }
        let invalid = |_| DialError::Tls(io::Error::other("the host is no name for a certificate"));
        let name = ServerName::try_from(url.host.clone()).map_err(invalid)?;
        let stream = TlsConnector::from(Arc::clone(&self.tls)).connect(name, stream).await.map_err(DialError::Tls)?;
        Ok(VenueStream(Box::new(stream)))
    }
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, DialError> {
    let stream = TcpStream::connect((host, port)).await.map_err(DialError::Unreachable)?;
    stream.set_nodelay(true).map_err(DialError::Unreachable)?;
    Ok(stream)
}

async fn tunnel(stream: &mut TcpStream, proxy: &ProxyServer, target: &str) -> Result<(), DialError> {
    let lost = |reason: io::Error| DialError::Proxy(reason.to_string());
    let mut request = Zeroizing::new(format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n"));
    if let Some(authorization) = &proxy.authorization {
        let encoded = Zeroizing::new(Base64::encode_string(authorization.expose_secret().as_bytes()));
        request.push_str("Proxy-Authorization: Basic ");
        request.push_str(&encoded);
        request.push_str("\r\n");
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await.map_err(lost)?;
    let header = read_header(stream).await?;
    let status = header.split(' ').nth(1).unwrap_or_default();
    match status {
        "200" => Ok(()),
        "407" => Err(DialError::Proxy("it wants other credentials (407)".to_owned())),
        _ => Err(DialError::Proxy(format!("it answered `{}`", header.lines().next().unwrap_or_default()))),
    }
}

/// Byte by byte: what follows the header belongs to the venue.
async fn read_header(stream: &mut TcpStream) -> Result<String, DialError> {
    let mut header = Vec::new();
    while !header.ends_with(b"\r\n\r\n") {
        if header.len() >= PROXY_HEADER_BYTES_MAX {
            return Err(DialError::Proxy("its answer is too long".to_owned()));
        }
        header.push(stream.read_u8().await.map_err(|reason| DialError::Proxy(reason.to_string()))?);
    }
    Ok(String::from_utf8_lossy(&header).into_owned())
}

trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A connection to a venue, plain or with TLS.
pub struct VenueStream(Box<dyn Transport>);

impl AsyncRead for VenueStream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for VenueStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer").field("proxy", &self.proxy).field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

impl fmt::Debug for VenueStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VenueStream")
    }
}

impl fmt::Display for DialError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout { seconds } => write!(f, "no connection within {seconds} s"),
            Self::Unreachable(reason) => write!(f, "no connection: {reason}"),
            Self::Proxy(reason) => write!(f, "no connection through the proxy: {reason}"),
            Self::Tls(reason) => write!(f, "TLS failed: {reason}"),
        }
    }
}

impl std::error::Error for DialError {}
