/** The server in its worker: calls the module when a message is there, and when there is time. The page of the playground runs it, too. */

/** What the module offers; `server/browser/src/exports.rs` says what each does. */
export interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  start(): void;
  room(length: number): number;
  receive(): number;
  turn(): number;
  rest(): number;
  said(): number;
}

/** After this long without a message the server looks further. Nothing interrupts it then. */
const QUIET_MILLISECONDS = 1_000;

type Timer = ReturnType<typeof setTimeout>;

export class Turns {
  private readonly server: Promise<Exports>;
  private turning: Timer | undefined;
  private resting: Timer | undefined;

  /**
   * `say` gets each message as one JSON text. `end` hears why there are none any more, once, and whether the server ran before: a module that
   * has failed is not to be used any more.
   */
  constructor(
    server: Promise<Exports>,
    private readonly say: (message: string) => void,
    private readonly end: (why: string, hadBegun: boolean) => void,
  ) {
    this.server = server.then((server) => {
      server.start();
      return server;
    });
    this.server.catch((error) => end(textOf(error), false));
  }

  /** Takes a message, as JSON text. */
  take(message: string): void {
    void this.server.then((server) => {
      this.run(server, () => {
        const bytes = new TextEncoder().encode(message);
        const address = server.room(bytes.length);
        new Uint8Array(server.memory.buffer, address, bytes.length).set(bytes);
        return server.receive();
      });
      // Messages that wait come first: a flood of edits costs one round of diagnostics.
      this.turning ??= setTimeout(() => {
        this.turning = undefined;
        this.run(server, server.turn);
      }, 0);
      this.rest(server);
    }, () => {});
  }

  private rest(server: Exports): void {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.run(server, server.rest) && this.rest(server), QUIET_MILLISECONDS);
  }

  /** Passes on what a call says; answers whether it said anything. */
  private run(server: Exports, call: () => number): boolean {
    try {
      const length = call();
      const said = new TextDecoder().decode(new Uint8Array(server.memory.buffer, server.said(), length));
      said.split("\n").forEach((message) => message && this.say(message));
      return length > 0;
    } catch (error) {
      this.end(textOf(error), true);
      return false;
    }
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
