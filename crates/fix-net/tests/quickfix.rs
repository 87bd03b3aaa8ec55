//! A client made with QuickFIX (C++, Debian's libquickfix-dev) against our echo acceptor. Where compiler or library are
//! not installed the story can't be told, and says so.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]
#![allow(dead_code, reason = "of the common parts only the acceptor is needed here")]

mod world;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use world::{World, acceptor};

/// Builds the client; none where compiler or library are missing.
fn client() -> Option<PathBuf> {
    if !compile(&["-fsyntax-only", "-include", "quickfix/Session.h", "-x", "c++", "/dev/null"])?.status.success() {
        return None;
    }
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quickfix/initiator.cpp");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("quickfix-initiator");
    let built = compile(&["-o", program.to_str()?, source.to_str()?, "-lquickfix", "-lpthread"])?;
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    Some(program)
}

/// QuickFIX 1.15 still says throw(...), which later standards have given up.
fn compile(arguments: &[&str]) -> Option<Output> {
    let compiler = std::env::var("CXX").unwrap_or_else(|_| "g++".to_owned());
    Command::new(compiler).args(["-std=c++14", "-w", "-I/usr/include/quickfix"]).args(arguments).output().ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quickfix_client_trades_loses_count_and_parts_in_order() {
    let Some(client) = tokio::task::spawn_blocking(client).await.unwrap() else {
        eprintln!("SKIPPED: no g++ with libquickfix-dev here");
        return;
    };
    let world = World::echo(acceptor("DESK")).await;
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("client.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=30\n\
         BeginString=FIX.4.4\nSenderCompID=DESK\nTargetCompID=RIALTO\nStartTime=00:00:00\nEndTime=00:00:00\n\
         UseDataDictionary=N\n",
        world.port()
    );
    std::fs::write(&settings, text).unwrap();
    let output =
        tokio::task::spawn_blocking(move || Command::new("timeout").arg("30").arg(client).arg(settings).output());
    let output = output.await.unwrap().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "logged on\n\
         echo 1 of 002000.00\necho 2 of 002000.00\necho 3 of 002000.00\n\
         echo 2 of 002000.00 again\necho 3 of 002000.00 again\necho 4 of 002000.00\n\
         logged out\n"
    );
    world.stop().await;
}
