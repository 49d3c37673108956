//! `tilefit/configurations`: what every configuration of the kernels of a file takes on each device.

use tilefit_analysis::Cancellable;

use crate::ext::Configurations;
use crate::view::View;

pub fn configurations(view: &View) -> Cancellable<Configurations> {
    Ok(Configurations { kernels: view.analysis.configurations(view.file)?, version: view.version })
}
