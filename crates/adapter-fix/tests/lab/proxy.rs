//! A port before another one, whose connections can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

pub(crate) struct Proxy {
    port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    /// Its threads end with the test.
    pub(crate) fn start(venue: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(Mutex::new(Vec::new()));
        let known = connections.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let venue = TcpStream::connect(("127.0.0.1", venue)).unwrap();
                let mut known = known.lock().unwrap();
                known.extend([client.try_clone().unwrap(), venue.try_clone().unwrap()]);
                pump(client.try_clone().unwrap(), venue.try_clone().unwrap());
                pump(venue, client);
            }
        });
        Self { port, connections }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Ends every connection without a word; new ones are accepted.
    pub(crate) fn cut(&self) {
        for connection in self.connections.lock().unwrap().drain(..) {
            // One side may have closed it before.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4_096];
        while let Ok(count) = from.read(&mut bytes) {
            if count == 0 || to.write_all(&bytes[..count]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
