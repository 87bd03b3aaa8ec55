//! Configured strategies that run in the server.

use std::collections::BTreeMap;

use domain::Text;
use runtime::strategies::{OnFailure, StrategyConfig};

use super::setting::{Literal, Setting};

/// An instance of a strategy with its parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrategyInstance(pub StrategyConfig);

impl Setting for StrategyInstance {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "NAME:STRATEGY and its parameters, such as 'TREND:moving-average-cross security=EUR.USD fast=20 slow=50'".into()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let named = words.next().and_then(|first| first.split_once(':'));
        let named = named.filter(|(name, of)| !name.is_empty() && !of.is_empty());
        let (name, of) = named.ok_or_else(|| format!("'{text}' is not {}", Self::shape()))?;
        let mut written = BTreeMap::new();
        for word in words {
            let (parameter, value) =
                word.split_once('=').ok_or_else(|| format!("'{word}' in '{text}' is not PARAMETER=VALUE"))?;
            if written.insert(parameter.to_owned(), value.to_owned()).is_some() {
                return Err(format!("'{text}' says {parameter} twice"));
            }
        }
        Ok(Self(StrategyConfig { name: Text::from(name), strategy: of.to_owned(), parameters: written }))
    }

    fn show(&self) -> String {
        let StrategyConfig { name, strategy: of, parameters: written } = &self.0;
        let parameters: String = written.iter().map(|(parameter, value)| format!(" {parameter}={value}")).collect();
        format!("{name}:{of}{parameters}")
    }
}

impl Setting for OnFailure {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "one of cancel, keep".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "cancel" => Ok(Self::Cancel),
            "keep" => Ok(Self::Keep),
            _ => Err(format!("'{text}' is not {}", Self::shape())),
        }
    }

    fn show(&self) -> String {
        match self {
            Self::Cancel => "cancel".to_owned(),
            Self::Keep => "keep".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_is_a_name_a_strategy_and_its_parameters() {
        let text = "TREND:moving-average-cross fast=20 security=EUR.USD";
        let instance = StrategyInstance::parse(text).unwrap();
        assert_eq!((&*instance.0.name, &*instance.0.strategy), ("TREND", "moving-average-cross"));
        assert_eq!(instance.show(), text);
    }

    #[test]
    fn what_is_no_instance_is_refused_with_the_reason() {
        let refused = |text| StrategyInstance::parse(text).unwrap_err();
        assert!(refused("TREND").starts_with("'TREND' is not NAME:STRATEGY"));
        assert_eq!(refused("A:b fast"), "'fast' in 'A:b fast' is not PARAMETER=VALUE");
        assert_eq!(refused("A:b fast=1 fast=2"), "'A:b fast=1 fast=2' says fast twice");
    }
}
