//! `rialto strategy …`: what strategies there are, and how one gets one's own.

use std::path::PathBuf;

use clap::Subcommand;
use strategy::parameter::{Parameter, ParameterKind};
use strategy::{StrategyDefinition, StrategyRegistry};

use crate::config::ConfigArgs;

#[derive(Debug, Subcommand)]
pub enum StrategyCommand {
    /// List the strategies that are part of this program, with their parameters.
    List,
    /// Write a crate whose binary is Rialto with a strategy of your own inside
    ///
    /// It is written into a new folder of that name. Its binary has every command of this one, and knows your strategy
    /// by its name.
    #[command(verbatim_doc_comment)]
    New {
        /// Small letters, digits and -.
        #[arg(value_name = "NAME")]
        name: String,
        /// The folder with Rialto's sources.
        #[arg(long, value_name = "PATH")]
        rialto: PathBuf,
    },
    /// Run a strategy in a process of its own, for a server that was started with --distributed
    ///
    /// The key strategies.instances says what it is. Where users are configured, RIALTO_TOKEN holds the strategy's token. Where
    /// strategies.nats names a file, it comes over NATS and needs no --server.
    #[command(verbatim_doc_comment)]
    Run {
        /// The name in which it trades.
        #[arg(value_name = "NAME")]
        name: String,
        /// The server's HTTP address; in a cluster those of all members, with commas between them.
        #[arg(long, value_name = "URL")]
        server: Option<String>,
        /// Take the place of a process that runs it already: that one is stopped.
        #[arg(long)]
        take_over: bool,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// All of them, with what can be set.
pub fn list(registry: &StrategyRegistry) -> String {
    registry.definitions().map(describe).collect::<Vec<_>>().join("\n")
}

fn describe(blueprint: &StrategyDefinition) -> String {
    let parameters: String = blueprint.parameters.iter().map(describe_parameter).collect();
    format!("{}: {}\n{parameters}", blueprint.name, blueprint.about)
}

fn describe_parameter(parameter: &Parameter) -> String {
    let kind = match &parameter.kind {
        ParameterKind::Integer { min, max } => format!("{min} to {max}"),
        ParameterKind::Decimal { min, max } => format!("{min} to {max}"),
        ParameterKind::Flag => "true or false".to_owned(),
        ParameterKind::Choice(of) => of.join(", "),
        ParameterKind::Security => "symbol or id".to_owned(),
        ParameterKind::BarSize => domain::BarSize::ALL.map(domain::BarSize::name).join(", "),
        ParameterKind::Text => "any text".to_owned(),
    };
    let default = parameter.default.map_or("must be given".to_owned(), |default| format!("default {default}"));
    format!("  {:<12} {}; {kind}; {default}\n", parameter.name, parameter.about)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn strategies_are_listed_with_what_can_be_set() {
        let listed = list(&strategy::samples::registry());
        let first: Vec<_> = listed.lines().take(6).collect();
        expect![[r#"
            breakout: long when a bar closes above the range of the bars before it, out or short when below
              security     what to trade; symbol or id; must be given
              bars         size of the bars; SEC_1, MIN_1, MIN_5, MIN_15, HOUR_1, DAY_1; default MIN_1
              period       bars that make the range; 2 to 1000; default 20
              quantity     position to hold; 0.00000001 to 1000000000; default 1
              short        whether to go short below the range, instead of out; true or false; default false"#]]
        .assert_eq(&first.join("\n"));
    }
}
