//! Rust text with its comments and strings blanked, so that braces and words can be counted.

/// A function found in a file: where its signature begins and its body ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) first_line: usize,
    pub(crate) last_line: usize,
}

impl Function {
    pub(crate) fn lines(&self) -> usize {
        self.last_line - self.first_line + 1
    }
}

/// Every function that has a body, in the order of the text; functions inside functions count on their own too.
pub(crate) fn functions(source: &str) -> Vec<Function> {
    let text = blanked(source);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = next_fn(&text, from) {
        from = at + 1;
        if let Some((name, end)) = name_and_end(&text, at) {
            found.push(Function { name, first_line: line_at(&text, at), last_line: line_at(&text, end) });
        }
    }
    found
}

/// The text with everything inside comments, strings and character literals replaced by blanks; lines stay lines.
pub(crate) fn blanked(source: &str) -> Vec<char> {
    let mut text: Vec<char> = source.chars().collect();
    let mut at = 0;
    while at < text.len() {
        let end = end_of_opaque(&text, at);
        for place in text.iter_mut().take(end).skip(at) {
            if *place != '\n' {
                *place = ' ';
            }
        }
        at = end.max(at + 1);
    }
    text
}

/// Where the comment or literal that begins at `at` ends; `at` itself where none begins.
fn end_of_opaque(text: &[char], at: usize) -> usize {
    let next = text.get(at + 1).copied();
    match text[at] {
        '/' if next == Some('/') => position(text, at, |c| c == '\n').unwrap_or(text.len()),
        '/' if next == Some('*') => end_of_block_comment(text, at),
        '"' => end_of_quoted(text, at, '"'),
        'r' if !continues_word(text, at) => end_of_raw_string(text, at).unwrap_or(at),
        'b' if next == Some('r') && !continues_word(text, at) => end_of_raw_string(text, at + 1).unwrap_or(at),
        '\'' if is_char_literal(text, at) => end_of_quoted(text, at, '\''),
        _ => at,
    }
}

/// Block comments nest in Rust.
fn end_of_block_comment(text: &[char], start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => depth += 1,
            ('*', Some('/')) => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

fn end_of_quoted(text: &[char], start: usize, quote: char) -> usize {
    let mut at = start + 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            c if c == quote => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// `r"…"` and `r#"…"#` with any number of hashes; `None` where the `r` begins a word or a raw identifier.
fn end_of_raw_string(text: &[char], start: usize) -> Option<usize> {
    let hashes = text[start + 1..].iter().take_while(|c| **c == '#').count();
    let opening = start + 1 + hashes;
    if text.get(opening) != Some(&'"') {
        return None;
    }
    let closes = |at: usize| text[at] == '"' && text[at + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    let closing = (opening + 1..text.len()).find(|at| closes(*at));
    Some(closing.map_or(text.len(), |at| at + 1 + hashes))
}

/// `'a'` and `'\n'` are literals, `'a` alone is a lifetime.
fn is_char_literal(text: &[char], at: usize) -> bool {
    text.get(at + 1) == Some(&'\\') || text.get(at + 2) == Some(&'\'')
}

fn continues_word(text: &[char], at: usize) -> bool {
    at > 0 && is_word(text[at - 1])
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn position(text: &[char], from: usize, is: impl Fn(char) -> bool) -> Option<usize> {
    (from..text.len()).find(|at| is(text[*at]))
}

/// The next keyword `fn`, as a word of its own.
fn next_fn(text: &[char], from: usize) -> Option<usize> {
    (from..text.len().saturating_sub(2)).find(|at| {
        text[*at] == 'f' && text[at + 1] == 'n' && text[at + 2].is_whitespace() && !continues_word(text, *at)
    })
}

/// The name after `fn` and the place of the body's last brace; `None` for a declaration without a body.
fn name_and_end(text: &[char], at: usize) -> Option<(String, usize)> {
    let start = position(text, at + 2, |c| !c.is_whitespace())?;
    let name: String = text[start..].iter().take_while(|c| is_word(**c)).collect();
    let opening = body_opening(text, start)?;
    let mut depth = 0_usize;
    let end = (opening..text.len()).find(|at| {
        match text[*at] {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    Some((name, end))
}

/// The brace that opens the body: the first one outside the signature's own brackets.
fn body_opening(text: &[char], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.iter().enumerate().skip(from) {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            ';' if depth == 0 => return None,
            '{' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}

fn line_at(text: &[char], at: usize) -> usize {
    text[..at].iter().filter(|c| **c == '\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blank(source: &str) -> String {
        blanked(source).into_iter().collect()
    }

    fn names_and_lines(source: &str) -> Vec<(String, usize)> {
        functions(source).into_iter().map(|function| (function.name.clone(), function.lines())).collect()
    }

    #[test]
    fn strings_and_comments_are_blanked_and_code_stays() {
        assert_eq!(blank(r#"a("}") // {"#), "a(   )     ");
        assert_eq!(blank("a /* { /* } */ } */ b"), "a                   b");
        assert_eq!(blank(r##"x(r#"}"}"#, 'y', '\'')"##), "x(        ,    ,     )");
    }

    #[test]
    fn lifetimes_and_words_that_end_in_r_are_code() {
        assert_eq!(blank("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
        assert_eq!(blank(r#"for"x""#), "for   ");
    }

    #[test]
    fn a_function_reaches_from_its_signature_to_its_last_brace() {
        let source = "impl A {\n    fn one(x: [u8; 2])\n    where\n        A: B,\n    {\n        \"}\"\n    }\n    fn two() {}\n}\n";
        assert_eq!(names_and_lines(source), [("one".to_owned(), 6), ("two".to_owned(), 1)]);
    }

    #[test]
    fn declarations_and_function_pointers_have_no_body() {
        assert_eq!(names_and_lines("trait T { fn name(&self) -> u8; }\ntype F = fn(u8) -> u8;\n"), []);
    }

    #[test]
    fn a_function_inside_a_function_is_found() {
        assert_eq!(names_and_lines("fn a() {\n fn b() {}\n}\n"), [("a".to_owned(), 3), ("b".to_owned(), 1)]);
    }
}
