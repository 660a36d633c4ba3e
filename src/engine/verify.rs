//! The same run twice, and the first event at which the two differ.
//!
//! Both runs go on at the same time, each on its own thread, and their events are compared as they happen. So
//! nothing is stored but the last few thousand of them, and a difference is shown even if it never comes back.

use std::fmt;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::digest::Fingerprint;
use super::time::SimTime;

/// Events handed over at once, and how many hand-overs one run may be ahead of the other.
const BATCH: usize = 1024;
const BATCHES_AHEAD: usize = 4;

/// Where two runs part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// How many events were the same before.
    pub same: u64,
    /// The first run's next event; `None` if it ended.
    pub first: Option<TimedEvent>,
    /// The second run's next event; `None` if it ended.
    pub second: Option<TimedEvent>,
}

/// An event and its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedEvent {
    /// When.
    pub at: SimTime,
    /// The event in its `Debug` form.
    pub event: String,
}

type Batch<E> = Vec<(SimTime, E)>;

/// Lets `run` run twice and gives the first difference between the two, if there is any.
///
/// `run` makes a whole run from its beginning and shows each event to the function that it is given, as
/// [`run_watched`](super::Engine::run_watched) does. Two events are the same if time and
/// [`fingerprint`](Fingerprint::fingerprint) are.
///
/// ```
/// use stillup::engine::{SimTime, first_difference};
///
/// let same = first_difference(|watch| (0..9).for_each(|n| watch(SimTime::from_secs(n), &n)));
/// assert_eq!(same, None);
/// ```
pub fn first_difference<E>(run: impl Fn(&mut dyn FnMut(SimTime, &E)) + Sync) -> Option<Difference>
where
    E: Copy + Fingerprint + fmt::Debug + Send,
{
    thread::scope(|scope| {
        let [first, second] = [(); 2].map(|()| {
            let (sender, receiver) = sync_channel(BATCHES_AHEAD);
            let run = &run;
            scope.spawn(move || send_events(run, &sender));
            receiver
        });
        compare(Events::new(first), Events::new(second))
    })
}

fn send_events<E: Copy>(run: impl Fn(&mut dyn FnMut(SimTime, &E)), sender: &SyncSender<Batch<E>>) {
    let mut batch = Vec::with_capacity(BATCH);
    run(&mut |now, event| {
        batch.push((now, *event));
        if batch.len() == BATCH {
            let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
            // Once a difference is found nobody listens any more, and the run just goes to its end.
            let _ = sender.send(full);
        }
    });
    let _ = sender.send(batch);
}

fn compare<E: Fingerprint + fmt::Debug>(mut first: Events<E>, mut second: Events<E>) -> Option<Difference> {
    let mut same = 0;
    loop {
        let (one, other) = (first.next(), second.next());
        let mark = |happened: &Option<(SimTime, E)>| happened.as_ref().map(|(at, e)| (*at, e.fingerprint()));
        if mark(&one) != mark(&other) {
            let [first, second] = [one, other]
                .map(|happened| happened.map(|(at, event)| TimedEvent { at, event: format!("{event:?}") }));
            return Some(Difference { same, first, second });
        }
        one?;
        same += 1;
    }
}

/// The events of one run, as they come.
struct Events<E> {
    receiver: Receiver<Batch<E>>,
    batch: std::vec::IntoIter<(SimTime, E)>,
}

impl<E> Events<E> {
    fn new(receiver: Receiver<Batch<E>>) -> Self {
        Self { receiver, batch: Vec::new().into_iter() }
    }
}

impl<E> Iterator for Events<E> {
    type Item = (SimTime, E);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(event) = self.batch.next() {
                return Some(event);
            }
            self.batch = self.receiver.recv().ok()?.into_iter();
        }
    }
}

/// Two lines: `event 4711 of run 1 at 5m 30s: Heartbeat(3)`, and the same of run 2.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.same + 1;
        for (run, happened) in [(1, &self.first), (2, &self.second)] {
            match happened {
                Some(TimedEvent { at, event }) => write!(f, "event {number} of run {run} at {at}: {event}")?,
                None => write!(f, "event {number} of run {run}: none, it has ended")?,
            }
            if run == 1 {
                writeln!(f)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// The first run shows 0, 1, … `len` − 1, one a second; the second one what `change` makes of that.
    fn runs(len: u64, change: impl Fn(u64) -> Option<u64> + Sync) -> Option<Difference> {
        let runs = AtomicU64::new(0);
        first_difference(|watch| {
            let changed = runs.fetch_add(1, Ordering::Relaxed) == 1;
            for n in 0..len {
                let shown = if changed { change(n) } else { Some(n) };
                if let Some(event) = shown {
                    watch(SimTime::from_secs(n), &event);
                }
            }
        })
    }

    /// The two events of a difference, whichever run came to be the first.
    fn events(difference: &Difference) -> Vec<Option<&str>> {
        let mut events: Vec<_> = [&difference.first, &difference.second]
            .map(|happened| happened.as_ref().map(|h| h.event.as_str()))
            .into();
        events.sort_unstable();
        events
    }

    #[test]
    fn equal_runs_have_no_difference() {
        for len in [0, 1, 1024, 5000] {
            assert_eq!(runs(len, Some), None);
        }
    }

    #[test]
    fn the_first_other_event_is_found() {
        let difference = runs(5000, |n| Some(if n < 3000 { n } else { n + 1 })).unwrap();
        assert_eq!((difference.same, events(&difference)), (3000, vec![Some("3000"), Some("3001")]));
    }

    #[test]
    fn a_run_that_ends_early_differs_there() {
        let difference = runs(5000, |n| (n < 2000).then_some(n)).unwrap();
        assert_eq!((difference.same, events(&difference)), (2000, vec![None, Some("2000")]));
    }

    #[test]
    fn a_difference_is_told_in_two_lines() {
        let at = SimTime::from_secs(330);
        let first = Some(TimedEvent { at, event: "Heartbeat(3)".into() });
        let told = Difference { same: 4710, first, second: None }.to_string();
        assert_eq!(
            told,
            "event 4711 of run 1 at 5m 30s: Heartbeat(3)\nevent 4711 of run 2: none, it has ended"
        );
    }
}
