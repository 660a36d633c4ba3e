//! One death, watched as it goes from stage to stage, and a copy of the run that is taken half-way.
//!
//! ```text
//! cargo run --release --example step_by_step
//! ```

#![expect(clippy::print_stdout, reason = "an example prints")]

use stillup::model::id::ServerId;
use stillup::world::Activity;
use stillup::{SimDuration, Simulation, Stage, scenario};

fn main() {
    let scenario = scenario::default_scenario().scenario;
    let mut simulation = Simulation::new(&scenario, 0);

    // The fleet starts; then a fault is due, and somebody dies.
    let warm = scenario.start_window + scenario.warm_up;
    simulation.run_until(simulation.now() + warm);
    let dead = loop {
        let is_dead = |it: &stillup::world::ProcessNow| it.activity == Activity::Down;
        if let Some(dead) = simulation.processes().find(is_dead) {
            break dead.instance;
        }
        assert!(simulation.step(), "the run ended, and everybody lives");
    };
    println!("{} dies at {}", simulation.name(dead), simulation.now());
    let copy = simulation.clone();

    let observer = simulation.processes().find(|it| it.instance != dead).expect("a hundred run").client;
    let server = ServerId(0);
    loop {
        let shows = [
            simulation.shown_by_server(server, Stage::Registry, dead),
            simulation.shown_by_server(server, Stage::Served, dead),
            simulation.shown_by_observer(observer, Stage::Client, dead),
            simulation.shown_by_observer(observer, Stage::Balancer, dead),
        ]
        .map(|status| status.map_or("-", |status| status.name()));
        let protects = simulation.server(server).protects_itself;
        println!("{}: {} (self-preservation: {protects})", simulation.now(), shows.join(" "));
        if !simulation.run_until(simulation.now() + SimDuration::from_secs(30)) {
            break;
        }
    }

    // Both go on to the same end.
    let (one, other) = (simulation.finish(), copy.finish());
    assert_eq!(one, other);
    println!("digest {:016x}, {} events", one.digest, one.events);
}
