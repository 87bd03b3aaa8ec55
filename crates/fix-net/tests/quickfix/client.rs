//! A client made with QuickFIX logs on to our echo acceptor, loses what it has received, requests a resend, logs out.

use crate::harness::{FixHarness, acceptor};
use crate::quickfix::compile;
use std::path::Path;
use std::process::Command;

#[tokio::test(flavor = "multi_thread")]
async fn a_quickfix_client_trades_loses_count_and_parts_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let client = folder.path().join("client");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/quickfix/initiator.cpp");
    compile(&source, &client).unwrap();
    let harness = FixHarness::echo(acceptor("DESK")).await;
    let settings = folder.path().join("client.cfg");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=127.0.0.1\nSocketConnectPort={}\nHeartBtInt=30\n\
         BeginString=FIX.4.4\nSenderCompID=DESK\nTargetCompID=RIALTO\nStartTime=00:00:00\nEndTime=00:00:00\n\
         UseDataDictionary=N\n",
        harness.port()
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
    harness.stop().await;
}
