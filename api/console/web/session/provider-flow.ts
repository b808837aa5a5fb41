import { type Api, read } from "../client/api-client.ts";

/** What this tab has begun with the identity provider, kept while the provider's pages are open. */
type Begun = {
  readonly flow: string;
  readonly connects: boolean;
  /** Token of the one-time link that was opened. */
  readonly token?: string | undefined;
  /** Path below /console to go on with. */
  readonly back: string;
};

export type Wanted = Pick<Begun, "connects" | "token" | "back">;

const KEY = "provider-flow";

/** This page, to come back to. */
export function pathBelowConsole(): string {
  return `${location.pathname.replace(/^\/console/, "")}${location.search}`;
}

/** Opens the page of the provider in this tab. */
export async function goToProvider(api: Api, wanted: Wanted): Promise<void> {
  const path = wanted.connects ? "/person/oidc/options" : "/sign-in/oidc/options";
  const { data } = await read(api.POST(path));
  const begun: Begun = { ...wanted, flow: data.flow_id };
  sessionStorage.setItem(KEY, JSON.stringify(begun));
  location.assign(data.url);
}

/** Finishes what this tab has begun, once. Returns the path to go on with. */
export async function finishAtReturn(api: Api, query: string): Promise<string> {
  const begun = begunIn(sessionStorage.getItem(KEY));
  sessionStorage.removeItem(KEY);
  if (begun === undefined) throw new Error("This tab has begun no sign-in: begin again.");
  const { flow, connects, token, back } = begun;
  const body = { flow_id: flow, query };
  if (connects) await read(api.POST("/person/oidc", { body }));
  else await read(api.POST("/sign-in/oidc", { body: token ? { ...body, token } : body }));
  return back;
}

function begunIn(text: string | null): Begun | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, for this tab
  return text === null ? undefined : (JSON.parse(text) as Begun);
}
