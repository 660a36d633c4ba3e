//! The crate's sources as words, without what stands in comments and literals.

use std::fs;
use std::path::{Path, PathBuf};

/// Runs `check` on every source file, blanked.
pub(crate) fn each_source(mut check: impl FnMut(&str, &str) -> Vec<String>) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    collect(&root.join("src"), &mut files);
    files.sort();
    assert!(!files.is_empty(), "the sources are below src/");
    let mut problems = Vec::new();
    for path in files {
        let text = fs::read_to_string(&path).expect("a source file is UTF-8");
        let name = path.strip_prefix(root).expect("below the root").to_string_lossy().replace('\\', "/");
        problems.extend(check(&name, &blanked(&text)));
    }
    problems
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// A word, a `::`, or any other single character that is not white.
pub(crate) struct Token<'a> {
    pub(crate) text: &'a str,
    pub(crate) line: usize,
}

pub(crate) fn text<'a>(tokens: &[Token<'a>], i: usize) -> &'a str {
    tokens.get(i).map_or("", |token| token.text)
}

pub(crate) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for (line, content) in code.lines().enumerate() {
        let mut rest = content.trim_start();
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let length = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else if rest.starts_with("::") {
                2
            } else {
                first.len_utf8()
            };
            tokens.push(Token { text: &rest[..length], line: line + 1 });
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

/// The text with the inside of comments, strings and characters replaced by blanks, line by line as before.
pub(crate) fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = literal_or_comment(rest, out.chars().next_back());
        let Some(length) = length else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        out.extend(rest[..length].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
        rest = &rest[length..];
    }
    out
}

/// The length of the literal or comment with which `rest` begins, if it does; `before` precedes it.
fn literal_or_comment(rest: &str, before: Option<char>) -> Option<usize> {
    let in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let to_end = |found: Option<usize>| found.unwrap_or(rest.len());
    if rest.starts_with("//") {
        return Some(to_end(rest.find('\n')));
    }
    if rest.starts_with("/*") {
        return Some(block_comment(rest));
    }
    if rest.starts_with('r') && !in_word {
        let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
        if rest[1 + hashes..].starts_with('"') {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = hashes + 2;
            return Some(to_end(rest[start..].find(&close).map(|at| start + at + close.len())));
        }
    }
    if rest.starts_with('"') {
        return Some(quoted(rest, '"'));
    }
    // 'a' and '\n' are characters; 'a alone is a lifetime.
    let mut after = rest.strip_prefix('\'')?.chars();
    let (second, third) = (after.next()?, after.next());
    (second == '\\' || third == Some('\'')).then(|| quoted(rest, '\''))
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}
