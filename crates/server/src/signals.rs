//! SIGTERM and SIGINT: the first begins an orderly stop, the second ends the process at once. SIGHUP: files that can change
//! are read again. SIGUSR1: everything is killed.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};
use signal_hook::iterator::Signals;

use crate::exit_failure::Exit;
use crate::logging;

/// Calls `begin` once, at the first signal, on a thread of its own. A further signal does not wait for what it began.
pub fn on_stop(begin: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    let listen = move || {
        let mut waiting = Some(begin);
        for signal in signals.forever() {
            handle_signal(signal, &mut waiting, force_exit);
        }
    };
    thread::Builder::new().name("signals".to_owned()).spawn(listen).map(drop)
}

/// Calls `read_again` at each SIGHUP, on a thread of its own.
pub fn on_hangup(read_again: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP])?;
    let listen = move || {
        for _ in signals.forever() {
            tracing::info!("SIGHUP: reading the certificate again");
            read_again();
        }
    };
    thread::Builder::new().name("hangup".to_owned()).spawn(listen).map(drop)
}

/// Calls `kill` at each SIGUSR1, on a thread of its own.
pub fn on_kill(kill: impl Fn() + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGUSR1])?;
    let listen = move || signals.forever().for_each(|_| kill());
    thread::Builder::new().name("kill-signal".to_owned()).spawn(listen).map(drop)
}

fn handle_signal<B: FnOnce()>(signal: i32, waiting: &mut Option<B>, force: impl FnOnce()) {
    let name = if signal == SIGINT { "SIGINT" } else { "SIGTERM" };
    match waiting.take() {
        Some(begin) => {
            tracing::info!("{name}: stopping in order; once more ends at once");
            begin();
        }
        None => {
            tracing::warn!("{name} again: ending at once");
            force();
        }
    }
}

fn force_exit() {
    logging::finish();
    std::process::exit(Exit::Forced as i32);
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn the_first_signal_begins_a_stop_and_every_other_forces_it() {
        let (begun, forced) = (Cell::new(0), Cell::new(0));
        let mut waiting = Some(|| begun.set(begun.get() + 1));
        let counts = [SIGTERM, SIGINT, SIGTERM].map(|signal| {
            handle_signal(signal, &mut waiting, || forced.set(forced.get() + 1));
            (begun.get(), forced.get())
        });
        assert_eq!(counts, [(1, 0), (1, 1), (1, 2)]);
    }

    #[test]
    fn every_hangup_arrives() {
        let (sender, receiver) = mpsc::channel();
        on_hangup(move || sender.send(()).unwrap()).unwrap();
        for _ in 0..2 {
            signal_hook::low_level::raise(SIGHUP).unwrap();
            receiver.recv().unwrap();
        }
    }

    #[test]
    fn every_kill_arrives() {
        let (sender, receiver) = mpsc::channel();
        on_kill(move || sender.send(()).unwrap()).unwrap();
        for _ in 0..2 {
            signal_hook::low_level::raise(SIGUSR1).unwrap();
            receiver.recv().unwrap();
        }
    }

    #[test]
    fn a_real_signal_arrives() {
        let (sender, receiver) = mpsc::channel();
        on_stop(move || sender.send(()).unwrap()).unwrap();
        signal_hook::low_level::raise(SIGTERM).unwrap();
        receiver.recv().unwrap();
    }
}
