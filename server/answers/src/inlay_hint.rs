//! `textDocument/inlayHint` and `inlayHint/resolve`: where tiles lie, beside their names.

use ls_types::{
    InlayHint, InlayHintKind, InlayHintLabel, InlayHintLabelPart, InlayHintTooltip, Location, MarkupContent, Range, Uri,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tilefit_analysis::ide::{HintDetails, HintKey, HintLink};
use tilefit_analysis::{Cancellable, Cancelled};

use crate::abilities::Shows;
use crate::convert;
use crate::view::View;

/// The `data` of a hint that has more to it.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unresolved {
    uri: Uri,
    version: i32,
    key: HintKey,
}

impl Unresolved {
    /// What was left out of a hint, if anything was.
    pub fn of(hint: &InlayHint) -> Option<Unresolved> {
        Unresolved::deserialize(hint.data.as_ref()?).ok()
    }

    pub fn uri(&self) -> &Uri {
        &self.uri
    }
}

pub fn inlay_hints(view: &View, range: Range, shows: Shows) -> Cancellable<Option<Vec<InlayHint>>> {
    let hints = view.analysis.inlay_hints(view.file, view.text_range(range))?;
    let unresolved = |key| Unresolved { uri: view.uri.clone(), version: view.version, key };
    let data = |key: Option<HintKey>| key.filter(|_| shows.resolves_hints).map(|key| json!(unresolved(key)));
    let here = hints.into_iter().filter(|hint| view.has(hint.offset));
    let hints = here.map(|hint| InlayHint {
        position: view.position(hint.offset),
        label: InlayHintLabel::String(hint.label),
        kind: Some(InlayHintKind::TYPE),
        text_edits: None,
        tooltip: Some(InlayHintTooltip::String(hint.tooltip)),
        padding_left: Some(!hint.in_front),
        padding_right: Some(hint.in_front),
        data: data(hint.key),
    });
    Ok(Some(hints.collect()))
}

/// Adds what there is to a hint. One of an older version of the document has been overtaken.
pub fn resolve_inlay_hint(view: &View, mut hint: InlayHint, unresolved: &Unresolved) -> Cancellable<InlayHint> {
    if unresolved.version != view.version {
        return Err(Cancelled);
    }
    let offset = view.offset(hint.position);
    let Some(details) = view.analysis.hint_details(view.file, offset, unresolved.key)? else { return Ok(hint) };
    let HintDetails { label, markdown, link } = details;
    let tooltip = convert::markup(markdown, convert::Shown::AsMarkdown);
    hint.label = InlayHintLabel::LabelParts(parts(view, &label, link, &tooltip));
    hint.tooltip = Some(InlayHintTooltip::MarkupContent(tooltip));
    hint.data = None;
    Ok(hint)
}

/// The label, cut where a part of it leads elsewhere. Some clients show the tooltips of parts only.
fn parts(view: &View, label: &str, link: Option<HintLink>, tooltip: &MarkupContent) -> Vec<InlayHintLabelPart> {
    let part = |value: &str, location: Option<Location>| InlayHintLabelPart {
        value: value.to_owned(),
        tooltip: Some(tooltip.clone().into()),
        location,
        command: None,
    };
    let Some(HintLink { part: linked, target }) = link else { return vec![part(label, None)] };
    let location = view.location(view.file, target);
    let all = [(&label[..linked.start], None), (&label[linked.clone()], location), (&label[linked.end..], None)];
    all.into_iter().filter(|(value, _)| !value.is_empty()).map(|(value, location)| part(value, location)).collect()
}
