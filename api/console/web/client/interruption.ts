/** What the person has to do before a request counts: sign in, because the session has ended, or prove a factor again. */
export type Step = "sign-in" | "prove";

type Question = {
  readonly step: Step;
  readonly answer: Promise<boolean>;
  readonly finish: (isDone: boolean) => void;
};

/**
 * Stops requests until the person has done something, so that the page and everything typed in it stay. All requests that are refused
 * meanwhile wait for the same answer.
 */
export class Interruption {
  #question: Question | undefined;
  readonly #listeners = new Set<() => void>();

  get step(): Step | undefined {
    return this.#question?.step;
  }

  /** Whether the person has done it, so that the request may be sent again. False if no screen is open that could ask. */
  async ask(step: Step): Promise<boolean> {
    if (this.#listeners.size === 0) return false;
    if (this.#question === undefined) {
      const { promise: answer, resolve: finish } = promiseWithEnd();
      this.#question = { step, answer, finish };
      this.#tell();
    }
    const { step: asked, answer } = this.#question;
    const isDone = await answer;
    // A sign-in also proves a factor, but not the other way round.
    return isDone && (asked === step || asked === "sign-in" || (await this.ask(step)));
  }

  finish(isDone: boolean): void {
    const question = this.#question;
    this.#question = undefined;
    this.#tell();
    question?.finish(isDone);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.finish(false);
    };
  };

  readonly read = (): Step | undefined => this.step;

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

function promiseWithEnd(): { promise: Promise<boolean>; resolve: (isDone: boolean) => void } {
  let resolve: (isDone: boolean) => void = () => undefined;
  const promise = new Promise<boolean>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** What a refused request needs. A wrong password or code says nothing about the session. */
export async function stepNeededBy(
  request: Request,
  response: Response,
): Promise<Step | undefined> {
  if (new URL(request.url).pathname.includes("/sign-in")) return undefined;
  if (response.status === 401) return "sign-in";
  if (response.status !== 403) return undefined;
  return (await response.clone().text()).includes('"fresh_sign_in_required"') ? "prove" : undefined;
}
