/** What the panels and the extension tell each other: the memory map's first, then that of the configurations. */

import type { KernelConfigurations } from "./configurationsModel";
import type { Scale } from "./mapModel";

export type ToPanel =
  | {
      type: "map";
      html: string;
      planners: string[];
      targets: string[];
      /** What is tried instead of the settings. */
      planner: string | undefined;
      target: string | undefined;
      /** The settings themselves; undefined without a kernel. */
      set: { planner: string; target: string } | undefined;
      scale: Scale;
      /** TLX kernels have neither planners nor these targets. */
      canTry: boolean;
      /** Before and after, one line for each memory space. */
      changes: string[];
    }
  | { type: "cursor"; boxes: number[] };

export type FromPanel =
  | { type: "jump"; box: number }
  | { type: "try"; planner: string | undefined; target: string | undefined }
  | { type: "keep" }
  | { type: "scale"; scale: Scale }
  | { type: "size"; width: number; height: number };

export interface ToConfigurations {
  /** For the select. */
  kernels: { kernel: string; line: number }[];
  /** What is shown; undefined in a file without kernels, and before the first answer. */
  shown: KernelConfigurations | undefined;
  /** The source as the user knows it. */
  file: string;
  /** Why there is no table, or an old one. */
  note: string;
}

export type FromConfigurations =
  | { type: "ready" }
  | { type: "kernel"; kernel: string; line: number }
  | { type: "copy"; csv: string };
