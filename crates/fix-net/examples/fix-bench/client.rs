//! A client with a plain socket: it knows enough FIX to log on, to send orders and to count answers.

use crate::Outcome;
use fix::{Framer, UtcTimestamp};
use fix_net::now;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Longer than this no answer takes, unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(20);

/// Who calls whom.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) sender: &'a str,
    pub(crate) target: &'a str,
}

pub(crate) struct Client<'a> {
    names: Names<'a>,
    socket: TcpStream,
    framer: Framer,
    leaving: Vec<u8>,
    next_number: u64,
}

impl<'a> Client<'a> {
    pub(crate) fn log_on(address: SocketAddr, names: Names<'a>) -> Outcome<Self> {
        let socket = TcpStream::connect(address)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut client = Self { names, socket, framer: Framer::new(), leaving: Vec::new(), next_number: 1 };
        client.gather("A", "98=0|108=30|");
        client.flush()?;
        client.await_frames(1, |_| true)?;
        Ok(client)
    }

    /// Leaves, so that the session is free for the next round.
    pub(crate) fn log_out(mut self) -> Outcome<()> {
        self.gather("5", "");
        self.flush()?;
        self.await_frames(1, |_| true).map(drop)
    }

    /// A limit order as a desk sends it, not yet on its way; the terms are its fields beside id, type and time.
    pub(crate) fn gather_order(&mut self, terms: &str) -> String {
        let id = format!("{}-{}", self.names.sender, self.next_number);
        self.gather("D", &format!("11={id}|21=1|40=2|{terms}|60={}|", text(now())));
        id
    }

    pub(crate) fn gather_cancel(&mut self, order: &str) {
        self.gather("F", &format!("11={order}c|41={order}|48=1|54=1|60={}|", text(now())));
    }

    pub(crate) fn gather(&mut self, kind: &str, body: &str) {
        let Names { sender, target } = self.names;
        let text = format!("35={kind}|34={}|49={sender}|52={}|56={target}|{body}", self.next_number, text(now()));
        self.next_number += 1;
        self.leaving.extend(sealed(&text.replace('|', "\x01")));
    }

    pub(crate) fn flush(&mut self) -> std::io::Result<()> {
        self.socket.write_all(&self.leaving)?;
        self.leaving.clear();
        Ok(())
    }

    /// From now on only [`Self::exchange`] is of use.
    pub(crate) fn never_wait(&mut self) -> std::io::Result<()> {
        self.socket.set_nonblocking(true)
    }

    pub(crate) fn is_all_written(&self) -> bool {
        self.leaving.is_empty()
    }

    /// Writes what the line takes and reads what it has; says whether that was anything.
    pub(crate) fn exchange(&mut self, mut heard: impl FnMut(&[u8])) -> Outcome<bool> {
        let written = unless_it_waits(self.socket.write(&self.leaving))?.unwrap_or(0);
        self.leaving.drain(..written);
        let mut piece = [0; 65_536];
        let read = unless_it_waits(self.socket.read(&mut piece))?;
        if read == Some(0) {
            return Err("the acceptor hung up".into());
        }
        self.framer.buffer().extend_from_slice(&piece[..read.unwrap_or(0)]);
        while let Some(frame) = self.framer.next_frame().map_err(|error| error.to_string())? {
            heard(frame);
        }
        Ok(written > 0 || read.is_some())
    }

    /// Waits for at least so many messages that count, and says how many came.
    pub(crate) fn await_frames(&mut self, least: usize, mut counts: impl FnMut(&[u8]) -> bool) -> Outcome<usize> {
        let mut count = 0;
        let mut piece = [0; 65_536];
        loop {
            while let Some(frame) = self.framer.next_frame().map_err(|error| error.to_string())? {
                count += usize::from(counts(frame));
            }
            if count >= least {
                return Ok(count);
            }
            match self.socket.read(&mut piece)? {
                0 => return Err("the acceptor hung up".into()),
                length => self.framer.buffer().extend_from_slice(&piece[..length]),
            }
        }
    }
}

fn unless_it_waits(result: std::io::Result<usize>) -> std::io::Result<Option<usize>> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        result => result.map(Some),
    }
}

/// The value of a field of a message.
pub(crate) fn value(frame: &[u8], tag: u32) -> Option<&str> {
    let frame = str::from_utf8(frame).ok()?;
    let (_, rest) = frame.split_once(&format!("\x01{tag}="))?;
    rest.split('\x01').next()
}

fn text(time: UtcTimestamp) -> String {
    let mut out = Vec::new();
    time.write(3, &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

/// The body as a whole message, with its length and checksum.
pub(crate) fn sealed(body: &str) -> Vec<u8> {
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    frame
}
