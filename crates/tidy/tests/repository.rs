//! The repository checks, over this repository. A failing check prints `file:line: what is wrong`.

use std::path::Path;

use tidy::rules;
use tidy::{Tree, Violation, report};

fn check(rule: impl Fn(&Tree) -> Vec<Violation>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = Tree::read(&root).expect("the repository can be read");
    let violations = report(rule(&tree));
    assert!(violations.is_empty(), "\n{violations}\n");
}

#[test]
fn the_crate_table_is_true() {
    check(rules::crate_table_is_true);
}

#[test]
fn functions_and_files_are_short() {
    check(rules::functions_and_files_are_short);
}

#[test]
fn no_mark_is_left_over() {
    check(rules::no_mark_is_left_over);
}

#[test]
fn links_are_alive() {
    check(rules::links_resolve);
}

#[test]
fn crates_obey_the_lints() {
    check(rules::crates_inherit_lints);
}

#[test]
fn planted_bugs_are_not_released() {
    check(rules::planted_bugs_are_not_released);
}

#[test]
fn no_file_names_a_machine() {
    check(rules::no_file_names_a_machine);
}

#[test]
fn decisions_are_numbered_and_listed() {
    check(rules::decisions_are_numbered_and_listed);
}

#[test]
fn endpoints_are_whole() {
    check(rules::endpoints_are_whole);
}

#[test]
fn targets_describe_themselves() {
    check(rules::targets_describe_themselves);
}

#[test]
fn type_names_are_unique() {
    check(rules::type_names_are_unique);
}

#[test]
fn names_are_of_the_field() {
    check(rules::names_are_of_the_field);
}

#[test]
fn engine_knows_no_interface() {
    check(rules::engine_knows_no_interface);
}

#[test]
fn files_have_no_cycles() {
    check(rules::files_have_no_cycles);
}

#[test]
fn modules_have_one_style() {
    check(rules::modules_have_one_style);
}

#[test]
fn unit_tests_have_one_place() {
    check(rules::unit_tests_have_one_place);
}
