//! What bad input gets: the whole message, as a person sees it.

mod faults;
mod fleet;
mod keys;
mod servers;
mod sets;
mod verb_values;
mod verbs;
mod world;

use super::parse;

fn message(text: &str, sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(|&set| set.to_owned()).collect();
    let problems = parse("my.toml", text, &sets).expect_err("it is wrong");
    format!("{}\n", problems.render(false))
}

/// Compares without the blanks at the ends of lines, which editors remove.
fn expect(text: &str, sets: &[&str], wanted: &str) {
    let trimmed = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    let message = message(text, sets);
    assert_eq!(trimmed(&message), trimmed(wanted), "{message}");
}
