//! The connection between a client over HTTP and the port: requests arrive late and in another order, twice or never, and answers are
//! lost.

use domain::SeededRng;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;
use web::{PlainRequest, PlainResponse};

use super::port::{HttpPort, PortAnswer};
use crate::schedule::{LinkFault, MILLI};

/// What a client waits for.
pub(crate) struct HttpTicket {
    state: TicketState,
    /// The request arrives twice.
    pub(crate) is_doubled: bool,
}

enum TicketState {
    UnderWay(oneshot::Receiver<PortAnswer>),
    Arrived(PortAnswer),
    Lost,
}

/// What becomes of a request.
#[derive(Debug)]
pub(crate) enum HttpNews {
    Answer(PlainResponse),
    /// The process has ended, or has dropped it.
    Dropped,
    /// The connection is gone, and with it the request or its answer.
    LineLost,
}

impl HttpTicket {
    /// Of a request that has arrived.
    pub(crate) fn arrived(answer: PortAnswer) -> Self {
        Self::of(TicketState::Arrived(answer))
    }

    fn of(state: TicketState) -> Self {
        Self { state, is_doubled: false }
    }

    pub(crate) fn try_recv(&mut self) -> Option<HttpNews> {
        if let TicketState::UnderWay(arrival) = &mut self.state {
            self.state = match arrival.try_recv() {
                Ok(answer) => TicketState::Arrived(answer),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Closed) => TicketState::Lost,
            };
        }
        match &mut self.state {
            TicketState::Arrived(answer) => match answer.try_recv() {
                Ok(response) => Some(HttpNews::Answer(response)),
                Err(TryRecvError::Empty) => None,
                Err(TryRecvError::Closed) => Some(HttpNews::Dropped),
            },
            TicketState::UnderWay(_) | TicketState::Lost => Some(HttpNews::LineLost),
        }
    }
}

/// Of one client.
pub(crate) struct HttpLine {
    /// What is wrong, and until when.
    fault: Option<(LinkFault, i64)>,
    delayed: Vec<DelayedHttpRequest>,
    /// Answers that nobody waits for.
    unheard: Vec<PortAnswer>,
    rng: SeededRng,
}

struct DelayedHttpRequest {
    due: i64,
    request: PlainRequest,
    arrival: oneshot::Sender<PortAnswer>,
}

impl HttpLine {
    /// Delays are drawn from this.
    pub(crate) fn new(rng: SeededRng) -> Self {
        Self { fault: None, delayed: vec![], unheard: vec![], rng }
    }

    pub(crate) fn set_fault(&mut self, fault: LinkFault, until: i64) {
        self.fault = Some((fault, until));
    }

    /// What is under way still arrives.
    pub(crate) fn heal(&mut self) {
        self.fault = None;
    }

    pub(crate) fn send(&mut self, now: i64, request: PlainRequest, port: &HttpPort) -> HttpTicket {
        let fault = self.fault.filter(|(_, until)| now < *until).map(|(fault, _)| fault);
        match fault {
            None => HttpTicket::arrived(port.send(request)),
            Some(LinkFault::Duplicates) => {
                self.unheard.push(port.send(request.clone()));
                HttpTicket { is_doubled: true, ..HttpTicket::arrived(port.send(request)) }
            }
            Some(LinkFault::Slow) => {
                let (arrival, under_way) = oneshot::channel();
                let due = now + self.rng.between(MILLI, LinkFault::DELAY_MAX);
                self.delayed.push(DelayedHttpRequest { due, request, arrival });
                HttpTicket::of(TicketState::UnderWay(under_way))
            }
            Some(LinkFault::LosesRequests) => HttpTicket::of(TicketState::Lost),
            Some(LinkFault::LosesReplies) => {
                self.unheard.push(port.send(request));
                HttpTicket::of(TicketState::Lost)
            }
        }
    }

    pub(crate) fn next_due(&self) -> i64 {
        self.delayed.iter().map(|request| request.due).min().unwrap_or(i64::MAX)
    }

    pub(crate) fn deliver_due(&mut self, now: i64, port: &HttpPort) {
        let (due, later) = std::mem::take(&mut self.delayed).into_iter().partition(|request| request.due <= now);
        self.delayed = later;
        for DelayedHttpRequest { request, arrival, .. } in due {
            // Its client is there for as long as the run.
            let _ = arrival.send(port.send(request));
        }
    }

    /// Connections end with the process, and so does what is under way.
    pub(crate) fn end_of_process(&mut self) {
        self.delayed.clear();
        self.unheard.clear();
    }

    /// Whether no request is under way or at work.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.unheard.retain_mut(|answer| matches!(answer.try_recv(), Err(TryRecvError::Empty)));
        self.unheard.is_empty() && self.delayed.is_empty()
    }
}
