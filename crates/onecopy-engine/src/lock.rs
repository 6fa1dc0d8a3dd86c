//! A lock that survives a panic.
//!
//! A thread that panics with a lock must not take the service down: every later use of the lock would panic, too. Each
//! value behind one of these locks is whole after every statement, or its owner replaces it after a panic.
//!
//! Batch runs use plain mutexes. There `parallel` continues a panic, so nobody catches it. Until then no other thread
//! may write to the working folder with a value that is half changed, and a poisoned mutex stops it.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

/// A mutex that ignores poison.
#[derive(Debug, Default)]
pub(crate) struct Lock<T>(Mutex<T>);

impl<T> Lock<T> {
    pub(crate) fn new(value: T) -> Lock<T> {
        Lock(Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A lock for many readers or one writer that ignores poison.
#[derive(Debug, Default)]
pub(crate) struct SharedLock<T>(RwLock<T>);

impl<T> SharedLock<T> {
    pub(crate) fn new(value: T) -> SharedLock<T> {
        SharedLock(RwLock::new(value))
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads unless a writer has the lock.
    pub(crate) fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        match self.0.try_read() {
            Ok(guard) => Some(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => None,
        }
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Wakes threads that wait for a [`Lock`].
#[derive(Debug, Default)]
pub(crate) struct Signal(Condvar);

impl Signal {
    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    pub(crate) fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        self.0.wait(guard).unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits at most so long.
    pub(crate) fn wait_for<'a, T>(&self, guard: MutexGuard<'a, T>, most: Duration) -> MutexGuard<'a, T> {
        self.0.wait_timeout(guard, most).unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_survives_a_panic() {
        let (lock, shared) = (Lock::new(1), SharedLock::new(1));
        let panicked = std::thread::scope(|scope| {
            let hold = || {
                let (_own, _shared) = (lock.lock(), shared.write());
                panic!("with both");
            };
            scope.spawn(hold).join().is_err()
        });
        assert!(panicked);
        *lock.lock() += 1;
        *shared.write() += 1;
        assert_eq!((*shared.read(), shared.try_read().map(|value| *value)), (2, Some(2)));
        assert_eq!(lock.into_inner(), 2);
    }
}
