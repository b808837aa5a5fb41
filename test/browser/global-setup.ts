import { createServer } from "node:http";
import type { TestProject } from "vitest/node";
import { type System, startSystem } from "../system/start-system.ts";
import { type Cookies, signInRoles } from "./console/sign-in-roles.ts";
import { seedShop } from "./shop-seed.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Serves the demo.json of a running service, the same one for all files of the run, and at `people` the cookies of its people. */
    landingServiceUrl: string;
  }
}

/**
 * One service for all files of the project, because starting it takes longer than most of them. It starts on the first file's
 * request, so that it uses no processor time before.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<System> | undefined;
  let signedIn: Promise<Cookies> | undefined;
  const door = createServer((request, response) => {
    started ??= startShop();
    const answer =
      request.url === "/people"
        ? (signedIn ??= started.then(signInRoles))
        : started.then(({ client }) => client.demo);
    answer.then(
      (content) => response.end(JSON.stringify(content)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve, reject) => {
    door.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  const address = door.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  project.provide("landingServiceUrl", `http://127.0.0.1:${port}/`);
  return async () => {
    door.close();
    door.closeAllConnections();
    // A failed start was answered with 500 and has cleaned up after itself.
    const system = await started?.catch(() => undefined);
    await system?.[Symbol.asyncDispose]();
  };
}

async function startShop(): Promise<System> {
  const system = await startSystem();
  try {
    await seedShop(system);
    return system;
  } catch (error) {
    await system[Symbol.asyncDispose]();
    throw error;
  }
}
