import createClient, { type Client, type Middleware } from "openapi-fetch";
import type { paths } from "../../../../.build/console/openapi.ts";
import { type Interruption, stepNeededBy } from "./interruption.ts";
import { Problem, problemFrom, unreachable } from "./problem.ts";

export type Api = Client<paths>;

/** What one tab knows about who asks. Every request carries the membership, so two tabs never mix two workspaces. */
export type Caller = {
  /** 0 before a membership is chosen. */
  readonly membershipId: number;
  /** Called when an answer shows that role, permissions or session have changed. */
  readonly onChanged: () => void;
  /** Asks the person for what a refused request needs. */
  readonly interruption: Interruption;
};

const MEMBERSHIP = "x-tracker-membership";
const VERSION = "x-tracker-membership-version";

/** A list in a query is one parameter with commas: of a repeated one, the API takes the first value. */
const LISTS = { array: { style: "form", explode: false } } as const;

/** A client of the REST API for one membership. */
export function openApi({ membershipId, onChanged, interruption }: Caller): Api {
  const api = createClient<paths>({
    baseUrl: "/api/v1",
    credentials: "same-origin",
    querySerializer: LISTS,
    fetch: async (request) => await fetchInterrupted(request, interruption),
  });
  api.use(identified(membershipId), watched(onChanged));
  return api;
}

/** A refused request has changed nothing, so it may be sent again after the person has done what it needs. */
async function fetchInterrupted(request: Request, interruption: Interruption): Promise<Response> {
  // It is sent while the page goes: nobody can be asked, and a copied body could not outlive the page.
  if (request.keepalive) return await fetch(request);
  const again = request.clone();
  const response = await fetch(request);
  const step = await stepNeededBy(request, response);
  if (step === undefined || !(await interruption.ask(step))) return response;
  return await fetch(again);
}

function identified(membershipId: number): Middleware {
  return {
    onRequest: ({ request }) => {
      request.headers.set(MEMBERSHIP, String(membershipId));
      return request;
    },
    onError: () => unreachable(),
  };
}

/** A changed role counts at the next answer: what was read before may no longer be seen (P41). */
function watched(onChanged: () => void): Middleware {
  let known: string | null = null;
  return {
    onResponse: ({ request, response }) => {
      const version = response.headers.get(VERSION);
      const isOther = known !== null && version !== null && version !== known;
      known = version ?? known;
      // A wrong password says nothing about the session.
      const hasEnded =
        response.status === 401 && !new URL(request.url).pathname.includes("/sign-in");
      if (isOther || hasEnded) onChanged();
      return response;
    },
  };
}

type Answer<T> = { readonly data?: T; readonly error?: unknown; readonly response: Response };

/** The JSON of a successful answer. @throws {Problem} */
export async function read<T extends object>(asked: Promise<Answer<T | string>>): Promise<T> {
  const { data, error, response } = await asked;
  if (error !== undefined || data === undefined) throw problemFrom(response, error);
  if (typeof data === "string")
    throw new Error("the service answered CSV where JSON was asked for");
  return data;
}

/** Whether the same request may succeed when it is sent again. */
export function mayRepeat(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status === 503);
}
