//! Minimal STOMP client.

use std::collections::VecDeque;
use std::io;

use stomp::{Command, Decoder, Frame, Limits, Version};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1_024;
/// Reference data of a large platform comes in one frame.
const BODY_BYTES: usize = 64 * 1_024 * 1_024;

pub(super) struct Line<S> {
    stream: S,
    decoder: Decoder,
    frames: VecDeque<Frame>,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Line<S> {
    /// Sends CONNECT and waits for CONNECTED.
    pub(super) async fn connect(stream: S, token: Option<&str>) -> io::Result<Self> {
        let limits = Limits { body_bytes: BODY_BYTES, ..Limits::default() };
        let mut line = Self { stream, decoder: Decoder::new(limits), frames: VecDeque::new() };
        let mut connect = Frame::new(Command::Connect).with("accept-version", "1.2").with("host", "rialto");
        if let Some(token) = token {
            connect = connect.with("login", "").with("passcode", token);
        }
        line.send(&connect).await?;
        let answer = line.next().await?;
        if answer.command != Command::Connected {
            let text = answer.headers.get("message").unwrap_or("the broker refused").to_owned();
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
        }
        line.decoder.agree_on(Version::V12);
        Ok(line)
    }

    pub(super) async fn subscribe(&mut self, id: &str, destination: &str) -> io::Result<()> {
        let subscribe = Frame::new(Command::Subscribe).with("id", id).with("destination", destination);
        self.send(&subscribe).await
    }

    pub(super) async fn unsubscribe(&mut self, id: &str) -> io::Result<()> {
        self.send(&Frame::new(Command::Unsubscribe).with("id", id)).await
    }

    pub(super) async fn send_to(&mut self, destination: &str, body: Vec<u8>) -> io::Result<()> {
        self.send(&Frame::new(Command::Send).with("destination", destination).with_body(body)).await
    }

    async fn send(&mut self, frame: &Frame) -> io::Result<()> {
        self.stream.write_all(&frame.to_bytes(Version::V12)).await
    }

    /// The next frame. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<Frame> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Ok(frame);
            }
            let mut bytes = [0; READ_BYTES];
            let length = self.stream.read(&mut bytes).await?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut unread = &bytes[..length];
            while let Some(frame) = self.decoder.decode(&mut unread).map_err(io::Error::other)? {
                self.frames.push_back(frame);
            }
        }
    }
}
