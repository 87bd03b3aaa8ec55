//! The rules, each a function from the tree to complaints.

/// The crate table of ARCHITECTURE.md is true.
mod crate_table;

/// Functions and files stay short.
mod length;

/// No mark of unfinished work is left in code.
mod marks;

/// Every relative link in a document leads somewhere.
mod links;

/// Crates obey the workspace's lints, pure crates ban the outer world.
mod manifests;

/// No file speaks of the machine it was written on.
mod machine;

/// Decisions are numbered without gaps and listed.
mod decisions;

/// Every endpoint has a description, a role and a scenario.
mod endpoints;

/// Every target of the Makefile says what it does.
mod makefile;

pub use crate_table::crate_table_is_true;
pub use decisions::decisions_are_numbered_and_listed;
pub use endpoints::endpoints_are_whole;
pub use length::functions_and_files_are_short;
pub use links::links_are_alive;
pub use machine::no_file_names_a_machine;
pub use makefile::targets_describe_themselves;
pub use manifests::crates_obey_the_lints;
pub use marks::no_mark_is_left_over;
