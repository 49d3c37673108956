//! Requests and answers that LSP does not have.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tilefit_analysis::ide::MemoryMap;
use tilefit_analysis::ide::memory_map::{Totals, Trial};
use tilefit_analysis::target::{Planner, Target};
use tower_lsp::jsonrpc::Error;
use tower_lsp::ls_types::notification::Notification;
use tower_lsp::ls_types::request::Request;
use tower_lsp::ls_types::{Position, Range, TextDocumentIdentifier, Uri};

use super::memory_map::Wish;

pub(super) const VIEW_FILE_TEXT: &str = "tilefit/viewFileText";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ViewFileTextParams {
    pub(super) text_document: TextDocumentIdentifier,
}

/// The server's own copy of a document.
#[derive(Serialize)]
pub(super) struct FileText {
    pub(super) text: String,
    pub(super) version: i32,
}

/// Takes `{textDocument, position}`.
pub(super) const GENERATED_CODE: &str = "tilefit/generatedCode";

/// The C++ of one kernel.
#[derive(Serialize)]
pub(super) struct GeneratedCode {
    pub(super) kernel: String,
    pub(super) language: &'static str,
    pub(super) text: String,
    /// The version of the document that it was generated from.
    pub(super) version: i32,
    pub(super) map: Vec<MappedLine>,
    pub(super) gaps: Vec<Gap>,
}

/// What the C++ lacks, where nothing is said of it in the source.
#[derive(Serialize)]
pub(super) struct Gap {
    pub(super) range: Range,
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// A line of the generated text, counted from 0, and the source that it comes from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MappedLine {
    pub(super) generated_line: u32,
    pub(super) range: Range,
}

/// LSP 3.18: the text of a document that has no file.
pub(super) const TEXT_DOCUMENT_CONTENT: &str = "workspace/textDocumentContent";

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TextDocumentContentParams {
    pub(super) uri: Uri,
}

#[derive(Serialize)]
pub(super) struct TextDocumentContent {
    pub(super) text: String,
}

/// Asks the client to ask again.
pub(super) enum RefreshTextDocumentContent {}

impl Request for RefreshTextDocumentContent {
    type Params = TextDocumentContentParams;
    type Result = ();
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

/// The user has pressed the button of a progress that the server began; takes `WorkDoneProgressCancelParams`.
pub(super) const CANCEL_PROGRESS: &str = "window/workDoneProgress/cancel";

/// A part of an answer that is still being made (LSP 3.17, `$/progress`).
pub(super) enum PartialResult {}

impl Notification for PartialResult {
    /// `{ token, value }`
    type Params = Value;
    const METHOD: &'static str = "$/progress";
}

/// Takes `{textDocument, position}`.
pub(super) const ALLOCATED_IR: &str = "tilefit/allocatedIr";

/// Takes `{textDocument, position}`.
pub(super) const LOWERED_IR: &str = "tilefit/loweredIr";

/// The IR of one kernel after memory is allocated, or after each step of the compiler.
#[derive(Serialize)]
pub(super) struct KernelIr {
    pub(super) kernel: String,
    pub(super) language: &'static str,
    pub(super) text: String,
    /// The version of the document that it belongs to.
    pub(super) version: i32,
    pub(super) map: Vec<MappedLine>,
}

/// The map once.
pub(super) const MEMORY_MAP: &str = "tilefit/memoryMap";

/// The map now and after every edit, until it is sent without a position.
pub(super) const WATCH_MEMORY_MAP: &str = "tilefit/watchMemoryMap";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MemoryMapParams {
    pub(super) text_document: TextDocumentIdentifier,
    pub(super) position: Option<Position>,
    /// Instead of what the settings say.
    target: Option<String>,
    planner: Option<String>,
    picture: Option<Picture>,
}

/// How the map is drawn, beside its data.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(super) enum Picture {
    /// A part of a page; pixels.
    Html { width: u16 },
    /// The picture of it alone.
    Svg { width: u16 },
    /// Characters.
    Text { width: u16 },
}

impl MemoryMapParams {
    /// The error names what is not known.
    pub(super) fn wish(&self) -> Result<Wish, Error> {
        fn named<T>(kind: &str, name: Option<&String>, from_name: fn(&str) -> Option<T>) -> Result<Option<T>, Error> {
            let known = |name: &String| {
                from_name(name).ok_or_else(|| Error::invalid_params(format!("there is no {kind} `{name}`")))
            };
            name.map(known).transpose()
        }
        let target = named("target", self.target.as_ref(), Target::from_name)?;
        let planner = named("planner", self.planner.as_ref(), Planner::from_name)?;
        Ok(Wish { trial: Trial { target, planner }, picture: self.picture })
    }
}

#[derive(Serialize)]
pub(super) struct MemoryMapAnswer {
    /// Of the document.
    pub(super) version: i32,
    /// One, or one for each core that the kernel is split between.
    pub(super) maps: Vec<DrawnMap>,
    /// What the settings come to.
    pub(super) settings: Vec<Totals>,
    pub(super) changes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct DrawnMap {
    #[serde(flatten)]
    pub(super) map: MemoryMap<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) text: Option<Text>,
}

#[derive(Debug, Serialize)]
pub(super) struct Text {
    pub(super) lines: Vec<String>,
    pub(super) marks: Vec<Mark>,
}

/// What a part of a line shows; lines and bytes from 0.
#[derive(Debug, Serialize)]
pub(super) struct Mark {
    pub(super) line: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) kind: String,
    /// Number of the box, counted over all spaces from 0.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub(super) number: Option<usize>,
}

pub(super) enum MemoryMapNotification {}

impl Notification for MemoryMapNotification {
    /// A [`MemoryMapChanged`]. The trait wants what can be read as well, and names are borrowed there.
    type Params = Value;
    const METHOD: &'static str = "tilefit/memoryMapChanged";
}

/// The map of a version of a document that is watched.
#[derive(Debug, Serialize)]
pub(super) struct MemoryMapChanged {
    pub(super) uri: Uri,
    pub(super) version: i32,
    /// None in a file without kernels.
    pub(super) maps: Vec<DrawnMap>,
    pub(super) settings: Vec<Totals>,
    pub(super) changes: Vec<String>,
}

/// Sent to clients with the experimental capability `tilefitSettings`, at the start and after every change.
pub(super) enum SettingsNotification {}

impl Notification for SettingsNotification {
    type Params = SettingsInForce;
    const METHOD: &'static str = "tilefit/settings";
}

/// Of the client, the project and the defaults together.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SettingsInForce {
    pub(super) target: String,
    pub(super) planner: String,
    /// The GPU of TLX kernels whose scenario names none.
    pub(super) arch: String,
}
