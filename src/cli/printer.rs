//! The only place that prints. Results go to standard output, everything else to standard error; colours are
//! taken out again where nobody would see them. Whoever reads may stop reading: a closed pipe is no error.

use std::backtrace::{Backtrace, BacktraceStatus};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

use super::args::ColorWhen;
use super::exit::Exit;

const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Prints, with or without colours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printer {
    choice: ColorChoice,
}

impl Printer {
    pub(super) fn new(when: ColorWhen) -> Self {
        let choice = match when {
            ColorWhen::Auto => ColorChoice::Auto,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        Self { choice }
    }

    /// Prints a result. The exit is `exit`, or that of a failed write.
    pub(super) fn result(&self, text: &str, exit: Exit) -> Exit {
        let mut out = AutoStream::new(io::stdout().lock(), self.choice);
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => exit,
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => exit,
            Err(error) => self.error(&format!("cannot write to standard output: {error}"), Exit::Io),
        }
    }

    /// Prints what went wrong. The exit is `exit`.
    pub(super) fn error(&self, text: &str, exit: Exit) -> Exit {
        self.note(&format!("{ERROR}error{ERROR:#}: {text}\n"));
        exit
    }

    /// Prints what is good to know, to standard error, as it is. A note that nobody can read is lost.
    pub(super) fn note(&self, text: &str) {
        let mut out = AutoStream::new(io::stderr().lock(), self.choice);
        let _ = out.write_all(text.as_bytes());
    }

    /// Asks a question that is answered with yes or no; `None` if nobody is there to answer: standard input or
    /// standard error is no terminal.
    pub(super) fn ask(&self, question: &str) -> Option<bool> {
        if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
            return None;
        }
        self.note(&format!("{question} [y/N] "));
        let mut answer = String::new();
        let read = io::stdin().read_line(&mut answer).is_ok();
        Some(read && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
    }

    /// Whether notes are in colour.
    pub(super) fn notes_in_colour(&self) -> bool {
        match self.choice {
            ColorChoice::Auto => AutoStream::choice(&io::stderr()) != ColorChoice::Never,
            choice => choice != ColorChoice::Never,
        }
    }
}

/// Prints clap's message: help and version are results, everything else is a wrong command line.
pub(super) fn usage(message: &clap::Error) -> Exit {
    let printer = Printer::new(ColorWhen::Auto);
    let text = message.render().ansi().to_string();
    if message.use_stderr() {
        printer.note(&text);
        Exit::Input
    } else {
        printer.result(&text, Exit::Fine)
    }
}

/// Prints that there is a bug, for a panic hook.
pub(super) fn bug(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let message =
        text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    let place = panic.location().map(|place| format!(" at {place}")).unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    let printer = Printer::new(ColorWhen::Auto);
    printer.error(&format!("this is a bug of stillup {version}{place}: {message}"), Exit::Bug);
    printer.note("Please report it with this message, the command line and the scenario.\n");
    let backtrace = Backtrace::capture();
    if backtrace.status() == BacktraceStatus::Captured {
        printer.note(&format!("{backtrace}\n"));
    }
}
