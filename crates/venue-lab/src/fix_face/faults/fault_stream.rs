//! A client's stream that the faults can reach: under `fix-gap-flags` a gap fill leaves without its flags, and twice.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use fix::SOH;
use fix_net::{SessionStream, TlsWrapper};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::faults::LabFaults;
use crate::faults::catalogue::Fault;

/// GapFillFlag (123) and PossDupFlag (43).
const FLAGS: [&[u8]; 2] = [b"123=Y", b"43=Y"];

pub(crate) struct FaultStream {
    inner: Box<dyn SessionStream>,
    faults: Arc<LabFaults>,
    /// Changed bytes that the socket has not taken yet.
    changed: Vec<u8>,
    /// What comes next continues a message of which a part is written.
    is_within: bool,
}

/// Wraps the sockets of a face.
pub(crate) fn wrapper(faults: &Arc<LabFaults>) -> TlsWrapper {
    let faults = faults.clone();
    Arc::new(move |socket, _| {
        let stream = wrap(Box::new(socket), faults.clone());
        Box::pin(async move { Ok(stream) })
    })
}

pub(crate) fn wrap(inner: Box<dyn SessionStream>, faults: Arc<LabFaults>) -> Box<dyn SessionStream> {
    Box::new(FaultStream { inner, faults, changed: Vec::new(), is_within: false })
}

impl FaultStream {
    fn poll_changed(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.changed.is_empty() {
            let count = ready!(Pin::new(&mut self.inner).poll_write(context, &self.changed))?;
            if count == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            self.changed.drain(..count);
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for FaultStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // What is left goes out while the client is listened to.
        if let Poll::Ready(Err(error)) = self.poll_changed(context) {
            return Poll::Ready(Err(error));
        }
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl AsyncWrite for FaultStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_changed(context))?;
        if !self.is_within && is_gap_fill(bytes) && self.faults.strikes(Fault::FixGapFlags) {
            self.changed = without_flags(bytes);
            // Errors are met by the next write.
            let _ = self.poll_changed(context);
            return Poll::Ready(Ok(bytes.len()));
        }
        let count = ready!(Pin::new(&mut self.inner).poll_write(context, bytes))?;
        self.is_within = count < bytes.len();
        Poll::Ready(Ok(count))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_changed(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_changed(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn is_gap_fill(bytes: &[u8]) -> bool {
    contains(bytes, b"\x0135=4\x01") && contains(bytes, b"\x01123=Y\x01")
}

/// The messages again, each gap fill among them without its flags and twice.
fn without_flags(bytes: &[u8]) -> Vec<u8> {
    let mut changed = Vec::new();
    for message in messages(bytes) {
        if !is_gap_fill(message) {
            changed.extend_from_slice(message);
            continue;
        }
        let fields = message.split(|byte| *byte == SOH).filter(|field| !field.is_empty());
        // BeginString, BodyLength and CheckSum are written anew.
        let is_kept = |field: &&[u8]| {
            !FLAGS.contains(field) && ![b"8=".as_slice(), b"9=", b"10="].iter().any(|start| field.starts_with(start))
        };
        let body: Vec<u8> = fields.filter(is_kept).flat_map(|field| [field, &[SOH]].concat()).collect();
        let begin = message.split(|byte| *byte == SOH).next().unwrap_or_default();
        let mut frame = [begin, format!("\x019={}\x01", body.len()).as_bytes(), &body].concat();
        let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        frame.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        changed.extend_from_slice(&frame.repeat(2));
    }
    changed
}

/// Whole messages one after the other; each ends with its CheckSum (10).
fn messages(bytes: &[u8]) -> Vec<&[u8]> {
    let mut rest = bytes;
    let mut found = Vec::new();
    while let Some(sum) = rest.windows(4).position(|window| window == b"\x0110=") {
        let end = rest[sum + 1..].iter().position(|byte| *byte == SOH).map_or(rest.len(), |length| sum + length + 2);
        let (message, after) = rest.split_at(end);
        found.push(message);
        rest = after;
    }
    if !rest.is_empty() {
        found.push(rest);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(text: &str) -> Vec<u8> {
        text.replace('|', "\x01").into_bytes()
    }

    #[test]
    fn a_gap_fill_loses_its_flags_and_comes_twice_and_others_stay() {
        let beat = "8=FIX.4.4|9=5|35=0|10=161|";
        let fill = "8=FIX.4.4|9=31|35=4|34=1|43=Y|36=5|123=Y|10=000|";
        let bare = "8=FIX.4.4|9=15|35=4|34=1|36=5|10=138|";
        let changed = without_flags(&wire(&format!("{beat}{fill}{beat}")));
        assert_eq!(String::from_utf8_lossy(&changed).replace('\x01', "|"), format!("{beat}{bare}{bare}{beat}"));
        fix::FixDecoder::new().decode(&wire(bare)).unwrap();
    }
}
