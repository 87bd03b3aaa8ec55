//! A session behind a real port, and peers with plain sockets.

use fix::{
    Application, EchoApplication, FixDecoder, FixSession, FixSettings, Framer, MemoryStore, SessionEngine,
    SessionSettings,
};
use fix_net::{
    Acceptor, DictionaryCache, LogonAuthenticator, SessionClock, SessionHandle, SessionStream, StreamDialer,
    run_session, run_session_over, session_queue,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Longest wait for an answer; then the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) fn acceptor(peer: &str) -> String {
    format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=RIALTO\n\
         TargetCompID={peer}\nNonStopSession=Y\n"
    )
}

pub(crate) fn initiator(name: &str, port: u16) -> String {
    format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={port}\nHeartBtInt=30\n\
         BeginString=FIX.4.4\nSenderCompID={name}\nTargetCompID=RIALTO\nNonStopSession=Y\nReconnectInterval=1\n"
    )
}

pub(crate) struct FixHarness {
    port: u16,
    handle: SessionHandle,
    /// Peers use it too.
    clock: SessionClock,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
}

impl FixHarness {
    pub(crate) async fn echo(settings: String) -> Self {
        Self::with(settings, EchoApplication::default()).await
    }

    /// A session that listens.
    pub(crate) async fn with<A: Application + Send + 'static>(settings: String, application: A) -> Self {
        Self::with_authenticator(settings, application, None).await
    }

    /// A session that listens, with an authenticator in front.
    pub(crate) async fn with_authenticator<A: Application + Send + 'static>(
        settings: String,
        application: A,
        authenticator: Option<LogonAuthenticator>,
    ) -> Self {
        Self::listening(settings, application, authenticator, SessionClock::system()).await
    }

    /// A session that listens, with a clock of the test.
    pub(crate) async fn with_clock<A: Application + Send + 'static>(
        clock: SessionClock,
        settings: String,
        application: A,
    ) -> Self {
        Self::listening(settings, application, None, clock).await
    }

    async fn listening<A: Application + Send + 'static>(
        settings: String,
        application: A,
        authenticator: Option<LogonAuthenticator>,
        clock: SessionClock,
    ) -> Self {
        let mut harness = Self::running(settings.clone(), application, clock);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut acceptor = Acceptor::new(listener, [(parsed(&settings), harness.handle.clone())], None);
        if let Some(authenticator) = authenticator {
            acceptor = acceptor.with_authenticator(authenticator);
        }
        harness.port = acceptor.local_address().unwrap().port();
        harness.tasks.push(tokio::spawn(acceptor.run(harness.stop.subscribe())));
        harness
    }

    /// A session that connects.
    pub(crate) fn calling<A: Application + Send + 'static>(settings: String, application: A) -> Self {
        Self::running(settings, application, SessionClock::system())
    }

    /// A session that connects by a dialer and a clock of the test.
    pub(crate) fn dialing<A: Application + Send + 'static>(
        settings: String,
        application: A,
        (clock, dialer): (SessionClock, StreamDialer),
    ) -> Self {
        let (handle, queue) = session_queue();
        let (stop, shutdown) = watch::channel(false);
        let engine = engine(&settings, application, &clock);
        let task = tokio::spawn(run_session_over(engine, queue, dialer, clock.clone(), shutdown));
        Self { port: 0, handle, clock, stop, tasks: vec![task] }
    }

    fn running<A: Application + Send + 'static>(settings: String, application: A, clock: SessionClock) -> Self {
        let (handle, queue) = session_queue();
        let (stop, shutdown) = watch::channel(false);
        let engine = engine(&settings, application, &clock);
        let task = tokio::spawn(run_session(engine, queue, None, clock.clone(), shutdown));
        Self { port: 0, handle, clock, stop, tasks: vec![task] }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn handle(&self) -> &SessionHandle {
        &self.handle
    }

    pub(crate) async fn stop(self) {
        self.stop.send_replace(true);
        for task in self.tasks {
            timeout(PATIENCE, task).await.unwrap().unwrap();
        }
    }
}

fn engine<A: Application>(settings: &str, application: A, clock: &SessionClock) -> SessionEngine<MemoryStore, A> {
    let settings = parsed(settings);
    let dictionary = DictionaryCache::default().get(&settings.dictionary).unwrap();
    let session = FixSession::new(settings, dictionary, MemoryStore::new(clock.now()));
    SessionEngine::new(session, application)
}

pub(crate) fn parsed(settings: &str) -> Arc<SessionSettings> {
    Arc::new(FixSettings::parse(settings).unwrap().sessions.remove(0))
}

/// A peer with a plain socket, or another stream.
pub(crate) struct TestClient {
    socket: Box<dyn SessionStream>,
    framer: Framer,
    name: String,
    port: u16,
    clock: SessionClock,
}

impl TestClient {
    pub(crate) async fn connect(harness: &FixHarness, name: &str) -> Self {
        let socket = TcpStream::connect(("127.0.0.1", harness.port)).await.unwrap();
        Self::over(Box::new(socket), harness, name)
    }

    pub(crate) fn over(socket: Box<dyn SessionStream>, harness: &FixHarness, name: &str) -> Self {
        Self { socket, framer: Framer::new(), name: name.to_owned(), port: harness.port, clock: harness.clock.clone() }
    }

    pub(crate) async fn logged_on(harness: &FixHarness, name: &str) -> Self {
        let mut caller = Self::connect(harness, name).await;
        caller.send_line("35=A|34=1|98=0|108=30").await;
        assert!(caller.receive().await.unwrap().contains("|35=A|34=1|"));
        caller
    }

    pub(crate) async fn send_line(&mut self, line: &str) {
        let frame = self.frame(line);
        self.send(&frame).await;
    }

    pub(crate) async fn send(&mut self, frame: &[u8]) {
        self.socket.write_all(frame).await.unwrap();
    }

    /// The previous connection may still count as open: connects again until there is an answer.
    pub(crate) async fn send_until_answered(&mut self, line: &str) -> String {
        loop {
            self.send_line(line).await;
            match self.receive().await {
                Some(answer) => return answer,
                None => self.socket = Box::new(TcpStream::connect(("127.0.0.1", self.port)).await.unwrap()),
            }
        }
    }

    /// A message with the time at which it is made.
    pub(crate) fn frame(&self, line: &str) -> Vec<u8> {
        let mut time = Vec::new();
        self.clock.now().write(3, &mut time);
        let time = String::from_utf8(time).unwrap();
        let (head, rest) = line.match_indices('|').nth(1).map_or((line, ""), |(at, _)| line.split_at(at));
        let body = format!("{head}|49={}|52={time}|56=RIALTO{rest}|", self.name).replace('|', "\x01");
        let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
        let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
        frame.extend(format!("10={sum:03}\x01").bytes());
        frame
    }

    /// The next message, or `None` when the connection is closed.
    pub(crate) async fn receive(&mut self) -> Option<String> {
        timeout(PATIENCE, self.next()).await.expect("nothing was heard")
    }

    pub(crate) async fn receive_type(&mut self, kind: &str) -> String {
        loop {
            let message = self.receive().await.unwrap();
            if message.contains(&format!("|35={kind}|")) {
                return message;
            }
        }
    }

    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some(frame) = self.framer.next_frame().unwrap() {
                FixDecoder::new().decode(frame).unwrap();
                return Some(String::from_utf8_lossy(frame).replace('\x01', "|"));
            }
            let read = self.socket.read_buf(self.framer.buffer()).await;
            if read.is_err() || read.is_ok_and(|count| count == 0) {
                return None;
            }
        }
    }

    pub(crate) async fn hang_up(mut self) {
        self.socket.shutdown().await.unwrap();
    }
}

pub(crate) fn number(message: &str) -> u64 {
    message.split("|34=").nth(1).unwrap().split('|').next().unwrap().parse().unwrap()
}
