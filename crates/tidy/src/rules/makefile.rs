//! Every target of the Makefile has a description, so that `make help` is complete.

use crate::tree::Tree;
use crate::violation::Violation;

const MAKEFILE: &str = "Makefile";

pub fn targets_describe_themselves(tree: &Tree) -> Vec<Violation> {
    let Some(makefile) = tree.text(MAKEFILE) else {
        return vec![Violation::new(MAKEFILE, 1, "is missing")];
    };
    let silent = makefile.numbered_lines().filter_map(|(number, line)| Some((number, undescribed_target(line)?)));
    silent.map(|(number, target)| Violation::new(MAKEFILE, number, format!("`{target}` has no `## text`"))).collect()
}

/// The name of a target without a description. Recipes are indented, assignments have `:=`, names with a leading dot
/// are for make itself.
fn undescribed_target(line: &str) -> Option<&str> {
    let (target, rest) = line.split_once(':')?;
    let is_target = !line.starts_with(['\t', ' ', '#', '.']) && !rest.starts_with('=') && !target.contains('=');
    let described = rest.split_once("## ").is_some_and(|(_, text)| !text.trim().is_empty());
    (is_target && !described).then_some(target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    #[test]
    fn a_target_without_text_is_named() {
        let makefile = ".PHONY: run test\nBIN := rialto\nrun: build ## start the demo\n\techo a:b\ntest:\n\nlint: ##\n";
        let violations = targets_describe_themselves(&Tree::from_texts(&[(MAKEFILE, makefile)]));
        assert_eq!(report(violations), "Makefile:5: `test` has no `## text`\nMakefile:7: `lint` has no `## text`");
    }

    #[test]
    fn a_repository_has_a_makefile() {
        assert_eq!(report(targets_describe_themselves(&Tree::default())), "Makefile:1: is missing");
    }
}
