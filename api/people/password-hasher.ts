import { hash, verify } from "@node-rs/argon2";
import { unavailable } from "../operation/errors.ts";

/** Argon2id with the minimum of OWASP: 19 MiB, two rounds, one lane. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const COST_TEXT = `$m=${COST.memoryCost},t=${COST.timeCost},p=${COST.parallelism}$`;
/** A hash that takes as long as a person's. Its password proves nothing. */
const NOBODYS =
  "$argon2id$v=19$m=19456,t=2,p=1$p7e82EVKpgR2l4qutWMfmg$TU7R907rIntMRTTSy/pAQsVE8d/rrBANmlUJpmiXygY";

const RUNNING_MAX = 2;
const WAITING_MAX = 32;

/**
 * Hashes passwords, two at a time: each takes a thread of libuv, which files and look-ups of names need too. Others wait in order; when
 * too many wait, the next is refused, so a flood of sign-ins delays nothing else.
 */
export class PasswordHasher {
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  /** In PHC form. @throws {ApiError} `unavailable` if too many wait. */
  async hash(password: string): Promise<string> {
    return await this.#inTurn(async () => await hash(password.normalize("NFKC"), COST));
  }

  /** `stored` undefined: takes as long, and is false. @throws {ApiError} `unavailable` if too many wait. */
  async verify(stored: string | null | undefined, password: string): Promise<boolean> {
    const matches = await this.#inTurn(
      async () => await verify(stored ?? NOBODYS, password.normalize("NFKC")),
    );
    return matches && typeof stored === "string";
  }

  /** Whether the hash was made at another cost, so that it is made again at the next sign-in. */
  isOutdated(stored: string): boolean {
    return !stored.includes(COST_TEXT);
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= RUNNING_MAX) {
      if (this.#waiting.length >= WAITING_MAX) throw unavailable("sign-in");
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else {
      this.#running += 1;
    }
    try {
      return await work();
    } finally {
      // The next one takes this place.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
