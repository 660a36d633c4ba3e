//! `stillup compare`: scenarios beside each other.

use std::path::{Path, PathBuf};

use super::args::CompareArgs;
use super::exit::Exit;
use super::many::{self, Invocation};
use super::printer::Printer;
use super::wiring;

/// A directory's name gets no longer than this.
const NAME_MAX: usize = 100;

/// Compares.
pub(super) fn compare(arguments: &CompareArgs, printer: &Printer) -> Exit {
    let names = names(&arguments.scenarios);
    let place = place(&names);
    let mut texts = Vec::new();
    for (path, name) in arguments.scenarios.iter().zip(names) {
        match wiring::read(Some(path), name, printer.notes_in_colour()) {
            Ok(text) => texts.push(text),
            Err(failure) => return failure.tell(printer),
        }
    }
    let mut words = vec!["compare".to_owned()];
    words.extend(arguments.scenarios.iter().map(|path| path.display().to_string()));
    many::run(Invocation { texts, axes: &[], words, place, many: &arguments.many }, printer)
}

/// What results call the scenarios: by the file's name, by its path where names are equal, and with a number where even
/// paths are.
fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let of = |path: &PathBuf| {
        let alike = paths.iter().filter(|other| stem(other) == stem(path)).count();
        if alike > 1 { path.display().to_string() } else { stem(path) }
    };
    let names: Vec<String> = paths.iter().map(of).collect();
    let numbered = names.iter().enumerate().map(|(index, name)| {
        let before = names[..index].iter().filter(|earlier| *earlier == name).count();
        if before > 0 { format!("{name} ({})", before + 1) } else { name.clone() }
    });
    numbered.collect()
}

fn place(names: &[String]) -> PathBuf {
    let plain = |name: &String| {
        let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
        last.trim_end_matches(".toml").replace([' ', '(', ')'], "")
    };
    let all = names.iter().map(plain).collect::<Vec<_>>().join("-vs-");
    let name =
        if all.len() <= NAME_MAX { all } else { format!("{}-vs-{}-more", plain(&names[0]), names.len() - 1) };
    Path::new("output").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(paths: &[&str]) -> Vec<String> {
        names(&paths.iter().map(PathBuf::from).collect::<Vec<_>>())
    }

    #[test]
    fn names_are_as_short_as_they_are_unique() {
        assert_eq!(named(&["a.toml", "scenarios/b.toml"]), ["a", "b"]);
        assert_eq!(named(&["x/a.toml", "y/a.toml", "b"]), ["x/a.toml", "y/a.toml", "b"]);
        assert_eq!(named(&["a.toml", "a.toml"]), ["a.toml", "a.toml (2)"]);
    }

    #[test]
    fn results_are_placed_by_all_names() {
        assert_eq!(place(&named(&["x/a.toml", "b.toml"])), Path::new("output/a-vs-b"));
        assert_eq!(place(&named(&["a.toml", "a.toml"])), Path::new("output/a-vs-a.toml2"));
        let long = "a".repeat(60);
        assert_eq!(place(&[long.clone(), long.clone()]), Path::new(&format!("output/{long}-vs-1-more")));
    }
}
