//! The language server.
//!
//! ```text
//! stdin thread ── frames ──> tower-lsp ── guard ──> backend ── queue ──> main loop ── snapshots ──> tasks
//!                                <───────────── delivery (outbox) <──────────┘ <────── events ───────┘
//! ```
//!
//! Three rooms, each of which knows those after it and none before it: [`messages`] → [`main_loop`] → [`tasks`]. What a task comes to
//! is an event that the loop posts for it.
//!
//! Invariants: the main loop is the only writer and takes messages in wire order, but edits of a document in the order of their versions;
//! nothing but the main loop touches its [`tilefit_analysis::AnalysisHost`]; nothing here knows what a tile is.

mod long_task;
mod main_loop;
mod messages;
mod outbox;
mod panics;
mod revision;
mod tasks;

use std::io;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use tilefit_answers::ext;
use tilefit_answers::requests::{Registry, Request, register_own};
use tower_lsp::{LspService, LspServiceBuilder, Server};

use main_loop::MainLoop;
use main_loop::queue::Queue;
use messages::backend::Backend;
use messages::guard::{Guard, Session};
use messages::{frames, test_hooks};
use outbox::Outbox;

use crate::STACK_BYTES;
use crate::disk::remove_private_folders;
use crate::lsp::tasks::preview::PreviewFolder;

/// Waiting requests cost a slot and no thread; with fewer slots, slow ones would keep edits and cancellations waiting.
const WAITING_REQUESTS: usize = 4096;

/// What is left for the answer to `shutdown` to leave the process after `exit`.
const GRACE: Duration = Duration::from_millis(500);

/// Takes the methods of tilefit's own.
struct Methods(LspServiceBuilder<Backend>);

impl Registry for Methods {
    fn register<R: Request>(self) -> Self {
        Methods(self.0.custom_method(R::METHOD, Backend::ask::<R>))
    }
}

/// Serves on standard input and output; ends the process.
pub(crate) fn serve() -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_stack_size(STACK_BYTES)
        .thread_keep_alive(main_loop::IDLE_THREADS_END)
        .enable_time()
        .build()?;
    let stdin = frames::read_stdin(runtime.handle().clone())?;
    let (sender, inbox) = mpsc::channel();
    let queue = Queue::new(sender);
    let outbox = Outbox::default();
    let main_loop = MainLoop::new(runtime.handle().clone(), queue.clone(), outbox.clone());
    std::thread::Builder::new()
        .name("main-loop".into())
        .stack_size(STACK_BYTES)
        .spawn(move || main_loop.run(&inbox))?;

    let session = Arc::new(Session::default());
    let told = Arc::clone(&session);
    let previews = PreviewFolder::default();
    let service = LspService::build(|client| Backend::new(client, queue, outbox, told, previews))
        .custom_method(ext::WATCH_MEMORY_MAP, Backend::watch_memory_map)
        .custom_method(ext::TEXT_DOCUMENT_CONTENT, Backend::text_document_content)
        .custom_method(ext::CANCEL_PROGRESS, Backend::cancel_progress);
    let Methods(service) = register_own(Methods(service));
    let (service, socket) = test_hooks::register(service).finish();
    let guard = Guard::new(service, Arc::clone(&session));
    runtime.block_on(async {
        let server = Server::new(stdin, tokio::io::stdout(), socket).concurrency_level(WAITING_REQUESTS);
        let mut server = pin!(server.serve(guard));
        tokio::select! {
            () = &mut server => {}
            // Slow requests are not waited for.
            () = session.exit() => drop(tokio::time::timeout(GRACE, server).await),
        }
    });
    remove_private_folders();
    // A worker may still compute and the main loop still waits: neither is joined.
    std::process::exit(session.exit_code())
}
