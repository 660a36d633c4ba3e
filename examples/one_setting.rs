//! How long a dead instance stays in its clients' lists, if they fetch every five seconds: the library in 20 lines.
//!
//! ```text
//! cargo run --release --example one_setting
//! ```

#![expect(clippy::print_stdout, reason = "an example prints")]

use stillup::{EventKind, Outcome, Stage, scenario};

fn main() -> Result<(), scenario::Problems> {
    let text = scenario::builtin("default-crash").expect("it comes with the program");
    let changed = ["eureka.client.registry-fetch-interval-seconds=5".to_owned()];
    let scenario = scenario::parse("default-crash", text, &changed)?.scenario;
    let finished = stillup::run(&scenario);
    for seen in finished.detections(EventKind::Crash, Stage::Client) {
        if let Outcome::Detected(after) = seen.outcome {
            println!("{:3} {:9} {after} ({} observers)", seen.replicate, seen.instance, seen.count);
        }
    }
    print!("{}", finished.table());
    Ok(())
}
