//! One session of the FIX 4.4 face that sends without waiting.

use std::io::{self, BufWriter, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::BenchResult;

/// Orders a second, from the first request to the last report.
pub(crate) fn trade(ready: &Value, orders: usize) -> BenchResult<f64> {
    let address = ready["fix44"].as_str().ok_or("the ready line has no fix44")?.trim_start_matches("tcp://");
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut reader = stream.try_clone()?;
    let mut writer = BufWriter::new(stream);
    writer.write_all(&frame(1, "A", "98=0|108=60|141=Y|"))?;
    writer.flush()?;
    let began = Instant::now();
    let writing = thread::spawn(move || -> io::Result<()> {
        for number in 0..orders {
            let order = format!("11=f{number}|38=0.001|40=2|44=50000|54=1|55=BTCUSDT|59=3|60=20260101-00:00:00|");
            writer.write_all(&frame(number + 2, "D", &order))?;
        }
        writer.flush()
    });
    // Each order is reported as new, and then as expired.
    let (mut bytes, mut rest, mut ended) = (vec![0; 1 << 16], Vec::new(), 0);
    while ended < orders {
        let count = reader.read(&mut bytes)?;
        if count == 0 {
            return Err("the session ended".into());
        }
        rest.extend_from_slice(&bytes[..count]);
        ended += rest.windows(7).filter(|window| *window == b"\x01150=C\x01").count();
        // A field may be cut in two.
        rest.drain(..rest.len().saturating_sub(6));
    }
    let took = began.elapsed();
    writing.join().map_err(|_| "the writer failed")??;
    Ok(orders as f64 / took.as_secs_f64())
}

fn frame(number: usize, kind: &str, fields: &str) -> Vec<u8> {
    let mut time = Vec::new();
    fix_net::now().write(3, &mut time);
    let body = format!("35={kind}|34={number}|49=ALPHA|52={}|56=LAB|{fields}", String::from_utf8_lossy(&time));
    let body = body.replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    frame.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    frame
}
