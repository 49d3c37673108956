//! What is said of a panic that was caught.

use std::any::Any;

use tower_lsp::jsonrpc::{Error, ErrorCode};

/// The JSON-RPC error that stands for a caught panic.
pub(crate) fn internal_error(panic: &(dyn Any + Send)) -> Error {
    let message = format!("tilefit failed on this request. This is a bug in tilefit: {}", panic_message(panic));
    Error { code: ErrorCode::InternalError, message: message.into(), data: None }
}

pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}
