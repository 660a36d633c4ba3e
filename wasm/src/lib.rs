//! stillup in a browser, or under Node: a module without imports that takes JSON and gives JSON.
//!
//! The host and the module share memory, and numbers are all that a call can carry. So a call has three steps, and
//! no tool is needed to make them (`check.mjs` does it in a dozen lines):
//!
//! 1. [`stillup_input`] makes room for so many bytes, and says where; the host writes a [`Request`] there.
//! 2. [`stillup_run`] runs it.
//! 3. What came of it, an [`Answer`], stands at [`stillup_output`], as many bytes as the second step said.
//!
//! The exported names are the reason why this is a package of its own: to fix the name of a symbol counts as unsafe,
//! and stillup itself forbids that. Nothing else here is: the buffers are vectors.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use stillup::{Finished, scenario};

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static OUTPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// What is to be run.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Request {
    /// A scenario that comes with the program, by name. Without this and [`Self::text`], the default one.
    scenario: Option<String>,
    /// A scenario file's text.
    text: Option<String>,
    /// Settings, each `KEY=VALUE`.
    #[serde(default)]
    set: Vec<String>,
}

/// What came of it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "kebab-case")]
enum Answer {
    /// It ran.
    Ran {
        /// `summary.json`, as `stillup run` writes it.
        summary: serde_json::Value,
        /// Each replicate's digest in order, 16 hexadecimal digits each.
        replicate_digests: Vec<String>,
        /// The terminal's table, without colours.
        table: String,
        /// What will surprise about the scenario; may be empty.
        warnings: String,
    },
    /// It did not: why.
    Refused(String),
}

/// Makes room for a request of `length` bytes (UTF-8), and returns where. What stood there before is gone.
#[unsafe(no_mangle)]
pub extern "C" fn stillup_input(length: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; length];
        input.as_mut_ptr()
    })
}

/// Runs the request, and returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn stillup_run() -> usize {
    let input = INPUT.take();
    let answer = match serde_json::from_slice(&input) {
        Ok(request) => run(request),
        Err(error) => Answer::Refused(format!("the request is not understood: {error}")),
    };
    let text = serde_json::to_vec(&answer).expect("plain structs are always JSON");
    let length = text.len();
    OUTPUT.set(text);
    length
}

/// Where the answer stands (UTF-8), until the next request is run.
#[unsafe(no_mangle)]
pub extern "C" fn stillup_output() -> *const u8 {
    OUTPUT.with_borrow(Vec::as_ptr)
}

fn run(request: Request) -> Answer {
    let (name, text) = match (request.scenario, request.text) {
        (Some(_), Some(_)) => return Answer::Refused("`scenario` and `text` exclude each other".to_owned()),
        (None, Some(text)) => ("scenario.toml".to_owned(), text),
        (name, None) => {
            let name = name.unwrap_or_else(|| scenario::BUILTIN[0].0.to_owned());
            match scenario::builtin(&name) {
                Some(text) => (name, text.to_owned()),
                None => return Answer::Refused(format!("no scenario `{name}` comes with stillup")),
            }
        }
    };
    let loaded = match scenario::parse(&name, &text, &request.set) {
        Ok(loaded) => loaded,
        Err(problems) => return Answer::Refused(problems.render(false)),
    };
    let finished = stillup::run(&loaded.scenario);
    Answer::Ran {
        summary: serde_json::to_value(finished.summary()).expect("plain structs are always JSON"),
        replicate_digests: digests(&finished),
        table: finished.table(),
        warnings: loaded.render_warnings(false),
    }
}

fn digests(finished: &Finished<'_>) -> Vec<String> {
    finished.data().replicates.iter().map(|replicate| format!("{:016x}", replicate.digest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told() {
        let told = |text: &str| match run(serde_json::from_str(text).unwrap()) {
            Answer::Refused(why) => why,
            Answer::Ran { .. } => panic!("{text} ran"),
        };
        assert!(told(r#"{"scenario": "no-such-thing"}"#).contains("no scenario `no-such-thing`"));
        assert!(told(r#"{"text": "seed = 1", "scenario": "blue-green"}"#).contains("exclude each other"));
        assert!(told(r#"{"set": ["replicats=1"]}"#).contains("did you mean `replicates`?"));
    }

    #[test]
    fn a_request_runs() {
        let request = serde_json::from_str(r#"{"set": ["replicates=2"]}"#).unwrap();
        let Answer::Ran { summary, replicate_digests, table, .. } = run(request) else { panic!("refused") };
        assert_eq!((summary["replicates"].as_u64(), replicate_digests.len()), (Some(2), 2));
        assert!(table.contains("registry"), "{table}");
    }
}
