//! What JavaScript calls. Three numbers and bytes in memory are all that passes, so that no generator of bindings is needed:
//!
//! ```text
//! start()                    once, before anything else
//! room(length) -> address    where the next message goes, as UTF-8
//! receive() -> length        takes that message; what is said to it is at `said()`, one JSON text a line
//! turn() -> length           what there is to say when no message waits
//! rest() -> length           what comes of looking further, when nothing happens for a while
//! said() -> address
//! ```
//!
//! **The only unsafe code** is the names of these functions, and the call of the constructors that Rust's own start-up makes elsewhere.
#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::session::Session;

#[derive(Default)]
struct Module {
    session: Session,
    heard: Vec<u8>,
    said: String,
}

thread_local! {
    static MODULE: RefCell<Module> = RefCell::default();
}

unsafe extern "C" {
    /// Made by the linker. Named here, it is called by nobody else; otherwise the linker calls it in every export.
    fn __wasm_call_ctors();
}

#[unsafe(no_mangle)]
extern "C" fn start() {
    // SAFETY: the page calls this once, and first. The constructors put tables of the program into lists.
    unsafe { __wasm_call_ctors() }
}

#[unsafe(no_mangle)]
extern "C" fn room(length: usize) -> *mut u8 {
    MODULE.with_borrow_mut(|module| {
        module.heard = vec![0; length];
        module.heard.as_mut_ptr()
    })
}

#[unsafe(no_mangle)]
extern "C" fn receive() -> usize {
    say(|module| {
        let heard = std::mem::take(&mut module.heard);
        module.session.receive(&String::from_utf8_lossy(&heard))
    })
}

#[unsafe(no_mangle)]
extern "C" fn turn() -> usize {
    say(|module| module.session.turn())
}

#[unsafe(no_mangle)]
extern "C" fn rest() -> usize {
    say(|module| module.session.rest())
}

#[unsafe(no_mangle)]
extern "C" fn said() -> *const u8 {
    MODULE.with_borrow(|module| module.said.as_ptr())
}

fn say(messages: impl FnOnce(&mut Module) -> Vec<String>) -> usize {
    MODULE.with_borrow_mut(|module| {
        module.said = messages(module).join("\n");
        module.said.len()
    })
}
