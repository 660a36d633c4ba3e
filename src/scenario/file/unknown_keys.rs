//! Keys that a section does not have: what was meant, or where it belongs.

use crate::scenario::diagnostics::suggest::{all_of, closest, in_short, one_of, uniform};
use crate::scenario::diagnostics::{Problem, Source};
use crate::scenario::document::Entry;
use crate::scenario::eureka::{self, unmodelled};
use crate::scenario::fault::{keys, verbs::VERBS};
use crate::scenario::file::counterparts;
use crate::scenario::format::Section;
use crate::scenario::sections::{network, server, start, traffic};
use crate::scenario::two_stage;

/// What to say of a key that a section does not have.
pub(crate) fn key(entry: &Entry, section: &'static Section) -> Problem {
    let key = entry.key.as_str();
    if let Some(problem) = out_of_reach(entry, section) {
        return problem;
    }
    if let Some(problem) = of_another_registry(entry, section) {
        return problem;
    }
    if let Some(why) = unmodelled::why(section.path, key) {
        return Problem::warning(entry.key_place.clone(), format!("`{key}` has no effect here"))
            .label("not modelled")
            .hint(why);
    }
    let place = if section.path.is_empty() {
        "at the top of a scenario".to_owned()
    } else {
        format!("in `{}`", section.path)
    };
    let names = || (section.keys)().into_iter().map(|key| key.name);
    let near = closest(key, names()).or_else(|| in_short(key, names()));
    let same_word = near.is_some_and(|name| uniform(name) == uniform(key));
    let typed = entry.key_place.source == Source::CommandLine;
    let hint = match (home_of(key), near) {
        (Some(home), _) if !same_word && typed => format!("did you mean `{home}.{key}`?"),
        (Some(home), _) if !same_word => format!("it belongs in `[{home}]`"),
        (_, Some(near)) => format!("did you mean `{near}`?"),
        _ => match nearest_setting(key).filter(|_| typed) {
            Some(paths) => format!("did you mean {paths}?"),
            None => format!("known here: {}", one_of(names())),
        },
    };
    Problem::error(entry.key_place.clone(), format!("unknown key `{key}` {place}"))
        .label("not known")
        .hint(hint)
}

/// A key that is right elsewhere, and cannot be meant here.
fn out_of_reach(entry: &Entry, section: &'static Section) -> Option<Problem> {
    let key = entry.key.as_str();
    let problem = |title: String| Problem::error(entry.key_place.clone(), title);
    if std::ptr::eq(section, &keys::CHANGE_SERVER) && eureka::format::EUREKA_SERVER.key(key).is_some() {
        let names = (section.keys)().into_iter().map(|key| key.name);
        return Some(
            problem(format!("`{key}` cannot change while the server runs"))
                .label("the server reads it at its start: a change takes a restart")
                .hint(format!("what it reads anew each time: {}", all_of(names))),
        );
    }
    let verb = VERBS.iter().find(|verb| std::ptr::eq(verb.section, section))?;
    if !matches!(key, "server" | "servers") || section.key("share").is_none() {
        return None;
    }
    let others = VERBS.iter().filter(|verb| verb.section.key("server").is_some());
    Some(
        problem(format!("`{}` is for instances, not for servers", verb.key.name))
            .label("not here")
            .hint(format!("what can be done to servers: {}", all_of(others.map(|verb| verb.key.name)))),
    )
}

/// A setting under the name that another registry has for it, or one of the registry's own for its clients.
fn of_another_registry(entry: &Entry, section: &'static Section) -> Option<Problem> {
    let key = entry.key.as_str();
    let (all, own) = (&two_stage::format::TWO_STAGE, &two_stage::format::OWN_TWO_STAGE);
    let below = std::ptr::eq(section, all) || std::ptr::eq(section, own);
    let problem = |title: String| Problem::error(entry.key_place.clone(), title).label("not known");
    if let Some((title, hint)) = counterparts::meant(entry, below) {
        return Some(problem(title).hint(hint));
    }
    let known = all.key(key).filter(|_| std::ptr::eq(section, own))?;
    Some(
        problem(format!("`{}` is the registry's, and not an application's", known.name))
            .label("one for all")
            .hint("it belongs in `[two-stage]`"),
    )
}

/// The sections that stand but once in a file: Eureka's and ours.
const SINGLE: [&Section; 14] = [
    &start::keys::SECTION,
    &eureka::format::EUREKA_SERVER,
    &eureka::format::EUREKA_CLIENT,
    &eureka::format::CLIENT_TRANSPORT,
    &eureka::format::CLIENT_HEALTHCHECK,
    &eureka::format::EUREKA_INSTANCE,
    &eureka::format::INSTANCE_REGISTRY,
    &two_stage::format::TWO_STAGE,
    &eureka::format::balancer::SECTION,
    &eureka::format::transport::SECTION,
    &server::SERVER,
    &server::CAPACITY,
    &network::links::SECTION,
    &traffic::keys::SECTION,
];

/// The single section that has exactly this key, if only one has.
fn home_of(key: &str) -> Option<&'static str> {
    let mut homes = SINGLE
        .into_iter()
        .filter(|section| (section.keys)().iter().any(|known| uniform(known.name) == uniform(key)));
    match (homes.next(), homes.next()) {
        (Some(only), None) => Some(only.path),
        _ => None,
    }
}

/// The whole paths of the settings that a key on the command line most likely stands for.
fn nearest_setting(key: &str) -> Option<String> {
    let names = || SINGLE.into_iter().flat_map(|section| (section.keys)()).map(|known| known.name);
    let near = closest(key, names()).or_else(|| in_short(key, names()))?;
    let homes = SINGLE.into_iter().filter(|section| section.key(near).is_some());
    let paths: Vec<String> = homes.map(|section| format!("{}.{near}", section.path)).collect();
    Some(one_of(paths.iter().map(String::as_str)))
}
