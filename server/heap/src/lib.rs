//! Gives memory that is free back to the system. A crate of its own, because it makes the one call of the project that Rust cannot check.

/// glibc gives back what lies at the end of a heap only, and a single value that is still in use keeps all before it: after a thousand
/// documents are closed, a process would stay as large as it was. Waits for no lock of the caller, but allocations wait for it, a few
/// milliseconds for each hundred MiB.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub fn give_back() {
    // SAFETY: `malloc_trim` may be called at any time and from any thread; it touches no memory that is in use.
    #[allow(unsafe_code)]
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Other allocators give back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn give_back() {}
