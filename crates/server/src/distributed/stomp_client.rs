//! Minimal STOMP client, and the pauses between its attempts to reconnect.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use stomp::{FrameDecoder, FrameLimits, StompCommand, StompFrame, StompVersion};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

/// Bytes that are read at once.
const READ_BYTES: usize = 16 * 1_024;
/// Reference data of a large platform comes in one frame.
const BODY_BYTES: usize = 64 * 1_024 * 1_024;

pub(super) struct StompClient<S> {
    stream: S,
    decoder: FrameDecoder,
    frames: VecDeque<StompFrame>,
    /// Absent where the broker promises no heart-beats.
    silent_max: Option<Duration>,
    heard_at: Instant,
}

/// Heart-beats of the broker that a strategy process asks for, in milliseconds: one that was paused, or whose machine is gone, does not
/// close the connection.
const BEAT_MILLIS: u64 = 1_000;
/// A broker that was promised to be heard this often, and was not for so many times, is lost.
const BEATS_MISSED_MAX: u64 = 5;

impl<S: AsyncRead + AsyncWrite + Unpin> StompClient<S> {
    /// Sends CONNECT and waits for CONNECTED; inside the process.
    pub(super) async fn connect_internal(stream: S) -> io::Result<Self> {
        Self::connect_with(stream, connect_frame()).await
    }

    /// As [`Self::connect_internal`], over a network.
    pub(super) async fn connect(stream: S, token: Option<&str>) -> io::Result<Self> {
        let mut connect = connect_frame().with("heart-beat", &format!("0,{BEAT_MILLIS}"));
        if let Some(token) = token {
            connect = connect.with("login", "").with("passcode", token);
        }
        Self::connect_with(stream, connect).await
    }

    async fn connect_with(stream: S, connect: StompFrame) -> io::Result<Self> {
        let limits = FrameLimits { body_bytes: BODY_BYTES, ..FrameLimits::default() };
        let (decoder, frames) = (FrameDecoder::new(limits), VecDeque::new());
        let mut line = Self { stream, decoder, frames, silent_max: None, heard_at: Instant::now() };
        line.send(&connect).await?;
        let answer = line.next().await?;
        if answer.command != StompCommand::Connected {
            let text = answer.headers.get("message").unwrap_or("the broker refused").to_owned();
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("the broker says {text}")));
        }
        line.decoder.set_version(StompVersion::V12);
        line.silent_max = silent_max(answer.headers.get("heart-beat"));
        Ok(line)
    }

    pub(super) async fn subscribe(&mut self, id: &str, destination: &str) -> io::Result<()> {
        let subscribe = StompFrame::new(StompCommand::Subscribe).with("id", id).with("destination", destination);
        self.send(&subscribe).await
    }

    pub(super) async fn unsubscribe(&mut self, id: &str) -> io::Result<()> {
        self.send(&StompFrame::new(StompCommand::Unsubscribe).with("id", id)).await
    }

    pub(super) async fn send_to(&mut self, destination: &str, body: Vec<u8>) -> io::Result<()> {
        self.send(&StompFrame::new(StompCommand::Send).with("destination", destination).with_body(body)).await
    }

    async fn send(&mut self, frame: &StompFrame) -> io::Result<()> {
        self.stream.write_all(&frame.to_bytes(StompVersion::V12)).await
    }

    /// The next frame. Cancel safe.
    pub(super) async fn next(&mut self) -> io::Result<StompFrame> {
        loop {
            if let Some(frame) = self.frames.pop_front() {
                return Ok(frame);
            }
            let mut bytes = [0; READ_BYTES];
            let length = match self.silent_max {
                Some(patience) => {
                    let read = timeout_at(self.heard_at + patience, self.stream.read(&mut bytes)).await;
                    read.map_err(|_| silent(patience))??
                }
                None => self.stream.read(&mut bytes).await?,
            };
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.heard_at = Instant::now();
            let mut unread = &bytes[..length];
            while let Some(frame) = self.decoder.decode(&mut unread).map_err(io::Error::other)? {
                self.frames.push_back(frame);
            }
        }
    }
}

fn connect_frame() -> StompFrame {
    StompFrame::new(StompCommand::Connect).with("accept-version", "1.2").with("host", "rialto")
}

/// By what the broker answers to our wish.
fn silent_max(answered: Option<&str>) -> Option<Duration> {
    let (promised, _) = answered?.split_once(',')?;
    let promised: u64 = promised.trim().parse().ok().filter(|millis| *millis > 0)?;
    Some(Duration::from_millis(promised.max(BEAT_MILLIS) * BEATS_MISSED_MAX))
}

fn silent(patience: Duration) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("the broker was silent for {} s", patience.as_secs()))
}

const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Well below `strategies.hangSeconds`: a reconnected strategy must send a heartbeat before it is declared lost.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// Each pause is twice as long as the one before, so that a restarted server is not overloaded.
pub(super) struct ReconnectBackoff(Duration);

impl ReconnectBackoff {
    pub(super) fn new() -> Self {
        Self(FIRST_PAUSE)
    }

    /// The pause before the next attempt.
    pub(super) fn next_pause(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(LONGEST_PAUSE);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broker_that_promises_heart_beats_may_miss_four() {
        let patience =
            [Some("1000,0"), Some("2500,500"), Some("500,0"), Some("0,0"), Some("soon"), None].map(silent_max);
        assert_eq!(
            patience.map(|most| most.map(|most| most.as_millis())),
            [Some(5_000), Some(12_500), Some(5_000), None, None, None]
        );
    }

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut backoff = ReconnectBackoff::new();
        let pauses = [(); 7].map(|()| backoff.next_pause().as_millis());
        assert_eq!(pauses, [200, 400, 800, 1_000, 1_000, 1_000, 1_000]);
    }
}
