//! `textDocument/signatureHelp`.

use ls_types::{Documentation, ParameterInformation, ParameterLabel, Position, SignatureHelp, SignatureInformation};
use tilefit_analysis::Cancellable;
use tilefit_analysis::ide::Signature;

use crate::abilities::Shows;
use crate::convert;
use crate::view::View;

pub fn signature_help(view: &View, position: Position, shows: Shows) -> Cancellable<Option<SignatureHelp>> {
    let help = view.analysis.signature_help(view.file, view.offset(position))?;
    Ok(help.map(|help| {
        // After the last parameter: the first one outside of the list, which highlights none.
        let index = |signature: &Signature, active: Option<usize>| active.unwrap_or(signature.params.len()) as u32;
        let all = help.signatures.into_iter().zip(help.active);
        let signatures: Vec<_> = all.map(|(it, active)| (index(&it, active), it)).collect();
        let active_parameter = signatures.first().map(|(active, _)| *active);
        let signatures = signatures.into_iter().map(|(active, it)| information(it, active, shows)).collect();
        SignatureHelp { signatures, active_signature: Some(0), active_parameter }
    }))
}

fn information(signature: Signature, active: u32, shows: Shows) -> SignatureInformation {
    let parameters = signature.params.iter().map(|param| {
        // Labels are ASCII: bytes are units of every encoding.
        let label = match shows.parameter_offsets {
            true => ParameterLabel::LabelOffsets([param.label.start as u32, param.label.end as u32]),
            false => ParameterLabel::Simple(signature.label[param.label.start..param.label.end].to_owned()),
        };
        ParameterInformation { label, documentation: None }
    });
    let documentation = convert::markup(signature.markdown.clone(), shows.signatures);
    SignatureInformation {
        parameters: Some(parameters.collect()),
        documentation: Some(Documentation::MarkupContent(documentation)),
        active_parameter: Some(active),
        label: signature.label,
    }
}
