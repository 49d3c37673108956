//! The answer to a request that panics.

use std::any::Any;

use tilefit_answers::panics::panic_message;
use tower_lsp::jsonrpc::{Error, ErrorCode};

/// The JSON-RPC error for a caught panic.
pub(crate) fn internal_error(panic: &(dyn Any + Send)) -> Error {
    let message = format!("tilefit failed on this request. This is a bug in tilefit: {}", panic_message(panic));
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}
