//! The checks, each a function from the tree to violations.

mod crate_table;
mod length;
mod marks;
mod links;
mod manifests;
mod machine;
mod decisions;
mod endpoints;
mod interfaces;
mod makefile;
mod modules;
mod names;

pub use crate_table::crate_table_is_true;
pub use decisions::decisions_are_numbered_and_listed;
pub use endpoints::endpoints_are_whole;
pub use interfaces::engine_knows_no_interface;
pub use length::functions_and_files_are_short;
pub use links::links_resolve;
pub use machine::no_file_names_a_machine;
pub use makefile::targets_describe_themselves;
pub use manifests::{crates_inherit_lints, planted_bugs_are_not_released};
pub use marks::no_mark_is_left_over;
pub use modules::{files_have_no_cycles, modules_have_one_style, unit_tests_have_one_place};
pub use names::{names_are_of_the_field, type_names_are_unique};
