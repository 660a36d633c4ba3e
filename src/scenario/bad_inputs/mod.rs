//! What bad input gets: the whole message, as a person sees it.

mod claims;
mod faults;
mod fleet;
mod keys;
mod registries;
mod servers;
mod sets;
mod single_server;
mod surprises;
mod two_stage;
mod verb_values;
mod verbs;
mod world;

use super::parse;

fn message(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let problems = parse("my.toml", text, &sets).expect_err("it is wrong");
    format!("{}\n", problems.render(false))
}

fn expect(text: &str, sets: &[&str], wanted: &str) {
    compare(&message(text, sets), wanted);
}

fn expect_warnings(text: &str, wanted: &str) {
    let loaded = parse("my.toml", text, &[]).unwrap_or_else(|problems| panic!("{problems}"));
    compare(&format!("{}\n", loaded.render_warnings(false)), wanted);
}

/// Compares without the blanks at the ends of lines, which editors remove.
fn compare(message: &str, wanted: &str) {
    let trimmed = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    assert_eq!(trimmed(message), trimmed(wanted), "{message}");
}
