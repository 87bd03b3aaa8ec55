//! A backup while orders are placed: what it costs them. The release binary, over HTTP.

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::start;
use crate::table::{Row, percentile};

type BenchResult<T> = Result<T, Box<dyn Error>>;

/// How long orders are placed before a backup is taken.
const ALONE: Duration = Duration::from_secs(5);
const BACKUPS: usize = 3;

/// Of a folder whose journal was filled before.
pub(crate) fn row(data: &Path) -> BenchResult<Row> {
    let (mut server, line) = start::launch(data, &["--set", "risk.ordersPerSecond=100000"])?;
    let measured = measure(data, &line);
    start::stop(&mut server)?;
    let (alone, beside, backups) = measured?;
    let mean = backups.iter().sum::<Duration>() / u32::try_from(backups.len())?;
    let note = format!(
        "median {:.1?}; without a backup p99 {:.1?}, median {:.1?}; {mean:.1?} a backup, the first with the whole journal {:.1?}",
        percentile(&beside, 50),
        percentile(&alone, 99),
        percentile(&alone, 50),
        backups.first().copied().unwrap_or_default(),
    );
    Ok(Row::yardstick("order beside a backup, p99", percentile(&beside, 99), note))
}

type Measured = (Vec<Duration>, Vec<Duration>, Vec<Duration>);

fn measure(data: &Path, ready_line: &str) -> BenchResult<Measured> {
    let address = ready_line.split("\"http\":\"http://").nth(1).and_then(|rest| rest.split('"').next());
    let mut client = Client::connect(address.ok_or("no address in the ready line")?)?;
    let begun = Instant::now();
    let alone = client.place_while(|| Ok(begun.elapsed() < ALONE))?;
    let (mut beside, mut backups) = (Vec::new(), Vec::new());
    for _ in 0..BACKUPS {
        let mut backup = start_backup(data)?;
        let begun = Instant::now();
        beside.extend(client.place_while(|| Ok(backup.try_wait()?.is_none()))?);
        backups.push(begun.elapsed());
        if !backup.wait()?.success() {
            return Err("a backup failed".into());
        }
    }
    Ok((sorted(alone), sorted(beside), backups))
}

fn start_backup(data: &Path) -> BenchResult<Child> {
    let to = data.with_file_name("backups");
    let mut command = Command::new(start::binary()?);
    command.arg("backup").arg(to).arg("--data-dir").arg(data);
    Ok(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
}

fn sorted(mut times: Vec<Duration>) -> Vec<Duration> {
    times.sort_unstable();
    times
}

/// One connection that places orders, each after the answer to the one before.
struct Client {
    stream: BufReader<TcpStream>,
    request: String,
}

impl Client {
    fn connect(address: &str) -> BenchResult<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let body = r#"{"securityId":1,"side":"BUY","quantity":1,"limit":1}"#;
        let request = format!(
            "POST /rest/execution/order/limit HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        Ok(Self { stream: BufReader::new(stream), request })
    }

    fn place_while(&mut self, mut goes_on: impl FnMut() -> BenchResult<bool>) -> BenchResult<Vec<Duration>> {
        let mut times = Vec::new();
        while goes_on()? {
            let begun = Instant::now();
            self.place()?;
            times.push(begun.elapsed());
        }
        Ok(times)
    }

    fn place(&mut self) -> BenchResult<()> {
        self.stream.get_mut().write_all(self.request.as_bytes())?;
        let (mut status, mut length, mut line) = (String::new(), 0, String::new());
        self.stream.read_line(&mut status)?;
        while self.stream.read_line(&mut line)? > 2 {
            if let Some(given) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = given.trim().parse()?;
            }
            line.clear();
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        if status.contains(" 200 ") {
            return Ok(());
        }
        Err(format!("{}: {}", status.trim(), String::from_utf8_lossy(&body)).into())
    }
}
