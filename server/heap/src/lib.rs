//! The allocator of the program. A crate of its own, because the name by which it finds its options is the one thing of the project that Rust
//! cannot check.
//!
//! An analysis makes and drops many small values, plans on one thread what another one drops, and closes whole workspaces. glibc takes a sixth
//! more time for that, keeps arenas of threads that are gone, and gives back only what lies at the end of a heap. jemalloc gives back what was
//! free for a second. Elsewhere the system's own allocator serves.

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod jemalloc {
    #[global_allocator]
    static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

    /// Free memory goes back after a second, by a thread of its own. All threads share two arenas: more would keep more, and in one they would
    /// wait for each other.
    // SAFETY: the name that jemalloc documents for its options, which it reads up to the zero.
    #[allow(unsafe_code)]
    #[unsafe(export_name = "malloc_conf")]
    pub(crate) static OPTIONS: Option<&'static u8> =
        Some(&b"background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:2\0"[0]);
}
