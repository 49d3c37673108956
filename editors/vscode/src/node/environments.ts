import { stat } from "node:fs/promises";
import path from "node:path";

/** Where Python environments may be that could have a server installed. */
export interface Places {
  /** The interpreter that the Python extension has selected, or its environment. */
  selected?: string;
  /** Of the environment that VS Code was started in. */
  virtualEnv?: string;
  /** The workspace's. */
  folders: string[];
}

/**
 * Where a server of an active Python environment would be, the likeliest first. Environments belong to the workspace, or may: of one that is
 * not trusted, nobody asks.
 */
export async function programs({ selected, virtualEnv, folders }: Places, program: string, platform = process.platform): Promise<string[]> {
  const { join, dirname } = platform === "win32" ? path.win32 : path.posix;
  const scripts = (environment: string) => join(environment, platform === "win32" ? "Scripts" : "bin");
  const places: string[] = [];
  if (selected) {
    const isFolder = await stat(selected).then((it) => it.isDirectory(), () => false);
    if (isFolder) {
      places.push(scripts(selected));
    } else {
      // On Windows, an interpreter that is in no virtual environment is beside its scripts, not among them.
      const folder = dirname(selected);
      places.push(folder, ...(platform === "win32" ? [scripts(folder)] : []));
    }
  }
  places.push(...(virtualEnv ? [virtualEnv] : []).map(scripts));
  places.push(...folders.map((folder) => scripts(join(folder, ".venv"))));
  return [...new Set(places.map((place) => join(place, program)))];
}
