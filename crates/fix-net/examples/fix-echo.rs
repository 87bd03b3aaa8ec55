//! The echo application: an acceptor that sends back what it gets, by the stock rules that acceptance definitions are
//! run against.
//!
//! ```text
//! cargo run --release --example fix-echo -- SETTINGS_FILE
//! ```
//!
//! Ports, sessions and dictionaries are those of the settings file; numbers live in memory and start at 1.

use fix::{ConnectionType, EchoApplication, FixSession, FixSettings, MemoryStore, SessionEngine, SessionSettings};
use fix_net::{Acceptor, DictionaryCache, SessionClock, SessionHandle, now, run_session, session_queue};
use std::collections::BTreeMap;
use std::error::Error;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// One thread: a peer's message is answered where it arrives.
#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some(file) = std::env::args().nth(1) else {
        eprintln!("usage: fix-echo SETTINGS_FILE");
        return ExitCode::from(2);
    };
    match echo(&file).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fix-echo: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn echo(file: &str) -> Result<(), Box<dyn Error>> {
    let settings = read(file)?;
    let (stop, shutdown) = watch::channel(false);
    let mut tasks = Vec::new();
    let mut dictionaries = DictionaryCache::for_settings_file(Path::new(file));
    for (port, sessions) in by_port(settings) {
        let handles = open(sessions, &mut dictionaries, &shutdown, &mut tasks)?;
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await?;
        let acceptor = Acceptor::new(listener, handles, None);
        println!("listening on {}", acceptor.local_address()?);
        tokio::spawn(acceptor.run(shutdown.clone()));
    }
    tokio::signal::ctrl_c().await?;
    stop.send(true)?;
    for task in tasks {
        task.await?;
    }
    Ok(())
}

fn read(file: &str) -> Result<FixSettings, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let settings = FixSettings::parse(&text).map_err(|errors| {
        let lines: Vec<_> = errors.iter().map(|error| format!("{file}: {error}")).collect();
        lines.join("\n")
    })?;
    for warning in &settings.warnings {
        eprintln!("{file}: {warning}");
    }
    Ok(settings)
}

type Sessions = Vec<Arc<SessionSettings>>;
type Handles = Vec<(Arc<SessionSettings>, SessionHandle)>;

fn by_port(settings: FixSettings) -> BTreeMap<u16, Sessions> {
    let mut ports: BTreeMap<u16, Sessions> = BTreeMap::new();
    for session in settings.sessions {
        if let ConnectionType::Acceptor { port: Some(port), .. } = session.role {
            ports.entry(port).or_default().push(Arc::new(session));
        }
    }
    ports
}

fn open(
    sessions: Sessions,
    dictionaries: &mut DictionaryCache,
    shutdown: &watch::Receiver<bool>,
    tasks: &mut Vec<tokio::task::JoinHandle<()>>,
) -> Result<Handles, Box<dyn Error>> {
    let mut handles = Vec::new();
    for settings in sessions {
        let dictionary = dictionaries.get(&settings.dictionary)?;
        let session = FixSession::new(settings.clone(), dictionary, MemoryStore::new(now()));
        let (handle, queue) = session_queue();
        let conversation = SessionEngine::new(session, EchoApplication::for_settings(&settings));
        tasks.push(tokio::spawn(run_session(conversation, queue, None, SessionClock::system(), shutdown.clone())));
        handles.push((settings, handle));
    }
    Ok(handles)
}
