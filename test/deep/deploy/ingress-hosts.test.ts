import { rm } from "node:fs/promises";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { IS_FULL } from "../../promises/report-cases.ts";
import { forThisFile } from "../../services/for-this-file.ts";
import { ClickLoad, loadDifferences } from "../../system/click-load.ts";
import { ConversionLoad } from "../../system/conversion-load.ts";
import { HostNetwork } from "../../system/host-network.ts";
import { IngressMachine } from "../../system/ingress-machine.ts";
import { serversOf } from "../../system/servers-of.ts";
import { ServiceClient } from "../../system/service.ts";
import { type System, startSystem } from "../../system/start-system.ts";
import { storedClicks } from "../../system/stored-clicks.ts";
import { TcpGate } from "../../system/tcp-gate.ts";
import { trackerCommand } from "../../system/tracker-command.ts";
import { until } from "../../system/until.ts";

vi.setConfig({ testTimeout: 240_000 });

const NOTICE_MS = 2_000;
const CLICKS = IS_FULL ? 200 : 50;
const CONVERSIONS = 20;
/** Clicks a second of each load. The loads send throughout, also while the test waits. */
const PER_SECOND = IS_FULL ? 100 : 20;
const PATIENCE = { timeoutMs: 120_000, pollMs: 100 };
/** For conditions that read every click. */
const STORED = { ...PATIENCE, pollMs: 500 };
/** For a condition that runs a command: a process that loads the whole program. */
const COMMAND = { ...PATIENCE, pollMs: 2_000 };
const Made = z.object({ data: z.object({ id: z.int(), code: z.string() }) });
const Producers = z.array(z.looseObject({ id: z.int(), state: z.string() }));

const fault = await HostNetwork.fault();
if (fault !== undefined) process.stderr.write(`skipped: ingress on two hosts: ${fault}\n`);

/** A service whose visitors and advertisers come to two hosts, each with its own address, disk and ingress. */
class TwoHosts {
  readonly system: System;
  readonly kept: IngressMachine;
  readonly lost: IngressMachine;
  readonly network: HostNetwork;
  readonly #gates: readonly TcpGate[];

  private constructor(parts: {
    system: System;
    kept: IngressMachine;
    lost: IngressMachine;
    network: HostNetwork;
    gates: readonly TcpGate[];
  }) {
    this.system = parts.system;
    this.kept = parts.kept;
    this.lost = parts.lost;
    this.network = parts.network;
    this.#gates = parts.gates;
  }

  static async open(): Promise<TwoHosts> {
    const network = await HostNetwork.open(2);
    const system = await startSystem();
    const own = await serversOf(system);
    const [postgres, nats] = await Promise.all([
      TcpGate.open(own.postgres, network.gateway),
      TcpGate.open(own.nats, network.gateway),
    ]);
    const urls = {
      postgres: postgres.urlOf(own.postgres),
      nats: nats.urlOf(own.nats),
      clickhouse: own.clickhouse,
    };
    const [one, other] = network.hosts;
    if (one === undefined || other === undefined) throw new Error("two hosts were made");
    const kept = await IngressMachine.open("kept", urls, { host: one });
    const lost = await IngressMachine.open("lost", urls, { host: other });
    await Promise.all([kept.start(), lost.start()]);
    return new TwoHosts({ system, kept, lost, network, gates: [postgres, nats] });
  }

  /** A client whose links and postbacks have the address of this machine. */
  clientAt(machine: IngressMachine): ServiceClient {
    const { demo } = this.system.client;
    const tracking = new URL(machine.linkTo(demo.tracking_url)).origin;
    return new ServiceClient({ ...demo, tracking_url: tracking });
  }

  loadAt(machine: IngressMachine): ClickLoad {
    const link = this.system.client.demo.links.affiliate.replace(/\?.*/, "");
    return new ClickLoad(machine.linkTo(link));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([this.kept[Symbol.asyncDispose](), this.lost[Symbol.asyncDispose]()]);
    await this.system[Symbol.asyncDispose]();
    await Promise.all(this.#gates.map((gate) => gate.shut()));
    await this.network[Symbol.asyncDispose]();
  }
}

/** The second test loses one of them for good. */
const hosts = fault === undefined ? await forThisFile(TwoHosts.open()) : undefined;

test.skipIf(hosts === undefined)(
  "a cap that is reached and a visitor who is taken on one host are known on the other within 2 s",
  async () => {
    if (hosts === undefined) return;
    const { client } = hosts.system;
    const [here, there] = [hosts.clientAt(hosts.kept), hosts.clientAt(hosts.lost)];
    const offer = async (name: string, more: object): Promise<{ id: number; code: string }> =>
      Made.parse(
        await client.create("/offers", {
          name,
          advertiser_id: 1,
          destination_url: `https://${name}.example/?c={click_id}`,
          fallback_url: "https://fallback.example/",
          payout: "1",
          ...more,
        }),
      ).data;
    const goal = async (at: ServiceClient, code: string, visitor: string): Promise<string> => {
      const link = `${at.demo.tracking_url}/r/${code}/DEMOANNA`;
      const answer = await at.attempt(link, { "user-agent": `Mozilla/5.0 ${visitor} Firefox/140` });
      return String(answer.headers["location"] ?? answer.status);
    };
    const capped = await offer("capped", { caps: { conversions: { total: 1 } } });
    const once = await offer("once", {});
    await client.send("PATCH", `/offers/${once.id}/settings`, { duplicate_click_seconds: 3_600 });
    for (const at of [here, there]) {
      for (const { code } of [capped, once]) {
        // A new offer is known on every host within a second.
        await until(
          "the offer is known",
          async () => (await goal(at, code, `knows ${at.demo.tracking_url} `)) !== "404",
          PATIENCE,
        );
      }
    }

    const clicked = await goal(here, capped.code, "buyer");
    const click = new URL(clicked).searchParams.get("c") ?? "";
    const report = `${here.demo.tracking_url}/pb?token=${here.demo.postback_token}&click_id=${click}`;
    await until(
      "the report is approved",
      async () => (await here.attempt(report)).body.includes('"status":"approved"'),
      PATIENCE,
    );
    const approvedMs = Date.now();
    await until(
      "the other host sends visitors elsewhere",
      async () => (await goal(there, capped.code, "late")).startsWith("https://fallback.example/"),
      PATIENCE,
    );
    expect(Date.now() - approvedMs).toBeLessThan(NOTICE_MS);

    expect(await goal(here, once.code, "same person")).toContain("https://once.example/");
    const takenMs = Date.now();
    // Every answer that is no refusal is a new click, so this asks once in a while.
    await until(
      "the other host turns the visitor away",
      async () =>
        (await goal(there, once.code, "same person")).startsWith("https://fallback.example/"),
      { timeoutMs: NOTICE_MS * 2, pollMs: NOTICE_MS / 4 },
    );
    expect(Date.now() - takenMs).toBeLessThan(NOTICE_MS);
    await Promise.all([here.close(), there.close()]);
  },
);

test.skipIf(hosts === undefined)(
  "a host that is lost, with and without its disk, costs the other no click and no report",
  async () => {
    if (hosts === undefined) return;
    const { kept, lost, system } = hosts;
    const { clickhouse } = await serversOf(system);
    const [steady, gone] = [hosts.loadAt(kept), hosts.loadAt(lost)];
    const here = hosts.clientAt(kept);
    // Clicks of the host that will be lost are reported at the other host.
    const reports = [new ConversionLoad(here, steady), new ConversionLoad(here, gone)] as const;
    steady.start(2, PER_SECOND);
    gone.start(2, PER_SECOND);
    for (const one of reports) one.start();
    const grow = async (load: ClickLoad, reported: ConversionLoad): Promise<void> => {
      const [clicks, conversions] = [load.answered.size, reported.answered.size];
      await until(
        "clicks and reports are answered",
        () =>
          load.answered.size >= clicks + CLICKS &&
          reported.answered.size >= conversions + CONVERSIONS,
        PATIENCE,
      );
    };
    await Promise.all([grow(steady, reports[0]), grow(gone, reports[1])]);

    // The cable first, so that its last clicks are on its disk only.
    await hosts.network.hosts[1]?.unplug();
    await lost.kill();
    await gone.stop();
    await grow(steady, reports[0]);
    expect(reports[1].refused).toEqual([]);
    await hosts.network.hosts[1]?.plugIn();
    await lost.start();
    await until(
      "every click that the lost host answered is stored once",
      async () => loadDifferences(gone, await storedClicks(clickhouse, gone.run)).length === 0,
      STORED,
    );
    await until(
      "the reports about them are answered",
      () => reports[1].answered.size >= gone.answered.size,
      PATIENCE,
    );

    await lost.kill();
    await rm(lost.dataDir, { recursive: true });
    await grow(steady, reports[0]);
    const id = await until(
      "its journal is known to be silent",
      async () => silentProducer(system),
      COMMAND,
    );
    const given = await trackerCommand(system.dataDir, ["producer", "give-up", String(id)]);
    expect(given.output).toMatch(/may be missing/);
    await grow(steady, reports[0]);
    for (const one of reports) await one.stop();
    await steady.stop();

    expect([steady.refused, steady.unanswered.size]).toEqual([0, 0]);
    for (const { refused, repeatedIds } of reports)
      expect([refused, repeatedIds]).toEqual([[], []]);
    await until(
      "every click is stored once",
      async () =>
        loadDifferences(steady, await storedClicks(clickhouse, steady.run)).length === 0 &&
        loadDifferences(gone, await storedClicks(clickhouse, gone.run)).length === 0,
      STORED,
    );
  },
);

/** The number of a journal that no process has spoken for lately. */
async function silentProducer({ dataDir }: System): Promise<number | undefined> {
  const { output } = await trackerCommand(dataDir, ["producer", "list", "--json"]);
  return Producers.parse(JSON.parse(output)).find(({ state }) => state === "silent")?.id;
}
