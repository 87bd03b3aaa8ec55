//! Every relative link in a document names an existing file, and its anchor an existing heading.

use crate::markdown::{MarkdownLink, anchors, links};
use crate::tree::{TextFile, Tree};
use crate::violation::Violation;

pub fn links_resolve(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    for page in tree.texts().filter(|file| file.has_extension("md")) {
        let dead = links(page).into_iter().filter_map(|link| broken_link(tree, page, &link));
        violations.extend(dead);
    }
    violations
}

fn broken_link(tree: &Tree, page: &TextFile, link: &MarkdownLink) -> Option<Violation> {
    if link.target.contains("://") || link.target.starts_with("mailto:") {
        return None;
    }
    let complain = |what: String| Some(Violation::new(&page.path, link.line, what));
    let (file, anchor) = link.target.split_once('#').unwrap_or((&link.target, ""));
    let Some(path) = resolve(&page.path, file) else {
        return complain(format!("`{}` leads out of the repository", link.target));
    };
    if !tree.has(&path) {
        return complain(format!("`{}` leads nowhere", link.target));
    }
    let known = tree.text(&path).map(anchors).unwrap_or_default();
    if !anchor.is_empty() && !known.iter().any(|heading| heading == anchor) {
        return complain(format!("`{}`: there is no such heading", link.target));
    }
    None
}

/// The path of a link, relative to its page; `None` where it is above the root.
fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.trim_end_matches('/').split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::violation::report;

    fn check(page: &str) -> String {
        let files = [("docs/a.md", page), ("docs/b.md", "# The gate\n"), ("README.md", ""), ("crates/x/lib.rs", "")];
        report(links_resolve(&Tree::from_texts(&files)))
    }

    #[test]
    fn living_links_are_fine() {
        let page =
            "# Top\n[b](b.md#the-gate) [up](../README.md) [here](#top) [folder](../crates/x/) [web](https://x.org/y)\n";
        assert_eq!(check(page), "");
    }

    #[test]
    fn dead_links_are_named() {
        let page = "[gone](gone.md)\n[wrong](b.md#door)\n[out](../../b.md)\n";
        assert_eq!(
            check(page),
            "docs/a.md:1: `gone.md` leads nowhere\n\
             docs/a.md:2: `b.md#door`: there is no such heading\n\
             docs/a.md:3: `../../b.md` leads out of the repository"
        );
    }
}
