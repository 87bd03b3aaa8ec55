//! The FIX port of the running process: the real gateway with its sessions, on a runtime of one thread whose clock the simulator
//! moves. Connections come from the simulated network.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use bus::Ledger;
use fix_gateway::{CallerStream, FixSessionFile, Gateway, GatewayParts};
use tokio::sync::mpsc;

use crate::clock::SimulatedClock;
use crate::network::{NetworkEnd, SteppedRuntime};

/// Of the runtime.
const ROUNDS_PER_STEP: usize = 4;
const CONNECTIONS_WAITING_MAX: usize = 64;
/// Of the data folder; ids of reports are made with it.
const INSTANCE_NUMBER: u64 = 7;

/// The sessions of the simulated clients. Heart-beats are frequent, so that a dead connection is noticed within a run.
const SESSION_SETTINGS: &str = "\
[DEFAULT]
ConnectionType=acceptor
BeginString=FIX.4.4
SenderCompID=RIALTO
NonStopSession=Y
HeartBtInt=5
ResetOnLogon=N
SocketAcceptPort=0

[SESSION]
TargetCompID=FIX1

[SESSION]
TargetCompID=FIX2
StandardExecTypes=Y
";

/// Of the first session, where its orders are cancelled when it is disconnected.
const CANCEL_ON_DISCONNECT: &str = "TargetCompID=FIX1\nCancelOnDisconnect=ALL\nCancelOnDisconnectGrace=4\n";

pub(crate) fn session_settings(cancels_on_disconnect: bool) -> String {
    let first = if cancels_on_disconnect { CANCEL_ON_DISCONNECT } else { "TargetCompID=FIX1\n" };
    SESSION_SETTINGS.replace("TargetCompID=FIX1\n", first)
}

pub(crate) struct FixPort {
    runtime: SteppedRuntime,
    connections: mpsc::Sender<CallerStream>,
}

/// What the port needs of the process.
pub(crate) struct FixPortParts {
    pub(crate) bus: bus::Bus,
    pub(crate) ledger: Arc<dyn Ledger>,
    pub(crate) access: Arc<access::Access>,
    pub(crate) clock: SimulatedClock,
}

impl FixPort {
    pub(crate) fn open(parts: FixPortParts, sessions: &Arc<FixSessionFile>) -> Result<Self, String> {
        let FixPortParts { bus, ledger, access, clock } = parts;
        let runtime = SteppedRuntime::new(clock.steady(), ROUNDS_PER_STEP)?;
        let (platform_clock, wall) = (clock.shared(), clock.shared_wall());
        let parts = GatewayParts {
            bus,
            ledger,
            access,
            instance: INSTANCE_NUMBER,
            clock: platform_clock,
            wall,
            sessions_max: sessions.names().len(),
        };
        let gateway = Gateway::open(parts, sessions)?;
        let (connections, waiting) = mpsc::channel(CONNECTIONS_WAITING_MAX);
        // A process that is killed logs nobody out.
        runtime.runtime().spawn(gateway.serve_streams(waiting, std::future::pending()));
        Ok(Self { runtime, connections })
    }

    /// A client connects; false where the port takes no more.
    pub(crate) fn connect(&self, network: &NetworkEnd) -> bool {
        let caller = IpAddr::V4(Ipv4Addr::LOCALHOST);
        self.connections.try_send((Box::new(network.platform_end()), caller)).is_ok()
    }

    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        self.runtime.step(now);
    }
}
