//! What a client says that it can do, as far as answers and unasked messages depend on it.

use ls_types::{ClientCapabilities, MarkupKind, ResourceOperationKind};

use crate::convert::Shown;

/// What this client can do, of the things tilefit asks for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Abilities {
    pub configuration: bool,
    /// It asks for diagnostics, and says of none that they may be sent. To all others they are sent, which is sooner.
    pub pulls_diagnostics: bool,
    pub diagnostics_refresh: bool,
    pub watched_files: bool,
    pub inlay_hint_refresh: bool,
    pub code_lens_refresh: bool,
    pub show_document: bool,
    /// It wants to hear which settings are in force.
    pub settings: bool,
    /// It reads files for a server that has none.
    pub files: bool,
    /// It shows how far work is that the server begins.
    pub progress: bool,
    /// Edits may say which version of a document they are of.
    pub document_changes: bool,
    /// Edits may create files.
    pub creates_files: bool,
    pub shows: Shows,
}

/// What there is to an inlay hint besides its text.
const HINT_DETAILS: [&str; 3] = ["tooltip", "label.tooltip", "label.location"];

/// The forms of text that this client shows.
#[derive(Debug, Clone, Copy)]
pub struct Shows {
    pub hover: Shown,
    pub completion: Shown,
    pub signatures: Shown,
    pub snippets: bool,
    /// It asks the user whether a completion overwrites the rest of a word.
    pub overwrites: bool,
    /// A parameter as a part of its signature.
    pub parameter_offsets: bool,
    /// It asks what there is to a hint.
    pub resolves_hints: bool,
}

impl Default for Shows {
    fn default() -> Self {
        let text = Shown::AsText;
        Shows {
            hover: text,
            completion: text,
            signatures: text,
            snippets: false,
            overwrites: false,
            parameter_offsets: false,
            resolves_hints: false,
        }
    }
}

impl Shows {
    fn of(capabilities: &ClientCapabilities) -> Option<Self> {
        let document = capabilities.text_document.as_ref()?;
        // Who names a parser shows what that one makes of the text.
        let names_parser = capabilities.general.as_ref().is_some_and(|general| general.markdown.is_some());
        let shown = |formats: Option<&Vec<MarkupKind>>| match formats {
            Some(formats) if !formats.contains(&MarkupKind::Markdown) => Shown::AsText,
            None => Shown::AsText,
            Some(_) if names_parser => Shown::AsMarkdown,
            Some(_) => Shown::AsSimpleMarkdown,
        };
        let item = document.completion.as_ref().and_then(|it| it.completion_item.as_ref());
        let signature = document.signature_help.as_ref().and_then(|it| it.signature_information.as_ref());
        let hint = document.inlay_hint.as_ref().and_then(|it| it.resolve_support.as_ref());
        let parameter = signature.and_then(|it| it.parameter_information.as_ref());
        Some(Shows {
            hover: shown(document.hover.as_ref().and_then(|it| it.content_format.as_ref())),
            completion: shown(item.and_then(|it| it.documentation_format.as_ref())),
            signatures: shown(signature.and_then(|it| it.documentation_format.as_ref())),
            snippets: item.and_then(|it| it.snippet_support) == Some(true),
            overwrites: item.and_then(|it| it.insert_replace_support) == Some(true),
            parameter_offsets: parameter.and_then(|it| it.label_offset_support) == Some(true),
            resolves_hints: hint
                .is_some_and(|it| it.properties.iter().any(|property| HINT_DETAILS.contains(&property.as_str()))),
        })
    }
}

impl Abilities {
    pub fn of(capabilities: &ClientCapabilities) -> Self {
        let window = capabilities.window.as_ref();
        let show_document = window.and_then(|it| it.show_document.as_ref()).is_some_and(|it| it.support);
        let shows = Shows::of(capabilities).unwrap_or_default();
        let experimental = capabilities.experimental.as_ref();
        let experiments_with = |name: &str| experimental.is_some_and(|it| it[name] == true);
        let (settings, files) = (experiments_with("tilefitSettings"), experiments_with("tilefitFiles"));
        let document = capabilities.text_document.as_ref();
        let pulls_diagnostics =
            document.is_some_and(|document| document.diagnostic.is_some() && document.publish_diagnostics.is_none());
        let progress = window.and_then(|it| it.work_done_progress) == Some(true);
        let Some(workspace) = &capabilities.workspace else {
            let of_window = Abilities { show_document, progress, ..Abilities::default() };
            return Abilities { settings, files, shows, pulls_diagnostics, ..of_window };
        };
        let is = |flag: Option<bool>| flag == Some(true);
        Abilities {
            shows,
            pulls_diagnostics,
            diagnostics_refresh: is(workspace.diagnostics.as_ref().and_then(|it| it.refresh_support)),
            configuration: is(workspace.configuration),
            watched_files: is(workspace.did_change_watched_files.and_then(|it| it.dynamic_registration)),
            inlay_hint_refresh: is(workspace.inlay_hint.as_ref().and_then(|it| it.refresh_support)),
            code_lens_refresh: is(workspace.code_lens.as_ref().and_then(|it| it.refresh_support)),
            show_document,
            settings,
            files,
            progress,
            document_changes: is(workspace.workspace_edit.as_ref().and_then(|it| it.document_changes)),
            creates_files: workspace
                .workspace_edit
                .as_ref()
                .and_then(|it| it.resource_operations.as_ref())
                .is_some_and(|operations| operations.contains(&ResourceOperationKind::Create)),
        }
    }
}
