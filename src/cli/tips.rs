//! What clap cannot guess: that a scenario, or an option of a run, was given without the word `run`.

use std::path::Path;

use clap::CommandFactory;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::LowArgs;
use super::quote::quote;
use super::wiring;

/// The message with a tip, where there is one to give.
pub(super) fn with_tip(mut message: clap::Error) -> clap::Error {
    let tip = match message.kind() {
        ErrorKind::InvalidSubcommand => word(&message, ContextKind::InvalidSubcommand).and_then(for_word),
        ErrorKind::UnknownArgument => word(&message, ContextKind::InvalidArg).and_then(for_option),
        _ => None,
    };
    if let Some(tip) = tip {
        message.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    message
}

fn word(message: &clap::Error, kind: ContextKind) -> Option<&str> {
    match message.get(kind)? {
        ContextValue::String(word) => Some(word),
        _ => None,
    }
}

/// A file, what looks like the name of one, or a shipped scenario.
fn for_word(word: &str) -> Option<String> {
    let scenario = Path::new(word).is_file() || word.ends_with(".toml") || wiring::is_shipped(word);
    scenario.then(|| format!("to run a scenario, say so: stillup run {}", quote(word)))
}

/// An option of a command that runs something, at another command or before any.
fn for_option(option: &str) -> Option<String> {
    let name = option.strip_prefix("--")?.split('=').next()?;
    let program = LowArgs::command();
    let knows = |command: &&str| {
        let arguments = program.find_subcommand(command).into_iter().flat_map(clap::Command::get_arguments);
        arguments.into_iter().any(|argument| argument.get_long() == Some(name))
    };
    let command = ["run", "sweep", "compare"].into_iter().find(knows)?;
    Some(format!("--{name} is an option of {command}: stillup {command} --{name} …"))
}
