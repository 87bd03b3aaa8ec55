//! The routes of the running process.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::advance;
use web::{HttpLimits, InProcessHttp, PlainRequest, PlainResponse, WebSettings};

use super::services::services;
use crate::clock::SimulatedClock;

/// Each lets every task run that is ready; what a task wakes then has its turn, too.
const ROUNDS_PER_STEP: usize = 4;
/// Requests are counted by the clock of the machine, which is not simulated: the limit is never met.
const REQUESTS_PER_SECOND: u32 = 1_000_000_000;

pub(crate) struct HttpPort {
    runtime: Runtime,
    routes: InProcessHttp,
    /// The simulated time that the runtime has come to.
    reached: i64,
}

/// What the port needs of the process.
pub(crate) struct HttpPortParts {
    pub(crate) bus: bus::Bus,
    pub(crate) access: Arc<access::Access>,
    pub(crate) clock: SimulatedClock,
}

/// The answer to a request, when it is there. It is gone with the process.
pub(crate) type HttpTicket = oneshot::Receiver<PlainResponse>;

impl HttpPort {
    pub(crate) fn open(parts: HttpPortParts) -> Result<Self, String> {
        let HttpPortParts { bus, access, clock } = parts;
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let limits = HttpLimits { requests_per_second: REQUESTS_PER_SECOND, ..HttpLimits::default() };
        let settings = WebSettings { limits, ..WebSettings::default() };
        let routes = InProcessHttp::new(bus, services(), access, settings);
        Ok(Self { runtime, routes, reached: clock.steady() })
    }

    pub(crate) fn send(&self, request: PlainRequest) -> HttpTicket {
        let (answer, ticket) = oneshot::channel();
        let routes = self.routes.clone();
        // Whether the client still listens or not, the request is carried out.
        self.runtime.spawn(async move { drop(answer.send(routes.answer(request).await)) });
        ticket
    }

    /// Everything that is ready or due by now has its turn.
    pub(crate) fn step(&mut self, now: i64) {
        let passed = u64::try_from(now - self.reached).unwrap_or(0);
        self.reached = now;
        self.runtime.block_on(async {
            advance(Duration::from_nanos(passed)).await;
            for _ in 0..ROUNDS_PER_STEP {
                yield_now().await;
            }
        });
    }
}
