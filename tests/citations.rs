//! What the code says of its sources can be looked up: every citation of a page of `docs/spec` names a section
//! that the page has.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const PAGES: [&str; 4] = ["eureka-server.md", "eureka-client.md", "eureka-peers.md", "two-stage.md"];

/// Where pages are cited.
const PLACES: [&str; 5] = ["src", "tests", "benches", "scenarios", "docs"];

#[test]
fn cited_sections_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let known = PAGES.map(|page| sections(&read(&root.join("docs/spec").join(page))));
    let mut citations = 0;
    let mut problems = Vec::new();
    for file in PLACES.iter().flat_map(|place| files_below(&root.join(place))) {
        let text = read(&file);
        for (page, known) in PAGES.iter().zip(&known) {
            for cited in cited_sections(&text, page) {
                citations += 1;
                if !known.contains(&cited) {
                    problems.push(format!("{}: {page} has no section {cited}", file.display()));
                }
            }
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(citations > 100, "only {citations} citations: the search is broken");
}

/// The numbers of a page's headings: `## 4. Self-preservation`, `### 4.2 Threshold`.
fn sections(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter_map(|line| line.strip_prefix('#'));
    let numbers = headings.filter_map(|line| line.trim_start_matches(['#', ' ']).split(' ').next());
    numbers.map(|number| number.trim_end_matches('.').to_owned()).filter(|it| is_number(it)).collect()
}

/// Every section that `text` cites of `page`: one, or a list with commas, `and`, `to`, `section`, `sections`.
fn cited_sections(text: &str, page: &str) -> Vec<String> {
    let quoted = format!("`{page}`");
    let mut cited = Vec::new();
    for (at, _) in text.match_indices(&quoted) {
        for word in text[at + quoted.len()..].split_whitespace() {
            let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
            if is_number(number) {
                cited.push(number.to_owned());
                let goes_on = matches!(&word[number.len()..], "" | ",");
                if !goes_on {
                    break;
                }
            } else if !matches!(word, "section" | "sections" | "and" | "to" | "//!" | "///" | "//") {
                break;
            }
        }
    }
    cited
}

fn is_number(word: &str) -> bool {
    !word.is_empty()
        && word.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
}

/// Files that people write, in the order of their names; recordings cite nothing.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for path in entries.map(|entry| entry.expect("an entry of a folder").path()) {
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs" || kind == "toml" || kind == "md") {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn lists_of_sections_are_read() {
    let text = "//! Source: `eureka-server.md` 4.6, 7.3, section 8; `X.syncUp`,\n/// (`eureka-server.md` sections 1 to 9).";
    assert_eq!(cited_sections(text, "eureka-server.md"), ["4.6", "7.3", "8", "1", "9"]);
    assert_eq!(
        cited_sections("`eureka-client.md` 3.2 to\n//! 3.6 in 5 files", "eureka-client.md"),
        ["3.2", "3.6"]
    );
    assert!(cited_sections("`eureka-client.md` (see 3.2)", "eureka-client.md").is_empty());
    let page = "# Title\n## 4. Self-preservation\n### 4.2 Threshold\n";
    assert_eq!(sections(page), BTreeSet::from(["4".to_owned(), "4.2".to_owned()]));
}
