//! STOMP client over any stream that shows every frame it receives.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Far longer than any step takes; a test that waits for so long has failed.
pub(crate) const DEADLINE: Duration = Duration::from_secs(60);

pub(crate) struct TestStompClient<S> {
    pub(crate) stream: S,
    unread: Vec<u8>,
}

pub(crate) fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(DEADLINE)).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    stream
}

impl TestStompClient<TcpStream> {
    /// A plain connection without any frame yet.
    pub(crate) fn open(address: SocketAddr) -> Self {
        Self::new_over(connect(address))
    }

    /// A plain connection that is open.
    pub(crate) fn open_connected(address: SocketAddr) -> Self {
        let mut client = Self::open(address);
        client.send_connect();
        client
    }
}

impl<S: Read + Write> TestStompClient<S> {
    pub(crate) fn new_over(stream: S) -> Self {
        Self { stream, unread: vec![] }
    }

    pub(crate) fn send_connect(&mut self) {
        self.send("CONNECT\naccept-version:1.2\nhost:desk\n\n");
        assert!(self.frame().starts_with("CONNECTED\nversion:1.2\n"));
    }

    /// A frame; the NUL is added.
    pub(crate) fn send(&mut self, frame: &str) {
        self.stream.write_all(format!("{frame}\0").as_bytes()).unwrap();
    }

    /// Subscribes, and waits for the RECEIPT.
    pub(crate) fn subscribe(&mut self, id: u32, destination: &str, more: &str) {
        self.send(&format!("SUBSCRIBE\nid:{id}\ndestination:{destination}\nreceipt:s{id}\n{more}\n"));
        assert_eq!(self.frame(), format!("RECEIPT\nreceipt-id:s{id}\n\n"));
    }

    /// The next frame, without its NUL.
    pub(crate) fn frame(&mut self) -> String {
        loop {
            let begin = self.unread.iter().take_while(|byte| **byte == b'\n').count();
            self.unread.drain(..begin);
            if let Some(end) = self.unread.iter().position(|byte| *byte == 0) {
                let frame = self.unread.drain(..=end).take(end).collect();
                return String::from_utf8(frame).unwrap();
            }
            assert!(self.read() > 0, "the server has closed");
        }
    }

    /// The next heart-beat of the server, or what came in its place.
    pub(crate) fn heart_beat(&mut self) -> String {
        while self.unread.is_empty() {
            assert!(self.read() > 0, "the server has closed");
        }
        match self.unread.remove(0) {
            b'\n' => "\n".to_owned(),
            first => format!("{}{}", first as char, self.frame()),
        }
    }

    /// Everything up to the end of the connection, from the next frame on; a NUL is shown.
    pub(crate) fn read_to_end(&mut self) -> String {
        self.read_to_end_with_heart_beats().trim_start_matches('\n').to_owned()
    }

    pub(crate) fn read_to_end_with_heart_beats(&mut self) -> String {
        while self.read() > 0 {}
        String::from_utf8(std::mem::take(&mut self.unread)).unwrap().replace('\0', "\\0")
    }

    fn read(&mut self) -> usize {
        let mut bytes = [0; 4_096];
        let length = self.stream.read(&mut bytes).unwrap();
        self.unread.extend_from_slice(&bytes[..length]);
        length
    }
}
