//! The binary `tilefit` as a user has it, of the package `server`.

use std::path::Path;
use std::sync::OnceLock;

use escargot::CargoBuild;

/// Where it lies, built anew where the sources have changed, in the profile of the tests.
pub fn tilefit() -> &'static Path {
    static BINARY: OnceLock<Box<Path>> = OnceLock::new();
    BINARY.get_or_init(|| {
        let build = CargoBuild::new().package("tilefit").bin("tilefit").current_release();
        build.run().expect("`tilefit` builds").path().into()
    })
}
