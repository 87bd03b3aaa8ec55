//! Strategy registry: definitions by name. Strategies are compiled in; the configuration selects, names and
//! parameterises instances.

use std::collections::BTreeMap;
use std::fmt;

use domain::ReferenceData;

use crate::parameter::{InvalidParameter, Parameter, StrategySettings};
use crate::strategy::Strategy;

/// Definition of a strategy: name, parameters and constructor.
#[derive(Debug, Clone, Copy)]
pub struct StrategyDefinition {
    /// Its name in the configuration, such as `moving-average-cross`.
    pub name: &'static str,
    /// One line for `rialto strategy list`.
    pub about: &'static str,
    /// All parameters.
    pub parameters: &'static [Parameter],
    /// Creates an instance from checked parameters.
    pub build: fn(&StrategySettings) -> Result<Box<dyn Strategy>, InvalidParameter>,
}

/// All strategies of a program.
#[derive(Debug, Clone, Default)]
pub struct StrategyRegistry(BTreeMap<&'static str, StrategyDefinition>);

/// Why a strategy could not be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildError {
    /// No strategy of this name is compiled in.
    UnknownName {
        /// As it was written.
        name: String,
        /// All names that there are.
        known: Vec<&'static str>,
    },
    /// A parameter is missing or wrong.
    Parameter {
        /// The strategy.
        name: String,
        /// The parameter with the reason.
        problem: InvalidParameter,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownName { name, known } => {
                write!(f, "no strategy is called {name}; there are {}", known.join(", "))
            }
            Self::Parameter { name, problem } => write!(f, "strategy {name}, {problem}"),
        }
    }
}

impl std::error::Error for BuildError {}

impl StrategyRegistry {
    /// Adds a strategy; a later one of the same name replaces it.
    pub fn with(mut self, blueprint: StrategyDefinition) -> Self {
        self.0.insert(blueprint.name, blueprint);
        self
    }

    /// All strategies, by name.
    pub fn definitions(&self) -> impl Iterator<Item = &StrategyDefinition> {
        self.0.values()
    }

    /// The strategy of a name.
    pub fn get(&self, name: &str) -> Result<&StrategyDefinition, BuildError> {
        let unknown = || BuildError::UnknownName { name: name.to_owned(), known: self.0.keys().copied().collect() };
        self.0.get(name).ok_or_else(unknown)
    }

    /// A new instance with these configured settings.
    pub fn build(
        &self,
        name: &str,
        written: &BTreeMap<String, String>,
        reference: &ReferenceData,
    ) -> Result<Box<dyn Strategy>, BuildError> {
        let blueprint = self.get(name)?;
        let settings = StrategySettings::parse(blueprint.parameters, written, reference);
        let built = settings.and_then(|settings| (blueprint.build)(&settings));
        built.map_err(|problem| BuildError::Parameter { name: name.to_owned(), problem })
    }
}
