//! The binary `tilefit` as a user has it, of the package `server`.

use std::path::Path;
use std::sync::OnceLock;

use escargot::CargoBuild;

/// Where it lies, built anew where the sources have changed, in the profile of the tests.
pub fn tilefit() -> &'static Path {
    static BINARY: OnceLock<Box<Path>> = OnceLock::new();
    BINARY.get_or_init(|| {
        // Beside a test, with the features that all tests are built with: nothing is compiled a second time.
        let build = CargoBuild::new().args(["--workspace", "--test", "rooms"]).bin("tilefit").current_release();
        build.run().expect("`tilefit` builds").path().into()
    })
}
