//! Calls without a key from the command line: within the venue's limits, and not while it has told us to wait.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adapter_kit::connection::{VenueHttp, VenueHttpLimits};
use adapter_kit::{NetworkVenue, RequestGrant, RequestLane};
use adapters::thread::AdapterClock;
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::addresses::BinanceAddresses;
use crate::connection::RestClient;
use crate::protocol::answers::{CallError, WireRateLimit};
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::encoding::RequestStamp;
use crate::request_gate::RequestGate;

/// Requests of this kind are not signed, so the window does not matter.
const RECEIVE_WINDOW_MILLIS: u32 = 5_000;
/// So long a request waits for its part of the limits; then the command ends with the reason.
const WAIT_MAX: Duration = Duration::from_secs(300);
const WAIT_STEP: Duration = Duration::from_millis(500);
/// How the budget begins its refusal where a limit is used up for now. An order of the venue to wait is another one.
const USED_UP: &str = "venue-rate:";

pub(crate) struct PublicCalls {
    rest: RestClient,
    gate: RequestGate,
    clock: AdapterClock,
    runtime: Runtime,
}

impl PublicCalls {
    /// Files of the venue begin with `files`.
    pub(crate) fn open(
        addresses: &BinanceAddresses,
        network: &NetworkVenue,
        files: &Path,
        clock: &AdapterClock,
    ) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let http = VenueHttp::new(addresses.rest.clone(), network.dialer.clone(), VenueHttpLimits::default());
        Ok(Self {
            rest: RestClient::public(http),
            gate: RequestGate::open(files.with_extension("limits.json"), clock(), RECEIVE_WINDOW_MILLIS)?,
            clock: Arc::clone(clock),
            runtime: runtime.map_err(|error| error.to_string())?,
        })
    }

    pub(crate) fn ask<T: for<'de> Deserialize<'de>>(&mut self, request: &BinanceRequest) -> Result<T, String> {
        let (grant, stamp) = self.admit(request)?;
        let clock = Arc::clone(&self.clock);
        let answer = self.runtime.block_on(self.rest.call(request, stamp, None, || clock()));
        let answer = answer.map_err(|failure| failure.to_string())?;
        self.gate.on_answer((self.clock)(), grant, &answer);
        let result = answer.outcome.as_ref().map_err(CallError::describe)?;
        T::deserialize(result).map_err(|reason| reason.to_string())
    }

    /// The venue's own limits, from now on.
    pub(crate) fn on_limits(&mut self, limits: &[WireRateLimit]) {
        self.gate.on_limits((self.clock)(), limits);
    }

    fn admit(&mut self, request: &BinanceRequest) -> Result<(RequestGrant, RequestStamp), String> {
        let begun = Instant::now();
        loop {
            match self.gate.admit((self.clock)(), RequestLane::Listing, request) {
                Err(reason) if reason.starts_with(USED_UP) && begun.elapsed() < WAIT_MAX => {
                    std::thread::sleep(WAIT_STEP);
                }
                admitted => return admitted,
            }
        }
    }
}
