//! Work on several threads, or on the only one that there is: the results are the same, and in the same order.

#[cfg(feature = "parallel")]
use rayon::ThreadPoolBuilder;
#[cfg(feature = "parallel")]
use rayon::prelude::*;

#[cfg(feature = "parallel")]
/// Does the work on so many threads. Where the operating system refuses to start them (a container's limit), on
/// half of them, and in the end on this one alone.
pub(crate) fn on_threads<R: Send>(jobs: usize, work: impl FnOnce() -> R + Send) -> R {
    let halves = std::iter::successors(Some(jobs.max(1)), |&jobs| (jobs > 1).then_some(jobs / 2));
    let mut pools = halves.map(|jobs| ThreadPoolBuilder::new().num_threads(jobs).build());
    if let Some(pool) = pools.find_map(Result::ok) {
        return pool.install(work);
    }
    match ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // It has become a pool of its own the last time.
        Err(_) => work(),
    }
}

/// Does the work: this build has one thread.
#[cfg(not(feature = "parallel"))]
pub(super) fn on_threads<R>(_jobs: usize, work: impl FnOnce() -> R) -> R {
    work()
}

/// What `make` makes of each item, in the order of the items; made on the threads of [`on_threads`].
#[cfg(feature = "parallel")]
pub(super) fn map_all<I, T, C>(items: I, make: impl Fn(I::Item) -> T + Send + Sync) -> C
where
    I: IntoParallelIterator<Iter: IndexedParallelIterator>,
    T: Send,
    C: FromParallelIterator<T>,
{
    items.into_par_iter().map(make).collect()
}

/// What `make` makes of each item, one after the other.
#[cfg(not(feature = "parallel"))]
pub(super) fn map_all<I: IntoIterator, T, C: FromIterator<T>>(items: I, make: impl Fn(I::Item) -> T) -> C {
    items.into_iter().map(make).collect()
}
