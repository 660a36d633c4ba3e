//! Words as a POSIX shell reads them back.

/// The word, in single quotes if a shell would read it otherwise.
pub(super) fn quote(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A single quote cannot stand within single quotes: they end, it is escaped, they begin again.
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_word_back() {
        assert_eq!(quote("scenarios/a-1.toml"), "scenarios/a-1.toml");
        assert_eq!(quote("my run.toml"), "'my run.toml'");
        assert_eq!(quote("it's"), r"'it'\''s'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("a=\"$HOME\""), "'a=\"$HOME\"'");
    }
}
