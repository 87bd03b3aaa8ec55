//! The venue of both initiators, a process of its own: a plain socket that fills each order. It knows as little FIX as that needs, keeps
//! nothing and checks nothing but the frame, so that neither of the two waits for it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use fix::{FixDecoder, FixMessage, Framer, UtcTimestamp};

use crate::{Outcome, now};

/// Says on which port it listens, and serves one client after the other.
pub(crate) fn serve() -> Outcome<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?.port());
    for client in listener.incoming() {
        // A client that has what it wanted hangs up as it likes.
        let _ = Venue::new(client?)?.serve();
    }
    Ok(())
}

struct Venue {
    socket: TcpStream,
    number: u64,
    answers: Vec<u8>,
    body: Vec<u8>,
    /// Of all answers to what was read at once.
    time: Vec<u8>,
}

impl Venue {
    fn new(socket: TcpStream) -> Outcome<Self> {
        socket.set_nodelay(true)?;
        Ok(Self { socket, number: 0, answers: Vec::new(), body: Vec::new(), time: Vec::new() })
    }

    fn serve(&mut self) -> Outcome<()> {
        let (mut framer, mut decoder, mut piece) = (Framer::new(), FixDecoder::new(), [0; 65_536]);
        loop {
            let count = self.socket.read(&mut piece)?;
            if count == 0 {
                return Ok(());
            }
            framer.buffer().extend_from_slice(&piece[..count]);
            self.time.clear();
            UtcTimestamp::from_nanos(now().0).write(3, &mut self.time);
            while let Some(frame) = framer.next_frame().map_err(|error| error.to_string())? {
                self.answer(&decoder.decode(frame).map_err(|error| error.to_string())?);
            }
            self.socket.write_all(&self.answers)?;
            self.answers.clear();
        }
    }

    fn answer(&mut self, message: &FixMessage<'_>) {
        self.number += 1;
        let (number, body) = (self.number.to_string(), &mut self.body);
        body.clear();
        let [sender, target] = [56, 49].map(|tag| message.get(tag).unwrap_or_default());
        let header = |body: &mut Vec<u8>, msg_type: &[u8]| {
            append(body, [("35=", msg_type), ("34=", number.as_bytes()), ("49=", sender)]);
            append(body, [("52=", &self.time[..]), ("56=", target)]);
        };
        match message.msg_type() {
            b"A" => {
                header(body, b"A");
                append(body, [("98=", b"0"), ("108=", b"30")]);
            }
            b"1" => {
                header(body, b"0");
                append(body, [("112=", message.get(112).unwrap_or_default())]);
            }
            b"5" => header(body, b"5"),
            b"D" => {
                header(body, b"8");
                fill(body, message);
                append(body, [("17=", number.as_bytes()), ("60=", &self.time)]);
            }
            _ => return self.number -= 1,
        }
        self.seal();
    }

    /// The body as a whole message, with its length and checksum.
    fn seal(&mut self) {
        let start = self.answers.len();
        append(&mut self.answers, [("8=", b"FIX.4.4" as &[u8]), ("9=", self.body.len().to_string().as_bytes())]);
        self.answers.extend_from_slice(&self.body);
        let sum = self.answers[start..].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        append(&mut self.answers, [("10=", format!("{sum:03}").as_bytes())]);
    }
}

/// The whole order at its price.
fn fill(body: &mut Vec<u8>, order: &FixMessage<'_>) {
    let of = |tag| order.get(tag).unwrap_or_default();
    append(body, [("11=", of(11)), ("37=", of(11)), ("38=", of(38)), ("40=", of(40)), ("44=", of(44))]);
    append(body, [("54=", of(54)), ("55=", of(55)), ("59=", of(59))]);
    append(body, [("32=", of(38)), ("31=", of(44)), ("6=", of(44))]);
    append(body, [("14=", of(38)), ("150=", b"F"), ("39=", b"2"), ("151=", b"0")]);
}

fn append<const N: usize>(out: &mut Vec<u8>, fields: [(&str, &[u8]); N]) {
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(value);
        out.push(1);
    }
}
