//! The routes of the running process.

use std::sync::Arc;

use tokio::sync::oneshot;
use web::{HttpLimits, InProcessHttp, PlainRequest, PlainResponse, WebSettings};

use super::services::services;
use crate::clock::SimulatedClock;
use crate::network::SteppedRuntime;

/// Of the runtime.
const ROUNDS_PER_STEP: usize = 4;
/// Requests are counted by the clock of the machine, which is not simulated: the limit is never met.
const REQUESTS_PER_SECOND: u32 = 1_000_000_000;

/// The answer to a request that has arrived.
pub(super) type PortAnswer = oneshot::Receiver<PlainResponse>;

pub(crate) struct HttpPort {
    runtime: SteppedRuntime,
    routes: InProcessHttp,
}

/// What the port needs of the process.
pub(crate) struct HttpPortParts {
    pub(crate) bus: bus::Bus,
    pub(crate) access: Arc<access::Access>,
    pub(crate) clock: SimulatedClock,
}

impl HttpPort {
    pub(crate) fn open(parts: HttpPortParts) -> Result<Self, String> {
        let HttpPortParts { bus, access, clock } = parts;
        let runtime = SteppedRuntime::new(clock.steady(), ROUNDS_PER_STEP)?;
        let limits = HttpLimits { requests_per_second: REQUESTS_PER_SECOND, ..HttpLimits::default() };
        let settings = WebSettings { limits, ..WebSettings::default() };
        let routes = InProcessHttp::new(bus, services(), access, settings);
        Ok(Self { runtime, routes })
    }

    /// The answer is gone with the process.
    pub(crate) fn send(&self, request: PlainRequest) -> PortAnswer {
        let (answer, ticket) = oneshot::channel();
        let routes = self.routes.clone();
        // Whether the client still listens or not, the request is carried out.
        self.runtime.runtime().spawn(async move { drop(answer.send(routes.answer(request).await)) });
        ticket
    }

    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        self.runtime.step(now);
    }
}
