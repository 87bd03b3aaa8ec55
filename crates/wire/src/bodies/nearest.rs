//! Spelling suggestions.

/// The maximum distance of a suggestion: a third of its letters, at least two.
fn tolerance(word: &str) -> usize {
    (word.len() / 3).max(2)
}

/// The most similar candidate, if one is near enough.
pub fn nearest<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let written = squeezed(wrong);
    let ranked = candidates.into_iter().map(|candidate| (rank(wrong, &written, candidate), candidate));
    let (difference, best) = ranked.min_by_key(|(difference, _)| *difference)?;
    (difference <= tolerance(&written)).then_some(best)
}

/// `; did you mean 'http.port'?`, or nothing.
pub fn hint<'a>(wrong: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(wrong, candidates).map(|right| format!("; did you mean '{right}'?")).unwrap_or_default()
}

fn rank(wrong: &str, written: &str, candidate: &str) -> usize {
    let difference = edits(written, &squeezed(candidate));
    // `server.port` probably means `http.port`, however many letters differ.
    let same_end = last_part(wrong).eq_ignore_ascii_case(last_part(candidate));
    if same_end { difference.min(2) } else { difference }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

/// Letters and digits only: `http_port`, `HTTP.Port` and `http.port` count as equal.
fn squeezed(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

/// Insertions, deletions and substitutions (Levenshtein).
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut costs: Vec<usize> = (0..=to.len()).collect();
    for (row, letter) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut costs[0], row + 1);
        for (column, other) in to.iter().enumerate() {
            let change = diagonal + usize::from(letter != *other);
            diagonal = costs[column + 1];
            costs[column + 1] = change.min(diagonal + 1).min(costs[column] + 1);
        }
    }
    costs[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_offered_and_a_far_one_is_not() {
        let keys = ["bind", "http.port", "http.hosts", "journal.sync", "portfolio.baseCurrency"];
        let offered = |wrong| nearest(wrong, keys);
        assert_eq!(offered("htp.port"), Some("http.port"));
        assert_eq!(offered("http_port"), Some("http.port"));
        assert_eq!(offered("server.port"), Some("http.port"));
        assert_eq!(offered("journal.snyc"), Some("journal.sync"));
        assert_eq!(offered("portfolio.basecurrency"), Some("portfolio.baseCurrency"));
        assert_eq!(offered("favouriteColour"), None);
        assert_eq!(nearest("anything", []), None);
    }
}
