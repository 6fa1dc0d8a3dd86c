//! Distributes work over threads: the only place that starts threads, and the gate that limits their memory.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use crate::error::{Error, Result};
use crate::lock::{Lock, Signal};

/// Runs `work` once on each thread and waits for all. Returns the first error, and then sets `failed` so that the
/// others can see it.
pub(crate) fn on_each(threads: usize, work: impl Fn(&AtomicBool) -> Result<()> + Sync) -> Result<()> {
    let failed = AtomicBool::new(false);
    let first = Lock::new(Ok(()));
    let attempt = || {
        // Threads that wait for this one must not wait forever.
        let _panic = FailOnPanic(&failed);
        if let Err(error) = work(&failed)
            && !failed.swap(true, Ordering::Relaxed)
        {
            *first.lock() = Err(error);
        }
    };
    if threads == 1 {
        attempt();
    } else {
        std::thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|_| scope.spawn(attempt)).collect();
            // A panic continues here with its message.
            let panicked = running.into_iter().find_map(|thread| thread.join().err());
            if let Some(panic) = panicked {
                std::panic::resume_unwind(panic);
            }
        });
    }
    first.into_inner()
}

/// Sets a flag if its thread panics.
struct FailOnPanic<'a>(&'a AtomicBool);

impl Drop for FailOnPanic<'_> {
    fn drop(&mut self) {
        self.0.fetch_or(std::thread::panicking(), Ordering::Relaxed);
    }
}

/// Calls `work` with each of `0..n`, distributed over threads. `state` creates the state that a thread keeps between
/// calls.
pub(crate) fn for_each<S>(
    threads: usize,
    n: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<()> {
    hand_out(threads, n, state, |state, i, _| work(state, i))
}

/// Like [`for_each`], but afterwards calls `take` with the state of each call, in the order of `0..n`. A thread that is
/// early leaves its state behind and continues with another, so that it need not wait.
pub(crate) fn in_order<S: Send>(
    threads: usize,
    n: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
    take: impl FnMut(&mut S, usize) -> Result<()> + Send,
) -> Result<()> {
    let line =
        Line { held: Lock::new(Waiting::new(take)), left: Signal::default(), room: threads.div_ceil(4) };
    hand_out(threads, n, &state, |own, i, failed| {
        work(own, i)?;
        line.join(own, i, &state, failed)
    })
}

/// Finished states in the order of their numbers.
struct Line<S, T> {
    held: Lock<Waiting<S, T>>,
    left: Signal,
    /// How many states may wait.
    room: usize,
}

struct Waiting<S, T> {
    /// The number of the next state to take.
    next: usize,
    /// States that came early, and states that were taken.
    early: BTreeMap<usize, S>,
    spare: Vec<S>,
    /// Takes the states; absent while a thread does so.
    take: Option<T>,
}

impl<S, T> Waiting<S, T> {
    fn new(take: T) -> Waiting<S, T> {
        Waiting { next: 0, early: BTreeMap::new(), spare: Vec::new(), take: Some(take) }
    }
}

impl<S: Send, T: FnMut(&mut S, usize) -> Result<()>> Line<S, T> {
    /// Takes `own`, which has number `i`, and those that waited for it. If it is early, it waits in the line, and `own`
    /// becomes another state.
    fn join(&self, own: &mut S, i: usize, state: impl Fn() -> S, failed: &AtomicBool) -> Result<()> {
        let mut held = self.held.lock();
        while held.next != i && held.early.len() >= self.room {
            // A thread that fails never takes its state, so those after it would wait forever.
            if failed.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            held = self.left.wait_for(held, PATIENCE);
        }
        let other = held.spare.pop().unwrap_or_else(state);
        held.early.insert(i, std::mem::replace(own, other));
        // Another thread looks at the line again after each state that it takes.
        let Some(mut take) = held.take.take() else { return Ok(()) };
        loop {
            let next = held.next;
            let Some(mut first) = held.early.remove(&next) else { break };
            drop(held);
            take(&mut first, next)?;
            held = self.held.lock();
            held.next += 1;
            held.spare.push(first);
            self.left.notify_all();
        }
        held.take = Some(take);
        Ok(())
    }
}

/// Gives each of `0..n` to one thread. `work` can see whether another thread failed.
fn hand_out<S>(
    threads: usize,
    n: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize, &AtomicBool) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    on_each(threads.min(n).max(1), |failed| {
        let mut state = state();
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                break;
            }
            work(&mut state, i, failed)?;
        }
        Ok(())
    })
}

/// The number of cores that this process may use.
pub(crate) fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// The number of the core that runs this thread, which may move to another at any time. Zero if the system does not tell.
pub(crate) fn core() -> usize {
    #[cfg(target_os = "linux")]
    return nix::sched::sched_getcpu().unwrap_or(0);
    #[cfg(not(target_os = "linux"))]
    return 0;
}

/// Gives each item to a thread.
pub(crate) fn give_away<T: Send>(threads: usize, items: Vec<T>, take: impl Fn(T) + Sync) {
    let items = Lock::new(items);
    let next = || items.lock().pop();
    let given = on_each(threads, |_| {
        std::iter::from_fn(next).for_each(&take);
        Ok(())
    });
    given.expect("no thread fails");
}

/// Something that threads use in the order of their turns.
pub(crate) struct InTurn<T> {
    next: AtomicU64,
    held: Lock<(u64, T)>,
    /// Threads wait at different signals, so that the end of a turn wakes one of them and not all.
    moved: [Signal; 32],
}

/// How long a thread waits for its turn before it looks whether another failed.
const PATIENCE: Duration = Duration::from_millis(200);

impl<T> InTurn<T> {
    pub(crate) fn new(held: T) -> InTurn<T> {
        InTurn { next: AtomicU64::new(0), held: Lock::new((0, held)), moved: Default::default() }
    }

    /// Takes the next turn. Who takes it must use it, or fail.
    pub(crate) fn take(&self) -> u64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits for a turn, uses it, and ends it.
    pub(crate) fn wait(
        &self,
        turn: u64,
        failed: &AtomicBool,
        work: impl FnOnce(&mut T) -> Result<()>,
    ) -> Result<()> {
        let mut held = self.held.lock();
        while held.0 != turn {
            // A thread that fails never ends its turn, so the threads after it would wait forever.
            if failed.load(Ordering::Relaxed) {
                return Err(Error::Stopped);
            }
            held = self.signal(turn).wait_for(held, PATIENCE);
        }
        work(&mut held.1)?;
        held.0 += 1;
        self.signal(held.0).notify_all();
        Ok(())
    }

    /// Tells those who wait for a turn.
    fn signal(&self, turn: u64) -> &Signal {
        &self.moved[turn as usize % self.moved.len()]
    }

    /// Uses it before any turn is taken.
    pub(crate) fn now(&self, work: impl FnOnce(&mut T) -> Result<()>) -> Result<()> {
        work(&mut self.held.lock().1)
    }

    pub(crate) fn into_inner(self) -> T {
        self.held.into_inner().1
    }
}

/// Limits how many threads at a time may do work that needs much memory. Other work needs no permit.
#[derive(Debug)]
pub(crate) struct Gate {
    free: Lock<usize>,
    left: Signal,
}

/// Allows work behind the gate until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Gate>);

impl Gate {
    pub(crate) fn new(permits: usize) -> Arc<Gate> {
        Arc::new(Gate { free: Lock::new(permits.max(1)), left: Signal::default() })
    }

    /// Waits for a permit. A thread that holds a permit must not wait for another: that could deadlock.
    pub(crate) fn enter(self: &Arc<Gate>) -> Permit {
        let mut free = self.free.lock();
        while *free == 0 {
            free = self.left.wait(free);
        }
        *free -= 1;
        Permit(self.clone())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.free.lock() += 1;
        self.0.left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_lets_no_more_than_its_permits_through() {
        let (gate, inside, most) = (Gate::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        for_each(
            8,
            400,
            || (),
            |(), _| {
                let _permit = gate.enter();
                most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::yield_now();
                inside.fetch_sub(1, Ordering::SeqCst);
                Ok(())
            },
        )
        .unwrap();
        assert!((1..=2).contains(&most.into_inner()));
    }

    #[test]
    fn turns_are_used_in_their_order_and_a_failure_ends_all() {
        let (feed, order) = (Lock::new(()), InTurn::new(Vec::new()));
        let work = |last: u64| {
            on_each(4, |failed| {
                loop {
                    let turn = {
                        let _feed = feed.lock();
                        order.take()
                    };
                    if turn == last {
                        return Err(Error::NoRow { page: 7 });
                    }
                    order.wait(turn, failed, |numbers| {
                        numbers.push(turn);
                        Ok(())
                    })?;
                }
            })
        };
        assert!(matches!(work(300), Err(Error::NoRow { page: 7 })));
        assert_eq!(order.into_inner(), (0..300).collect::<Vec<_>>());
    }

    #[test]
    fn results_are_taken_in_order_and_errors_end_all() {
        for threads in [1, 4] {
            let mut taken = Vec::new();
            let work = |state: &mut usize, i: usize| {
                *state = i * i;
                Ok(())
            };
            let take = |state: &mut usize, i: usize| {
                taken.push((i, *state));
                Ok(())
            };
            in_order(threads, 500, || 0, work, take).unwrap();
            assert!(taken.into_iter().eq((0..500).map(|i| (i, i * i))));
            let fail = |_: &mut usize, i: usize| if i == 7 { Err(Error::NoRow { page: 7 }) } else { Ok(()) };
            assert!(matches!(in_order(threads, 50, || 0, fail, |_, _| Ok(())), Err(Error::NoRow { .. })));
            assert!(matches!(in_order(threads, 50, || 0, |_, _| Ok(()), fail), Err(Error::NoRow { .. })));
        }
    }

    #[test]
    fn what_is_early_waits_and_its_thread_continues() {
        let done = AtomicUsize::new(0);
        let mut taken = Vec::new();
        let work = |_: &mut (), i: usize| {
            // The first item is finished when the other thread has finished two.
            while i == 0 && done.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        let take = |_: &mut (), i: usize| {
            taken.push(i);
            Ok(())
        };
        in_order(2, 100, || (), work, take).unwrap();
        assert!(taken.into_iter().eq(0..100));
    }

    #[test]
    fn a_panic_ends_those_who_wait() {
        let work = |_: &mut (), i: usize| if i == 3 { panic!("item 3") } else { Ok(()) };
        let all = || in_order(4, 5_000, || (), work, |_, _| Ok(()));
        assert!(std::panic::catch_unwind(all).is_err());
    }

    #[test]
    fn each_is_called_once_and_the_first_error_comes_back() {
        let sum = AtomicU64::new(0);
        for_each(
            3,
            1_000,
            || (),
            |(), i| {
                sum.fetch_add(i as u64, Ordering::Relaxed);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(sum.into_inner(), 499_500);
        let result = for_each(2, 10, || (), |(), i| if i == 3 { Err(Error::Stopped) } else { Ok(()) });
        assert!(matches!(result, Err(Error::Stopped)));
    }
}
