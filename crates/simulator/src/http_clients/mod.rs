//! The HTTP port without its sockets: the real routes with their middleware, JSON in and out, on a runtime of one thread whose clock the
//! simulator moves.

mod line;
mod port;
mod reads;
mod request;
mod services;

pub(crate) use line::{HttpLine, HttpNews, HttpTicket};
pub(crate) use port::{HttpPort, HttpPortParts};
pub(crate) use reads::HttpReads;
pub(crate) use request::{HttpAnswer, answer_of, code_of, request_of};
