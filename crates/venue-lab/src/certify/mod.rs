//! Certificate of a client: it trades a plan at a lab of its own under each fault, and its books are compared with the ledger.

mod certificate;
mod compare;
mod plan;
mod report;

use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

pub use certificate::{Certificate, CertifyRequest};
use certificate::{FaultResult, Verdict};

use crate::config::LabConfig;
use crate::config::config_error::LabConfigError;
use crate::faults::catalogue::{ALWAYS, Fault};
use crate::lab::{LabError, RunningLab};

/// How often a running client is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The labs of a certificate: nobody else trades, and clients that need the older parts of the venue find them.
const LAB_SETTINGS: [&str; 3] = ["activity=off", "binance.listenKeys=true", "binance.sapi=true"];

/// Runs the client under each fault; `progress` gets a line for each. The reports are in the folder afterwards.
pub fn certify(request: &CertifyRequest, progress: &mut dyn FnMut(&str)) -> Result<Certificate, LabError> {
    let mut results = Vec::new();
    for fault in wanted(&request.faults)? {
        let result = certify_fault(request, &fault)?;
        let reason = if result.reason.is_empty() { String::new() } else { format!(": {}", result.reason) };
        progress(&format!("{fault} {}{reason}", result.verdict.name()));
        results.push(result);
    }
    let count = |verdict| results.iter().filter(|result| result.verdict == verdict).count();
    let certificate = Certificate {
        passed: count(Verdict::Passed),
        failed: count(Verdict::Failed),
        not_shown: count(Verdict::NotShown),
    };
    report::write(request, certificate, &results)
        .map_err(|error| LabError::Io("write the report".to_owned(), error))?;
    Ok(certificate)
}

/// The faults in the order of the catalogue.
fn wanted(names: &[String]) -> Result<Vec<String>, LabError> {
    let armed = Fault::ALL.iter().map(|(_, name, _)| *name);
    let all: Vec<String> = armed.chain(ALWAYS).map(ToOwned::to_owned).collect();
    if let Some(name) = names.iter().find(|name| !all.contains(name)) {
        let known = all.join(", ");
        return Err(LabError::Config(LabConfigError(format!("faults: {name} is none of {known}"))));
    }
    Ok(all.into_iter().filter(|name| names.is_empty() || names.contains(name)).collect())
}

fn certify_fault(request: &CertifyRequest, fault: &str) -> Result<FaultResult, LabError> {
    let result = |verdict, reason: String, injected| FaultResult { fault: fault.to_owned(), verdict, reason, injected };
    let folder = request.folder.join(fault);
    let io_error = |doing: &'static str| move |error: io::Error| LabError::Io(doing.to_owned(), error);
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(io_error("remove the files of an earlier run"))?;
    }
    fs::create_dir_all(&folder).map_err(io_error("make a folder for the client's files"))?;
    let settings = LAB_SETTINGS.map(ToOwned::to_owned);
    let config = LabConfig::load(None, true, &settings).map_err(LabError::Config)?;
    let lab = RunningLab::start(config, &folder.join("lab"))?;
    if let Some(armed) = plan::arming(fault, request.seed) {
        lab.arm(&armed).map_err(|reason| LabError::Config(LabConfigError(reason)))?;
    }
    let ended = run_client(request, fault, &folder, &lab).map_err(io_error("run the client"))?;
    let (ledger, injected) = (lab.ledger()?, lab.injections());
    lab.stop()?;
    let is_shown = injected > 0 || ALWAYS.contains(&fault);
    if !is_shown {
        return Ok(result(Verdict::NotShown, "the client did nothing that the fault strikes".to_owned(), 0));
    }
    let difference = match ended {
        Some(trouble) => Some(trouble),
        None => compare::first_difference(&folder.join("books.json"), &ledger, plan::ACCOUNT),
    };
    // Who trades nothing has equal books, and shows nothing.
    let has_traded = ledger["orders"].as_array().is_some_and(|orders| !orders.is_empty());
    if difference.is_none() && !has_traded {
        return Ok(result(Verdict::NotShown, "the client sent no order".to_owned(), injected));
    }
    let verdict = if difference.is_none() { Verdict::Passed } else { Verdict::Failed };
    Ok(result(verdict, difference.unwrap_or_default(), injected))
}

/// Runs the client to its end; what is wrong with the end, if anything is.
fn run_client(request: &CertifyRequest, fault: &str, folder: &Path, lab: &RunningLab) -> io::Result<Option<String>> {
    let [ready, plan_file, books] = ["ready.json", "plan.json", "books.json"].map(|name| folder.join(name));
    fs::write(&ready, lab.ready_line())?;
    fs::write(&plan_file, format!("{:#}", plan::plan(fault)))?;
    let mut child = Command::new("sh")
        .arg("-c")
        .arg(format!("exec {}", request.client))
        .env("RIALTO_VENUE_READY", &ready)
        .env("RIALTO_VENUE_PLAN", &plan_file)
        .env("RIALTO_VENUE_BOOKS", &books)
        .stdin(Stdio::null())
        .stdout(fs::File::create(folder.join("client.out"))?)
        .stderr(fs::File::create(folder.join("client.err"))?)
        .spawn()?;
    let status = wait(&mut child, request.timeout)?;
    Ok(match status {
        None => Some(format!("the client did not end within {} s", request.timeout.as_secs())),
        Some(_) if !books.exists() => Some("the client wrote no books".to_owned()),
        Some(_) => None,
    })
}

/// Its exit status; none where it had to be ended.
fn wait(child: &mut Child, timeout: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let until = Instant::now() + timeout;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(LOOK_EVERY);
    }
}
