use std::fs;
use std::path::Path;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

/// A payload on the page: the file that it links to, and the text that it shows.
fn shown(page: &str) -> Vec<(String, String)> {
    let linked = page.split("](../contract/json/").skip(1);
    let shown = linked.map(|rest| {
        let (file, rest) = rest.split_once(')').unwrap();
        let (between, rest) = rest.split_once("```json\n").unwrap();
        assert!(between.trim().is_empty(), "{file} is followed by its payload");
        (file.to_owned(), rest.split_once("```").unwrap().0.to_owned())
    });
    shown.collect()
}

#[test]
fn the_page_of_topics_shows_golden_payloads() {
    let page = fs::read_to_string(Path::new(DOCS).join("topics.md")).unwrap();
    let shown = shown(&page);
    assert!(shown.len() > 15, "{}", shown.len());
    for (file, text) in shown {
        let golden = fs::read_to_string(Path::new(DOCS).join("../contract/json").join(&file)).unwrap();
        assert_eq!(text, golden, "{file}");
    }
}
