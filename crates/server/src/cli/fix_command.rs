//! `rialto fix …` on the command line: dialects of venues that speak FIX.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use adapter_fix::{Dialect, SHIPPED_DIALECTS, shipped_dialect};
use clap::Subcommand;

use crate::exit_failure::{Exit, ExitFailure};

#[derive(Debug, Subcommand)]
pub enum FixCommand {
    /// Dialects: how a venue speaks FIX.
    #[command(subcommand)]
    Dialect(DialectCommand),
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

/// What is printed.
pub fn execute(command: &FixCommand) -> Result<String, ExitFailure> {
    let FixCommand::Dialect(command) = command;
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
    let dialect = Dialect::parse(&text).map_err(|error| refused(error.to_string()))?;
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
            let command = FixCommand::Dialect(DialectCommand::Check { file: file.clone() });
            let text = execute(&command).unwrap_or_else(|failure| failure.to_string());
            text.replace(&file.display().to_string(), "venue.toml")
        };
        std::fs::write(&file, shipped_dialect("generic-44").unwrap()).unwrap();
        expect![[r#"
            venue.toml: generic-44, FIX.4.4, lab
        "#]]
        .assert_eq(&told());
        std::fs::write(&file, "name = 'x'\nversion = 'FIX.9'\n").unwrap();
        expect![[r#"
            venue.toml:
            line 2: version: is not one of FIX.4.2, FIX.4.4, FIXT.1.1/5.0SP2"#]]
        .assert_eq(&told());
    }

    #[test]
    fn a_dialect_is_printed_to_be_copied() {
        let show = |name: &str| execute(&FixCommand::Dialect(DialectCommand::Show { name: name.to_owned() }));
        assert_eq!(show("rialto").unwrap(), shipped_dialect("rialto").unwrap());
        assert!(show("nasdaq").unwrap_err().to_string().starts_with("nasdaq is no shipped dialect:\ngeneric-44"));
    }
}
