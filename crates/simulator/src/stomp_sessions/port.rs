//! The STOMP port of the running process: the real broker, on a runtime of one thread whose clock the simulator moves. Connections
//! come from the simulated network.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use broker::{Broker, BrokerLimits, BrokerSettings, DestinationPattern, Rate, StallLimits, StompCaller};
use tokio::sync::mpsc;

use crate::clock::SimulatedClock;
use crate::network::{NetworkEnd, SteppedRuntime};

/// Of the runtime.
const ROUNDS_PER_STEP: usize = 4;
const CONNECTIONS_WAITING_MAX: usize = 64;
/// Few, so that a port that hangs loses some, and must tell its clients.
const EVENTS_MAX: usize = 256;
/// Short ones, so that a client that reads nothing is disconnected within a run.
const STALL_LIMITS: StallLimits =
    StallLimits { mark: 2 << 10, stall: Duration::from_secs(3), wait: Duration::from_secs(8) };
const MICROS: i64 = 1_000;

pub(crate) struct TopicPort {
    runtime: SteppedRuntime,
    connections: mpsc::Sender<StompCaller>,
}

/// What the port needs of the process.
pub(crate) struct TopicPortParts {
    pub(crate) bus: bus::Bus,
    pub(crate) access: Arc<access::Access>,
    pub(crate) clock: SimulatedClock,
}

impl TopicPort {
    pub(crate) fn open(parts: TopicPortParts) -> Result<Self, String> {
        let TopicPortParts { bus, access, clock } = parts;
        let runtime = SteppedRuntime::new(clock.steady(), ROUNDS_PER_STEP)?;
        let (connections, waiting) = mpsc::channel(CONNECTIONS_WAITING_MAX);
        // No lines of a log: it is not part of the simulation.
        let (_, lines) = mpsc::channel(1);
        {
            // The broker takes its clock from the runtime that it is made in.
            let _entered = runtime.runtime().enter();
            let broker = Broker::new(settings(clock.wall())?, bus, access);
            // A process that is killed tells nobody.
            runtime.runtime().spawn(broker.serve_streams(waiting, lines, std::future::pending()));
        }
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

fn settings(wall: i64) -> Result<BrokerSettings, String> {
    let rate = |per_second| Rate::per_second(per_second).map_err(|error| error.to_string());
    let destination = DestinationPattern::parse("/topic/generic-event.>").map_err(|error| error.to_string())?;
    Ok(BrokerSettings {
        server: "Rialto/simulated".to_owned(),
        max_rate_per_connection: rate(50)?,
        min_rate_per_consumer: rate(1)?,
        client_destinations: vec![destination],
        distributed: false,
        // As the server has it.
        last_message: u64::try_from(wall / MICROS).unwrap_or(0),
        limits: BrokerLimits { events: EVENTS_MAX, stall_limits: STALL_LIMITS, ..BrokerLimits::default() },
    })
}
