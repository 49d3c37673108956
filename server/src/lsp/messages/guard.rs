//! What tower-lsp leaves open: a panic in a handler is an answer, messages take effect in wire order, and the
//! process ends with the code that the protocol asks for.

use std::any::Any;
use std::borrow::Cow;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use tokio::sync::Notify;
use tower::Service;
use tower_lsp::jsonrpc::{Error, ErrorCode, Id, Request, Response};

use super::frames::MALFORMED;
use crate::lsp::panics::internal_error;
use crate::terminal::complain;

/// Where a client says that `workspace/textDocumentContent` can be registered.
const CONTENT: &str = "/capabilities/workspace/textDocumentContent/dynamicRegistration";

/// How far the session is on its way to the end.
#[derive(Default)]
pub(crate) struct Session {
    shut_down: AtomicBool,
    exited: AtomicBool,
    exit: Notify,
    asks_for_content: AtomicBool,
}

impl Session {
    /// Waits for the `exit` notification.
    pub(crate) async fn exit(&self) {
        self.exit.notified().await;
    }

    /// Whether the client asks for the text of documents that have no file (LSP 3.18). What `initialize` says of it gets lost
    /// where messages become values of LSP 3.17.
    pub(crate) fn asks_for_content(&self) -> bool {
        self.asks_for_content.load(Ordering::Acquire)
    }

    /// 0 after `shutdown`, else 1 (LSP 3.17, `exit`).
    pub(crate) fn exit_code(&self) -> i32 {
        let code = i32::from(!self.shut_down.load(Ordering::Acquire));
        if code != 0 && !self.exited.load(Ordering::Acquire) {
            complain("the input ended without `shutdown` and `exit`");
        }
        code
    }
}

/// Wraps the tower-lsp service.
pub(crate) struct Guard<S> {
    inner: S,
    session: Arc<Session>,
}

impl<S> Guard<S> {
    pub(crate) fn new(inner: S, session: Arc<Session>) -> Self {
        Guard { inner, session }
    }
}

type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

impl<S> Service<Request> for Guard<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Error: Send + 'static,
    S::Future: Unpin + Send + 'static,
{
    type Response = Option<Response>;
    type Error = S::Error;
    type Future = BoxFuture<Result<Option<Response>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        match request.method() {
            MALFORMED => return Box::pin(ready(Ok(Some(malformed(request))))),
            "initialize" => {
                let asked = request.params().and_then(|params| params.pointer(CONTENT));
                self.session.asks_for_content.store(asked == Some(&true.into()), Ordering::Release);
            }
            "shutdown" => self.session.shut_down.store(true, Ordering::Release),
            "exit" => {
                self.session.exited.store(true, Ordering::Release);
                self.session.exit.notify_one();
            }
            // tower-lsp drops what it does not know of these, requests too; only notifications may be dropped.
            method if method.starts_with("$/") && request.id().is_some() => {
                let answer = request.id().cloned().map(|id| Response::from_error(id, Error::method_not_found()));
                return Box::pin(ready(Ok(answer)));
            }
            _ => {}
        }
        let id = request.id().cloned();
        let future = match catch_unwind(AssertUnwindSafe(|| self.inner.call(request))) {
            Ok(future) => future,
            Err(panic) => return Box::pin(ready(Ok(answer_panic(id, panic.as_ref())))),
        };
        let mut future = CatchPanic { future, id };
        // `call` runs in wire order, later polls do not. A handler puts its message on the queue before it first
        // waits, so one poll here keeps every message in wire order. The transport polls again with its own waker.
        match Pin::new(&mut future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(answer) => Box::pin(ready(answer)),
            Poll::Pending => Box::pin(future),
        }
    }
}

struct CatchPanic<F> {
    future: F,
    id: Option<Id>,
}

impl<F, E> Future for CatchPanic<F>
where
    F: Future<Output = Result<Option<Response>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.get_mut();
        match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut this.future).poll(context))) {
            Ok(poll) => poll,
            Err(panic) => Poll::Ready(Ok(answer_panic(this.id.take(), panic.as_ref()))),
        }
    }
}

fn answer_panic(id: Option<Id>, panic: &(dyn Any + Send)) -> Option<Response> {
    id.map(|id| Response::from_error(id, internal_error(panic)))
}

fn malformed(request: Request) -> Response {
    let (_, id, why) = request.into_parts();
    let why = why.as_ref().and_then(|why| why.as_str()).unwrap_or("malformed message");
    let message = Cow::Owned(format!("the message could not be read: {why}"));
    Response::from_error(id.unwrap_or_default(), Error { code: ErrorCode::ParseError, message, data: None })
}
