//! WebSocket on tokio's readiness, as the lab has it: what would block is an error, and waiting is for the task.

use std::io::{self, Read, Write};

use tokio::net::TcpStream;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Error, Message, WebSocket};

use crate::BenchResult;

pub(crate) struct ReadyStream(pub(crate) TcpStream);

impl Read for ReadyStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for ReadyStream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.try_write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The library fills as many bytes with zeros before each read.
pub(crate) fn socket_config() -> WebSocketConfig {
    WebSocketConfig::default().read_buffer_size(4 * 1024)
}

/// The next text; none where the peer is gone.
pub(crate) async fn receive(socket: &mut WebSocket<ReadyStream>) -> BenchResult<Option<String>> {
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => return Ok(Some(text.to_string())),
            Ok(Message::Close(_)) | Err(Error::ConnectionClosed | Error::AlreadyClosed) => return Ok(None),
            Ok(_) => {}
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => socket.get_ref().0.readable().await?,
            Err(error) => return Err(error.into()),
        }
    }
}
