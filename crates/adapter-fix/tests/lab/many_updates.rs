//! The book over many updates: another client places and cancels as fast as the lab takes it, and the adapter's book is that of the venue.
//!
//! `RIALTO_FIX_UPDATES` says how many updates (100,000).

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::TcpStream;

use domain::SeededRng;
use fix::UtcTimestamp;

use crate::lab::Lab;
use crate::prices::{BITCOIN, is_the_same};
use crate::test_adapter::{TestAdapter, now};

const UPDATES: u64 = 100_000;
/// Between two comparisons.
const COMMANDS: u64 = 5_000;
/// Orders of the crowd that rest.
const RESTING: usize = 150;

/// A client that writes its messages itself and reads no answer.
struct Crowd {
    stream: TcpStream,
    number: u64,
    orders: u64,
    /// Ids and sides, oldest first.
    resting: VecDeque<(u64, char)>,
    random: SeededRng,
}

impl Crowd {
    fn log_on(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut answers = stream.try_clone().unwrap();
        std::thread::spawn(move || {
            let mut bytes = [0; 65_536];
            while answers.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        let random = SeededRng::from_seed(5);
        let mut crowd = Self { stream, number: 0, orders: 0, resting: VecDeque::new(), random };
        let logon = crowd.message("A", "98=0|108=60|141=Y|");
        crowd.stream.write_all(&logon).unwrap();
        crowd
    }

    fn message(&mut self, msg_type: &str, body: &str) -> Vec<u8> {
        self.number += 1;
        let now = utc_now();
        let body = format!("35={msg_type}|34={}|49=BETA|52={now}|56=LAB|{body}", self.number).replace('|', "\u{1}");
        let mut message = format!("8=FIX.4.4\u{1}9={}\u{1}{body}", body.len());
        let sum = message.bytes().fold(0, u8::wrapping_add);
        message += &format!("10={sum:03}\u{1}");
        message.into_bytes()
    }

    /// Orders at many prices; the oldest ones are cancelled. One in a hundred takes.
    fn trade(&mut self, commands: u64) {
        let mut bytes = Vec::new();
        for _ in 0..commands {
            let command = if self.resting.len() >= RESTING { self.cancel() } else { self.place() };
            bytes.extend(command);
        }
        self.stream.write_all(&bytes).unwrap();
    }

    fn place(&mut self) -> Vec<u8> {
        self.orders += 1;
        let (id, now) = (self.orders, utc_now());
        let (side, price) = match self.random.below(2) {
            0 => ('1', 59_000 + self.random.below(990)),
            _ => ('2', 60_010 + self.random.below(990)),
        };
        let takes = self.random.below(100) == 0;
        let (price, tif) = if takes { (if side == '1' { 60_100 } else { 59_900 }, 3) } else { (price, 1) };
        if !takes {
            self.resting.push_back((id, side));
        }
        let quantity = 1 + self.random.below(9);
        self.message(
            "D",
            &format!("11=B{id}|21=1|38=0.000{quantity}|40=2|44={price}|54={side}|55=BTCUSDT|59={tif}|60={now}|"),
        )
    }

    fn cancel(&mut self) -> Vec<u8> {
        let place = usize::try_from(self.random.below(RESTING as u64)).unwrap();
        let (id, side) = self.resting.remove(place).unwrap();
        let now = utc_now();
        self.message("F", &format!("11=C{id}|41=B{id}|38=1|54={side}|55=BTCUSDT|60={now}|"))
    }
}

fn utc_now() -> String {
    let mut text = Vec::new();
    UtcTimestamp::from_nanos(now().0).write(3, &mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_book_is_that_of_the_venue_over_many_updates() {
    let wanted = std::env::var("RIALTO_FIX_UPDATES").map_or(UPDATES, |text| text.parse().unwrap());
    let limits = ["limits.ordersPer10Seconds=100000000", "limits.ordersPerDay=100000000"];
    let (lab, folder) = (Lab::start_with(&limits), tempfile::tempdir().unwrap());
    let mut desk = TestAdapter::open(&folder, "generic-44", &lab.address("fix44"));
    desk.connect();
    desk.subscribe(BITCOIN);
    desk.book_until(|book| is_the_same(book, &lab.depth("BTCUSDT")));
    let mut crowd = Crowd::log_on(lab.port("fix44"));
    let mut compared = 0;
    while desk.books() < wanted {
        crowd.trade(COMMANDS);
        // Most of them change the book; the last ones may still be on their way to the venue, and are part of the next comparison.
        let least = desk.books() + COMMANDS / 2;
        desk.book_after(least, |book| is_the_same(book, &lab.depth("BTCUSDT")));
        compared += 1;
    }
    // A book that begins again equals the venue's too, so it is looked at that none did.
    let reports = desk.reports(0);
    let begun_again: Vec<_> = reports.iter().filter(|report| report.contains("prices lost")).collect();
    assert!(begun_again.is_empty(), "the book began again {} times: {begun_again:?}", begun_again.len());
    println!("{} updates, compared {compared} times, and the book never began again", desk.books());
}
