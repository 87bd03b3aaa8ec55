//! HTTP client over one kept connection, that tells "not sent" from "sent, not answered": a request that could not be
//! sent had no effect, one that was sent and not answered may have had one.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::wait::DEADLINE;

/// Longer than the server's own time-out for its engine, so that the server's answer comes first.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(40);

pub struct HttpClient {
    address: SocketAddr,
    /// Where connections go.
    line: SocketAddr,
    response_timeout: Duration,
    connection: Option<BufReader<TcpStream>>,
}

#[derive(Debug, Clone, Default)]
pub struct HttpRequest<'a> {
    pub method: &'a str,
    pub path: &'a str,
    /// `Host` and `Content-Type` in this list replace the defaults.
    pub headers: &'a [(&'a str, &'a str)],
    pub body: Option<&'a str>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: String,
}

/// Why there is no response.
#[derive(Debug)]
pub enum HttpFailure {
    /// No connection: it had no effect.
    NotSent(io::Error),
    /// It was sent; its effect is unknown.
    Unanswered(io::Error),
}

impl HttpClient {
    pub fn new(address: SocketAddr) -> Self {
        Self { address, line: address, response_timeout: RESPONSE_TIMEOUT, connection: None }
    }

    /// Connects to this address, a proxy, and names the server as before.
    pub fn over(mut self, line: SocketAddr) -> Self {
        self.line = line;
        self
    }

    /// Sets a shorter time-out.
    pub fn with_timeout(mut self, patience: Duration) -> Self {
        self.response_timeout = patience;
        self
    }

    pub fn get(&mut self, path: &str) -> Result<HttpResponse, HttpFailure> {
        self.send(&HttpRequest { method: "GET", path, ..HttpRequest::default() })
    }

    pub fn post(&mut self, path: &str, body: &str) -> Result<HttpResponse, HttpFailure> {
        self.send(&HttpRequest { method: "POST", path, body: Some(body), ..HttpRequest::default() })
    }

    pub fn put(&mut self, path: &str, body: &str) -> Result<HttpResponse, HttpFailure> {
        self.send(&HttpRequest { method: "PUT", path, body: Some(body), ..HttpRequest::default() })
    }

    pub fn delete(&mut self, path: &str) -> Result<HttpResponse, HttpFailure> {
        self.send(&HttpRequest { method: "DELETE", path, ..HttpRequest::default() })
    }

    pub fn send(&mut self, request: &HttpRequest<'_>) -> Result<HttpResponse, HttpFailure> {
        let mut connection = match self.connection.take() {
            Some(kept) => kept,
            None => self.connect().map_err(HttpFailure::NotSent)?,
        };
        let response = self.exchange(&mut connection, request).map_err(HttpFailure::Unanswered)?;
        if response.header("connection") != Some("close") {
            self.connection = Some(connection);
        }
        Ok(response)
    }

    /// The next request has a connection of its own: the server closes one that was idle for long.
    pub fn close(&mut self) {
        self.connection = None;
    }

    fn connect(&self) -> io::Result<BufReader<TcpStream>> {
        let stream = TcpStream::connect_timeout(&self.line, DEADLINE)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.response_timeout))?;
        stream.set_write_timeout(Some(DEADLINE))?;
        Ok(BufReader::new(stream))
    }

    fn exchange(&self, connection: &mut BufReader<TcpStream>, request: &HttpRequest<'_>) -> io::Result<HttpResponse> {
        connection.get_mut().write_all(self.encode(request).as_bytes())?;
        read_response(connection)
    }

    fn encode(&self, request: &HttpRequest<'_>) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", request.method, request.path);
        let mut header = |name: &str, value: &str| text.push_str(&format!("{name}: {value}\r\n"));
        let is_given = |name: &str| request.headers.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        if !is_given("Host") {
            header("Host", &self.address.to_string());
        }
        if let Some(body) = request.body {
            header("Content-Length", &body.len().to_string());
            if !is_given("Content-Type") {
                header("Content-Type", "application/json");
            }
        }
        request.headers.iter().for_each(|(name, value)| header(name, value));
        text + "\r\n" + request.body.unwrap_or_default()
    }
}

impl HttpResponse {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

fn read_response(reader: &mut impl BufRead) -> io::Result<HttpResponse> {
    let line = read_line(reader)?;
    let status =
        line.split(' ').nth(1).and_then(|status| status.parse().ok()).ok_or_else(|| invalid_response(&line))?;
    let mut headers = Vec::new();
    loop {
        let line = read_line(reader)?;
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(':').ok_or_else(|| invalid_response(&line))?;
        headers.push((name.trim().to_owned(), value.trim().to_owned()));
    }
    let mut response = HttpResponse { status, headers, body: String::new() };
    response.body = read_body(reader, &response)?;
    Ok(response)
}

fn read_body(reader: &mut impl BufRead, head: &HttpResponse) -> io::Result<String> {
    let bytes = match head.header("content-length") {
        Some(length) => read_exactly(reader, length.parse().map_err(|_| invalid_response(length))?)?,
        None if head.header("transfer-encoding") == Some("chunked") => read_chunks(reader)?,
        None => Vec::new(),
    };
    String::from_utf8(bytes).map_err(|error| invalid_response(&error.to_string()))
}

fn read_chunks(reader: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = read_line(reader)?;
        let length = usize::from_str_radix(&line, 16).map_err(|_| invalid_response(&line))?;
        body.extend(read_exactly(reader, length)?);
        read_line(reader)?;
        if length == 0 {
            return Ok(body);
        }
    }
}

fn read_exactly(reader: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn read_line(reader: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    if !line.ends_with('\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn invalid_response(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("not HTTP: {what:?}"))
}

impl fmt::Display for HttpFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSent(error) => write!(f, "not sent: {error}"),
            Self::Unanswered(error) => write!(f, "sent and not answered: {error}"),
        }
    }
}

impl std::error::Error for HttpFailure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_comes_whole_or_in_chunks() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nLocation: /x\r\n\r\nhello";
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
        let read = |text: &str| read_response(&mut text.as_bytes()).unwrap();
        assert_eq!((read(whole).body, read(chunked).body), ("hello".into(), "hello".into()));
        assert_eq!(read(whole).header("location"), Some("/x"));
    }

    #[test]
    fn an_answer_that_breaks_off_is_no_answer() {
        let whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
        for length in 0..whole.len() {
            assert!(read_response(&mut &whole.as_bytes()[..length]).is_err(), "{length}");
        }
    }
}
