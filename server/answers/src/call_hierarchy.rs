//! `textDocument/prepareCallHierarchy`, `callHierarchy/incomingCalls` and `outgoingCalls`: who calls whom, across files.

use ls_types::{CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, Position, Range, SymbolKind};
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::CallItem;
use tilefit_syntax::TextRange;

use crate::view::View;

pub fn prepare_call_hierarchy(view: &View, position: Position) -> Cancellable<Option<Vec<CallHierarchyItem>>> {
    let found = view.analysis.call_item(view.file, view.offset(position))?;
    Ok(found.and_then(|found| item(view, &found)).map(|item| vec![item]))
}

/// `name`: where the name of the item stands.
pub fn incoming_calls(view: &View, name: Position) -> Cancellable<Option<Vec<CallHierarchyIncomingCall>>> {
    let calls = view.analysis.incoming_calls(view.file, view.offset(name))?;
    let calls = calls.into_iter().filter_map(|calls| {
        let from = item(view, &calls.item)?;
        let ranges = calls.ranges.iter().filter_map(|range| Some(view.location(calls.item.file, *range)?.range));
        Some(CallHierarchyIncomingCall { from, from_ranges: ranges.collect() })
    });
    Ok(Some(calls.collect()))
}

pub fn outgoing_calls(view: &View, name: Position) -> Cancellable<Option<Vec<CallHierarchyOutgoingCall>>> {
    let calls = view.analysis.outgoing_calls(view.file, view.offset(name))?;
    let calls = calls.into_iter().filter_map(|calls| {
        let to = item(view, &calls.item)?;
        Some(CallHierarchyOutgoingCall {
            to,
            from_ranges: calls.ranges.iter().map(|range| view.range(*range)).collect(),
        })
    });
    Ok(Some(calls.collect()))
}

fn item(view: &View, item: &CallItem) -> Option<CallHierarchyItem> {
    let at = |range: TextRange| view.location(item.file, range);
    let whole = at(item.range)?;
    let selection_range: Range = at(item.selection)?.range;
    Some(CallHierarchyItem {
        name: item.name.clone(),
        kind: SymbolKind::FUNCTION,
        tags: None,
        detail: None,
        uri: whole.uri,
        range: whole.range,
        selection_range,
        data: None,
    })
}
