//! Hears what becomes of orders, and goes on where it stopped when the connection breaks or the program starts again. It
//! needs nothing but Rust's own library; for TLS wrap the stream in rustls.
//!
//!     rustc --edition 2021 listen.rs
//!     ./listen [HOST:PORT] [FILE]
//!
//! The address is by default localhost:61613. FILE keeps the id of the last event, by default last-event; without it the
//! program begins with the first event that the server has. RIALTO_LOGIN and RIALTO_PASSCODE in the environment log in: a
//! user and the password, or any name and a token.

use std::collections::HashMap;
use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;
use std::{env, fs, thread};

/// Silence for longer than two heart-beats of ten seconds is an end.
const PATIENCE: Duration = Duration::from_secs(20);

struct Frame {
    command: String,
    headers: HashMap<String, String>,
    body: String,
}

impl Frame {
    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// The text of a field; a program of substance uses serde_json.
    fn field(&self, name: &str) -> &str {
        let begin = self.body.split_once(&format!("\"{name}\":\"")).map_or("", |(_, rest)| rest);
        begin.split('"').next().unwrap_or_default()
    }
}

/// Headers of CONNECT are not escaped; those of the other frames would be, had they a colon or a line end in them.
fn send(to: &mut TcpStream, command: &str, headers: &[String]) -> std::io::Result<()> {
    to.write_all(format!("{command}\n{}\n\n\0", headers.join("\n")).as_bytes())
}

fn line(from: &mut impl BufRead) -> Result<String, Box<dyn Error>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Err("the server has closed".into());
    }
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            '\\' => match letters.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('c') => ':',
                _ => '\\',
            },
            letter => letter,
        });
    }
    plain
}

fn receive(from: &mut impl BufRead) -> Result<Frame, Box<dyn Error>> {
    let mut command = String::new();
    // A line end between frames is a heart-beat.
    while command.is_empty() {
        command = line(from)?;
    }
    let mut headers = HashMap::new();
    loop {
        let line = line(from)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.entry(unescaped(name)).or_insert_with(|| unescaped(value));
    }
    let mut body = Vec::new();
    match headers.get("content-length") {
        Some(length) => {
            body.resize(length.parse::<usize>()? + 1, 0);
            from.read_exact(&mut body)?;
        }
        None => drop(from.read_until(0, &mut body)?),
    }
    body.pop();
    Ok(Frame { command, headers, body: String::from_utf8(body)? })
}

fn take(frame: &Frame, last_event: &str) -> Result<(), Box<dyn Error>> {
    let (order, status) = (frame.field("intId"), frame.field("status"));
    match frame.command.as_str() {
        "RECEIPT" => println!("listening"),
        "ERROR" => return Err(format!("refused: {}", frame.header("message")).into()),
        // The last value of each open order; what happens to it afterwards comes by the other subscription.
        "MESSAGE" if frame.header("subscription") == "orders" => {
            if frame.header("snapshot") == "true" {
                println!("standing {order} {status}");
            }
        }
        "MESSAGE" => {
            println!("{order} {status}");
            // Written down when the work is done: what was not done is delivered again.
            let beside = format!("{last_event}.new");
            fs::write(&beside, frame.header("event-id"))?;
            // In one step, so that the file is whole whenever the program ends.
            fs::rename(&beside, last_event)?;
        }
        _ => {}
    }
    Ok(())
}

/// Until the connection ends.
fn listen(address: &str, last_event: &str) -> Result<(), Box<dyn Error>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut from = BufReader::new(stream.try_clone()?);
    let mut login: Vec<String> = ["accept-version:1.2", "host:localhost", "heart-beat:10000,10000"].map(String::from).into();
    // A desk without users needs no login.
    if let (Ok(user), Ok(passcode)) = (env::var("RIALTO_LOGIN"), env::var("RIALTO_PASSCODE")) {
        login.extend([format!("login:{user}"), format!("passcode:{passcode}")]);
    }
    send(&mut stream, "CONNECT", &login)?;
    let answer = receive(&mut from)?;
    if answer.command != "CONNECTED" {
        return Err(format!("refused: {}", answer.header("message")).into());
    }
    let mut beating = stream.try_clone()?;
    thread::spawn(move || {
        while beating.write_all(b"\n").is_ok() {
            thread::sleep(PATIENCE / 2);
        }
    });
    let last = fs::read_to_string(last_event).unwrap_or_else(|_| "0".to_owned());
    // Orders that are placed by hand belong to the strategy SERVER.
    let orders = ["id:orders", "destination:/topic/order.SERVER.*", "snapshot:true"].map(String::from);
    send(&mut stream, "SUBSCRIBE", &orders)?;
    let status = ["id:status", "destination:/topic/order-status.SERVER.*", "receipt:subscribed"].map(String::from);
    send(&mut stream, "SUBSCRIBE", &[&status[..], &[format!("from-sequence:{}", last.trim())]].concat())?;
    loop {
        take(&receive(&mut from)?, last_event)?;
    }
}

fn main() {
    let mut arguments = env::args().skip(1);
    let address = arguments.next().unwrap_or_else(|| "localhost:61613".to_owned());
    let last_event = arguments.next().unwrap_or_else(|| "last-event".to_owned());
    loop {
        if let Err(error) = listen(&address, &last_event) {
            eprintln!("{error}");
        }
        thread::sleep(Duration::from_secs(1));
    }
}
