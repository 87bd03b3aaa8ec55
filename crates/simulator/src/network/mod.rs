//! The simulated network between one client and a port: bytes take time and arrive in order; a connection can be cut, slow, half-open,
//! or not read by its client. An end that closed its connection is told apart from one that is gone.

mod socket;
mod stepped_runtime;

use std::collections::VecDeque;

use domain::SeededRng;

use crate::schedule::{ConnectionFault, MILLI};
pub(crate) use socket::NetworkEnd;
pub(crate) use stepped_runtime::SteppedRuntime;

const LATENCY_MAX: i64 = 2 * MILLI;
const SLOW_LATENCY_MAX: i64 = 1_500 * MILLI;
const MICRO: i64 = 1_000;
/// What the machine buffers for a client that reads nothing.
const UNREAD_BYTES_MAX: usize = 1 << 10;

/// The network of one client: its connection, and what is wrong with it.
pub(crate) struct ClientNetwork {
    rng: SeededRng,
    fault: Option<(ConnectionFault, i64)>,
    connection: Option<NetworkConnection>,
}

struct NetworkConnection {
    end: NetworkEnd,
    /// Bytes under way with the time of their arrival; empty ones are the end of the connection.
    to_platform: VecDeque<(i64, Vec<u8>)>,
    to_client: VecDeque<(i64, Vec<u8>)>,
    /// The platform's end was seen closed.
    is_closed: bool,
    /// Nothing arrives any more, in either direction, and no end is told.
    is_dead: bool,
}

/// What arrives at a client.
pub(crate) enum ClientInput {
    Bytes(Vec<u8>),
    /// The connection is closed.
    Closed,
}

impl NetworkConnection {
    fn new(end: NetworkEnd) -> Self {
        Self { end, to_platform: VecDeque::new(), to_client: VecDeque::new(), is_closed: false, is_dead: false }
    }
}

impl ClientNetwork {
    /// Delays are drawn from this.
    pub(crate) fn new(rng: SeededRng) -> Self {
        Self { rng, fault: None, connection: None }
    }

    /// The client's end of a new connection; the one before is gone.
    pub(crate) fn open(&mut self) -> NetworkEnd {
        self.close();
        let end = NetworkEnd::default();
        self.connection = Some(NetworkConnection::new(end.clone()));
        end
    }

    /// The client closes: what is under way to the platform is lost.
    pub(crate) fn close(&mut self) {
        if let Some(connection) = self.connection.take()
            && !connection.is_dead
        {
            connection.end.end();
        }
    }

    /// A connection whose platform's end was made elsewhere; the one before is gone.
    pub(crate) fn adopt(&mut self, end: NetworkEnd) {
        self.close();
        self.connection = Some(NetworkConnection::new(end));
    }

    /// The client closes behind what it has sent.
    pub(crate) fn close_behind(&mut self, now: i64) {
        self.send(now, vec![]);
    }

    /// Whether there is a connection on which nothing arrives any more.
    pub(crate) fn is_dead(&self) -> bool {
        self.connection.as_ref().is_some_and(|connection| connection.is_dead)
    }

    pub(crate) fn set_fault(&mut self, fault: ConnectionFault, until: i64) {
        match fault {
            ConnectionFault::Cut => self.cut(),
            ConnectionFault::Slow | ConnectionFault::NotRead => self.fault = Some((fault, until)),
            ConnectionFault::HalfOpen => {
                if let Some(connection) = &mut self.connection {
                    connection.is_dead = true;
                }
            }
        }
    }

    pub(crate) fn heal(&mut self) {
        self.fault = None;
    }

    /// Both ends are told; what was under way is lost.
    fn cut(&mut self) {
        if let Some(connection) = self.connection.as_mut().filter(|connection| !connection.is_dead) {
            connection.end.end();
            connection.to_platform.clear();
            connection.to_client.clear();
            connection.to_client.push_back((0, vec![]));
            connection.is_closed = true;
        }
    }

    /// The process is gone. Its machine closes the connections, unless it has no power either.
    pub(crate) fn end_of_process(&mut self, now: i64, has_power: bool) {
        let due = now + LATENCY_MAX;
        let Some(connection) = &mut self.connection else { return };
        if has_power && !connection.is_dead && !connection.is_closed {
            connection.to_client.push_back((due, vec![]));
        }
        connection.is_closed = true;
        connection.is_dead |= !has_power;
    }

    pub(crate) fn send(&mut self, now: i64, bytes: Vec<u8>) {
        let due = now + self.latency(now);
        let Some(connection) = self.connection.as_mut().filter(|connection| !connection.is_dead) else { return };
        let due = connection.to_platform.back().map_or(due, |(last, _)| due.max(*last));
        connection.to_platform.push_back((due, bytes));
    }

    /// What has arrived at the platform by now is there for it to read; whether anything has.
    pub(crate) fn deliver_to_platform(&mut self, now: i64) -> bool {
        let Some(connection) = &mut self.connection else { return false };
        let under_way = connection.to_platform.len();
        while connection.to_platform.front().is_some_and(|(due, _)| *due <= now) {
            let (_, bytes) = connection.to_platform.pop_front().unwrap_or_default();
            match &bytes[..] {
                _ if connection.is_dead => {}
                [] => connection.end.end(),
                bytes => connection.end.deliver(bytes),
            }
        }
        connection.to_platform.len() != under_way
    }

    /// What the platform has written is under way.
    pub(crate) fn collect_from_platform(&mut self, now: i64) {
        let (due, is_unread) = (now + self.latency(now), self.has_fault(ConnectionFault::NotRead, now));
        let Some(connection) = &mut self.connection else { return };
        connection.end.set_room(is_unread.then_some(UNREAD_BYTES_MAX));
        if is_unread && !connection.is_dead {
            return;
        }
        let written = connection.end.take_written();
        if connection.is_dead || connection.is_closed {
            return;
        }
        let due = connection.to_client.back().map_or(due, |(last, _)| due.max(*last));
        if !written.is_empty() {
            connection.to_client.push_back((due, written));
        }
        if connection.end.is_closed() {
            connection.is_closed = true;
            connection.to_client.push_back((due, vec![]));
        }
    }

    /// What has arrived at the client by now.
    pub(crate) fn receive(&mut self, now: i64) -> Vec<ClientInput> {
        let Some(connection) = &mut self.connection else { return vec![] };
        let mut inputs = Vec::new();
        while connection.to_client.front().is_some_and(|(due, _)| *due <= now) {
            let (_, bytes) = connection.to_client.pop_front().unwrap_or_default();
            if !connection.is_dead {
                inputs.push(if bytes.is_empty() { ClientInput::Closed } else { ClientInput::Bytes(bytes) });
            }
        }
        inputs
    }

    pub(crate) fn next_due(&self) -> i64 {
        let connection = self.connection.as_ref().filter(|connection| !connection.is_dead);
        let fronts = connection.map(|connection| [connection.to_platform.front(), connection.to_client.front()]);
        fronts.into_iter().flatten().flatten().map(|(due, _)| *due).min().unwrap_or(i64::MAX)
    }

    fn latency(&mut self, now: i64) -> i64 {
        let is_slow = self.has_fault(ConnectionFault::Slow, now);
        self.rng.between(100 * MICRO, if is_slow { SLOW_LATENCY_MAX } else { LATENCY_MAX })
    }

    fn has_fault(&self, fault: ConnectionFault, now: i64) -> bool {
        self.fault.is_some_and(|(known, until)| known == fault && now < until)
    }
}
