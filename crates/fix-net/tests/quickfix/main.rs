//! Interoperability with QuickFIX (C++): a client of it against our echo acceptor, and our transcripts against an echo
//! acceptor of it. Both are compiled here with g++ and Debian's libquickfix-dev; `make setup` installs them.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// Echo acceptors as programs of their own; the benchmark has them too.
#[path = "../../examples/fix-bench/acceptors.rs"]
#[allow(dead_code, reason = "only QuickFIX's is needed here")]
mod acceptors;
/// Programs that use QuickFIX.
#[path = "../../examples/fix-bench/quickfix.rs"]
mod quickfix;
/// How the lines of a transcript become bytes.
#[path = "../../../fix/tests/test_peer/mod.rs"]
mod test_peer;
/// A session behind a real port.
#[path = "../harness/mod.rs"]
#[allow(dead_code, reason = "of the common parts only the acceptor is needed here")]
mod harness;

/// A client made with QuickFIX trades with us.
mod client;
/// One transcript, and the peer that plays it.
mod transcript;
/// What we answer is what QuickFIX answers.
mod transcripts;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
