//! Control socket: the kill switch without a network, for an operator on the machine: a Unix socket in the data folder, SIGUSR1, and a file
//! `kill` in the data folder. It has a thread of its own, so that no load on an interface delays it.

/// The command line's side of the socket.
pub mod client;
/// The engine's side: kill and status.
mod switch;
/// What is said.
pub mod protocol;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bus::forwarding::{ForwardedCall, ForwardedResponse};
use domain::risk::RiskScope;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{info, warn};

use protocol::{ControlReply, ControlRequest};
pub use switch::KillSwitch;

/// The socket, in the data folder.
pub const SOCKET: &str = "control.sock";
/// A file of this name in the data folder means: kill everything.
pub const KILL_FILE: &str = "kill";
/// What that file is called when it was obeyed.
pub const KILL_FILE_DONE: &str = "kill.done";
/// So often the folder is looked at.
pub const KILL_FILE_EVERY: Duration = Duration::from_millis(250);
/// Callers of the socket at a time; one more waits.
pub const CONTROL_CALLERS_MAX: usize = 8;
/// A longer question is not read.
pub const CONTROL_LINE_BYTES_MAX: u64 = 65_536;
/// A caller that has not asked by then is cut off.
pub const CONTROL_WAIT_MAX: Duration = Duration::from_secs(5);

/// SIGUSR1, as it comes; held from before the engine runs, so that none is lost.
pub type Signals = mpsc::Receiver<()>;

/// Serves on a thread of its own until the program ends.
pub fn serve(folder: &Path, switch: KillSwitch, signals: Signals) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let folder = folder.to_owned();
    let thread = std::thread::Builder::new().name("control".into());
    thread.spawn(move || runtime.block_on(serve_all(folder, switch, signals)))?;
    Ok(())
}

/// Kills that followers forward, on a thread of its own, as long as any may come.
pub fn serve_forwarded(switch: KillSwitch, mut kills: mpsc::Receiver<ForwardedCall>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let serve = async move {
        while let Some(call) = kills.recv().await {
            kill_for_follower(&switch, call).await;
        }
    };
    std::thread::Builder::new().name("control-forwarded".into()).spawn(move || runtime.block_on(serve))?;
    Ok(())
}

/// The body says by what, and at which member.
async fn kill_for_follower(switch: &KillSwitch, ForwardedCall { request, answer }: ForwardedCall) {
    let reason = String::from_utf8_lossy(&request.body);
    info!("{reason}: killing everything");
    let answered = switch.kill(RiskScope::Platform, Some(&reason), "kill at a follower").await;
    log_outcome(&answered);
    let (status, text) = match answered {
        ControlReply::Killed { cancels, sequence, .. } => (200, format!("{cancels} cancels, sequence {sequence}")),
        ControlReply::Refused { detail } => (503, detail),
        _ => (503, "the answer is about something else".to_owned()),
    };
    // A follower that has ended asks no more.
    answer.send(ForwardedResponse { status, body: text.into_bytes(), ..ForwardedResponse::default() }).unwrap_or(());
}

async fn serve_all(folder: PathBuf, switch: KillSwitch, signals: Signals) {
    let switch = std::sync::Arc::new(switch);
    match listen(&folder.join(SOCKET)) {
        Ok(listener) => {
            tokio::spawn(serve_socket(listener, switch.clone()));
        }
        // The other two ways remain, and so does trading.
        Err(error) => {
            warn!(%error, "the control socket {SOCKET} can't be opened: rialto kill, status, user, token, ha hand-over and fix reload won't work");
        }
    }
    tokio::join!(watch_signals(signals, &switch), watch_kill_file(&folder, &switch));
}

/// For the owner of the data folder alone. What a crash left is in the way.
fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    Ok(listener)
}

async fn serve_socket(listener: UnixListener, switch: std::sync::Arc<KillSwitch>) {
    let places = std::sync::Arc::new(Semaphore::new(CONTROL_CALLERS_MAX));
    loop {
        let Ok(place) = places.clone().acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let switch = switch.clone();
                tokio::spawn(async move {
                    // A caller that went away needs no answer.
                    let _ = handle_connection(stream, &switch).await;
                    drop(place);
                });
            }
            Err(error) => {
                warn!(%error, "a call at the control socket could not be taken");
                tokio::time::sleep(KILL_FILE_EVERY).await;
            }
        }
    }
}

async fn handle_connection(mut stream: UnixStream, switch: &KillSwitch) -> io::Result<()> {
    let answer = if is_ours(&stream)? {
        let mut line = String::new();
        let mut asked = BufReader::new((&mut stream).take(CONTROL_LINE_BYTES_MAX));
        timeout(CONTROL_WAIT_MAX, asked.read_line(&mut line)).await??;
        answer(&line, switch).await
    } else {
        ControlReply::Refused { detail: "only the user who runs the server, and root, may ask".into() }
    };
    let text = serde_json::to_string(&answer).expect("texts and numbers are always JSON");
    stream.write_all(format!("{text}\n").as_bytes()).await?;
    stream.shutdown().await
}

/// Also for a caller that connected before the mode of the socket was set.
fn is_ours(stream: &UnixStream) -> io::Result<bool> {
    let caller = stream.peer_cred()?.uid();
    Ok(caller == 0 || caller == rustix::process::getuid().as_raw())
}

async fn answer(line: &str, switch: &KillSwitch) -> ControlReply {
    match serde_json::from_str(line) {
        Ok(ControlRequest::Kill { scope, reason }) => switch.kill_named(&scope, reason.as_deref(), "kill").await,
        Ok(ControlRequest::Status) => ControlReply::Status(switch.status().await),
        Ok(ControlRequest::Users { request }) => switch.users(request).await,
        Ok(ControlRequest::HandOver) => switch.hand_over().await,
        Ok(ControlRequest::FixReload) => switch.reload_fix().await,
        Err(error) => ControlReply::Refused { detail: format!("the question can't be read: {error}") },
    }
}

async fn watch_signals(mut signals: Signals, switch: &KillSwitch) {
    while signals.recv().await.is_some() {
        info!("SIGUSR1: killing everything");
        log_outcome(&switch.kill(RiskScope::Platform, Some("SIGUSR1"), "SIGUSR1").await);
    }
}

async fn watch_kill_file(folder: &Path, switch: &KillSwitch) {
    let mut looks = interval(KILL_FILE_EVERY);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        looks.tick().await;
        if !folder.join(KILL_FILE).exists() {
            continue;
        }
        info!("the file {KILL_FILE} is in the data folder: killing everything");
        let answered = switch.kill(RiskScope::Platform, Some("the file kill"), "the file kill").await;
        log_outcome(&answered);
        // It stays where the kill failed, and is obeyed again.
        if matches!(answered, ControlReply::Killed { .. })
            && let Err(error) = fs::rename(folder.join(KILL_FILE), folder.join(KILL_FILE_DONE))
        {
            warn!(%error, "the file {KILL_FILE} can't be renamed to {KILL_FILE_DONE}: it is obeyed again and again");
            tokio::time::sleep(CONTROL_WAIT_MAX).await;
        }
    }
}

/// Nobody else hears how it went.
fn log_outcome(answered: &ControlReply) {
    match answered {
        ControlReply::Killed { scope, cancels, sequence } => {
            warn!(scope, cancels, sequence, "killed");
        }
        ControlReply::Refused { detail } => tracing::error!(detail, "the kill was not done"),
        ControlReply::Status(_) | ControlReply::Users(_) | ControlReply::HandsOver | ControlReply::FixReloaded(_) => {}
    }
}
