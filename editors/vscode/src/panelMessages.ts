/** What the memory map's panel and the extension tell each other. */

export type ToPanel =
  | {
      type: "map";
      html: string;
      /** Said where no tile is looked at. */
      note: string;
      planners: string[];
      targets: string[];
      /** What is tried instead of the settings. */
      planner: string | undefined;
      target: string | undefined;
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
  | { type: "width"; width: number };
