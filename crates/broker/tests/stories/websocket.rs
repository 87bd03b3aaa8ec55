//! WebSocket as a byte stream, with its close code.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use crate::test_client::connect;

pub(crate) const TEXT: u8 = 1;
pub(crate) const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

pub(crate) struct WebSocket {
    stream: TcpStream,
    unread: Vec<u8>,
    /// The code that the server closed with.
    pub(crate) closed_with: Option<u16>,
    /// Pings that were received and not waited for.
    pings: usize,
}

impl WebSocket {
    pub(crate) fn open(address: SocketAddr, headers: &str) -> Result<(Self, String), String> {
        let mut stream = connect(address);
        let key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==";
        let upgrade = "Connection: Upgrade\r\nUpgrade: websocket";
        write!(stream, "GET /any/path HTTP/1.1\r\n{upgrade}\r\n{key}\r\n{headers}\r\n").unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let head = String::from_utf8(head).unwrap();
        if !head.starts_with("HTTP/1.1 101 ") {
            return Err(head);
        }
        Ok((Self { stream, unread: vec![], closed_with: None, pings: 0 }, head))
    }

    pub(crate) fn at(address: SocketAddr) -> Self {
        Self::with(address, "")
    }

    /// With further lines in the request.
    pub(crate) fn with(address: SocketAddr, lines: &str) -> Self {
        Self::open(address, &format!("Host: {address}\r\n{lines}")).unwrap().0
    }

    pub(crate) fn send(&mut self, kind: u8, bytes: &[u8]) {
        let length = u8::try_from(bytes.len()).unwrap();
        assert!(length < 126, "stories are short");
        // A mask of noughts is a mask.
        let head = [0x80 | kind, 0x80 | length, 0, 0, 0, 0];
        self.stream.write_all(&[&head[..], bytes].concat()).unwrap();
    }

    /// Bytes as they are, whatever a WebSocket would make of them.
    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// The beginning of a message of that length, and nothing of it.
    pub(crate) fn announce(&mut self, kind: u8, length: u64) {
        let head = [&[0x80 | kind, 0x80 | 127][..], &length.to_be_bytes(), &[0; 4]].concat();
        self.stream.write_all(&head).unwrap();
    }

    /// The server may send something first, or just close.
    pub(crate) fn wait_for_end(&mut self) {
        let _ = self.stream.read_to_end(&mut vec![]);
    }

    /// Nothing else may come.
    pub(crate) fn wait_for_ping(&mut self) {
        while self.pings == 0 {
            match self.receive().unwrap() {
                (PING, _) => self.pings += 1,
                (kind, payload) => panic!("{kind}: {}", String::from_utf8_lossy(&payload)),
            }
        }
        self.pings -= 1;
    }

    /// The next frame: its kind and what it holds.
    fn receive(&mut self) -> std::io::Result<(u8, Vec<u8>)> {
        let mut head = [0; 2];
        self.stream.read_exact(&mut head)?;
        let mut length = u64::from(head[1]);
        if length == 126 {
            let mut long = [0; 2];
            self.stream.read_exact(&mut long)?;
            length = u16::from_be_bytes(long).into();
        }
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload)?;
        Ok((head[0] & 0x0f, payload))
    }
}

impl Read for WebSocket {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.unread.is_empty() {
            match self.receive()? {
                (PING, _) => self.pings += 1,
                (CLOSE, payload) => {
                    self.closed_with = payload.first_chunk().map(|code| u16::from_be_bytes(*code));
                    return Ok(0);
                }
                (_, payload) => self.unread = payload,
            }
        }
        let length = self.unread.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.unread[..length]);
        self.unread.drain(..length);
        Ok(length)
    }
}

impl Write for WebSocket {
    /// In pieces of 100, text and binary in turn.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for (number, piece) in bytes.chunks(100).enumerate() {
            self.send(if number % 2 == 0 { TEXT } else { BINARY }, piece);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
