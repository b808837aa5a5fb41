import { once } from "node:events";
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/**
 * Where an insert is frozen. `before`: nothing of it has reached ClickHouse. `inside`: ClickHouse has begun to execute it and waits for the
 * rest of its rows. `after`: it is committed, and its answer is lost.
 */
export type FrozenAt = "before" | "inside" | "after";

/** A statement of a writer. */
export type Statement = {
  readonly text: string;
  /** The lane of an insert; undefined for other statements. */
  readonly lane: number | undefined;
};

/** An insert that goes on although nobody waits for it any longer. */
export type Zombie = {
  readonly at: FrozenAt;
  readonly lane: number;
  /** Lets it go on. Resolves with the status of ClickHouse's answer; 0 if ClickHouse no longer waited for the rest. */
  release(): Promise<number>;
};

/**
 * A proxy between click writers and ClickHouse that can freeze inserts. By default it also answers inserts into `lane_fence` and `kill query`
 * with success without passing them on. So ClickHouse knows no epoch, refuses no insert and ends none.
 */
export class InsertProxy {
  readonly #server: Server;
  readonly #target: URL;
  /** Asked for every insert of a lane; undefined lets it pass. */
  freeze: (statement: Statement) => FrozenAt | undefined = () => undefined;
  /** Called before a statement is passed on. */
  onStatement: (statement: Statement) => Promise<void> | void = () => undefined;
  /** Frozen inserts that were not released. */
  readonly zombies: Zombie[] = [];
  hidesFence = true;
  /** Answers `system sync replica` with success, as a replica does that has everything. Engines without Keeper refuse it. */
  servesSync = false;
  /** Breaks every connection. */
  isAway = false;
  /** How many inserts were frozen, including the ones released since. */
  frozen = 0;
  /** Fences and kills that ClickHouse did not get. */
  hidden = 0;

  private constructor(target: URL) {
    this.#target = target;
    this.#server = createServer((asked, answer) => {
      this.#serve(asked, answer).catch((error: unknown) => {
        answer.destroy(error instanceof Error ? error : new Error(String(error)));
      });
    });
  }

  /** Listens on the host of ClickHouse, by default on any free port. */
  static async open(clickhouseUrl: string, port = 0): Promise<InsertProxy> {
    const proxy = new InsertProxy(new URL(clickhouseUrl));
    proxy.#server.listen(port, proxy.#target.hostname);
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** The URL of ClickHouse through this proxy. */
  get url(): string {
    const url = new URL(this.#target);
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy is closed");
    url.port = String((address satisfies AddressInfo).port);
    return url.toString();
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  /** Releases the frozen inserts for which `holds`, by default all. Returns the statuses of ClickHouse's answers. */
  async release(holds: (zombie: Zombie) => boolean = () => true): Promise<number[]> {
    const released = this.zombies.filter(holds);
    for (const zombie of released) this.zombies.splice(this.zombies.indexOf(zombie), 1);
    return await Promise.all(released.map(async (zombie) => await zombie.release()));
  }

  async #serve(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    if (this.isAway) {
      asked.destroy();
      return;
    }
    const body = await buffer(asked);
    const params = new URL(asked.url ?? "", this.#target).searchParams;
    const text = params.get("query") ?? body.toString();
    const lane = /^lane-insert:[^:]*:(\d+):/.exec(params.get("query_id") ?? "")?.[1];
    const statement = { text, lane: lane === undefined ? undefined : Number(lane) };
    if (this.#answersItself(text)) {
      answer.end();
      return;
    }
    await this.onStatement(statement);
    const at = statement.lane === undefined ? undefined : this.freeze(statement);
    if (at === undefined) {
      const { status, headers, bytes } = await answerOf(this.#send(asked), body);
      delete headers["transfer-encoding"];
      answer.writeHead(status, headers).end(bytes);
      return;
    }
    await this.#freeze(asked, body, { at, lane: statement.lane ?? 0 });
  }

  #answersItself(text: string): boolean {
    if (this.servesSync && /^\s*system sync replica\b/i.test(text)) return true;
    const isHidden = this.hidesFence && /^\s*(?:insert into lane_fence|kill query)\b/i.test(text);
    if (isHidden) this.hidden += 1;
    return isHidden;
  }

  /** The client gets no answer. */
  async #freeze(
    asked: IncomingMessage,
    body: Buffer,
    { at, lane }: { readonly at: FrozenAt; readonly lane: number },
  ): Promise<void> {
    const add = (release: Zombie["release"]): void => {
      this.frozen += 1;
      this.zombies.push({ at, lane, release });
    };
    if (at === "before") {
      add(async () => (await answerOf(this.#send(asked), body)).status);
      return;
    }
    const sent = this.#send(asked);
    if (at === "inside") {
      // Without its last bytes, so that ClickHouse waits for them.
      const kept = Math.max(0, body.length - 10);
      sent.setHeader("content-length", body.length);
      sent.write(body.subarray(0, kept));
      let isWaiting = true;
      sent.once("close", () => {
        isWaiting = false;
      });
      add(async () => (isWaiting ? (await answerOf(sent, body.subarray(kept))).status : 0));
      return;
    }
    const { status } = await answerOf(sent, body);
    add(() => Promise.resolve(status));
  }

  #send(asked: IncomingMessage): ClientRequest {
    const headers = { ...asked.headers };
    delete headers["transfer-encoding"];
    delete headers["connection"];
    const sent = request({
      host: this.#target.hostname,
      port: this.#target.port,
      method: asked.method,
      path: asked.url,
      headers,
    });
    // An error is reported by `answerOf`; a request that nobody releases may fail alone.
    sent.on("error", () => undefined);
    return sent;
  }
}

async function answerOf(
  sent: ClientRequest,
  rest: Buffer,
): Promise<{ status: number; headers: IncomingMessage["headers"]; bytes: Buffer }> {
  const answered = once(sent, "response");
  sent.end(rest);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the only argument of `response`
  const [answer] = (await answered) as [IncomingMessage];
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    bytes: await buffer(answer),
  };
}
