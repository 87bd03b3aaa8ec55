//! A port before another one, whose connections can be cut.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub(crate) struct Proxy {
    port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    is_closed: Arc<AtomicBool>,
    answers: Arc<Traffic>,
    requests: Arc<Traffic>,
}

/// What went in one direction.
#[derive(Default)]
struct Traffic {
    passed: AtomicUsize,
    bytes: Mutex<Vec<u8>>,
}

impl Proxy {
    /// Its threads end with the test.
    pub(crate) fn start(venue: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let proxy = Self {
            port,
            connections: Arc::default(),
            is_closed: Arc::default(),
            answers: Arc::default(),
            requests: Arc::default(),
        };
        let (known, is_closed) = (proxy.connections.clone(), proxy.is_closed.clone());
        let (answers, requests) = (proxy.answers.clone(), proxy.requests.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if is_closed.load(Ordering::SeqCst) {
                    continue;
                }
                let venue = TcpStream::connect(("127.0.0.1", venue)).unwrap();
                let mut known = known.lock().unwrap();
                known.extend([client.try_clone().unwrap(), venue.try_clone().unwrap()]);
                pump(client.try_clone().unwrap(), venue.try_clone().unwrap(), requests.clone());
                pump(venue, client, answers.clone());
            }
        });
        proxy
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The same, and no new ones until it is opened.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
        self.cut();
    }

    pub(crate) fn open(&self) {
        self.is_closed.store(false, Ordering::SeqCst);
    }

    /// How often the venue has sent something.
    pub(crate) fn answers(&self) -> usize {
        self.answers.passed.load(Ordering::SeqCst)
    }

    /// Types of the messages to the venue, without Heartbeats (0).
    pub(crate) fn requested(&self) -> Vec<String> {
        let bytes = self.requests.bytes.lock().unwrap();
        let fields = bytes.split(|byte| *byte == b'\x01').map(String::from_utf8_lossy);
        fields.filter_map(|field| field.strip_prefix("35=").map(str::to_owned)).filter(|kind| kind != "0").collect()
    }

    /// Ends every connection without a word; new ones are accepted.
    pub(crate) fn cut(&self) {
        for connection in self.connections.lock().unwrap().drain(..) {
            // One side may have closed it before.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

fn pump(mut from: TcpStream, mut to: TcpStream, traffic: Arc<Traffic>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 4_096];
        while let Ok(count) = from.read(&mut bytes) {
            traffic.bytes.lock().unwrap().extend_from_slice(&bytes[..count]);
            if count == 0 || to.write_all(&bytes[..count]).is_err() {
                break;
            }
            traffic.passed.fetch_add(1, Ordering::SeqCst);
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}
