//! A fault as canonical text. See [`super::print`].

use super::format_fault::VERBS;
use super::print::{Page, quoted, string};
use super::types::{Application, Direction, Fault, Selection, Targets, Verb, Which};
use crate::model::id::AppId;

/// Writes one `[[fault]]`.
pub(super) fn fault(page: &mut Page, fault: &Fault, apps: &[Application]) {
    let name = |app: AppId| string(&apps[app.index()].name);
    let (verb, parts) = match &fault.verb {
        Verb::Crash(targets) => (VERBS[0], vec![self::targets(targets, apps)]),
        Verb::Stop { targets, .. } => (VERBS[1], vec![selection(targets, apps)]),
        Verb::Restart { targets, down_for, new_id, graceful } => {
            let mut parts = vec![self::targets(targets, apps), format!("down-for = {}", quoted(*down_for))];
            if *targets != Targets::Server {
                parts.push(format!("new-id = {new_id}"));
                parts.push(format!("graceful = {graceful}"));
            }
            (VERBS[2], parts)
        }
        Verb::Pause { targets, length } => (
            VERBS[3],
            vec![
                self::targets(targets, apps),
                format!("for = {}", quoted(length.greatest().unwrap_or_default())),
            ],
        ),
        Verb::Partition { targets, length, lost, .. } => {
            let lost = match lost {
                Direction::Both => "both",
                Direction::ToServer => "to-server",
                Direction::FromServer => "from-server",
            };
            let mut parts = vec![selection(targets, apps)];
            parts.extend(length.map(|length| format!("for = {}", quoted(length))));
            parts.push(format!("lost = \"{lost}\""));
            (VERBS[4], parts)
        }
        Verb::Start { application, count, .. } => {
            (VERBS[5], vec![format!("application = {}", name(*application)), format!("count = {count}")])
        }
        _ => unreachable!("no scenario reads one yet"),
    };
    page.section("[fault]", |lines| {
        lines.length("at", fault.at);
        lines.length("within", fault.within);
        lines.line(verb, format!("{{ {} }}", parts.join(", ")));
    });
}

fn targets(targets: &Targets, apps: &[Application]) -> String {
    match targets {
        Targets::Server => "server = true".into(),
        Targets::Instances(selection) => self::selection(selection, apps),
    }
}

fn selection(selection: &Selection, apps: &[Application]) -> String {
    let which = match &selection.which {
        Which::All => "all = true".into(),
        Which::Count(count) => format!("count = {count}"),
        Which::Share(share) => format!("share = {share:?}"),
        Which::Named(names) => {
            let names: Vec<String> = names
                .iter()
                .map(|(app, ordinal)| string(&format!("{}-{ordinal}", apps[app.index()].name)))
                .collect();
            format!("instances = [{}]", names.join(", "))
        }
    };
    match selection.application {
        Some(app) => format!("{which}, application = {}", string(&apps[app.index()].name)),
        None => which,
    }
}
