/** The memory map beside the kernel: what the panel of the VS Code extension tells, and is told. */

import type { LSPClient } from "@codemirror/lsp-client";
import type * as lsp from "vscode-languageserver-protocol";

import { allBoxes, boxesAt, contains, pictures } from "../../vscode/src/mapModel";
import type { MemoryMapAnswer, Scale } from "../../vscode/src/mapModel";
import type { FromPanel, ToPanel } from "../../vscode/src/panelMessages";

type Changed = MemoryMapAnswer & { uri: string };

export class MapFrame {
  private answer?: MemoryMapAnswer;
  private place?: lsp.TextDocumentPositionParams;
  private size = { width: 800, height: 400 };
  private scale: Scale = "own";

  /** `jump` goes to a range of the source. */
  constructor(
    private readonly frame: HTMLIFrameElement,
    private readonly client: LSPClient,
    private readonly jump: (range: lsp.Range) => void,
  ) {
    window.addEventListener("message", ({ source, data }: MessageEvent<FromPanel>) => {
      if (source === frame.contentWindow) {
        this.hear(data);
      }
    });
  }

  /** Watches the kernel at a place. */
  watch(place: lsp.TextDocumentPositionParams): void {
    this.place = place;
    const picture = { kind: "html", ...this.size, scale: this.scale };
    this.client.notification("tilefit/watchMemoryMap", { ...place, picture });
  }

  /** The cursor is there: outlines its tile, or goes to its kernel. */
  follow(place: lsp.TextDocumentPositionParams, word: string | undefined): void {
    const maps = this.answer?.maps ?? [];
    const { line } = place.position;
    if (contains(maps, line)) {
      this.place = place;
      this.tell({ type: "cursor", boxes: boxesAt(maps, line, word) });
    } else {
      this.watch(place);
    }
  }

  draw(changed: Changed): void {
    this.answer = changed;
    this.tell({
      type: "map",
      html: changed.maps.length > 0 ? pictures(changed.maps) : "<p>There is no kernel in this text.</p>",
      planners: [],
      targets: [],
      planner: undefined,
      target: undefined,
      set: undefined,
      scale: this.scale,
      canTry: false, // the page chooses both, for everything
      changes: [],
    });
  }

  private hear(message: FromPanel): void {
    if (message.type === "jump") {
      const tile = allBoxes(this.answer?.maps ?? [])[message.box]?.tiles[0];
      if (tile) {
        this.jump(tile.range);
      }
      return;
    }
    if (message.type === "size") {
      const pixels = (length: number): number => Math.max(0, Math.min(Math.round(length), 65_535));
      this.size = { width: pixels(message.width), height: pixels(message.height) };
    } else if (message.type === "scale") {
      this.scale = message.scale;
    }
    if (this.place) {
      this.watch(this.place);
    }
  }

  private tell(message: ToPanel): void {
    this.frame.contentWindow?.postMessage(message, location.origin);
  }
}
