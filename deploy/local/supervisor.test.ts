import { expect, test } from "vitest";
import type { Child, ChildExit } from "./child.ts";
import type { Report } from "./report.ts";
import { RestartWaits } from "./restart-waits.ts";
import type { Service } from "./supervisor.ts";
import { Supervisor } from "./supervisor.ts";

test("the wait before a restart doubles from 0.2 s to 10 s, and is short after a sound run", () => {
  const waits = new RestartWaits();
  const delays = [0, 29_999, 0, 0, 0, 0, 0, 0].map((ranMs) => waits.next(ranMs));
  expect(delays).toEqual([200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect([waits.next(30_000), waits.next(0), waits.failures]).toEqual([200, 400, 2]);
  waits.reset();
  expect(waits.next(0)).toBe(200);
});

test("a service that ends is said so and started again, and another one goes on", async () => {
  const lines: string[] = [];
  const dying = new CountedService("dying");
  const other = new CountedService("other");
  const supervisor = new Supervisor(collect(lines));
  await supervisor.add([dying, other]);
  dying.children[0]?.end({ code: 3, signal: null });
  await dying.startedTimes(2);
  await supervisor.stop();
  expect(lines[0]).toBe("dying: ended with code 3; it is started again in 0.2 s");
  expect(other.children).toHaveLength(1);
  expect([...dying.children, ...other.children].every((child) => child.hasEnded)).toBe(true);
});

test("the groups are stopped one after another, the last added first", async () => {
  const order: string[] = [];
  const supervisor = new Supervisor(collect([]));
  await supervisor.add([new CountedService("servers", order)]);
  await supervisor.add([new CountedService("api", order)]);
  await supervisor.add([new CountedService("ingress", order)]);
  await supervisor.stop();
  expect(order).toEqual(["ingress", "api", "servers"]);
});

test("a service that cannot start is not tried again: its fault goes to the launcher", async () => {
  const supervisor = new Supervisor(collect([]));
  const broken: Service = { name: "broken", start: () => Promise.reject(new Error("no disk")) };
  const sound = new CountedService("sound");
  await expect(supervisor.add([sound, broken])).rejects.toThrow("no disk");
  await supervisor.stop();
  expect(sound.children[0]?.hasEnded).toBe(true);
});

test("a stop cuts short what is still starting, and does not restart what ends meanwhile", async () => {
  const supervisor = new Supervisor(collect([]));
  const slow: Service = {
    name: "slow",
    start: (signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("cut short")), { once: true });
      }),
  };
  const quick = new CountedService("quick");
  const added = supervisor.add([slow, quick]).catch(String);
  await quick.startedTimes(1);
  await supervisor.stop();
  expect(await added).toBe("Error: cut short");
  expect(quick.children).toHaveLength(1);
});

class FakeChild implements Child {
  readonly pid = 1;
  readonly exited: Promise<ChildExit>;
  hasEnded = false;
  readonly #onStop: () => void;
  #settle: (exit: ChildExit) => void = () => undefined;

  constructor(onStop: () => void) {
    this.#onStop = onStop;
    this.exited = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  end(exit: ChildExit): void {
    this.hasEnded = true;
    this.#settle(exit);
  }

  async stop(): Promise<void> {
    this.#onStop();
    this.end({ code: 0, signal: null });
  }
}

class CountedService implements Service {
  readonly name: string;
  readonly children: FakeChild[] = [];
  readonly #order: string[];
  #onStart: () => void = () => undefined;

  constructor(name: string, order: string[] = []) {
    this.name = name;
    this.#order = order;
  }

  async start(): Promise<Child> {
    const child = new FakeChild(() => this.#order.push(this.name));
    this.children.push(child);
    this.#onStart();
    return child;
  }

  async startedTimes(times: number): Promise<void> {
    while (this.children.length < times) {
      await new Promise<void>((resolve) => {
        this.#onStart = resolve;
      });
    }
  }
}

function collect(lines: string[]): Report {
  const add = (part: string, text: string): void => void lines.push(`${part}: ${text}`);
  return { note: add, warn: add };
}
