//! Work shared out between threads: the one place that starts them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::error::Result;

/// Runs `work` on each thread, once each, until all return. The first error is returned, and `failed` is then set for the others
/// to see.
pub(crate) fn on_each(threads: usize, work: impl Fn(&AtomicBool) -> Result<()> + Sync) -> Result<()> {
    let failed = AtomicBool::new(false);
    let first = Mutex::new(Ok(()));
    let run = || {
        if let Err(error) = work(&failed)
            && !failed.swap(true, Ordering::Relaxed)
        {
            *first.lock().expect("no thread panics with this lock") = Err(error);
        }
    };
    if threads == 1 {
        run();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(run);
            }
        });
    }
    first.into_inner().expect("no thread panics with this lock")
}

/// Calls `work` with each of `0..n`, shared out between threads. `state` makes what a thread keeps between calls.
pub(crate) fn for_each<S>(
    threads: usize,
    n: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    on_each(threads.min(n).max(1), |failed| {
        let mut state = state();
        while !failed.load(Ordering::Relaxed) {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                break;
            }
            work(&mut state, i)?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::*;
    use crate::error::Error;

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
