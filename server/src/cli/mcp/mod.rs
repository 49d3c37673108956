//! `tilefit mcp`: the answers of the commands for agents, over the Model Context Protocol.
//!
//! A tool is one file: its arguments, of which the schema is made, and what it answers. [`TOOLS`] has a row for each. A call runs on a
//! thread of its own, so that one that takes long keeps no other waiting and a panic is the end of one call.

mod check;
mod codegen;
mod edited;
mod explain;
mod largest_fit;
mod plan;
mod reply;
mod what_if;
mod workspace;

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use rmcp::handler::server::common::schema_for_input;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::Value;
use tilefit_python::spelling::did_you_mean;
use tokio::sync::{Semaphore, oneshot};

use self::reply::Reply;
use self::workspace::Workspace;
use crate::STACK_BYTES;
use crate::terminal::fail;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Directories whose files agents may ask about (default: the current directory)
    #[arg(value_name = "DIR")]
    roots: Vec<PathBuf>,
}

struct Row {
    name: &'static str,
    about: &'static str,
    schema: fn() -> Result<Arc<JsonObject>, String>,
    /// The error is a sentence for the agent.
    run: fn(&Workspace, Value) -> Result<Reply, String>,
}

macro_rules! tools {
    ($($tool:ident $about:literal;)*) => {
        const TOOLS: &[Row] = &[$(Row {
            name: stringify!($tool),
            about: $about,
            schema: schema_for_input::<$tool::Arguments>,
            run: |workspace, arguments| {
                let arguments = serde_json::from_value(arguments);
                $tool::run(workspace, arguments.map_err(|error| format!("the arguments are not valid: {error}"))?)
            },
        }),*];
    };
}

tools! {
    check "Find tile kernels (PyPTO, Triton, TLX, Gluon) whose on-chip memory does not fit, and other errors, in files or directories.";
    plan "Memory plan of the kernels of a file: bytes used of each memory, address, size and lifetime of each tile.";
    what_if "Try text edits without writing any file: does each kernel fit then, by how many bytes, which buffers change, what is live at the peak.";
    largest_fit "The largest value of a constant (tile extent, block size, stages) with which every kernel that depends on it fits.";
    codegen "The C++ of PyPTO kernels at the addresses of their memory plans.";
    explain "What a diagnostic code such as capacity-exceeded means, with an example and how to fix it.";
}

const INSTRUCTIONS: &str = "tilefit computes the on-chip memory of tile kernels (PyPTO, Triton, TLX, Gluon) from their source, without compiling or \
running them. Try a change with what_if before writing it. Sizes are bytes, of `tmem` columns. `status` says how far a plan is known: exact, \
predicted (never compared with the compiler), bounded, partial or rejected; what is not known is null. Paths are relative to the workspace.";

/// Calls that run at a time. One that takes long takes one of these places until it ends, which the limits of the analysis see to.
const MOST_AT_ONCE: usize = 16;

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let served = Workspace::of(&arguments.roots)
        .and_then(|workspace| serve(workspace).map_err(|error| format!("the server ends: {error}")));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => fail(&message),
    }
}

fn serve(workspace: Workspace) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_time().build()?;
    let agents = Agents { workspace: Arc::new(workspace), places: Arc::new(Semaphore::new(MOST_AT_ONCE)) };
    let ended = runtime.block_on(async {
        let service = agents.serve((tokio::io::stdin(), tokio::io::stdout())).await.map_err(io::Error::other)?;
        service.waiting().await.map_err(io::Error::other)
    });
    // Nobody is left to read what still runs.
    runtime.shutdown_background();
    ended.map(|_| ())
}

struct Agents {
    workspace: Arc<Workspace>,
    places: Arc<Semaphore>,
}

impl ServerHandler for Agents {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("tilefit", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |row: &Row| {
            let schema = (row.schema)().map_err(|error| ErrorData::internal_error(error, None))?;
            let hints = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
            Ok(Tool::new(row.name, row.about, schema).with_annotations(hints))
        };
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(tool).collect::<Result<_, ErrorData>>()?))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(row) = TOOLS.iter().find(|row| row.name == request.name) else {
            let meant = did_you_mean(&request.name, TOOLS.iter().map(|row| row.name));
            return Err(ErrorData::invalid_params(format!("there is no tool `{}`{meant}", request.name), None));
        };
        let workspace = Arc::clone(&self.workspace);
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        let place = Arc::clone(&self.places).acquire_owned().await;
        let answer = apart(move || {
            let answer = (row.run)(&workspace, arguments);
            drop(place);
            answer
        });
        Ok(answer.await.unwrap_or_else(Err).map_or_else(reply::error, Reply::into_result).into())
    }
}

/// Runs work on a thread of its own. The error is a sentence for the agent.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, String> {
    let (done, answer) = oneshot::channel();
    let work = move || {
        let ended = catch_unwind(AssertUnwindSafe(work));
        // Who asked may be gone.
        let _ =
            done.send(ended.map_err(|_| "tilefit failed on this call, which is a bug; please report it".to_owned()));
    };
    let thread = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    thread.map_err(|error| format!("no thread can be started: {error}"))?;
    answer.await.unwrap_or_else(|_| Err("the call has ended without an answer".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_end_of_one_call() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let (fails, works) = runtime.block_on(async { (apart(|| panic!("on purpose")).await, apart(|| 1).await) });
        assert_eq!(fails, Err::<(), _>("tilefit failed on this call, which is a bug; please report it".to_owned()));
        assert_eq!(works, Ok(1));
    }

    #[test]
    fn every_tool_says_what_it_takes() {
        for row in TOOLS {
            let schema = (row.schema)().expect("a schema of an object");
            let properties = schema["properties"].as_object().expect("arguments");
            for (name, of) in properties {
                assert!(of["description"].is_string(), "{}: `{name}` has no description", row.name);
            }
        }
    }
}
