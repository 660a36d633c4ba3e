//! The command line's door: everything is in the library.

fn main() {}
