//! Recordings: what is written, what is masked, and how they are read again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use adapter_kit::connection::{SocketLimits, VenueHttp, VenueHttpLimits, VenueRequest, VenueSocket};
use adapter_kit::credentials::{SigningKey, VenueCredentials};
use adapter_kit::recording::{Masker, MessageRecorder, RecordedMessage, ReplayTarget, replay};
use domain::Timestamp;
use expect_test::expect;
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_tungstenite::tungstenite::Message;

use crate::budget::at;
use crate::credentials::{KEY, SECRET};
use crate::loopback::{answer, dialer, read_head, serve, url};
use crate::planted_secret::assert_hidden;

fn masker() -> Masker {
    let mut masker = Masker::new();
    masker.add_credentials(&VenueCredentials::new(KEY.into(), SigningKey::Secret(SECRET.into())));
    masker
}

/// Keeps what is replayed into it.
#[derive(Default)]
struct Kept(Vec<(Timestamp, RecordedMessage)>);

impl ReplayTarget for Kept {
    fn on_recorded(&mut self, at: Timestamp, message: &RecordedMessage) {
        self.0.push((at, message.clone()));
    }
}

/// A careless adapter and a careless venue, which both repeat the secrets.
async fn careless_session(recorder: &Arc<MessageRecorder>) {
    let rest = serve(|mut stream, number| async move {
        read_head(&mut stream).await.unwrap();
        stream.read_exact(&mut [0; "key=".len() + KEY.len()]).await.unwrap();
        if number == 0 {
            stream
                .write_all(answer(&format!("{{\"apiKey\":\"{KEY}\",\"listenKey\":\"abc\"}}")).as_bytes())
                .await
                .unwrap();
        }
    })
    .await;
    let limits = VenueHttpLimits { idle_max: 0, ..VenueHttpLimits::default() };
    let http = VenueHttp::new(url("http", "127.0.0.1", rest), dialer(), limits).recorded(recorder.line("rest"));
    let headers = vec![("X-MBX-APIKEY".to_owned(), KEY.to_owned()), ("x-note".to_owned(), SECRET.to_owned())];
    let path = format!("/order?symbol=AB&secret={SECRET}&signature=0123456789abcdef");
    let request = VenueRequest { method: "POST", path, headers, body: format!("key={KEY}") };
    http.send(&request).await.unwrap();
    http.send(&request).await.unwrap_err();

    let stream = serve(|stream, _| async move {
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        let said = socket.next().await.unwrap().unwrap();
        socket.send(said).await.unwrap();
        socket.send(Message::binary(vec![1, 2])).await.unwrap();
        socket.send(Message::Close(None)).await.unwrap();
    })
    .await;
    let target = format!("ws://127.0.0.1:{}/ws/{KEY}", stream.port()).parse().unwrap();
    let line = recorder.line("stream");
    let mut socket = VenueSocket::connect(&target, &[], &dialer(), SocketLimits::default(), Some(line)).await.unwrap();
    socket.send(format!("{{\"params\":{{\"apiKey\":\"{KEY}\",\"signature\":\"00ff\"}}}}")).await.unwrap();
    while socket.receive().await.is_ok() {}
}

fn recorder_at(path: &Path, bytes_max: u64) -> Arc<MessageRecorder> {
    Arc::new(MessageRecorder::create_bounded(path, masker(), Arc::new(|| at(0)), bytes_max).unwrap())
}

/// The recording with the ports of this run taken out.
fn read(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |all, part| all + "127.0.0.1:PORT" + part.trim_start_matches(|c: char| c.is_ascii_digit()))
}

#[tokio::test]
async fn every_message_is_recorded_and_no_secret_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.jsonl");
    let recorder = recorder_at(&path, u64::MAX);
    careless_session(&recorder).await;
    let text = read(&path);
    expect![[r#"
        {"at":"2026-11-16T05:00:00Z","line":"rest","kind":"request","number":1,"method":"POST","path":"/order?symbol=AB&secret=***&signature=***","headers":[["X-MBX-APIKEY","***"],["x-note","***"]],"body":"key=***"}
        {"at":"2026-11-16T05:00:00Z","line":"rest","kind":"response","number":1,"status":200,"headers":[["content-length","95"]],"body":"{\"apiKey\":\"***\",\"listenKey\":\"***\"}"}
        {"at":"2026-11-16T05:00:00Z","line":"rest","kind":"request","number":2,"method":"POST","path":"/order?symbol=AB&secret=***&signature=***","headers":[["X-MBX-APIKEY","***"],["x-note","***"]],"body":"key=***"}
        {"at":"2026-11-16T05:00:00Z","line":"rest","kind":"noResponse","number":2,"sent":true,"reason":"outcome unknown: connection closed before message completed"}
        {"at":"2026-11-16T05:00:00Z","line":"stream","kind":"opened","address":"127.0.0.1:PORT/ws/***"}
        {"at":"2026-11-16T05:00:00Z","line":"stream","kind":"sent","text":"{\"params\":{\"apiKey\":\"***\",\"signature\":\"***\"}}"}
        {"at":"2026-11-16T05:00:00Z","line":"stream","kind":"received","text":"{\"params\":{\"apiKey\":\"***\",\"signature\":\"***\"}}"}
        {"at":"2026-11-16T05:00:00Z","line":"stream","kind":"receivedBinary","bytes":"AQI="}
        {"at":"2026-11-16T05:00:00Z","line":"stream","kind":"closed","reason":"the venue closed the connection"}
    "#]].assert_eq(&text);
    assert_hidden(&text);
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert_hidden(&format!("{recorder:?} {:?}", recorder.line("rest")));
}

#[tokio::test]
async fn a_recording_is_replayed_as_it_was_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.jsonl");
    careless_session(&recorder_at(&path, u64::MAX)).await;
    let mut kept = Kept::default();
    let count = replay(&path, &mut kept).unwrap();
    let again: String = kept.0.iter().map(|(_, message)| serde_json::to_string(message).unwrap() + "\n").collect();
    assert_eq!((count, again), (kept.0.len(), fs::read_to_string(&path).unwrap()));
    assert!(kept.0.iter().all(|(time, _)| *time == at(0)));
}

#[tokio::test]
async fn a_recording_that_is_full_says_so_and_trading_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.jsonl");
    careless_session(&recorder_at(&path, 600)).await;
    let text = read(&path);
    assert!(text.len() < 800, "{text}");
    assert!(text.ends_with("{\"at\":\"2026-11-16T05:00:00Z\",\"line\":\"rest\",\"kind\":\"full\"}\n"), "{text}");
}

#[test]
fn a_recording_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.jsonl");
    recorder_at(&path, u64::MAX).line("rest").on_opened("somewhere");
    let again = MessageRecorder::create(&path, masker(), Arc::new(|| at(0)));
    assert_eq!(again.unwrap_err().kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 1);
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out_and_other_damage_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("venue.jsonl");
    let line = "{\"at\":\"2026-11-16T05:00:00Z\",\"line\":\"rest\",\"kind\":\"full\"}\n";
    let outcome = |content: String| {
        fs::write(&path, content).unwrap();
        replay(&path, &mut Kept::default()).map_err(|error| error.to_string())
    };
    assert_eq!(outcome(String::new()), Ok(0));
    assert_eq!(outcome(format!("{line}{}", &line[..20])), Ok(1));
    let damaged = outcome(format!("{line}nonsense\n{line}")).unwrap_err();
    assert!(damaged.starts_with("line 2 of the recording cannot be read: "), "{damaged}");
    let damaged = outcome(line.replace("2026-11-16T05:00:00Z", "yesterday")).unwrap_err();
    assert_eq!(damaged, "line 1 of the recording cannot be read: its time cannot be read");
    let missing = replay(&folder.path().join("none"), &mut Kept::default()).unwrap_err().to_string();
    assert!(missing.starts_with("the recording cannot be read: "), "{missing}");
}
