//! Markdown: tables, links, headings.

use crate::tree::TextFile;

/// A link's target and its line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MarkdownLink {
    pub(crate) line: usize,
    pub(crate) target: String,
}

/// Every inline link and every reference definition outside code.
pub(crate) fn links(file: &TextFile) -> Vec<MarkdownLink> {
    let mut found = Vec::new();
    for (line, text) in prose(file) {
        let text = without_code_spans(text);
        let inline = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let targets = inline.chain(definition(&text)).filter_map(|target| target.split_whitespace().next());
        found.extend(targets.map(|target| MarkdownLink { line, target: target.to_owned() }));
    }
    found
}

/// The anchors of a file's headings, as GitHub makes them.
pub(crate) fn anchors(file: &TextFile) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, text) in prose(file) {
        let Some(heading) = heading(text) else {
            continue;
        };
        let slug = slug(heading);
        let repeats = found.iter().filter(|known| is_repeat(known, &slug)).count();
        found.push(if repeats == 0 { slug } else { format!("{slug}-{repeats}") });
    }
    found
}

/// The rows of the first table with that header line, each with its line number and its cells.
pub(crate) fn table<'a>(file: &'a TextFile, header: &[&str]) -> Option<Vec<(usize, Vec<&'a str>)>> {
    let mut lines = file.numbered_lines().skip_while(|(_, line)| cells(line) != header);
    lines.next()?;
    let rows = lines.skip(1).take_while(|(_, line)| line.starts_with('|'));
    Some(rows.map(|(number, line)| (number, cells(line))).collect())
}

/// The names in a cell: separated by commas, `–` for none.
pub(crate) fn names(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(',').map(|name| name.trim().trim_matches('`')).filter(|name| !name.is_empty() && *name != "–")
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Numbered lines outside fenced code.
fn prose(file: &TextFile) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    file.numbered_lines().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    })
}

/// Text between backticks may show a link without being one.
fn without_code_spans(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// `[label]: target` at the beginning of a line.
fn definition(line: &str) -> Option<&str> {
    let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
    (!label.contains(']')).then_some(target)
}

fn heading(line: &str) -> Option<&str> {
    line.starts_with('#').then(|| line.trim_start_matches('#').trim())
}

fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).flat_map(char::to_lowercase).collect()
}

fn is_repeat(known: &str, slug: &str) -> bool {
    known.strip_prefix(slug).is_some_and(|rest| {
        let number = rest.strip_prefix('-').unwrap_or_default();
        rest.is_empty() || (!number.is_empty() && number.chars().all(|c| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> TextFile {
        TextFile { path: "page.md".to_owned(), text: text.to_owned() }
    }

    #[test]
    fn links_in_code_are_not_links() {
        let page =
            page("[a](one.md) `[b](two.md)` and [c](three.md \"title\")\n```\n[d](four.md)\n```\n[e]: five.md\n");
        let found: Vec<_> = links(&page).into_iter().map(|link| (link.line, link.target)).collect();
        let expected = [(1, "one.md"), (1, "three.md"), (5, "five.md")];
        assert_eq!(found, expected.map(|(line, target)| (line, target.to_owned())));
    }

    #[test]
    fn anchors_are_those_of_github() {
        let page = page("# Rialto: the map\n## The order's way\n```\n# a comment\n```\n## Run\n## Run\n");
        assert_eq!(anchors(&page), ["rialto-the-map", "the-orders-way", "run", "run-1"]);
    }

    #[test]
    fn a_table_is_found_by_its_header() {
        let page = page(
            "| A | B |\n|---|---|\n| no | no |\n\n| Crate | Ours |\n|---|---|\n| bus | domain, `wire` |\n\n| x | y |\n",
        );
        let rows = table(&page, &["Crate", "Ours"]).unwrap();
        assert_eq!(rows, [(7, vec!["bus", "domain, `wire`"])]);
        assert_eq!(names(rows[0].1[1]).collect::<Vec<_>>(), ["domain", "wire"]);
        assert_eq!(names("–").count(), 0);
    }
}
