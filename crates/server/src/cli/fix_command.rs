//! `rialto fix …` on the command line: dialects of venues that speak FIX, the certification of clients, and their sessions.

use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use adapter_fix::{Dialect, SHIPPED_DIALECTS, check_logons, read_dialect, shipped_dialect};
use clap::{Args, Subcommand};
use fix_gateway::certify::{ClientCertification, FixCredentials, certify_client};
use fix_gateway::{TlsWrapper, tls_acceptor};

use crate::config::{Config, ConfigArgs};
use crate::control;
use crate::exit_failure::{Exit, ExitFailure};
use crate::tls::{Certificate, CertificateSource};

#[derive(Debug, Subcommand)]
pub enum FixCommand {
    /// Dialects: how a venue speaks FIX.
    #[command(subcommand)]
    Dialect(DialectCommand),
    /// Run the certification plan with a client: be its counterparty on a port, watch the steps, print a report.
    Certify(FixCertifyArgs),
    /// Have the running server read its file of FIX sessions again
    ///
    /// Sessions are added, changed and removed; those that are the same keep their connections. A file with an error changes
    /// nothing.
    #[command(verbatim_doc_comment)]
    Reload(ConfigArgs),
}

#[derive(Debug, Args)]
pub struct FixCertifyArgs {
    /// SenderCompID (49) of the client.
    #[arg(long, value_name = "ID")]
    client: String,
    /// TargetCompID (56) of the client: who we are.
    #[arg(long, value_name = "ID", default_value = "RIALTO")]
    server: String,
    /// Address to listen on.
    #[arg(long, value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    bind: IpAddr,
    /// Port to listen on; 0 = any free one.
    #[arg(long, value_name = "PORT", default_value_t = 9_880)]
    port: u16,
    /// After so many seconds the run ends with what was seen.
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// Username (553) that the Logon must have; without it any is accepted.
    #[arg(long, value_name = "NAME", requires = "password_file")]
    username: Option<String>,
    /// File whose first line is the Password (554) that the Logon must have.
    #[arg(long, value_name = "FILE", requires = "username")]
    password_file: Option<PathBuf>,
    /// Certificate chain in PEM: the client connects over TLS.
    #[arg(long, value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// Its key, in PEM.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum DialectCommand {
    /// Check a dialect file; every problem is listed with its line, field and reason.
    Check {
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// List the dialects that are shipped.
    List,
    /// Print the file of a dialect that is shipped, to copy it.
    Show {
        #[arg(value_name = "NAME")]
        name: String,
    },
}

/// Lines are printed as they come.
pub fn execute(command: FixCommand, print: fn(&str) -> Result<(), ExitFailure>) -> Result<(), ExitFailure> {
    match command {
        FixCommand::Dialect(command) => print(&dialect(&command)?),
        FixCommand::Certify(arguments) => certify(arguments, print),
        FixCommand::Reload(config) => {
            let config = Config::load(&config.into_sources());
            let config = config.map_err(|problems| ExitFailure::configuration(&problems))?;
            print(&control::client::reload_fix(&config.data_dir)?)
        }
    }
}

fn certify(arguments: FixCertifyArgs, print: fn(&str) -> Result<(), ExitFailure>) -> Result<(), ExitFailure> {
    let tls = certify_tls(&arguments)?;
    let credentials = certify_credentials(&arguments)?;
    let FixCertifyArgs { client, server, bind, port, seconds, .. } = arguments;
    let time_max = Duration::from_secs(seconds);
    let request =
        ClientCertification { bind, port, server_comp_id: server, client_comp_id: client, time_max, credentials };
    let report = certify_client(&request, tls, move |line| {
        // Who closed the output has the exit code.
        let _ = print(&format!("{line}\n"));
    });
    let report = report.map_err(|error| ExitFailure::new(Exit::Failed, format!("{bind}:{port}: {error}")))?;
    print(&format!("\n{report}\n"))?;
    match report.failed() {
        0 => Ok(()),
        failed => Err(ExitFailure::new(Exit::Failed, format!("the client failed {failed} steps of the plan"))),
    }
}

fn certify_tls(arguments: &FixCertifyArgs) -> Result<Option<TlsWrapper>, ExitFailure> {
    let Some((certificate, key)) = arguments.certificate.as_ref().zip(arguments.key.as_ref()) else { return Ok(None) };
    let served = Certificate::open(CertificateSource::from_files(certificate, key))?;
    let acceptor = tls_acceptor(served);
    acceptor.map(Some).map_err(|error| ExitFailure::new(Exit::Failed, format!("TLS for FIX: {error}")))
}

fn certify_credentials(arguments: &FixCertifyArgs) -> Result<Option<FixCredentials>, ExitFailure> {
    let Some((username, file)) = arguments.username.as_ref().zip(arguments.password_file.as_ref()) else {
        return Ok(None);
    };
    let text = std::fs::read_to_string(file).map_err(|error| ExitFailure::io("read", file, &error))?;
    let password = text.lines().next().unwrap_or_default().to_owned();
    Ok(Some(FixCredentials { username: username.clone(), password }))
}

fn dialect(command: &DialectCommand) -> Result<String, ExitFailure> {
    match command {
        DialectCommand::Check { file } => check(file),
        DialectCommand::List => Ok(list()),
        DialectCommand::Show { name } => {
            let unknown = || ExitFailure::new(Exit::Refused, format!("{name} is no shipped dialect:\n{}", list()));
            shipped_dialect(name).map(str::to_owned).ok_or_else(unknown)
        }
    }
}

fn check(file: &Path) -> Result<String, ExitFailure> {
    let refused = |reason: String| ExitFailure::new(Exit::Refused, format!("{}:\n{reason}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| ExitFailure::io("read", file, &error))?;
    let dialect = read_dialect(&text).map_err(|error| refused(error.to_string()))?;
    check_logons(&dialect).map_err(|refusal| refused(refusal.to_string()))?;
    let (name, version) = (&dialect.name, dialect.version.name());
    Ok(format!("{}: {name}, {version}, {}\n", file.display(), dialect.proof.name()))
}

fn list() -> String {
    let mut text = String::new();
    for dialect in SHIPPED_DIALECTS.iter().filter_map(|(name, _)| Dialect::shipped(name)) {
        let Dialect { name, description, .. } = &dialect;
        writeln!(text, "{name:22} {:10} {description}", dialect.proof.name()).expect("a string takes every text");
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn shipped_dialects_are_listed_with_what_they_were_tried_against() {
        expect![[r#"
            generic-44             lab        FIX 4.4 as the standard says it
            generic-50sp2          program    FIX 5.0SP2 over FIXT 1.1 as the standard says it
            generic-42             lab        FIX 4.2 as the standard says it
            rialto                 program    another Rialto
            binance-spot           lab        Binance spot
            deribit                unproven   Deribit
            coinbase-exchange      unproven   Coinbase Exchange
            quickfix-executor      program    QuickFIX's sample program executor, FIX 4.4
            quickfix-executor-42   program    QuickFIX's sample program executor, FIX 4.2
            quickfix-ordermatch    program    QuickFIX's sample program ordermatch, FIX 4.2
        "#]]
        .assert_eq(&list());
    }

    #[test]
    fn a_file_is_checked_and_its_problems_are_told_with_their_lines() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("venue.toml");
        let told = || {
            let text =
                dialect(&DialectCommand::Check { file: file.clone() }).unwrap_or_else(|failure| failure.to_string());
            text.replace(&file.display().to_string(), "venue.toml")
        };
        std::fs::write(&file, shipped_dialect("generic-44").unwrap()).unwrap();
        expect![[r#"
            venue.toml: generic-44, FIX.4.4, lab
        "#]]
        .assert_eq(&told());
        let parties = "[[fields]]\ntag = 453\nvalue = '1'\n[[fields]]\ntag = 448\nvalue = 'DESK'\n";
        std::fs::write(&file, shipped_dialect("generic-44").unwrap().to_owned() + parties).unwrap();
        expect![[r#"
            venue.toml:
            line 59: fields[2].tag: FIX.4.4 does not allow D, G: 453 counts a repeating group: [[groups]]
            line 62: fields[3].tag: FIX.4.4 does not allow D, G: 448 stands in a repeating group alone: [[groups]]"#]]
        .assert_eq(&told());
        std::fs::write(&file, "name = 'x'\nversion = 'FIX.9'\n").unwrap();
        expect![[r#"
            venue.toml:
            line 2: version: is not one of FIX.4.2, FIX.4.4, FIXT.1.1/5.0SP2"#]]
        .assert_eq(&told());
        let logon = "[[logon.fields]]\ntag = 383\nvalue = 'large'\n";
        std::fs::write(&file, format!("{}\n{logon}", shipped_dialect("generic-44").unwrap())).unwrap();
        expect![[r#"
            venue.toml:
            venue-message: message A breaks the dictionary: Incorrect data format for value (tag 383)"#]]
        .assert_eq(&told());
    }

    #[test]
    fn a_dialect_is_printed_to_be_copied() {
        let show = |name: &str| dialect(&DialectCommand::Show { name: name.to_owned() });
        assert_eq!(show("rialto").unwrap(), shipped_dialect("rialto").unwrap());
        assert!(show("nasdaq").unwrap_err().to_string().starts_with("nasdaq is no shipped dialect:\ngeneric-44"));
    }
}
