//! The repository checks, over this repository. A failing check prints `file:line: what is wrong`.

use std::path::Path;

use tidy::rules;
use tidy::{Complaint, Tree, report};

fn check(rule: impl Fn(&Tree) -> Vec<Complaint>) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tree = Tree::read(&root).expect("the repository can be read");
    let complaints = report(rule(&tree));
    assert!(complaints.is_empty(), "\n{complaints}\n");
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
    check(rules::links_are_alive);
}

#[test]
fn crates_obey_the_lints() {
    check(rules::crates_obey_the_lints);
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
