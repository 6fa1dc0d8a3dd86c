//! Memory for request bodies: one budget for all bytes that arrived and are not accepted yet.
//!
//! A body holds memory only for the bytes that it has sent, so many slow clients hold little. The first bytes of each
//! body are free: a small request never waits for a large one.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::failure::Failure;

/// The memory that every body has without asking.
const FREE_BYTES: usize = 64 << 10;
/// Memory is handed out in pieces of this size.
const UNIT_BYTES: usize = 64 << 10;

/// The budget.
pub struct BodyMemory {
    units: Arc<Semaphore>,
}

/// The memory of one body. Dropping it gives it back.
#[derive(Default)]
pub struct Held {
    permit: Option<OwnedSemaphorePermit>,
}

impl BodyMemory {
    /// A budget of this many bytes.
    pub fn new(bytes: usize) -> BodyMemory {
        BodyMemory { units: Arc::new(Semaphore::new(units(bytes + FREE_BYTES))) }
    }

    /// Takes memory until `held` is enough for `bytes`. Returns whether it is.
    pub fn try_grow(&self, held: &mut Held, bytes: usize) -> bool {
        match held.missing(bytes) {
            0 => true,
            missing => match self.units.clone().try_acquire_many_owned(missing) {
                Ok(permit) => held.add(permit),
                Err(_) => false,
            },
        }
    }

    /// Waits until `held` is enough for `bytes`. Fails after `most`.
    pub async fn grow(&self, held: &mut Held, bytes: usize, most: Duration) -> Result<(), Failure> {
        if self.try_grow(held, bytes) {
            return Ok(());
        }
        match timeout(most, self.units.clone().acquire_many_owned(held.missing(bytes))).await {
            // The semaphore is never closed.
            Ok(permit) => {
                permit.into_iter().for_each(|permit| _ = held.add(permit));
                Ok(())
            }
            Err(_) => Err(Failure::unavailable(
                "the memory for large bodies is in use",
                "try again later, or send fewer large bodies at a time",
            )),
        }
    }
}

impl Held {
    /// Keeps the memory for `bytes`, and returns the rest.
    pub fn split_off(&mut self, bytes: usize) -> Held {
        let spare = self.units().saturating_sub(units(bytes));
        Held { permit: self.permit.as_mut().and_then(|permit| permit.split(spare)) }
    }

    fn units(&self) -> usize {
        self.permit.as_ref().map_or(0, OwnedSemaphorePermit::num_permits)
    }

    fn missing(&self, bytes: usize) -> u32 {
        units(bytes).saturating_sub(self.units()) as u32
    }

    fn add(&mut self, more: OwnedSemaphorePermit) -> bool {
        match &mut self.permit {
            Some(permit) => permit.merge(more),
            None => self.permit = Some(more),
        }
        true
    }
}

/// The units for a body of this many bytes.
fn units(bytes: usize) -> usize {
    bytes.saturating_sub(FREE_BYTES).div_ceil(UNIT_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_holds_what_it_sent_and_gives_it_back() {
        let memory = BodyMemory::new(4 * UNIT_BYTES);
        let (mut one, mut other, mut small) = (Held::default(), Held::default(), Held::default());
        assert!(memory.try_grow(&mut one, FREE_BYTES + 3 * UNIT_BYTES));
        assert!(!memory.try_grow(&mut other, FREE_BYTES + 2 * UNIT_BYTES));
        assert!(memory.try_grow(&mut small, FREE_BYTES));
        let rest = one.split_off(FREE_BYTES + 1);
        assert_eq!((one.units(), rest.units()), (1, 2));
        assert!(!memory.try_grow(&mut other, FREE_BYTES + 2 * UNIT_BYTES));
        drop(rest);
        assert!(memory.try_grow(&mut other, FREE_BYTES + 2 * UNIT_BYTES));
        drop((one, other));
        assert!(memory.try_grow(&mut small, FREE_BYTES + 4 * UNIT_BYTES));
    }
}
