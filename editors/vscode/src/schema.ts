/** Made by tests/tests/settings_schema.rs out of the server's settings. */

/** What the server reads of the section `tilefit`. */
export const keys = ["capacity","codeLens.enable","codegen.alwaysAssign","codegen.drain","codegen.externC","codegen.insertSync","completion.enable","confirm","confirmFull","devices","exclude","highlight.reuseGroup","include","inlayHints.enable","inlayHints.sync","limits.statements","limits.steps","planner","python","severity","shapes","target","tlx.arch","tlx.rules","tlx.scenarios","triton"];

export const planners = ["auto","sequential","packed","dsa-rp"];

export const targets = ["ascend910b","ascend950","sm_70","sm_75","sm_80","sm_86","sm_87","sm_89","sm_90","sm_100","sm_103","sm_107","sm_110","sm_120","sm_121","gfx942","gfx950","gfx1250"];
