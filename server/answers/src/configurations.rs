//! `tilefit/configurations`: what every configuration of the kernels of a file takes on each device.

use tilefit_analysis::Cancellable;

use crate::ext::Configurations;
use crate::view::View;

pub fn configurations(view: &View) -> Cancellable<Configurations> {
    let mut kernels = view.analysis.configurations(view.file, &|_| true)?;
    if let Some(own) = view.cell {
        kernels.retain(|kernel| kernel.cell == Some(own + 1));
    }
    Ok(Configurations { kernels, version: view.version })
}
