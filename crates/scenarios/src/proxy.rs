//! TCP proxy whose connections can be cut, held or made to lose what is sent: nothing passes, in both directions or in one, and neither
//! end is told.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;

pub struct CuttableProxy {
    address: SocketAddr,
    /// Both ends of each; one that has ended is closed.
    connections: Arc<Mutex<Vec<Weak<TcpStream>>>>,
    is_cut: Arc<AtomicBool>,
    /// To the target, and back.
    holds: [Arc<Hold>; 2],
}

/// Whether bytes wait, or are lost.
#[derive(Default)]
struct Hold {
    is_held: Mutex<bool>,
    changed: Condvar,
    loses: AtomicBool,
}

impl CuttableProxy {
    /// Forwards everything to that address.
    ///
    /// # Panics
    /// Where no port is free.
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let proxy = Self { address, connections: Arc::default(), is_cut: Arc::default(), holds: Default::default() };
        let (carried, is_cut, holds) = (proxy.connections.clone(), proxy.is_cut.clone(), proxy.holds.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if !is_cut.load(Ordering::Relaxed) {
                    // An unreachable target counts as a cut.
                    let _ = forward(stream, target, &carried, &holds);
                }
            }
        });
        proxy
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All connections are cut, and new ones fail until `mend`.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::Relaxed);
        let connections = std::mem::take(&mut *self.connections.lock().unwrap_or_else(PoisonError::into_inner));
        for stream in connections.iter().filter_map(Weak::upgrade) {
            // One that ended by itself is cut already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// Nothing passes until `restore`; then what was sent meanwhile does, as over a network that was away.
    pub fn hold(&self) {
        self.holds.iter().for_each(|hold| hold.set(true));
    }

    /// As [`Self::hold`], but what is sent to the target arrives: its answers do not.
    pub fn hold_answers(&self) {
        self.holds[1].set(true);
    }

    /// What the target sends is lost, or passes again. The connections stay.
    pub fn lose_answers(&self, lost: bool) {
        self.holds[1].loses.store(lost, Ordering::SeqCst);
    }

    pub fn restore(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
        self.holds.iter().for_each(|hold| hold.set(false));
    }
}

impl Hold {
    fn set(&self, is_held: bool) {
        *self.is_held.lock().unwrap_or_else(PoisonError::into_inner) = is_held;
        self.changed.notify_all();
    }

    fn wait(&self) {
        let is_held = self.is_held.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(is_held, |is_held| *is_held));
    }
}

fn forward(
    near: TcpStream,
    target: SocketAddr,
    carried: &Mutex<Vec<Weak<TcpStream>>>,
    holds: &[Arc<Hold>; 2],
) -> io::Result<()> {
    let ends = [Arc::new(near), Arc::new(TcpStream::connect(target)?)];
    let mut carried = carried.lock().unwrap_or_else(PoisonError::into_inner);
    carried.retain(|end| end.strong_count() > 0);
    carried.extend(ends.each_ref().map(Arc::downgrade));
    let ([near, far], [there, back]) = (ends.clone(), holds.clone());
    thread::spawn(move || copy_bytes(&near, &far, &there));
    let [near, far] = ends;
    thread::spawn(move || copy_bytes(&far, &near, &back));
    Ok(())
}

fn copy_bytes(mut from: &TcpStream, mut to: &TcpStream, hold: &Hold) {
    let mut bytes = [0; 16 * 1_024];
    while let Ok(length) = from.read(&mut bytes)
        && length > 0
    {
        hold.wait();
        if hold.loses.load(Ordering::SeqCst) {
            continue;
        }
        if to.write_all(&bytes[..length]).is_err() {
            break;
        }
    }
    // The end of a connection does not pass either.
    hold.wait();
    let _ = to.shutdown(Shutdown::Both);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::wait_for;

    /// A client that makes a connection for each request would use up the files that the process may open.
    #[test]
    fn a_connection_that_has_ended_is_closed() {
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = CuttableProxy::to(target.local_addr().unwrap());
        let ends = || proxy.connections.lock().unwrap().iter().filter(|end| end.strong_count() > 0).count();
        for _ in 0..10 {
            let client = TcpStream::connect(proxy.address()).unwrap();
            let (served, _) = target.accept().unwrap();
            wait_for("the connection", || (ends() == 2).then_some(()));
            drop((client, served));
            wait_for("its end", || (ends() == 0).then_some(()));
        }
        assert!(proxy.connections.lock().unwrap().len() <= 2, "what has ended is forgotten");
    }

    #[test]
    fn answers_that_are_lost_never_come() {
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = CuttableProxy::to(target.local_addr().unwrap());
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let (mut served, _) = target.accept().unwrap();
        proxy.lose_answers(true);
        client.write_all(b"order").unwrap();
        let mut bytes = [0; 5];
        served.read_exact(&mut bytes).unwrap();
        served.write_all(b"lost.").unwrap();
        drop(served);
        assert_eq!(client.read(&mut bytes).unwrap(), 0, "the end of the connection is the next thing that comes");
    }

    #[test]
    fn a_cut_ends_connections_and_refuses_new_ones_until_the_line_is_restored() {
        let target = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = CuttableProxy::to(target.local_addr().unwrap());
        let mut client = TcpStream::connect(proxy.address()).unwrap();
        let (mut served, _) = target.accept().unwrap();
        client.write_all(b"order").unwrap();
        let mut bytes = [0; 5];
        served.read_exact(&mut bytes).unwrap();
        proxy.cut();
        assert_eq!((client.read(&mut bytes).unwrap_or(0), served.read(&mut bytes).unwrap_or(0)), (0, 0));
        proxy.restore();
        let mut again = TcpStream::connect(proxy.address()).unwrap();
        let (mut served, _) = target.accept().unwrap();
        again.write_all(b"again").unwrap();
        served.read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"again");
    }
}
