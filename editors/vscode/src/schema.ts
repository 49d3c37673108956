/** Made by tests/tests/settings_schema.rs out of the server's settings. */

/** What the server reads of the section `tilefit`. */
export const keys = ["capacity","codeLens.enable","codegen.alwaysAssign","codegen.drain","codegen.externC","codegen.insertSync","completion.enable","exclude","highlight.reuseGroup","include","inlayHints.enable","inlayHints.sync","limits.statements","limits.steps","planner","severity","shapes","target","tlx.arch","tlx.rules","tlx.scenarios"];

export const planners = ["auto","sequential","packed","dsa-rp"];

export const targets = ["ascend910b","ascend950"];
