//! The system's allocator, told to give large blocks back.
//!
//! By default glibc raises the size from which a freed block goes back to the system each time such a block is freed,
//! up to 32 MiB, and keeps what is smaller for the thread that had it: after a large page on each of eight threads, the
//! memory limit would be passed by memory that nobody uses.

/// Blocks from this size on go back when they are freed.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK: i32 = 1 << 20;

/// Sets the size from which blocks are given back. To be called before any thread is started.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn give_back_large_blocks() {
    // SAFETY: `mallopt` takes two numbers and changes no memory that is in use; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK) };
}

/// Lets all threads share few heaps. In a service one thread frees what another asked for, and a heap a thread would
/// keep what is freed in each. To be called before any thread is started.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn share_heaps() {
    const HEAPS: i32 = 2;
    // SAFETY: `mallopt` takes two numbers and changes no memory that is in use; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, HEAPS) };
}

/// Other allocators are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn share_heaps() {}

/// Other allocators are left as they are.
#[cfg(not(target_env = "gnu"))]
pub fn give_back_large_blocks() {}
