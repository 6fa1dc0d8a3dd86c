//! Makes the system's allocator return large blocks.
//!
//! By default glibc raises its limit for returning freed blocks with each such block, up to 32 MiB, and keeps smaller
//! blocks for their thread. After a large page on each of eight threads, unused memory would exceed the memory limit.

/// Blocks of at least this size are returned when they are freed.
#[cfg(target_env = "gnu")]
const LARGE_BLOCK: i32 = 1 << 20;

/// Sets the size of returned blocks. Call it before any thread starts.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn give_back_large_blocks() {
    // SAFETY: `mallopt` takes two numbers and changes no memory that is in use; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BLOCK) };
}

/// Makes all threads share a few heaps. In a service one thread frees the blocks of another, and one heap per thread
/// would keep them. Call it before any thread starts.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn share_heaps() {
    const HEAPS: i32 = 2;
    // SAFETY: `mallopt` takes two numbers and changes no memory that is in use; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, HEAPS) };
}

/// Keeps freed memory for the next request, up to some 64 MiB for each heap, and blocks of up to 32 MiB in it. By default
/// glibc returns it to the system after each answer of a few hundred kilobytes, and the next one waits while the system
/// clears it page by page. Call it before any thread starts.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn keep_freed_memory() {
    const KEPT: i32 = 64 << 20;
    const LARGEST_BLOCK: i32 = 32 << 20;
    // SAFETY: `mallopt` takes two numbers and changes no memory that is in use; no other thread runs yet.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGEST_BLOCK);
    }
}

/// Returns freed memory to the system. By default glibc returns only what lies at the end of a heap, so one small block
/// may keep many megabytes.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "the allocator has no other door")]
pub fn return_freed_memory() {
    // SAFETY: `malloc_trim` takes a number, locks each heap and touches only memory that is free.
    unsafe { libc::malloc_trim(0) };
}

/// Other allocators are not changed.
#[cfg(not(target_env = "gnu"))]
pub fn return_freed_memory() {}

/// Other allocators are not changed.
#[cfg(not(target_env = "gnu"))]
pub fn share_heaps() {}

/// Other allocators are not changed.
#[cfg(not(target_env = "gnu"))]
pub fn keep_freed_memory() {}

/// Other allocators are not changed.
#[cfg(not(target_env = "gnu"))]
pub fn give_back_large_blocks() {}
