//! TCP proxy whose connections can be cut.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

pub struct CuttableProxy {
    address: SocketAddr,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    is_cut: Arc<AtomicBool>,
}

impl CuttableProxy {
    /// Forwards everything to that address.
    ///
    /// # Panics
    /// Where no port is free.
    pub fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let proxy = Self { address, connections: Arc::default(), is_cut: Arc::default() };
        let (carried, is_cut) = (proxy.connections.clone(), proxy.is_cut.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if !is_cut.load(Ordering::Relaxed) {
                    // An unreachable target counts as a cut.
                    let _ = forward(stream, target, &carried);
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
        for stream in self.connections.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // One that ended by itself is cut already.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    pub fn restore(&self) {
        self.is_cut.store(false, Ordering::Relaxed);
    }
}

fn forward(near: TcpStream, target: SocketAddr, carried: &Mutex<Vec<TcpStream>>) -> io::Result<()> {
    let far = TcpStream::connect(target)?;
    let (near_back, far_back) = (near.try_clone()?, far.try_clone()?);
    let ends = [near.try_clone()?, far.try_clone()?];
    carried.lock().unwrap_or_else(PoisonError::into_inner).extend(ends);
    thread::spawn(move || copy_bytes(near, far));
    thread::spawn(move || copy_bytes(far_back, near_back));
    Ok(())
}

fn copy_bytes(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; 16 * 1_024];
    while let Ok(length) = from.read(&mut bytes)
        && length > 0
        && to.write_all(&bytes[..length]).is_ok()
    {}
    let _ = to.shutdown(Shutdown::Both);
}
