import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { streamOfLane } from "../../../../schemas/nats/lane-groups.ts";
import { ensureStreams } from "../../../../schemas/nats/streams.ts";
import { TrackingWorld } from "../../../integration/conversions/tracking-world.ts";
import { metricAt } from "../../../services/metric-at.ts";
import { untilCurrent } from "../../../services/until-current.ts";
import { ChildServer } from "../../../system/child-server.ts";
import { ingressProgram } from "../../../system/service-program.ts";
import { freePort } from "../../../system/start-system.ts";
import { TcpGate } from "../../../system/tcp-gate.ts";
import { until } from "../../../system/until.ts";
import { WriterProcess } from "../clicks/writer-process.ts";

export type Ingress = "a" | "b";
export const BOTH: readonly Ingress[] = ["a", "b"];

/** What a visitor got. */
export type Answer = {
  readonly status: number;
  readonly location: string;
  readonly clickId: string;
};

/** A click as it is stored. */
export type StoredClick = {
  readonly click_id: string;
  readonly ts: number;
  readonly status: string;
  readonly status_reason: string;
  readonly offer_id: number;
  readonly is_unique: boolean;
  readonly producer: number;
};

type Running = {
  server: ChildServer;
  readonly port: number;
  readonly opsPort: number;
  readonly gate: TcpGate;
};

const Reported = z.object({ status: z.string().optional(), error: z.string().optional() });

const FALLBACK = "https://fallback.example/";
const SOCKETS_MAX = 64;

/**
 * Two ingress processes, each on a port of its own and with a door of its own to NATS, and one process with the click writers
 * and conversion processors (`npm run build` first), on databases of their own.
 */
export class TwoIngressWorld {
  readonly store: TrackingWorld;
  readonly #folder: string;
  readonly #running = new Map<Ingress, Running>();
  readonly #agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });
  /** Clicks that were answered, by the code of their offer. */
  readonly #answered = new Map<string, number>();
  #processors: WriterProcess | undefined;
  #processorsOpsPort = 0;

  private constructor(store: TrackingWorld, folder: string) {
    this.store = store;
    this.#folder = folder;
  }

  static async open(): Promise<TwoIngressWorld> {
    const store = await TrackingWorld.open({ lanes: 0 });
    await ensureStreams(store.nats);
    const world = new TwoIngressWorld(store, await mkdtemp(join(tmpdir(), "two-ingress-")));
    await world.startProcessors();
    for (const which of BOTH) {
      const gate = await TcpGate.open(store.env.NATS_URL);
      const place = { port: await freePort(), opsPort: await freePort(), gate };
      const server = await world.#startIngress(which, place);
      world.#running.set(which, { ...place, server });
    }
    return world;
  }

  async startProcessors(): Promise<void> {
    this.#processorsOpsPort = await freePort();
    this.#processors = WriterProcess.start({
      ...this.store.env,
      DATA_DIR: join(this.#folder, "processors"),
      PROCESSOR_NAME: "the-one",
      OPS_PORT: String(this.#processorsOpsPort),
      ROLES: "clicks,conversions",
    });
    await this.#processors.untilOpen();
  }

  async killProcessors(): Promise<void> {
    await this.#processors?.kill();
  }

  /** Ends an ingress and starts it again on the same port and journal. */
  async restartIngress(which: Ingress): Promise<void> {
    const running = this.#of(which);
    await running.server.end();
    running.server = await this.#startIngress(which, running);
  }

  /** kill -9 of an ingress, which then starts again on the same port and journal. */
  async killIngress(which: Ingress): Promise<void> {
    await this.#kill(which, async () => {});
  }

  /** kill -9 of an ingress, which then starts again on the same port, without its journal and all else that it had kept. */
  async killAndForget(which: Ingress): Promise<void> {
    const journal = join(this.#folder, `ingress-${which}`, "journal");
    await this.#kill(which, async () => await rm(journal, { recursive: true }));
  }

  /** The clicks of a cap by the file that an ingress keeps of its totals; 0 when it has none. */
  async keptClicks(which: Ingress, cap: string): Promise<number> {
    const journal = join(this.#folder, `ingress-${which}`, "journal");
    let clicks = 0;
    for (const producer of await readdir(journal)) {
      const path = join(journal, producer, "click-state.ndjson");
      const kept = await readFile(path, "utf8").catch(() => "");
      const of = new RegExp(`"cap":"${cap}","bucket":-?\\d+,"clicks":(\\d+)`).exec(kept);
      clicks = Math.max(clicks, Number(of?.[1] ?? 0));
    }
    return clicks;
  }

  /** The door between an ingress and NATS. */
  gate(which: Ingress): TcpGate {
    return this.#of(which).gate;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    for (const { server, gate } of this.#running.values()) {
      await server.end();
      await gate.shut();
    }
    await this.#processors?.kill("SIGTERM");
    const manager = await this.store.nats.manager();
    await manager.streams.delete(streamOfLane(this.store.nats, 0));
    await this.store.close();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** An offer whose refused clicks go to {@link FALLBACK}, known to all processes when this answers. */
  async addOffer(code: string, columns: Readonly<Record<string, unknown>> = {}): Promise<number> {
    const [id = 0] = await this.addOffers([code], columns);
    return id;
  }

  async addOffers(
    codes: readonly string[],
    columns: Readonly<Record<string, unknown>> = {},
  ): Promise<number[]> {
    const ids = await Promise.all(
      codes.map((code) => this.store.addOffer({ code, fallback_url: FALLBACK, ...columns })),
    );
    await this.untilCurrent();
    return ids;
  }

  /** Changes a row of the catalog; in force in all processes when this answers. */
  async change(text: string, values: readonly unknown[]): Promise<void> {
    await this.store.change(text, values);
    await this.untilCurrent();
  }

  async untilCurrent(): Promise<void> {
    const ports = BOTH.map((which) => this.#of(which).opsPort);
    if (this.#processors?.isRunning === true) ports.push(this.#processorsOpsPort);
    await untilCurrent(this.store, ports);
  }

  async click(which: Ingress, code: string, visitor = 1): Promise<Answer> {
    const { port } = this.#of(which);
    const address = `198.51.${(visitor >> 8) & 255}.${visitor & 255}`;
    const headers = { "user-agent": "Mozilla/5.0 Firefox/131.0", "x-forwarded-for": address };
    const path = `/r/${code}/PARTNR`;
    return await new Promise((resolve, reject) => {
      const sent = request(
        { port, path, headers, host: "127.0.0.1", agent: this.#agent },
        (answer) => {
          answer.resume().once("end", () => {
            this.#answered.set(code, (this.#answered.get(code) ?? 0) + 1);
            const cookie = answer.headers["set-cookie"]?.join() ?? "";
            resolve({
              status: answer.statusCode ?? 0,
              location: answer.headers.location ?? "",
              clickId: /trk_cid=([0-9a-f]{32})/.exec(cookie)?.[1] ?? "",
            });
          });
        },
      );
      sent.once("error", reject).end();
    });
  }

  /** Whether the click was sent on to the offer. */
  async passes(which: Ingress, code: string, visitor = 1): Promise<boolean> {
    const { status, location } = await this.click(which, code, visitor);
    if (status !== 302) throw new Error(`HTTP ${status}`);
    return location !== FALLBACK;
  }

  /** `/pb` with the workspace's token; its answer's status. */
  async report(which: Ingress, clickId: string): Promise<string> {
    const query = `token=ws-token&click_id=${clickId}`;
    const answer = await fetch(`http://127.0.0.1:${this.#of(which).port}/pb?${query}`);
    const { status, error } = Reported.parse(await answer.json());
    return `${answer.status} ${status ?? error ?? ""}`;
  }

  async metric(which: Ingress, name: string): Promise<number> {
    return await metricAt(this.#of(which).opsPort, name);
  }

  /** Every click on an offer that was answered, in the order of their time, as soon as all of them are stored. */
  async stored(code: string): Promise<StoredClick[]> {
    const offer = this.store.catalog.offersByCode(code)[0];
    const count = this.#answered.get(code) ?? 0;
    return await until(
      `${count} clicks on ${code} are stored`,
      async () => {
        const rows = await this.store.facts<StoredClick>(
          `select lower(hex(click_id)) as click_id, toUnixTimestamp64Milli(ts) as ts, status,
              status_reason, offer_id, is_unique, _producer as producer
            from click where offer_id = {offerId: UInt32} order by click.ts, click.click_id`,
          { offerId: offer?.id ?? 0 },
        );
        return rows.length >= count ? rows : undefined;
      },
      { pollMs: 50 },
    );
  }

  #of(which: Ingress): Running {
    const running = this.#running.get(which);
    if (running === undefined) throw new Error(`ingress ${which} does not run`);
    return running;
  }

  async #kill(which: Ingress, whileDown: () => Promise<void>): Promise<void> {
    const running = this.#of(which);
    await running.server.end("SIGKILL");
    await whileDown();
    running.server = await this.#startIngress(which, running);
  }

  async #startIngress(
    which: Ingress,
    { port, opsPort, gate }: Pick<Running, "port" | "opsPort" | "gate">,
  ): Promise<ChildServer> {
    return await ChildServer.start(await ingressProgram(), `http://127.0.0.1:${port}/health`, {
      ...this.store.env,
      NATS_URL: gate.urlOf(this.store.env.NATS_URL),
      DATA_DIR: join(this.#folder, `ingress-${which}`),
      TRACKING_PORT: String(port),
      OPS_PORT: String(opsPort),
      TRUSTED_PROXIES: "127.0.0.1/32",
      LOG_LEVEL: "warn",
    });
  }
}
