import { setTimeout as pause } from "node:timers/promises";

type Waiting<Asked, Answer> = {
  readonly asked: Asked;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
};

export type SharedStatementsOptions<Asked, Answer> = {
  /** Answers in the order of what was asked. What it throws goes to all who asked. */
  readonly read: (together: readonly Asked[]) => Promise<readonly Answer[]>;
  /** Questions of one statement. */
  readonly togetherMax: number;
  /** Statements under way. */
  readonly statementsMax: number;
  /** How long a statement's place stays taken behind its end, so that a flood has few statements of many questions. */
  readonly pauseMs?: number;
};

/**
 * Questions to a store of which a statement for one costs nearly as much as one for a hundred: those that are asked in the same turn, or
 * while all statements are under way, share the next one. Callers bound how many wait.
 */
export class SharedStatements<Asked, Answer> {
  readonly #options: SharedStatementsOptions<Asked, Answer>;
  #waiting: Waiting<Asked, Answer>[] = [];
  #underWay = 0;
  #isTaking = false;

  constructor(options: SharedStatementsOptions<Asked, Answer>) {
    this.#options = options;
  }

  ask(asked: Asked): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ asked, resolve, reject });
      this.#takeSoon();
    });
  }

  #takeSoon(): void {
    if (this.#isTaking || this.#underWay >= this.#options.statementsMax) return;
    this.#isTaking = true;
    setImmediate(() => {
      this.#isTaking = false;
      const together = this.#waiting.splice(0, this.#options.togetherMax);
      if (together.length === 0) return;
      this.#underWay += 1;
      void this.#readAndPause(together).finally(() => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#takeSoon();
      });
      if (this.#waiting.length > 0) this.#takeSoon();
    });
  }

  async #readAndPause(together: readonly Waiting<Asked, Answer>[]): Promise<void> {
    await this.#read(together);
    const { pauseMs = 0 } = this.#options;
    if (pauseMs > 0) await pause(pauseMs, undefined, { ref: false });
  }

  /** Never throws: what goes wrong goes to those who wait. */
  async #read(together: readonly Waiting<Asked, Answer>[]): Promise<void> {
    try {
      const answers = await this.#options.read(together.map(({ asked }) => asked));
      for (const [index, { resolve, reject }] of together.entries()) {
        const answer = answers[index];
        if (answer === undefined) reject(new Error("a question got no answer"));
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of together) reject(error);
    }
  }
}
