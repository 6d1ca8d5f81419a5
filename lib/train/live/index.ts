import type { PhaseProgress } from "../run/progress.ts";
import { Block } from "./block.ts";
import { PhaseView } from "./phase.ts";

/** Shows how a run goes. */
export interface LiveView {
  /** To be called after each step: takes what `onProgress` gives. */
  update(progress: PhaseProgress): void;
  /** A line that stays. */
  note(text: string): void;
  /** Leaves the last state on the screen, and the cursor as it was. */
  stop(): void;
}

/** Options of {@link liveView}. */
export interface LiveOptions {
  /** Default: standard error. */
  readonly stream?: NodeJS.WriteStream;
  /** Show nothing but notes. */
  readonly quiet?: boolean;
}

const REDRAW_MS = 100;
const LINE_MS = 10_000;

/** On a terminal: progress, time left and the key curves, redrawn in place; elsewhere a plain line now and then. */
export function liveView({ stream = process.stderr, quiet = false }: LiveOptions = {}): LiveView {
  if (quiet) return { update() {}, note: (text) => stream.write(`${text}\n`), stop() {} };
  return stream.isTTY ? new TerminalView(stream) : new LineView(stream);
}

// When the phase under way began: where the one before ended, the first with the view, so that times make up the whole.
class PhaseClock {
  #phase: string | undefined;
  #began = performance.now();
  /** When it was last told of. */
  last = this.#began;

  beganOf(phase: string, now: number): number {
    if (phase !== this.#phase) this.#began = this.last;
    this.#phase = phase;
    this.last = now;
    return this.#began;
  }
}

class TerminalView implements LiveView {
  readonly #stream: NodeJS.WriteStream;
  readonly #block: Block;
  readonly #clock = new PhaseClock();
  #view: PhaseView | undefined;
  #drawn = Number.NEGATIVE_INFINITY;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#block = new Block(stream);
  }

  update(progress: PhaseProgress): void {
    const now = performance.now();
    if (this.#view?.shows(progress) !== true) this.#end(this.#clock.last);
    const began = this.#clock.beganOf(progress.phase, now);
    this.#view ??= new PhaseView(progress, began, now);
    this.#view.update(progress);
    if (now - this.#drawn >= REDRAW_MS) this.#draw(now);
  }

  note(text: string): void {
    this.#block.clear();
    this.#stream.write(`${text}\n`);
    if (this.#view !== undefined) this.#draw(performance.now());
  }

  stop(): void {
    this.#clock.last = performance.now();
    this.#end(this.#clock.last);
  }

  #end(now: number): void {
    if (this.#view === undefined) return;
    this.#draw(now);
    this.#block.keep();
    this.#view = undefined;
    this.#drawn = Number.NEGATIVE_INFINITY;
  }

  #draw(now: number): void {
    this.#block.draw(this.#view!.lines(this.#stream.columns ?? 80, now));
    this.#drawn = now;
  }
}

class LineView implements LiveView {
  readonly #stream: NodeJS.WriteStream;
  readonly #clock = new PhaseClock();
  #view: PhaseView | undefined;
  #written = 0;
  #isNews = false;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
  }

  update(progress: PhaseProgress): void {
    const now = performance.now();
    if (this.#view?.shows(progress) !== true) this.#end(this.#clock.last);
    const began = this.#clock.beganOf(progress.phase, now);
    if (this.#view === undefined) {
      this.#view = new PhaseView(progress, began, now);
      this.#written = now;
    }
    this.#view.update(progress);
    this.#isNews = true;
    if (now - this.#written >= LINE_MS) this.#write(now);
  }

  note(text: string): void {
    this.#stream.write(`${text}\n`);
  }

  stop(): void {
    this.#clock.last = performance.now();
    this.#end(this.#clock.last);
  }

  #end(now: number): void {
    if (this.#isNews) this.#write(now);
    this.#view = undefined;
  }

  #write(now: number): void {
    this.#stream.write(`${this.#view!.line(now)}\n`);
    this.#written = now;
    this.#isNews = false;
  }
}
