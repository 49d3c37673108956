//! Requests and answers that LSP does not have.

use ls_types::notification::Notification;
use ls_types::request::Request;
use ls_types::{Position, Range, TextDocumentIdentifier, Uri};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tilefit_analysis::ide::memory_map::scale::Scale;
use tilefit_analysis::ide::memory_map::{Totals, Trial};
use tilefit_analysis::ide::{KernelConfigurations, MemoryMap};
use tilefit_analysis::project::Config;
use tilefit_pypto::target::{Planner, Target};

pub const VIEW_FILE_TEXT: &str = "tilefit/viewFileText";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ViewFileTextParams {
    pub text_document: TextDocumentIdentifier,
}

/// The server's own copy of a document.
#[derive(Serialize)]
pub struct FileText {
    pub text: String,
    pub version: i32,
}

/// Takes `{textDocument, position}`.
pub const GENERATED_CODE: &str = "tilefit/generatedCode";

/// The C++ of one kernel.
#[derive(Serialize)]
pub struct GeneratedCode {
    pub kernel: String,
    pub language: &'static str,
    pub text: String,
    /// The version of the document that it was generated from.
    pub version: i32,
    pub map: Vec<MappedLine>,
    pub gaps: Vec<Gap>,
}

/// What the C++ lacks, where nothing is said of it in the source.
#[derive(Serialize)]
pub struct Gap {
    pub range: Range,
    pub code: &'static str,
    pub message: String,
}

/// A line of the generated text, counted from 0, and the source that it comes from.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MappedLine {
    pub generated_line: u32,
    pub range: Range,
}

/// LSP 3.18: the text of a document that has no file.
pub const TEXT_DOCUMENT_CONTENT: &str = "workspace/textDocumentContent";

#[derive(Debug, Serialize, Deserialize)]
pub struct TextDocumentContentParams {
    pub uri: Uri,
}

#[derive(Serialize)]
pub struct TextDocumentContent {
    pub text: String,
}

/// Asks the client to ask again.
pub enum RefreshTextDocumentContent {}

impl Request for RefreshTextDocumentContent {
    type Params = TextDocumentContentParams;
    type Result = ();
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

/// The user has pressed the button of a progress that the server began; takes `WorkDoneProgressCancelParams`.
pub const CANCEL_PROGRESS: &str = "window/workDoneProgress/cancel";

/// A part of an answer that is still being made (LSP 3.17, `$/progress`).
pub enum PartialResult {}

impl Notification for PartialResult {
    /// `{ token, value }`
    type Params = Value;
    const METHOD: &'static str = "$/progress";
}

/// Takes `{textDocument, position}`.
pub const ALLOCATED_IR: &str = "tilefit/allocatedIr";

/// Takes `{textDocument}`.
pub const CONFIGURATIONS: &str = "tilefit/configurations";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigurationsParams {
    pub text_document: TextDocumentIdentifier,
}

/// What every configuration of the kernels of a document takes on each device.
#[derive(Serialize)]
pub struct Configurations {
    pub kernels: Vec<KernelConfigurations>,
    /// Of the document.
    pub version: i32,
}

/// Takes `{textDocument}`.
pub const PLANNED_FOR: &str = "tilefit/plannedFor";

/// What each kernel of a document is planned for, in text order.
#[derive(Serialize)]
pub struct PlannedFor {
    pub kernels: Vec<KernelPlannedFor>,
    /// Of the document.
    pub version: i32,
}

#[derive(Serialize)]
pub struct KernelPlannedFor {
    pub kernel: String,
    /// Of its function.
    pub range: Range,
    /// The machine: `sm_90`, `ascend910b`.
    pub target: &'static str,
    pub planner: &'static str,
    /// Nothing names the machine.
    pub assumed: bool,
}

/// Takes `{textDocument, position}`.
pub const LOWERED_IR: &str = "tilefit/loweredIr";

/// The IR of one kernel after memory is allocated, or after each step of the compiler.
#[derive(Serialize)]
pub struct KernelIr {
    pub kernel: String,
    pub language: &'static str,
    pub text: String,
    /// The version of the document that it belongs to.
    pub version: i32,
    pub map: Vec<MappedLine>,
}

/// The map once.
pub const MEMORY_MAP: &str = "tilefit/memoryMap";

/// The map now and after every edit, until it is sent without a position.
pub const WATCH_MEMORY_MAP: &str = "tilefit/watchMemoryMap";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryMapParams {
    pub text_document: TextDocumentIdentifier,
    pub position: Option<Position>,
    /// Instead of what the settings say.
    target: Option<String>,
    planner: Option<String>,
    picture: Option<Picture>,
}

/// How the map is drawn, beside its data.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Picture {
    pub(crate) kind: PictureKind,
    /// Pixels, or characters of text.
    pub(crate) width: u16,
    /// Pixels that the rows share; `None`: as many as they need. Text is as high as it is.
    pub(crate) height: Option<u16>,
    #[serde(default)]
    pub(crate) scale: Scale,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PictureKind {
    /// A part of a page.
    Html,
    /// The picture of it alone.
    Svg,
    Text,
}

/// What a client wants to see of a kernel.
#[derive(Debug, Clone, Copy, Default)]
pub struct MapOptions {
    pub trial: Trial,
    pub picture: Option<Picture>,
}

impl MemoryMapParams {
    /// The error names what is not known.
    pub fn options(&self) -> Result<MapOptions, String> {
        fn named<T>(kind: &str, name: Option<&String>, from_name: fn(&str) -> Option<T>) -> Result<Option<T>, String> {
            let known = |name: &String| from_name(name).ok_or_else(|| format!("there is no {kind} `{name}`"));
            name.map(known).transpose()
        }
        let target = named("target", self.target.as_ref(), Target::from_name)?;
        let planner = named("planner", self.planner.as_ref(), Planner::from_name)?;
        Ok(MapOptions { trial: Trial { target, planner }, picture: self.picture })
    }
}

#[derive(Serialize)]
pub struct MemoryMapAnswer {
    /// Of the document.
    pub version: i32,
    /// One, or one for each core that the kernel is split between.
    pub maps: Vec<DrawnMap>,
    /// What the settings come to.
    pub settings: Vec<Totals>,
    pub changes: Vec<String>,
}

#[derive(Debug, Serialize)]
pub struct DrawnMap {
    #[serde(flatten)]
    pub map: MemoryMap<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub html: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<Text>,
}

#[derive(Debug, Serialize)]
pub struct Text {
    pub lines: Vec<String>,
    pub marks: Vec<Mark>,
    /// What there is to each box, a line each.
    pub boxes: Vec<Vec<String>>,
}

/// What a part of a line shows; lines and bytes from 0.
#[derive(Debug, Serialize)]
pub struct Mark {
    pub line: usize,
    pub start: usize,
    pub end: usize,
    pub kind: String,
    /// Number of the box, counted over all spaces from 0.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    pub number: Option<usize>,
}

pub enum MemoryMapNotification {}

impl Notification for MemoryMapNotification {
    /// A [`MemoryMapChanged`]. The trait wants what can be read as well, and names are borrowed there.
    type Params = Value;
    const METHOD: &'static str = "tilefit/memoryMapChanged";
}

/// The map of a version of a document that is watched.
#[derive(Debug, Serialize)]
pub struct MemoryMapChanged {
    pub uri: Uri,
    pub version: i32,
    /// None in a file without kernels.
    pub maps: Vec<DrawnMap>,
    pub settings: Vec<Totals>,
    pub changes: Vec<String>,
}

/// Asks a client with the experimental capability `tilefitFiles` for the first of some files that exists; answers `null` where none does.
pub enum FirstFileRequest {}

impl Request for FirstFileRequest {
    type Params = FirstFileParams;
    type Result = Option<FirstFile>;
    const METHOD: &'static str = "tilefit/firstFile";
}

#[derive(Debug, Serialize, Deserialize)]
pub struct FirstFileParams {
    pub uris: Vec<Uri>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct FirstFile {
    pub uri: Uri,
    /// None of a file that cannot be read.
    pub text: Option<String>,
    /// Why it cannot.
    pub why: Option<String>,
}

/// Sent to clients with the experimental capability `tilefitSettings`, at the start and after every change.
pub enum SettingsNotification {}

impl Notification for SettingsNotification {
    type Params = SettingsInForce;
    const METHOD: &'static str = "tilefit/settings";
}

/// Of the client, the project and the defaults together.
#[derive(Debug, Serialize, Deserialize)]
pub struct SettingsInForce {
    pub target: String,
    pub planner: String,
    /// The GPU of TLX kernels whose scenario names none.
    pub arch: String,
    pub from: SettingsFrom,
}

impl SettingsInForce {
    pub fn of(config: &Config) -> Self {
        SettingsInForce {
            target: config.target.name().to_owned(),
            planner: config.planner.name().to_owned(),
            arch: config.tlx_arch.name().to_owned(),
            from: SettingsFrom {
                target: config.giver_of("target").to_owned(),
                planner: config.giver_of("planner").to_owned(),
                arch: config.giver_of("tlx.arch").to_owned(),
            },
        }
    }
}

/// Where each of them comes from: `default`, `settings` (of the client), `tilefit.toml` or `pyproject.toml`.
#[derive(Debug, Serialize, Deserialize)]
pub struct SettingsFrom {
    pub target: String,
    pub planner: String,
    pub arch: String,
}
